/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The report, written with one growing buffer and one rename.
 */
#include "passes/report.h"

#include <string.h>

#include "model/cost.h"
#include "model/file.h"
#include "model/text.h"
#include "passes/inspect.h"

static void put_location(struct tg_text *text, MlirLocation location) {
  struct tg_text printed = {0};
  mlirLocationPrint(location, tg_append_ref, &printed);
  tg_text_append_json(text, printed.data, printed.length);
  text->failed |= printed.failed;
  tg_text_destroy(&printed);
}

static void put_config(struct tg_text *text, const struct tg_config *config) {
  tg_text_print(text, "{");
  for (int k = 0; k < TG_KNOB_COUNT; ++k)
    tg_text_print(text, "%s\"%s\": %d", k ? ", " : "", tg_knob_names[k],
                  config->knob[k]);
  tg_text_print(text, "}");
}

/* Ends a list, and begins one of the loops of the kind if there are any. */
static void put_loops(struct tg_text *text, const char *name,
                      const struct tg_kernel *kernel, enum tg_dynamic kind) {
  int count = 0;
  for (int l = 0; l < kernel->loop_count; ++l)
    if (kernel->dynamic[l] == kind) {
      if (count++)
        tg_text_print(text, ", %d", l);
      else
        tg_text_print(text, "], \"%s\": [%d", name, l);
    }
}

static void put_site(struct tg_text *text, const struct tg_decider *decider,
                     const struct tg_site *site,
                     const struct tg_decision *decision) {
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(site->op));
  tg_text_print(text, "    {\"op\": ");
  tg_text_append_json(text, name.data, name.length);
  tg_text_print(text, ", \"location\": ");
  put_location(text, mlirOperationGetLocation(site->op));
  tg_text_print(text, ",\n     \"extents\": [");
  for (int l = 0; l < site->kernel.loop_count; ++l)
    tg_text_print(text, "%s%lld", l ? ", " : "",
                  (long long)site->kernel.extent[l]);
  put_loops(text, "bounded", &site->kernel, TG_BOUNDED);
  put_loops(text, "sliced", &site->kernel, TG_SLICED);
  tg_text_print(
      text,
      "], \"flops\": %.0f, \"reason\": \"%s\",\n     \"configs\": %zu, "
      "\"scored\": %zu",
      tg_kernel_flops(&site->kernel), tg_reason_names[decision->reason],
      decision->space_count, decision->scored);
  if (decider->kind == TG_MODEL_NETWORK)
    tg_text_print(
        text, ", \"score\": %.6g, \"analytic_score\": %.6g, \"spread\": %.6g",
        decision->score, decision->analytic_score, decision->spread);
  tg_text_print(text, ",\n     \"config\": ");
  put_config(text, &decision->config);
  struct tg_plan plan;
  if (!tg_plan_make(&site->kernel, &decision->config, decider->target, &plan)) {
    float features[TG_FEATURE_COUNT];
    tg_config_features(&site->kernel, &decision->config, decider->target,
                       features);
    struct tg_cost cost;
    tg_plan_cost(&plan, decider->target, &cost);
    tg_text_print(text, ",\n     \"scratch_nbytes\": %.0f",
                  cost.scratch_nbytes);
    tg_text_print(text, ",\n     \"features\": {");
    for (int f = 0; f < TG_FEATURE_COUNT; ++f)
      tg_text_print(text, "%s\"%s\": %.6g", f ? ", " : "", tg_feature_names[f],
                    (double)features[f]);
    tg_text_print(text, "}");
  }
  tg_text_print(text, "}");
}

static void put_nest(struct tg_text *text, const struct tg_target *target,
                     const struct tg_nest_site *site) {
  MlirStringRef name = tg_op_name(site->op);
  tg_text_print(text, "    {\"op\": ");
  tg_text_append_json(text, name.data, name.length);
  tg_text_print(text, ", \"location\": ");
  put_location(text, mlirOperationGetLocation(site->op));
  tg_text_print(text, ",\n     \"extents\": [");
  for (int l = 0; l < site->nest.loop_count; ++l)
    tg_text_print(text, "%s%lld", l ? ", " : "",
                  (long long)site->nest.extent[l]);
  tg_text_print(text, "], \"reason\": \"%s\", \"configs\": %d",
                tg_reason_names[site->reason], site->space_count);
  if (site->config.knob[TG_KNOB_tiled])
    tg_text_print(text, ", \"cycles\": %.0f",
                  tg_nest_cycles(&site->nest, &site->config, target));
  tg_text_print(text, ",\n     \"config\": ");
  put_config(text, &site->config);
  tg_text_print(text, "}");
}

struct left_list {
  struct tg_text *text;
  MlirOperation module;
  size_t count;
};

/* An operation that has no configurations, and why. */
static MlirWalkResult put_left(MlirOperation op, void *data) {
  struct left_list *list = data;
  if ((tg_op_is(op, "builtin.module") &&
       !mlirOperationEqual(op, list->module)) ||
      tg_op_name_starts_with(op, "transform."))
    return MlirWalkResultSkip;
  const char *reason = tg_left_reason(op);
  if (!reason)
    return MlirWalkResultAdvance;
  MlirStringRef name = tg_op_name(op);
  tg_text_print(list->text,
                list->count++ ? ",\n    {\"op\": " : "\n    {\"op\": ");
  tg_text_append_json(list->text, name.data, name.length);
  tg_text_print(list->text, ", \"location\": ");
  put_location(list->text, mlirOperationGetLocation(op));
  tg_text_print(list->text, ", \"reason\": ");
  tg_text_append_json(list->text, reason, strlen(reason));
  tg_text_print(list->text, "}");
  return MlirWalkResultSkip;
}

enum tg_status tg_report_write(const char *path, MlirOperation module,
                               const struct tg_decider *decider,
                               const struct tg_site *sites,
                               const struct tg_decision *decisions,
                               size_t count, const struct tg_nest_sites *nests,
                               struct tg_error *error) {
  struct tg_text text = {0};
  char line[TG_TARGET_TEXT_NBYTES];
  tg_decider_describe(decider, line, sizeof(line));
  tg_text_print(&text, "{\n  \"model\": ");
  tg_text_append_json(&text, line, strlen(line));
  tg_target_print(decider->target, line, sizeof(line));
  tg_text_print(&text, ",\n  \"target\": ");
  tg_text_append_json(&text, line, strlen(line));
  tg_text_print(&text, ",\n  \"sites\": [");
  for (size_t i = 0; i < count; ++i) {
    tg_text_print(&text, i ? ",\n" : "\n");
    put_site(&text, decider, &sites[i], &decisions[i]);
  }
  tg_text_print(&text, "\n  ],\n  \"nests\": [");
  for (size_t i = 0; i < nests->count; ++i) {
    tg_text_print(&text, i ? ",\n" : "\n");
    put_nest(&text, decider->target, &nests->sites[i]);
  }
  tg_text_print(&text, "\n  ],\n  \"left_alone\": [");
  struct left_list left = {&text, module, 0};
  mlirOperationWalk(module, put_left, &left, MlirWalkPreOrder);
  tg_text_print(&text, "\n  ]\n}\n");
  enum tg_status status =
      text.failed ? tg_fail_memory(error, path)
                  : tg_file_write(path, text.data, text.length, error);
  tg_text_destroy(&text);
  return status;
}
