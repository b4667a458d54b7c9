/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A given module against its stock lowering.
 */
#include <math.h>
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/schedules/batch.h"
#include "test/schedules/schedules.h"

enum { MAX_RESULTS = 4 };

struct signature {
  int argument_count, result_count;
  struct tensor argument[MAX_ARGUMENTS], result[MAX_RESULTS];
  bool is_double;
};

static struct tensor tensor_of(MlirType type) {
  struct tensor tensor = {(int)mlirShapedTypeGetRank(type), {0}, {false}};
  for (int d = 0; d < tensor.rank; ++d)
    tensor.extent[d] = mlirShapedTypeGetDimSize(type, d);
  return tensor;
}

static struct signature signature_of(MlirModule module) {
  struct signature signature = {0};
  MlirOperation function =
      mlirBlockGetFirstOperation(mlirModuleGetBody(module));
  MlirType type = mlirTypeAttrGetValue(mlirOperationGetAttributeByName(
      function, mlirStringRefCreateFromCString("function_type")));
  signature.argument_count = (int)mlirFunctionTypeGetNumInputs(type);
  signature.result_count = (int)mlirFunctionTypeGetNumResults(type);
  for (int i = 0; i < signature.argument_count; ++i)
    signature.argument[i] = tensor_of(mlirFunctionTypeGetInput(type, i));
  for (int i = 0; i < signature.result_count; ++i)
    signature.result[i] = tensor_of(mlirFunctionTypeGetResult(type, i));
  signature.is_double = mlirTypeIsAF64(
      mlirShapedTypeGetElementType(mlirFunctionTypeGetResult(type, 0)));
  return signature;
}

/* All results, one behind the other, as doubles. */
static double *call(struct jit *jit, const struct signature *signature) {
  struct random random = {7};
  struct memref arguments[MAX_ARGUMENTS];
  size_t nbytes = signature->is_double ? 8 : 4;
  for (int a = 0; a < signature->argument_count; ++a) {
    int64_t count = tensor_elements(&signature->argument[a]);
    void *data = guarded_alloc((size_t)count * nbytes, nbytes, GUARD_END);
    for (int64_t i = 0; i < count; ++i) {
      float value = (float)random_unit(&random);
      if (signature->is_double)
        ((double *)data)[i] = value;
      else
        ((float *)data)[i] = value;
    }
    memref_set(&arguments[a], data, &signature->argument[a]);
  }
  char *results = calloc(MAX_RESULTS, sizeof(struct memref)), *at = results;
  jit_call(jit_lookup(jit, "f"), results, signature->argument_count, arguments);
  int64_t total = 0, used = 0;
  for (int r = 0; r < signature->result_count; ++r)
    total += tensor_elements(&signature->result[r]);
  double *values = calloc((size_t)total, sizeof(double));
  for (int r = 0; r < signature->result_count; ++r) {
    struct memref memref;
    memcpy(&memref, at, memref_nbytes(signature->result[r].rank));
    at += memref_nbytes(signature->result[r].rank);
    for (int64_t i = 0; i < tensor_elements(&signature->result[r]); ++i) {
      int64_t element = memref.offset + i;
      values[used++] = signature->is_double
                           ? ((const double *)(void *)memref.aligned)[element]
                           : ((const float *)(void *)memref.aligned)[element];
    }
  }
  free(results);
  return values;
}

static int compile_and_call(struct batch *batch, int level,
                            const struct signature *signature,
                            double **values) {
  char reason[256];
  strcpy(batch->report->stage, "compile");
  struct jit *jit = jit_create(mlirModuleGetOperation(batch->module), level,
                               reason, sizeof(reason));
  if (!jit)
    return batch_fault(batch->report, reason);
  strcpy(batch->report->stage, "run @f");
  *values = call(jit, signature);
  return is_slack_intact()
             ? 0
             : batch_fault(batch->report, "wrote behind the end of a buffer");
}

int run_text(const char *target, int level, const char *text,
             struct report *report) {
  struct batch batch;
  double *ours, *stock, largest = 1e-30, worst = 0;
  if (batch_start(&batch, target, text, report))
    return 1;
  struct signature signature = signature_of(batch.module);
  if (batch_lower(&batch) ||
      compile_and_call(&batch, level, &signature, &ours) ||
      batch_start(&batch, target, text, report))
    return 1;
  if (mlirLogicalResultIsFailure(
          tg_stock_lower(mlirModuleGetOperation(batch.module))))
    return batch_fault(report, "the stock lowering fails");
  if (compile_and_call(&batch, level, &signature, &stock))
    return 1;
  int64_t total = 0;
  for (int r = 0; r < signature.result_count; ++r)
    total += tensor_elements(&signature.result[r]);
  for (int64_t i = 0; i < total; ++i) {
    largest = fabs(stock[i]) > largest ? fabs(stock[i]) : largest;
    double off = fabs(ours[i] - stock[i]);
    worst = off <= worst ? worst : off;
  }
  free(ours);
  free(stock);
  if (worst <= (signature.is_double ? 1e-12 : 1e-5) * largest)
    return 0;
  return batch_fault(report, "differs from the stock lowering");
}
