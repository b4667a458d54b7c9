/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Normalisations behind products: what multiplies each channel of a result by a
 * number goes into the filter.
 */
#ifndef TGRAPH_PASSES_FOLD_BATCHNORM_H
#define TGRAPH_PASSES_FOLD_BATCHNORM_H

#include <mlir-c/IR.h>
#include <stdbool.h>

#include "model/arena.h"
#include "passes/passes.h"

/*
 * sum(image * filter) * scale + shift becomes sum(image * (filter * scale)) +
 * shift, where scale and shift depend on one dimension of the result alone, the
 * filter is a weight, and nothing else reads what lies between. Changes the
 * rounding. What says tgraph.skip stays, and what has a choice unless
 * `overwrite`. A remark for each that is folded. False: out of memory.
 */
bool tg_fold_batchnorm(MlirOperation module, bool overwrite,
                       struct tg_arena *arena,
                       const struct tg_remark_sink *remarks);

#endif
