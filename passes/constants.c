/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The operations that move are put into a function that takes the constants'
 * data as arguments, and run by tg_evaluate: panels are made by the same code
 * that would make them at run time, so there is one description of them.
 */
#include "passes/constants.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdlib.h>

#include "passes/build.h"
#include "passes/evaluate.h"
#include "passes/from_weights.h"
#include "passes/inspect.h"
#include "passes/prepack.h"

static const char function_name[] = "tgraph_constants";
/* Larger ones are resources: not copied, not compared, not printed in line. */
enum { RESOURCE_NBYTES = 1 << 16, ALIGNMENT = 16 };

struct evaluation {
  const struct tg_hoist *hoist;
  MlirModule module;
  MlirOperation function;
  struct tg_tensor_data *inputs, *results;
  size_t input_count;
};

static MlirBlock entry_of(MlirOperation function) {
  return mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0));
}

/*===-- The function ------------------------------------------------------===*/

/* Copies of the outlined functions that this one calls. */
static MlirWalkResult copy_callee(MlirOperation op, void *data) {
  const struct evaluation *evaluation = data;
  if (!tg_op_is(op, "func.call"))
    return MlirWalkResultAdvance;
  MlirStringRef name = mlirFlatSymbolRefAttrGetValue(
      mlirOperationGetAttributeByName(op, tg_ref("callee")));
  MlirOperation callee = tg_outliner_find(evaluation->hoist->outliner, name);
  MlirOperation module = mlirModuleGetOperation(evaluation->module);
  if (!mlirOperationIsNull(callee) && !tg_symbol_exists(module, name.data))
    mlirBlockAppendOwnedOperation(mlirModuleGetBody(evaluation->module),
                                  mlirOperationClone(callee));
  return MlirWalkResultAdvance;
}

/* Constants with data become arguments. False: out of memory. */
static bool take_constants(struct evaluation *evaluation) {
  MlirBlock entry = entry_of(evaluation->function);
  struct tg_arena *arena = evaluation->hoist->arena;
  size_t most = evaluation->hoist->count + 1;
  evaluation->inputs = tg_arena_alloc(arena, most, sizeof(*evaluation->inputs));
  MlirType *types = tg_arena_alloc(arena, most, sizeof(*types));
  if (!evaluation->inputs || !types)
    return false;
  MlirOperation next = mlirBlockGetFirstOperation(entry);
  while (!mlirOperationIsNull(next)) {
    MlirOperation op = next;
    size_t nbytes;
    next = mlirOperationGetNextInBlock(op);
    const void *bytes = tg_constant_bytes(op, &nbytes);
    if (!bytes)
      continue;
    MlirValue result = mlirOperationGetResult(op, 0);
    MlirType type = mlirValueGetType(result);
    types[evaluation->input_count] = type;
    evaluation->inputs[evaluation->input_count++] =
        (struct tg_tensor_data){type, (void *)bytes};
    mlirValueReplaceAllUsesOfWith(
        result,
        mlirBlockAddArgument(entry, type, mlirOperationGetLocation(op)));
    mlirOperationDestroy(op);
  }
  MlirContext context = mlirOperationGetContext(evaluation->function);
  MlirType old = mlirTypeAttrGetValue(mlirOperationGetAttributeByName(
      evaluation->function, tg_ref("function_type")));
  size_t count = evaluation->hoist->panel_count;
  MlirType *outputs = tg_arena_alloc(arena, count, sizeof(*outputs));
  evaluation->results =
      tg_arena_alloc(arena, count, sizeof(*evaluation->results));
  if (!outputs || !evaluation->results)
    return false;
  for (size_t i = 0; i < count; ++i) {
    outputs[i] = mlirFunctionTypeGetResult(old, (intptr_t)i);
    evaluation->results[i] = (struct tg_tensor_data){outputs[i], NULL};
  }
  mlirOperationSetAttributeByName(
      evaluation->function, tg_ref("function_type"),
      mlirTypeAttrGet(mlirFunctionTypeGet(context,
                                          (intptr_t)evaluation->input_count,
                                          types, (intptr_t)count, outputs)));
  return true;
}

/* Moves the function to a module of its own, where it can be called. */
static bool isolate(struct evaluation *evaluation) {
  MlirOperation function =
      tg_hoist_to_function(evaluation->hoist, function_name);
  if (mlirOperationIsNull(function))
    return false;
  evaluation->function = function;
  evaluation->module =
      mlirModuleCreateEmpty(mlirOperationGetLocation(function));
  mlirOperationRemoveFromParent(function);
  mlirBlockAppendOwnedOperation(mlirModuleGetBody(evaluation->module),
                                function);
  mlirOperationRemoveAttributeByName(function, tg_ref("sym_visibility"));
  mlirOperationSetDiscardableAttributeByName(
      function, tg_ref("llvm.emit_c_interface"),
      mlirUnitAttrGet(mlirOperationGetContext(function)));
  mlirOperationWalk(function, copy_callee, evaluation, MlirWalkPreOrder);
  return take_constants(evaluation);
}

/*===-- Its results -------------------------------------------------------===*/

static void release_data(void *user, const void *data, size_t nbytes,
                         size_t alignment) {
  (void)user;
  (void)nbytes;
  (void)alignment;
  free((void *)data);
}

/* Takes the data over. */
static MlirAttribute make_elements(const struct tg_tensor_data *tensor) {
  size_t nbytes = tg_tensor_nbytes(tensor->type);
  if (nbytes >= RESOURCE_NBYTES)
    return mlirUnmanagedDenseResourceElementsAttrGet(
        tensor->type, tg_ref("tgraph_panel"), tensor->data, nbytes, ALIGNMENT,
        false, release_data, NULL);
  MlirAttribute elements = mlirDenseElementsAttrRawBufferGet(
      tensor->type, (intptr_t)nbytes, tensor->data);
  free(tensor->data);
  return elements;
}

static MlirValue insert_constant(MlirOperation function, MlirType type,
                                 MlirAttribute elements) {
  MlirNamedAttribute value =
      tg_named(mlirOperationGetContext(function), "value", elements);
  return mlirOperationGetResult(
      tg_insert_before(mlirBlockGetFirstOperation(entry_of(function)),
                       "arith.constant", 0, NULL, 1, &type, &value),
      0);
}

static void forget_call(struct tg_packs *packs, MlirOperation op) {
  size_t kept = 0;
  for (size_t i = 0; i < packs->count; ++i)
    if (!mlirOperationEqual(packs->calls[i], op))
      packs->calls[kept++] = packs->calls[i];
  packs->count = kept;
}

/* Constants in place of what was computed, which goes. */
static void put_results(const struct evaluation *evaluation,
                        struct tg_packs *packs) {
  const struct tg_hoist *hoist = evaluation->hoist;
  for (size_t p = 0; p < hoist->panel_count; ++p) {
    const struct tg_tensor_data *result = &evaluation->results[p];
    MlirValue constant =
        insert_constant(hoist->function, result->type, make_elements(result));
    for (size_t i = 0; i < hoist->frontier_count; ++i)
      if (hoist->frontier[i].panel == p)
        mlirValueReplaceAllUsesOfWith(
            mlirOperationGetResult(hoist->ops[hoist->frontier[i].op].op,
                                   hoist->frontier[i].result),
            constant);
  }
  for (size_t i = hoist->count; i-- > 0;)
    if (hoist->ops[i].from_weights && !hoist->ops[i].stays) {
      forget_call(packs, hoist->ops[i].op);
      mlirOperationDestroy(hoist->ops[i].op);
    }
}

/*===-- Functions ---------------------------------------------------------===*/

static bool evaluate_function(MlirOperation function,
                              const struct tg_outliner *outliner,
                              struct tg_packs *packs) {
  struct tg_hoist hoist = {.arena = packs->arena,
                           .outliner = outliner,
                           .packs = packs,
                           .function = function,
                           .only_constants = true};
  if (!tg_hoist_find(&hoist))
    return false;
  struct evaluation evaluation = {.hoist = &hoist};
  if (hoist.panel_count == 0)
    return true;
  bool good = isolate(&evaluation);
  if (good && evaluation.input_count > 0 &&
      tg_evaluate(mlirModuleGetOperation(evaluation.module), function_name,
                  evaluation.inputs, evaluation.input_count, evaluation.results,
                  hoist.panel_count))
    put_results(&evaluation, packs);
  if (!mlirModuleIsNull(evaluation.module))
    mlirModuleDestroy(evaluation.module);
  return good;
}

bool tg_evaluate_constants(MlirOperation module,
                           const struct tg_outliner *outliner,
                           struct tg_packs *packs) {
  bool good = true;
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(module, 0));
  MlirOperation next = mlirBlockGetFirstOperation(body);
  while (!mlirOperationIsNull(next) && good) {
    MlirOperation op = next;
    next = mlirOperationGetNextInBlock(op);
    if (tg_is_program_function(op, outliner))
      good = evaluate_function(op, outliner, packs);
  }
  return good;
}
