/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the emitters of polynomials share: arithmetic on values of one type.
 */
#ifndef TGRAPH_PASSES_POLYNOMIAL_EMIT_H
#define TGRAPH_PASSES_POLYNOMIAL_EMIT_H

#include "passes/build.h"
#include "passes/polynomial_tables.h"

/* The type that is worked on: an element or a vector of them. */
struct tg_math {
  struct tg_builder *builder;
  MlirType real;    /* f32 or f64 */
  MlirType integer; /* of the same width */
  MlirType boolean;
  bool wide;         /* f64 */
  int mantissa_bits; /* stored: 23 or 52 */
  int bias;          /* of the exponent */
};

/* The same builder and shape with f64 for f32. */
struct tg_math tg_math_widen(const struct tg_math *math);

/* The table or number for the type's width. */
#define TG_PICK(math, for_f32, for_f64) ((math)->wide ? (for_f64) : (for_f32))
#define TG_TABLE(math, name) ((math)->wide ? &name##_f64 : &name##_f32)

/* Constants. A double that f32 does not hold is rounded. */
MlirValue tg_math_number(const struct tg_math *math, double value);
MlirValue tg_math_integer(const struct tg_math *math, int64_t value);

MlirValue tg_math_add(const struct tg_math *math, MlirValue a, MlirValue b);
MlirValue tg_math_sub(const struct tg_math *math, MlirValue a, MlirValue b);
MlirValue tg_math_mul(const struct tg_math *math, MlirValue a, MlirValue b);
MlirValue tg_math_div(const struct tg_math *math, MlirValue a, MlirValue b);
/* a * b + c, rounded once or twice as the builder says */
MlirValue tg_math_fma(const struct tg_math *math, MlirValue a, MlirValue b,
                      MlirValue c);
/* c[0] + x c[1] + x^2 c[2] ..., by Horner's rule */
MlirValue tg_math_series(const struct tg_math *math, MlirValue x,
                         const struct tg_table *table);
MlirValue tg_math_abs(const struct tg_math *math, MlirValue x);
MlirValue tg_math_sqrt(const struct tg_math *math, MlirValue x);
/* The magnitude of x with the sign of y. */
MlirValue tg_math_copysign(const struct tg_math *math, MlirValue x,
                           MlirValue y);

/* Comparisons are false with a NaN. */
MlirValue tg_math_less(const struct tg_math *math, MlirValue a, MlirValue b);
MlirValue tg_math_equal(const struct tg_math *math, MlirValue a, MlirValue b);
MlirValue tg_math_select(const struct tg_math *math, MlirValue condition,
                         MlirValue yes, MlirValue no);
/* One instruction each on x86; a NaN stays. */
MlirValue tg_math_at_least(const struct tg_math *math, MlirValue x,
                           double bound);
MlirValue tg_math_at_most(const struct tg_math *math, MlirValue x,
                          double bound);

/* Integers of the same width. */
MlirValue tg_math_bits(const struct tg_math *math, MlirValue real);
MlirValue tg_math_from_bits(const struct tg_math *math, MlirValue integer);
/* "arith.addi", "arith.andi", ... */
MlirValue tg_math_op(const struct tg_math *math, const char *name, MlirValue a,
                     MlirValue b);
/* Do both conditions hold? */
MlirValue tg_math_both(const struct tg_math *math, MlirValue a, MlirValue b);
/* Not zero? */
MlirValue tg_math_any_bit(const struct tg_math *math, MlirValue integer);

/*
 * A number whose addition rounds to an integer n, |n| < 2^21 or 2^50, and
 * leaves n + `offset` in the low bits of the sum. Subtracting it again gives n.
 */
MlirValue tg_math_rounder(const struct tg_math *math, int64_t offset);
/* 2^n of such a sum with the offset bias. */
MlirValue tg_math_power(const struct tg_math *math, MlirValue sum);

/* x = 2^k (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)), of a positive, normal x;
 * of others it is no more than some number. */
struct tg_split {
  MlirValue k;        /* a real number */
  MlirValue exponent; /* the integer k + bias */
  MlirValue f;
};
void tg_math_split(const struct tg_math *math, MlirValue x,
                   struct tg_split *parts);

#define POLYNOMIAL(name, operands, widest, emit)                               \
  MlirValue emit(const struct tg_math *math, const MlirValue *operand);
#include "passes/polynomial.def"

#endif
