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
#include "model/kernel.h"
#include "model/target.h"

/* The columns of node_feat, TG_NODE_FEATURE_is_root and so on. */
enum tg_node_feature {
#define NODE_FEATURE(name, expression) TG_NODE_FEATURE_##name,
#include "model/node_features.def"
  TG_NODE_FEATURE_COUNT
};

/* Operation codes, TG_OPCODE_dot and so on. */
enum tg_opcode {
#define OPCODE(identifier, name) TG_OPCODE_##identifier,
#include "model/opcode.def"
  TG_OPCODE_COUNT
};

enum { TG_NODE_LAYOUT_COUNT = 6 }; /* columns layout_minor_to_major_* */

struct tg_graph {
  int64_t node_count;
  int64_t edge_count;
  float *node_feat;     /* (node_count, TG_NODE_FEATURE_COUNT) */
  int32_t *node_opcode; /* (node_count), 0 = unknown */
  int32_t *edges;       /* (edge_count, 2): u consumes v; topological, v < u */
  const char **node_name; /* (node_count), for people; may be NULL */
  int64_t split_count;    /* computations (functions); 0 counts as one */
  int32_t *node_splits;   /* (split_count), first node of each; increasing */
};

extern const char *const tg_node_feature_names[TG_NODE_FEATURE_COUNT];
extern const char *const tg_opcode_names[TG_OPCODE_COUNT];

/* The code of an operation by its MLIR name (length bytes) as the table
 * ops.def says; TG_OPCODE_unknown where it says nothing. */
enum tg_opcode tg_opcode_from_op(const char *name, size_t length);

/*
 * Checks what every reader of a graph relies on: codes in range, finite
 * features, u > v >= 0 and u < node_count for every edge, splits increasing
 * from 0. The message names `what` (a file, say), the node or the edge.
 */
enum tg_status tg_graph_check(const struct tg_graph *graph, const char *what,
                              struct tg_error *error);

/*
 * The graph of one kernel alone: its two inputs as parameters, the start of
 * its result (a third parameter, or a broadcast of a constant), the operation
 * as root. Equal kernels give equal graphs, wherever they come from.
 */
enum tg_status tg_graph_from_kernel(const struct tg_kernel *kernel,
                                    struct tg_arena *arena,
                                    struct tg_graph *graph,
                                    struct tg_error *error);

/* What goes into a file besides the graph; all of it may be absent. */
struct tg_graph_extra {
  const struct tg_target *target;
  int64_t configurable_count;
  const int32_t *node_config_ids; /* (configurable_count) */
};

/*
 * Writes path anew as a whole or not at all. The .dot form is for Graphviz,
 * configurable nodes with a double border. The .npz form has the keys of
 * TpuGraphs, and target, target_names, node_feat_names, node_names.
 */
enum tg_status tg_graph_write_dot(const struct tg_graph *graph,
                                  const struct tg_graph_extra *extra,
                                  const char *path, struct tg_error *error);
enum tg_status tg_graph_write_npz(const struct tg_graph *graph,
                                  const struct tg_graph_extra *extra,
                                  const char *path, struct tg_error *error);

#endif
