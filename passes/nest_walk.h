/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Where the emission of a group of nests stands, and what its parts share:
 * nest_walk.c loops and operands, nest_sums.c reductions, nest_emit.c the rest.
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

const struct tg_stage *tg_nest_stage(const struct tg_nest_walk *walk, int s);
/* The first stage of the sweep, whose loops are those of all. */
const struct tg_stage *tg_nest_lead(const struct tg_nest_walk *walk);
/* Is the loop a reduction of any stage of the sweep? */
bool tg_nest_reduces_over(const struct tg_nest_walk *walk, int loop);

/* body for the iterations of the loops, outermost first. */
void tg_nest_emit_loops(struct tg_nest_walk *walk, const int *loops, int count,
                        void (*body)(struct tg_nest_walk *));
/* Covers the loop in pieces of `vectors` x `lanes` iterations, then the rest in
 * vectors of which the last has `valid` lanes. */
void tg_nest_emit_pieces(struct tg_nest_walk *walk, int loop, int64_t lanes,
                         int64_t vectors,
                         void (*body)(struct tg_nest_walk *, int64_t vectors,
                                      int64_t valid));
/* Lanes of vector k of a piece whose last vector has `valid`. */
int64_t tg_nest_valid(int64_t k, int64_t vectors, int64_t lanes, int64_t valid);
/* All stages of the sweep for vector k of a piece; for all of its vectors. */
void tg_nest_emit_stages(struct tg_nest_walk *walk, int64_t k, int64_t valid);
void tg_nest_emit_vectors(struct tg_nest_walk *walk, int64_t vectors,
                          int64_t valid);
/* The sweep, where a stage of it reduces. */
void tg_nest_emit_sums(struct tg_nest_walk *walk);

/* Operands at the walk's position. What a result is before the first
 * iteration: its fill, or what its tensor holds. */
int tg_nest_subscripts(struct tg_nest_walk *walk, const struct tg_stage *stage,
                       int o, MlirValue *indices);
enum tg_reach tg_nest_reach(const struct tg_stage *stage, int o);
MlirType tg_nest_element_type(const struct tg_nest_walk *walk, int t);
MlirValue tg_nest_read_initial(struct tg_nest_walk *walk, int s, int o,
                               int64_t valid);
MlirValue tg_nest_as_vector(struct tg_nest_walk *walk, MlirValue value);
void tg_nest_write(struct tg_nest_walk *walk, const struct tg_stage *stage,
                   int o, MlirValue value, int64_t valid);

#endif
