/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * out + sum(a * b), rounded in each step, becomes
 *   round(ext(out) + sum(ext(a) * ext(b))).
 * The sum starts from zero, so that nothing of f32 is read; the rounding is an
 * elementwise operation behind a kernel, which is done before anything is
 * stored. Where the sum is cut into blocks, what lies between them is f32.
 */
#include "passes/widen.h"

#include <mlir-c/AffineMap.h>
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <string.h>

#include "model/kernel.h"
#include "passes/attribute.h"
#include "passes/build.h"
#include "passes/generic.h"
#include "passes/inspect.h"
#include "passes/passes.h"
#include "passes/stored.h"

struct rounded {
  MlirOperation op;
  struct tg_kernel kernel; /* loops and accesses alone */
  MlirAffineMap maps[TG_OPERAND_COUNT];
};

static bool is_half(MlirType type) {
  return mlirTypeIsAF16(type) || mlirTypeIsABF16(type);
}

static MlirType element_of(MlirValue value) {
  return mlirShapedTypeGetElementType(mlirValueGetType(value));
}

static bool read_rounded(MlirOperation op, struct rounded *rounded) {
  *rounded = (struct rounded){.op = op};
  enum tg_extension extension[TG_RESULT];
  if (!tg_op_name_starts_with(op, "linalg.") ||
      mlirOperationGetNumOperands(op) != TG_OPERAND_COUNT ||
      mlirOperationGetNumResults(op) != 1 || tg_op_is_skipped(op) ||
      !tg_op_is_multiply_add(op, extension) ||
      tg_op_get_maps(op, TG_OPERAND_COUNT, rounded->maps) != TG_OPERAND_COUNT)
    return false;
  for (int o = 0; o < TG_OPERAND_COUNT; ++o)
    if (!mlirTypeIsARankedTensor(
            mlirValueGetType(mlirOperationGetOperand(op, o))) ||
        !is_half(element_of(mlirOperationGetOperand(op, o))))
      return false;
  return tg_op_read_accesses(op, &rounded->kernel);
}

static MlirValue extend(struct tg_builder *builder, MlirValue value) {
  return tg_build_1(builder, "arith.extf", 1, &value,
                    mlirF32TypeGet(builder->context));
}

static MlirValue add(struct tg_builder *builder, MlirValue a, MlirValue b) {
  MlirValue operands[2] = {a, b};
  return tg_build_1(builder, "arith.addf", 2, operands, mlirValueGetType(a));
}

/* An empty tensor of the same extents. */
static MlirValue empty_like(struct tg_builder *builder, MlirValue value,
                            MlirType element) {
  MlirType type = mlirValueGetType(value);
  int rank = (int)mlirShapedTypeGetRank(type), count = 0;
  int64_t shape[TG_MAX_RANK];
  MlirValue extents[TG_MAX_RANK];
  for (int d = 0; d < rank; ++d) {
    shape[d] = mlirShapedTypeGetDimSize(type, d);
    if (mlirShapedTypeIsDynamicSize(shape[d]))
      extents[count++] = tg_dim(builder, value, d);
  }
  return tg_build_1(
      builder, "tensor.empty", count, extents,
      mlirRankedTensorTypeGet(rank, shape, element, mlirAttributeGetNull()));
}

/* sum(ext(a) * ext(b)) from zero on */
static MlirOperation build_sum(struct tg_builder *outside,
                               const struct rounded *rounded) {
  MlirOperation op = rounded->op;
  MlirType f32 = mlirF32TypeGet(outside->context);
  struct tg_generic generic = {.loop_count = rounded->kernel.loop_count};
  memcpy(generic.reduction, rounded->kernel.reduction,
         sizeof(generic.reduction));
  for (int o = 0; o < TG_RESULT; ++o)
    tg_generic_add_operand(&generic, mlirOperationGetOperand(op, o),
                           rounded->maps[o]);
  MlirValue zero = tg_constant(outside, f32, tg_zero_attribute(f32));
  tg_generic_add_operand(
      &generic,
      tg_build_fill_of(
          outside, zero,
          empty_like(outside, mlirOperationGetOperand(op, TG_RESULT), f32)),
      rounded->maps[TG_RESULT]);
  tg_generic_begin(&generic, outside->location);
  MlirValue factors[TG_RESULT];
  for (int o = 0; o < TG_RESULT; ++o)
    factors[o] = extend(&generic.builder, tg_generic_argument(&generic, o));
  MlirValue product =
      tg_build_1(&generic.builder, "arith.mulf", TG_RESULT, factors, f32);
  return tg_generic_end(
      outside, &generic,
      add(&generic.builder, tg_generic_argument(&generic, TG_RESULT), product));
}

/* round(sum + ext(out)), elementwise */
static MlirValue build_rounding(struct tg_builder *outside, MlirValue sum,
                                MlirValue out) {
  intptr_t rank = mlirShapedTypeGetRank(mlirValueGetType(sum));
  MlirAffineMap identity =
      mlirAffineMapMultiDimIdentityGet(outside->context, rank);
  struct tg_generic generic = {.loop_count = (int)rank};
  bool starts_from_zero = tg_value_is_zero_fill(out);
  tg_generic_add_operand(&generic, sum, identity);
  if (!starts_from_zero)
    tg_generic_add_operand(&generic, out, identity);
  tg_generic_add_operand(&generic, empty_like(outside, out, element_of(out)),
                         identity);
  tg_generic_begin(&generic, outside->location);
  MlirValue value = tg_generic_argument(&generic, 0);
  if (!starts_from_zero)
    value =
        add(&generic.builder,
            extend(&generic.builder, tg_generic_argument(&generic, 1)), value);
  value =
      tg_build_1(&generic.builder, "arith.truncf", 1, &value, element_of(out));
  return mlirOperationGetResult(tg_generic_end(outside, &generic, value), 0);
}

/* Is the operation's configuration one of the sum, and not of the loops as they
 * stand? Whether it is a good one is for its reader to say. */
static bool is_of_sum(MlirAttribute config) {
  if (!mlirAttributeIsADictionary(config))
    return false;
  MlirAttribute schedule =
      mlirDictionaryAttrGetElementByName(config, tg_ref("schedule"));
  return !mlirAttributeIsNull(schedule) && mlirAttributeIsAString(schedule) &&
         mlirStringRefEqual(mlirStringAttrGetValue(schedule), tg_ref("tiled"));
}

/* Has the sum configurations, and, if the operation came with one, is that one
 * of them? */
static bool take_config(MlirOperation op, MlirOperation sum) {
  struct tg_kernel kernel;
  if (!tg_kernel_from_op(sum, &kernel))
    return false;
  MlirAttribute given =
      mlirOperationGetAttributeByName(op, tg_ref(TG_CONFIG_ATTRIBUTE));
  if (mlirAttributeIsNull(given))
    return true;
  if (!is_of_sum(given))
    return false;
  mlirOperationSetDiscardableAttributeByName(sum, tg_ref(TG_CONFIG_ATTRIBUTE),
                                             given);
  return true;
}

static MlirWalkResult widen(MlirOperation op, void *data) {
  const bool *may_choose = data;
  struct rounded rounded;
  if (!read_rounded(op, &rounded) ||
      (!*may_choose && !tg_op_has_attribute(op, TG_CONFIG_ATTRIBUTE)))
    return MlirWalkResultAdvance;
  MlirBlock block = mlirBlockCreate(0, NULL, NULL);
  struct tg_builder outside;
  tg_builder_init(&outside, block, mlirOperationGetLocation(op),
                  mlirF32TypeGet(mlirOperationGetContext(op)), 1);
  MlirOperation sum = build_sum(&outside, &rounded);
  bool served = take_config(op, sum);
  if (served) {
    if (!tg_op_is(op, "linalg.generic"))
      mlirOperationSetDiscardableAttributeByName(
          sum, tg_ref(TG_WAS_ATTRIBUTE),
          mlirStringAttrGet(outside.context, tg_op_name(op)));
    MlirValue result = build_rounding(&outside, mlirOperationGetResult(sum, 0),
                                      mlirOperationGetOperand(op, TG_RESULT));
    tg_move_before(block, op);
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0), result);
    mlirOperationDestroy(op);
  }
  mlirBlockDestroy(block);
  return served ? MlirWalkResultSkip : MlirWalkResultAdvance;
}

void tg_widen_sums(MlirOperation module, bool may_choose) {
  mlirContextGetOrLoadDialect(mlirOperationGetContext(module),
                              tg_ref("tensor"));
  mlirOperationWalk(module, widen, &may_choose, MlirWalkPostOrder);
}
