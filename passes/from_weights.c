/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Purity by name: mlir-c doesn't tell the effects of an operation.
 */
#include "passes/from_weights.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <string.h>

#include "passes/attribute.h"
#include "passes/evaluate.h"
#include "passes/inspect.h"
#include "passes/prepack.h"
#include "passes/resource.h"

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

/*===-- Constants ---------------------------------------------------------===*/

static MlirWalkResult find_fault(MlirOperation op, void *data) {
  static const char *const faulty[] = {
      "arith.divsi",     "arith.divui",      "arith.ceildivsi",
      "arith.ceildivui", "arith.floordivsi", "arith.remsi",
      "arith.remui",     "cf.assert",        "tensor.extract",
      "tensor.gather",   "vector.gather",    "tensor.extract_slice",
      "func.call",       "scf.while"};
  bool found = false;
  for (size_t i = 0; i < sizeof(faulty) / sizeof(faulty[0]); ++i)
    found |= tg_op_is(op, faulty[i]);
  *(bool *)data |= found;
  return found ? MlirWalkResultInterrupt : MlirWalkResultAdvance;
}

bool tg_op_is_total(MlirOperation op) {
  bool fault = false;
  mlirOperationWalk(op, find_fault, &fault, MlirWalkPreOrder);
  return !fault;
}

const void *tg_constant_bytes(MlirOperation op, size_t *nbytes) {
  if (mlirOperationIsNull(op) || !tg_op_is(op, "arith.constant"))
    return NULL;
  MlirAttribute value = mlirOperationGetAttributeByName(op, tg_ref("value"));
  size_t expected =
      tg_tensor_nbytes(mlirValueGetType(mlirOperationGetResult(op, 0)));
  if (expected == 0)
    return NULL;
  if (mlirAttributeIsADenseElements(value)) {
    *nbytes = expected;
    return mlirDenseElementsAttrIsSplat(value)
               ? NULL
               : mlirDenseElementsAttrGetRawData(value);
  }
  const void *bytes = tg_resource_bytes(value, nbytes);
  return *nbytes == expected ? bytes : NULL;
}

static bool is_from_constants(MlirValue value, void *data) {
  int *left = data;
  MlirOperation producer = tg_value_producer(value);
  if (mlirOperationIsNull(producer))
    return false;
  if (tg_op_is(producer, "arith.constant"))
    return true;
  return (*left)-- > 0 && tg_op_is_pure(producer) && tg_op_is_total(producer) &&
         tg_op_each_input(producer, is_from_constants, left);
}

/* The first constant of the chain must have data: what is made of splats alone
 * is no weight. */
static bool has_data(MlirValue value, int depth) {
  MlirOperation producer = tg_value_producer(value);
  size_t nbytes = 0;
  if (mlirOperationIsNull(producer))
    return false;
  if (tg_constant_bytes(producer, &nbytes))
    return true;
  for (intptr_t i = 0; depth > 0 && i < mlirOperationGetNumOperands(producer);
       ++i)
    if (has_data(mlirOperationGetOperand(producer, i), depth - 1))
      return true;
  return false;
}

bool tg_value_is_from_constants(MlirValue value) {
  enum { DEPTH = 6 };
  int left = MAX_LOOKED_AT;
  return is_from_constants(value, &left) && has_data(value, DEPTH);
}

bool tg_operand_comes_packed(MlirOperation op, int operand, bool prepack) {
  int unused[TG_MAX_RANK];
  MlirValue source = tg_op_get_source(op, operand, unused);
  return tg_value_is_from_constants(source) ||
         (prepack && tg_value_is_from_weights(source));
}
