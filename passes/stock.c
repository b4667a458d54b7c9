/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The stock lowering: what upstream MLIR alone makes of a program, one plain
 * loop nest per operation. It is the reference of every comparison of results
 * and of time, so it is one fixed pipeline and takes no options.
 */
#include "passes/stock.h"

#include "passes/decompose.h"
#include "passes/passes.h"
#include "passes/pipeline.h"

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

MlirLogicalResult tg_stock_lower(MlirOperation module) {
  if (mlirLogicalResultIsFailure(
          tg_decompose(module, TG_DECOMPOSE_FOR_BUFFERS)))
    return mlirLogicalResultFailure();
  return tg_run_pipeline(module, stock_pipeline);
}
