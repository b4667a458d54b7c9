/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What follows from weights and constants alone is the same in every call.
 */
#ifndef TGRAPH_PASSES_FROM_WEIGHTS_H
#define TGRAPH_PASSES_FROM_WEIGHTS_H

#include <mlir-c/IR.h>
#include <stdbool.h>
#include <stddef.h>

/* Visits the operands of the operation and the values from outside that its
 * regions read, until a visit returns false; true if none did. */
bool tg_op_each_input(MlirOperation op, bool (*visit)(MlirValue, void *),
                      void *data);

/* Is the operation, with all that is inside, without effects (an assertion
 * excepted), on tensors and scalars? What says tgraph.skip isn't. */
bool tg_op_is_pure(MlirOperation op);

/* Is the value a tensor or scalar argument of the function that carries
 * tgraph.weight? */
bool tg_value_is_weight_argument(MlirValue value);

/* Is the value such an argument or a constant, or made of such by pure
 * operations of the function's first block? */
bool tg_value_is_from_weights(MlirValue value);

/* Can the operation neither fail nor leave its operands' bounds, whatever they
 * hold? Looks at all that is inside, by name. */
bool tg_op_is_total(MlirOperation op);

/* Is the value a constant with data of its own, or made of constants by such
 * pure and total operations? It can be computed while the program is compiled.
 */
bool tg_value_is_from_constants(MlirValue value);
/* The bytes of a constant tensor that isn't the same everywhere; NULL for any
 * other operation. They live as long as the context. */
const void *tg_constant_bytes(MlirOperation op, size_t *nbytes);

/* Will the operand of the operation be given as panels, if the kernel takes
 * panels: made of constants or, with `prepack`, of weights? */
bool tg_operand_comes_packed(MlirOperation op, int operand, bool prepack);

#endif
