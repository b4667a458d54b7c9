/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A program three times: ours, with random choices; the stock lowering; and
 * the stock lowering of the same in f64. Ours may be a few times as far from
 * the last as the stock lowering is.
 */
#include <math.h>
#include <mlir-c/BuiltinAttributes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "passes/attribute.h"
#include "passes/inspect.h"
#include "passes/passes.h"
#include "passes/stored.h"
#include "test/chains/chains.h"
#include "test/schedules/choose.h"
#include "tools/number.h"

enum { OURS, STOCK, EXACT, SIDE_COUNT };

/* How results may differ: `factor` times what the stock lowering is off by, and
 * a share of the largest value. */
struct tolerance {
  enum tg_dtype dtype;
  double factor, share;
};
static const struct tolerance tolerances[CHAIN_TYPES] = {
    [CHAIN_F32] = {TG_DTYPE_F32, 4, 1e-5},
    [CHAIN_F64] = {TG_DTYPE_F64, 4, 1e-12},
    [CHAIN_F16] = {TG_DTYPE_F16, 2, 0x1p-9},
    [CHAIN_BF16] = {TG_DTYPE_BF16, 2, 0x1p-6},
};

/*===-- Choices -----------------------------------------------------------===*/

static MlirWalkResult count_operation(MlirOperation op, void *data) {
  struct report *report = data;
  if (!tg_op_name_starts_with(op, "linalg."))
    return MlirWalkResultAdvance;
  bool made = tg_op_is(op, "linalg.fill") || tg_op_is(op, "linalg.transpose");
  report->tally[CHAIN_TALLY_STORED] += tg_op_has_layouts(op);
  report->tally[CHAIN_TALLY_LEFT] +=
      !made && !tg_op_has_attribute(op, TG_CONFIG_ATTRIBUTE);
  return MlirWalkResultSkip;
}

/* Random configurations for some of the kernels. Those whose tensors are stored
 * in another order have the choice of that. */
static int draw_configs(struct batch *batch, struct random *random) {
  struct tg_arena *arena = tg_arena_create();
  struct tg_site *sites;
  size_t count;
  MlirOperation module = mlirModuleGetOperation(batch->module);
  if (!arena || !tg_collect_sites(module, arena, &sites, &count))
    return batch_fault(batch->report, "no memory");
  batch->report->tally[CHAIN_TALLY_KERNELS] += (int)count;
  for (size_t s = 0; s < count; ++s) {
    struct tg_config config;
    if (tg_op_has_layouts(sites[s].op) || random_percent(random, 40) ||
        !choose_config(random, &sites[s].kernel, &batch->target, &config))
      continue;
    tg_set_config(sites[s].op, &sites[s].kernel, &config);
    batch->report->tally[CHAIN_TALLY_DRAWN]++;
  }
  tg_arena_destroy(arena);
  return 0;
}

static int choose(struct batch *batch, const char *target, uint64_t seed) {
  static const char *const orders[] = {"graph", "graph", "given", "other",
                                       "own"};
  struct random random = {seed ^ UINT64_C(0xc01f)};
  struct tg_select_options options = tg_select_options_default();
  options.target = target;
  options.model = random_percent(&random, 50) ? "analytic" : "embedded";
  options.search = "random";
  options.budget = 8;
  options.seed = (int64_t)(seed >> 1);
  options.reassociate = random_percent(&random, 30);
  options.layouts = orders[random_below(&random, 5)];
  MlirOperation module = mlirModuleGetOperation(batch->module);
  strcpy(batch->report->stage, "choose");
  if (mlirLogicalResultIsFailure(tg_select_layouts(module, &options, NULL)))
    return batch_fault(batch->report, "failed");
  if (draw_configs(batch, &random))
    return 1;
  mlirOperationWalk(module, count_operation, batch->report, MlirWalkPreOrder);
  return 0;
}

/*===-- Runs --------------------------------------------------------------===*/

static enum tg_dtype dtype_of(const struct chain_case *test, int side) {
  return side == EXACT ? TG_DTYPE_F64 : tolerances[test->type].dtype;
}

/* Arguments that the case's own type holds. */
static void *draw_argument(const struct chain_case *test, int argument,
                           int side, enum guard guard) {
  const struct chain_argument *a = &test->argument[argument];
  struct random random = {test->seed ^ UINT64_C(0xda7a) * (1 + argument)};
  enum tg_dtype own = dtype_of(test, OURS), dtype = dtype_of(test, side);
  size_t nbytes = (size_t)tg_dtype_infos[dtype].nbytes;
  int64_t count = tensor_elements(&a->tensor);
  char *data = guarded_alloc((size_t)count * nbytes, nbytes, guard);
  for (int64_t i = 0; i < count; ++i) {
    uint64_t held = 0;
    tg_number_store(own, &held, 0, a->limit * random_unit(&random));
    tg_number_store(dtype, data, i, tg_number_load(own, &held, 0));
  }
  return data;
}

static void call(void *function, const struct chain_case *test, int side,
                 enum guard guard, struct memref *results) {
  struct memref arguments[MAX_ARGUMENTS];
  for (int a = 0; a < test->argument_count; ++a)
    memref_set(&arguments[a], draw_argument(test, a, side, guard),
               &test->argument[a].tensor);
  char *raw = calloc(MAX_CHAIN_RESULTS, sizeof(struct memref));
  set_code_guard(guard);
  jit_call(function, raw, test->argument_count, arguments);
  size_t used = 0;
  for (int r = 0; r < test->result_count; ++r) {
    size_t nbytes = memref_nbytes(test->result[r].rank);
    memcpy(&results[r], raw + used, nbytes);
    used += nbytes;
  }
  free(raw);
}

static double element(const struct chain_case *test, int side,
                      const struct memref *memref, int64_t i) {
  return tg_number_load(dtype_of(test, side), memref->aligned,
                        memref->offset + i);
}

static int compare(const struct chain_case *test, int r,
                   struct memref results[SIDE_COUNT][MAX_CHAIN_RESULTS],
                   struct report *report) {
  const struct tolerance *tolerance = &tolerances[test->type];
  double largest = 0, error[2] = {0, 0};
  int64_t count = tensor_elements(&test->result[r]), worst = 0;
  for (int64_t i = 0; i < count; ++i) {
    double exact = element(test, EXACT, &results[EXACT][r], i);
    largest = fmax(largest, fabs(exact));
    for (int side = OURS; side <= STOCK; ++side) {
      double off = fabs(element(test, side, &results[side][r], i) - exact);
      if (off <= error[side])
        continue;
      /* Also where it is no number. */
      error[side] = isnan(off) ? (double)INFINITY : off;
      worst = side == OURS ? i : worst;
    }
  }
  double allowed =
      tolerance->factor * error[STOCK] + tolerance->share * largest;
  if (error[OURS] <= allowed)
    return 0;
  char what[300];
  snprintf(what, sizeof(what),
           "result %d (%s), element %lld is %.9g instead of %.9g, stock %.9g; "
           "off by %.3g at most, stock by %.3g, allowed %.3g (largest %.3g)",
           r, chain_type_text[test->type], (long long)worst,
           element(test, OURS, &results[OURS][r], worst),
           element(test, EXACT, &results[EXACT][r], worst),
           element(test, STOCK, &results[STOCK][r], worst), error[OURS],
           error[STOCK], allowed, largest);
  return batch_fault(report, what);
}

static int run_guarded(const struct chain_case *test, void *const *functions,
                       enum guard guard, struct report *report) {
  static const char *const names[SIDE_COUNT] = {"run", "stock run",
                                                "stock run in f64"};
  struct memref results[SIDE_COUNT][MAX_CHAIN_RESULTS];
  for (int side = 0; side < SIDE_COUNT; ++side) {
    snprintf(report->stage, sizeof(report->stage), "%s, guards at the %s",
             names[side], guard == GUARD_END ? "end" : "start");
    call(functions[side], test, side, guard, results[side]);
    if (side == OURS && !is_slack_intact())
      return batch_fault(report, "wrote behind the end of a buffer");
  }
  strcpy(report->stage, "results");
  for (int r = 0; r < test->result_count; ++r)
    if (compare(test, r, results, report))
      return 1;
  return 0;
}

/*===-- Modules -----------------------------------------------------------===*/

static void *compile(struct batch *batch, int level) {
  char reason[256];
  struct jit *jit = jit_create(mlirModuleGetOperation(batch->module), level,
                               reason, sizeof(reason));
  void *function = jit ? jit_lookup(jit, "f0") : NULL;
  if (!function)
    batch_fault(batch->report, jit ? "the function is gone" : reason);
  return function;
}

static void *build(const struct chain_case *test, int side, const char *target,
                   int level, struct report *report) {
  struct batch batch;
  char *text = chain_text(test, side == EXACT ? CHAIN_F64 : test->type);
  if (side == OURS)
    snprintf(report->text, sizeof(report->text), "%s", text);
  bool started = !batch_start(&batch, target, text, report);
  free(text);
  if (!started)
    return NULL;
  if (side == OURS) {
    if (choose(&batch, target, test->seed) || batch_lower(&batch))
      return NULL;
    strcpy(report->stage, "compile");
    return compile(&batch, level);
  }
  strcpy(report->stage, "stock lowering");
  if (mlirLogicalResultIsFailure(
          tg_stock_lower(mlirModuleGetOperation(batch.module)))) {
    batch_fault(report, "failed");
    return NULL;
  }
  strcpy(report->stage, "compile the stock code");
  return compile(&batch, 0);
}

int run_chain(const char *target, int level, uint64_t seed,
              struct report *report) {
  struct chain_case *test = calloc(1, sizeof(*test));
  void *functions[SIDE_COUNT];
  generate_chain(seed, test);
  if (test->overflowed) {
    report->skipped++;
    return 0;
  }
  for (int side = 0; side < SIDE_COUNT; ++side) {
    functions[side] = build(test, side, target, level, report);
    if (!functions[side])
      return 1;
  }
  if (run_guarded(test, functions, GUARD_END, report) ||
      run_guarded(test, functions, GUARD_START, report))
    return 1;
  report->ran++;
  report->tally[CHAIN_TALLY_TYPES + test->type]++;
  return 0;
}
