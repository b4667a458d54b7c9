/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Winograd's transforms of one dimension, as operations on vectors, and the
 * shuffles between neighbours in memory and neighbouring tiles.
 */
#include <assert.h>
#include <mlir-c/BuiltinAttributes.h>

#include "passes/emit_winograd.h"

/*===-- Sums --------------------------------------------------------------===*/

static MlirValue splat(struct tg_builder *b, double value) {
  MlirAttribute number = mlirFloatAttrDoubleGet(b->context, b->element, value);
  MlirNamedAttribute attribute = tg_named(
      b->context, "value", mlirDenseElementsAttrSplatGet(b->vector, number));
  return mlirOperationGetResult(
      tg_build(b, "arith.constant", 0, NULL, 1, &b->vector, 1, &attribute), 0);
}

static MlirValue binary(struct tg_builder *b, const char *name, MlirValue x,
                        MlirValue y) {
  MlirValue operands[2] = {x, y};
  return tg_build_1(b, name, 2, operands, b->vector);
}

/* sum + factor * x; a null sum is 0. */
static MlirValue add_term(struct tg_builder *b, MlirValue sum, double factor,
                          MlirValue x) {
  if (mlirValueIsNull(sum))
    return factor == 1 ? x : binary(b, "arith.mulf", x, splat(b, factor));
  if (factor == 1 || factor == -1)
    return binary(b, factor == 1 ? "arith.addf" : "arith.subf", sum, x);
  return tg_multiply_add(b, x, splat(b, factor), sum);
}

/* The sum over every `step`-th place from `first` on. Starts with a factor of
 * 1, which needs no operation. Null where all factors are 0. */
static MlirValue sum_of(struct tg_builder *b, const double *factors,
                        const MlirValue *values, int first, int count,
                        int step) {
  int start = -1;
  for (int i = first; i < count; i += step)
    if (factors[i] == 1)
      start = i;
  MlirValue sum = {NULL};
  if (start >= 0)
    sum = values[start];
  for (int i = first; i < count; i += step)
    if (factors[i] != 0 && i != start)
      sum = add_term(b, sum, factors[i], values[i]);
  return sum;
}

/* Rows of a matrix (n, count) times the vectors: the first and the last row by
 * themselves, pairs in between from their even and odd parts. */
static void transform_rows(struct tg_builder *b, int n, int count,
                           const double *matrix, int stride,
                           const MlirValue *source, MlirValue *result) {
  result[0] = sum_of(b, matrix, source, 0, count, 1);
  for (int i = 1; i + 1 < n; i += 2) {
    const double *row = matrix + i * stride;
    MlirValue even = sum_of(b, row, source, 0, count, 2);
    MlirValue odd = sum_of(b, row, source, 1, count, 2);
    result[i] = binary(b, "arith.addf", even, odd);
    result[i + 1] = binary(b, "arith.subf", even, odd);
  }
  result[n - 1] = sum_of(b, matrix + (n - 1) * stride, source, 0, count, 1);
}

void tg_winograd_image_1d(struct tg_emit_winograd *e, const MlirValue *source,
                          MlirValue *result) {
  int n = e->matrices.input;
  transform_rows(&e->emit.builder, n, n, e->matrices.bt[0],
                 TG_WINOGRAD_MAX_INPUT, source, result);
}

void tg_winograd_filter_1d(struct tg_emit_winograd *e, const MlirValue *source,
                           MlirValue *result) {
  transform_rows(&e->emit.builder, e->matrices.input, TG_WINOGRAD_WINDOW,
                 e->matrices.g[0], TG_WINOGRAD_WINDOW, source, result);
}

/* Columns of the pairs enter as their sum in even rows, as their difference in
 * odd ones. */
void tg_winograd_result_1d(struct tg_emit_winograd *e, const MlirValue *source,
                           MlirValue *result) {
  struct tg_builder *b = &e->emit.builder;
  int n = e->matrices.input;
  MlirValue even[TG_WINOGRAD_MAX_INPUT], odd[TG_WINOGRAD_MAX_INPUT];
  even[0] = odd[0] = source[0];
  even[n - 1] = odd[n - 1] = source[n - 1];
  double factors[TG_WINOGRAD_MAX_INPUT] = {0};
  for (int i = 1; i + 1 < n; i += 2) {
    even[i] = binary(b, "arith.addf", source[i], source[i + 1]);
    odd[i] = binary(b, "arith.subf", source[i], source[i + 1]);
    even[i + 1] = odd[i + 1] = source[i]; /* not used: its factor is 0 */
  }
  for (int k = 0; k < e->matrices.output; ++k) {
    for (int i = 0; i < n; ++i)
      factors[i] = i && i % 2 == 0 && i != n - 1 ? 0 : e->matrices.at[k][i];
    result[k] = sum_of(b, factors, k % 2 ? odd : even, 0, n, 1);
  }
}

/*===-- Phases ------------------------------------------------------------===*/

/* Evens and odds of the elements of a, then b. */
static void split_pair(struct tg_builder *b, MlirValue *x, MlirValue *y) {
  int64_t even[TG_MAX_LANES], odd[TG_MAX_LANES];
  assert(b->lanes <= TG_MAX_LANES);
  for (int64_t l = 0; l < b->lanes; ++l) {
    even[l] = 2 * l;
    odd[l] = 2 * l + 1;
  }
  MlirValue first = *x, second = *y;
  *x = tg_permute(b, first, second, even);
  *y = tg_permute(b, first, second, odd);
}

/* The other way: a0 b0 a1 b1 ... */
static void join_pair(struct tg_builder *b, MlirValue *x, MlirValue *y) {
  int64_t low[TG_MAX_LANES], high[TG_MAX_LANES];
  assert(b->lanes <= TG_MAX_LANES);
  for (int64_t l = 0; l < b->lanes; ++l) {
    low[l] = l / 2 + l % 2 * b->lanes;
    high[l] = low[l] + b->lanes / 2;
  }
  MlirValue first = *x, second = *y;
  *x = tg_permute(b, first, second, low);
  *y = tg_permute(b, first, second, high);
}

void tg_winograd_split_phases(struct tg_emit_winograd *e, MlirValue *v) {
  struct tg_builder *b = &e->emit.builder;
  split_pair(b, &v[0], &v[1]);
  if (e->matrices.output == 2)
    return;
  split_pair(b, &v[2], &v[3]);
  /* evens of both halves; odds of both halves */
  MlirValue odd = v[1];
  v[1] = v[2];
  v[2] = odd;
  split_pair(b, &v[0], &v[1]); /* phases 0 and 2 */
  split_pair(b, &v[2], &v[3]); /* phases 1 and 3 */
  MlirValue two = v[1];
  v[1] = v[2];
  v[2] = two;
}

void tg_winograd_join_phases(struct tg_emit_winograd *e, MlirValue *v) {
  struct tg_builder *b = &e->emit.builder;
  if (e->matrices.output == 4) {
    MlirValue one = v[1];
    v[1] = v[2];
    v[2] = one;
    join_pair(b, &v[0], &v[1]);
    join_pair(b, &v[2], &v[3]);
    MlirValue even = v[1];
    v[1] = v[2];
    v[2] = even;
    join_pair(b, &v[2], &v[3]);
  }
  join_pair(b, &v[0], &v[1]);
}

MlirValue tg_winograd_shift_phase(struct tg_emit_winograd *e, MlirValue phase,
                                  MlirValue next, int64_t k) {
  struct tg_builder *b = &e->emit.builder;
  int64_t lanes[TG_MAX_LANES];
  for (int64_t l = 0; l < b->lanes; ++l)
    lanes[l] = l + 1;
  lanes[b->lanes - 1] = b->lanes + k;
  return tg_permute(b, phase, next, lanes);
}

/*===-- Places ------------------------------------------------------------===*/

MlirValue tg_winograd_plus(struct tg_emit_winograd *e, MlirValue a,
                           int64_t constant) {
  return tg_add(&e->emit.builder, a, tg_index(&e->emit.builder, constant));
}

MlirValue tg_winograd_offset(struct tg_emit_winograd *e, int operand) {
  struct tg_emit *emit = &e->emit;
  struct tg_builder *b = &emit->builder;
  MlirValue sum = tg_index(b, 0);
  for (int l = 0; l < emit->kernel->loop_count; ++l) {
    int64_t stride = tg_kernel_stride(emit->kernel, operand, l);
    sum = tg_add(b, sum, tg_mul(b, emit->position[l], stride));
  }
  return sum;
}
