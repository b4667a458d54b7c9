/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Compares captured results; the form of a capture is in call.c. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tools/call.h"
#include "tools/number.h"

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

/* One result: what it holds, and the element that is furthest from the
 * reference's. */
struct distance {
  double relative; /* of the largest value */
  double value, wanted;
  int64_t worst;
};

/* False where the reference proves nothing, which is noted. */
static bool measure_floats(int result, enum tg_dtype a_dtype, const char *a,
                           enum tg_dtype b_dtype, const char *b, int64_t count,
                           struct distance *distance, struct tg_difference *d) {
  double largest = 0, error = 0, first = 0;
  bool constant = true;
  *distance = (struct distance){0, 0, 0, 0};
  for (int64_t i = 0; i < count; i++) {
    double x = tg_number_load(a_dtype, a, i);
    double y = tg_number_load(b_dtype, b, i);
    if (!isfinite(x)) {
      note_bad_reference(d, result, "holds NaN or Inf");
      return false;
    }
    if (i == 0)
      first = x;
    constant = constant && x == first;
    largest = fmax(largest, fabs(x));
    double e = isfinite(y) ? fabs(x - y) : INFINITY;
    if (e > error || i == 0) {
      error = e;
      *distance = (struct distance){0, y, x, i};
    }
  }
  distance->relative = error == 0 ? 0 : error / largest;
  if (constant && (count > 1 || (count == 1 && first == 0))) {
    note_bad_reference(d, result, "is constant");
    return false;
  }
  return true;
}

static void compare_floats(int result, enum tg_dtype dtype, const char *a,
                           const char *b, int64_t count,
                           struct tg_difference *d) {
  struct distance own;
  measure_floats(result, dtype, a, dtype, b, count, &own, d);
  double tolerance = tg_dtype_infos[dtype].tolerance;
  if (!(own.relative <= tolerance)) {
    if (d->equal)
      snprintf(d->note, sizeof d->note,
               "result %d differs by %.3g of its largest value at element "
               "%lld (%.9g, stock %.9g); %.0e is allowed",
               result, own.relative, (long long)own.worst, own.value,
               own.wanted, tolerance);
    d->equal = false;
  }
  d->max_rel_error = fmax(d->max_rel_error, own.relative);
}

/* Twice the stock lowering's distance: both are the largest of many roundings,
 * in another order. */
static void judge_floats(int result, enum tg_dtype exact_dtype,
                         const char *exact, enum tg_dtype dtype,
                         const char *stock, const char *other, int64_t count,
                         struct tg_difference *d) {
  struct distance own, stocks;
  if (!measure_floats(result, exact_dtype, exact, dtype, stock, count, &stocks,
                      d))
    return;
  measure_floats(result, exact_dtype, exact, dtype, other, count, &own, d);
  double allowed = 2 * stocks.relative + tg_dtype_infos[dtype].rounding;
  if (!(own.relative <= allowed) || !isfinite(own.relative)) {
    if (d->equal)
      snprintf(d->note, sizeof d->note,
               "result %d is off by %.3g of its largest value at element %lld "
               "(%.9g, exact %.9g), the stock lowering by %.3g; %.3g is "
               "allowed",
               result, own.relative, (long long)own.worst, own.value,
               own.wanted, stocks.relative, allowed);
    d->equal = false;
  }
  d->max_rel_error = fmax(d->max_rel_error, own.relative);
  d->stock_error = fmax(d->stock_error, stocks.relative);
}

static void begin(struct tg_difference *difference) {
  memset(difference, 0, sizeof *difference);
  difference->equal = true;
  difference->stock_error = NAN;
}

static void note_shape(int result, struct tg_difference *d) {
  d->equal = false;
  d->max_rel_error = INFINITY;
  snprintf(d->note, sizeof d->note, "result %d has another shape", result);
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
  begin(difference);
  for (int result = 0; a < a_end; result++) {
    int64_t a_header[2], b_header[2];
    const char *a_data = read_header(&a, a_end, a_header);
    const char *b_data = read_header(&b, b_end, b_header);
    if (!a_data || !b_data || a_header[0] != b_header[0] ||
        a_header[1] != b_header[1]) {
      note_shape(result, difference);
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

void tg_judge_captures(const void *exact, size_t exact_nbytes,
                       const void *stock, size_t stock_nbytes,
                       const void *other, size_t other_nbytes,
                       struct tg_difference *difference) {
  const char *at[3] = {exact, stock, other};
  const char *end[3] = {at[0] + exact_nbytes, at[1] + stock_nbytes,
                        at[2] + other_nbytes};
  begin(difference);
  for (int result = 0; at[0] < end[0]; result++) {
    int64_t header[3][2];
    const char *data[3];
    bool same = true;
    for (int i = 0; i < 3; i++) {
      data[i] = read_header(&at[i], end[i], header[i]);
      same = same && data[i] && header[i][1] == header[0][1] &&
             (i < 2 || header[2][0] == header[1][0]);
    }
    if (!same) {
      note_shape(result, difference);
      return;
    }
    enum tg_dtype dtype = (enum tg_dtype)header[1][0];
    if (tg_dtype_infos[dtype].tolerance > 0)
      judge_floats(result, (enum tg_dtype)header[0][0], data[0], dtype, data[1],
                   data[2], header[0][1], difference);
    else
      compare_integers(result, data[1], data[2], header[1][1],
                       tg_dtype_infos[dtype].nbytes, difference);
  }
}
