/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Buffers of known size and lifetime in one piece of memory: which of them may
 * lie in the same place.
 */
#ifndef TGRAPH_MODEL_PLACEMENT_H
#define TGRAPH_MODEL_PLACEMENT_H

#include <stddef.h>
#include <stdint.h>

#include "model/arena.h"

struct tg_buffer {
  int64_t nbytes;      /* at least 0 */
  int64_t first, last; /* steps in which it is used, both included */
  int64_t offset;      /* the answer, in bytes: a multiple of the alignment */
};

/*
 * Gives each buffer its place, large ones first, each in the smallest gap that
 * those used at the same time leave (the "greedy by size" of Pisarchyk and Lee,
 * "Efficient memory management for deep neural net inference", 2020).
 * Returns the bytes needed in all; -1: out of memory.
 */
int64_t tg_place_buffers(size_t count, struct tg_buffer *buffers,
                         int64_t alignment, struct tg_arena *arena);

/* The most bytes that are in use in one step: no placement needs less. -1: out
 * of memory. */
int64_t tg_live_nbytes(size_t count, const struct tg_buffer *buffers,
                       struct tg_arena *arena);

#endif
