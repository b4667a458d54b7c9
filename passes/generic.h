/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Builds linalg.generic on tensors: operands first, then the body, which ends
 * the operation.
 */
#ifndef TGRAPH_PASSES_GENERIC_H
#define TGRAPH_PASSES_GENERIC_H

#include <mlir-c/AffineMap.h>

#include "model/kernel.h"
#include "passes/build.h"

enum { TG_GENERIC_MAX_INPUTS = 16 };

/* A generic over `loop_count` loops with its inputs, its init last. */
struct tg_generic {
  int loop_count, operand_count;
  bool reduction[TG_MAX_LOOPS];
  MlirValue operands[TG_GENERIC_MAX_INPUTS + 1];
  MlirAffineMap maps[TG_GENERIC_MAX_INPUTS + 1];
  MlirBlock body;
  struct tg_builder builder; /* of the body */
};

void tg_generic_add_operand(struct tg_generic *generic, MlirValue value,
                            MlirAffineMap map);
/* The body is built with generic->builder from here on. */
void tg_generic_begin(struct tg_generic *generic, MlirLocation location);
MlirValue tg_generic_argument(const struct tg_generic *generic, int operand);
/* Yields the value and appends the operation to the block of `outside`. */
MlirOperation tg_generic_end(struct tg_builder *outside,
                             struct tg_generic *generic, MlirValue value);

/* A constant of an integer type. */
MlirValue tg_build_number(struct tg_builder *outside, MlirType type,
                          int64_t value);
/* A new tensor that is the value everywhere. */
MlirValue tg_build_fill(struct tg_builder *outside, MlirValue value,
                        intptr_t rank, const int64_t *shape);
/* The tensor, overwritten with the value. */
MlirValue tg_build_fill_of(struct tg_builder *outside, MlirValue value,
                           MlirValue tensor);

#endif
