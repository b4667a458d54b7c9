/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A measured graph as a layout file in the TpuGraphs form. Configurable are the
 * kernels, and whatever else has its tensors in another order in one of the
 * candidates. Layouts are those of the program's own dimensions; knobs and
 * features are kernels' alone, 0 elsewhere.
 */
#include <math.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdlib.h>
#include <string.h>

#include "model/cost.h"
#include "model/layout.h"
#include "model/weights.h"
#include "passes/attribute.h"
#include "passes/import.h"
#include "passes/inspect.h"
#include "passes/stored.h"
#include "tools/measure.h"
#include "tools/measure_columns.h"

enum { LAYOUT_COLUMNS = TG_LAYOUT_FEATURE_COUNT / 3 };

struct op_list {
  struct tg_arena *arena;
  MlirOperation *ops;
  size_t count, capacity;
  bool failed;
};

struct store {
  const struct tg_measure_job *job;
  struct tg_arena *arena;
  struct tg_layout_data data;
  struct op_list ops; /* of the program, by number in the walk */
  int *node_of_op;    /* (ops.count) configurable node, -1 = none */
};

static MlirWalkResult list_op(MlirOperation op, void *user) {
  struct op_list *list = user;
  MlirOperation *grown = tg_arena_grow(list->arena, list->ops, list->count,
                                       &list->capacity, sizeof *grown);
  list->failed = !grown;
  if (!grown)
    return MlirWalkResultInterrupt;
  list->ops = grown;
  list->ops[list->count++] = op;
  return MlirWalkResultAdvance;
}

static bool list_ops(MlirOperation module, struct tg_arena *arena,
                     struct op_list *list) {
  *list = (struct op_list){.arena = arena};
  mlirOperationWalk(module, list_op, list, MlirWalkPreOrder);
  return !list->failed;
}

static size_t find_op(const struct op_list *list, MlirOperation op) {
  size_t i = 0;
  while (i < list->count && !mlirOperationEqual(list->ops[i], op))
    i++;
  return i;
}

/*===-- Which nodes -------------------------------------------------------===*/

static bool mark_configurable(struct store *s) {
  struct tg_site *sites;
  size_t count;
  if (!tg_collect_sites(s->job->program.module, s->arena, &sites, &count))
    return false;
  for (size_t o = 0; o < s->ops.count; o++)
    s->node_of_op[o] = -1;
  for (size_t i = 0; i < count; i++)
    s->node_of_op[find_op(&s->ops, sites[i].op)] = 0;
  for (int c = 0; c < s->job->count; c++) {
    const struct tg_assignment *a = &s->job->candidates[c].assignment;
    for (int i = 0; i < a->count; i++)
      if (!mlirAttributeIsNull(a->items[i].attribute[TG_ASSIGNED_LAYOUTS]))
        s->node_of_op[a->items[i].op] = 0;
  }
  return true;
}

/* Numbers them, and finds their nodes in the graph. */
static bool number_nodes(struct store *s) {
  struct tg_import import;
  if (!tg_import(s->job->program.module, s->arena, &import))
    return false;
  s->data.graph = import.graph;
  s->data.node_config_ids =
      tg_arena_alloc(s->arena, s->ops.count + 1, sizeof(int32_t));
  if (!s->data.node_config_ids)
    return false;
  for (size_t o = 0; o < s->ops.count; o++) {
    if (s->node_of_op[o] < 0)
      continue;
    int64_t node = tg_import_find(&import, s->ops.ops[o]);
    s->node_of_op[o] = node < 0 ? -1 : (int)s->data.configurable_count;
    if (node >= 0)
      s->data.node_config_ids[s->data.configurable_count++] = (int32_t)node;
  }
  return true;
}

/*===-- Columns of a node -------------------------------------------------===*/

/* layout: dimensions of the tensor as it is stored, from the most minor. */
static void put_layout(const struct tg_stored *stored,
                       const struct tg_layout *layout, int8_t *row) {
  memset(row, -1, LAYOUT_COLUMNS);
  for (int i = 0; i < layout->count && i < LAYOUT_COLUMNS; i++) {
    int d = layout->dimension[i];
    row[i] = (int8_t)(stored->rank ? stored->dimension[d] : d);
  }
}

/* Output, first and second input, each in six columns. */
static void put_nest(MlirOperation op, int8_t *row) {
  intptr_t last = mlirOperationGetNumOperands(op) - 1;
  intptr_t operand[] = {last, 0, 1};
  memset(row, -1, TG_LAYOUT_FEATURE_COUNT);
  for (int i = 0; i < 3; i++) {
    if (operand[i] > last || (i > 0 && operand[i] == last))
      continue;
    MlirType type = mlirValueGetType(mlirOperationGetOperand(op, operand[i]));
    struct tg_layout layout = {0};
    struct tg_stored stored;
    if (!mlirTypeIsAShaped(type))
      continue;
    layout.count = (int)mlirShapedTypeGetRank(type);
    if (layout.count > TG_MAX_RANK)
      continue;
    for (int d = 0; d < layout.count; d++)
      layout.dimension[d] = layout.count - 1 - d;
    tg_layouts_get(op, (int)operand[i], &stored);
    put_layout(&stored, &layout, row + i * LAYOUT_COLUMNS);
  }
}

static bool put_kernel(struct store *s, const struct tg_site *site,
                       int64_t row) {
  static const int operands[] = {TG_RESULT, TG_LHS, TG_RHS};
  struct tg_config config = {0};
  struct tg_error error;
  MlirAttribute attribute = mlirOperationGetDiscardableAttributeByName(
      site->op, tg_ref(TG_CONFIG_ATTRIBUTE));
  if (!mlirAttributeIsNull(attribute) &&
      tg_config_from_attribute(attribute, &site->kernel, &config, &error))
    return false;
  int8_t *layouts = s->data.node_config_feat + row * TG_LAYOUT_FEATURE_COUNT;
  intptr_t last = mlirOperationGetNumOperands(site->op) - 1;
  for (int i = 0; i < 3; i++) {
    struct tg_layout layout;
    struct tg_stored stored;
    int operand = operands[i] == TG_RESULT ? (int)last : operands[i];
    tg_config_layout(&site->kernel, &config, operands[i], &layout);
    tg_layouts_get(site->op, operand, &stored);
    put_layout(&stored, &layout, layouts + i * LAYOUT_COLUMNS);
  }
  tg_config_features(&site->kernel, &config, &s->job->settings->target,
                     s->data.node_features + row * TG_FEATURE_COUNT);
  for (int k = 0; k < TG_KNOB_COUNT; k++)
    s->data.node_knobs[row * TG_KNOB_COUNT + k] = config.knob[k];
  return true;
}

/* The rows (K) of one candidate. */
static bool put_candidate(struct store *s, const struct tg_candidate *candidate,
                          int64_t c) {
  MlirOperation copy = mlirOperationClone(s->job->program.module);
  struct op_list ops;
  struct tg_site *sites;
  size_t count;
  tg_set_target(copy, &s->job->settings->target);
  tg_assignment_write(copy, &candidate->assignment);
  bool good = list_ops(copy, s->arena, &ops) &&
              tg_collect_sites(copy, s->arena, &sites, &count);
  int64_t first = c * s->data.configurable_count;
  for (size_t o = 0; good && o < ops.count; o++)
    if (s->node_of_op[o] >= 0)
      put_nest(ops.ops[o],
               s->data.node_config_feat +
                   (first + s->node_of_op[o]) * TG_LAYOUT_FEATURE_COUNT);
  for (size_t i = 0; good && i < count; i++) {
    int node = s->node_of_op[find_op(&ops, sites[i].op)];
    if (node >= 0)
      good = put_kernel(s, &sites[i], first + node);
  }
  mlirOperationDestroy(copy);
  return good;
}

/*===-- The file ----------------------------------------------------------===*/

static bool allocate(struct store *s) {
  struct tg_layout_data *d = &s->data;
  size_t rows = (size_t)s->job->count + 1;
  size_t cells = rows * ((size_t)d->configurable_count + 1);
  d->runtime_ns = tg_arena_alloc(s->arena, rows, sizeof(double));
  d->normalizer_ns = tg_arena_alloc(s->arena, rows, sizeof(double));
  d->ratio_ci = tg_arena_alloc(s->arena, rows, sizeof(float));
  d->node_config_feat =
      tg_arena_alloc(s->arena, cells, TG_LAYOUT_FEATURE_COUNT);
  d->node_features = tg_arena_alloc(s->arena, cells, 4 * TG_FEATURE_COUNT);
  d->node_knobs = tg_arena_alloc(s->arena, cells, 8 * TG_KNOB_COUNT);
  if (!d->runtime_ns || !d->normalizer_ns || !d->ratio_ci ||
      !d->node_config_feat || !d->node_features || !d->node_knobs)
    return false;
  memset(d->node_features, 0, cells * 4 * TG_FEATURE_COUNT);
  memset(d->node_knobs, 0, cells * 8 * TG_KNOB_COUNT);
  return true;
}

static bool name_columns(struct store *s) {
  struct tg_layout_data *d = &s->data;
  struct tg_column_names names;
  if (!tg_columns_name(s->arena, &names))
    return false;
  d->feature_count = TG_FEATURE_COUNT;
  d->feature_names = names.features;
  d->feature_versions = names.feature_versions;
  d->knob_count = TG_KNOB_COUNT;
  d->knob_names = names.knobs;
  return true;
}

static bool fill(struct store *s) {
  struct tg_layout_data *d = &s->data;
  const struct tg_measure_job *job = s->job;
  if (!list_ops(job->program.module, s->arena, &s->ops))
    return false;
  s->node_of_op = tg_arena_alloc(s->arena, s->ops.count + 1, sizeof(int));
  if (!s->node_of_op || !mark_configurable(s) || !number_nodes(s) ||
      !allocate(s) || !name_columns(s))
    return false;
  d->analytic_config = d->chosen_config = -1;
  for (int i = 0; i < job->count; i++) {
    const struct tg_candidate *c = &job->candidates[i];
    if (!tg_candidate_is_good(c))
      continue;
    int64_t at = d->config_count++;
    d->runtime_ns[at] = job->default_ns * exp(c->ratio);
    d->normalizer_ns[at] = job->default_ns;
    d->ratio_ci[at] = (float)c->ci;
    if (!strcmp(c->name, "analytic"))
      d->analytic_config = at;
    if (i == job->chosen_config)
      d->chosen_config = at;
    if (!put_candidate(s, c, at))
      return false;
  }
  d->has_target = true;
  d->target = job->settings->target;
  d->name = job->entry->name;
  d->family = job->entry->family;
  return true;
}

/* The hash of each configurable node's kernel, as in the tile files; 0 where it
 * is none. */
static void add_hashes(const struct store *s, struct tg_npz_writer *writer) {
  int64_t count = s->data.configurable_count;
  uint64_t *hash = tg_arena_alloc(s->arena, (size_t)count + 1, 8);
  struct tg_site *sites;
  size_t site_count;
  if (!hash ||
      !tg_collect_sites(s->job->program.module, s->arena, &sites, &site_count))
    return;
  memset(hash, 0, 8 * (size_t)count);
  for (size_t i = 0; i < site_count; i++) {
    int node = s->node_of_op[find_op(&s->ops, sites[i].op)];
    if (node >= 0)
      hash[node] = tg_kernel_hash(&sites[i].kernel);
  }
  tg_npz_writer_add(writer, "node_kernel_hash", TG_NPZ_UINT, 8, 1, &count,
                    hash);
}

enum tg_status tg_store_graph(const struct tg_measure_job *job,
                              struct tg_error *error) {
  char path[4096];
  struct store store = {.job = job, .arena = tg_arena_create()};
  struct tg_npz_writer *writer = tg_npz_writer_create();
  tg_store_path(job->settings, job->entry, path, sizeof path);
  enum tg_status status = TG_OK;
  if (!store.arena || !writer)
    status = tg_fail_memory(error, path);
  else if (!fill(&store))
    status = tg_fail(error, "%s: its columns cannot be computed", path);
  if (status == TG_OK) {
    tg_layout_data_write(writer, &store.data);
    add_hashes(&store, writer);
    tg_store_measuring(writer, job, store.arena);
    status = tg_npz_writer_finish(writer, path, error);
  }
  tg_npz_writer_destroy(writer);
  tg_arena_destroy(store.arena);
  return status;
}
