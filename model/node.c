/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * From what is known of a node to its row of node_feat, and the tables' names.
 */
#include "model/node.h"

#include <assert.h>
#include <float.h>
#include <string.h>

static_assert(TG_NODE_FEATURE_layout_minor_to_major_5 == 139,
              "the first 140 columns are those of TpuGraphs");
static_assert(TG_OPCODE_COUNT == 121, "the codes are those of TpuGraphs");

const char *const tg_node_feature_names[TG_NODE_FEATURE_COUNT] = {
#define NODE_FEATURE(name, expression) #name,
#include "model/node_features.def"
};

const char *const tg_opcode_names[TG_OPCODE_COUNT] = {
#define OPCODE(identifier, name) name,
#include "model/opcode.def"
};

enum tg_opcode tg_opcode_from_op(const char *name, size_t length) {
  static const struct {
    const char *name;
    enum tg_opcode opcode;
  } rows[] = {
#define OP(name, opcode) {name, TG_OPCODE_##opcode},
#include "model/ops.def"
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i)
    if (strlen(rows[i].name) == length &&
        memcmp(rows[i].name, name, length) == 0)
      return rows[i].opcode;
  return TG_OPCODE_unknown;
}

/* Shapes may be as large as they like; a column stays a finite float. */
static double bound(double value) {
  return value > FLT_MAX ? FLT_MAX : value < -FLT_MAX ? -FLT_MAX : value;
}

void tg_dims_push(struct tg_dims *dims, int64_t value) {
  if (dims->count < TG_DIMS_KEPT)
    dims->value[dims->count] = (double)value;
  ++dims->count;
  dims->sum = bound(dims->sum + (double)value);
  dims->product = bound(dims->product * (double)value);
}

void tg_node_facts_init(struct tg_node_facts *node) {
  memset(node, 0, sizeof *node);
  struct tg_dims *lists[] = {&node->shape,
                             &node->dimensions,
                             &node->window_size,
                             &node->window_stride,
                             &node->window_padding_low,
                             &node->window_padding_high,
                             &node->window_dilation,
                             &node->window_base_dilation,
                             &node->window_reversal,
                             &node->slice_start,
                             &node->slice_stride,
                             &node->slice_limit,
                             &node->dynamic_slice_sizes,
                             &node->padding_low,
                             &node->padding_high};
  for (size_t i = 0; i < sizeof lists / sizeof lists[0]; ++i)
    lists[i]->product = 1.0;
  for (int d = 0; d < TG_DIMS_KEPT; ++d)
    node->layout.value[d] = -1.0;
}

void tg_node_set_shape(struct tg_node_facts *node, int64_t rank,
                       const int64_t *extents) {
  for (int64_t d = 0; d < rank; ++d) {
    tg_dims_push(&node->shape, extents[d]);
    tg_dims_push(&node->layout, rank - 1 - d);
  }
}

void tg_node_features(const struct tg_node_facts *node, float *row) {
#define NODE_FEATURE(name, expression)                                         \
  row[TG_NODE_FEATURE_##name] = (float)bound((double)(expression));
#include "model/node_features.def"
}
