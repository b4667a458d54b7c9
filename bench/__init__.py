# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""TGraph's code against other compilers and libraries on one core; see README.md."""
