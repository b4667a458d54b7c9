# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From PyTorch to a compiled program, and calling it from Python."""
