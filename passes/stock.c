/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The stock lowering: what upstream MLIR alone makes of a program, one plain
 * loop nest per operation. It is the reference of every comparison of results
 * and of time, so it is one fixed pipeline and takes no options.
 */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/Dialect/Transform/Interpreter.h>
#include <string.h>

#include "passes/inspect.h"
#include "passes/passes.h"
#include "passes/pipeline.h"
#include "passes/stock.h"

/* Bufferization cannot take packs and unpacks, so they become a transpose
 * and a reshape first. */
static const char unpack_schedule[] =
    "module attributes {transform.with_named_sequence} {\n"
    "  transform.named_sequence @__transform_main(\n"
    "      %root: !transform.any_op {transform.readonly}) {\n"
    "    %packs = transform.structured.match ops{[\"linalg.pack\"]} in %root\n"
    "      : (!transform.any_op) -> !transform.op<\"linalg.pack\">\n"
    "    %0:3 = transform.structured.lower_pack %packs\n"
    "      : (!transform.op<\"linalg.pack\">)\n"
    "      -> (!transform.op<\"tensor.pad\">,\n"
    "          !transform.op<\"tensor.expand_shape\">,\n"
    "          !transform.op<\"linalg.transpose\">)\n"
    "    %unpacks = transform.structured.match ops{[\"linalg.unpack\"]}\n"
    "      in %root : (!transform.any_op) -> !transform.op<\"linalg.unpack\">\n"
    "    %1:4 = transform.structured.lower_unpack %unpacks\n"
    "      : (!transform.op<\"linalg.unpack\">)\n"
    "      -> (!transform.op<\"tensor.empty\">,\n"
    "          !transform.op<\"linalg.transpose\">,\n"
    "          !transform.op<\"tensor.collapse_shape\">,\n"
    "          !transform.op<\"tensor.extract_slice\">)\n"
    "    transform.yield\n"
    "  }\n"
    "}\n";

/* Empty-tensor elimination is off: it is an optimization of buffers that the
 * plain reference does without. Deallocation is on, as a program that leaks
 * would not be a fair one to race. */
static const char stock_pipeline[] =
    "builtin.module("
    "one-shot-bufferize{bufferize-function-boundaries "
    "function-boundary-type-conversion=identity-layout-map},"
    "buffer-deallocation-pipeline,"
    "convert-bufferization-to-memref,convert-linalg-to-loops,"
    "expand-strided-metadata,lower-affine,convert-scf-to-cf,"
    "convert-math-to-llvm,convert-math-to-libm,arith-expand,"
    "convert-arith-to-llvm,convert-index-to-llvm,finalize-memref-to-llvm,"
    "convert-func-to-llvm,convert-cf-to-llvm,convert-ub-to-llvm,"
    "reconcile-unrealized-casts)";

const char *tg_stock_pipeline(void) { return stock_pipeline; }

static MlirWalkResult find_pack(MlirOperation op, void *found) {
  if (tg_op_is(op, "linalg.pack") || tg_op_is(op, "linalg.unpack")) {
    *(bool *)found = true;
    return MlirWalkResultInterrupt;
  }
  return MlirWalkResultAdvance;
}

MlirLogicalResult tg_decompose_packs(MlirOperation module) {
  bool found = false;
  mlirOperationWalk(module, find_pack, &found, MlirWalkPreOrder);
  if (!found)
    return mlirLogicalResultSuccess();
  MlirContext context = mlirOperationGetContext(module);
  mlirContextGetOrLoadDialect(context, tg_ref("transform"));
  mlirContextGetOrLoadDialect(context, tg_ref("tensor"));
  MlirModule schedule = mlirModuleCreateParse(context, tg_ref(unpack_schedule));
  if (mlirModuleIsNull(schedule))
    return mlirLogicalResultFailure();
  MlirOperation sequence =
      mlirBlockGetFirstOperation(mlirModuleGetBody(schedule));
  MlirTransformOptions options = mlirTransformOptionsCreate();
  MlirLogicalResult result = mlirTransformApplyNamedSequence(
      module, sequence, mlirModuleGetOperation(schedule), options);
  mlirTransformOptionsDestroy(options);
  mlirModuleDestroy(schedule);
  return result;
}

MlirLogicalResult tg_stock_lower(MlirOperation module) {
  if (mlirLogicalResultIsFailure(tg_decompose_packs(module)))
    return mlirLogicalResultFailure();
  return tg_run_pipeline(module, stock_pipeline);
}
