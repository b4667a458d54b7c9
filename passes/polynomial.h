/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Transcendental functions as plain vector arithmetic: no call, no branch (but
 * for sin and cos of huge arguments), no table in memory. The error of each,
 * measured, is in docs/math.md: at most 4 units in the last place of f32 and
 * f64, over all arguments, with and without a fused multiplication.
 */
#ifndef TGRAPH_PASSES_POLYNOMIAL_H
#define TGRAPH_PASSES_POLYNOMIAL_H

#include "passes/build.h"

/* Is there a row for the operation ("math.exp", ...) on that element type? */
bool tg_polynomial_has(MlirStringRef name, MlirType element);

/*
 * Emits the operation on operands of one type: f32, f64, f16 and bf16 (by way
 * of f32), or a vector of a fixed number of any. The result is of that type. A
 * null value, and nothing emitted, where there is no row for the name, the type
 * and the number of operands. Only the builder's place, location and `fused`
 * matter.
 */
MlirValue tg_polynomial_emit(struct tg_builder *builder, MlirStringRef name,
                             int operand_count, const MlirValue *operands);

#endif
