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

/* exp(x) - 1 = 2^n p + (2^n - 1). */
struct expm1_parts {
  MlirValue p;     /* exp(r) - 1 */
  MlirValue power; /* 2^(n + offset) */
};

static void take_apart(const struct tg_math *math, MlirValue x, int offset,
                       struct expm1_parts *parts) {
  const struct tg_table *ln2 = TG_TABLE(math, ln2);
  MlirValue rounder = tg_math_rounder(math, math->bias + offset);
  MlirValue sum =
      tg_math_fma(math, x, tg_math_number(math, 0x1.71547652b82fep0), rounder);
  MlirValue n = tg_math_sub(math, sum, rounder);
  MlirValue r =
      tg_math_fma(math, n, tg_math_number(math, -ln2->coefficient[0]), x);
  r = tg_math_fma(math, n, tg_math_number(math, -ln2->coefficient[1]), r);
  parts->p = tg_math_fma(math, tg_math_mul(math, r, r),
                         tg_math_series(math, r, TG_TABLE(math, expm1)), r);
  parts->power = tg_math_power(math, sum);
}

/* Of x whose power is a normal number; exact for tiny x, but for the sign of a
 * negative zero. */
static MlirValue bounded_expm1(const struct tg_math *math, MlirValue x) {
  struct expm1_parts parts;
  take_apart(math, x, 0, &parts);
  MlirValue less = tg_math_sub(math, parts.power, tg_math_number(math, 1));
  return tg_math_fma(math, parts.power, parts.p, less);
}

/*
 * All is halved, so that 2^128 or 2^1024 is not needed. Below the lower bound
 * the result is -1 to the last bit; an argument near zero, of either sign, is
 * its own result.
 */
MlirValue tg_emit_expm1(const struct tg_math *math, const MlirValue *operand) {
  MlirValue x = tg_math_at_least(math, operand[0], TG_PICK(math, -18, -40));
  x = tg_math_at_most(math, x, TG_PICK(math, 89, 710));
  struct expm1_parts parts;
  take_apart(math, x, -1, &parts);
  MlirValue less = tg_math_sub(math, parts.power, tg_math_number(math, 0.5));
  MlirValue half = tg_math_fma(math, parts.power, parts.p, less);
  MlirValue tiny = tg_math_number(math, TG_PICK(math, 0x1p-26, 0x1p-55));
  return tg_math_select(math,
                        tg_math_less(math, tg_math_abs(math, operand[0]), tiny),
                        operand[0], tg_math_add(math, half, half));
}

/*===-- Sigmoids ----------------------------------------------------------===*/

/* tanh(x) = t / (t + 2) of t = exp(2 x) - 1: the larger t is, the less its
 * error matters. 1 to the last bit beyond the bound. */
MlirValue tg_emit_tanh(const struct tg_math *math, const MlirValue *operand) {
  MlirValue x = tg_math_abs(math, operand[0]);
  x = tg_math_at_most(math, x, TG_PICK(math, 9.02, 20));
  MlirValue t = bounded_expm1(math, tg_math_add(math, x, x));
  MlirValue sum = tg_math_add(math, t, tg_math_number(math, 2));
  return tg_math_copysign(math, tg_math_div(math, t, sum), operand[0]);
}

/* erf(x) = 1 - exp(log(erfc(x))): the logarithm is nearly a parabola, and so a
 * polynomial of a lower degree than erf itself or its quotients. The error is
 * small where erf(x) is near 1, and erf(x) is never above it. */
MlirValue tg_emit_erf(const struct tg_math *math, const MlirValue *operand) {
  MlirValue x = tg_math_abs(math, operand[0]);
  x = tg_math_at_most(math, x, TG_PICK(math, 3.93, 5.95));
  MlirValue log_erfc =
      tg_math_mul(math, x, tg_math_series(math, x, TG_TABLE(math, log_erfc)));
  return tg_math_copysign(math, bounded_expm1(math, log_erfc), operand[0]);
}
