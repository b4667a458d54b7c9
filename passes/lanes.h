/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The body of a structured operation, done for a vector of neighbouring
 * iterations at once. Each scalar of the body stands for a vector, or for
 * itself where all lanes agree: such uniform values stay scalars and are
 * broadcast only where they meet a vector.
 */
#ifndef TGRAPH_PASSES_LANES_H
#define TGRAPH_PASSES_LANES_H

#include "passes/build.h"

enum { TG_MAX_LANE_VALUES = 256 };

struct tg_lanes {
  struct tg_builder *builder;
  int64_t valid;   /* lanes that exist; the others hold anything */
  int vector_loop; /* linalg.index of it differs between lanes; -1: none */
  MlirValue index; /* of the first lane in the vector loop, type index */
  int count;       /* of the pairs below */
  MlirValue scalar[TG_MAX_LANE_VALUES]; /* in the body */
  MlirValue value[TG_MAX_LANE_VALUES];  /* in the code: a vector, or uniform */
};

/* Elements, one a lane, as a vector. */
MlirValue tg_from_lanes(struct tg_builder *builder, const MlirValue *elements);
MlirValue tg_get_lane(struct tg_builder *builder, MlirValue vector,
                      int64_t lane);

/* The operation on a and b instead of its own two operands. */
MlirValue tg_combine(struct tg_builder *builder, MlirOperation operation,
                     MlirValue a, MlirValue b);
/* All lanes of the vector combined by it, in any order. */
MlirValue tg_reduce_lanes(struct tg_builder *builder, MlirOperation operation,
                          MlirValue vector);
/* The first `valid` lanes of one vector, and the rest of the other. */
MlirValue tg_select_lanes(struct tg_builder *builder, MlirValue first,
                          MlirValue rest, int64_t valid);

/* Is a value of the type held by lanes, and is a tensor of it readable? */
bool tg_lanes_hold(MlirType element);

/*
 * Can the body be emitted when the arguments with varying[i] are vectors and
 * linalg.index of vector_loop (-1: none) differs between lanes? `capture` is
 * told every value from outside that is no constant (NULL: there may be none);
 * it returns false to refuse.
 */
bool tg_lanes_can(MlirBlock body, const bool *varying, int vector_loop,
                  bool (*capture)(MlirValue value, void *data), void *data);

/* Arguments, captured values and the indices of loops other than the vector
 * loop (as results of the body's linalg.index) are bound before the body. */
void tg_lanes_bind(struct tg_lanes *lanes, MlirValue scalar, MlirValue value);
/* All operations but the terminator, which is returned. */
MlirOperation tg_lanes_emit(struct tg_lanes *lanes, MlirBlock body);
/* What stands for the scalar; a constant needs no binding. */
MlirValue tg_lanes_get(struct tg_lanes *lanes, MlirValue scalar);
/* The same as a vector. */
MlirValue tg_lanes_get_vector(struct tg_lanes *lanes, MlirValue scalar);

#endif
