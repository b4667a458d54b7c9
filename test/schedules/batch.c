/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * From seeds to a verdict: text, choice, apply, lower, compile, run, compare.
 */
#include "test/schedules/batch.h"

#include <math.h>
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/Diagnostics.h>
#include <mlir-c/RegisterEverything.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "passes/attribute.h"
#include "passes/passes.h"
#include "test/schedules/choose.h"

const char *const batch_kinds[MAX_KINDS] = {
    "flattened",      "packed result", "packed, many blocks", "hoisted",
    "row blocks",     "vector blocks", "reduction blocks",    "partial rows",
    "partial vector", "f64",           "vectors innermost",   "epilogue",
    "dot product",    "dot, columns",  "dot, packed",         "strided rows",
    "Winograd 2x2",   "Winograd 4x4",  "Winograd, blocks",    "bounded loops",
    "sliced loops",
};

static MlirStringRef ref(const char *text) {
  return mlirStringRefCreateFromCString(text);
}

int batch_fault(struct report *report, const char *what) {
  if (!report->fault[0])
    snprintf(report->fault, sizeof(report->fault), "%s: %.300s", report->stage,
             what);
  return 1;
}

/*===-- MLIR --------------------------------------------------------------===*/

struct text_out {
  char *text;
  size_t used, room;
};

static void append(MlirStringRef part, void *data) {
  struct text_out *out = data;
  for (size_t i = 0; i < part.length && out->used + 1 < out->room; ++i)
    out->text[out->used++] = part.data[i];
  out->text[out->used] = 0;
}

static MlirLogicalResult keep_diagnostic(MlirDiagnostic diagnostic,
                                         void *data) {
  struct report *report = data;
  if (mlirDiagnosticGetSeverity(diagnostic) == MlirDiagnosticError &&
      !report->fault[0]) {
    size_t used = (size_t)snprintf(report->fault, sizeof(report->fault),
                                   "%s: ", report->stage);
    struct text_out out = {report->fault, used, sizeof(report->fault)};
    mlirDiagnosticPrint(diagnostic, append, &out);
  }
  return mlirLogicalResultSuccess();
}

/* Only an operation that was left alone fails a test. */
static void keep_remark(void *user, MlirLocation location,
                        enum tg_remark_kind kind, const char *message) {
  (void)location;
  if (kind == TG_REMARK_MISSED)
    batch_fault(user, message);
}

static MlirContext shared_context;

void batch_prepare(void) {
  shared_context = mlirContextCreateWithThreading(false);
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  mlirRegisterAllDialects(registry);
  mlirRegisterAllLLVMTranslations(shared_context);
  mlirContextAppendDialectRegistry(shared_context, registry);
  mlirDialectRegistryDestroy(registry);
  mlirContextLoadAllAvailableDialects(shared_context);
  mlirRegisterAllPasses();
}

int batch_start(struct batch *batch, const char *target, const char *text,
                struct report *report) {
  struct tg_error error;
  memset(batch, 0, sizeof(*batch));
  batch->report = report;
  report->fault[0] = 0;
  strcpy(report->stage, "parse");
  if (tg_target_parse(target, &batch->target, &error))
    return batch_fault(report, error.message);
  batch->context = shared_context;
  mlirContextAttachDiagnosticHandler(batch->context, keep_diagnostic, report,
                                     NULL);
  batch->module = mlirModuleCreateParse(batch->context, ref(text));
  return mlirModuleIsNull(batch->module) ? batch_fault(report, "not valid") : 0;
}

int batch_lower(struct batch *batch) {
  struct report *report = batch->report;
  MlirOperation module = mlirModuleGetOperation(batch->module);
  struct tg_remark_sink sink = {keep_remark, report};
  tg_set_target(module, &batch->target);
  struct text_out out = {report->text, 0, sizeof(report->text)};
  mlirOperationPrint(module, append, &out);
  strcpy(report->stage, "apply");
  if (mlirLogicalResultIsFailure(tg_apply_layouts(module, &sink)) ||
      report->fault[0])
    return batch_fault(report, "failed");
  if (!mlirOperationVerify(module))
    return batch_fault(report, "the module is not valid");
  strcpy(report->stage, "lower");
  return mlirLogicalResultIsFailure(tg_lower(module, &sink))
             ? batch_fault(report, "failed")
             : 0;
}

/*===-- Choices -----------------------------------------------------------===*/

static void tally(struct report *report, const struct tg_kernel *kernel,
                  const struct tg_plan *plan, const struct test_case *test) {
  bool many = plan->block_reduction < plan->reduction_extent;
  const bool came_up[MAX_KINDS] = {
      plan->gathered >= 0,
      plan->packed[TG_RESULT],
      plan->packed[TG_RESULT] && many,
      plan->hoisted[TG_LHS] || plan->hoisted[TG_RHS],
      plan->block_rows < plan->row_extent,
      plan->block_vector<
          plan->vector_extent, many, plan->row_extent % plan->rows != 0,
          plan->vector_extent % plan->lanes != 0, test->element == TG_F64,
          plan->vectors_inner, test->link_count> 0,
      plan->dot,
      plan->dot && plan->column_loop != TG_NO_LOOP,
      plan->dot && (plan->packed[TG_LHS] || plan->packed[TG_RHS]),
      !plan->packed[TG_LHS] && plan->follows_vector[TG_LHS] &&
          tg_plan_step(plan, TG_LHS, plan->vector_loop) > 1,
      plan->winograd == 2,
      plan->winograd == 4,
      plan->winograd && (plan->block_rows < plan->row_extent ||
                         plan->block_vector < plan->vector_extent),
      tg_kernel_has(kernel, TG_BOUNDED),
      tg_kernel_has(kernel, TG_SLICED),
  };
  for (int i = 0; i < MAX_KINDS; ++i)
    report->tally[i] += came_up[i];
}

static int choose(struct batch *batch) {
  struct report *report = batch->report;
  struct tg_arena *arena = tg_arena_create();
  struct tg_site *sites;
  size_t found;
  strcpy(report->stage, "choose");
  if (!arena || !tg_collect_sites(mlirModuleGetOperation(batch->module), arena,
                                  &sites, &found))
    return batch_fault(report, "no memory");
  /* A function whose operation isn't configurable has no site. */
  for (size_t s = 0; s < found; ++s) {
    MlirOperation function = mlirOperationGetParentOperation(sites[s].op);
    MlirStringRef name = mlirStringAttrGetValue(
        mlirOperationGetAttributeByName(function, ref("sym_name")));
    int i = atoi(name.data + 1);
    struct test_case *test = &batch->cases[i];
    struct random random = {test->seed ^ UINT64_C(0x5eed)};
    struct tg_config config;
    struct tg_plan plan;
    batch->sites[i] = sites[s];
    if (!choose_config(&random, &sites[s].kernel, &batch->target, &config))
      continue;
    const char *reason =
        tg_plan_make(&sites[s].kernel, &config, &batch->target, &plan);
    if (reason)
      return batch_fault(report, reason);
    tally(report, &sites[s].kernel, &plan, test);
    tg_set_config(sites[s].op, &sites[s].kernel, &config);
  }
  return 0;
}

/*===-- Runs --------------------------------------------------------------===*/

static size_t element_nbytes(const struct test_case *test) {
  return test->element == TG_F64 ? 8 : 4;
}

static double element_at(const struct test_case *test, const void *data,
                         int64_t i) {
  return test->element == TG_F64 ? ((const double *)data)[i]
                                 : (double)((const float *)data)[i];
}

/* Values that a float holds exactly, the same in every run. */
static double *draw_values(struct random *random, int64_t count) {
  double *values = malloc((size_t)count * sizeof(double) + 1);
  for (int64_t i = 0; i < count; ++i)
    values[i] = (double)(float)random_unit(random);
  return values;
}

static void *place(const struct test_case *test, const double *values,
                   int64_t count, enum guard guard) {
  size_t nbytes = element_nbytes(test);
  void *data = guarded_alloc((size_t)count * nbytes, nbytes, guard);
  for (int64_t i = 0; i < count; ++i)
    if (test->element == TG_F64)
      ((double *)data)[i] = values[i];
    else
      ((float *)data)[i] = (float)values[i];
  return data;
}

static int compare(struct batch *batch, const struct test_case *test, int r,
                   const struct memref *memref, const double *expected,
                   double largest) {
  const struct tensor *shape = &test->operand[TG_RESULT];
  double tolerance = (test->element == TG_F64 ? 1e-12 : 1e-5) * largest;
  int64_t count = tensor_elements(shape);
  size_t skipped = (size_t)memref->offset * element_nbytes(test);
  for (int64_t i = 0; i < count; ++i) {
    double got = element_at(test, memref->aligned + skipped, i);
    if (fabs(got - expected[i]) <= tolerance)
      continue;
    char what[128];
    snprintf(what, sizeof(what),
             "result %d, element %lld is %.9g instead of %.9g (largest %.3g)",
             r, (long long)i, got, expected[i], largest);
    return batch_fault(batch->report, what);
  }
  return 0;
}

static int run_guarded(struct batch *batch, int i, void *function,
                       double *const *data, double *const *expected,
                       const double *largest, enum guard guard) {
  const struct test_case *test = &batch->cases[i];
  struct memref arguments[MAX_ARGUMENTS];
  snprintf(batch->report->stage, sizeof(batch->report->stage),
           "run @f%d (seed 0x%llx), guards at the %s", i,
           (unsigned long long)test->seed,
           guard == GUARD_END ? "end" : "start");
  set_code_guard(guard);
  for (int a = 0; a < test->argument_count; ++a)
    memref_set(&arguments[a],
               place(test, data[a], tensor_elements(&test->argument[a]), guard),
               &test->argument[a]);
  size_t nbytes = memref_nbytes(test->operand[TG_RESULT].rank);
  char *results = calloc(MAX_VALUES, nbytes);
  jit_call(function, results, test->argument_count, arguments);
  int wrong = 0;
  for (int r = 0; r < test->result_count && !wrong; ++r) {
    struct memref memref;
    memcpy(&memref, results + (size_t)r * nbytes, nbytes);
    wrong = compare(batch, test, r, &memref, expected[test->result[r]],
                    largest[test->result[r]]);
  }
  if (!wrong && !is_slack_intact())
    wrong = batch_fault(batch->report, "wrote behind the end of a buffer");
  free(results);
  return wrong;
}

/* The kernel with the extents that types may not tell. */
static struct tg_kernel kernel_of_case(const struct test_case *test,
                                       const struct tg_kernel *planned) {
  struct tg_kernel kernel = *planned;
  for (int l = 0; l < kernel.loop_count; ++l) {
    int operand, dimension;
    if (tg_kernel_find_dimension(&kernel, l, &operand, &dimension))
      kernel.extent[l] = test->operand[operand].extent[dimension];
  }
  for (int o = 0; o < TG_OPERAND_COUNT; ++o)
    for (int d = 0; d < kernel.operand[o].rank; ++d)
      kernel.operand[o].extent[d] = test->operand[o].extent[d];
  return kernel;
}

static int run_case(struct batch *batch, int i, struct jit *jit) {
  const struct test_case *test = &batch->cases[i];
  struct random random = {test->seed ^ UINT64_C(0xda7a)};
  char name[16];
  snprintf(name, sizeof(name), "f%d", i);
  void *function = jit_lookup(jit, name);
  if (!function)
    return batch_fault(batch->report, "a function is gone");
  double *data[MAX_ARGUMENTS], *expected[MAX_VALUES], largest[MAX_VALUES];
  for (int a = 0; a < test->argument_count; ++a)
    data[a] = draw_values(&random, tensor_elements(&test->argument[a]));
  struct tg_kernel kernel = kernel_of_case(test, &batch->sites[i].kernel);
  compute_reference(test, &kernel, (const double *const *)data, expected,
                    largest);
  int wrong =
      run_guarded(batch, i, function, data, expected, largest, GUARD_END) ||
      run_guarded(batch, i, function, data, expected, largest, GUARD_START);
  for (int a = 0; a < test->argument_count; ++a)
    free(data[a]);
  for (int v = 0; v <= test->link_count; ++v)
    free(expected[v]);
  return wrong;
}

int run_batch(const char *target, int level, const uint64_t *seeds, int count,
              struct report *report) {
  struct batch batch;
  struct test_case *cases = calloc((size_t)count, sizeof(*cases));
  char *text = calloc((size_t)count, sizeof(cases->text));
  for (int i = 0; i < count; ++i) {
    generate_case(seeds[i], i, &cases[i]);
    strcat(text, cases[i].text);
  }
  snprintf(report->text, sizeof(report->text), "%s", text);
  if (batch_start(&batch, target, text, report))
    return 1;
  batch.count = count;
  batch.cases = cases;
  batch.sites = calloc((size_t)count, sizeof(*batch.sites));
  if (choose(&batch) || batch_lower(&batch))
    return 1;
  strcpy(report->stage, "compile");
  char reason[256];
  struct jit *jit = jit_create(mlirModuleGetOperation(batch.module), level,
                               reason, sizeof(reason));
  if (!jit)
    return batch_fault(report, reason);
  for (int i = 0; i < count; ++i) {
    if (batch.sites[i].kernel.loop_count == 0) {
      report->skipped++;
      continue;
    }
    if (run_case(&batch, i, jit))
      return 1;
    report->ran++;
  }
  return 0;
}
