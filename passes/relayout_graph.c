/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Nodes and tensors in one walk; then the other order of each tensor. It comes
 * from the convolutions, which have one dimension of channels and some of
 * pixels: channels that stand in front of the pixels go behind them, and those
 * behind go in front. From there it follows what is walked in the same way.
 */
#include "passes/relayout_graph.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdlib.h>
#include <string.h>

#include "passes/attribute.h"
#include "passes/inspect.h"
#include "passes/nest.h"
#include "passes/pad.h"

/* Ranks of tensors that have channels and pixels. */
enum { LEAST_RANK = 3, MOST_RANK = 5 };

struct build {
  MlirOperation module;
  bool overwrite, failed;
  struct tg_relayout_graph *graph;
};

/*===-- Nodes and tensors -------------------------------------------------===*/

static int compare_pointers(const void *a, const void *b) {
  uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;
  return (x > y) - (x < y);
}

static int compare_tensors(const void *a, const void *b) {
  return compare_pointers(((const struct tg_relayout_tensor *)a)->value.ptr,
                          ((const struct tg_relayout_tensor *)b)->value.ptr);
}

int32_t tg_relayout_find(const struct tg_relayout_graph *graph,
                         MlirValue value) {
  const struct tg_relayout_tensor key = {.value = value};
  const struct tg_relayout_tensor *found =
      graph->tensor_count ? bsearch(&key, graph->tensors, graph->tensor_count,
                                    sizeof(key), compare_tensors)
                          : NULL;
  return found ? (int32_t)(found - graph->tensors) : -1;
}

/* A result that may be stored in another order becomes a tensor. */
static void add_tensor(struct build *build, MlirValue value) {
  struct tg_relayout_graph *graph = build->graph;
  MlirType type = mlirValueGetType(value);
  if (!mlirTypeIsARankedTensor(type) || !mlirShapedTypeHasStaticShape(type) ||
      mlirShapedTypeGetRank(type) < LEAST_RANK ||
      mlirShapedTypeGetRank(type) > MOST_RANK)
    return;
  struct tg_relayout_tensor *grown =
      tg_arena_grow(graph->arena, graph->tensors, graph->tensor_count,
                    &graph->tensor_capacity, sizeof(*grown));
  build->failed |= !grown;
  if (!grown)
    return;
  graph->tensors = grown;
  graph->tensors[graph->tensor_count++] =
      (struct tg_relayout_tensor){.value = value};
}

static void *copy_of(struct build *build, const void *source, size_t nbytes) {
  void *copy = tg_arena_alloc(build->graph->arena, 1, nbytes);
  build->failed |= !copy;
  if (copy)
    memcpy(copy, source, nbytes);
  return copy;
}

/* Transpositions are read through by kernels: they stay as they are. */
static bool describe(struct build *build, MlirOperation op,
                     struct tg_relayout_node *node) {
  struct tg_kernel kernel;
  struct tg_nest nest;
  struct tg_pad pad;
  *node = (struct tg_relayout_node){.op = op};
  if (tg_op_is(op, "linalg.transpose"))
    return false;
  if (tg_kernel_from_op(op, &kernel)) {
    node->kind = TG_RELAYOUT_KERNEL;
    node->kernel = copy_of(build, &kernel, sizeof(kernel));
    node->input_count = TG_RESULT;
    node->operand_count = TG_OPERAND_COUNT;
    return !tg_kernel_is_dynamic(&kernel);
  }
  if (tg_nest_from_op(op, &nest)) {
    node->kind = TG_RELAYOUT_NEST;
    node->nest = copy_of(build, &nest, sizeof(nest));
    node->input_count = nest.input_count;
    node->operand_count = nest.operand_count;
    return true;
  }
  node->kind = TG_RELAYOUT_PAD;
  node->input_count = 1;
  node->operand_count = 2;
  return tg_op_is(op, "tensor.pad") && mlirOperationGetNumOperands(op) == 1 &&
         tg_pad_from_op(op, &pad);
}

static MlirWalkResult visit(MlirOperation op, void *data) {
  struct build *build = data;
  struct tg_relayout_graph *graph = build->graph;
  if (tg_op_has_attribute(op, TG_SKIP_ATTRIBUTE) ||
      tg_op_name_starts_with(op, "transform.") ||
      (tg_op_is(op, "builtin.module") &&
       !mlirOperationEqual(op, build->module)))
    return MlirWalkResultSkip;
  bool closed = tg_op_name_starts_with(op, "linalg.") ||
                tg_op_name_starts_with(op, "tensor.");
  if (!closed)
    return MlirWalkResultAdvance;
  struct tg_relayout_node node;
  bool stands =
      !build->overwrite &&
      (tg_op_has_attribute(op, TG_CONFIG_ATTRIBUTE) || tg_op_has_layouts(op));
  if (stands || !describe(build, op, &node) || build->failed)
    return MlirWalkResultSkip;
  struct tg_relayout_node *grown =
      tg_arena_grow(graph->arena, graph->nodes, graph->node_count,
                    &graph->node_capacity, sizeof(*grown));
  build->failed |= !grown;
  if (!grown)
    return MlirWalkResultInterrupt;
  graph->nodes = grown;
  graph->nodes[graph->node_count++] = node;
  for (intptr_t r = 0; r < mlirOperationGetNumResults(op); ++r)
    add_tensor(build, mlirOperationGetResult(op, r));
  return MlirWalkResultSkip;
}

static void connect(struct tg_relayout_graph *graph) {
  for (size_t n = 0; n < graph->node_count; ++n) {
    struct tg_relayout_node *node = &graph->nodes[n];
    for (int o = 0; o < node->operand_count; ++o)
      node->tensor[o] = tg_relayout_find(
          graph, o < node->input_count
                     ? mlirOperationGetOperand(node->op, o)
                     : mlirOperationGetResult(node->op, o - node->input_count));
  }
}

/*===-- Other orders ------------------------------------------------------===*/

/* How the operand is walked; NULL for a pad, dimension by dimension. */
static const struct tg_access *access_of(const struct tg_relayout_node *node,
                                         int operand) {
  return node->kernel ? &node->kernel->operand[operand]
         : node->nest ? &node->nest->operand[operand]
                      : NULL;
}

static bool is_window(const struct tg_access *image, int dimension) {
  int loops = 0;
  for (int l = 0; l < TG_MAX_LOOPS; ++l)
    loops += image->coefficient[dimension][l] != 0;
  return loops == 2;
}

/* Does the operand's dimension walk along with a dimension of pixels? */
static bool is_pixel(const struct tg_kernel *kernel, int operand,
                     int dimension) {
  const struct tg_access *image = &kernel->operand[TG_LHS];
  const struct tg_access *own = &kernel->operand[operand];
  for (int d = 0; d < image->rank; ++d)
    for (int l = 0; l < kernel->loop_count && is_window(image, d); ++l)
      if (own->coefficient[dimension][l] && image->coefficient[d][l])
        return true;
  return false;
}

static bool is_channel(const struct tg_kernel *kernel, int operand,
                       int dimension) {
  for (int l = 0; l < kernel->loop_count; ++l)
    if (kernel->operand[operand].coefficient[dimension][l] &&
        tg_kernel_uses(kernel, TG_RHS, l) &&
        !is_pixel(kernel, operand, dimension))
      return true;
  return false;
}

/* Channels behind the pixels, or, where they are there, in front of them. */
static bool turn(const struct tg_kernel *kernel, int operand,
                 struct tg_stored *other) {
  const struct tg_access *access = &kernel->operand[operand];
  int channel = -1, channels = 0, pixel = -1, rank = access->rank;
  for (int d = rank - 1; d >= 0; --d) {
    if (is_channel(kernel, operand, d)) {
      channel = d;
      ++channels;
    }
    if (is_pixel(kernel, operand, d))
      pixel = d;
  }
  if (channels != 1 || pixel < 0)
    return false;
  int to = channel == rank - 1 ? pixel : rank - 1, next = 0;
  other->rank = rank;
  for (int i = 0; i < rank; ++i) {
    if (i == to) {
      other->dimension[i] = channel;
      continue;
    }
    next += next == channel;
    other->dimension[i] = next++;
  }
  return true;
}

/* Are the two operands walked by the same loops, dimension by dimension? */
static bool are_alike(const struct tg_relayout_node *node, int a, int b) {
  const struct tg_access *x = access_of(node, a), *y = access_of(node, b);
  if (!x)
    return true;
  if (x->rank != y->rank)
    return false;
  for (int d = 0; d < x->rank; ++d) {
    bool shared = x->extent[d] == 1 || y->extent[d] == 1;
    for (int l = 0; l < TG_MAX_LOOPS; ++l)
      shared |= x->coefficient[d][l] && y->coefficient[d][l];
    if (!shared)
      return false;
  }
  return true;
}

/* Operands of the node that have no other order take that of one like them. */
static bool spread(struct tg_relayout_graph *graph,
                   const struct tg_relayout_node *node) {
  bool changed = false;
  for (int a = 0; a < node->operand_count; ++a)
    for (int b = 0; b < node->operand_count; ++b) {
      if (node->tensor[a] < 0 || node->tensor[b] < 0)
        continue;
      const struct tg_stored *from = &graph->tensors[node->tensor[a]].other;
      struct tg_stored *to = &graph->tensors[node->tensor[b]].other;
      if (from->rank == 0 || to->rank != 0 || !are_alike(node, a, b))
        continue;
      *to = *from;
      changed = true;
    }
  return changed;
}

static void find_orders(struct tg_relayout_graph *graph) {
  for (size_t n = 0; n < graph->node_count; ++n) {
    const struct tg_relayout_node *node = &graph->nodes[n];
    for (int o = 0; o < node->operand_count && node->kernel; ++o)
      if (o != TG_RHS && node->tensor[o] >= 0 &&
          graph->tensors[node->tensor[o]].other.rank == 0)
        turn(node->kernel, o, &graph->tensors[node->tensor[o]].other);
  }
  bool changed = true;
  while (changed) {
    changed = false;
    for (size_t n = 0; n < graph->node_count; ++n)
      changed |= spread(graph, &graph->nodes[n]);
    for (size_t n = graph->node_count; n-- > 0;)
      changed |= spread(graph, &graph->nodes[n]);
  }
}

/*===-- Readers that are no nodes -----------------------------------------===*/

static int compare_ops(const void *a, const void *b) {
  return compare_pointers(((const MlirOperation *)a)->ptr,
                          ((const MlirOperation *)b)->ptr);
}

static bool find_readers(struct tg_relayout_graph *graph) {
  size_t count = graph->node_count;
  MlirOperation *ops = tg_arena_alloc(graph->arena, count + 1, sizeof(*ops));
  if (!ops)
    return false;
  for (size_t n = 0; n < count; ++n)
    ops[n] = graph->nodes[n].op;
  if (count)
    qsort(ops, count, sizeof(*ops), compare_ops);
  for (size_t t = 0; t < graph->tensor_count; ++t) {
    struct tg_relayout_tensor *tensor = &graph->tensors[t];
    for (MlirOpOperand use = mlirValueGetFirstUse(tensor->value);
         !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use)) {
      MlirOperation owner = mlirOpOperandGetOwner(use);
      if (!bsearch(&owner, ops, count, sizeof(*ops), compare_ops))
        tensor->read_elsewhere = true;
      if (tg_op_is(owner, "linalg.transpose"))
        tensor->other.rank = 0;
    }
  }
  return true;
}

bool tg_relayout_graph_build(MlirOperation module, bool overwrite,
                             struct tg_arena *arena,
                             struct tg_relayout_graph *graph) {
  *graph = (struct tg_relayout_graph){.arena = arena};
  struct build build = {
      .module = module, .overwrite = overwrite, .graph = graph};
  mlirOperationWalk(module, visit, &build, MlirWalkPreOrder);
  if (build.failed)
    return false;
  if (graph->tensor_count)
    qsort(graph->tensors, graph->tensor_count, sizeof(*graph->tensors),
          compare_tensors);
  connect(graph);
  find_orders(graph);
  return find_readers(graph);
}
