/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Loads and stores of elements; C has no type for f16 and bf16. */
#include "tools/number.h"

#include <float.h>
#include <math.h>
#include <string.h>

const struct tg_dtype_info tg_dtype_infos[TG_DTYPE_COUNT] = {
#define DTYPE(id, mlir, nbytes, tolerance, rounding)                           \
  {mlir, nbytes, tolerance, rounding},
#include "tools/dtypes.def"
};

/*===-- 16 bits -----------------------------------------------------------===*/

/* 1 sign, `exponent_bits`, and a mantissa whose first bit isn't stored. */
struct format {
  int exponent_bits, mantissa_bits;
};
static const struct format f16 = {5, 10}, bf16 = {8, 7};

static int bias(struct format f) { return (1 << (f.exponent_bits - 1)) - 1; }

static double decode(struct format f, unsigned bits) {
  int top = (1 << f.exponent_bits) - 1;
  int exponent = (int)(bits >> f.mantissa_bits) & top;
  int mantissa = (int)(bits & ((1u << f.mantissa_bits) - 1));
  int unit = 1 - bias(f) - f.mantissa_bits; /* of the smallest numbers */
  double value;
  if (exponent == top)
    value = mantissa ? (double)NAN : (double)INFINITY;
  else if (exponent == 0)
    value = ldexp(mantissa, unit);
  else
    value = ldexp(mantissa + (1 << f.mantissa_bits), exponent - 1 + unit);
  return bits & 0x8000 ? -value : value;
}

static unsigned encode(struct format f, double value) {
  unsigned sign = signbit(value) ? 0x8000 : 0;
  unsigned top = (1u << f.exponent_bits) - 1;
  if (isnan(value))
    return sign | top << f.mantissa_bits | 1u << (f.mantissa_bits - 1);
  int exponent = 0;
  if (value == 0 || isinf(value))
    return sign | (value == 0 ? 0 : top << f.mantissa_bits);
  frexp(value, &exponent);
  int stored = exponent - 1 + bias(f);
  if (stored < 1)
    stored = 1;
  int unit = stored - bias(f) - f.mantissa_bits;
  long mantissa = lrint(ldexp(fabs(value), -unit));
  /* The implicit bit, and that of a carry, count the exponent up. */
  unsigned long bits = ((unsigned long)(stored - 1) << f.mantissa_bits) +
                       (unsigned long)mantissa;
  if (stored > (int)top || bits >> f.mantissa_bits >= top)
    return sign | top << f.mantissa_bits;
  return sign | (unsigned)bits;
}

/*===-- All types ---------------------------------------------------------===*/

#define LOAD_AS(type)                                                          \
  do {                                                                         \
    type value;                                                                \
    memcpy(&value, data + (size_t)index * sizeof value, sizeof value);         \
    return (double)value;                                                      \
  } while (0)

double tg_number_load(enum tg_dtype dtype, const void *elements,
                      int64_t index) {
  const char *data = elements;
  uint16_t half;
  switch (dtype) {
  case TG_DTYPE_F32:
    LOAD_AS(float);
  case TG_DTYPE_F64:
    LOAD_AS(double);
  case TG_DTYPE_F16:
  case TG_DTYPE_BF16:
    memcpy(&half, data + index * 2, 2);
    return decode(dtype == TG_DTYPE_F16 ? f16 : bf16, half);
  case TG_DTYPE_I1:
    return data[index] & 1;
  case TG_DTYPE_I8:
    LOAD_AS(int8_t);
  case TG_DTYPE_I16:
    LOAD_AS(int16_t);
  case TG_DTYPE_I32:
    LOAD_AS(int32_t);
  default:
    LOAD_AS(int64_t);
  }
}

void tg_number_store(enum tg_dtype dtype, void *elements, int64_t index,
                     double value) {
  switch (dtype) {
  case TG_DTYPE_F64:
    ((double *)elements)[index] = value;
    break;
  case TG_DTYPE_F16:
  case TG_DTYPE_BF16:
    ((uint16_t *)elements)[index] =
        (uint16_t)encode(dtype == TG_DTYPE_F16 ? f16 : bf16, value);
    break;
  default:
    ((float *)elements)[index] = (float)value;
  }
}

double tg_number_largest(enum tg_dtype dtype) {
  switch (dtype) {
  case TG_DTYPE_F64:
    return DBL_MAX;
  case TG_DTYPE_F16:
    return decode(f16, 0x7bff);
  case TG_DTYPE_BF16:
    return decode(bf16, 0x7f7f);
  default:
    return (double)FLT_MAX;
  }
}
