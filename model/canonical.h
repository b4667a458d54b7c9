/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The canonical form of a kernel: loops of one iteration dropped, loops that
 * every operand walks together merged. A 1x1 convolution becomes the matrix
 * multiplication that it is, whatever its name and rank.
 */
#ifndef TGRAPH_MODEL_CANONICAL_H
#define TGRAPH_MODEL_CANONICAL_H

#include "model/kernel.h"

struct tg_canonical {
  struct tg_kernel kernel;
  /* loop_first[l], loop_size[l]: the operation's own loops that canonical
   * loop l stands for, outermost first: loop_of[loop_first[l] ...]. */
  int loop_of[TG_MAX_LOOPS];
  int loop_first[TG_MAX_LOOPS];
  int loop_size[TG_MAX_LOOPS];
  /* group[o][d]: the canonical dimension that dimension d of operand o of the
   * operation is collapsed into; consecutive and increasing. */
  int group[TG_OPERAND_COUNT][TG_MAX_RANK];
  int source_rank[TG_OPERAND_COUNT];
};

void tg_canonicalize(const struct tg_kernel *kernel,
                     struct tg_canonical *canonical);

/* The loop around `inner` in the result: its neighbour in the last two
 * dimensions, which flattening merges with it. -1: there is none. */
int tg_canonical_outer(const struct tg_canonical *canonical, int inner);

/*
 * Merges the loops `outer` and `inner` (neighbours in the result) although
 * some input does not walk them together. collapsed[o] tells whether operand o
 * was merged as well (or uses neither); otherwise its access still counts the
 * two loops separately and has to be gathered. Returns false, leaving
 * `canonical` as it is, where the result can't be merged.
 */
bool tg_canonical_flatten(struct tg_canonical *canonical, int outer, int inner,
                          bool collapsed[TG_OPERAND_COUNT]);

#endif
