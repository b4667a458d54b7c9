/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Powers: roots and powf. |x|^y = 2^(y log2 |x|) needs the logarithm to more
 * digits than the result has, as the product is up to 150 and its absolute
 * error becomes a relative one: f32 is computed in f64, with polynomials that
 * are no better than they have to be.
 */
#include <math.h>
#include <mlir-c/BuiltinAttributes.h>

#include "passes/inspect.h"
#include "passes/polynomial_emit.h"

/* Two correctly rounded operations. */
MlirValue tg_emit_rsqrt(const struct tg_math *math, const MlirValue *operand) {
  return tg_math_div(math, tg_math_number(math, 1),
                     tg_math_sqrt(math, operand[0]));
}

/* The number that all lanes are, known while emitting. */
static bool get_constant(MlirValue value, double *number) {
  MlirOperation producer = tg_value_producer(value);
  if (tg_op_is(producer, "vector.broadcast"))
    producer = tg_value_producer(mlirOperationGetOperand(producer, 0));
  if (!tg_op_is(producer, "arith.constant"))
    return false;
  MlirAttribute attribute =
      mlirOperationGetAttributeByName(producer, tg_ref("value"));
  if (mlirAttributeIsADenseElements(attribute)) {
    if (!mlirDenseElementsAttrIsSplat(attribute))
      return false;
    attribute = mlirDenseElementsAttrGetSplatValue(attribute);
  }
  if (!mlirAttributeIsAFloat(attribute))
    return false;
  *number = mlirFloatAttrGetValueDouble(attribute);
  return true;
}

static MlirValue convert(const struct tg_math *to, const char *name,
                         MlirValue value) {
  return tg_build_1(to->builder, name, 1, &value, to->real);
}

/* Whether y is an integer, and whether it is an odd one. All floats beyond
 * 2^24 are even integers, as is the bound. */
static void look_at_exponent(const struct tg_math *math, MlirValue y,
                             MlirValue *integer, MlirValue *odd) {
  y = tg_math_at_least(math, y, -0x1p30);
  y = tg_math_at_most(math, y, 0x1p30);
  MlirValue rounder = tg_math_rounder(math, 0);
  MlirValue sum = tg_math_add(math, y, rounder);
  *integer = tg_math_equal(math, tg_math_sub(math, sum, rounder), y);
  MlirValue low = tg_math_op(math, "arith.andi", tg_math_bits(math, sum),
                             tg_math_integer(math, 1));
  *odd = tg_math_both(math, *integer, tg_math_any_bit(math, low));
}

/* log2 of a magnitude that f32 holds, which is 0 or normal as an f64. */
static MlirValue emit_log2(const struct tg_math *math, MlirValue x) {
  MlirValue infinity = tg_math_number(math, INFINITY);
  struct tg_split parts;
  tg_math_split(math, x, &parts);
  MlirValue s = tg_math_div(
      math, parts.f, tg_math_add(math, parts.f, tg_math_number(math, 2)));
  MlirValue z = tg_math_mul(math, s, s);
  MlirValue log =
      tg_math_fma(math, s, tg_math_series(math, z, &power_log2), parts.k);
  MlirValue is_zero = tg_math_equal(math, x, tg_math_number(math, 0));
  log = tg_math_select(math, is_zero, tg_math_number(math, -INFINITY), log);
  return tg_math_select(math, tg_math_less(math, x, infinity), log, x);
}

/* |x|^y = 2^(y log2 |x|). The bounds are beyond all that f32 holds, and within
 * what f64 does. log2(1) times infinity is no NaN but 0. */
static MlirValue power_of_magnitude(const struct tg_math *math, MlirValue x,
                                    MlirValue y) {
  MlirValue magnitude = tg_math_abs(math, x), one = tg_math_number(math, 1);
  MlirValue log = tg_math_mul(math, y, emit_log2(math, magnitude));
  log = tg_math_at_most(math, tg_math_at_least(math, log, -160), 160);
  MlirValue rounder = tg_math_rounder(math, math->bias);
  MlirValue sum = tg_math_add(math, log, rounder);
  MlirValue r = tg_math_sub(math, log, tg_math_sub(math, sum, rounder));
  MlirValue power = tg_math_mul(math, tg_math_series(math, r, &power_exp2),
                                tg_math_power(math, sum));
  return tg_math_select(math, tg_math_equal(math, magnitude, one), one, power);
}

/* The special cases are those of C's pow (C11 F.10.4.4). */
MlirValue tg_emit_powf(const struct tg_math *math, const MlirValue *operand) {
  double constant;
  if (get_constant(operand[1], &constant) && (constant == 2 || constant == 3)) {
    MlirValue square = tg_math_mul(math, operand[0], operand[0]);
    return constant == 2 ? square : tg_math_mul(math, square, operand[0]);
  }
  struct tg_math wide = tg_math_widen(math);
  MlirValue x = convert(&wide, "arith.extf", operand[0]);
  MlirValue y = convert(&wide, "arith.extf", operand[1]);
  MlirValue zero = tg_math_number(&wide, 0), one = tg_math_number(&wide, 1);
  MlirValue integer, odd;
  look_at_exponent(&wide, y, &integer, &odd);
  MlirValue positive = power_of_magnitude(&wide, x, y);
  MlirValue result = tg_math_select(
      &wide, odd, tg_math_copysign(&wide, positive, x), positive);
  /* A negative, finite x needs an integer. */
  MlirValue negative =
      tg_math_both(&wide, tg_math_less(&wide, x, zero),
                   tg_math_less(&wide, tg_math_number(&wide, -INFINITY), x));
  MlirValue real =
      tg_math_select(&wide, integer, result, tg_math_number(&wide, NAN));
  result = tg_math_select(&wide, negative, real, result);
  result = tg_math_select(&wide, tg_math_equal(&wide, y, zero), one, result);
  return convert(math, "arith.truncf", result);
}
