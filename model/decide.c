/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The decision for one kernel.
 */
#include "model/decide.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/cost.h"
#include "model/weights.h"
#include "model/winograd.h"

const char *const tg_reason_text[TG_REASON_COUNT] = {
#define REASON(name, text) text,
#include "model/reason.def"
};

const char *const tg_reason_names[TG_REASON_COUNT] = {
#define REASON(name, text) #name,
#include "model/reason.def"
};

/* The network overrules the analytic rule when its margin exceeds this many
 * standard deviations of its heads, and only in favour of configurations that
 * the rule expects to be at most this much slower than its own choice. Both
 * were set on kernels of held-out families: without the second, 3.9 % behind
 * the best measured, like the rule alone; with it, 3.5 %. */
static const float sure_enough = 1.0f;
static const double trusted_excess = 1.10;

bool tg_search_parse(const char *text, enum tg_search *search) {
  static const char *const names[TG_SEARCH_COUNT] = {
#define SEARCH(identifier, name) name,
#include "model/search.def"
  };
  for (int i = 0; i < TG_SEARCH_COUNT; ++i)
    if (!strcmp(text, names[i])) {
      *search = (enum tg_search)i;
      return true;
    }
  return false;
}

enum tg_status tg_decider_init(struct tg_decider *decider, const char *model,
                               const struct tg_target *target,
                               enum tg_search search, size_t budget,
                               uint64_t seed, struct tg_arena *arena,
                               struct tg_error *error) {
  memset(decider, 0, sizeof(*decider));
  decider->name = tg_arena_strdup(arena, model);
  decider->target = target;
  decider->search = search;
  decider->budget = budget;
  decider->seed = seed;
  if (!decider->name)
    return tg_fail_memory(error, "the model's name");
  if (!strcmp(model, "analytic")) {
    decider->kind = TG_MODEL_ANALYTIC;
  } else if (!strcmp(model, "none")) {
    decider->kind = TG_MODEL_NONE;
  } else if (!strcmp(model, "embedded")) {
    decider->model = tg_model_get_embedded();
    if (!decider->model)
      return tg_fail(error, "option 'model': this build embeds no weights");
  } else {
    if (!model[0])
      return tg_fail(error, "option 'model': no name of a file");
    enum tg_status status =
        tg_model_create_from_file(model, &decider->owned, error);
    decider->model = decider->owned;
    return status;
  }
  return TG_OK;
}

void tg_decider_release(struct tg_decider *decider) {
  tg_model_destroy(decider->owned);
  decider->owned = NULL;
}

void tg_decider_describe(const struct tg_decider *decider, char *text,
                         size_t text_nbytes) {
  if (decider->kind != TG_MODEL_NETWORK) {
    snprintf(text, text_nbytes, "%s", decider->name);
    return;
  }
  /* A path is the user's business; what the choice hangs on is the schema. */
  snprintf(text, text_nbytes, "%s, schema %016" PRIx64,
           decider->owned ? "file" : "embedded",
           tg_model_schema_hash(decider->model));
}

static bool find_candidates(const struct tg_decider *decider,
                            const struct tg_kernel *kernel,
                            struct tg_arena *arena, struct tg_space *space,
                            size_t *total) {
  if (!tg_space_enumerate(kernel, decider->target, arena, space))
    return false;
  *total = space->count;
  if (decider->search == TG_SEARCH_EXHAUSTIVE ||
      space->count <= decider->budget)
    return true;
  if (decider->search == TG_SEARCH_RANDOM)
    return tg_space_sample(kernel, decider->target, decider->seed,
                           decider->budget, arena, space);
  return tg_space_cheapest(kernel, decider->target, decider->budget, arena,
                           space);
}

static enum tg_status score(const struct tg_decider *decider,
                            const struct tg_kernel *kernel,
                            const struct tg_space *space,
                            struct tg_arena *arena, float *scores,
                            float *spread, struct tg_error *error) {
  struct tg_graph graph;
  enum tg_status status = tg_graph_from_kernel(kernel, arena, &graph, error);
  if (status)
    return status;
  float *rows =
      tg_arena_alloc(arena, space->count, TG_FEATURE_COUNT * sizeof(float));
  if (!rows)
    return TG_OUT_OF_MEMORY;
  for (size_t i = 0; i < space->count; ++i)
    tg_config_features(kernel, &space->configs[i], decider->target,
                       rows + i * TG_FEATURE_COUNT);
  uint64_t versions[TG_FEATURE_COUNT];
  for (int f = 0; f < TG_FEATURE_COUNT; ++f)
    versions[f] = tg_hash_text(TG_HASH_START, tg_feature_formulas[f]);
  struct tg_tile_batch batch = {.graph = &graph,
                                .target = decider->target,
                                .config_count = (int64_t)space->count,
                                .feature_count = TG_FEATURE_COUNT,
                                .feature_names = tg_feature_names,
                                .feature_versions = versions,
                                .config_feat = rows};
  return tg_model_score_tiles(decider->model, &batch, arena, scores, spread,
                              error);
}

/* Marks the candidates that the rule's estimate doesn't speak against. */
static bool *find_trusted(const struct tg_decider *decider,
                          const struct tg_kernel *kernel,
                          const struct tg_space *space,
                          struct tg_arena *arena) {
  bool *trusted = tg_arena_alloc(arena, space->count, sizeof *trusted);
  struct tg_canonical canonical;
  tg_canonicalize(kernel, &canonical);
  double limit = 0;
  for (size_t i = TG_CONFIG_ANALYTIC; trusted && i < space->count; ++i) {
    struct tg_plan plan;
    if (tg_plan_make_canonical(&canonical, &space->configs[i], decider->target,
                               &plan))
      continue;
    double cycles = tg_plan_cycles(&plan, decider->target);
    if (i == TG_CONFIG_ANALYTIC)
      limit = cycles * trusted_excess;
    trusted[i] = cycles <= limit;
  }
  return trusted;
}

/* The best score among the trusted; of equals the first, which stands nearer
 * to the rule. */
static void pick(const struct tg_space *space, const bool *trusted,
                 const float *scores, const float *spread,
                 struct tg_decision *decision) {
  size_t best = TG_CONFIG_ANALYTIC;
  for (size_t i = TG_CONFIG_ANALYTIC; i < space->count; ++i)
    if (trusted[i] && scores[i] < scores[best])
      best = i;
  decision->analytic_score = scores[TG_CONFIG_ANALYTIC];
  float margin = scores[TG_CONFIG_ANALYTIC] - scores[best];
  decision->reason = TG_REASON_MODEL;
  if (best == TG_CONFIG_ANALYTIC) {
    decision->reason = TG_REASON_MODEL_AGREES;
  } else if (margin < sure_enough * spread[best]) {
    decision->reason = TG_REASON_MODEL_UNSURE;
    best = TG_CONFIG_ANALYTIC;
  }
  decision->config = space->configs[best];
  decision->score = scores[best];
  decision->spread = spread[best];
}

/*
 * Is the rule's choice taken as it is? Of single rows times a matrix, of which
 * each element is used once, the network has seen few: there it overruled the
 * rule by configurations that took up to 1.5 times as long.
 */
static bool asks_rule(const struct tg_decider *decider,
                      const struct tg_kernel *kernel,
                      const struct tg_config *analytic,
                      enum tg_reason *reason) {
  struct tg_plan plan;
  struct tg_cost cost;
  if (decider->kind == TG_MODEL_ANALYTIC) {
    *reason = TG_REASON_ANALYTIC;
    return true;
  }
  if (tg_kernel_comes_packed(kernel, TG_LHS) ||
      tg_kernel_comes_packed(kernel, TG_RHS)) {
    *reason = TG_REASON_PREPACKED;
    return true;
  }
  if (tg_plan_make(kernel, analytic, decider->target, &plan))
    return false;
  tg_plan_cost(&plan, decider->target, &cost);
  *reason = TG_REASON_MEMORY_BOUND;
  return cost.memory_cycles > cost.compute_cycles;
}

static enum tg_status decide(const struct tg_decider *decider,
                             const struct tg_kernel *kernel,
                             struct tg_arena *arena,
                             struct tg_decision *decision,
                             struct tg_error *error) {
  struct tg_space space;
  if (!find_candidates(decider, kernel, arena, &space, &decision->space_count))
    return TG_OUT_OF_MEMORY;
  decision->scored = space.count;
  decision->config = space.configs[TG_CONFIG_STOCK];
  if (space.count <= TG_CONFIG_ANALYTIC) {
    decision->reason = TG_REASON_STOCK_ONLY;
    return TG_OK;
  }
  if (decider->kind == TG_MODEL_NONE) {
    decision->reason = TG_REASON_NO_MODEL;
    return TG_OK;
  }
  enum tg_reason without_network;
  if (asks_rule(decider, kernel, &space.configs[TG_CONFIG_ANALYTIC],
                &without_network)) {
    decision->reason = without_network;
    decision->config = space.configs[TG_CONFIG_ANALYTIC];
    return TG_OK;
  }
  float *scores = tg_arena_alloc(arena, space.count, sizeof(float));
  float *spread = tg_arena_alloc(arena, space.count, sizeof(float));
  bool *trusted = find_trusted(decider, kernel, &space, arena);
  if (!scores || !spread || !trusted)
    return TG_OUT_OF_MEMORY;
  enum tg_status status =
      score(decider, kernel, &space, arena, scores, spread, error);
  if (status == TG_OK)
    pick(&space, trusted, scores, spread, decision);
  return status;
}

/* Another algorithm has to be expected to need at most this share of the time:
 * within a few percent the estimate can't tell, and the numbers are worse. */
static const double worth_its_rounding = 0.95;

/* Another algorithm instead, where the estimate expects it to be faster than
 * what was chosen. The network was never shown one: it is not asked. */
static void reassociate(const struct tg_decider *decider,
                        const struct tg_kernel *kernel, struct tg_arena *arena,
                        struct tg_decision *decision) {
  struct tg_config config;
  struct tg_plan plan;
  double cycles;
  size_t count;
  bool found = tg_winograd_choose(kernel, decider->target, arena, &config,
                                  &cycles, &count);
  decision->space_count += count;
  decision->scored += count;
  if (!found ||
      tg_plan_make(kernel, &decision->config, decider->target, &plan) ||
      cycles > worth_its_rounding * tg_plan_cycles(&plan, decider->target))
    return;
  decision->config = config;
  decision->reason = TG_REASON_WINOGRAD;
  decision->score = decision->analytic_score = decision->spread = 0;
}

enum tg_status tg_decide(const struct tg_decider *decider,
                         const struct tg_kernel *kernel,
                         struct tg_decision *decision, struct tg_error *error) {
  memset(decision, 0, sizeof(*decision));
  decision->kernel_hash = tg_kernel_hash(kernel);
  struct tg_arena *arena = tg_arena_create();
  if (!arena)
    return tg_fail_memory(error, "choosing a configuration");
  enum tg_status status = decide(decider, kernel, arena, decision, error);
  if (status == TG_OK && decider->reassociate && decider->kind != TG_MODEL_NONE)
    reassociate(decider, kernel, arena, decision);
  tg_arena_destroy(arena);
  if (status == TG_OUT_OF_MEMORY)
    tg_fail_memory(error, "choosing a configuration");
  return status;
}

static int explain_winograd(const struct tg_plan *plan,
                            const struct tg_target *target, char *text,
                            size_t text_nbytes) {
  struct tg_winograd w;
  double filter;
  tg_winograd_describe(plan, &w);
  double cycles = tg_winograd_cycles(plan, target, &filter);
  double nbytes = (double)tg_kernel_element_nbytes(&plan->canonical.kernel);
  double block = (double)(w.input * w.input * w.block_tiles) * nbytes *
                 (double)(w.channels + w.panels * w.panel);
  return snprintf(
      text, text_nbytes,
      "Winograd F(%lldx%lld, 3x3), %.2f times fewer "
      "multiplications, tile %lld x %lld, blocks of %lld tiles "
      "with %.0f KiB, %.0f %% of the time for the filter",
      (long long)w.output, (long long)w.output,
      9 * (double)(w.output * w.output) / (double)(w.input * w.input),
      (long long)plan->rows, (long long)plan->width, (long long)w.block_tiles,
      block / 1024, 100 * filter / cycles);
}

void tg_decision_explain(const struct tg_decision *decision,
                         const struct tg_kernel *kernel,
                         const struct tg_target *target, char *text,
                         size_t text_nbytes) {
  struct tg_plan plan;
  int used;
  if (tg_plan_make(kernel, &decision->config, target, &plan)) {
    used = snprintf(text, text_nbytes, "stock lowering");
  } else if (plan.winograd) {
    used = explain_winograd(&plan, target, text, text_nbytes);
  } else {
    struct tg_cost cost;
    tg_plan_cost(&plan, target, &cost);
    used = snprintf(
        text, text_nbytes,
        "tile %lld x %lld, %.2f loads per multiplication, %.0f %% "
        "of the lanes, panel %.0f KiB, block %.0f KiB, %.2f "
        "elements copied per 1000 flops",
        (long long)plan.rows, (long long)plan.width, cost.loads_per_fma,
        100 * cost.lane_use, cost.panel_nbytes / 1024, cost.block_nbytes / 1024,
        1000 *
            (cost.packed_elements[TG_LHS] + cost.packed_elements[TG_RHS] +
             cost.packed_elements[TG_RESULT]) /
            cost.flops);
  }
  if (used > 0 && (size_t)used < text_nbytes)
    snprintf(text + used, text_nbytes - (size_t)used,
             ": %s (%zu of %zu configurations looked at)",
             tg_reason_text[decision->reason], decision->scored,
             decision->space_count);
}
