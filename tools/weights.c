/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Arguments that are weights; see weights.h. */
#include "tools/weights.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/Dialect/Func.h>
#include <stdio.h>
#include <string.h>

#include "passes/inspect.h"
#include "passes/prepack.h"

static const char number_attribute[] = "tgraph.argument";

/* The function of that name with a body; null if there is none. */
static MlirOperation find_function(MlirOperation module, const char *name) {
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(module, 0));
  for (MlirOperation op = mlirBlockGetFirstOperation(body);
       !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
    if (!tg_op_is(op, "func.func"))
      continue;
    MlirStringRef own = mlirStringAttrGetValue(
        mlirOperationGetAttributeByName(op, tg_ref("sym_name")));
    if (mlirStringRefEqual(own, tg_ref(name)))
      return op;
  }
  return (MlirOperation){NULL};
}

enum tg_status tg_weights_mark(const struct tg_program *program,
                               MlirOperation module, const char *list,
                               struct tg_error *error) {
  MlirOperation function = find_function(module, program->function);
  MlirType i64 = mlirIntegerTypeGet(program->context, 64);
  bool known = list[0] != 0;
  for (int i = 0; i < program->argument_count; i++) {
    const char *kind = program->arguments[i].kind;
    bool weight = !strcmp(kind, "parameter") || !strcmp(kind, "buffer");
    if (weight && !list[0])
      mlirFuncSetArgAttr(function, i, tg_ref(TG_WEIGHT_ATTRIBUTE),
                         mlirUnitAttrGet(program->context));
    known |=
        weight || tg_argument_has_attribute(function, i, TG_WEIGHT_ATTRIBUTE);
    mlirFuncSetArgAttr(function, i, tg_ref(number_attribute),
                       mlirIntegerAttrGet(i64, i));
  }
  return known ? TG_OK
               : tg_fail(error,
                         "%s: no argument of @%s is known to be a weight; name "
                         "them with --weights",
                         program->path, program->function);
}

/* The numbers that a function's arguments carry, in their order. */
static enum tg_status read_numbers(const struct tg_program *program,
                                   MlirOperation function, int **numbers,
                                   int *count, struct tg_error *error) {
  MlirAttribute all =
      mlirOperationGetAttributeByName(function, tg_ref("arg_attrs"));
  intptr_t most =
      mlirAttributeIsNull(all) ? 0 : mlirArrayAttrGetNumElements(all);
  *numbers = tg_arena_alloc(program->arena, (size_t)most + 1, sizeof **numbers);
  *count = 0;
  if (!*numbers)
    return tg_fail_memory(error, program->path);
  for (intptr_t i = 0; i < most; i++) {
    int64_t number;
    if (tg_attribute_integer(
            mlirDictionaryAttrGetElementByName(mlirArrayAttrGetElement(all, i),
                                               tg_ref(number_attribute)),
            &number))
      (*numbers)[(*count)++] = (int)number;
  }
  return TG_OK;
}

enum tg_status tg_weights_find(const struct tg_program *program,
                               MlirOperation module,
                               struct tg_split_signature *split,
                               struct tg_error *error) {
  char name[256];
  memset(split, 0, sizeof *split);
  snprintf(name, sizeof name, "%s_prepack", program->function);
  MlirOperation prepack = find_function(module, name);
  snprintf(name, sizeof name, "%s_packed", program->function);
  MlirOperation packed = find_function(module, name);
  if (mlirOperationIsNull(prepack) || mlirOperationIsNull(packed))
    return TG_OK;
  split->found = true;
  enum tg_status status = read_numbers(program, prepack, &split->weights,
                                       &split->weight_count, error);
  if (status == TG_OK)
    status = read_numbers(program, packed, &split->others, &split->other_count,
                          error);
  return status;
}
