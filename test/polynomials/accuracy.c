/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Which values are looked at, and how results are judged.
 */
#include "test/polynomials/accuracy.h"

#include <math.h>
#include <string.h>

/*===-- Judgement ---------------------------------------------------------===*/

static double distance(long double got, long double expected, bool wide) {
  int digits = wide ? 52 : 23, least = wide ? -1022 : -126;
  int most = wide ? 1023 : 127;
  if (isnan(expected) || isnan(got))
    return isnan(expected) && isnan(got) ? 0 : INFINITY;
  long double overflow = ldexpl(1, most + 1);
  if (fabsl(expected) >= overflow - ldexpl(0.5L, most - digits))
    expected = copysignl(isinf(expected) && !isinf(got) ? INFINITY : overflow,
                         expected);
  if (isinf(expected))
    return INFINITY;
  if (isinf(got))
    got = copysignl(overflow, got);
  if (expected == 0)
    return got == 0 && !signbit(got) == !signbit(expected) ? 0 : INFINITY;
  int exponent = ilogbl(expected);
  exponent = exponent < least ? least : exponent > most ? most : exponent;
  return (double)ldexpl(fabsl(got - expected), digits - exponent);
}

/* The same for f32, quickly. */
static double distance_f32(float got, double expected) {
  double magnitude = fabs(expected);
  if (isnan(expected))
    return isnan(got) ? 0 : INFINITY;
  if (magnitude < 0x1p-126 && magnitude > 0)
    return fabs(got - expected) * 0x1p149;
  if ((isinf(got) || expected == 0) && (float)expected == got &&
      !signbit(expected) == !signbit(got))
    return 0;
  if (!(magnitude >= 0x1p-126 && magnitude < 0x1p127) || !isfinite(got))
    return distance(got, expected, false);
  uint64_t bits;
  memcpy(&bits, &magnitude, sizeof(bits));
  bits = (bits & UINT64_C(0x7ff0000000000000));
  double power;
  memcpy(&power, &bits, sizeof(power));
  return fabs(got - expected) / power * 0x1p23;
}

enum { BLOCK = 4096 };

/* A run of arguments, and what becomes of it. */
struct block {
  struct compiled *const *compiled;
  int compiled_count;
  bool wide;
  enum function function;
  struct worst *worst;
  int count;
  uint64_t random; /* of second operands */
  float x32[BLOCK], z32[BLOCK], y32[BLOCK];
  double x64[BLOCK], z64[BLOCK], y64[BLOCK];
};

static void judge(struct block *block, int c, const double *expected,
                  const long double *expected_long) {
  struct worst *worst = &block->worst[c];
  for (int i = 0; i < block->count; ++i) {
    double error = block->wide ? distance(block->y64[i], expected_long[i], true)
                               : distance_f32(block->y32[i], expected[i]);
    if (!(error > worst->error))
      continue;
    worst->error = error;
    worst->x = block->wide ? block->x64[i] : (double)block->x32[i];
    worst->z = block->wide ? block->z64[i] : (double)block->z32[i];
    worst->got = block->wide ? block->y64[i] : (double)block->y32[i];
    worst->expected = block->wide ? (double)expected_long[i] : expected[i];
  }
  worst->count += block->count;
}

static void finish(struct block *block) {
  static double expected[BLOCK];
  static long double expected_long[BLOCK];
  const struct function_facts *facts = &function_facts[block->function];
  if (!block->count)
    return;
  int used = block->count;
  for (int i = 0; i < used; ++i)
    if (block->wide)
      expected_long[i] = facts->f64(block->x64[i], block->z64[i]);
    else
      expected[i] = facts->f32((double)block->x32[i], (double)block->z32[i]);
  /* Up to a whole number of vectors. */
  for (int i = used; i % 64; ++i)
    block->x64[i] = block->x32[i] = 1;
  const void *z = block->wide ? (void *)block->z64 : (void *)block->z32;
  const void *x = block->wide ? (void *)block->x64 : (void *)block->x32;
  void *y = block->wide ? (void *)block->y64 : (void *)block->y32;
  for (int c = 0; c < block->compiled_count; ++c) {
    call_function(block->compiled[c], block->function, x, z, y,
                  (used + 63) / 64 * 64);
    judge(block, c, expected, expected_long);
  }
  block->count = 0;
}

static uint64_t next_random(uint64_t *state) {
  /* Marsaglia's xorshift. */
  *state ^= *state << 13;
  *state ^= *state >> 7;
  return *state ^= *state << 17;
}

/* Exponents of powers: special ones, integers, any. */
static double second_operand(struct block *block) {
  static const double special[] = {
      0,      -0.0, 1,        -1,       2,         0.5, -0.5, 3,
      0x1p24, -1e9, 16777215, INFINITY, -INFINITY, NAN, 1e-40};
  enum { SPECIAL = sizeof(special) / sizeof(special[0]) };
  uint64_t draw = next_random(&block->random);
  double unit = (double)(draw >> 11) * 0x1p-53 - 0.5;
  switch (draw % 4) {
  case 0:
    return special[(draw >> 8) % SPECIAL];
  case 1:
    return (double)((draw >> 8) % 64) - 32;
  case 2:
    return unit * 8;
  default:
    return unit * 400;
  }
}

static void add_bits(struct block *block, uint64_t bits) {
  double second = second_operand(block);
  block->z64[block->count] = second;
  block->z32[block->count] = (float)second;
  if (block->wide) {
    memcpy(&block->x64[block->count], &bits, sizeof(bits));
  } else {
    uint32_t low = (uint32_t)bits;
    memcpy(&block->x32[block->count], &low, sizeof(low));
  }
  if (++block->count == BLOCK)
    finish(block);
}

/*===-- Samples -----------------------------------------------------------===*/

static uint64_t bits_of(double x, bool wide) {
  float low = (float)x;
  uint32_t bits_32;
  uint64_t bits;
  memcpy(&bits_32, &low, sizeof(bits_32));
  memcpy(&bits, &x, sizeof(bits));
  return wide ? bits : bits_32;
}

/* Of every sign and exponent, those of infinity, NaN, zero and denormal numbers
 * among them: the ends of the mantissas, and what is between. */
static void add_exponents(struct block *block, uint64_t *random) {
  enum { ENDS = 16, F32_EACH = 2048, F64_EACH = 128 };
  int digits = block->wide ? 52 : 23, each = block->wide ? F64_EACH : F32_EACH;
  uint64_t signs_and_exponents = block->wide ? 4096 : 512;
  uint64_t last = (UINT64_C(1) << digits) - 1;
  for (uint64_t high = 0; high < signs_and_exponents; ++high)
    for (int i = 0; i < each; ++i) {
      uint64_t low = i < ENDS       ? (uint64_t)i
                     : i < 2 * ENDS ? last - (uint64_t)(i - ENDS)
                                    : next_random(random) & last;
      add_bits(block, high << digits | low);
    }
}

/* Neighbours of the points where arguments are split and of those where results
 * become zero: multiples of ln(2) / 2, pi / 4, 1 / 2, and sqrt(1/2) 2^n. */
static void add_critical(struct block *block, uint64_t *random) {
  enum { MULTIPLES = 2200, LARGE = 20000, BESIDE = 2 };
  const double half_ln2 = 0x1.62e42fefa39efp-2;
  const double quarter_pi = 0x1.921fb54442d18p-1;
  for (int n = -MULTIPLES; n <= MULTIPLES + LARGE; ++n) {
    double large = (double)(next_random(random) % 3000000);
    const double points[] = {
        n > MULTIPLES ? large * quarter_pi : n * half_ln2,
        n > MULTIPLES ? -large * quarter_pi : n * quarter_pi,
        n * 0.5,
        ldexp(0x1.6a09e667f3bcdp-1, n),
    };
    for (int p = 0; p < 4; ++p)
      for (int beside = -BESIDE; beside <= BESIDE; ++beside)
        add_bits(block, bits_of(points[p], block->wide) + (uint64_t)beside);
  }
}

static void add_interval(struct block *block, uint64_t *random) {
  enum { COUNT = 200000 };
  const struct function_facts *facts = &function_facts[block->function];
  for (int i = 0; i < COUNT; ++i) {
    double part = (double)(next_random(random) >> 11) * 0x1p-53;
    add_bits(block, bits_of(facts->low + part * (facts->high - facts->low),
                            block->wide));
  }
}

static struct block *start(struct compiled *const *compiled, int compiled_count,
                           bool wide, enum function function,
                           struct worst *worst) {
  static struct block block;
  block.compiled = compiled;
  block.compiled_count = compiled_count;
  block.wide = wide;
  block.function = function;
  block.worst = worst;
  block.count = 0;
  block.random = UINT64_C(0x2545f4914f6cdd1d);
  return &block;
}

void check_sample(struct compiled *const *compiled, int compiled_count,
                  bool wide, enum function function, struct worst *worst) {
  struct block *block = start(compiled, compiled_count, wide, function, worst);
  uint64_t random = UINT64_C(0x9e3779b97f4a7c15);
  add_exponents(block, &random);
  add_critical(block, &random);
  add_interval(block, &random);
  finish(block);
}

void check_all(struct compiled *const *compiled, int compiled_count,
               enum function function, uint64_t first, uint64_t end,
               struct worst *worst) {
  struct block *block = start(compiled, compiled_count, false, function, worst);
  for (uint64_t bits = first; bits < end; ++bits)
    add_bits(block, bits);
  finish(block);
}
