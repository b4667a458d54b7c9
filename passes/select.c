/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * tgraph-select-layouts: options and target, sites, a choice for every kernel,
 * attributes, report. Equal kernels are decided once.
 */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdio.h>
#include <string.h>

#include "model/decide.h"
#include "model/text.h"
#include "passes/attention.h"
#include "passes/attribute.h"
#include "passes/decompose.h"
#include "passes/fold_batchnorm.h"
#include "passes/from_weights.h"
#include "passes/import.h"
#include "passes/inspect.h"
#include "passes/passes.h"
#include "passes/prepack.h"
#include "passes/report.h"
#include "passes/select_nests.h"
#include "passes/select_relayout.h"
#include "passes/stored.h"
#include "passes/widen.h"
#include "passes/zero_points.h"

struct select {
  MlirOperation module;
  const struct tg_select_options *options;
  const struct tg_remark_sink *remarks;
  struct tg_arena *arena;
  struct tg_target target;
  struct tg_decider decider;
  struct tg_site *sites;
  size_t count;
  struct tg_decision *decisions; /* one a site */
  struct tg_nest_sites nests;
  enum tg_relayout_mode relayout_mode;
  struct tg_relayout_choice relayout;
};

static MlirLogicalResult fail_at(MlirOperation op, const char *reason) {
  return tg_fail_at(op, "tgraph-select-layouts", reason);
}

/*===-- Options -----------------------------------------------------------===*/

static bool ends_with(const char *text, const char *end) {
  size_t length = strlen(text), end_length = strlen(end);
  return length > end_length && !strcmp(text + length - end_length, end);
}

static enum tg_status check_options(const struct tg_select_options *options,
                                    enum tg_search *search,
                                    enum tg_relayout_mode *mode,
                                    struct tg_error *error) {
  if (!tg_search_parse(options->search, search))
    return tg_fail(error,
                   "option 'search': unknown value '%s' (auto, exhaustive, "
                   "random)",
                   options->search);
  if (options->budget < TG_CONFIG_NAMED_COUNT || options->budget > 1000000)
    return tg_fail(error, "option 'budget': %lld is not between %d and 1000000",
                   (long long)options->budget, TG_CONFIG_NAMED_COUNT);
  if (!tg_relayout_mode_parse(options->layouts, mode))
    return tg_fail(error,
                   "option 'layouts': unknown value '%s' (graph, given, other, "
                   "own)",
                   options->layouts);
  int64_t parts;
  if (!tg_attention_parse(options->attention, &parts))
    return tg_fail(error,
                   "option 'attention': '%s' is neither auto, whole, nor a "
                   "number of heads",
                   options->attention);
  const char *graph = options->dump_graph;
  if (graph[0] && !ends_with(graph, ".npz") && !ends_with(graph, ".dot"))
    return tg_fail(error,
                   "option 'dump-graph': '%s' ends neither in .npz nor in .dot",
                   graph);
  return TG_OK;
}

/* dlti: the module's target_system_spec, printed; mlir-c can't look inside. */
static enum tg_status target_from_dlti(MlirOperation module,
                                       struct tg_target *target,
                                       struct tg_error *error) {
  MlirAttribute spec = mlirOperationGetAttributeByName(
      module, tg_ref("dlti.target_system_spec"));
  if (mlirAttributeIsNull(spec))
    return tg_fail(error, "option 'target': the module has no "
                          "dlti.target_system_spec");
  struct tg_target host;
  enum tg_status status = tg_target_parse("host", &host, error);
  if (status)
    return status;
  struct tg_text text = {0};
  mlirAttributePrint(spec, tg_append_ref, &text);
  status = text.failed ? tg_fail_memory(error, "dlti.target_system_spec")
                       : tg_target_parse_dlti(text.data, &host, target, error);
  tg_text_destroy(&text);
  return status;
}

static enum tg_status read_target(struct select *select,
                                  struct tg_error *error) {
  const char *option = select->options->target;
  if (!strcmp(option, "dlti"))
    return target_from_dlti(select->module, &select->target, error);
  struct tg_error inner;
  enum tg_status status = tg_target_parse(option, &select->target, &inner);
  if (status)
    tg_fail(error, "option 'target': %s", inner.message);
  return status;
}

static MlirLogicalResult set_up(struct select *select) {
  struct tg_error error;
  enum tg_search search;
  if (check_options(select->options, &search, &select->relayout_mode, &error) ||
      read_target(select, &error) ||
      tg_decider_init(&select->decider, select->options->model, &select->target,
                      search, (size_t)select->options->budget,
                      (uint64_t)select->options->seed, select->arena, &error))
    return fail_at(select->module, error.message);
  select->decider.reassociate = select->options->reassociate;
  return mlirLogicalResultSuccess();
}

/*===-- Choices -----------------------------------------------------------===*/

/* A choice that stands already: the user's, or ours from an earlier run. */
static MlirLogicalResult keep_choice(struct select *select, size_t i,
                                     bool *kept) {
  MlirOperation op = select->sites[i].op;
  MlirAttribute attribute =
      mlirOperationGetAttributeByName(op, tg_ref(TG_CONFIG_ATTRIBUTE));
  *kept = !mlirAttributeIsNull(attribute) && !select->options->overwrite;
  if (!*kept)
    return mlirLogicalResultSuccess();
  struct tg_decision *decision = &select->decisions[i];
  struct tg_error error;
  if (tg_prepack_from_attribute(attribute, op, &select->sites[i].kernel,
                                &error) ||
      tg_config_from_attribute(attribute, &select->sites[i].kernel,
                               &decision->config, &error))
    return fail_at(op, error.message);
  struct tg_plan plan;
  const char *fault =
      decision->config.knob[TG_KNOB_tiled]
          ? tg_plan_make(&select->sites[i].kernel, &decision->config,
                         &select->target, &plan)
          : NULL;
  if (fault) {
    tg_fail(&error,
            TG_CONFIG_ATTRIBUTE ": %s (option 'overwrite' chooses anew)",
            fault);
    return fail_at(op, error.message);
  }
  decision->reason = TG_REASON_KEPT;
  return mlirLogicalResultSuccess();
}

/* The same kernel was decided before: the same choice. */
static bool reuse_choice(struct select *select, size_t i) {
  for (size_t j = 0; j < i; ++j)
    if (select->decisions[j].reason != TG_REASON_KEPT &&
        select->decisions[j].kernel_hash == select->decisions[i].kernel_hash) {
      select->decisions[i] = select->decisions[j];
      return true;
    }
  return false;
}

/* Packing a constant and, with `prepack`, a weight costs nothing while the
 * program runs. */
static void find_prepacked(const struct select *select, struct tg_site *site) {
  for (int o = 0; o < TG_RESULT; ++o)
    site->kernel.prepacked[o] =
        tg_operand_comes_packed(site->op, o, select->options->prepack);
}

static MlirLogicalResult choose(struct select *select) {
  struct tg_error error;
  select->decisions = tg_arena_alloc(select->arena, select->count + 1,
                                     sizeof(*select->decisions));
  if (!select->decisions)
    return fail_at(select->module, "out of memory");
  for (size_t i = 0; i < select->count; ++i) {
    const struct tg_kernel *kernel = &select->sites[i].kernel;
    bool kept;
    find_prepacked(select, &select->sites[i]);
    select->decisions[i].kernel_hash = tg_kernel_hash(kernel);
    if (mlirLogicalResultIsFailure(keep_choice(select, i, &kept)))
      return mlirLogicalResultFailure();
    if (kept || reuse_choice(select, i))
      continue;
    if (tg_decide(&select->decider, kernel, &select->decisions[i], &error))
      return fail_at(select->sites[i].op, error.message);
  }
  return mlirLogicalResultSuccess();
}

/* A configuration on an operation that has none to choose from. */
static MlirWalkResult find_stray(MlirOperation op, void *data) {
  struct select *select = data;
  if ((tg_op_is(op, "builtin.module") &&
       !mlirOperationEqual(op, select->module)) ||
      tg_op_is(op, "transform.named_sequence") ||
      tg_op_has_attribute(op, TG_SKIP_ATTRIBUTE))
    return MlirWalkResultSkip;
  struct tg_kernel kernel;
  struct tg_nest nest;
  char message[TG_ERROR_NBYTES] =
      TG_CONFIG_ATTRIBUTE " on an operation that has no configurations";
  const char *fault = tg_layouts_check(op);
  if (fault)
    snprintf(message, sizeof(message), TG_LAYOUTS_ATTRIBUTE ": %s", fault);
  else if (!tg_op_has_attribute(op, TG_CONFIG_ATTRIBUTE) ||
           tg_kernel_from_op(op, &kernel) || tg_nest_from_op(op, &nest))
    return MlirWalkResultAdvance;
  fail_at(op, message);
  select->count = SIZE_MAX;
  return MlirWalkResultInterrupt;
}

/* With `overwrite`, orders of tensors are chosen anew as well. */
static MlirWalkResult forget_layouts(MlirOperation op, void *data) {
  (void)data;
  if (tg_op_has_attribute(op, TG_SKIP_ATTRIBUTE))
    return MlirWalkResultSkip;
  mlirOperationRemoveDiscardableAttributeByName(op,
                                                tg_ref(TG_LAYOUTS_ATTRIBUTE));
  return MlirWalkResultAdvance;
}

/*===-- Results -----------------------------------------------------------===*/

static MlirLogicalResult dump_graph(struct select *select) {
  const char *path = select->options->dump_graph;
  if (!path[0])
    return mlirLogicalResultSuccess();
  struct tg_import import;
  int32_t *ids = tg_arena_alloc(select->arena, select->count + 1, sizeof(*ids));
  if (!ids || !tg_import(select->module, select->arena, &import))
    return fail_at(select->module, "out of memory");
  int64_t known = 0;
  for (size_t i = 0; i < select->count; ++i) {
    int64_t id = tg_import_find(&import, select->sites[i].op);
    if (id >= 0)
      ids[known++] = (int32_t)id;
  }
  struct tg_graph_extra extra = {.target = &select->target,
                                 .configurable_count = known,
                                 .node_config_ids = ids};
  struct tg_error error;
  enum tg_status status =
      ends_with(path, ".npz")
          ? tg_graph_write_npz(&import.graph, &extra, path, &error)
          : tg_graph_write_dot(&import.graph, &extra, path, &error);
  return status ? fail_at(select->module, error.message)
                : mlirLogicalResultSuccess();
}

/* Which extents were assumed. */
static void explain_dynamic(const struct tg_kernel *kernel, char *message,
                            size_t room) {
  for (int l = 0; l < kernel->loop_count; ++l) {
    size_t used = strlen(message);
    if (kernel->dynamic[l] == TG_BOUNDED)
      snprintf(message + used, room - used,
               "; loop %d has an unknown extent, planned as if it were %lld", l,
               (long long)kernel->extent[l]);
    if (kernel->dynamic[l] == TG_SLICED)
      snprintf(message + used, room - used,
               "; loop %d has an unknown extent and is taken one by one", l);
  }
}

/* What was decided of the tensors between operations. */
static void explain_relayout(const struct select *select) {
  char message[160];
  const struct tg_relayout_choice *choice = &select->relayout;
  if (choice->tensors == 0)
    return;
  snprintf(message, sizeof(message),
           "%d of %d tensors are stored in another order: about %.4g cycles%s, "
           "%.4g in the given order",
           (int)choice->stored, (int)choice->tensors, choice->cycles,
           choice->stored ? "" : " would not be worth it",
           choice->cycles_before);
  tg_remark(select->remarks, mlirOperationGetLocation(select->module),
            TG_REMARK_ANALYSIS, message);
}

static void explain(const struct select *select) {
  explain_relayout(select);
  for (size_t i = 0; i < select->count; ++i) {
    char message[512];
    tg_decision_explain(&select->decisions[i], &select->sites[i].kernel,
                        &select->target, message, sizeof(message));
    explain_dynamic(&select->sites[i].kernel, message, sizeof(message));
    tg_remark(select->remarks, mlirOperationGetLocation(select->sites[i].op),
              TG_REMARK_ANALYSIS, message);
  }
  tg_explain_nests(&select->nests, &select->target, select->remarks);
}

static void write_attributes(struct select *select) {
  MlirContext context = mlirOperationGetContext(select->module);
  size_t chosen = tg_write_nests(&select->nests);
  for (size_t i = 0; i < select->count; ++i)
    if (select->decisions[i].reason != TG_REASON_KEPT) {
      tg_set_config(select->sites[i].op, &select->sites[i].kernel,
                    &select->decisions[i].config);
      chosen++;
    }
  tg_set_target(select->module, &select->target);
  char model[128];
  tg_decider_describe(&select->decider, model, sizeof(model));
  /* Where every choice stood already, it is the earlier model's. */
  if (chosen || !tg_op_has_attribute(select->module, TG_MODEL_ATTRIBUTE))
    mlirOperationSetDiscardableAttributeByName(
        select->module, tg_ref(TG_MODEL_ATTRIBUTE),
        mlirStringAttrGet(context, tg_ref(model)));
  if (select->options->prepack)
    mlirOperationSetDiscardableAttributeByName(
        select->module, tg_ref(TG_PREPACK_ATTRIBUTE), mlirUnitAttrGet(context));
  mlirOperationSetDiscardableAttributeByName(
      select->module, tg_ref(TG_CHOSEN_ATTRIBUTE),
      mlirIntegerAttrGet(mlirIntegerTypeGet(context, 64),
                         (int64_t)(select->count + select->nests.count)));
}

static MlirLogicalResult write_report(const struct select *select) {
  if (!select->options->report[0])
    return mlirLogicalResultSuccess();
  struct tg_error error;
  if (tg_report_write(select->options->report, select->module, &select->decider,
                      select->sites, select->decisions, select->count,
                      &select->nests, &error))
    return fail_at(select->module, error.message);
  return mlirLogicalResultSuccess();
}

static bool split_attention(struct select *select) {
  int64_t parts;
  tg_attention_parse(select->options->attention, &parts);
  return tg_split_attention(select->module, &select->target, parts,
                            select->arena);
}

/* Files are written before the first attribute: a failure leaves the program
 * as it was. */
static MlirLogicalResult run(struct select *select) {
  if (mlirLogicalResultIsFailure(set_up(select)))
    return mlirLogicalResultFailure();
  mlirOperationWalk(select->module, find_stray, select, MlirWalkPreOrder);
  if (select->count == SIZE_MAX)
    return mlirLogicalResultFailure();
  if (select->options->overwrite) {
    mlirOperationWalk(select->module, forget_layouts, NULL, MlirWalkPreOrder);
    mlirOperationRemoveDiscardableAttributeByName(select->module,
                                                  tg_ref(TG_PREPACK_ATTRIBUTE));
  }
  struct tg_error error;
  if (select->options->weights[0] &&
      tg_mark_weights(select->module, select->options->weights, &error))
    return fail_at(select->module, error.message);
  bool may_choose = strcmp(select->options->model, "none") != 0;
  if (may_choose && mlirLogicalResultIsFailure(
                        tg_decompose(select->module, TG_DECOMPOSE_FOR_CHOICE)))
    return mlirLogicalResultFailure();
  if (may_choose)
    tg_expand_zero_points(select->module);
  if (may_choose && select->options->fold_batchnorm &&
      !tg_fold_batchnorm(select->module, select->options->overwrite,
                         select->arena, select->remarks))
    return fail_at(select->module, "out of memory");
  tg_widen_sums(select->module, may_choose);
  if (may_choose && !split_attention(select))
    return fail_at(select->module, "out of memory");
  bool relayout = may_choose && select->relayout_mode != TG_RELAYOUT_GIVEN;
  if ((relayout && !tg_choose_relayout(
                       select->module, &select->decider, select->relayout_mode,
                       select->options->prepack, select->options->overwrite,
                       select->arena, &select->relayout)) ||
      !tg_collect_sites(select->module, select->arena, &select->sites,
                        &select->count))
    return fail_at(select->module, "out of memory");
  if (mlirLogicalResultIsFailure(choose(select)) ||
      mlirLogicalResultIsFailure(tg_choose_nests(
          select->module, &select->target,
          select->decider.kind == TG_MODEL_NONE, select->options->overwrite,
          select->arena, &select->nests)) ||
      mlirLogicalResultIsFailure(dump_graph(select)) ||
      mlirLogicalResultIsFailure(write_report(select)))
    return mlirLogicalResultFailure();
  if (select->options->explain)
    explain(select);
  write_attributes(select);
  return mlirLogicalResultSuccess();
}

MlirLogicalResult tg_select_layouts(MlirOperation module,
                                    const struct tg_select_options *options,
                                    const struct tg_remark_sink *remarks) {
  struct select select = {.module = module,
                          .options = options,
                          .remarks = remarks,
                          .arena = tg_arena_create()};
  if (!select.arena)
    return fail_at(module, "out of memory");
  MlirLogicalResult result = run(&select);
  tg_decider_release(&select.decider);
  tg_arena_destroy(select.arena);
  return result;
}
