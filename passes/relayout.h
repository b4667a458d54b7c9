/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Carries tgraph.layouts out: operations with the attribute become generics on
 * tensors in the order in which they are stored. Between two that agree nothing
 * is left; where one disagrees with its neighbour, a transposition is.
 */
#ifndef TGRAPH_PASSES_RELAYOUT_H
#define TGRAPH_PASSES_RELAYOUT_H

#include <mlir-c/IR.h>

#include "model/arena.h"
#include "model/target.h"

/*
 * The attributes are checked already (tg_layouts_check), and each operation
 * that has one is a kernel or a nest of static shapes. Their configurations
 * stay with them; transpositions that are left get one. False: out of memory.
 */
bool tg_relayout(MlirOperation module, const struct tg_target *target,
                 struct tg_arena *arena);

#endif
