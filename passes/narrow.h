/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Vectors of bf16 on machines that don't round to it: LLVM would call a library
 * function for every lane.
 */
#ifndef TGRAPH_PASSES_NARROW_H
#define TGRAPH_PASSES_NARROW_H

#include "passes/build.h"

/* Rounds a float or a vector of f32 to the narrower type of the same shape, to
 * nearest, ties to even. */
MlirValue tg_round(struct tg_builder *builder, MlirValue value, MlirType type);

/* The vector operation, which rounds to bf16, on operands that are vectors:
 * computed in f32 and rounded. A null value, and nothing emitted, where it is
 * left to LLVM. */
MlirValue tg_narrow_emit(struct tg_builder *builder, MlirOperation op,
                         int operand_count, const MlirValue *operands);

#endif
