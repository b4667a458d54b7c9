/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * tgraph-lower: from tensors to the LLVM dialect. Upstream's passes do the
 * work; between bufferization and loops, strided copies are taken away from
 * the runtime library, whose memrefCopy moves one element at a time.
 */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/Pass.h>
#include <string.h>

#include "model/text.h"
#include "passes/attribute.h"
#include "passes/copy.h"
#include "passes/decompose.h"
#include "passes/inspect.h"
#include "passes/passes.h"
#include "passes/pipeline.h"
#include "passes/workspace.h"

/* A kernel writes into the result that it is given. Were it to return it as
 * well, deallocation would have it return a copy that the caller owns. What a
 * loop's iterations need is allocated before the loop. */
static const char bufferize[] =
    "builtin.module("
    "canonicalize,linalg-fuse-elementwise-ops,canonicalize,cse,"
    "empty-tensor-to-alloc-tensor,"
    "one-shot-bufferize{bufferize-function-boundaries "
    "function-boundary-type-conversion=identity-layout-map},"
    "canonicalize,cse,canonicalize,drop-equivalent-buffer-results,"
    "func.func(buffer-loop-hoisting),buffer-deallocation-pipeline)";

static const char to_llvm[] =
    "builtin.module("
    "convert-bufferization-to-memref,convert-linalg-to-loops,"
    "convert-vector-to-scf{full-unroll=true},"
    "expand-strided-metadata,lower-affine,canonicalize,cse,"
    "loop-invariant-code-motion,"
    "convert-scf-to-cf,"
    "convert-math-to-llvm,convert-math-to-libm,arith-expand,"
    "convert-vector-to-llvm,"
    "convert-arith-to-llvm,convert-index-to-llvm,finalize-memref-to-llvm,"
    "convert-func-to-llvm,convert-cf-to-llvm,convert-ub-to-llvm,"
    "reconcile-unrealized-casts,canonicalize,cse)";

/* The target's features as LLVM's attribute; null where it names none. */
static MlirAttribute features_attribute(MlirContext context,
                                        const struct tg_target *target) {
  struct tg_text text = {0};
  tg_text_print(&text, "#llvm.target_features<[");
  int count = 0;
  for (const char *at = target->features; *at;) {
    int length = (int)strcspn(at, ",");
    if (length > 1 && (*at == '+' || *at == '-'))
      tg_text_print(&text, "%s\"%.*s\"", count++ ? ", " : "", length, at);
    at += length + (at[length] == ',');
  }
  tg_text_print(&text, "]>");
  MlirAttribute features =
      count && !text.failed ? mlirAttributeParseGet(context, tg_ref(text.data))
                            : mlirAttributeGetNull();
  tg_text_destroy(&text);
  return features;
}

/* The CPU that the code was made for, on every function with a body. */
static MlirWalkResult record_cpu(MlirOperation op, void *data) {
  const struct tg_target *target = data;
  if (!tg_op_is(op, "llvm.func"))
    return MlirWalkResultAdvance;
  MlirRegion body = mlirOperationGetRegion(op, 0);
  if (mlirBlockIsNull(mlirRegionGetFirstBlock(body)) ||
      tg_op_has_attribute(op, "target_cpu"))
    return MlirWalkResultSkip;
  MlirContext context = mlirOperationGetContext(op);
  mlirOperationSetAttributeByName(
      op, tg_ref("target_cpu"),
      mlirStringAttrGet(context, tg_ref(target->cpu)));
  MlirAttribute features = features_attribute(context, target);
  if (!mlirAttributeIsNull(features) &&
      !tg_op_has_attribute(op, "target_features"))
    mlirOperationSetAttributeByName(op, tg_ref("target_features"), features);
  return MlirWalkResultSkip;
}

static MlirWalkResult find_script(MlirOperation op, void *data) {
  if (!tg_op_is(op, "transform.named_sequence"))
    return MlirWalkResultAdvance;
  *(MlirLocation *)data = mlirOperationGetLocation(op);
  return MlirWalkResultInterrupt;
}

MlirLogicalResult tg_lower_to_buffers(MlirOperation module,
                                      const struct tg_remark_sink *remarks) {
  struct tg_target target;
  struct tg_error error;
  if (tg_get_target(module, &target, &error))
    return tg_fail_at(module, "tgraph-lower", error.message);
  MlirLocation script = {NULL};
  mlirOperationWalk(module, find_script, &script, MlirWalkPreOrder);
  if (script.ptr)
    tg_remark(remarks, script, TG_REMARK_MISSED,
              "a transform script stays in the module; remove it before "
              "the translation to LLVM IR");
  if (mlirLogicalResultIsFailure(
          tg_decompose(module, TG_DECOMPOSE_FOR_BUFFERS)) ||
      mlirLogicalResultIsFailure(tg_run_pipeline(module, bufferize)))
    return mlirLogicalResultFailure();
  struct tg_arena *arena = tg_arena_create();
  bool shared = arena && tg_share_workspace(module, arena);
  tg_arena_destroy(arena);
  if (!shared)
    return tg_fail_at(module, "tgraph-lower", "out of memory");
  tg_expand_copies(module, target.vector_bits);
  return mlirLogicalResultSuccess();
}

MlirLogicalResult tg_lower_to_llvm(MlirOperation module) {
  struct tg_target target;
  struct tg_error error;
  if (tg_get_target(module, &target, &error))
    return tg_fail_at(module, "tgraph-lower", error.message);
  if (mlirLogicalResultIsFailure(tg_run_pipeline(module, to_llvm)))
    return mlirLogicalResultFailure();
  if (tg_op_has_attribute(module, TG_TARGET_ATTRIBUTE))
    mlirOperationWalk(module, record_cpu, &target, MlirWalkPreOrder);
  return mlirLogicalResultSuccess();
}

MlirLogicalResult tg_lower(MlirOperation module,
                           const struct tg_remark_sink *remarks) {
  if (mlirLogicalResultIsFailure(tg_lower_to_buffers(module, remarks)))
    return mlirLogicalResultFailure();
  return tg_lower_to_llvm(module);
}
