/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A program as a graph in the TpuGraphs form: a node per operation, argument
 * and constant, an edge along every value.
 */
#ifndef TGRAPH_MODEL_GRAPH_H
#define TGRAPH_MODEL_GRAPH_H

#include <stdint.h>

#include "model/arena.h"
#include "model/error.h"

enum {
  TG_NODE_FEATURE_COUNT = 140, /* columns of node_feat; 134.. are the layout */
  TG_NODE_LAYOUT_COUNT = 6,
  TG_OPCODE_COUNT = 121
};

struct tg_graph {
  int64_t node_count;
  int64_t edge_count;
  float *node_feat;     /* (node_count, 140) */
  int32_t *node_opcode; /* (node_count), 0 = unknown */
  int32_t *edges; /* (edge_count, 2): u consumes v; topological, so v < u */
  const char **node_name; /* (node_count), for people; may be NULL */
};

#endif
