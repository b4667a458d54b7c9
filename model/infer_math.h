/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The layers that both networks are made of. Matrices are row-major; `rows`
 * rows of `width` values stand behind each other unless a stride is given.
 * None of them allocates: scratch memory is a parameter.
 */
#ifndef TGRAPH_MODEL_INFER_MATH_H
#define TGRAPH_MODEL_INFER_MATH_H

#include <stdint.h>

#include "model/graph.h"

/* y = x W^T + b, torch.nn.Linear. */
struct tg_linear {
  int64_t in, out;
  const float *weight; /* (out, in) */
  const float *bias;   /* (out), NULL = none */
};

/* x * sigmoid(W2 relu(W1 x)) */
struct tg_channel_attention {
  int64_t width, squeezed;
  const float *squeeze; /* W1 (squeezed, width) */
  const float *expand;  /* W2 (width, squeezed) */
};

/* Neighbours of each node in both directions along the edges. */
struct tg_adjacency {
  int64_t node_count;
  const int32_t *start;     /* (node_count + 1) */
  const int32_t *neighbour; /* (start[node_count]) */
};

/* One thread for OpenBLAS, where the BLAS is one: the matrices are small, and
 * results then don't depend on the number of cores. For the whole process. */
void tg_math_set_up(void);

/* y (rows, out) with row stride y_stride; adds to y when `accumulate`, and
 * then leaves the bias out. */
void tg_linear_apply(const struct tg_linear *linear, int64_t rows,
                     const float *x, int64_t x_stride, float *y,
                     int64_t y_stride, int accumulate);
/* x * Phi(x) with the exact normal distribution function, to 1e-6. */
void tg_gelu(int64_t count, float *x);
/* scratch: rows * (squeezed + width) values */
void tg_channel_attention_apply(const struct tg_channel_attention *attention,
                                int64_t rows, float *x, float *scratch);
/*
 * Configuration cross-attention of one node: x (configs, width) to
 * y (configs, 2 width) = concat(x, x * softmax over the configurations of
 * x / temperature). scratch: 2 width values.
 */
void tg_cross_attention(int64_t configs, int64_t width, float temperature,
                        const float *x, float *y, float *scratch);
/* sign(x) log(1 + |x|) */
float tg_signed_log1p(float x);
/* min(max((x - mean) scale, -limit), limit) */
float tg_standardise(float x, float mean, float scale, float limit);

/* false when out of memory */
int tg_adjacency_build(const struct tg_graph *graph, struct tg_arena *arena,
                       struct tg_adjacency *adjacency);
/* Mean of the neighbours' blocks of `block` values; 0 without neighbours. */
void tg_neighbour_mean(const struct tg_adjacency *adjacency, int64_t node,
                       int64_t block, const float *x, float *mean);
/*
 * Instance norm over the nodes, for each of the `block` channels (here every
 * configuration's): x (nodes, block) becomes (x - mean) / sqrt(var + 1e-5).
 * y may be x. scratch: 2 block doubles.
 */
void tg_instance_norm(int64_t nodes, int64_t block, const float *x, float *y,
                      double *scratch);

#endif
