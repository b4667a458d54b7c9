/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Calls a pass of the installed library on a module of its own. */
#include <passes/passes.h>
#include <stdio.h>

int main(void) {
  MlirContext context = mlirContextCreate();
  mlirContextSetAllowUnregisteredDialects(context, true);
  MlirModule module = mlirModuleCreateParse(
      context, mlirStringRefCreateFromCString(
                   "module attributes {tgraph.target = \"avx2\"} {}"));
  MlirOperation op = mlirModuleGetOperation(module);
  MlirLogicalResult result = tg_strip(op, NULL);
  bool good = mlirLogicalResultIsSuccess(result) &&
              mlirOperationGetNumDiscardableAttributes(op) == 0;
  puts(good ? "stripped" : "failed");
  mlirModuleDestroy(module);
  mlirContextDestroy(context);
  return good ? 0 : 1;
}
