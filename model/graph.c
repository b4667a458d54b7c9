/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The check of a graph, and its picture for Graphviz.
 */
#include "model/graph.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/file.h"

static enum tg_status check_nodes(const struct tg_graph *graph,
                                  const char *what, struct tg_error *error) {
  for (int64_t i = 0; i < graph->node_count; ++i) {
    if (graph->node_opcode[i] < 0 || graph->node_opcode[i] >= TG_OPCODE_COUNT)
      return tg_fail(error, "%s: node %lld: operation code %d is not in 0..%d",
                     what, (long long)i, graph->node_opcode[i],
                     TG_OPCODE_COUNT - 1);
    const float *row = graph->node_feat + i * TG_NODE_FEATURE_COUNT;
    for (int c = 0; c < TG_NODE_FEATURE_COUNT; ++c)
      if (!isfinite(row[c]))
        return tg_fail(error, "%s: node %lld: column %s is not finite", what,
                       (long long)i, tg_node_feature_names[c]);
  }
  return TG_OK;
}

static enum tg_status check_edges(const struct tg_graph *graph,
                                  const char *what, struct tg_error *error) {
  for (int64_t e = 0; e < graph->edge_count; ++e) {
    int32_t user = graph->edges[2 * e];
    int32_t used = graph->edges[2 * e + 1];
    if (user < 0 || user >= graph->node_count || used < 0 ||
        used >= graph->node_count)
      return tg_fail(error, "%s: edge %lld (%d, %d): there are %lld nodes",
                     what, (long long)e, user, used,
                     (long long)graph->node_count);
    if (used >= user)
      return tg_fail(error,
                     "%s: edge %lld (%d, %d): a node may only consume earlier "
                     "nodes",
                     what, (long long)e, user, used);
  }
  return TG_OK;
}

static enum tg_status check_splits(const struct tg_graph *graph,
                                   const char *what, struct tg_error *error) {
  for (int64_t s = 0; s < graph->split_count; ++s) {
    int32_t first = graph->node_splits[s];
    int32_t least = s == 0 ? 0 : graph->node_splits[s - 1];
    if (first < least || first > graph->node_count || (s == 0 && first != 0))
      return tg_fail(error, "%s: split %lld: node %d is out of order", what,
                     (long long)s, first);
  }
  return TG_OK;
}

enum tg_status tg_graph_check(const struct tg_graph *graph, const char *what,
                              struct tg_error *error) {
  enum tg_status status = check_nodes(graph, what, error);
  if (status == TG_OK)
    status = check_edges(graph, what, error);
  if (status == TG_OK)
    status = check_splits(graph, what, error);
  return status;
}

/* Text between double quotes: quotes and backslashes escaped. */
static void print_quoted(FILE *file, const char *text) {
  for (; *text; ++text) {
    if (*text == '"' || *text == '\\')
      fputc('\\', file);
    fputc(*text, file);
  }
}

static void print_node(FILE *file, const struct tg_graph *graph, int64_t node,
                       bool configurable) {
  const float *row = graph->node_feat + node * TG_NODE_FEATURE_COUNT;
  fprintf(file, "  n%lld [label=\"%lld ", (long long)node, (long long)node);
  print_quoted(file, graph->node_name ? graph->node_name[node] : "");
  fprintf(file, "\\n%s", tg_opcode_names[graph->node_opcode[node]]);
  /* The layout is a permutation, so its length is the rank that is kept. */
  for (int d = 0; d < TG_NODE_LAYOUT_COUNT; ++d)
    if (row[TG_NODE_FEATURE_layout_minor_to_major_0 + d] >= 0.0f)
      fprintf(file, "%s%.0f", d == 0 ? " " : "x",
              (double)row[TG_NODE_FEATURE_shape_dimensions_0 + d]);
  fprintf(file, "\"%s];\n", configurable ? ", peripheries=2" : "");
}

static void print_dot(FILE *file, const struct tg_graph *graph,
                      const bool *configurable) {
  fprintf(file, "digraph tgraph {\n  node [shape=box];\n");
  for (int64_t i = 0; i < graph->node_count; ++i)
    print_node(file, graph, i, configurable[i]);
  for (int64_t e = 0; e < graph->edge_count; ++e)
    fprintf(file, "  n%d -> n%d;\n", graph->edges[2 * e + 1],
            graph->edges[2 * e]);
  fprintf(file, "}\n");
}

/* Marks the configurable nodes in a new array; the caller frees it. */
static bool *create_marks(const struct tg_graph *graph,
                          const struct tg_graph_extra *extra) {
  bool *marks = calloc((size_t)graph->node_count + 1, sizeof *marks);
  if (!marks || !extra)
    return marks;
  for (int64_t k = 0; k < extra->configurable_count; ++k)
    marks[extra->node_config_ids[k]] = true;
  return marks;
}

/* The picture as text; the caller frees it. NULL: out of memory. */
static char *create_dot(const struct tg_graph *graph,
                        const struct tg_graph_extra *extra, size_t *nbytes) {
  char *text = NULL;
  bool *marks = create_marks(graph, extra);
  FILE *file = marks ? open_memstream(&text, nbytes) : NULL;
  if (file) {
    print_dot(file, graph, marks);
    bool failed = ferror(file) != 0;
    if (fclose(file) != 0 || failed) {
      free(text);
      text = NULL;
    }
  }
  free(marks);
  return text;
}

enum tg_status tg_graph_write_dot(const struct tg_graph *graph,
                                  const struct tg_graph_extra *extra,
                                  const char *path, struct tg_error *error) {
  size_t nbytes = 0;
  char *text = create_dot(graph, extra, &nbytes);
  if (!text)
    return tg_fail_memory(error, path);
  enum tg_status status = tg_file_write(path, text, nbytes, error);
  free(text);
  return status;
}
