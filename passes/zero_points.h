/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Quantised products: sums of (a - za) * (b - zb) with zero points za and zb.
 */
#ifndef TGRAPH_PASSES_ZERO_POINTS_H
#define TGRAPH_PASSES_ZERO_POINTS_H

#include <mlir-c/IR.h>

/*
 * Makes each such operation, named or generic, a sum of a * b that has
 * configurations, and sums over a and b alone that correct it. Integers wrap
 * around, so the result is the same to the bit. What says tgraph.skip stays, as
 * does what would have no configuration afterwards.
 */
void tg_expand_zero_points(MlirOperation module);

#endif
