/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Where the emission of a group of nests stands (nest_emit.c).
 */
#ifndef TGRAPH_PASSES_NEST_WALK_H
#define TGRAPH_PASSES_NEST_WALK_H

#include "passes/build.h"
#include "passes/nest_group.h"

enum { TG_NEST_MAX_LANES = 64, TG_NEST_MAX_TILED = 4, TG_NEST_MAX_LOADED = 64 };

struct tg_nest_accumulator {
  int stage, operand;
  MlirValue value[TG_MAX_TILE_VECTORS];
};

/* An operand of a square tile, transposed: vectors along the vector loop. */
struct tg_nest_tiled {
  int stage, operand;
  MlirValue vector[TG_NEST_MAX_LANES];
};

/* An element that all iterations of the loops inside read. */
struct tg_nest_loaded {
  int stage, operand;
  MlirValue value;
};

struct tg_nest_walk {
  struct tg_builder *builder;
  const struct tg_group *group;
  int first, last;                             /* stages of the sweep */
  MlirValue tensor[TG_MAX_GROUP_TENSORS];      /* its value now */
  MlirValue destination[TG_MAX_GROUP_TENSORS]; /* arguments, own shape */
  MlirValue held[TG_MAX_GROUP_TENSORS];        /* in a register, or null */
  MlirValue capture[TG_MAX_GROUP_CAPTURES];
  MlirValue position[TG_MAX_LOOPS]; /* of every loop ... */
  int64_t delta[TG_MAX_LOOPS];      /* ... and a constant on top */
  bool entered[TG_MAX_LOOPS];       /* the code is inside of the loop */
  int loaded_count;
  struct tg_nest_loaded loaded[TG_NEST_MAX_LOADED];
  int accumulator_count;
  struct tg_nest_accumulator accumulator[TG_BUILD_MAX_CARRIED];
  int64_t live;      /* accumulators' vectors in use, 0: none */
  int64_t valid;     /* lanes of the last of them */
  int tile_loop;     /* of the square tiles, -1: none */
  int64_t tile_rows; /* of them that exist */
  int tiled_count;
  struct tg_nest_tiled tiled[TG_NEST_MAX_TILED];
};

#endif
