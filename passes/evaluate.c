/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The code lives in a context of its own, which takes it as text: whatever the
 * program's context is busy with, and whatever isn't registered there, is of
 * no concern. Data goes in and out by address, never through attributes.
 */
#include "passes/evaluate.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/Diagnostics.h>
#include <mlir-c/ExecutionEngine.h>
#include <mlir-c/RegisterEverything.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "model/text.h"
#include "passes/inspect.h"
#include "passes/passes.h"

/* A ranked memref as the C interface passes it: two addresses, offset, sizes,
 * strides, each of 64 bits. */
enum { DESCRIPTOR_HEAD = 3 };

static size_t element_nbytes(MlirType type) {
  if (mlirTypeIsAF64(type))
    return 8;
  if (mlirTypeIsAF32(type))
    return 4;
  if (mlirTypeIsAF16(type) || mlirTypeIsABF16(type))
    return 2;
  if (mlirTypeIsAInteger(type) && mlirIntegerTypeGetWidth(type) % 8 == 0 &&
      mlirIntegerTypeGetWidth(type) <= 64)
    return mlirIntegerTypeGetWidth(type) / 8;
  return 0;
}

size_t tg_tensor_nbytes(MlirType type) {
  if (!mlirTypeIsARankedTensor(type) || !mlirShapedTypeHasStaticShape(type))
    return 0;
  size_t nbytes = element_nbytes(mlirShapedTypeGetElementType(type));
  for (intptr_t d = 0; d < mlirShapedTypeGetRank(type); ++d)
    nbytes *= (size_t)mlirShapedTypeGetDimSize(type, d);
  return nbytes;
}

static size_t descriptor_words(MlirType type) {
  return DESCRIPTOR_HEAD + 2 * (size_t)mlirShapedTypeGetRank(type);
}

static void describe(const struct tg_tensor_data *tensor, uint64_t *words) {
  intptr_t rank = mlirShapedTypeGetRank(tensor->type);
  words[0] = words[1] = (uint64_t)(uintptr_t)tensor->data;
  words[2] = 0;
  uint64_t stride = 1;
  for (intptr_t d = rank; d-- > 0;) {
    uint64_t size = (uint64_t)mlirShapedTypeGetDimSize(tensor->type, d);
    words[DESCRIPTOR_HEAD + d] = size;
    words[DESCRIPTOR_HEAD + rank + d] = stride;
    stride *= size;
  }
}

/* Results are contiguous: they are memory that the function allocated. */
static bool take_result(const uint64_t *words, struct tg_tensor_data *result) {
  size_t nbytes = tg_tensor_nbytes(result->type);
  size_t unit = element_nbytes(mlirShapedTypeGetElementType(result->type));
  const char *from = (const char *)(uintptr_t)words[1] + words[2] * unit;
  result->data = malloc(nbytes);
  if (result->data)
    memcpy(result->data, from, nbytes);
  return result->data != NULL;
}

struct call {
  uint64_t *words;  /* descriptors: of the results, then of the inputs */
  void **addresses; /* what the C interface takes */
  void **packed;    /* the addresses of those */
};

static size_t count_words(const struct tg_tensor_data *tensors, size_t count) {
  size_t words = 0;
  for (size_t i = 0; i < count; ++i)
    words += descriptor_words(tensors[i].type);
  return words;
}

static bool prepare(struct call *call, const struct tg_tensor_data *inputs,
                    size_t input_count, const struct tg_tensor_data *results,
                    size_t result_count) {
  size_t first = count_words(results, result_count);
  call->words = calloc(first + count_words(inputs, input_count) + 1,
                       sizeof(*call->words));
  call->addresses = calloc(input_count + 1, sizeof(*call->addresses));
  call->packed = calloc(input_count + 1, sizeof(*call->packed));
  if (!call->words || !call->addresses || !call->packed)
    return false;
  call->addresses[0] = call->words; /* of all results, one after the other */
  uint64_t *at = call->words + first;
  for (size_t i = 0; i < input_count; ++i) {
    describe(&inputs[i], at);
    call->addresses[i + 1] = at;
    at += descriptor_words(inputs[i].type);
  }
  for (size_t i = 0; i <= input_count; ++i)
    call->packed[i] = &call->addresses[i];
  return true;
}

static bool take_results(const struct call *call,
                         struct tg_tensor_data *results, size_t count) {
  bool good = true;
  const uint64_t *at = call->words;
  for (size_t i = 0; i < count; ++i) {
    good = good && take_result(at, &results[i]);
    free((void *)(uintptr_t)at[0]);
    at += descriptor_words(results[i].type);
  }
  for (size_t i = 0; i < count && !good; ++i) {
    free(results[i].data);
    results[i].data = NULL;
  }
  return good;
}

static bool run(MlirModule module, const char *function,
                const struct tg_tensor_data *inputs, size_t input_count,
                struct tg_tensor_data *results, size_t result_count) {
  enum { OPTIMISATION = 2 };
  MlirExecutionEngine engine =
      mlirExecutionEngineCreate(module, OPTIMISATION, 0, NULL, false, false);
  if (mlirExecutionEngineIsNull(engine))
    return false;
  struct call call = {NULL, NULL, NULL};
  bool good = prepare(&call, inputs, input_count, results, result_count) &&
              mlirLogicalResultIsSuccess(mlirExecutionEngineInvokePacked(
                  engine, tg_ref(function), call.packed)) &&
              take_results(&call, results, result_count);
  free(call.words);
  free(call.addresses);
  free(call.packed);
  mlirExecutionEngineDestroy(engine);
  return good;
}

/* What goes wrong here is no error of the program. */
static MlirLogicalResult swallow(MlirDiagnostic diagnostic, void *user) {
  (void)diagnostic;
  (void)user;
  return mlirLogicalResultSuccess();
}

bool tg_evaluate(MlirOperation module, const char *function,
                 const struct tg_tensor_data *inputs, size_t input_count,
                 struct tg_tensor_data *results, size_t result_count) {
  struct tg_text text = {0};
  mlirOperationPrint(module, tg_append_ref, &text);
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  mlirRegisterAllDialects(registry);
  MlirContext context = mlirContextCreateWithRegistry(registry, false);
  mlirDialectRegistryDestroy(registry);
  mlirRegisterAllLLVMTranslations(context);
  mlirContextAttachDiagnosticHandler(context, swallow, NULL, NULL);
  tg_load_dialects(context);
  MlirModule copy = {NULL};
  if (!text.failed)
    copy = mlirModuleCreateParse(context,
                                 mlirStringRefCreate(text.data, text.length));
  tg_text_destroy(&text);
  bool good = !mlirModuleIsNull(copy) &&
              mlirLogicalResultIsSuccess(
                  tg_lower(mlirModuleGetOperation(copy), NULL)) &&
              run(copy, function, inputs, input_count, results, result_count);
  if (!mlirModuleIsNull(copy))
    mlirModuleDestroy(copy);
  mlirContextDestroy(context);
  return good;
}
