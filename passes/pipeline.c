/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Pipelines of upstream passes, and the dialects that ours create.
 */
#include "passes/pipeline.h"

#include <mlir-c/Diagnostics.h>
#include <mlir-c/Pass.h>
#include <stdio.h>
#include <string.h>

#include "passes/passes.h"

struct text {
  char data[256];
  size_t length;
};

static void append(MlirStringRef part, void *data) {
  struct text *text = data;
  for (size_t i = 0; i < part.length && text->length + 1 < sizeof(text->data);
       ++i)
    text->data[text->length++] = part.data[i] == '\n' ? ' ' : part.data[i];
}

MlirLogicalResult tg_run_pipeline(MlirOperation module, const char *pipeline) {
  MlirPassManager manager =
      mlirPassManagerCreate(mlirOperationGetContext(module));
  struct text text = {{0}, 0};
  MlirLogicalResult result = mlirParsePassPipeline(
      mlirPassManagerGetAsOpPassManager(manager),
      mlirStringRefCreateFromCString(pipeline), append, &text);
  if (mlirLogicalResultIsFailure(result)) {
    char message[320];
    snprintf(message, sizeof(message), "a pass is not registered: %s",
             text.data);
    mlirEmitError(mlirOperationGetLocation(module), message);
  } else {
    result = mlirPassManagerRunOnOp(manager, module);
  }
  mlirPassManagerDestroy(manager);
  return result;
}

void tg_load_dialects(MlirContext context) {
  static const char *const names[] = {
      "affine", "arith",  "bufferization", "cf",   "func",
      "index",  "linalg", "llvm",          "math", "memref",
      "scf",    "tensor", "transform",     "ub",   "vector"};
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i)
    mlirContextGetOrLoadDialect(context,
                                mlirStringRefCreateFromCString(names[i]));
}
