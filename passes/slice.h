/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Parts of tensors: of known sizes, one element after the other.
 */
#ifndef TGRAPH_PASSES_SLICE_H
#define TGRAPH_PASSES_SLICE_H

#include "model/kernel.h"
#include "passes/build.h"

struct tg_slice {
  int rank;
  MlirValue offset[TG_MAX_RANK]; /* where it starts; null: at 0 */
  int64_t size[TG_MAX_RANK];
};

/* The type of such a part of a tensor. */
MlirType tg_slice_type(const struct tg_slice *slice, MlirType whole);
MlirValue tg_slice_extract(struct tg_builder *builder, MlirValue whole,
                           const struct tg_slice *slice);
/* The whole tensor with the part replaced. */
MlirValue tg_slice_insert(struct tg_builder *builder, MlirValue part,
                          MlirValue whole, const struct tg_slice *slice);

#endif
