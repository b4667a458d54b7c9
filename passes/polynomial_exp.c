/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Exponentials. The argument is split as n ln 2 + r with Cody and Waite's two
 * constants (Software Manual for the Elementary Functions, 1980), exp(r) is a
 * polynomial, and 2^n is put together from its bits. The integer n comes from
 * the addition of a number so large that the sum has no fraction bits (Muller,
 * Elementary Functions, 3rd ed., 11.1): the sum's low bits then hold it.
 */
#include <math.h>

#include "passes/polynomial_emit.h"

/*
 * n is even: 2^n is the square of a power that is always a normal number, and
 * multiplying twice by that rounds once where the result is normal or denormal
 * alike, and overflows to infinity. It costs two degrees and saves taking n
 * apart.
 */
static MlirValue scale_twice(const struct tg_math *math, MlirValue value,
                             MlirValue sum) {
  MlirValue half = tg_math_power(math, sum);
  return tg_math_mul(math, tg_math_mul(math, value, half), half);
}

MlirValue tg_emit_exp(const struct tg_math *math, const MlirValue *operand) {
  const struct tg_table *ln2 = TG_TABLE(math, ln2);
  MlirValue x = tg_math_at_least(math, operand[0], TG_PICK(math, -104, -746));
  x = tg_math_at_most(math, x, TG_PICK(math, 89, 710));
  MlirValue rounder = tg_math_rounder(math, math->bias);
  MlirValue sum =
      tg_math_fma(math, x, tg_math_number(math, 0x1.71547652b82fep-1), rounder);
  MlirValue half = tg_math_sub(math, sum, rounder);
  MlirValue r = tg_math_fma(math, half,
                            tg_math_number(math, -2 * ln2->coefficient[0]), x);
  r = tg_math_fma(math, half, tg_math_number(math, -2 * ln2->coefficient[1]),
                  r);
  return scale_twice(math, tg_math_series(math, r, TG_TABLE(math, exp)), sum);
}

MlirValue tg_emit_exp2(const struct tg_math *math, const MlirValue *operand) {
  MlirValue x = tg_math_at_least(math, operand[0], TG_PICK(math, -151, -1076));
  x = tg_math_at_most(math, x, TG_PICK(math, 129, 1025));
  MlirValue rounder = tg_math_rounder(math, math->bias);
  MlirValue sum = tg_math_fma(math, x, tg_math_number(math, 0.5), rounder);
  MlirValue half = tg_math_sub(math, sum, rounder);
  MlirValue r = tg_math_fma(math, half, tg_math_number(math, -2), x);
  return scale_twice(math, tg_math_series(math, r, TG_TABLE(math, exp2)), sum);
}

/*
 * 2^n (exp(r) - 1) + (2^n - 1), all halved, so that 2^128 or 2^1024 is not
 * needed. Below the lower bound the result is -1 to the last bit; an argument
 * near zero, of either sign, is its own result.
 */
MlirValue tg_math_expm1(const struct tg_math *math, MlirValue argument) {
  const struct tg_table *ln2 = TG_TABLE(math, ln2);
  MlirValue x = tg_math_at_least(math, argument, TG_PICK(math, -18, -40));
  x = tg_math_at_most(math, x, TG_PICK(math, 89, 710));
  MlirValue rounder = tg_math_rounder(math, math->bias - 1);
  MlirValue sum =
      tg_math_fma(math, x, tg_math_number(math, 0x1.71547652b82fep0), rounder);
  MlirValue n = tg_math_sub(math, sum, rounder);
  MlirValue r =
      tg_math_fma(math, n, tg_math_number(math, -ln2->coefficient[0]), x);
  r = tg_math_fma(math, n, tg_math_number(math, -ln2->coefficient[1]), r);
  MlirValue p = tg_math_fma(math, tg_math_mul(math, r, r),
                            tg_math_series(math, r, TG_TABLE(math, expm1)), r);
  MlirValue power = tg_math_power(math, sum); /* 2^(n - 1) */
  MlirValue less = tg_math_sub(math, power, tg_math_number(math, 0.5));
  MlirValue half = tg_math_fma(math, power, p, less);
  MlirValue tiny = tg_math_number(math, TG_PICK(math, 0x1p-26, 0x1p-55));
  return tg_math_select(math,
                        tg_math_less(math, tg_math_abs(math, argument), tiny),
                        argument, tg_math_add(math, half, half));
}

MlirValue tg_emit_expm1(const struct tg_math *math, const MlirValue *operand) {
  return tg_math_expm1(math, operand[0]);
}

/*===-- Sigmoids ----------------------------------------------------------===*/

/* x P(x^2) / Q(x^2), which is constant beyond the bound. */
static MlirValue odd_quotient(const struct tg_math *math, MlirValue argument,
                              double bound, const struct tg_table *upper,
                              const struct tg_table *lower) {
  MlirValue x = tg_math_at_least(math, argument, -bound);
  x = tg_math_at_most(math, x, bound);
  MlirValue square = tg_math_mul(math, x, x);
  MlirValue p = tg_math_series(math, square, upper);
  MlirValue q = tg_math_series(math, square, lower);
  return tg_math_div(math, tg_math_mul(math, x, p), q);
}

MlirValue tg_emit_tanh(const struct tg_math *math, const MlirValue *operand) {
  if (!math->wide)
    return odd_quotient(math, operand[0], 9, &tanh_f32_upper, &tanh_f32_lower);
  /* tanh(x) = t / (t + 2) of t = exp(2 x) - 1; 1 from 20 on. */
  MlirValue x = tg_math_abs(math, operand[0]);
  x = tg_math_at_most(math, x, 20);
  MlirValue t = tg_math_expm1(math, tg_math_add(math, x, x));
  MlirValue sum = tg_math_add(math, t, tg_math_number(math, 2));
  return tg_math_copysign(math, tg_math_div(math, t, sum), operand[0]);
}

MlirValue tg_emit_erf(const struct tg_math *math, const MlirValue *operand) {
  if (!math->wide)
    return odd_quotient(math, operand[0], 3.92, &erf_f32_upper, &erf_f32_lower);
  /* erf(x) = 1 - exp(log(erfc(x))): the logarithm is nearly a parabola. */
  MlirValue x = tg_math_abs(math, operand[0]);
  x = tg_math_at_most(math, x, 5.95);
  MlirValue log_erfc =
      tg_math_mul(math, x, tg_math_series(math, x, &log_erfc_f64));
  return tg_math_copysign(math, tg_math_expm1(math, log_erfc), operand[0]);
}
