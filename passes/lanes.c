/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Bodies of structured operations on vectors.
 */
#include "passes/lanes.h"

#include <assert.h>
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

#include "passes/inspect.h"
#include "passes/narrow.h"
#include "passes/polynomial.h"

enum { MAX_BODY_OPERANDS = 12, MAX_LANE_COUNT = 64 };

/*===-- What can be done in lanes -----------------------------------------===*/

bool tg_lanes_hold(MlirType element) {
  if (mlirTypeIsAF16(element) || mlirTypeIsABF16(element) ||
      mlirTypeIsAF32(element) || mlirTypeIsAF64(element) ||
      mlirTypeIsAIndex(element))
    return true;
  if (!mlirTypeIsAInteger(element) || !mlirIntegerTypeIsSignless(element))
    return false;
  unsigned width = mlirIntegerTypeGetWidth(element);
  return width == 1 || width == 8 || width == 16 || width == 32 || width == 64;
}

static bool is_vectorizable(MlirOperation op) {
  static const char *const names[] = {
#define VECTORIZABLE(name) name,
#include "passes/vectorizable.def"
  };
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i)
    if (tg_op_is(op, names[i]))
      return true;
  return mlirOperationGetNumResults(op) == 1 &&
         tg_polynomial_has(tg_op_name(op),
                           mlirValueGetType(mlirOperationGetResult(op, 0)));
}

/* Scalar code that can be copied to another place as it is. */
static bool is_plain_scalar(MlirOperation op) {
  return mlirOperationGetNumRegions(op) == 0 &&
         (tg_op_name_starts_with(op, "arith.") ||
          tg_op_name_starts_with(op, "math.") ||
          tg_op_is(op, "tensor.extract") || tg_op_is(op, "cf.assert"));
}

static bool is_constant(MlirValue value) {
  return tg_op_is(tg_value_producer(value), "arith.constant");
}

static bool is_local(MlirValue value, MlirBlock body) {
  if (mlirValueIsABlockArgument(value))
    return mlirBlockEqual(mlirBlockArgumentGetOwner(value), body);
  return mlirBlockEqual(mlirOperationGetBlock(tg_value_producer(value)), body);
}

struct check {
  MlirBlock body;
  bool (*capture)(MlirValue value, void *data);
  void *data;
  int vector_loop;
  int count; /* of the values that differ between lanes */
  MlirValue varying[TG_MAX_LANE_VALUES];
  int value_count; /* of all that may need a pair */
};

static bool is_varying(const struct check *check, MlirValue value) {
  for (int i = 0; i < check->count; ++i)
    if (mlirValueEqual(check->varying[i], value))
      return true;
  return false;
}

static bool add_varying(struct check *check, MlirValue value) {
  if (check->count == TG_MAX_LANE_VALUES ||
      !tg_lanes_hold(mlirValueGetType(value)))
    return false;
  check->varying[check->count++] = value;
  return true;
}

/* Values from outside are constants or captured. */
static bool check_operands(struct check *check, MlirOperation op,
                           bool *varying) {
  *varying = false;
  intptr_t count = mlirOperationGetNumOperands(op);
  if (count > MAX_BODY_OPERANDS)
    return false;
  for (intptr_t i = 0; i < count; ++i) {
    MlirValue operand = mlirOperationGetOperand(op, i);
    *varying |= is_varying(check, operand);
    if (is_local(operand, check->body))
      continue;
    check->value_count++;
    if (!is_constant(operand) &&
        (!check->capture || !check->capture(operand, check->data)))
      return false;
  }
  return true;
}

static bool index_loop(MlirOperation op, int64_t *loop) {
  return tg_op_is(op, "linalg.index") &&
         tg_attribute_integer(
             mlirOperationGetAttributeByName(op, tg_ref("dim")), loop);
}

static bool check_op(struct check *check, MlirOperation op) {
  bool varying;
  if (!check_operands(check, op, &varying))
    return false;
  int64_t loop;
  if (index_loop(op, &loop))
    varying = loop == check->vector_loop;
  else if (!is_plain_scalar(op) ||
           (varying && !is_vectorizable(op) && !tg_op_is(op, "cf.assert") &&
            !tg_op_is(op, "tensor.extract")))
    return false;
  intptr_t count = mlirOperationGetNumResults(op);
  check->value_count += (int)count;
  for (intptr_t i = 0; i < count && varying; ++i)
    if (!add_varying(check, mlirOperationGetResult(op, i)))
      return false;
  return true;
}

bool tg_lanes_can(MlirBlock body, const bool *varying, int vector_loop,
                  bool (*capture)(MlirValue value, void *data), void *data) {
  struct check check = {.body = body,
                        .capture = capture,
                        .data = data,
                        .vector_loop = vector_loop};
  intptr_t count = mlirBlockGetNumArguments(body);
  check.value_count = (int)count;
  for (intptr_t i = 0; i < count; ++i)
    if (varying[i] && !add_varying(&check, mlirBlockGetArgument(body, i)))
      return false;
  MlirOperation op = mlirBlockGetFirstOperation(body);
  for (; !tg_op_is(op, "linalg.yield"); op = mlirOperationGetNextInBlock(op))
    if (mlirOperationIsNull(op) || !check_op(&check, op))
      return false;
  bool unused;
  return check_operands(&check, op, &unused) &&
         check.value_count <= TG_MAX_LANE_VALUES;
}

/*===-- Code --------------------------------------------------------------===*/

void tg_lanes_bind(struct tg_lanes *lanes, MlirValue scalar, MlirValue value) {
  assert(lanes->count < TG_MAX_LANE_VALUES);
  lanes->scalar[lanes->count] = scalar;
  lanes->value[lanes->count++] = value;
}

MlirValue tg_lanes_get(struct tg_lanes *lanes, MlirValue scalar) {
  for (int i = lanes->count - 1; i >= 0; --i)
    if (mlirValueEqual(lanes->scalar[i], scalar))
      return lanes->value[i];
  MlirOperation constant = mlirOperationClone(tg_value_producer(scalar));
  assert(tg_op_is(constant, "arith.constant"));
  mlirBlockAppendOwnedOperation(lanes->builder->block, constant);
  MlirValue value = mlirOperationGetResult(constant, 0);
  tg_lanes_bind(lanes, scalar, value);
  return value;
}

MlirValue tg_lanes_get_vector(struct tg_lanes *lanes, MlirValue scalar) {
  MlirValue value = tg_lanes_get(lanes, scalar);
  return mlirTypeIsAVector(mlirValueGetType(value))
             ? value
             : tg_broadcast(lanes->builder, value);
}

static bool is_uniform(struct tg_lanes *lanes, MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    if (mlirTypeIsAVector(mlirValueGetType(
            tg_lanes_get(lanes, mlirOperationGetOperand(op, i)))))
      return false;
  return true;
}

static void emit_uniform(struct tg_lanes *lanes, MlirOperation op) {
  MlirOperation clone = mlirOperationClone(op);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    mlirOperationSetOperand(
        clone, i, tg_lanes_get(lanes, mlirOperationGetOperand(op, i)));
  mlirBlockAppendOwnedOperation(lanes->builder->block, clone);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    tg_lanes_bind(lanes, mlirOperationGetResult(op, i),
                  mlirOperationGetResult(clone, i));
}

static MlirValue index_vector(struct tg_lanes *lanes) {
  struct tg_builder *builder = lanes->builder;
  MlirAttribute steps[MAX_LANE_COUNT];
  for (int64_t lane = 0; lane < builder->lanes; ++lane)
    steps[lane] = mlirIntegerAttrGet(builder->index, lane);
  MlirType type = tg_vector_of(builder, builder->index);
  MlirValue operands[2] = {
      tg_broadcast(builder, lanes->index),
      tg_constant(builder, type,
                  mlirDenseElementsAttrGet(type, builder->lanes, steps))};
  return tg_build_1(builder, "arith.addi", 2, operands, type);
}

MlirValue tg_get_lane(struct tg_builder *builder, MlirValue value,
                      int64_t lane) {
  MlirType element = mlirShapedTypeGetElementType(mlirValueGetType(value));
  MlirNamedAttribute attribute =
      tg_named(builder->context, "static_position",
               mlirDenseI64ArrayGet(builder->context, 1, &lane));
  return mlirOperationGetResult(tg_build(builder, "vector.extract", 1, &value,
                                         1, &element, 1, &attribute),
                                0);
}

MlirValue tg_from_lanes(struct tg_builder *builder, const MlirValue *elements) {
  return tg_build_1(builder, "vector.from_elements", (int)builder->lanes,
                    elements,
                    tg_vector_of(builder, mlirValueGetType(elements[0])));
}

MlirValue tg_combine(struct tg_builder *builder, MlirOperation operation,
                     MlirValue a, MlirValue b) {
  MlirValue operands[2] = {a, b};
  MlirOperation clone = mlirOperationClone(operation);
  mlirOperationSetOperands(clone, 2, operands);
  MlirValue result = mlirOperationGetResult(clone, 0);
  mlirValueSetType(result, mlirValueGetType(a));
  mlirBlockAppendOwnedOperation(builder->block, clone);
  return result;
}

/* log2(lanes) rounds, each with a copy whose lanes are s away. */
MlirValue tg_reduce_lanes(struct tg_builder *builder, MlirOperation operation,
                          MlirValue vector) {
  for (int64_t s = 1; s < builder->lanes; s *= 2) {
    int64_t order[MAX_LANE_COUNT];
    for (int64_t lane = 0; lane < builder->lanes; ++lane)
      order[lane] = (lane + s) % builder->lanes;
    vector = tg_combine(builder, operation, vector,
                        tg_permute(builder, vector, vector, order));
  }
  return tg_get_lane(builder, vector, 0);
}

MlirValue tg_select_lanes(struct tg_builder *builder, MlirValue first,
                          MlirValue rest, int64_t valid) {
  MlirValue operands[3] = {tg_mask(builder, valid), first, rest};
  return tg_build_1(builder, "arith.select", 3, operands,
                    mlirValueGetType(first));
}

/* Rows of a table that are chosen by uniform indices and read along the lanes
 * are vectors; anything else is read lane by lane. */
static MlirValue emit_extract(struct tg_lanes *lanes, MlirOperation op) {
  struct tg_builder *builder = lanes->builder;
  MlirValue tensor = tg_lanes_get(lanes, mlirOperationGetOperand(op, 0));
  int rank = (int)mlirOperationGetNumOperands(op) - 1;
  MlirValue indices[MAX_BODY_OPERANDS], place[MAX_BODY_OPERANDS];
  bool uniform = true;
  for (int d = 0; d < rank; ++d) {
    indices[d] = tg_lanes_get(lanes, mlirOperationGetOperand(op, d + 1));
    uniform &=
        d == rank - 1 || !mlirTypeIsAVector(mlirValueGetType(indices[d]));
  }
  int64_t loop;
  MlirType element = mlirShapedTypeGetElementType(mlirValueGetType(tensor));
  if (uniform && rank > 0 &&
      index_loop(tg_value_producer(mlirOperationGetOperand(op, rank)), &loop) &&
      loop == lanes->vector_loop && tg_element_is_addressable(element)) {
    indices[rank - 1] = lanes->index;
    return tg_read(builder, tensor, rank, indices, lanes->valid);
  }
  MlirValue elements[MAX_LANE_COUNT];
  for (int64_t lane = 0; lane < builder->lanes; ++lane) {
    /* Lanes that don't exist repeat the last one that does. */
    int64_t source = lane < lanes->valid ? lane : lanes->valid - 1;
    for (int d = 0; d < rank; ++d)
      place[d] = mlirTypeIsAVector(mlirValueGetType(indices[d]))
                     ? tg_get_lane(builder, indices[d], source)
                     : indices[d];
    elements[lane] = source == lane ? tg_extract(builder, tensor, rank, place)
                                    : elements[source];
  }
  return tg_from_lanes(builder, elements);
}

static void emit_vector(struct tg_lanes *lanes, MlirOperation op) {
  struct tg_builder *builder = lanes->builder;
  MlirValue operands[MAX_BODY_OPERANDS];
  int count = (int)mlirOperationGetNumOperands(op);
  for (int i = 0; i < count; ++i)
    operands[i] = tg_lanes_get_vector(lanes, mlirOperationGetOperand(op, i));
  MlirValue result = mlirOperationGetResult(op, 0);
  if (tg_polynomial_has(tg_op_name(op), mlirValueGetType(result))) {
    tg_lanes_bind(lanes, result,
                  tg_polynomial_emit(builder, tg_op_name(op), count, operands));
    return;
  }
  MlirValue narrow = tg_narrow_emit(builder, op, count, operands);
  if (!mlirValueIsNull(narrow)) {
    tg_lanes_bind(lanes, result, narrow);
    return;
  }
  MlirOperation clone = mlirOperationClone(op);
  mlirOperationSetOperands(clone, count, operands);
  MlirValue vector = mlirOperationGetResult(clone, 0);
  mlirValueSetType(vector, tg_vector_of(builder, mlirValueGetType(result)));
  mlirBlockAppendOwnedOperation(builder->block, clone);
  tg_lanes_bind(lanes, result, vector);
}

/* One check that holds where it holds in all lanes that exist. */
static void emit_assert(struct tg_lanes *lanes, MlirOperation op) {
  struct tg_builder *builder = lanes->builder;
  MlirType bit = mlirIntegerTypeGet(builder->context, 1);
  MlirType type = tg_vector_of(builder, bit);
  MlirValue condition =
      tg_lanes_get_vector(lanes, mlirOperationGetOperand(op, 0));
  if (lanes->valid < builder->lanes) {
    MlirValue operands[3] = {
        tg_mask(builder, lanes->valid), condition,
        tg_constant(builder, type,
                    mlirDenseElementsAttrBoolSplatGet(type, true))};
    condition = tg_build_1(builder, "arith.select", 3, operands, type);
  }
  MlirNamedAttribute kind = tg_named(
      builder->context, "kind",
      mlirAttributeParseGet(builder->context, tg_ref("#vector.kind<and>")));
  MlirOperation clone = mlirOperationClone(op);
  mlirOperationSetOperand(
      clone, 0,
      mlirOperationGetResult(tg_build(builder, "vector.reduction", 1,
                                      &condition, 1, &bit, 1, &kind),
                             0));
  mlirBlockAppendOwnedOperation(builder->block, clone);
}

static bool is_bound(const struct tg_lanes *lanes, MlirValue scalar) {
  for (int i = 0; i < lanes->count; ++i)
    if (mlirValueEqual(lanes->scalar[i], scalar))
      return true;
  return false;
}

MlirOperation tg_lanes_emit(struct tg_lanes *lanes, MlirBlock body) {
  MlirOperation op = mlirBlockGetFirstOperation(body);
  for (; !tg_op_is(op, "linalg.yield"); op = mlirOperationGetNextInBlock(op)) {
    int64_t loop;
    if (tg_op_is(op, "arith.constant"))
      continue;
    if (index_loop(op, &loop)) {
      if (!is_bound(lanes, mlirOperationGetResult(op, 0)))
        tg_lanes_bind(lanes, mlirOperationGetResult(op, 0),
                      index_vector(lanes));
    } else if (is_uniform(lanes, op)) {
      emit_uniform(lanes, op);
    } else if (tg_op_is(op, "cf.assert")) {
      emit_assert(lanes, op);
    } else if (tg_op_is(op, "tensor.extract")) {
      tg_lanes_bind(lanes, mlirOperationGetResult(op, 0),
                    emit_extract(lanes, op));
    } else {
      emit_vector(lanes, op);
    }
  }
  return op;
}
