/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Sine and cosine. The argument is split as n pi / 2 + r with constants of so
 * few bits that n times each of them is exact (Cody and Waite 1980), as long as
 * n has few itself; a vector with a larger element takes upstream's operation.
 */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

#include "passes/inspect.h"
#include "passes/polynomial_emit.h"

/* |x| below 2^11 or 2^20 times pi / 2. NaN is not below. */
static MlirValue is_near(const struct tg_math *math, MlirValue magnitude) {
  return tg_math_less(math, magnitude,
                      tg_math_number(math, TG_PICK(math, 3200, 1.6e6)));
}

struct reduced {
  MlirValue quadrant; /* n in the low bits of an integer */
  MlirValue r;
};

static void reduce(const struct tg_math *math, MlirValue x,
                   struct reduced *reduced) {
  const struct tg_table *half_pi = TG_TABLE(math, half_pi);
  MlirValue rounder = tg_math_rounder(math, 0);
  MlirValue sum =
      tg_math_fma(math, x, tg_math_number(math, 0x1.45f306dc9c883p-1), rounder);
  MlirValue n = tg_math_sub(math, sum, rounder);
  reduced->quadrant = tg_math_bits(math, sum);
  reduced->r = x;
  for (int i = 0; i < half_pi->count; ++i)
    reduced->r = tg_math_fma(
        math, n, tg_math_number(math, -half_pi->coefficient[i]), reduced->r);
}

/* sin(r) or cos(r) with the quadrant's sign; shift: 0 for sin, 1 for cos. */
static MlirValue evaluate(const struct tg_math *math, MlirValue x, int shift) {
  struct reduced reduced;
  reduce(math, x, &reduced);
  MlirValue one = tg_math_integer(math, 1), r = reduced.r;
  MlirValue quadrant = reduced.quadrant;
  if (shift)
    quadrant = tg_math_op(math, "arith.addi", quadrant, one);
  MlirValue z = tg_math_mul(math, r, r);
  MlirValue sine = tg_math_fma(math, tg_math_mul(math, r, z),
                               tg_math_series(math, z, TG_TABLE(math, sin)), r);
  MlirValue head =
      tg_math_fma(math, z, tg_math_number(math, -0.5), tg_math_number(math, 1));
  MlirValue cosine =
      tg_math_fma(math, tg_math_mul(math, z, z),
                  tg_math_series(math, z, TG_TABLE(math, cos)), head);
  MlirValue odd =
      tg_math_any_bit(math, tg_math_op(math, "arith.andi", quadrant, one));
  MlirValue value = tg_math_select(math, odd, cosine, sine);
  MlirValue sign = tg_math_op(math, "arith.shrui", quadrant, one);
  sign = tg_math_op(math, "arith.shli", sign,
                    tg_math_integer(math, math->wide ? 63 : 31));
  return tg_math_from_bits(
      math, tg_math_op(math, "arith.xori", tg_math_bits(math, value), sign));
}

/* Do all lanes hold? */
static MlirValue all(const struct tg_math *math, MlirValue condition) {
  if (!mlirTypeIsAVector(math->boolean))
    return condition;
  MlirContext context = math->builder->context;
  MlirType bit = mlirIntegerTypeGet(context, 1);
  intptr_t rank = mlirShapedTypeGetRank(math->boolean);
  if (rank != 1) {
    int64_t flat = 1;
    for (intptr_t d = 0; d < rank; ++d)
      flat *= mlirShapedTypeGetDimSize(math->boolean, d);
    condition = tg_build_1(math->builder, "vector.shape_cast", 1, &condition,
                           mlirVectorTypeGet(1, &flat, bit));
  }
  MlirNamedAttribute kind =
      tg_named(context, "kind",
               mlirAttributeParseGet(context, tg_ref("#vector.kind<and>")));
  return mlirOperationGetResult(tg_build(math->builder, "vector.reduction", 1,
                                         &condition, 1, &bit, 1, &kind),
                                0);
}

/* An scf.if of two regions, each of which yields what `emit` made in it. */
static MlirValue emit_either(const struct tg_math *math, MlirValue x,
                             const char *name, int shift) {
  struct tg_builder *builder = math->builder;
  MlirBlock outside = builder->block;
  MlirValue magnitude = tg_math_abs(math, x);
  MlirValue condition = all(math, is_near(math, magnitude));
  MlirRegion regions[2];
  for (int far = 0; far < 2; ++far) {
    builder->block = mlirBlockCreate(0, NULL, NULL);
    regions[far] = mlirRegionCreate();
    mlirRegionAppendOwnedBlock(regions[far], builder->block);
    MlirValue value = far ? tg_build_1(builder, name, 1, &x, math->real)
                          : evaluate(math, x, shift);
    tg_build(builder, "scf.yield", 1, &value, 0, NULL, 0, NULL);
  }
  builder->block = outside;
  MlirOperationState state =
      mlirOperationStateGet(tg_ref("scf.if"), builder->location);
  mlirOperationStateAddOperands(&state, 1, &condition);
  mlirOperationStateAddResults(&state, 1, &math->real);
  mlirOperationStateAddOwnedRegions(&state, 2, regions);
  MlirOperation op = mlirOperationCreate(&state);
  mlirBlockAppendOwnedOperation(outside, op);
  MlirValue result = mlirOperationGetResult(op, 0);
  if (shift)
    return result;
  /* sin(x) = x to the last bit, also of a negative zero. */
  MlirValue tiny = tg_math_number(math, TG_PICK(math, 0x1p-13, 0x1p-27));
  return tg_math_select(math, tg_math_less(math, magnitude, tiny), x, result);
}

MlirValue tg_emit_sin(const struct tg_math *math, const MlirValue *operand) {
  return emit_either(math, operand[0], "math.sin", 0);
}

MlirValue tg_emit_cos(const struct tg_math *math, const MlirValue *operand) {
  return emit_either(math, operand[0], "math.cos", 1);
}
