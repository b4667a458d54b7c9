# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training of the two networks; `python -m model.train.train --help`."""
