/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What is known of one node, as plain numbers. The rows of node_features.def
 * turn it into the columns of node_feat.
 */
#ifndef TGRAPH_MODEL_NODE_H
#define TGRAPH_MODEL_NODE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/graph.h"

enum { TG_DIMS_KEPT = 6 };

/* A list of numbers: the first six, and the sum and product of all. */
struct tg_dims {
  int64_t count;
  double value[TG_DIMS_KEPT]; /* beyond the count: 0, layouts -1 */
  double sum;
  double product; /* of none: 1 */
};

/* shape_element_type_is_*, in the order of the columns. */
enum tg_element_type {
  TG_ELEMENT_INVALID,
  TG_ELEMENT_PRED,
  TG_ELEMENT_S8,
  TG_ELEMENT_S16,
  TG_ELEMENT_S32,
  TG_ELEMENT_S64,
  TG_ELEMENT_U8,
  TG_ELEMENT_U16,
  TG_ELEMENT_U32,
  TG_ELEMENT_U64,
  TG_ELEMENT_F16,
  TG_ELEMENT_F32,
  TG_ELEMENT_F64,
  TG_ELEMENT_BF16,
  TG_ELEMENT_C64,
  TG_ELEMENT_C128,
  TG_ELEMENT_TUPLE,
  TG_ELEMENT_OPAQUE,
  TG_ELEMENT_TOKEN
};

/* Which dimension of an operand plays which part; 0 where there is none. */
struct tg_conv_dims {
  int input_batch, input_feature;
  struct tg_dims input_spatial;
  int kernel_input_feature, kernel_output_feature;
  struct tg_dims kernel_spatial;
  int output_batch, output_feature;
};

struct tg_node_facts {
  bool is_root;
  enum tg_element_type element_type;
  int64_t element_nbits;
  struct tg_dims shape; /* of the result; a dynamic dimension is 0 */
  int64_t tuple_size;   /* results, where there are several */
  int64_t parameter_number;
  struct tg_dims dimensions; /* reduced, broadcast, permuted, concatenated */
  struct tg_dims window_size, window_stride;
  struct tg_dims window_padding_low, window_padding_high;
  struct tg_dims window_dilation, window_base_dilation, window_reversal;
  struct tg_conv_dims conv;
  int64_t feature_group_count, batch_group_count;        /* convolutions only */
  struct tg_dims slice_start, slice_stride, slice_limit; /* limit exclusive */
  struct tg_dims dynamic_slice_sizes;
  struct tg_dims padding_low, padding_high;
  bool is_stable;
  struct tg_dims layout; /* minor to major */
};

/* Appends a number to the list. */
void tg_dims_push(struct tg_dims *dims, int64_t value);

/* Nothing known: every list empty. */
void tg_node_facts_init(struct tg_node_facts *node);
/* Result shape, and the row-major layout that goes with it. */
void tg_node_set_shape(struct tg_node_facts *node, int64_t rank,
                       const int64_t *extents);

/*
 * Window, dimension numbers and groups of a convolution or a pooling, from how
 * its operands are addressed; `extent` and `reduction` per loop. padding_low
 * and padding_high: per dimension of the image, or NULL.
 */
void tg_node_set_convolution(struct tg_node_facts *node,
                             const struct tg_kernel *kernel,
                             const int64_t *padding_low,
                             const int64_t *padding_high);
void tg_node_set_pooling(struct tg_node_facts *node,
                         const struct tg_kernel *kernel,
                         const int64_t *padding_low,
                         const int64_t *padding_high);

/* Is the kernel a convolution: does a dimension of its image have a window or
 * a stride? Otherwise it is a contraction. */
bool tg_kernel_has_window(const struct tg_kernel *kernel);

/* The row of node_feat; every number finite. row: (TG_NODE_FEATURE_COUNT) */
void tg_node_features(const struct tg_node_facts *node, float *row);

#endif
