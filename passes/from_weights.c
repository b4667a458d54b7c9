/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Purity by name: mlir-c doesn't tell the effects of an operation.
 */
#include "passes/from_weights.h"

#include <mlir-c/BuiltinTypes.h>
#include <string.h>

#include "passes/attribute.h"
#include "passes/inspect.h"
#include "passes/prepack.h"

/*===-- What an operation reads -------------------------------------------===*/

struct inputs {
  MlirOperation op;
  bool (*visit)(MlirValue, void *);
  void *data;
};

static MlirBlock block_of(MlirValue value) {
  return mlirValueIsABlockArgument(value)
             ? mlirBlockArgumentGetOwner(value)
             : mlirOperationGetBlock(mlirOpResultGetOwner(value));
}

static bool is_made_inside(MlirOperation op, MlirValue value) {
  MlirBlock block = block_of(value);
  MlirOperation parent = mlirBlockIsNull(block)
                             ? (MlirOperation){NULL}
                             : mlirBlockGetParentOperation(block);
  while (!mlirOperationIsNull(parent) && !mlirOperationEqual(parent, op))
    parent = mlirOperationGetParentOperation(parent);
  return !mlirOperationIsNull(parent);
}

static MlirWalkResult visit_nested(MlirOperation op, void *data) {
  const struct inputs *inputs = data;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i) {
    MlirValue value = mlirOperationGetOperand(op, i);
    if ((mlirOperationEqual(op, inputs->op) ||
         !is_made_inside(inputs->op, value)) &&
        !inputs->visit(value, inputs->data))
      return MlirWalkResultInterrupt;
  }
  return MlirWalkResultAdvance;
}

/* The walk doesn't say whether it was interrupted. */
struct remembered {
  bool (*visit)(MlirValue, void *);
  void *data;
  bool good;
};

static bool remember(MlirValue value, void *data) {
  struct remembered *remembered = data;
  remembered->good = remembered->visit(value, remembered->data);
  return remembered->good;
}

bool tg_op_each_input(MlirOperation op, bool (*visit)(MlirValue, void *),
                      void *data) {
  struct remembered remembered = {visit, data, true};
  struct inputs inputs = {op, remember, &remembered};
  mlirOperationWalk(op, visit_nested, &inputs, MlirWalkPreOrder);
  return remembered.good;
}

/*===-- Effects -----------------------------------------------------------===*/

static bool is_memory(MlirType type) {
  return mlirTypeIsAMemRef(type) || mlirTypeIsAUnrankedMemRef(type);
}

static MlirWalkResult find_effect(MlirOperation op, void *data) {
  static const char *const prefixes[] = {"arith.", "math.", "complex.",
                                         "tensor.", "linalg."};
  bool known =
      tg_op_is(op, "bufferization.alloc_tensor") || tg_op_is(op, "cf.assert");
  for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); ++i)
    known |= tg_op_name_starts_with(op, prefixes[i]);
  bool good = known && !tg_op_has_attribute(op, TG_SKIP_ATTRIBUTE);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op) && good; ++i)
    good = !is_memory(mlirValueGetType(mlirOperationGetOperand(op, i)));
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op) && good; ++i)
    good = !is_memory(mlirValueGetType(mlirOperationGetResult(op, i)));
  *(bool *)data &= good;
  return good ? MlirWalkResultAdvance : MlirWalkResultInterrupt;
}

bool tg_op_is_pure(MlirOperation op) {
  bool pure = true;
  mlirOperationWalk(op, find_effect, &pure, MlirWalkPreOrder);
  return pure;
}

/*===-- Values ------------------------------------------------------------===*/

static bool is_first_block(MlirBlock block) {
  MlirOperation function = mlirBlockGetParentOperation(block);
  return tg_op_is(function, "func.func") &&
         mlirBlockEqual(
             block, mlirRegionGetFirstBlock(mlirBlockGetParentRegion(block)));
}

bool tg_value_is_weight_argument(MlirValue value) {
  if (!mlirValueIsABlockArgument(value) || is_memory(mlirValueGetType(value)))
    return false;
  MlirBlock block = mlirBlockArgumentGetOwner(value);
  return is_first_block(block) &&
         tg_argument_has_attribute(mlirBlockGetParentOperation(block),
                                   mlirBlockArgumentGetArgNumber(value),
                                   TG_WEIGHT_ATTRIBUTE);
}

/* Operations looked at for one value: nobody's weights are computed in more
 * than a few, and diamonds would be walked once for each way through them. */
enum { MAX_LOOKED_AT = 256 };

static bool is_from_weights(MlirValue value, void *data) {
  int *left = data;
  MlirOperation producer = tg_value_producer(value);
  if (mlirOperationIsNull(producer))
    return tg_value_is_weight_argument(value);
  if (tg_op_is(producer, "arith.constant"))
    return true;
  bool reshape = tg_op_is(producer, "tensor.expand_shape") ||
                 tg_op_is(producer, "tensor.collapse_shape");
  return (*left)-- > 0 &&
         (reshape || is_first_block(mlirOperationGetBlock(producer))) &&
         tg_op_is_pure(producer) &&
         tg_op_each_input(producer, is_from_weights, left);
}

bool tg_value_is_from_weights(MlirValue value) {
  int left = MAX_LOOKED_AT;
  return is_from_weights(value, &left);
}
