/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A module twice: with random configurations, and by the stock lowering. Both
 * run on the same numbers, and their results are compared.
 */
#include <math.h>
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/Diagnostics.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "passes/attribute.h"
#include "passes/inspect.h"
#include "passes/passes.h"
#include "passes/select_nests.h"
#include "test/nests/nests.h"

/*===-- Elements ----------------------------------------------------------===*/

static enum element element_of(MlirType type) {
  if (mlirTypeIsAF32(type))
    return E_F32;
  if (mlirTypeIsAF64(type))
    return E_F64;
  if (mlirTypeIsAF16(type))
    return E_F16;
  if (mlirTypeIsABF16(type))
    return E_BF16;
  if (mlirTypeIsAIndex(type))
    return E_INDEX;
  switch (mlirIntegerTypeGetWidth(type)) {
  case 1:
    return E_I1;
  case 8:
    return E_I8;
  case 16:
    return E_I16;
  case 32:
    return E_I32;
  default:
    return E_I64;
  }
}

static size_t nbytes_of(enum element element) {
  static const size_t nbytes[ELEMENT_COUNT] = {4, 8, 2, 2, 1, 1, 2, 4, 8, 8};
  return nbytes[element];
}

static float half_to_float(uint16_t half) {
  int exponent = half >> 10 & 31, mantissa = half & 1023;
  float value = exponent == 0 ? ldexpf((float)mantissa, -24)
                : exponent == 31
                    ? (mantissa ? NAN : INFINITY)
                    : ldexpf((float)(mantissa + 1024), exponent - 25);
  return half >> 15 ? -value : value;
}

/* Of small numbers, which f16 holds when it is cut. */
static uint16_t float_to_half(float value) {
  uint16_t sign = signbit(value) ? 0x8000 : 0;
  if (isnan(value))
    return 0x7e00;
  if (isinf(value))
    return sign | 0x7c00;
  int exponent;
  float fraction = frexpf(fabsf(value), &exponent);
  if (fraction == 0 || exponent < -13)
    return sign;
  return (uint16_t)(sign | (exponent + 14) << 10 |
                    ((int)(fraction * 2048) & 1023));
}

static double get_element(enum element element, const char *data, int64_t i) {
  const char *at = data + (size_t)i * nbytes_of(element);
  uint16_t half;
  uint32_t word;
  float single;
  double wide;
  switch (element) {
  case E_F32:
    memcpy(&single, at, sizeof(single));
    return (double)single;
  case E_F64:
    memcpy(&wide, at, sizeof(wide));
    return wide;
  case E_F16:
    memcpy(&half, at, sizeof(half));
    return (double)half_to_float(half);
  case E_BF16:
    memcpy(&half, at, sizeof(half));
    word = (uint32_t)half << 16;
    memcpy(&single, &word, sizeof(single));
    return (double)single;
  default:
    return 0;
  }
}

static void set_float(enum element element, char *at, double value) {
  float single = (float)value;
  uint32_t word;
  uint16_t half;
  memcpy(&word, &single, sizeof(word));
  half = element == E_F16 ? float_to_half(single) : (uint16_t)(word >> 16);
  if (element == E_F32)
    memcpy(at, &single, sizeof(single));
  else if (element == E_F64)
    memcpy(at, &value, sizeof(value));
  else
    memcpy(at, &half, sizeof(half));
}

static void draw_element(struct random *random, enum element element,
                         bool whole, bool specials, char *at) {
  static const double special[] = {(double)INFINITY, -(double)INFINITY,
                                   (double)NAN};
  if (is_float(element)) {
    double value =
        whole ? random_below(random, 9) - 4 : 2 * random_unit(random);
    if (specials && random_percent(random, 3))
      value = special[random_below(random, 3)];
    set_float(element, at, value);
    return;
  }
  uint64_t bits = random_next(random);
  /* Small ones are more often alike. */
  if (random_percent(random, 50))
    bits = (uint64_t)((int64_t)(bits % 17) - 8);
  if (element == E_I1)
    bits &= 1;
  memcpy(at, &bits, nbytes_of(element));
}

/*===-- Tensors of a function ---------------------------------------------===*/

struct shape {
  enum element element;
  struct tensor tensor;
};

static struct shape shape_of(MlirType type) {
  struct shape shape = {.element =
                            element_of(mlirShapedTypeGetElementType(type))};
  shape.tensor.rank = (int)mlirShapedTypeGetRank(type);
  for (int d = 0; d < shape.tensor.rank; ++d)
    shape.tensor.extent[d] = mlirShapedTypeGetDimSize(type, d);
  return shape;
}

struct signature {
  int argument_count, result_count;
  struct shape argument[MAX_NEST_ARGUMENTS], result[MAX_NEST_RESULTS];
};

static bool read_signature(MlirModule module, int index,
                           struct signature *signature) {
  char name[24];
  snprintf(name, sizeof(name), "f%d", index);
  MlirBlock block = mlirModuleGetBody(module);
  for (MlirOperation op = mlirBlockGetFirstOperation(block);
       !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
    MlirStringRef symbol = mlirStringAttrGetValue(
        mlirOperationGetAttributeByName(op, tg_ref("sym_name")));
    if (!mlirStringRefEqual(symbol, tg_ref(name)))
      continue;
    MlirType type = mlirTypeAttrGetValue(
        mlirOperationGetAttributeByName(op, tg_ref("function_type")));
    signature->argument_count = (int)mlirFunctionTypeGetNumInputs(type);
    signature->result_count = (int)mlirFunctionTypeGetNumResults(type);
    if (signature->argument_count > MAX_NEST_ARGUMENTS ||
        signature->result_count > MAX_NEST_RESULTS)
      return false;
    for (int i = 0; i < signature->argument_count; ++i)
      signature->argument[i] = shape_of(mlirFunctionTypeGetInput(type, i));
    for (int i = 0; i < signature->result_count; ++i)
      signature->result[i] = shape_of(mlirFunctionTypeGetResult(type, i));
    return true;
  }
  return false;
}

/*===-- Comparison --------------------------------------------------------===*/

struct run {
  struct report *report;
  struct signature signature;
  struct memref memref[MAX_NEST_RESULTS];
};

static void call(void *function, const struct nest_case *test, enum guard guard,
                 struct run *run) {
  struct memref arguments[MAX_NEST_ARGUMENTS];
  struct random random = {test->seed ^ UINT64_C(0xda7a)};
  const struct signature *signature = &run->signature;
  set_code_guard(guard);
  for (int a = 0; a < signature->argument_count; ++a) {
    const struct shape *shape = &signature->argument[a];
    size_t nbytes = nbytes_of(shape->element);
    int64_t count = tensor_elements(&shape->tensor);
    char *data = guarded_alloc((size_t)count * nbytes, nbytes, guard);
    for (int64_t i = 0; i < count; ++i)
      draw_element(&random, shape->element, test->whole[a], test->specials,
                   data + (size_t)i * nbytes);
    memref_set(&arguments[a], data, &shape->tensor);
  }
  char *results = calloc(MAX_NEST_RESULTS, sizeof(struct memref));
  jit_call(function, results, signature->argument_count, arguments);
  size_t used = 0;
  for (int r = 0; r < signature->result_count; ++r) {
    size_t nbytes = memref_nbytes(signature->result[r].tensor.rank);
    memcpy(&run->memref[r], results + used, nbytes);
    used += nbytes;
  }
  free(results);
}

static bool is_close(double got, double expected, double tolerance) {
  if (isnan(got) || isnan(expected))
    return isnan(got) && isnan(expected);
  return got == expected || fabs(got - expected) <= tolerance;
}

static int compare(struct report *report, const struct shape *shape, int r,
                   const struct memref *got, const struct memref *expected,
                   double tolerance) {
  enum element element = shape->element;
  size_t nbytes = nbytes_of(element);
  const char *a = got->aligned + (size_t)got->offset * nbytes;
  const char *b = expected->aligned + (size_t)expected->offset * nbytes;
  for (int64_t i = 0; i < tensor_elements(&shape->tensor); ++i) {
    double x = get_element(element, a, i), y = get_element(element, b, i);
    bool equal = is_float(element)
                     ? is_close(x, y, tolerance)
                     : memcmp(a + (size_t)i * nbytes, b + (size_t)i * nbytes,
                              nbytes) == 0;
    if (equal)
      continue;
    int64_t m = 0, n = 0;
    if (!is_float(element)) {
      memcpy(&m, a + (size_t)i * nbytes, nbytes);
      memcpy(&n, b + (size_t)i * nbytes, nbytes);
    }
    char what[200];
    snprintf(what, sizeof(what),
             "result %d, element %lld is %.9g (%llx) instead of %.9g (%llx), "
             "tolerance %.3g",
             r, (long long)i, x, (unsigned long long)m, y,
             (unsigned long long)n, tolerance);
    return batch_fault(report, what);
  }
  return 0;
}

/* In a file of its own numbers, relative to the largest. */
static double relative(const struct shape *shape, const struct memref *memref) {
  double largest = 1;
  const char *data =
      memref->aligned + (size_t)memref->offset * nbytes_of(shape->element);
  for (int64_t i = 0; i < tensor_elements(&shape->tensor); ++i) {
    double value = fabs(get_element(shape->element, data, i));
    if (isfinite(value) && value > largest)
      largest = value;
  }
  return largest * ldexp(1, 4 - whole_bits(shape->element));
}

static int run_one(struct report *report, const struct nest_case *test,
                   int index, const struct signature *signature,
                   void *const functions[2]) {
  for (int g = 0; g < 2; ++g) {
    enum guard guard = g ? GUARD_START : GUARD_END;
    struct run run = {report, *signature, {{0}}}, reference = run;
    snprintf(report->stage, sizeof(report->stage),
             "stock run of @f%d (seed 0x%llx)", index,
             (unsigned long long)test->seed);
    call(functions[1], test, guard, &reference);
    snprintf(report->stage, sizeof(report->stage),
             "run @f%d (seed 0x%llx), guards at the %s", index,
             (unsigned long long)test->seed, g ? "start" : "end");
    call(functions[0], test, guard, &run);
    for (int r = 0; r < signature->result_count; ++r) {
      double tolerance =
          test->text[0] ? 2 * test->result[r].error
                        : relative(&signature->result[r], &reference.memref[r]);
      if (compare(report, &signature->result[r], r, &run.memref[r],
                  &reference.memref[r], tolerance))
        return 1;
    }
    if (!is_slack_intact())
      return batch_fault(report, "wrote behind the end of a buffer");
  }
  report->ran++;
  return 0;
}

/*===-- Choices -----------------------------------------------------------===*/

/* Any that the attribute may hold, also numbers of vectors that the space does
 * not list. */
static void draw_config(struct random *random, struct tg_nest_site *site) {
  struct tg_config configs[TG_NEST_MAX_CONFIGS];
  int count = tg_nest_enumerate(&site->nest, configs);
  if (random_percent(random, 20) || count < 2)
    return;
  struct tg_config *config = &site->config;
  *config =
      configs[random_percent(random, 95) ? 1 + random_below(random, count - 1)
                                         : 0];
  if (config->knob[TG_KNOB_tiled] && random_percent(random, 40))
    config->knob[TG_KNOB_vectors] = 1 + random_below(random, 6);
}

static void tally(struct report *report, const struct tg_nest_site *site) {
  const struct tg_config *config = &site->config;
  report->tally[TALLY_NESTS]++;
  if (!config->knob[TG_KNOB_tiled])
    report->tally[TALLY_STOCK]++;
  else if (site->nest.reduction[config->knob[TG_KNOB_vector_loop]])
    report->tally[TALLY_REDUCTION_VECTOR]++;
}

static MlirWalkResult count_left(MlirOperation op, void *data) {
  struct report *report = data;
  if (!tg_op_name_starts_with(op, "linalg.") || tg_op_is(op, "linalg.fill") ||
      tg_op_is(op, "linalg.yield") || tg_op_is(op, "linalg.index"))
    return MlirWalkResultAdvance;
  report->tally[TALLY_LEFT] += !tg_op_has_attribute(op, TG_CONFIG_ATTRIBUTE);
  return MlirWalkResultSkip;
}

/* The number in the name of the function that the operation is in. */
static int function_of(MlirOperation op) {
  while (!tg_op_is(op, "func.func"))
    op = mlirOperationGetParentOperation(op);
  MlirStringRef name = mlirStringAttrGetValue(
      mlirOperationGetAttributeByName(op, tg_ref("sym_name")));
  return atoi(name.data + 1);
}

/* A case's choices depend on its own seed alone. */
static int choose(struct batch *batch, const struct nest_case *cases,
                  int count) {
  struct tg_arena *arena = tg_arena_create();
  struct tg_nest_sites nests = {0, 0, NULL};
  struct random random[MAX_BATCH];
  for (int i = 0; i < count; ++i)
    random[i].state = cases[i].seed ^ UINT64_C(0xc01f);
  MlirOperation module = mlirModuleGetOperation(batch->module);
  strcpy(batch->report->stage, "choose");
  if (!arena || mlirLogicalResultIsFailure(tg_choose_nests(
                    module, &batch->target, false, true, arena, &nests)))
    return batch_fault(batch->report, "failed");
  for (size_t i = 0; i < nests.count; ++i) {
    draw_config(&random[function_of(nests.sites[i].op)], &nests.sites[i]);
    tally(batch->report, &nests.sites[i]);
  }
  tg_write_nests(&nests);
  mlirOperationWalk(module, count_left, batch->report, MlirWalkPreOrder);
  tg_arena_destroy(arena);
  return 0;
}

/*===-- Modules -----------------------------------------------------------===*/

static struct jit *compile(struct batch *batch, int level) {
  char reason[256];
  strcpy(batch->report->stage,
         level < 0 ? "compile the stock code" : "compile");
  struct jit *jit = jit_create(mlirModuleGetOperation(batch->module),
                               level < 0 ? 0 : level, reason, sizeof(reason));
  if (!jit)
    batch_fault(batch->report, reason);
  return jit;
}

/* text: of the cases. */
static int run_module(const char *target, int level, const char *text,
                      const struct nest_case *cases, int count, bool chosen,
                      struct report *report) {
  struct batch batch, stock;
  struct signature signatures[MAX_BATCH];
  snprintf(report->text, sizeof(report->text), "%s", text);
  if (batch_start(&batch, target, text, report) ||
      batch_start(&stock, target, text, report))
    return 1;
  for (int i = 0; i < count; ++i)
    if (!read_signature(batch.module, i, &signatures[i]))
      return batch_fault(report, "no function, or one too large");
  if ((!chosen && choose(&batch, cases, count)) || batch_lower(&batch))
    return 1;
  strcpy(report->stage, "stock lowering");
  if (mlirLogicalResultIsFailure(
          tg_stock_lower(mlirModuleGetOperation(stock.module))))
    return batch_fault(report, "failed");
  struct jit *jits[2] = {compile(&batch, level), NULL};
  if (!jits[0] || !(jits[1] = compile(&stock, -1)))
    return 1;
  for (int i = 0; i < count; ++i) {
    char name[24];
    snprintf(name, sizeof(name), "f%d", i);
    void *functions[2] = {jit_lookup(jits[0], name), jit_lookup(jits[1], name)};
    if (!functions[0] || !functions[1])
      return batch_fault(report, "a function is gone");
    if (run_one(report, &cases[i], i, &signatures[i], functions))
      return 1;
  }
  return 0;
}

int run_nests(const char *target, int level, const uint64_t *seeds, int count,
              struct report *report) {
  struct nest_case *cases = calloc((size_t)count, sizeof(*cases));
  char *text = calloc((size_t)count, NEST_TEXT_NBYTES);
  for (int i = 0; i < count; ++i) {
    generate_nest_case(seeds[i], i, &cases[i]);
    strcat(text, cases[i].text);
  }
  return run_module(target, level, text, cases, count, false, report);
}

int run_nest_text(const char *target, int level, const char *text,
                  struct report *report) {
  static struct nest_case test = {
      .seed = 1, .whole = {true, true, true, true, true, true, true, true}};
  return run_module(target, level, text, &test, 1,
                    strstr(text, TG_CONFIG_ATTRIBUTE) != NULL, report);
}
