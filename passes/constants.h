/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What a function makes of constants alone, panels above all, is computed while
 * the program is compiled.
 */
#ifndef TGRAPH_PASSES_CONSTANTS_H
#define TGRAPH_PASSES_CONSTANTS_H

#include <mlir-c/IR.h>

#include "passes/hoist.h"

/* For every function of the program. Calls of `packs` that are gone are no
 * longer in there. What can't be computed now is left to run time. False: out
 * of memory. */
bool tg_evaluate_constants(MlirOperation module,
                           const struct tg_outliner *outliner,
                           struct tg_packs *packs);

#endif
