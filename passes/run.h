/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Copies and fills of runs: elements that follow each other in memory. No mask
 * and no element beyond the run: its end is reached by a vector that overlaps
 * the one before, a run shorter than a register by smaller vectors.
 */
#ifndef TGRAPH_PASSES_RUN_H
#define TGRAPH_PASSES_RUN_H

#include "passes/build.h"

enum { TG_RUN_SIZES = 8 }; /* vectors of 1, 2, 4 ... 128 elements */

struct tg_run {
  struct tg_builder *builder;
  MlirType element;
  int64_t lanes;     /* of the widest vector; a power of two */
  MlirValue padding; /* what a transfer wants to be given; never read */
  MlirValue filler[TG_RUN_SIZES]; /* tg_run_fill's value, by log2 of lanes */
};

/* Elements of 8, 16, 32 or 64 bits that lie in memory without gaps: integers
 * without a sign in their type, and floats. */
bool tg_run_serves(MlirType element);
/* vector_bits: of the machine. Adds a constant to the builder's entry block. */
void tg_run_init(struct tg_run *run, struct tg_builder *builder,
                 MlirType element, int64_t vector_bits);
/* The value of fills, which the builder's block must know. */
void tg_run_set_filler(struct tg_run *run, MlirValue scalar);

/*
 * Where a run starts: a tensor or memref, subscripts, and its last dimension
 * has stride 1 and room for the run.
 */
struct tg_run_place {
  MlirValue array;
  int rank;
  const MlirValue *indices;
};

/* count: at least 0. Both return the array `to` as it is afterwards: another
 * value for a tensor, the same for memory. */
MlirValue tg_run_copy(struct tg_run *run, struct tg_run_place from,
                      struct tg_run_place to, int64_t count);
MlirValue tg_run_fill(struct tg_run *run, struct tg_run_place to,
                      int64_t count);

#endif
