/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Nests that become one function. Stages that pass tensors to each other share
 * their outermost parallel loops, the rows: all stages do one row before the
 * next, and what only they see is a buffer of one row. Neighbouring stages that
 * walk a row in the same way are one sweep over it, and pass values on in
 * registers. A softmax is one group of three sweeps: the maximum; the
 * exponentials and their sum; the division.
 */
#ifndef TGRAPH_PASSES_NEST_GROUP_H
#define TGRAPH_PASSES_NEST_GROUP_H

#include <mlir-c/IR.h>

#include "passes/nest.h"

enum {
  TG_MAX_STAGES = 24,
  TG_MAX_GROUP_TENSORS = 48,
  TG_MAX_GROUP_CAPTURES = 32,
  TG_NO_TENSOR = -1,
  TG_NO_STAGE = -1
};

/* Where a tensor of the group lives while the function runs. */
enum tg_residence {
  TG_OUTSIDE,         /* an argument that is only read */
  TG_RESULT_OF_GROUP, /* stored, and returned */
  TG_ROW_BUFFER,      /* scratch memory of one row */
  TG_REGISTER         /* passed on within a sweep */
};

struct tg_group_tensor {
  MlirValue value; /* outside the function */
  int producer;    /* stage, TG_NO_STAGE: none */
  enum tg_residence residence;
  /* What the result is written into: the operation's own operand, or null
   * where its content doesn't matter. */
  MlirValue destination;
  int source_rank;
  int group[TG_MAX_RANK]; /* collapses what is outside to `rank` */
  int rank;
  int64_t extent[TG_MAX_RANK];
};

struct tg_stage {
  MlirOperation op;
  struct tg_nest nest; /* accesses are of the collapsed tensors */
  /* By operand; TG_NO_TENSOR for a scalar, an operand that isn't looked at,
   * and a result that has no uses. */
  int tensor[TG_MAX_NEST_OPERANDS];
  /* Scalar that a result is filled with before, null: what is in its tensor. */
  MlirValue fill[TG_MAX_NEST_OPERANDS];
  int vector_loop; /* -1: one iteration at a time */
  int vectors;
  bool reduces;
  int first_of_sweep; /* stage */
};

struct tg_group {
  int stage_count;
  struct tg_stage stage[TG_MAX_STAGES]; /* in program order */
  int tensor_count;
  struct tg_group_tensor tensor[TG_MAX_GROUP_TENSORS];
  int capture_count; /* scalars and tensors that bodies use from outside */
  MlirValue capture[TG_MAX_GROUP_CAPTURES];
  int rows; /* shared loops */
  int64_t lanes;
};

/* A nest with its choice. */
struct tg_nest_choice {
  MlirOperation op;
  struct tg_nest nest;
  struct tg_config config; /* tiled */
  bool taken;              /* belongs to a group */
  bool beforehand;         /* is computed once, of weights: in a group apart */
};

/*
 * The group that starts with choices[first], as large as it can be: members are
 * among the following choices, and are marked as taken. False: not even a group
 * of one; in code that is never reached an operation may use its own result, or
 * be used before it.
 */
bool tg_group_find(struct tg_nest_choice *choices, size_t count, size_t first,
                   const struct tg_target *target, struct tg_group *group);

/*
 * Gives the group its rows, merges what loops it can, and finds the sweeps.
 * False where too much work would be left without vectors, or a row's buffers
 * would be too large; the group is of no use then.
 */
bool tg_group_shape(struct tg_group *group, int rows);

/* The row loops of a stage are 0 .. rows - 1. Loops of one iteration are none.
 */
bool tg_stage_has_loop(const struct tg_group *group,
                       const struct tg_stage *stage, int loop);

#endif
