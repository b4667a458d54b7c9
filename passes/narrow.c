/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A bf16 is the upper half of an f32. Rounding adds half a unit, less one in
 * the last place where the kept half is even, and drops the lower half; that
 * would make numbers of some NaNs, which are told apart.
 */
#include "passes/narrow.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

#include "passes/inspect.h"

enum { MAX_OPERANDS = 3, UNORDERED = 14 /* of arith.cmpf */ };

/*===-- Rounding ----------------------------------------------------------===*/

static MlirType integer_vector(const struct tg_builder *b, unsigned width) {
  return tg_vector_of(b, mlirIntegerTypeGet(b->context, width));
}

static MlirValue splat(struct tg_builder *b, MlirType type, int64_t value) {
  MlirType element = mlirShapedTypeGetElementType(type);
  return tg_constant(
      b, type,
      mlirDenseElementsAttrSplatGet(type, mlirIntegerAttrGet(element, value)));
}

static MlirValue combine(struct tg_builder *b, const char *name, MlirValue x,
                         int64_t number) {
  MlirType type = mlirValueGetType(x);
  MlirValue operands[2] = {x, splat(b, type, number)};
  return tg_build_1(b, name, 2, operands, type);
}

static MlirValue is_nan(struct tg_builder *b, MlirValue x) {
  MlirValue operands[2] = {x, x};
  MlirType type = integer_vector(b, 1);
  MlirNamedAttribute predicate = tg_named(
      b->context, "predicate",
      mlirIntegerAttrGet(mlirIntegerTypeGet(b->context, 64), UNORDERED));
  return mlirOperationGetResult(
      tg_build(b, "arith.cmpf", 2, operands, 1, &type, 1, &predicate), 0);
}

static MlirValue round_vector(struct tg_builder *b, MlirValue x) {
  MlirType words = integer_vector(b, 32);
  MlirValue bits = tg_build_1(b, "arith.bitcast", 1, &x, words);
  MlirValue kept = combine(b, "arith.shrui", bits, 16);
  MlirValue sum[2] = {combine(b, "arith.andi", kept, 1),
                      combine(b, "arith.addi", bits, 0x7fff)};
  MlirValue rounded =
      combine(b, "arith.shrui", tg_build_1(b, "arith.addi", 2, sum, words), 16);
  MlirValue choice[3] = {is_nan(b, x), combine(b, "arith.ori", kept, 0x40),
                         rounded};
  MlirValue half = tg_build_1(b, "arith.select", 3, choice, words);
  half = tg_build_1(b, "arith.trunci", 1, &half, integer_vector(b, 16));
  return tg_build_1(b, "arith.bitcast", 1, &half,
                    tg_vector_of(b, mlirBF16TypeGet(b->context)));
}

static bool is_vector_of_lanes(const struct tg_builder *b, MlirValue value) {
  MlirType type = mlirValueGetType(value);
  return mlirTypeIsAVector(type) && mlirShapedTypeGetRank(type) == 1 &&
         mlirShapedTypeGetDimSize(type, 0) == b->lanes;
}

MlirValue tg_round(struct tg_builder *b, MlirValue value, MlirType type) {
  if (b->rounds_to_bf16 || !is_vector_of_lanes(b, value) ||
      !mlirTypeIsABF16(mlirShapedTypeGetElementType(type)) ||
      !mlirTypeIsAF32(mlirShapedTypeGetElementType(mlirValueGetType(value))))
    return tg_build_1(b, "arith.truncf", 1, &value, type);
  return round_vector(b, value);
}

/*===-- Operations --------------------------------------------------------===*/

static bool rounds(MlirOperation op) {
  static const char *const names[] = {
      "arith.addf",     "arith.subf",     "arith.mulf",    "arith.divf",
      "arith.maximumf", "arith.minimumf", "arith.maxnumf", "arith.minnumf",
      "math.sqrt",      "arith.truncf"};
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i)
    if (tg_op_is(op, names[i]))
      return true;
  return false;
}

MlirValue tg_narrow_emit(struct tg_builder *b, MlirOperation op,
                         int operand_count, const MlirValue *operands) {
  MlirType element = mlirValueGetType(mlirOperationGetResult(op, 0));
  MlirType wide = tg_vector_of(b, mlirF32TypeGet(b->context));
  MlirValue extended[MAX_OPERANDS];
  if (b->rounds_to_bf16 || operand_count > MAX_OPERANDS || !rounds(op) ||
      !mlirTypeIsABF16(element))
    return (MlirValue){NULL};
  if (tg_op_is(op, "arith.truncf")) {
    MlirType from = mlirValueGetType(mlirOperationGetOperand(op, 0));
    return mlirTypeIsAF32(from) && is_vector_of_lanes(b, operands[0])
               ? round_vector(b, operands[0])
               : (MlirValue){NULL};
  }
  for (int i = 0; i < operand_count; ++i)
    extended[i] = tg_build_1(b, "arith.extf", 1, &operands[i], wide);
  MlirOperation clone = mlirOperationClone(op);
  mlirOperationSetOperands(clone, operand_count, extended);
  mlirValueSetType(mlirOperationGetResult(clone, 0), wide);
  mlirBlockAppendOwnedOperation(b->block, clone);
  return round_vector(b, mlirOperationGetResult(clone, 0));
}
