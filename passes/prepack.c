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
#include "passes/build.h"
#include "passes/inspect.h"
#include "passes/pointer_map.h"

static const char pass_name[] = "tgraph-apply-layouts";
static const char panel_attribute[] = "tgraph.panel";

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

/*===-- The packs of one function -----------------------------------------===*/

/* Panels that are returned: what the calls of equal packs share. */
struct split {
  struct tg_arena *arena;
  MlirOperation function;
  size_t count;         /* of panels */
  MlirOperation *first; /* the call that makes each */
  intptr_t argument_count;
  bool *packed; /* by argument: is it packed by a call? */
};

static MlirOperation function_of(MlirOperation op) {
  while (!mlirOperationIsNull(op) && !tg_op_is(op, "func.func"))
    op = mlirOperationGetParentOperation(op);
  return op;
}

static bool is_same_pack(MlirOperation a, MlirOperation b) {
  return mlirAttributeEqual(
             mlirOperationGetAttributeByName(a, tg_ref("callee")),
             mlirOperationGetAttributeByName(b, tg_ref("callee"))) &&
         mlirValueEqual(mlirOperationGetOperand(a, 0),
                        mlirOperationGetOperand(b, 0));
}

/* Numbers the panels on the calls; false: out of memory. */
static bool number_panels(struct split *split, const struct tg_packs *packs) {
  split->argument_count = mlirBlockGetNumArguments(entry_of(split->function));
  split->first =
      tg_arena_alloc(split->arena, packs->count + 1, sizeof(*split->first));
  split->packed = tg_arena_alloc(
      split->arena, (size_t)split->argument_count + 1, sizeof(*split->packed));
  if (!split->first || !split->packed)
    return false;
  memset(split->packed, 0, (size_t)split->argument_count + 1);
  MlirType i64 =
      mlirIntegerTypeGet(mlirOperationGetContext(split->function), 64);
  for (size_t i = 0; i < packs->count; ++i) {
    MlirOperation call = packs->calls[i];
    MlirValue root = tg_value_get_unshaped(mlirOperationGetOperand(call, 0));
    if (!mlirOperationEqual(function_of(call), split->function) ||
        !mlirValueIsABlockArgument(root))
      continue;
    size_t panel = 0;
    while (panel < split->count && !is_same_pack(split->first[panel], call))
      ++panel;
    if (panel == split->count)
      split->first[split->count++] = call;
    split->packed[mlirBlockArgumentGetArgNumber(root)] = true;
    mlirOperationSetDiscardableAttributeByName(
        call, tg_ref(panel_attribute), mlirIntegerAttrGet(i64, (int64_t)panel));
  }
  return true;
}

static MlirWalkResult drop_number(MlirOperation op, void *data) {
  (void)data;
  mlirOperationRemoveDiscardableAttributeByName(op, tg_ref(panel_attribute));
  return MlirWalkResultAdvance;
}

/*===-- @f_prepack --------------------------------------------------------===*/

/* A value of the function, in the new one: the reshapes above it are cloned. */
static MlirValue clone_value(struct tg_builder *builder, MlirValue value,
                             const intptr_t *position) {
  if (mlirValueIsABlockArgument(value))
    return mlirBlockGetArgument(builder->block,
                                position[mlirBlockArgumentGetArgNumber(value)]);
  MlirOperation clone = mlirOperationClone(tg_value_producer(value));
  mlirOperationSetOperand(
      clone, 0,
      clone_value(builder, mlirOperationGetOperand(clone, 0), position));
  mlirBlockAppendOwnedOperation(builder->block, clone);
  return mlirOperationGetResult(clone, 0);
}

static void fill_prepack(const struct split *split, MlirBlock entry,
                         const intptr_t *position, MlirValue *panels) {
  struct tg_builder builder;
  tg_builder_init(&builder, entry, mlirOperationGetLocation(split->function),
                  mlirF32TypeGet(mlirOperationGetContext(split->function)), 1);
  for (size_t i = 0; i < split->count; ++i) {
    MlirValue operand = clone_value(
        &builder, mlirOperationGetOperand(split->first[i], 0), position);
    MlirOperation call = mlirOperationClone(split->first[i]);
    mlirOperationSetOperand(call, 0, operand);
    mlirBlockAppendOwnedOperation(entry, call);
    panels[i] = mlirOperationGetResult(call, 0);
  }
  tg_build(&builder, "func.return", (int)split->count, panels, 0, NULL, 0,
           NULL);
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

static bool make_prepack(const struct split *split, const char *name) {
  MlirContext context = mlirOperationGetContext(split->function);
  MlirLocation location = mlirOperationGetLocation(split->function);
  size_t most = (size_t)split->argument_count + 1;
  MlirType *inputs = tg_arena_alloc(split->arena, most, sizeof(*inputs));
  MlirLocation *places = tg_arena_alloc(split->arena, most, sizeof(*places));
  intptr_t *position = tg_arena_alloc(split->arena, most, sizeof(*position));
  MlirType *results =
      tg_arena_alloc(split->arena, split->count, sizeof(*results));
  MlirValue *panels =
      tg_arena_alloc(split->arena, split->count, sizeof(*panels));
  MlirAttribute *kept = tg_arena_alloc(split->arena, most, sizeof(*kept));
  MlirAttribute old =
      mlirOperationGetAttributeByName(split->function, tg_ref("arg_attrs"));
  if (!inputs || !places || !position || !results || !panels || !kept)
    return false;
  intptr_t count = 0;
  for (intptr_t i = 0; i < split->argument_count; ++i) {
    position[i] = count;
    if (!split->packed[i])
      continue;
    places[count] = location;
    kept[count] =
        mlirAttributeIsNull(old) ? old : mlirArrayAttrGetElement(old, i);
    inputs[count++] =
        mlirValueGetType(mlirBlockGetArgument(entry_of(split->function), i));
  }
  for (size_t i = 0; i < split->count; ++i)
    results[i] = mlirValueGetType(mlirOperationGetResult(split->first[i], 0));
  MlirBlock entry = mlirBlockCreate(count, inputs, places);
  fill_prepack(split, entry, position, panels);
  MlirRegion body = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(body, entry);
  MlirNamedAttribute attributes[] = {
      tg_named(context, "sym_name", mlirStringAttrGet(context, tg_ref(name))),
      tg_named(context, "function_type",
               mlirTypeAttrGet(mlirFunctionTypeGet(
                   context, count, inputs, (intptr_t)split->count, results)))};
  MlirOperationState state =
      mlirOperationStateGet(tg_ref("func.func"), location);
  mlirOperationStateAddAttributes(&state, 2, attributes);
  mlirOperationStateAddOwnedRegions(&state, 1, &body);
  MlirOperation function = mlirOperationCreate(&state);
  if (!mlirAttributeIsNull(old))
    mlirOperationSetAttributeByName(function, tg_ref("arg_attrs"),
                                    mlirArrayAttrGet(context, count, kept));
  copy_attributes(split->function, function);
  mlirBlockInsertOwnedOperationAfter(mlirOperationGetBlock(split->function),
                                     split->function, function);
  return true;
}

/*===-- @f_packed ---------------------------------------------------------===*/

static bool has_uses(MlirValue value) {
  return !mlirOpOperandIsNull(mlirValueGetFirstUse(value));
}

/* A pack's result is the argument; the reshapes above it may be dead now. */
static MlirWalkResult take_panel(MlirOperation op, void *data) {
  MlirBlock entry = *(MlirBlock *)data;
  int64_t panel;
  if (!tg_attribute_integer(
          mlirOperationGetAttributeByName(op, tg_ref(panel_attribute)), &panel))
    return MlirWalkResultAdvance;
  MlirOperation function = mlirBlockGetParentOperation(entry);
  int64_t before;
  tg_attribute_integer(
      mlirOperationGetAttributeByName(function, tg_ref(panel_attribute)),
      &before);
  mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0),
                                mlirBlockGetArgument(entry, before + panel));
  MlirValue operand = mlirOperationGetOperand(op, 0);
  mlirOperationDestroy(op);
  for (MlirOperation producer = tg_value_producer(operand);
       !mlirOperationIsNull(producer) && !has_uses(operand);
       producer = tg_value_producer(operand)) {
    operand = mlirOperationGetOperand(producer, 0);
    mlirOperationDestroy(producer);
  }
  return MlirWalkResultSkip;
}

/* Weights that nothing uses any more go; the type and the arguments' attributes
 * follow. */
static bool drop_arguments(const struct split *split, MlirOperation function) {
  MlirContext context = mlirOperationGetContext(function);
  MlirBlock entry = entry_of(function);
  size_t most = (size_t)split->argument_count + split->count + 1;
  MlirType *inputs = tg_arena_alloc(split->arena, most, sizeof(*inputs));
  MlirAttribute *kept = tg_arena_alloc(split->arena, most, sizeof(*kept));
  MlirAttribute old =
      mlirOperationGetAttributeByName(function, tg_ref("arg_attrs"));
  if (!inputs || !kept)
    return false;
  MlirAttribute none = mlirDictionaryAttrGet(context, 0, NULL);
  intptr_t count = 0, all = mlirBlockGetNumArguments(entry);
  for (intptr_t i = 0; i < all; ++i) {
    bool given = i < split->argument_count;
    if (given && split->packed[i] &&
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
  MlirType type = mlirTypeAttrGetValue(
      mlirOperationGetAttributeByName(function, tg_ref("function_type")));
  intptr_t results = mlirFunctionTypeGetNumResults(type);
  MlirType *outputs =
      tg_arena_alloc(split->arena, (size_t)results + 1, sizeof(*outputs));
  if (!outputs)
    return false;
  for (intptr_t i = 0; i < results; ++i)
    outputs[i] = mlirFunctionTypeGetResult(type, i);
  mlirOperationSetAttributeByName(
      function, tg_ref("function_type"),
      mlirTypeAttrGet(
          mlirFunctionTypeGet(context, count, inputs, results, outputs)));
  return true;
}

static bool make_packed(const struct split *split, const char *name) {
  MlirContext context = mlirOperationGetContext(split->function);
  MlirLocation location = mlirOperationGetLocation(split->function);
  MlirOperation function = mlirOperationClone(split->function);
  mlirOperationSetAttributeByName(function, tg_ref("sym_name"),
                                  mlirStringAttrGet(context, tg_ref(name)));
  mlirBlockInsertOwnedOperationAfter(mlirOperationGetBlock(split->function),
                                     split->function, function);
  MlirBlock entry = entry_of(function);
  for (size_t i = 0; i < split->count; ++i)
    mlirBlockAddArgument(
        entry, mlirValueGetType(mlirOperationGetResult(split->first[i], 0)),
        location);
  mlirOperationSetDiscardableAttributeByName(
      function, tg_ref(panel_attribute),
      mlirIntegerAttrGet(mlirIntegerTypeGet(context, 64),
                         split->argument_count));
  for (MlirBlock block = entry; !mlirBlockIsNull(block);
       block = mlirBlockGetNextInRegion(block))
    for (MlirOperation op = mlirBlockGetFirstOperation(block), next;
         !mlirOperationIsNull(op); op = next) {
      next = mlirOperationGetNextInBlock(op);
      mlirOperationWalk(op, take_panel, &entry, MlirWalkPostOrder);
    }
  mlirOperationRemoveDiscardableAttributeByName(function,
                                                tg_ref(panel_attribute));
  return drop_arguments(split, function);
}

/*===-- Functions ---------------------------------------------------------===*/

static bool make_functions(MlirOperation module, const struct split *split,
                           struct tg_text *prepack, struct tg_text *packed) {
  MlirStringRef name = mlirStringAttrGetValue(
      mlirOperationGetAttributeByName(split->function, tg_ref("sym_name")));
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
    tg_fail_at(split->function, pass_name, error.message);
    return false;
  }
  if (make_packed(split, packed->data) && make_prepack(split, prepack->data))
    return true;
  tg_fail_at(split->function, pass_name, "out of memory");
  return false;
}

static bool split_function(MlirOperation module, MlirOperation function,
                           const struct tg_packs *packs) {
  struct split split = {.arena = packs->arena, .function = function};
  if (!number_panels(&split, packs)) {
    tg_fail_at(function, pass_name, "out of memory");
    return false;
  }
  if (split.count == 0)
    return true;
  struct tg_text prepack = {0}, packed = {0};
  bool made = make_functions(module, &split, &prepack, &packed);
  tg_text_destroy(&prepack);
  tg_text_destroy(&packed);
  return made;
}

MlirLogicalResult tg_split_prepack(MlirOperation module,
                                   const struct tg_packs *packs) {
  bool good = true;
  for (size_t i = 0; i < packs->count && good; ++i) {
    MlirOperation function = function_of(packs->calls[i]);
    bool seen = false;
    for (size_t k = 0; k < i && !seen; ++k)
      seen = mlirOperationEqual(function_of(packs->calls[k]), function);
    if (!seen)
      good = split_function(module, function, packs);
  }
  mlirOperationWalk(module, drop_number, NULL, MlirWalkPostOrder);
  return good ? mlirLogicalResultSuccess() : mlirLogicalResultFailure();
}
