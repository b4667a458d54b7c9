/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Logarithms. x = 2^k (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)), taken apart
 * by integer operations; log(x) = k ln 2 + log(1 + f).
 */
#include <math.h>

#include "passes/polynomial_emit.h"

/* Shifting x's bits by those of sqrt(1/2) turns the interval into one of equal
 * exponents. */
void tg_math_split(const struct tg_math *math, MlirValue x,
                   struct tg_split *parts) {
  int shift = math->mantissa_bits;
  int64_t root =
      TG_PICK(math, INT64_C(0x3f3504f3), INT64_C(0x3fe6a09e667f3bcd));
  int64_t bias = (int64_t)math->bias << shift;
  MlirValue bits = tg_math_op(math, "arith.addi", tg_math_bits(math, x),
                              tg_math_integer(math, bias - root));
  parts->exponent =
      tg_math_op(math, "arith.shrui", bits, tg_math_integer(math, shift));
  MlirValue fraction =
      tg_math_op(math, "arith.andi", bits,
                 tg_math_integer(math, (INT64_C(1) << shift) - 1));
  MlirValue mantissa =
      tg_math_from_bits(math, tg_math_op(math, "arith.addi", fraction,
                                         tg_math_integer(math, root)));
  parts->f = tg_math_sub(math, mantissa, tg_math_number(math, 1));
  /* An integer below 2^shift is made real by putting it into the low bits of
   * 2^shift: cheaper than a conversion, which 64 bits often do not have. */
  double base = ldexp(1, shift);
  MlirValue based =
      tg_math_op(math, "arith.ori", parts->exponent,
                 tg_math_integer(math, TG_PICK(math, INT64_C(0x4b000000),
                                               INT64_C(0x4330000000000000))));
  parts->k = tg_math_sub(math, tg_math_from_bits(math, based),
                         tg_math_number(math, base + math->bias));
}

/* The same of a positive x that may be denormal. */
static void take_any_apart(const struct tg_math *math, MlirValue x,
                           struct tg_split *parts) {
  MlirValue least = tg_math_number(math, TG_PICK(math, 0x1p-126, 0x1p-1022));
  MlirValue denormal = tg_math_less(math, x, least);
  MlirValue scale = tg_math_number(math, ldexp(1, math->mantissa_bits));
  MlirValue normal =
      tg_math_select(math, denormal, tg_math_mul(math, x, scale), x);
  tg_math_split(math, normal, parts);
  MlirValue lower =
      tg_math_sub(math, parts->k, tg_math_number(math, math->mantissa_bits));
  parts->k = tg_math_select(math, denormal, lower, parts->k);
}

/*
 * f32: f + f^2 Q(f) + k ln 2.
 * f64: with s = f / (2 + f), log(1 + f) = 2 atanh(s) has terms of odd powers
 * alone. 2 s is f - s f, so that f itself, which is exact, leads the sum.
 */
static MlirValue add_log(const struct tg_math *math, MlirValue f, MlirValue k) {
  const struct tg_table *ln2 = TG_TABLE(math, ln2);
  MlirValue low =
      tg_math_mul(math, k, tg_math_number(math, ln2->coefficient[1]));
  MlirValue tail;
  if (!math->wide) {
    tail = tg_math_fma(math, tg_math_mul(math, f, f),
                       tg_math_series(math, f, &log_f32), low);
  } else {
    MlirValue s =
        tg_math_div(math, f, tg_math_add(math, f, tg_math_number(math, 2)));
    MlirValue z = tg_math_mul(math, s, s);
    MlirValue series = tg_math_mul(math, z, tg_math_series(math, z, &log_f64));
    /* s f = f^2 / 2 - s f^2 / 2: the first of these loses less. */
    MlirValue square =
        tg_math_mul(math, tg_math_mul(math, f, f), tg_math_number(math, 0.5));
    MlirValue inner =
        tg_math_fma(math, s, tg_math_add(math, square, series), low);
    tail = tg_math_sub(math, inner, square);
  }
  MlirValue one = tg_math_add(math, tail, f);
  return tg_math_fma(math, k, tg_math_number(math, ln2->coefficient[0]), one);
}

/* log of x = 0, x < 0, infinity and NaN. */
static MlirValue set_special(const struct tg_math *math, MlirValue x,
                             MlirValue result) {
  MlirValue zero = tg_math_number(math, 0);
  MlirValue infinity = tg_math_number(math, INFINITY);
  MlirValue other = tg_math_select(math, tg_math_equal(math, x, zero),
                                   tg_math_number(math, -INFINITY),
                                   tg_math_number(math, NAN));
  result = tg_math_select(math, tg_math_less(math, zero, x), result, other);
  return tg_math_select(math, tg_math_equal(math, x, infinity), infinity,
                        result);
}

MlirValue tg_emit_log(const struct tg_math *math, const MlirValue *operand) {
  struct tg_split parts;
  take_any_apart(math, operand[0], &parts);
  return set_special(math, operand[0], add_log(math, parts.f, parts.k));
}

/* Powers of two are exact: f is zero for them. */
MlirValue tg_emit_log2(const struct tg_math *math, const MlirValue *operand) {
  struct tg_split parts;
  take_any_apart(math, operand[0], &parts);
  MlirValue log = add_log(math, parts.f, tg_math_number(math, 0));
  MlirValue result = tg_math_fma(
      math, log, tg_math_number(math, 0x1.71547652b82fep0), parts.k);
  return set_special(math, operand[0], result);
}

/*
 * 1 + x is a sum u and its rounding error c (Knuth's two-sum, which holds for
 * any size of x); log(u + c) needs f + c / 2^k in the place of f.
 */
MlirValue tg_emit_log1p(const struct tg_math *math, const MlirValue *operand) {
  MlirValue x = operand[0], one = tg_math_number(math, 1);
  MlirValue u = tg_math_add(math, x, one);
  MlirValue from_x = tg_math_sub(math, u, one);
  MlirValue c =
      tg_math_add(math, tg_math_sub(math, x, from_x),
                  tg_math_sub(math, one, tg_math_sub(math, u, from_x)));
  struct tg_split parts;
  tg_math_split(math, u, &parts);
  /* 2^-k, or 0 where k is so large that c does not matter. */
  MlirValue down =
      tg_math_op(math, "arith.subi", tg_math_integer(math, 2 * math->bias),
                 parts.exponent);
  down = tg_math_op(math, "arith.maxsi", down, tg_math_integer(math, 0));
  MlirValue scale = tg_math_from_bits(
      math, tg_math_op(math, "arith.shli", down,
                       tg_math_integer(math, math->mantissa_bits)));
  MlirValue f = tg_math_fma(math, c, scale, parts.f);
  MlirValue result = set_special(math, u, add_log(math, f, parts.k));
  return tg_math_copysign(math, result, x);
}
