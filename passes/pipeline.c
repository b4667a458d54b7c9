/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Pipelines of upstream passes, and the dialects that ours create.
 */
#include "passes/pipeline.h"

#include <mlir-c/Diagnostics.h>
#include <mlir-c/Pass.h>

#include "model/error.h"
#include "model/text.h"
#include "passes/inspect.h"
#include "passes/passes.h"

MlirLogicalResult tg_run_pipeline(MlirOperation module, const char *pipeline) {
  MlirPassManager manager =
      mlirPassManagerCreate(mlirOperationGetContext(module));
  struct tg_text text = {0};
  MlirLogicalResult result =
      mlirParsePassPipeline(mlirPassManagerGetAsOpPassManager(manager),
                            tg_ref(pipeline), tg_append_ref, &text);
  if (mlirLogicalResultIsFailure(result)) {
    struct tg_error error;
    tg_fail(&error, "a pass is not registered: %s", text.data ? text.data : "");
    mlirEmitError(mlirOperationGetLocation(module), error.message);
  } else {
    result = mlirPassManagerRunOnOp(manager, module);
  }
  tg_text_destroy(&text);
  mlirPassManagerDestroy(manager);
  return result;
}

void tg_load_dialects(MlirContext context) {
  static const char *const names[] = {
#define DIALECT(name, type) name,
#include "passes/dialects.def"
  };
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i)
    mlirContextGetOrLoadDialect(context, tg_ref(names[i]));
}
