/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Choices for nests.
 */
#include "passes/select_nests.h"

#include <mlir-c/BuiltinAttributes.h>
#include <stdio.h>

#include "passes/attribute.h"
#include "passes/inspect.h"

struct choose {
  MlirOperation module;
  const struct tg_target *target;
  bool stock, overwrite;
  struct tg_arena *arena;
  struct tg_nest_sites *nests;
  bool failed;
};

static MlirWalkResult fail(struct choose *choose, MlirOperation op,
                           const char *reason) {
  tg_fail_at(op, "tgraph-select-layouts", reason);
  choose->failed = true;
  return MlirWalkResultInterrupt;
}

/* False: the attribute is refused, with the error reported. */
static bool keep_choice(struct choose *choose, struct tg_nest_site *site) {
  MlirAttribute attribute =
      mlirOperationGetAttributeByName(site->op, tg_ref(TG_CONFIG_ATTRIBUTE));
  if (mlirAttributeIsNull(attribute) || choose->overwrite)
    return true;
  site->reason = TG_REASON_KEPT;
  struct tg_error error;
  if (!tg_nest_config_from_attribute(attribute, &site->nest, &site->config,
                                     &error))
    return true;
  fail(choose, site->op, error.message);
  return false;
}

static MlirWalkResult add_nest(struct choose *choose,
                               struct tg_nest_site *site) {
  struct tg_nest_sites *nests = choose->nests;
  struct tg_nest_site *grown =
      tg_arena_grow(choose->arena, nests->sites, nests->count, &nests->capacity,
                    sizeof(*grown));
  if (!grown)
    return fail(choose, site->op, "out of memory");
  nests->sites = grown;
  if (!keep_choice(choose, site))
    return MlirWalkResultInterrupt;
  struct tg_config configs[TG_NEST_MAX_CONFIGS];
  site->space_count = tg_nest_enumerate(&site->nest, configs);
  if (site->reason == TG_REASON_NO_MODEL)
    site->config = configs[0];
  else if (site->reason == TG_REASON_ANALYTIC &&
           !tg_nest_choose(&site->nest, choose->target, &site->config))
    site->reason = TG_REASON_STOCK_ONLY;
  nests->sites[nests->count++] = *site;
  return MlirWalkResultSkip;
}

/* What is inside of structured operations, nested modules and schedules is
 * none of ours; what is outside of functions isn't either. */
static MlirWalkResult visit(MlirOperation op, void *data) {
  struct choose *choose = data;
  bool module = mlirOperationEqual(op, choose->module);
  if (tg_op_has_attribute(op, TG_SKIP_ATTRIBUTE) ||
      (tg_op_is(op, "builtin.module") && !module) ||
      tg_op_name_starts_with(op, "transform.") ||
      tg_op_name_starts_with(op, "tensor."))
    return MlirWalkResultSkip;
  if (!tg_op_name_starts_with(op, "linalg."))
    return MlirWalkResultAdvance;
  struct tg_kernel kernel;
  struct tg_nest_site site = {.op = op,
                              .reason = choose->stock ? TG_REASON_NO_MODEL
                                                      : TG_REASON_ANALYTIC};
  if (tg_kernel_from_op(op, &kernel) || !tg_nest_from_op(op, &site.nest))
    return MlirWalkResultSkip;
  return add_nest(choose, &site);
}

MlirLogicalResult tg_choose_nests(MlirOperation module,
                                  const struct tg_target *target, bool stock,
                                  bool overwrite, struct tg_arena *arena,
                                  struct tg_nest_sites *nests) {
  struct choose choose = {.module = module,
                          .target = target,
                          .stock = stock,
                          .overwrite = overwrite,
                          .arena = arena,
                          .nests = nests};
  mlirOperationWalk(module, visit, &choose, MlirWalkPreOrder);
  return choose.failed ? mlirLogicalResultFailure()
                       : mlirLogicalResultSuccess();
}

void tg_explain_nests(const struct tg_nest_sites *nests,
                      const struct tg_target *target,
                      const struct tg_remark_sink *remarks) {
  for (size_t i = 0; i < nests->count; ++i) {
    const struct tg_nest_site *site = &nests->sites[i];
    char message[256];
    int used = 0;
    if (site->config.knob[TG_KNOB_tiled])
      used = snprintf(message, sizeof(message),
                      "vectors along loop %d, %d in a body, about %.0f cycles",
                      site->config.knob[TG_KNOB_vector_loop],
                      site->config.knob[TG_KNOB_vectors],
                      tg_nest_cycles(&site->nest, &site->config, target));
    else
      used = snprintf(message, sizeof(message), "stock lowering");
    snprintf(message + used, sizeof(message) - (size_t)used,
             " (%d configurations; %s)", site->space_count,
             tg_reason_text[site->reason]);
    tg_remark(remarks, mlirOperationGetLocation(site->op), TG_REMARK_ANALYSIS,
              message);
  }
}

size_t tg_write_nests(const struct tg_nest_sites *nests) {
  size_t chosen = 0;
  for (size_t i = 0; i < nests->count; ++i) {
    const struct tg_nest_site *site = &nests->sites[i];
    if (site->reason == TG_REASON_KEPT)
      continue;
    MlirContext context = mlirOperationGetContext(site->op);
    mlirOperationSetDiscardableAttributeByName(
        site->op, tg_ref(TG_CONFIG_ATTRIBUTE),
        tg_nest_config_to_attribute(context, &site->config));
    chosen++;
  }
  return chosen;
}
