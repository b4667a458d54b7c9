/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The graph of one kernel alone, from its numbers: what the tile network sees
 * is then the same whether the kernel was cut from a network or measured by
 * itself.
 */
#include <assert.h>
#include <string.h>

#include "model/node.h"

enum { MAX_KERNEL_NODES = 5, MAX_KERNEL_EDGES = 4 };

static void set_element(struct tg_node_facts *node,
                        const struct tg_kernel *kernel) {
  static const int32_t types[TG_ELEMENT_COUNT] = {[TG_F32] = TG_ELEMENT_F32,
                                                  [TG_F64] = TG_ELEMENT_F64,
                                                  [TG_I32] = TG_ELEMENT_S32};
  node->element_type = types[kernel->element];
  node->element_nbits = 8 * tg_kernel_element_nbytes(kernel);
}

/* Appends a node with the shape of the operand, or a scalar where it is -1.
 * Returns its number. */
static int32_t add_node(struct tg_graph *graph, enum tg_opcode opcode,
                        const char *name, struct tg_node_facts *node,
                        const struct tg_kernel *kernel, int operand) {
  assert(graph->node_count < MAX_KERNEL_NODES);
  set_element(node, kernel);
  if (operand >= 0)
    tg_node_set_shape(node, kernel->operand[operand].rank,
                      kernel->operand[operand].extent);
  int64_t id = graph->node_count++;
  graph->node_opcode[id] = opcode;
  graph->node_name[id] = name;
  tg_node_features(node, graph->node_feat + id * TG_NODE_FEATURE_COUNT);
  return (int32_t)id;
}

static void add_edge(struct tg_graph *graph, int32_t user, int32_t used) {
  assert(graph->edge_count < MAX_KERNEL_EDGES);
  graph->edges[2 * graph->edge_count] = user;
  graph->edges[2 * graph->edge_count + 1] = used;
  ++graph->edge_count;
}

static int32_t add_parameter(struct tg_graph *graph,
                             const struct tg_kernel *kernel, int operand) {
  static const char *const names[TG_OPERAND_COUNT] = {"lhs", "rhs", "init"};
  struct tg_node_facts node;
  tg_node_facts_init(&node);
  node.parameter_number = operand;
  return add_node(graph, TG_OPCODE_parameter, names[operand], &node, kernel,
                  operand);
}

/* What the result starts from. */
static int32_t add_init(struct tg_graph *graph,
                        const struct tg_kernel *kernel) {
  if (!kernel->init_is_zero)
    return add_parameter(graph, kernel, TG_RESULT);
  struct tg_node_facts node;
  tg_node_facts_init(&node);
  int32_t zero = add_node(graph, TG_OPCODE_constant, "zero", &node, kernel, -1);
  tg_node_facts_init(&node);
  int32_t fill =
      add_node(graph, TG_OPCODE_broadcast, "fill", &node, kernel, TG_RESULT);
  add_edge(graph, fill, zero);
  return fill;
}

enum tg_status tg_graph_from_kernel(const struct tg_kernel *kernel,
                                    struct tg_arena *arena,
                                    struct tg_graph *graph,
                                    struct tg_error *error) {
  memset(graph, 0, sizeof *graph);
  graph->node_feat = tg_arena_alloc(
      arena, (size_t)MAX_KERNEL_NODES * TG_NODE_FEATURE_COUNT, sizeof(float));
  graph->node_opcode = tg_arena_alloc(arena, MAX_KERNEL_NODES, sizeof(int32_t));
  graph->node_name = tg_arena_alloc(arena, MAX_KERNEL_NODES, sizeof(char *));
  graph->edges = tg_arena_alloc(arena, MAX_KERNEL_EDGES, 2 * sizeof(int32_t));
  graph->node_splits = tg_arena_alloc(arena, 1, sizeof(int32_t));
  if (!graph->node_feat || !graph->node_opcode || !graph->node_name ||
      !graph->edges || !graph->node_splits)
    return tg_fail_memory(error, "the graph of a kernel");
  graph->split_count = 1;
  int32_t lhs = add_parameter(graph, kernel, TG_LHS);
  int32_t rhs = add_parameter(graph, kernel, TG_RHS);
  int32_t init = add_init(graph, kernel);
  struct tg_node_facts node;
  tg_node_facts_init(&node);
  node.is_root = true;
  bool window = tg_kernel_has_window(kernel);
  if (window)
    tg_node_set_convolution(&node, kernel, NULL, NULL);
  int32_t root =
      add_node(graph, window ? TG_OPCODE_convolution : TG_OPCODE_dot,
               window ? "convolution" : "dot", &node, kernel, TG_RESULT);
  add_edge(graph, root, lhs);
  add_edge(graph, root, rhs);
  add_edge(graph, root, init);
  return TG_OK;
}
