/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Layers over plain arrays. GEMMs go to BLAS; everything else is a loop that
 * the compiler vectorises, with polynomials for exp and erf because the C
 * library's are calls. Additions are not fused (-ffp-contract=off), so that
 * every clone of a loop gives the same numbers.
 */
#include "model/infer_math.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) &&         \
    !defined(__SANITIZE_ADDRESS__)
#define TG_HOT                                                                 \
  __attribute__((optimize("O3"), target_clones("avx512f", "avx2", "default")))
#else
#define TG_HOT
#endif

/* OpenBLAS has it, other libraries that provide cblas_sgemm don't. */
extern void openblas_set_num_threads(int threads) __attribute__((weak));

void tg_math_set_up(void) {
  if (openblas_set_num_threads)
    openblas_set_num_threads(1);
}

/* Relative error below 2e-7 in -87..87, clamped outside. */
static inline float tg_exp(float x) {
  x = x < -87.0f ? -87.0f : x > 87.0f ? 87.0f : x;
  /* Adding and subtracting 1.5 x 2^23 rounds to an integer. */
  float n = (x * 1.44269504f + 12582912.0f) - 12582912.0f;
  float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  float p = 1.0f / 720.0f;
  p = p * r + 1.0f / 120.0f;
  p = p * r + 1.0f / 24.0f;
  p = p * r + 1.0f / 6.0f;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  /* Unsigned, as a NaN may become any integer; p is NaN then as well. */
  union {
    uint32_t bits;
    float value;
  } scale = {.bits = ((uint32_t)(int32_t)n + 127u) << 23};
  return p * scale.value;
}

/* Abramowitz and Stegun 7.1.26: absolute error below 5e-7 in f32. */
static inline float tg_erf(float x) {
  float a = fabsf(x);
  float t = 1.0f / (1.0f + 0.3275911f * a);
  float p = 1.061405429f;
  p = p * t - 1.453152027f;
  p = p * t + 1.421413741f;
  p = p * t - 0.284496736f;
  p = p * t + 0.254829592f;
  float e = 1.0f - p * t * tg_exp(-a * a);
  return x < 0.0f ? -e : e;
}

void tg_linear_apply(const struct tg_linear *linear, int64_t rows,
                     const float *x, int64_t x_stride, float *y,
                     int64_t y_stride, int accumulate) {
  if (!rows)
    return;
  if (!accumulate && linear->bias)
    for (int64_t r = 0; r < rows; r++)
      memcpy(y + r * y_stride, linear->bias, (size_t)linear->out * sizeof *y);
  float beta = accumulate || linear->bias ? 1.0f : 0.0f;
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)rows,
              (int)linear->out, (int)linear->in, 1.0f, x, (int)x_stride,
              linear->weight, (int)linear->in, beta, y, (int)y_stride);
}

TG_HOT void tg_gelu(int64_t count, float *x) {
  for (int64_t i = 0; i < count; i++)
    x[i] = 0.5f * x[i] * (1.0f + tg_erf(x[i] * 0.70710678f));
}

TG_HOT static void tg_relu(int64_t count, float *x) {
  for (int64_t i = 0; i < count; i++)
    x[i] = x[i] > 0.0f ? x[i] : 0.0f;
}

TG_HOT static void tg_gate(int64_t count, float *x, const float *gate) {
  for (int64_t i = 0; i < count; i++)
    x[i] = x[i] / (1.0f + tg_exp(-gate[i]));
}

void tg_channel_attention_apply(const struct tg_channel_attention *attention,
                                int64_t rows, float *x, float *scratch) {
  struct tg_linear squeeze = {attention->width, attention->squeezed,
                              attention->squeeze, NULL};
  struct tg_linear expand = {attention->squeezed, attention->width,
                             attention->expand, NULL};
  float *gate = scratch + rows * squeeze.out;
  tg_linear_apply(&squeeze, rows, x, squeeze.in, scratch, squeeze.out, 0);
  tg_relu(rows * squeeze.out, scratch);
  tg_linear_apply(&expand, rows, scratch, expand.in, gate, expand.out, 0);
  tg_gate(rows * attention->width, x, gate);
}

TG_HOT void tg_cross_attention(int64_t configs, int64_t width,
                               float temperature, const float *x, float *y,
                               float *scratch) {
  float *largest = scratch, *sum = scratch + width;
  float inverse = 1.0f / temperature;
  for (int64_t k = 0; k < width; k++) {
    largest[k] = -INFINITY;
    sum[k] = 0.0f;
  }
  for (int64_t c = 0; c < configs; c++)
    for (int64_t k = 0; k < width; k++) {
      float logit = x[c * width + k] * inverse;
      largest[k] = logit > largest[k] ? logit : largest[k];
    }
  for (int64_t c = 0; c < configs; c++) {
    const float *in = x + c * width;
    float *out = y + c * 2 * width;
    for (int64_t k = 0; k < width; k++) {
      float e = tg_exp(in[k] * inverse - largest[k]);
      out[k] = in[k];
      out[width + k] = in[k] * e;
      sum[k] += e;
    }
  }
  for (int64_t k = 0; k < width; k++)
    sum[k] = 1.0f / sum[k];
  for (int64_t c = 0; c < configs; c++) {
    float *out = y + c * 2 * width + width;
    for (int64_t k = 0; k < width; k++)
      out[k] *= sum[k];
  }
}

float tg_signed_log1p(float x) {
  float value = (float)log1p(fabs((double)x));
  return x < 0.0f ? -value : value;
}

float tg_standardise(float x, float mean, float scale, float limit) {
  float value = (x - mean) * scale;
  return value < -limit ? -limit : value > limit ? limit : value;
}

int tg_adjacency_build(const struct tg_graph *graph, struct tg_arena *arena,
                       struct tg_adjacency *adjacency) {
  size_t nodes = (size_t)graph->node_count;
  size_t ends = 2 * (size_t)graph->edge_count;
  int32_t *start = tg_arena_alloc(arena, nodes + 2, sizeof *start);
  int32_t *neighbour = tg_arena_alloc(arena, ends, sizeof *neighbour);
  if (!start || !neighbour)
    return 0;
  /* start[n + 1] first counts, then is where node n's list goes on. */
  for (size_t i = 0; i < ends; i++)
    start[graph->edges[i] + 2]++;
  for (size_t n = 2; n < nodes + 2; n++)
    start[n] += start[n - 1];
  for (size_t i = 0; i < ends; i++)
    neighbour[start[graph->edges[i] + 1]++] = graph->edges[i ^ 1];
  *adjacency = (struct tg_adjacency){graph->node_count, start, neighbour};
  return 1;
}

TG_HOT void tg_neighbour_mean(const struct tg_adjacency *adjacency,
                              int64_t node, int64_t block, const float *x,
                              float *mean) {
  int32_t first = adjacency->start[node], last = adjacency->start[node + 1];
  memset(mean, 0, (size_t)block * sizeof *mean);
  for (int32_t i = first; i < last; i++) {
    const float *from = x + adjacency->neighbour[i] * block;
    for (int64_t k = 0; k < block; k++)
      mean[k] += from[k];
  }
  float inverse = last > first ? 1.0f / (float)(last - first) : 0.0f;
  for (int64_t k = 0; k < block; k++)
    mean[k] *= inverse;
}

TG_HOT void tg_instance_norm(int64_t nodes, int64_t block, const float *x,
                             float *y, double *scratch) {
  double *sum = scratch, *squares = scratch + block;
  memset(scratch, 0, 2 * (size_t)block * sizeof *scratch);
  for (int64_t n = 0; n < nodes; n++)
    for (int64_t k = 0; k < block; k++) {
      double value = (double)x[n * block + k];
      sum[k] += value;
      squares[k] += value * value;
    }
  for (int64_t k = 0; k < block; k++) {
    double mean = sum[k] / (double)nodes;
    double variance = squares[k] / (double)nodes - mean * mean;
    sum[k] = mean;
    squares[k] = 1.0 / sqrt((variance > 0.0 ? variance : 0.0) + 1e-5);
  }
  for (int64_t n = 0; n < nodes; n++)
    for (int64_t k = 0; k < block; k++)
      y[n * block + k] =
          (float)(((double)x[n * block + k] - sum[k]) * squares[k]);
}
