/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * tensor.pad with static shapes and one value: a function that writes every
 * element of the result once, row by row, with vectors.
 */
#ifndef TGRAPH_PASSES_PAD_H
#define TGRAPH_PASSES_PAD_H

#include <mlir-c/IR.h>
#include <stdbool.h>

#include "model/kernel.h"
#include "model/target.h"
#include "passes/outline.h"

/* Dimensions that are walked together are one. */
struct tg_pad {
  int rank;
  int64_t extent[TG_MAX_RANK];                 /* of the source */
  int64_t low[TG_MAX_RANK], high[TG_MAX_RANK]; /* elements before and behind */
  MlirValue value;                             /* a scalar */
};

/* False where the operation is none that the schedule serves: something is
 * dynamic, negative or empty, the value depends on the place, or the elements
 * have a width of their own. */
bool tg_pad_from_op(MlirOperation op, struct tg_pad *pad);

/* Replaces every pad of the module that it can by a call, but where
 * tgraph.skip says no. */
void tg_apply_pads(struct tg_outliner *outliner,
                   const struct tg_target *target);

#endif
