/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Each tensor has one of two orders. What an operation costs follows from the
 * orders of what it reads and of what it writes, by the analytic rule; a tensor
 * that something else reads as it is costs a transposition. The cheapest
 * assignment is a labelling (model/labelling.h).
 */
#include "passes/select_relayout.h"

#include <mlir-c/BuiltinTypes.h>
#include <string.h>

#include "model/cost.h"
#include "model/labelling.h"
#include "model/winograd.h"
#include "passes/from_weights.h"
#include "passes/relayout_graph.h"

/* The whole has to be expected to need at most this share of the time; within a
 * few percent the estimate can't tell. */
static const double worth_it = 0.955;

enum { MEMORY = 1024 };

bool tg_relayout_mode_parse(const char *text, enum tg_relayout_mode *mode) {
  static const char *const names[TG_RELAYOUT_MODE_COUNT] = {
#define RELAYOUT_MODE(id, name) name,
#include "passes/relayout_mode.def"
  };
  for (int i = 0; i < TG_RELAYOUT_MODE_COUNT; ++i)
    if (!strcmp(text, names[i])) {
      *mode = (enum tg_relayout_mode)i;
      return true;
    }
  return false;
}

struct choose {
  const struct tg_decider *decider;
  bool prepack;
  struct tg_arena *arena;
  struct tg_relayout_graph graph;
  double (*cost)[2];
  struct tg_label_pair *pairs;
  size_t pair_count, pair_capacity;
  /* Estimates of kernels, by hash: equal ones are looked at once. */
  uint64_t known[MEMORY];
  double known_cycles[MEMORY];
  bool failed;
};

/*===-- Estimates ---------------------------------------------------------===*/

static double estimate_kernel(struct choose *choose,
                              const struct tg_kernel *kernel) {
  const struct tg_target *target = choose->decider->target;
  struct tg_arena *arena = tg_arena_create();
  struct tg_config config;
  struct tg_plan plan;
  double cycles = TG_LABEL_FORBIDDEN, other;
  size_t count;
  if (arena && tg_analytic_choice(kernel, target, &config) &&
      !tg_plan_make(kernel, &config, target, &plan))
    cycles = tg_plan_cycles(&plan, target);
  if (arena && choose->decider->reassociate &&
      tg_winograd_choose(kernel, target, arena, &config, &other, &count) &&
      other < cycles)
    cycles = other;
  tg_arena_destroy(arena);
  return cycles;
}

static double kernel_cycles(struct choose *choose,
                            const struct tg_kernel *kernel) {
  uint64_t hash = tg_kernel_hash(kernel);
  size_t place = hash % MEMORY;
  if (choose->known[place] != hash) {
    choose->known_cycles[place] = estimate_kernel(choose, kernel);
    choose->known[place] = hash;
  }
  return choose->known_cycles[place];
}

static double nest_cycles(const struct choose *choose,
                          const struct tg_nest *nest) {
  struct tg_config config;
  return tg_nest_choose(nest, choose->decider->target, &config)
             ? tg_nest_cycles(nest, &config, choose->decider->target)
             : TG_LABEL_FORBIDDEN;
}

/* From one order to the other, as an operation of its own. */
static double transposition_cycles(const struct choose *choose,
                                   const struct tg_relayout_tensor *tensor) {
  struct tg_nest nest = {.input_count = 1,
                         .operand_count = 2,
                         .element_nbytes = {4, 4},
                         .read = {true, false}};
  MlirType type = mlirValueGetType(tensor->value);
  nest.loop_count = tensor->other.rank;
  for (int d = 0; d < nest.loop_count; ++d) {
    nest.extent[d] = mlirShapedTypeGetDimSize(type, d);
    nest.vectorizable[d] = true;
    for (int o = 0; o < 2; ++o) {
      nest.operand[o].rank = nest.loop_count;
      nest.operand[o].extent[d] = nest.extent[d];
      nest.operand[o].coefficient[d][d] = 1;
    }
  }
  tg_access_permute(&nest.operand[0], &tensor->other);
  return nest_cycles(choose, &nest);
}

/* Of the node, where tensors that it reads have order `in` and those that it
 * writes order `out`. */
static double node_cycles(struct choose *choose,
                          const struct tg_relayout_node *node, int in,
                          int out) {
  if (node->kind == TG_RELAYOUT_PAD)
    return in == out ? 0 : TG_LABEL_FORBIDDEN;
  struct tg_kernel kernel;
  struct tg_nest nest;
  if (node->kernel)
    kernel = *node->kernel;
  else
    nest = *node->nest;
  for (int o = 0; o < node->operand_count; ++o) {
    int32_t t = node->tensor[o];
    if (t >= 0 && (o < node->input_count ? in : out))
      tg_access_permute(node->kernel ? &kernel.operand[o] : &nest.operand[o],
                        &choose->graph.tensors[t].other);
  }
  return node->kernel ? kernel_cycles(choose, &kernel)
                      : nest_cycles(choose, &nest);
}

/*===-- The problem -------------------------------------------------------===*/

static void add_pair(struct choose *choose, int32_t a, int32_t b,
                     double cost[2][2]) {
  struct tg_label_pair *grown =
      tg_arena_grow(choose->arena, choose->pairs, choose->pair_count,
                    &choose->pair_capacity, sizeof(*grown));
  choose->failed |= !grown;
  if (!grown)
    return;
  choose->pairs = grown;
  struct tg_label_pair *pair = &choose->pairs[choose->pair_count++];
  pair->a = a;
  pair->b = b;
  memcpy(pair->cost, cost, sizeof(pair->cost));
}

static void tie(struct choose *choose, int32_t a, int32_t b, double apart) {
  double cost[2][2] = {{0, apart}, {apart, 0}};
  if (a != b)
    add_pair(choose, a, b, cost);
}

/* The first operand of [first, end) whose tensor has another order; `end` where
 * there is none. */
static int find_turnable(const struct choose *choose,
                         const struct tg_relayout_node *node, int first,
                         int end) {
  int o = first;
  while (o < end && (node->tensor[o] < 0 ||
                     choose->graph.tensors[node->tensor[o]].other.rank == 0))
    ++o;
  return o;
}

/* The first such tensor, all others tied to it; -1 where there is none. */
static int32_t gather(struct choose *choose,
                      const struct tg_relayout_node *node, int first, int end) {
  int o = find_turnable(choose, node, first, end);
  int32_t found = o < end ? node->tensor[o] : -1;
  while (o < end && (o = find_turnable(choose, node, o + 1, end)) < end)
    tie(choose, found, node->tensor[o], TG_LABEL_FORBIDDEN);
  return found;
}

/* An initial value in another order than the result has to be transposed. */
static void add_initial(struct choose *choose,
                        const struct tg_relayout_node *node) {
  for (int o = node->input_count;
       o < node->operand_count && node->kind != TG_RELAYOUT_PAD; ++o) {
    int32_t initial =
        tg_relayout_find(&choose->graph, mlirOperationGetOperand(node->op, o));
    int32_t result = node->tensor[o];
    if (initial >= 0 && result >= 0 &&
        choose->graph.tensors[initial].other.rank &&
        choose->graph.tensors[result].other.rank)
      tie(choose, initial, result,
          transposition_cycles(choose, &choose->graph.tensors[initial]));
  }
}

/* cost[order of what it reads][order of what it writes] */
static void cost_node(struct choose *choose,
                      const struct tg_relayout_node *node, bool reads,
                      bool writes, double cost[2][2]) {
  for (int in = 0; in < 2; ++in)
    for (int out = 0; out < 2; ++out)
      cost[in][out] = (in && !reads) || (out && !writes)
                          ? TG_LABEL_FORBIDDEN
                          : node_cycles(choose, node, in, out);
}

static void add_node(struct choose *choose,
                     const struct tg_relayout_node *node) {
  int32_t in = gather(choose, node, 0, node->input_count);
  int32_t out = gather(choose, node, node->input_count, node->operand_count);
  add_initial(choose, node);
  double cost[2][2];
  cost_node(choose, node, in >= 0, out >= 0, cost);
  if (in >= 0 && out >= 0 && in != out)
    add_pair(choose, in, out, cost);
  for (int label = 0; label < 2; ++label)
    if (in >= 0 && out < 0)
      choose->cost[in][label] += cost[label][0];
    else if (out >= 0 && in < 0)
      choose->cost[out][label] += cost[0][label];
}

static void add_readers(struct choose *choose) {
  for (size_t t = 0; t < choose->graph.tensor_count; ++t) {
    const struct tg_relayout_tensor *tensor = &choose->graph.tensors[t];
    if (tensor->other.rank == 0)
      choose->cost[t][1] = TG_LABEL_FORBIDDEN;
    else if (tensor->read_elsewhere)
      choose->cost[t][1] += transposition_cycles(choose, tensor);
  }
}

/* Packing a constant and, with `prepack`, a weight costs nothing while the
 * program runs. */
static void mark_weights(struct choose *choose) {
  for (size_t n = 0; n < choose->graph.node_count; ++n) {
    const struct tg_relayout_node *node = &choose->graph.nodes[n];
    for (int o = 0; o < TG_RESULT && node->kernel; ++o)
      node->kernel->prepacked[o] =
          tg_operand_comes_packed(node->op, o, choose->prepack);
  }
}

/* other: the operands that are stored in their other order, if they have one.
 */
static void write_layouts(const struct choose *choose,
                          const struct tg_relayout_node *node,
                          const bool other[TG_MAX_NEST_OPERANDS]) {
  struct tg_stored stored[TG_MAX_NEST_OPERANDS] = {{0}};
  bool any = false;
  for (int o = 0; o < node->operand_count; ++o)
    if (node->tensor[o] >= 0 && other[o]) {
      stored[o] = choose->graph.tensors[node->tensor[o]].other;
      any |= stored[o].rank != 0;
    }
  if (any && node->kind != TG_RELAYOUT_PAD)
    tg_layouts_set(node->op, stored);
}

/* Every operation reads and writes tensors in the order of their labels. */
static void write_labels(const struct choose *choose, const uint8_t *label) {
  for (size_t n = 0; n < choose->graph.node_count; ++n) {
    const struct tg_relayout_node *node = &choose->graph.nodes[n];
    bool other[TG_MAX_NEST_OPERANDS] = {false};
    for (int o = 0; o < node->operand_count; ++o)
      other[o] = node->tensor[o] >= 0 && label[node->tensor[o]];
    write_layouts(choose, node, other);
  }
}

/* Every operation as it would be fastest: between those that disagree there
 * will be transpositions. */
static void write_own(struct choose *choose) {
  for (size_t n = 0; n < choose->graph.node_count; ++n) {
    const struct tg_relayout_node *node = &choose->graph.nodes[n];
    bool other[TG_MAX_NEST_OPERANDS];
    double cost[2][2];
    int inputs = node->input_count, end = node->operand_count;
    cost_node(choose, node, find_turnable(choose, node, 0, inputs) < inputs,
              find_turnable(choose, node, inputs, end) < end, cost);
    int best = 0;
    for (int i = 1; i < 4; ++i)
      if (cost[i / 2][i % 2] < cost[best / 2][best % 2])
        best = i;
    for (int o = 0; o < node->operand_count; ++o)
      other[o] = o < node->input_count ? best / 2 : best % 2;
    write_layouts(choose, node, other);
  }
}

static bool solve(struct choose *choose, enum tg_relayout_mode mode,
                  struct tg_relayout_choice *choice) {
  int32_t count = (int32_t)choose->graph.tensor_count;
  uint8_t *label = tg_arena_alloc(choose->arena, (size_t)count + 1, 1);
  if (!label || choose->failed)
    return false;
  const double *cost = choose->cost[0];
  memset(label, 0, (size_t)count);
  choice->cycles_before = choice->cycles =
      tg_label_cost(count, cost, choose->pair_count, choose->pairs, label);
  if (mode == TG_RELAYOUT_OTHER)
    for (int32_t t = 0; t < count; ++t)
      label[t] = choose->graph.tensors[t].other.rank != 0;
  else if (!tg_label(count, cost, choose->pair_count, choose->pairs,
                     choose->arena, label))
    return false;
  double cycles =
      tg_label_cost(count, cost, choose->pair_count, choose->pairs, label);
  for (int32_t t = 0; t < count; ++t)
    choice->tensors += choose->graph.tensors[t].other.rank != 0;
  choice->cycles = cycles;
  if (mode == TG_RELAYOUT_GRAPH && cycles > worth_it * choice->cycles_before)
    return true;
  for (int32_t t = 0; t < count; ++t)
    choice->stored += label[t];
  write_labels(choose, label);
  return true;
}

bool tg_choose_relayout(MlirOperation module, const struct tg_decider *decider,
                        enum tg_relayout_mode mode, bool prepack,
                        bool overwrite, struct tg_arena *arena,
                        struct tg_relayout_choice *choice) {
  *choice = (struct tg_relayout_choice){0};
  struct choose *choose = tg_arena_alloc(arena, 1, sizeof(*choose));
  if (!choose)
    return false;
  memset(choose, 0, sizeof(*choose));
  choose->decider = decider;
  choose->prepack = prepack;
  choose->arena = arena;
  if (!tg_relayout_graph_build(module, overwrite, arena, &choose->graph))
    return false;
  size_t count = choose->graph.tensor_count;
  choose->cost = tg_arena_alloc(arena, count + 1, sizeof(*choose->cost));
  if (!choose->cost)
    return false;
  memset(choose->cost, 0, (count + 1) * sizeof(*choose->cost));
  mark_weights(choose);
  for (size_t n = 0; n < choose->graph.node_count; ++n)
    add_node(choose, &choose->graph.nodes[n]);
  add_readers(choose);
  if (mode == TG_RELAYOUT_OWN)
    write_own(choose);
  return mode == TG_RELAYOUT_OWN || solve(choose, mode, choice);
}
