/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Sums of products in f16 and bf16: taken in f32, rounded once.
 */
#ifndef TGRAPH_PASSES_WIDEN_H
#define TGRAPH_PASSES_WIDEN_H

#include <mlir-c/IR.h>
#include <stdbool.h>

/*
 * An operation whose body rounds to f16 or bf16 after each step becomes a sum
 * in f32 that has configurations, and an elementwise operation that adds the
 * initial value and rounds. A tgraph.config that is tiled goes along; where
 * nothing may be chosen, only what has one changes. What says tgraph.skip
 * stays, as does what would have no configuration afterwards.
 */
void tg_widen_sums(MlirOperation module, bool may_choose);

#endif
