/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What follows from weights and constants alone is the same in every call.
 */
#ifndef TGRAPH_PASSES_FROM_WEIGHTS_H
#define TGRAPH_PASSES_FROM_WEIGHTS_H

#include <mlir-c/IR.h>
#include <stdbool.h>

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

#endif
