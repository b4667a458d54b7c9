/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Compares captured results; the form of a capture is in call.c. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tools/call.h"

static double half_to_double(uint16_t bits) {
  int exponent = bits >> 10 & 31;
  int mantissa = bits & 1023;
  double value;
  if (exponent == 31)
    value = mantissa ? (double)NAN : (double)INFINITY;
  else
    value =
        exponent ? ldexp(1024 + mantissa, exponent - 25) : ldexp(mantissa, -24);
  return bits & 0x8000 ? -value : value;
}

#define READ_AS(type)                                                          \
  do {                                                                         \
    type value;                                                                \
    memcpy(&value, data + (size_t)index * sizeof value, sizeof value);         \
    return (double)value;                                                      \
  } while (0)

static double read_element(enum tg_dtype dtype, const char *data,
                           int64_t index) {
  uint16_t half;
  uint32_t bits;
  float single;
  switch (dtype) {
  case TG_DTYPE_F32:
    READ_AS(float);
  case TG_DTYPE_F64:
    READ_AS(double);
  case TG_DTYPE_F16:
    memcpy(&half, data + index * 2, 2);
    return half_to_double(half);
  case TG_DTYPE_BF16:
    memcpy(&half, data + index * 2, 2);
    bits = (uint32_t)half << 16;
    memcpy(&single, &bits, 4);
    return single;
  case TG_DTYPE_I1:
    return data[index] & 1;
  case TG_DTYPE_I8:
    READ_AS(int8_t);
  case TG_DTYPE_I16:
    READ_AS(int16_t);
  case TG_DTYPE_I32:
    READ_AS(int32_t);
  default:
    READ_AS(int64_t);
  }
}

static void note_bad_reference(struct tg_difference *d, int result,
                               const char *what) {
  if (!d->bad_reference)
    snprintf(d->note, sizeof d->note,
             "result %d of the stock lowering %s: the data prove nothing",
             result, what);
  d->bad_reference = true;
  d->equal = false;
}

/* Integers are compared bit by bit: a double cannot hold all of 64 bits. */
static void compare_integers(int result, const char *a, const char *b,
                             int64_t count, int nbytes,
                             struct tg_difference *d) {
  for (int64_t i = 0; i < count; i++)
    if (memcmp(a + i * nbytes, b + i * nbytes, (size_t)nbytes)) {
      if (d->equal)
        snprintf(d->note, sizeof d->note,
                 "result %d differs at element %lld (integers must be equal)",
                 result, (long long)i);
      d->equal = false;
      d->max_rel_error = INFINITY;
      return;
    }
}

static void compare_floats(int result, enum tg_dtype dtype, const char *a,
                           const char *b, int64_t count,
                           struct tg_difference *d) {
  double largest = 0, error = 0, first = 0;
  int64_t worst = 0;
  bool constant = true;
  for (int64_t i = 0; i < count; i++) {
    double x = read_element(dtype, a, i), y = read_element(dtype, b, i);
    if (!isfinite(x)) {
      note_bad_reference(d, result, "holds NaN or Inf");
      return;
    }
    if (i == 0)
      first = x;
    constant = constant && x == first;
    largest = fmax(largest, fabs(x));
    double e = isfinite(y) ? fabs(x - y) : INFINITY;
    if (e > error) {
      error = e;
      worst = i;
    }
  }
  if (constant && (count > 1 || (count == 1 && first == 0)))
    note_bad_reference(d, result, "is constant");
  double relative = error == 0 ? 0 : error / largest;
  double tolerance = tg_dtype_infos[dtype].tolerance;
  if (!(relative <= tolerance)) {
    if (d->equal)
      snprintf(d->note, sizeof d->note,
               "result %d differs by %.3g of its largest value at element "
               "%lld (%.9g, stock %.9g); %.0e is allowed",
               result, relative, (long long)worst,
               read_element(dtype, b, worst), read_element(dtype, a, worst),
               tolerance);
    d->equal = false;
  }
  d->max_rel_error = fmax(d->max_rel_error, relative);
}

static const char *read_header(const char **at, const char *end,
                               int64_t header[2]) {
  if (end - *at < 16)
    return NULL;
  memcpy(header, *at, 16);
  const char *data = *at + 16;
  if (header[0] < 0 || header[0] >= TG_DTYPE_COUNT || header[1] < 0)
    return NULL;
  int64_t nbytes = header[1] * tg_dtype_infos[header[0]].nbytes;
  *at = data + (nbytes + 7) / 8 * 8;
  return *at <= end ? data : NULL;
}

void tg_compare_captures(const void *reference, size_t reference_nbytes,
                         const void *other, size_t other_nbytes,
                         struct tg_difference *difference) {
  const char *a = reference, *a_end = a + reference_nbytes;
  const char *b = other, *b_end = b + other_nbytes;
  memset(difference, 0, sizeof *difference);
  difference->equal = true;
  for (int result = 0; a < a_end; result++) {
    int64_t a_header[2], b_header[2];
    const char *a_data = read_header(&a, a_end, a_header);
    const char *b_data = read_header(&b, b_end, b_header);
    if (!a_data || !b_data || a_header[0] != b_header[0] ||
        a_header[1] != b_header[1]) {
      difference->equal = false;
      difference->max_rel_error = INFINITY;
      snprintf(difference->note, sizeof difference->note,
               "result %d has another shape", result);
      return;
    }
    enum tg_dtype dtype = (enum tg_dtype)a_header[0];
    if (tg_dtype_infos[dtype].tolerance > 0)
      compare_floats(result, dtype, a_data, b_data, a_header[1], difference);
    else
      compare_integers(result, a_data, b_data, a_header[1],
                       tg_dtype_infos[dtype].nbytes, difference);
  }
}
