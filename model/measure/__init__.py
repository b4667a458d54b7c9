# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measuring on several machines, and programs to measure."""
