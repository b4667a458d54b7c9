/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Candidates of a whole program: what the rule does with each way of choosing
 * orders of tensors, what is chosen by default, then random ones, in which
 * stretches of the program take their orders from one way or another and some
 * kernels a configuration other than the rule's.
 */
#include <stdlib.h>
#include <string.h>

#include "model/random.h"
#include "passes/passes.h"
#include "passes/select_relayout.h"
#include "tools/measure.h"

enum { POOL_CHEAPEST = 5, POOL_SAMPLE = 5, CUT_LIMIT = 3 };
/* The stock lowering of more work than this takes too long to be timed. */
static const double stock_gflop = 1;

/* Configurations that a kernel may get. */
struct pool {
  uint64_t hash;
  size_t count;
  struct tg_config *configs;
};

struct generator {
  struct tg_measure_job *job;
  uint64_t random;
  struct tg_assignment modes[TG_RELAYOUT_MODE_COUNT]; /* by way of choosing */
  struct pool *pools;
  size_t pool_count, pool_capacity;
};

static int below(struct generator *g, int bound) {
  return (int)(tg_random_next(&g->random) % (uint64_t)bound);
}
static bool chance(struct generator *g, double share) {
  return (double)(tg_random_next(&g->random) >> 11) * 0x1p-53 < share;
}

/*===-- Configurations of kernels -----------------------------------------===*/

/* What is cheap by the estimate, and a few samples; without the stock one. */
static bool fill_pool(struct generator *g, const struct tg_kernel *kernel,
                      struct pool *pool) {
  const struct tg_measure_settings *s = g->job->settings;
  struct tg_arena *arena = g->job->program.arena;
  struct tg_space cheap, sample;
  if (!tg_space_cheapest(kernel, &s->target, POOL_CHEAPEST, arena, &cheap) ||
      !tg_space_sample(kernel, &s->target, s->seed ^ pool->hash, POOL_SAMPLE,
                       arena, &sample))
    return false;
  pool->configs = tg_arena_alloc(arena, cheap.count + sample.count + 1,
                                 sizeof *pool->configs);
  if (!pool->configs)
    return false;
  for (size_t i = TG_CONFIG_ANALYTIC; i < cheap.count; i++)
    pool->configs[pool->count++] = cheap.configs[i];
  for (size_t i = TG_CONFIG_NAMED_COUNT; i < sample.count; i++)
    pool->configs[pool->count++] = sample.configs[i];
  return true;
}

static struct pool *find_pool(struct generator *g,
                              const struct tg_kernel *kernel) {
  uint64_t hash = tg_kernel_hash(kernel);
  for (size_t i = 0; i < g->pool_count; i++)
    if (g->pools[i].hash == hash)
      return &g->pools[i];
  struct pool *grown =
      tg_arena_grow(g->job->program.arena, g->pools, g->pool_count,
                    &g->pool_capacity, sizeof *grown);
  if (!grown)
    return NULL;
  g->pools = grown;
  struct pool *pool = &grown[g->pool_count];
  *pool = (struct pool){.hash = hash};
  if (!fill_pool(g, kernel, pool))
    return NULL;
  g->pool_count++;
  return pool;
}

/* Gives a share of the kernels another configuration; `together`: equal
 * kernels get equal ones. */
static bool vary_kernels(struct generator *g, MlirOperation module,
                         double share, bool together) {
  struct tg_site *sites;
  size_t count;
  if (!tg_collect_sites(module, g->job->program.arena, &sites, &count))
    return false;
  uint64_t salt = tg_random_next(&g->random);
  for (size_t i = 0; i < count; i++) {
    struct pool *pool = find_pool(g, &sites[i].kernel);
    if (!pool)
      return false;
    struct generator own = {.random = pool->hash ^ salt};
    struct generator *from = together ? &own : g;
    if (pool->count == 0 || !chance(from, share))
      continue;
    tg_set_config(sites[i].op, &sites[i].kernel,
                  &pool->configs[below(from, (int)pool->count)]);
  }
  return true;
}

/*===-- Assignments -------------------------------------------------------===*/

struct wish {
  const char *model, *layouts;        /* as the options of select */
  const struct tg_assignment *orders; /* written beforehand, or NULL */
  double share;                       /* of kernels that vary */
  bool together;
};

static enum tg_status decide(struct generator *g, const struct wish *wish,
                             struct tg_assignment *assignment,
                             struct tg_error *error) {
  struct tg_program *program = &g->job->program;
  struct tg_select_options options = tg_select_options_default();
  options.target = g->job->settings->target_text;
  options.model = wish->model;
  options.layouts = wish->layouts;
  options.attention = "whole";
  MlirOperation copy = mlirOperationClone(program->module);
  if (wish->orders)
    tg_assignment_write(copy, wish->orders);
  struct tg_diagnostics diagnostics;
  tg_diagnostics_attach(&diagnostics, program, error);
  bool good =
      mlirLogicalResultIsSuccess(tg_select_layouts(copy, &options, NULL));
  tg_diagnostics_detach(&diagnostics);
  enum tg_status status = TG_OK;
  if (!good)
    status = diagnostics.seen
                 ? TG_BAD_INPUT
                 : tg_fail(error, "%s: select failed", program->path);
  else if ((wish->share > 0 &&
            !vary_kernels(g, copy, wish->share, wish->together)) ||
           !tg_assignment_read(copy, assignment))
    status = tg_fail_memory(error, program->path);
  mlirOperationDestroy(copy);
  return status;
}

/* Orders from two ways in turn, changing at a few places of the program. */
static bool mix_orders(struct generator *g, struct tg_assignment *orders) {
  const struct tg_assignment *way[2] = {
      &g->modes[below(g, TG_RELAYOUT_MODE_COUNT)],
      &g->modes[below(g, TG_RELAYOUT_MODE_COUNT)]};
  int last = 1;
  for (int w = 0; w < 2; w++)
    if (way[w]->count && way[w]->items[way[w]->count - 1].op >= last)
      last = way[w]->items[way[w]->count - 1].op + 1;
  int cuts[CUT_LIMIT], cut_count = below(g, CUT_LIMIT + 1);
  for (int c = 0; c < cut_count; c++)
    cuts[c] = below(g, last);
  int at[2] = {0, 0};
  for (int op = 0; op < last; op++) {
    int turn = 0;
    for (int c = 0; c < cut_count; c++)
      turn ^= cuts[c] <= op;
    for (int w = 0; w < 2; w++) {
      while (at[w] < way[w]->count && way[w]->items[at[w]].op < op)
        at[w]++;
      if (w != turn || at[w] == way[w]->count || way[w]->items[at[w]].op != op)
        continue;
      struct tg_assigned item = way[w]->items[at[w]];
      item.attribute[TG_ASSIGNED_CONFIG] = (MlirAttribute){NULL};
      if (!mlirAttributeIsNull(item.attribute[TG_ASSIGNED_LAYOUTS]) &&
          !tg_assignment_push(orders, &item))
        return false;
    }
  }
  return true;
}

static enum tg_status add_random(struct generator *g,
                                 struct tg_assignment *assignment,
                                 struct tg_error *error) {
  static const double shares[] = {0, 0.1, 0.3, 1};
  struct tg_assignment orders = {0};
  bool given = chance(g, 0.3);
  if (!given && !mix_orders(g, &orders)) {
    tg_assignment_destroy(&orders);
    return tg_fail_memory(error, g->job->program.path);
  }
  struct wish wish = {.model = "analytic",
                      .layouts = "given",
                      .orders = &orders,
                      .share = shares[below(g, 4)],
                      .together = chance(g, 0.5)};
  if (orders.count == 0 && wish.share == 0)
    wish.share = shares[1]; /* else it would be the rule's */
  enum tg_status status = decide(g, &wish, assignment, error);
  tg_assignment_destroy(&orders);
  return status;
}

static struct tg_candidate *add(struct generator *g, const char *name) {
  struct tg_candidate *candidate = &g->job->candidates[g->job->count++];
  candidate->name = name;
  return candidate;
}

/* The ways of choosing orders, the rule's configurations with each. */
static enum tg_status add_modes(struct generator *g, struct tg_error *error) {
  static const char *const names[TG_RELAYOUT_MODE_COUNT] = {
#define RELAYOUT_MODE(id, name) name,
#include "passes/relayout_mode.def"
  };
  for (int mode = 0; mode < TG_RELAYOUT_MODE_COUNT; mode++) {
    struct wish wish = {.model = "analytic", .layouts = names[mode]};
    enum tg_status status = decide(g, &wish, &g->modes[mode], error);
    if (status != TG_OK)
      return status;
    /* the default of every comparison: the rule, in the program's orders */
    bool is_default = mode == TG_RELAYOUT_GIVEN;
    struct tg_candidate *c = add(g, is_default ? "analytic" : names[mode]);
    struct tg_assignment *copy = &c->assignment;
    for (int i = 0; i < g->modes[mode].count; i++)
      if (!tg_assignment_push(copy, &g->modes[mode].items[i]))
        return tg_fail_memory(error, g->job->program.path);
  }
  return TG_OK;
}

enum tg_status tg_graph_candidates(struct tg_measure_job *job,
                                   struct tg_error *error) {
  const struct tg_measure_settings *s = job->settings;
  struct generator g = {.job = job, .random = s->seed ^ job->entry->hash};
  enum { NAMED = TG_RELAYOUT_MODE_COUNT + 2 };
  job->candidates =
      calloc((size_t)s->config_count + NAMED + 1, sizeof *job->candidates);
  if (!job->candidates)
    return tg_fail_memory(error, job->entry->name);
  job->chosen_config = -1;
  if (job->entry->gflop <= stock_gflop)
    add(&g, "stock");
  enum tg_status status = add_modes(&g, error);
  if (status == TG_OK) {
    struct wish wish = {.model = s->model[0] ? s->model : "embedded",
                        .layouts = "graph"};
    job->chosen_config = job->count;
    status = decide(&g, &wish, &add(&g, "chosen")->assignment, error);
  }
  while (status == TG_OK && job->count < s->config_count)
    status = add_random(&g, &add(&g, "")->assignment, error);
  for (int mode = 0; mode < TG_RELAYOUT_MODE_COUNT; mode++)
    tg_assignment_destroy(&g.modes[mode]);
  return status;
}
