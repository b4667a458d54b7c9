/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Walks functions, numbers the nodes and draws the edges; then fills the rows.
 */
#include "passes/import.h"

#include <stdio.h>
#include <string.h>

#include "passes/inspect.h"
#include "passes/passes.h"
#include "passes/pointer_map.h"

struct entry {
  MlirOperation op;   /* null for an argument */
  MlirValue argument; /* null for an operation */
  int32_t last_user;  /* the node that consumed it last: each edge once */
  bool is_root;
};

struct builder {
  struct tg_arena *arena;
  struct tg_pointer_map nodes; /* of values and of operations */
  struct entry *entries;
  size_t entry_count, entry_capacity;
  int32_t *edges; /* (edge_count, 2) */
  size_t edge_count, edge_capacity;
  int32_t *splits;
  size_t split_count, split_capacity;
  bool failed; /* out of memory or of numbers: nothing more is added */
};

/* Room for one more element; false and `failed` where there is none. */
static bool reserve(struct builder *builder, void **elements, size_t count,
                    size_t *capacity, size_t element_nbytes) {
  void *grown = count < INT32_MAX
                    ? tg_arena_grow(builder->arena, *elements, count, capacity,
                                    element_nbytes)
                    : NULL;
  if (grown)
    *elements = grown;
  else
    builder->failed = true;
  return grown != NULL;
}

/* Returns the node's number, -1 when the builder has failed. */
static int32_t add_entry(struct builder *builder, MlirOperation op,
                         MlirValue argument) {
  void *elements = builder->entries;
  if (builder->failed ||
      !reserve(builder, &elements, builder->entry_count,
               &builder->entry_capacity, sizeof *builder->entries))
    return -1;
  builder->entries = elements;
  int32_t node = (int32_t)builder->entry_count++;
  builder->entries[node] = (struct entry){op, argument, -1, false};
  return node;
}

static void set_node(struct builder *builder, const void *key, int32_t node) {
  if (!builder->failed && !tg_pointer_map_set(&builder->nodes, key, node))
    builder->failed = true;
}

static void add_edge(struct builder *builder, int32_t user, int32_t used) {
  if (builder->failed || used < 0 || used >= user ||
      builder->entries[used].last_user == user)
    return;
  void *elements = builder->edges;
  if (!reserve(builder, &elements, builder->edge_count, &builder->edge_capacity,
               2 * sizeof *builder->edges))
    return;
  builder->edges = elements;
  builder->edges[2 * builder->edge_count] = user;
  builder->edges[2 * builder->edge_count + 1] = used;
  ++builder->edge_count;
  builder->entries[used].last_user = user;
}

struct use_walk {
  struct builder *builder;
  int32_t user;
};

/* Edges to all that the operation uses. What a body defines itself is no
 * node, so only the captured values of a body are found. */
static MlirWalkResult add_uses(MlirOperation op, void *data) {
  struct use_walk *walk = data;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i) {
    MlirValue operand = mlirOperationGetOperand(op, i);
    add_edge(walk->builder, walk->user,
             tg_pointer_map_get(&walk->builder->nodes, operand.ptr));
  }
  return MlirWalkResultAdvance;
}

static void visit_region(struct builder *builder, MlirRegion region);

/* What the regions of the operation end in: its results come from there. */
static void add_region_results(struct builder *builder, MlirOperation op,
                               int32_t user) {
  for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); ++r)
    for (MlirBlock block =
             mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r));
         !mlirBlockIsNull(block); block = mlirBlockGetNextInRegion(block)) {
      MlirOperation last = mlirBlockGetTerminator(block);
      if (!mlirOperationIsNull(last) && mlirBlockGetNumSuccessors(block) == 0)
        add_edge(builder, user, tg_pointer_map_get(&builder->nodes, last.ptr));
    }
}

static void visit_op(struct builder *builder, MlirOperation op) {
  bool opaque = tg_op_is_opaque_body(op);
  for (intptr_t r = 0; !opaque && r < mlirOperationGetNumRegions(op); ++r)
    visit_region(builder, mlirOperationGetRegion(op, r));
  int32_t node = add_entry(builder, op, (MlirValue){NULL});
  if (node < 0)
    return;
  struct use_walk walk = {builder, node};
  if (opaque) {
    mlirOperationWalk(op, add_uses, &walk, MlirWalkPreOrder);
  } else {
    add_uses(op, &walk);
    add_region_results(builder, op, node);
  }
  set_node(builder, op.ptr, node);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    set_node(builder, mlirOperationGetResult(op, i).ptr, node);
}

static void visit_block(struct builder *builder, MlirBlock block) {
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(block); ++i) {
    MlirValue argument = mlirBlockGetArgument(block, i);
    int32_t node = add_entry(builder, (MlirOperation){NULL}, argument);
    set_node(builder, argument.ptr, node);
  }
  for (MlirOperation op = mlirBlockGetFirstOperation(block);
       !mlirOperationIsNull(op) && !builder->failed;
       op = mlirOperationGetNextInBlock(op))
    visit_op(builder, op);
}

struct frame {
  MlirBlock block;
  intptr_t next_successor;
};

/* Depth first from the block; appends the blocks that it reaches first, each
 * after all that it leads to. */
static size_t append_post_order(MlirBlock entry, struct tg_pointer_map *seen,
                                struct frame *stack, MlirBlock *order,
                                size_t count) {
  if (tg_pointer_map_get(seen, entry.ptr) >= 0 ||
      !tg_pointer_map_set(seen, entry.ptr, 1))
    return count;
  size_t depth = 0;
  stack[depth++] = (struct frame){entry, 0};
  while (depth > 0) {
    struct frame *top = &stack[depth - 1];
    if (top->next_successor == mlirBlockGetNumSuccessors(top->block)) {
      order[count++] = top->block;
      --depth;
      continue;
    }
    MlirBlock next = mlirBlockGetSuccessor(top->block, top->next_successor++);
    if (tg_pointer_map_get(seen, next.ptr) < 0 &&
        tg_pointer_map_set(seen, next.ptr, 1))
      stack[depth++] = (struct frame){next, 0};
  }
  return count;
}

/*
 * Blocks may stand in any order in the text; a definition comes before its
 * uses in reverse post-order from the entry. What can't be reached follows.
 */
static void visit_blocks(struct builder *builder, MlirRegion region,
                         size_t block_count) {
  struct tg_pointer_map seen = {builder->arena, NULL, NULL, 0, 0};
  struct frame *stack =
      tg_arena_alloc(builder->arena, block_count, sizeof *stack);
  MlirBlock *order = tg_arena_alloc(builder->arena, block_count, sizeof *order);
  if (!stack || !order) {
    builder->failed = true;
    return;
  }
  size_t count = append_post_order(mlirRegionGetFirstBlock(region), &seen,
                                   stack, order, 0);
  for (size_t i = count; i > 0; --i)
    visit_block(builder, order[i - 1]);
  for (MlirBlock block = mlirRegionGetFirstBlock(region);
       !mlirBlockIsNull(block); block = mlirBlockGetNextInRegion(block))
    if (tg_pointer_map_get(&seen, block.ptr) < 0)
      visit_block(builder, block);
}

static void visit_region(struct builder *builder, MlirRegion region) {
  size_t count = 0;
  for (MlirBlock block = mlirRegionGetFirstBlock(region);
       !mlirBlockIsNull(block); block = mlirBlockGetNextInRegion(block))
    ++count;
  if (count == 1)
    visit_block(builder, mlirRegionGetFirstBlock(region));
  else if (count > 1)
    visit_blocks(builder, region, count);
}

static void visit_function(struct builder *builder, MlirOperation function) {
  MlirRegion region = mlirOperationGetRegion(function, 0);
  if (mlirBlockIsNull(mlirRegionGetFirstBlock(region)))
    return;
  void *elements = builder->splits;
  if (!reserve(builder, &elements, builder->split_count,
               &builder->split_capacity, sizeof *builder->splits))
    return;
  builder->splits = elements;
  builder->splits[builder->split_count++] = (int32_t)builder->entry_count;
  visit_region(builder, region);
  for (MlirBlock block = mlirRegionGetFirstBlock(region);
       !mlirBlockIsNull(block); block = mlirBlockGetNextInRegion(block)) {
    MlirOperation last = mlirBlockGetTerminator(block);
    int32_t node = mlirOperationIsNull(last)
                       ? -1
                       : tg_pointer_map_get(&builder->nodes, last.ptr);
    if (node >= 0 && mlirBlockGetNumSuccessors(block) == 0)
      builder->entries[node].is_root = true;
  }
}

static void visit_module(struct builder *builder, MlirOperation module) {
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(module, 0));
  if (mlirBlockIsNull(body))
    return;
  for (MlirOperation op = mlirBlockGetFirstOperation(body);
       !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op))
    if (tg_op_is(op, "func.func"))
      visit_function(builder, op);
}

/* Code, name and row of one node; false: out of memory. */
static bool fill_node(struct tg_arena *arena, const struct entry *entry,
                      struct tg_import *import, int64_t node) {
  struct tg_node_facts facts;
  struct tg_graph *graph = &import->graph;
  char text[128];
  import->node_op[node] = entry->op;
  if (mlirOperationIsNull(entry->op)) {
    graph->node_opcode[node] = TG_OPCODE_parameter;
    tg_node_facts_from_argument(entry->argument, &facts);
    snprintf(text, sizeof text, "arg%lld", (long long)facts.parameter_number);
  } else {
    enum tg_opcode opcode = tg_opcode_of_op(entry->op);
    graph->node_opcode[node] = (int32_t)opcode;
    tg_node_facts_from_op(entry->op, opcode, &facts);
    MlirStringRef name = tg_op_name(entry->op);
    snprintf(text, sizeof text, "%.*s", (int)name.length, name.data);
  }
  facts.is_root = entry->is_root;
  tg_node_features(&facts, graph->node_feat + node * TG_NODE_FEATURE_COUNT);
  graph->node_name[node] = tg_arena_strdup(arena, text);
  return graph->node_name[node] != NULL;
}

static bool fill_graph(struct builder *builder, struct tg_import *import) {
  struct tg_arena *arena = builder->arena;
  struct tg_graph *graph = &import->graph;
  size_t count = builder->entry_count;
  graph->node_count = (int64_t)count;
  graph->edge_count = (int64_t)builder->edge_count;
  graph->edges = builder->edges;
  graph->split_count = (int64_t)builder->split_count;
  graph->node_splits = builder->splits;
  graph->node_feat =
      tg_arena_alloc(arena, count, TG_NODE_FEATURE_COUNT * sizeof(float));
  graph->node_opcode = tg_arena_alloc(arena, count, sizeof(int32_t));
  graph->node_name = tg_arena_alloc(arena, count, sizeof(char *));
  import->node_op = tg_arena_alloc(arena, count, sizeof(MlirOperation));
  if (!graph->node_feat || !graph->node_opcode || !graph->node_name ||
      !import->node_op)
    return false;
  for (size_t i = 0; i < count; ++i)
    if (!fill_node(arena, &builder->entries[i], import, (int64_t)i))
      return false;
  return true;
}

bool tg_import(MlirOperation root, struct tg_arena *arena,
               struct tg_import *import) {
  struct builder builder;
  memset(&builder, 0, sizeof builder);
  memset(import, 0, sizeof *import);
  builder.arena = arena;
  builder.nodes.arena = arena;
  if (tg_op_is(root, "func.func"))
    visit_function(&builder, root);
  else
    visit_module(&builder, root);
  return !builder.failed && fill_graph(&builder, import);
}

int64_t tg_import_find(const struct tg_import *import, MlirOperation op) {
  for (int64_t i = 0; i < import->graph.node_count; ++i)
    if (mlirOperationEqual(import->node_op[i], op))
      return i;
  return -1;
}

bool tg_import_kernel(MlirOperation op, struct tg_arena *arena,
                      struct tg_graph *graph) {
  struct tg_kernel kernel;
  struct tg_error error;
  return tg_kernel_from_op(op, &kernel) &&
         tg_graph_from_kernel(&kernel, arena, graph, &error) == TG_OK;
}
