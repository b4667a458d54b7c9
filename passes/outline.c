/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Making and keeping outlined functions.
 */
#include "passes/outline.h"

#include <assert.h>
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/Dialect/LLVM.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/text.h"
#include "passes/build.h"
#include "passes/inspect.h"

enum { NAME_NBYTES = 192 };

/* A function that was kept, with its text: equal text, same function. */
struct tg_outlined {
  MlirOperation function;
  bool total;
  char *text;
  char name[NAME_NBYTES];
  struct tg_outlined *next;
};

MlirOperation tg_outline_begin(MlirLocation location, MlirType type,
                               MlirBlock *entry) {
  MlirContext context = mlirLocationGetContext(location);
  MlirAttribute noinline = mlirStringAttrGet(context, tg_ref("noinline"));
  /* Two objects may hold functions of one name: the symbol stays inside. */
  MlirNamedAttribute attributes[] = {
      tg_named(context, "sym_name",
               mlirStringAttrGet(context, tg_ref("tgraph_kernel"))),
      tg_named(context, "function_type", mlirTypeAttrGet(type)),
      tg_named(context, "sym_visibility",
               mlirStringAttrGet(context, tg_ref("private"))),
      tg_named(context, "llvm.linkage",
               mlirLLVMLinkageAttrGet(context, MlirLLVMLinkageInternal)),
      /* One copy of the loops, and a name that a profiler can show. */
      tg_named(context, "passthrough",
               mlirArrayAttrGet(context, 1, &noinline))};
  MlirType inputs[TG_MAX_OUTLINE_ARGUMENTS];
  MlirLocation locations[TG_MAX_OUTLINE_ARGUMENTS];
  intptr_t count = mlirFunctionTypeGetNumInputs(type);
  assert(count <= TG_MAX_OUTLINE_ARGUMENTS);
  for (intptr_t i = 0; i < count; ++i) {
    inputs[i] = mlirFunctionTypeGetInput(type, i);
    locations[i] = location;
  }
  *entry = mlirBlockCreate(count, inputs, locations);
  MlirRegion body = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(body, *entry);
  MlirOperationState state =
      mlirOperationStateGet(tg_ref("func.func"), location);
  mlirOperationStateAddAttributes(
      &state, sizeof(attributes) / sizeof(attributes[0]), attributes);
  mlirOperationStateAddOwnedRegions(&state, 1, &body);
  return mlirOperationCreate(&state);
}

/* The text that equal functions have in common: without locations, and whole
 * whatever the command line says about printing. The function was verified;
 * printing would do so again, and look at the whole module. */
static void print_function(MlirOperation function, struct tg_text *text) {
  MlirOpPrintingFlags flags = mlirOpPrintingFlagsCreate();
  mlirOpPrintingFlagsEnableDebugInfo(flags, false, false);
  mlirOpPrintingFlagsElideLargeElementsAttrs(flags, INTPTR_MAX);
  mlirOpPrintingFlagsAssumeVerified(flags);
  mlirOpPrintingFlagsUseLocalScope(flags);
  mlirOperationPrintWithFlags(function, flags, tg_append_ref, text);
  mlirOpPrintingFlagsDestroy(flags);
}

/* Keeps the function under a name of its own, and takes the text over. */
static const char *keep(struct tg_outliner *outliner, MlirOperation function,
                        const char *name, struct tg_text *text) {
  struct tg_outlined *o = tg_arena_alloc(outliner->arena, 1, sizeof(*o));
  if (!o || !text->data || text->failed) {
    tg_text_destroy(text);
    mlirOperationDestroy(function);
    return NULL;
  }
  snprintf(o->name, sizeof(o->name), "%s", name);
  for (int i = 1; tg_symbol_exists(outliner->module, o->name); ++i)
    snprintf(o->name, sizeof(o->name), "%.*s_%d", NAME_NBYTES - 16, name, i);
  mlirOperationSetAttributeByName(
      function, tg_ref("sym_name"),
      mlirStringAttrGet(mlirOperationGetContext(function), tg_ref(o->name)));
  o->function = function;
  o->total = false;
  o->text = text->data;
  o->next = outliner->outlined;
  outliner->outlined = o;
  return o->name;
}

const char *tg_outline_end(struct tg_outliner *outliner, MlirOperation function,
                           const char *name) {
  MlirBlock body =
      mlirRegionGetFirstBlock(mlirOperationGetRegion(outliner->module, 0));
  mlirBlockAppendOwnedOperation(body, function);
  if (!mlirOperationVerify(function)) {
    mlirOperationDestroy(function);
    return NULL;
  }
  struct tg_text text = {0};
  print_function(function, &text);
  /* --mlir-print-skip-regions leaves the bodies out: nothing to compare. */
  bool whole = text.data && !text.failed && strstr(text.data, "return");
  struct tg_outlined *o = whole ? outliner->outlined : NULL;
  while (o && strcmp(o->text, text.data))
    o = o->next;
  if (!o)
    return keep(outliner, function, name, &text);
  tg_text_destroy(&text);
  mlirOperationDestroy(function);
  return o->name;
}

MlirOperation tg_outliner_find(const struct tg_outliner *outliner,
                               MlirStringRef name) {
  for (const struct tg_outlined *o = outliner->outlined; o; o = o->next)
    if (mlirStringRefEqual(tg_ref(o->name), name))
      return o->function;
  return (MlirOperation){NULL};
}

void tg_outliner_mark_total(struct tg_outliner *outliner, const char *name) {
  for (struct tg_outlined *o = outliner->outlined; o; o = o->next)
    if (!strcmp(o->name, name))
      o->total = true;
}

bool tg_outliner_is_total(const struct tg_outliner *outliner,
                          MlirOperation function) {
  for (const struct tg_outlined *o = outliner->outlined; o; o = o->next)
    if (mlirOperationEqual(o->function, function))
      return o->total;
  return false;
}

void tg_outliner_release(struct tg_outliner *outliner) {
  for (struct tg_outlined *o = outliner->outlined; o; o = o->next)
    free(o->text);
  outliner->outlined = NULL;
}

MlirOperation tg_insert_before(MlirOperation op, const char *name,
                               intptr_t operand_count,
                               const MlirValue *operands, intptr_t result_count,
                               const MlirType *results,
                               const MlirNamedAttribute *attribute) {
  MlirOperationState state =
      mlirOperationStateGet(tg_ref(name), mlirOperationGetLocation(op));
  mlirOperationStateAddOperands(&state, operand_count, operands);
  mlirOperationStateAddResults(&state, result_count, results);
  if (attribute)
    mlirOperationStateAddAttributes(&state, 1, attribute);
  MlirOperation created = mlirOperationCreate(&state);
  mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(op), op, created);
  return created;
}

MlirOperation tg_insert_call(MlirOperation op, const char *symbol,
                             intptr_t operand_count, const MlirValue *operands,
                             intptr_t result_count, const MlirType *results) {
  MlirContext context = mlirOperationGetContext(op);
  MlirNamedAttribute callee = tg_named(
      context, "callee", mlirFlatSymbolRefAttrGet(context, tg_ref(symbol)));
  return tg_insert_before(op, "func.call", operand_count, operands,
                          result_count, results, &callee);
}
