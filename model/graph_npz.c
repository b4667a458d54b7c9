/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A graph as a file: the keys of TpuGraphs, and beside them what this project
 * adds, so that a reader of TpuGraphs files still reads it.
 */
#include "model/graph.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>

#include "model/dataset.h"
#include "model/npz.h"

/* node_opcode as bytes and edge_index as 8-byte integers, like the original. */
static bool add_integers(struct tg_npz_writer *writer,
                         const struct tg_graph *graph) {
  static_assert(TG_OPCODE_COUNT <= 256, "a code fits a byte");
  size_t nodes = (size_t)graph->node_count;
  size_t ends = 2 * (size_t)graph->edge_count;
  uint8_t *opcodes = malloc(nodes + 1);
  int64_t *edges = malloc((ends + 1) * sizeof *edges);
  bool fits = opcodes && edges;
  if (fits) {
    for (size_t i = 0; i < nodes; ++i)
      opcodes[i] = (uint8_t)graph->node_opcode[i];
    for (size_t i = 0; i < ends; ++i)
      edges[i] = graph->edges[i];
    tg_npz_writer_add(writer, "node_opcode", TG_NPZ_UINT, 1, 1,
                      &graph->node_count, opcodes);
    tg_npz_writer_add(writer, "edge_index", TG_NPZ_INT, 8, 2,
                      (const int64_t[]){graph->edge_count, 2}, edges);
  }
  free(opcodes);
  free(edges);
  return fits;
}

/* (1, splits + 1): the first node of each computation, then the end. */
static bool add_splits(struct tg_npz_writer *writer,
                       const struct tg_graph *graph) {
  size_t count = (size_t)graph->split_count;
  int64_t *splits = malloc((count + 2) * sizeof *splits);
  if (!splits)
    return false;
  splits[0] = 0;
  for (size_t i = 0; i < count; ++i)
    splits[i] = graph->node_splits[i];
  if (count == 0)
    count = 1;
  splits[count] = graph->node_count;
  tg_npz_writer_add(writer, "node_splits", TG_NPZ_INT, 8, 2,
                    (const int64_t[]){1, (int64_t)count + 1}, splits);
  free(splits);
  return true;
}

enum tg_status tg_graph_write_npz(const struct tg_graph *graph,
                                  const struct tg_graph_extra *extra,
                                  const char *path, struct tg_error *error) {
  struct tg_npz_writer *writer = tg_npz_writer_create();
  if (!writer || !add_integers(writer, graph) || !add_splits(writer, graph)) {
    tg_npz_writer_destroy(writer);
    return tg_fail_memory(error, path);
  }
  tg_npz_writer_add(writer, "node_feat", TG_NPZ_FLOAT, 4, 2,
                    (const int64_t[]){graph->node_count, TG_NODE_FEATURE_COUNT},
                    graph->node_feat);
  tg_npz_writer_add_texts(writer, "node_feat_names", TG_NODE_FEATURE_COUNT,
                          tg_node_feature_names);
  if (graph->node_name)
    tg_npz_writer_add_texts(writer, "node_names", graph->node_count,
                            graph->node_name);
  if (extra && extra->node_config_ids)
    tg_npz_writer_add(writer, "node_config_ids", TG_NPZ_INT, 4, 1,
                      &extra->configurable_count, extra->node_config_ids);
  if (extra && extra->target)
    tg_target_write(writer, extra->target);
  enum tg_status status = tg_npz_writer_finish(writer, path, error);
  tg_npz_writer_destroy(writer);
  return status;
}
