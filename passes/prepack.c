/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Splitting functions into packing and computing.
 */
#include "passes/prepack.h"

#include <ctype.h>
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/Dialect/Func.h>
#include <stdlib.h>
#include <string.h>

#include "model/text.h"
#include "passes/attribute.h"
#include "passes/build.h"
#include "passes/inspect.h"
#include "passes/pipeline.h"

static const char pass_name[] = "tgraph-apply-layouts";

static MlirBlock entry_of(MlirOperation function) {
  return mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0));
}

static bool has_body(MlirOperation op) {
  return tg_op_is(op, "func.func") && !mlirBlockIsNull(entry_of(op));
}

/*===-- Marks -------------------------------------------------------------===*/

/* Marks the argument wherever it exists; false where no function has it. */
static bool mark_argument(MlirOperation module, int64_t argument) {
  bool found = false;
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(module, 0));
  MlirAttribute unit = mlirUnitAttrGet(mlirOperationGetContext(module));
  for (MlirOperation op = mlirBlockGetFirstOperation(body);
       !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op))
    if (has_body(op) && argument < mlirBlockGetNumArguments(entry_of(op))) {
      if (!tg_argument_has_attribute(op, argument, TG_WEIGHT_ATTRIBUTE))
        mlirFuncSetArgAttr(op, argument, tg_ref(TG_WEIGHT_ATTRIBUTE), unit);
      found = true;
    }
  return found;
}

/* A number of at most 9 digits; moves behind it. */
static bool read_number(const char **at, int64_t *number) {
  const char *start = *at;
  *number = 0;
  while (isdigit((unsigned char)**at) && *at - start < 9)
    *number = 10 * *number + (*(*at)++ - '0');
  return *at > start && !isdigit((unsigned char)**at);
}

enum tg_status tg_mark_weights(MlirOperation module, const char *list,
                               struct tg_error *error) {
  if (!tg_op_is(module, "builtin.module"))
    return tg_fail(error, "option 'weights': not on a module");
  for (const char *at = list; *at;) {
    int64_t first, last;
    bool good = read_number(&at, &first);
    last = first;
    if (good && *at == '-') {
      ++at;
      good = read_number(&at, &last);
    }
    if (!good || last < first || (*at != ',' && *at != 0))
      return tg_fail(error,
                     "option 'weights': '%s' is no list of arguments such as "
                     "0,2-7",
                     list);
    for (int64_t argument = first; argument <= last; ++argument)
      if (!mark_argument(module, argument))
        return tg_fail(error,
                       "option 'weights': no function has an argument %lld",
                       (long long)argument);
    at += *at == ',';
  }
  return TG_OK;
}

bool tg_packs_add(struct tg_packs *packs, MlirOperation call) {
  MlirOperation *grown = tg_arena_grow(packs->arena, packs->calls, packs->count,
                                       &packs->capacity, sizeof(*grown));
  if (!grown)
    return false;
  packs->calls = grown;
  packs->calls[packs->count++] = call;
  return true;
}

/*===-- Clones of the function --------------------------------------------===*/

/* A clone's operations, by the numbers that the function's have. */
struct clone {
  MlirOperation function;
  MlirOperation *ops;
  size_t count;
};

static bool add_clone(MlirOperation op, void *data) {
  struct clone *clone = data;
  clone->ops[clone->count++] = op;
  return true;
}

static bool clone_function(const struct tg_hoist *hoist, struct clone *clone) {
  clone->count = 0;
  clone->ops = tg_arena_alloc(hoist->arena, hoist->count, sizeof(*clone->ops));
  if (!clone->ops)
    return false;
  clone->function = mlirOperationClone(hoist->function);
  tg_hoist_number(clone->function, add_clone, clone);
  return true;
}

/* The first of the values that are the panel, in the clone. */
static MlirValue find_panel(const struct tg_hoist *hoist,
                            const struct clone *clone, size_t panel) {
  size_t i = 0;
  while (hoist->frontier[i].panel != panel)
    ++i;
  return mlirOperationGetResult(clone->ops[hoist->frontier[i].op],
                                hoist->frontier[i].result);
}

static bool has_uses(MlirValue value) {
  return !mlirOpOperandIsNull(mlirValueGetFirstUse(value));
}

/*===-- @f_prepack --------------------------------------------------------===*/

/* What the function takes, and the attributes of these arguments. */
struct signature {
  intptr_t count;
  MlirType *types;
  MlirLocation *locations;
  MlirAttribute *attributes;
};

static bool take_arguments(const struct tg_hoist *hoist,
                           struct signature *taken) {
  size_t most = (size_t)hoist->argument_count + 1;
  taken->types = tg_arena_alloc(hoist->arena, most, sizeof(*taken->types));
  taken->locations =
      tg_arena_alloc(hoist->arena, most, sizeof(*taken->locations));
  taken->attributes =
      tg_arena_alloc(hoist->arena, most, sizeof(*taken->attributes));
  if (!taken->types || !taken->locations || !taken->attributes)
    return false;
  MlirAttribute old =
      mlirOperationGetAttributeByName(hoist->function, tg_ref("arg_attrs"));
  taken->count = 0;
  for (intptr_t i = 0; i < hoist->argument_count; ++i) {
    if (!hoist->taken[i])
      continue;
    taken->types[taken->count] =
        mlirValueGetType(mlirBlockGetArgument(entry_of(hoist->function), i));
    taken->locations[taken->count] = mlirOperationGetLocation(hoist->function);
    taken->attributes[taken->count++] =
        mlirAttributeIsNull(old) ? old : mlirArrayAttrGetElement(old, i);
  }
  return true;
}

/* Moves the operations out of the clone, which may be destroyed then. */
static bool fill_prepack(const struct tg_hoist *hoist,
                         const struct clone *clone, MlirBlock entry,
                         MlirType *types) {
  MlirValue *panels =
      tg_arena_alloc(hoist->arena, hoist->panel_count, sizeof(*panels));
  if (!panels)
    return false;
  intptr_t next = 0;
  for (intptr_t i = 0; i < hoist->argument_count; ++i)
    if (hoist->taken[i])
      mlirValueReplaceAllUsesOfWith(
          mlirBlockGetArgument(entry_of(clone->function), i),
          mlirBlockGetArgument(entry, next++));
  for (size_t i = 0; i < hoist->count; ++i)
    if (hoist->ops[i].moves) {
      mlirOperationRemoveFromParent(clone->ops[i]);
      mlirBlockAppendOwnedOperation(entry, clone->ops[i]);
    }
  struct tg_builder builder;
  tg_builder_init(&builder, entry, mlirOperationGetLocation(hoist->function),
                  mlirF32TypeGet(mlirOperationGetContext(hoist->function)), 1);
  for (size_t i = 0; i < hoist->panel_count; ++i) {
    panels[i] = find_panel(hoist, clone, i);
    types[i] = mlirValueGetType(panels[i]);
  }
  tg_build(&builder, "func.return", (int)hoist->panel_count, panels, 0, NULL, 0,
           NULL);
  return true;
}

/* Whatever the program says about the function, and who may see it. */
static void copy_attributes(MlirOperation from, MlirOperation to) {
  for (intptr_t i = 0; i < mlirOperationGetNumDiscardableAttributes(from);
       ++i) {
    MlirNamedAttribute attribute =
        mlirOperationGetDiscardableAttribute(from, i);
    mlirOperationSetDiscardableAttributeByName(
        to, mlirIdentifierStr(attribute.name), attribute.attribute);
  }
  MlirAttribute visibility =
      mlirOperationGetAttributeByName(from, tg_ref("sym_visibility"));
  if (!mlirAttributeIsNull(visibility))
    mlirOperationSetAttributeByName(to, tg_ref("sym_visibility"), visibility);
}

/* A function around the block, behind the one that it is made of. */
static MlirOperation add_function(const struct tg_hoist *hoist,
                                  const char *name,
                                  const struct signature *taken,
                                  MlirBlock entry, const MlirType *results) {
  MlirContext context = mlirOperationGetContext(hoist->function);
  MlirRegion body = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(body, entry);
  MlirNamedAttribute attributes[] = {
      tg_named(context, "sym_name", mlirStringAttrGet(context, tg_ref(name))),
      tg_named(context, "function_type",
               mlirTypeAttrGet(mlirFunctionTypeGet(
                   context, taken->count, taken->types,
                   (intptr_t)hoist->panel_count, results)))};
  MlirOperationState state = mlirOperationStateGet(
      tg_ref("func.func"), mlirOperationGetLocation(hoist->function));
  mlirOperationStateAddAttributes(&state, 2, attributes);
  mlirOperationStateAddOwnedRegions(&state, 1, &body);
  MlirOperation function = mlirOperationCreate(&state);
  if (taken->count > 0 && !mlirAttributeIsNull(taken->attributes[0]))
    mlirOperationSetAttributeByName(
        function, tg_ref("arg_attrs"),
        mlirArrayAttrGet(context, taken->count, taken->attributes));
  copy_attributes(hoist->function, function);
  mlirBlockInsertOwnedOperationAfter(mlirOperationGetBlock(hoist->function),
                                     hoist->function, function);
  return function;
}

MlirOperation tg_hoist_to_function(const struct tg_hoist *hoist,
                                   const char *name) {
  MlirOperation function = {NULL};
  struct clone clone;
  struct signature taken;
  MlirType *results =
      tg_arena_alloc(hoist->arena, hoist->panel_count, sizeof(*results));
  if (!results || !take_arguments(hoist, &taken) ||
      !clone_function(hoist, &clone))
    return function;
  MlirBlock entry = mlirBlockCreate(taken.count, taken.types, taken.locations);
  bool filled = fill_prepack(hoist, &clone, entry, results);
  mlirOperationDestroy(clone.function);
  if (filled)
    function = add_function(hoist, name, &taken, entry, results);
  else
    mlirBlockDestroy(entry);
  return function;
}

/*===-- @f_packed ---------------------------------------------------------===*/

/* Panels are arguments, and what made them goes. */
static void take_panels(const struct tg_hoist *hoist,
                        const struct clone *clone) {
  MlirBlock entry = entry_of(clone->function);
  MlirLocation location = mlirOperationGetLocation(hoist->function);
  for (size_t i = 0; i < hoist->panel_count; ++i)
    mlirBlockAddArgument(entry, mlirValueGetType(find_panel(hoist, clone, i)),
                         location);
  for (size_t i = 0; i < hoist->frontier_count; ++i) {
    const struct tg_frontier *frontier = &hoist->frontier[i];
    mlirValueReplaceAllUsesOfWith(
        mlirOperationGetResult(clone->ops[frontier->op], frontier->result),
        mlirBlockGetArgument(entry, hoist->argument_count +
                                        (intptr_t)frontier->panel));
  }
  for (size_t i = hoist->count; i-- > 0;)
    if (hoist->ops[i].from_weights && !hoist->ops[i].stays)
      mlirOperationDestroy(clone->ops[i]);
}

/* The function takes these, and returns what it did. */
static bool set_inputs(struct tg_arena *arena, MlirOperation function,
                       intptr_t count, const MlirType *inputs) {
  MlirType type = mlirTypeAttrGetValue(
      mlirOperationGetAttributeByName(function, tg_ref("function_type")));
  intptr_t results = mlirFunctionTypeGetNumResults(type);
  MlirType *outputs =
      tg_arena_alloc(arena, (size_t)results + 1, sizeof(*outputs));
  if (!outputs)
    return false;
  for (intptr_t i = 0; i < results; ++i)
    outputs[i] = mlirFunctionTypeGetResult(type, i);
  mlirOperationSetAttributeByName(
      function, tg_ref("function_type"),
      mlirTypeAttrGet(mlirFunctionTypeGet(mlirOperationGetContext(function),
                                          count, inputs, results, outputs)));
  return true;
}

/* Weights that nothing uses any more go; the type and the arguments' attributes
 * follow. */
static bool drop_arguments(const struct tg_hoist *hoist,
                           MlirOperation function) {
  MlirContext context = mlirOperationGetContext(function);
  MlirBlock entry = entry_of(function);
  size_t most = (size_t)hoist->argument_count + hoist->panel_count + 1;
  MlirType *inputs = tg_arena_alloc(hoist->arena, most, sizeof(*inputs));
  MlirAttribute *kept = tg_arena_alloc(hoist->arena, most, sizeof(*kept));
  MlirAttribute old =
      mlirOperationGetAttributeByName(function, tg_ref("arg_attrs"));
  if (!inputs || !kept)
    return false;
  MlirAttribute none = mlirDictionaryAttrGet(context, 0, NULL);
  intptr_t count = 0, all = mlirBlockGetNumArguments(entry);
  for (intptr_t i = 0; i < all; ++i) {
    bool given = i < hoist->argument_count;
    if (given && hoist->taken[i] &&
        !has_uses(mlirBlockGetArgument(entry, count))) {
      mlirBlockEraseArgument(entry, (unsigned)count);
      continue;
    }
    inputs[count] = mlirValueGetType(mlirBlockGetArgument(entry, count));
    kept[count++] = given && !mlirAttributeIsNull(old)
                        ? mlirArrayAttrGetElement(old, i)
                        : none;
  }
  if (!mlirAttributeIsNull(old))
    mlirOperationSetAttributeByName(function, tg_ref("arg_attrs"),
                                    mlirArrayAttrGet(context, count, kept));
  return set_inputs(hoist->arena, function, count, inputs);
}

static bool make_packed(const struct tg_hoist *hoist, const char *name) {
  struct clone clone;
  if (!clone_function(hoist, &clone))
    return false;
  mlirOperationSetAttributeByName(
      clone.function, tg_ref("sym_name"),
      mlirStringAttrGet(mlirOperationGetContext(hoist->function),
                        tg_ref(name)));
  mlirBlockInsertOwnedOperationAfter(mlirOperationGetBlock(hoist->function),
                                     hoist->function, clone.function);
  take_panels(hoist, &clone);
  return drop_arguments(hoist, clone.function);
}

/*===-- Functions ---------------------------------------------------------===*/

static bool make_functions(MlirOperation module, const struct tg_hoist *hoist,
                           struct tg_text *prepack, struct tg_text *packed) {
  MlirStringRef name = mlirStringAttrGetValue(
      mlirOperationGetAttributeByName(hoist->function, tg_ref("sym_name")));
  tg_text_print(prepack, "%.*s_prepack", (int)name.length, name.data);
  tg_text_print(packed, "%.*s_packed", (int)name.length, name.data);
  if (prepack->failed || packed->failed)
    return false;
  const char *taken = tg_symbol_exists(module, prepack->data)  ? prepack->data
                      : tg_symbol_exists(module, packed->data) ? packed->data
                                                               : NULL;
  if (taken) {
    struct tg_error error;
    tg_fail(&error, "the module has a symbol @%s already", taken);
    tg_fail_at(hoist->function, pass_name, error.message);
    return false;
  }
  mlirOperationSetDiscardableAttributeByName(
      hoist->function, tg_ref(TG_PREPACK_ATTRIBUTE),
      mlirUnitAttrGet(mlirOperationGetContext(hoist->function)));
  if (make_packed(hoist, packed->data) &&
      !mlirOperationIsNull(tg_hoist_to_function(hoist, prepack->data)))
    return true;
  tg_fail_at(hoist->function, pass_name, "out of memory");
  return false;
}

/* Is there a weight in what moves? Constants alone are no reason for two more
 * functions. */
static bool takes_weights(const struct tg_hoist *hoist) {
  bool any = false;
  for (intptr_t i = 0; i < hoist->argument_count; ++i)
    any |= hoist->taken[i];
  return any;
}

static bool split_function(MlirOperation module, MlirOperation function,
                           const struct tg_outliner *outliner,
                           const struct tg_packs *packs, bool wanted) {
  struct tg_hoist hoist = {.arena = packs->arena,
                           .outliner = outliner,
                           .packs = packs,
                           .function = function};
  /* Equal computations are to make one panel. */
  if (mlirLogicalResultIsFailure(tg_run_pipeline(function, "func.func(cse)")))
    return false;
  if (!tg_hoist_find(&hoist)) {
    tg_fail_at(function, pass_name, "out of memory");
    return false;
  }
  if (hoist.panel_count == 0 || (!wanted && !takes_weights(&hoist)))
    return true;
  struct tg_text prepack = {0}, packed = {0};
  bool made = make_functions(module, &hoist, &prepack, &packed);
  tg_text_destroy(&prepack);
  tg_text_destroy(&packed);
  return made;
}

static bool packs_in(MlirOperation function, const struct tg_packs *packs) {
  for (size_t i = 0; i < packs->count; ++i) {
    MlirOperation op = packs->calls[i];
    while (!mlirOperationIsNull(op) && !mlirOperationEqual(op, function))
      op = mlirOperationGetParentOperation(op);
    if (!mlirOperationIsNull(op))
      return true;
  }
  return false;
}

bool tg_is_program_function(MlirOperation op,
                            const struct tg_outliner *outliner) {
  return has_body(op) && !tg_op_has_attribute(op, TG_PREPACK_ATTRIBUTE) &&
         !tg_op_has_attribute(op, TG_SKIP_ATTRIBUTE) &&
         mlirOperationIsNull(tg_outliner_find(
             outliner, mlirStringAttrGetValue(mlirOperationGetAttributeByName(
                           op, tg_ref("sym_name")))));
}

MlirLogicalResult tg_split_prepack(MlirOperation module,
                                   const struct tg_outliner *outliner,
                                   const struct tg_packs *packs) {
  bool good = true;
  bool all = mlirOperationRemoveDiscardableAttributeByName(
      module, tg_ref(TG_PREPACK_ATTRIBUTE));
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(module, 0));
  for (MlirOperation op = mlirBlockGetFirstOperation(body), next;
       !mlirOperationIsNull(op) && good; op = next) {
    next = mlirOperationGetNextInBlock(op);
    if (tg_is_program_function(op, outliner) && (all || packs_in(op, packs)))
      good = split_function(module, op, outliner, packs, all);
  }
  return good ? mlirLogicalResultSuccess() : mlirLogicalResultFailure();
}
