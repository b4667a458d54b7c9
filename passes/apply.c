/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * tgraph-apply-layouts: carries the choices out. Every operation with a tiled
 * tgraph.config becomes a call of a function that holds its loops; equal
 * operations with equal choices share one. All attributes are read and checked
 * before the first operation is touched.
 */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/Diagnostics.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "passes/attribute.h"
#include "passes/emit.h"
#include "passes/inspect.h"
#include "passes/passes.h"

enum { NAME_NBYTES = 192 };

struct decision {
  MlirOperation op;
  struct tg_kernel kernel;
  struct tg_config config;
  struct tg_plan plan;
};

struct outlined {
  uint64_t kernel_hash;
  struct tg_config config;
  MlirType type; /* of the function */
  char name[NAME_NBYTES];
  struct outlined *next;
};

struct apply {
  MlirOperation module;
  const struct tg_remark_sink *remarks;
  struct tg_arena *arena;
  struct tg_target target;
  struct decision *decisions;
  size_t count, capacity, seen;
  struct outlined *outlined;
  bool failed;
};

static MlirStringRef ref(const char *text) {
  return mlirStringRefCreateFromCString(text);
}

static void remark(const struct apply *apply, MlirLocation location,
                   const char *kind, const char *message) {
  if (apply->remarks && apply->remarks->emit)
    apply->remarks->emit(apply->remarks->user, location, kind, message);
}

/*===-- Reading the choices -----------------------------------------------===*/

static void add_decision(struct apply *apply, const struct decision *decision) {
  if (apply->count == apply->capacity) {
    size_t capacity = apply->capacity ? 2 * apply->capacity : 64;
    struct decision *grown =
        tg_arena_alloc(apply->arena, capacity, sizeof(*grown));
    if (!grown) {
      apply->failed = true;
      return;
    }
    if (apply->count)
      memcpy(grown, apply->decisions, apply->count * sizeof(*grown));
    apply->decisions = grown;
    apply->capacity = capacity;
  }
  apply->decisions[apply->count++] = *decision;
}

static void reject(struct apply *apply, MlirOperation op, const char *reason) {
  char message[TG_ERROR_NBYTES + 64];
  snprintf(message, sizeof(message), "tgraph-apply-layouts: %s", reason);
  mlirEmitError(mlirOperationGetLocation(op), message);
  apply->failed = true;
}

static void read_choice(struct apply *apply, MlirOperation op) {
  MlirAttribute attribute =
      mlirOperationGetAttributeByName(op, ref(TG_CONFIG_ATTRIBUTE));
  struct decision decision = {.op = op};
  struct tg_error error;
  apply->seen++;
  if (!tg_kernel_from_op(op, &decision.kernel)) {
    reject(apply, op,
           TG_CONFIG_ATTRIBUTE " on an operation that has no configurations");
    return;
  }
  if (tg_config_from_attribute(attribute, &decision.kernel, &decision.config,
                               &error)) {
    reject(apply, op, error.message);
    return;
  }
  if (!decision.config.knob[TG_KNOB_tiled])
    return;
  const char *fault = tg_plan_make(&decision.kernel, &decision.config,
                                   &apply->target, &decision.plan);
  if (fault) {
    char message[TG_ERROR_NBYTES];
    snprintf(message, sizeof(message), TG_CONFIG_ATTRIBUTE ": %s", fault);
    reject(apply, op, message);
    return;
  }
  add_decision(apply, &decision);
}

static MlirWalkResult visit(MlirOperation op, void *data) {
  struct apply *apply = data;
  bool nested =
      tg_op_is(op, "builtin.module") && !mlirOperationEqual(op, apply->module);
  if (nested || tg_op_is(op, "transform.named_sequence"))
    return MlirWalkResultSkip;
  if (tg_op_has_attribute(op, TG_CONFIG_ATTRIBUTE))
    read_choice(apply, op);
  return MlirWalkResultAdvance;
}

/*===-- The functions -----------------------------------------------------===*/

static bool symbol_exists(MlirOperation module, const char *name) {
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(module, 0));
  for (MlirOperation op = mlirBlockGetFirstOperation(block);
       !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
    MlirAttribute symbol = mlirOperationGetAttributeByName(op, ref("sym_name"));
    if (!mlirAttributeIsNull(symbol) && mlirAttributeIsAString(symbol) &&
        mlirStringRefEqual(mlirStringAttrGetValue(symbol), ref(name)))
      return true;
  }
  return false;
}

/* "tgraph_conv_2d_nchw_fchw_64x112x112x3x7x7_f32", and a number if taken. */
static void make_name(const struct apply *apply,
                      const struct decision *decision, char *name) {
  MlirStringRef op_name = tg_op_name(decision->op);
  const char *short_name = memchr(op_name.data, '.', op_name.length);
  int length = (int)op_name.length;
  if (short_name) {
    short_name++;
    length -= (int)(short_name - op_name.data);
  } else {
    short_name = op_name.data;
  }
  int used = snprintf(name, NAME_NBYTES, "tgraph_%.*s_",
                      length < 64 ? length : 64, short_name);
  for (int l = 0; l < decision->kernel.loop_count; ++l)
    used += snprintf(name + used, NAME_NBYTES - (size_t)used, "%s%lld",
                     l ? "x" : "", (long long)decision->kernel.extent[l]);
  used += snprintf(name + used, NAME_NBYTES - (size_t)used, "_%s",
                   decision->kernel.element == TG_F64 ? "f64" : "f32");
  for (int i = 1; symbol_exists(apply->module, name); ++i)
    snprintf(name + used, NAME_NBYTES - (size_t)used, "_%d", i);
}

static MlirOperation create_function(MlirLocation location, const char *name,
                                     MlirType type, MlirBlock *entry) {
  MlirContext context = mlirLocationGetContext(location);
  MlirNamedAttribute attributes[3] = {
      tg_named(context, "sym_name", mlirStringAttrGet(context, ref(name))),
      tg_named(context, "function_type", mlirTypeAttrGet(type)),
      tg_named(context, "sym_visibility",
               mlirStringAttrGet(context, ref("private")))};
  MlirType inputs[TG_OPERAND_COUNT];
  MlirLocation locations[TG_OPERAND_COUNT];
  for (int i = 0; i < TG_OPERAND_COUNT; ++i) {
    inputs[i] = mlirFunctionTypeGetInput(type, i);
    locations[i] = location;
  }
  *entry = mlirBlockCreate(TG_OPERAND_COUNT, inputs, locations);
  MlirRegion body = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(body, *entry);
  MlirOperationState state = mlirOperationStateGet(ref("func.func"), location);
  mlirOperationStateAddAttributes(&state, 3, attributes);
  mlirOperationStateAddOwnedRegions(&state, 1, &body);
  return mlirOperationCreate(&state);
}

static MlirType function_type(MlirOperation op) {
  MlirType inputs[TG_OPERAND_COUNT];
  for (int i = 0; i < TG_OPERAND_COUNT; ++i)
    inputs[i] = mlirValueGetType(mlirOperationGetOperand(op, i));
  MlirType result = mlirValueGetType(mlirOperationGetResult(op, 0));
  return mlirFunctionTypeGet(mlirOperationGetContext(op), TG_OPERAND_COUNT,
                             inputs, 1, &result);
}

/* Makes the function; a null operation, and a remark, where that fails. */
static MlirOperation outline(struct apply *apply,
                             const struct decision *decision, MlirType type,
                             const char *name) {
  MlirLocation location = mlirOperationGetLocation(decision->op);
  MlirBlock entry;
  MlirOperation function = create_function(location, name, type, &entry);
  struct tg_builder builder;
  MlirType element =
      mlirShapedTypeGetElementType(mlirFunctionTypeGetResult(type, 0));
  tg_builder_init(&builder, entry, location, element, decision->plan.lanes);
  MlirValue arguments[TG_OPERAND_COUNT];
  for (int i = 0; i < TG_OPERAND_COUNT; ++i)
    arguments[i] = mlirBlockGetArgument(entry, i);
  MlirValue result = tg_emit_kernel(&builder, &decision->plan, arguments);
  tg_build(&builder, "func.return", 1, &result, 0, NULL, 0, NULL);
  MlirBlock body =
      mlirRegionGetFirstBlock(mlirOperationGetRegion(apply->module, 0));
  mlirBlockAppendOwnedOperation(body, function);
  if (mlirOperationVerify(function))
    return function;
  mlirOperationDestroy(function);
  remark(apply, location, "missed",
         "the schedule could not be built; the operation stays as it was");
  return (MlirOperation){NULL};
}

static const char *get_outlined(struct apply *apply,
                                const struct decision *decision) {
  uint64_t hash = tg_kernel_hash(&decision->kernel);
  MlirType type = function_type(decision->op);
  for (struct outlined *o = apply->outlined; o; o = o->next)
    if (o->kernel_hash == hash && mlirTypeEqual(o->type, type) &&
        memcmp(&o->config, &decision->config, sizeof(o->config)) == 0)
      return o->name;
  struct outlined *o = tg_arena_alloc(apply->arena, 1, sizeof(*o));
  if (!o)
    return NULL;
  make_name(apply, decision, o->name);
  if (mlirOperationIsNull(outline(apply, decision, type, o->name)))
    return NULL;
  o->kernel_hash = hash;
  o->config = decision->config;
  o->type = type;
  o->next = apply->outlined;
  apply->outlined = o;
  return o->name;
}

/*===-- Replacing the operation -------------------------------------------===*/

static MlirOperation insert_before(MlirOperation op, const char *name,
                                   intptr_t operand_count,
                                   const MlirValue *operands, MlirType result,
                                   const MlirNamedAttribute *attribute) {
  MlirOperationState state =
      mlirOperationStateGet(ref(name), mlirOperationGetLocation(op));
  mlirOperationStateAddOperands(&state, operand_count, operands);
  mlirOperationStateAddResults(&state, 1, &result);
  if (attribute)
    mlirOperationStateAddAttributes(&state, 1, attribute);
  MlirOperation created = mlirOperationCreate(&state);
  mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(op), op, created);
  return created;
}

static bool replace_by_call(struct apply *apply,
                            const struct decision *decision) {
  const char *name = get_outlined(apply, decision);
  if (!name)
    return false;
  MlirOperation op = decision->op;
  MlirContext context = mlirOperationGetContext(op);
  MlirValue operands[TG_OPERAND_COUNT];
  for (int i = 0; i < TG_OPERAND_COUNT; ++i)
    operands[i] = mlirOperationGetOperand(op, i);
  MlirType type = mlirValueGetType(operands[TG_RESULT]);
  /* A fill that nobody reads would be a pass over the result for nothing. */
  if (!tg_plan_reads_init(&decision->plan))
    operands[TG_RESULT] = mlirOperationGetResult(
        insert_before(op, "tensor.empty", 0, NULL, type, NULL), 0);
  MlirNamedAttribute callee =
      tg_named(context, "callee", mlirFlatSymbolRefAttrGet(context, ref(name)));
  MlirOperation call =
      insert_before(op, "func.call", TG_OPERAND_COUNT, operands, type, &callee);
  mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0),
                                mlirOperationGetResult(call, 0));
  mlirOperationDestroy(op);
  return true;
}

/* The module remembers how many choices there were: fewer now means that a
 * pass in between has dropped some. */
static void account(struct apply *apply, size_t applied) {
  MlirContext context = mlirOperationGetContext(apply->module);
  MlirAttribute chosen =
      mlirOperationGetAttributeByName(apply->module, ref(TG_CHOSEN_ATTRIBUTE));
  if (!mlirAttributeIsNull(chosen) && mlirAttributeIsAInteger(chosen)) {
    int64_t count = mlirIntegerAttrGetValueInt(chosen);
    if (count > (int64_t)apply->seen) {
      char message[160];
      snprintf(message, sizeof(message),
               "%lld of %lld chosen operations lost their tgraph.config "
               "before this pass and keep the stock lowering",
               (long long)(count - (int64_t)apply->seen), (long long)count);
      remark(apply, mlirOperationGetLocation(apply->module), "missed", message);
    }
    mlirOperationSetDiscardableAttributeByName(
        apply->module, ref(TG_CHOSEN_ATTRIBUTE),
        mlirIntegerAttrGet(mlirIntegerTypeGet(context, 64),
                           (int64_t)(apply->seen - applied)));
  }
}

static bool carry_out(struct apply *apply) {
  struct tg_error error;
  if (tg_get_target(apply->module, &apply->target, &error)) {
    reject(apply, apply->module, error.message);
    return false;
  }
  mlirOperationWalk(apply->module, visit, apply, MlirWalkPreOrder);
  if (apply->failed)
    return false;
  size_t applied = 0;
  for (size_t i = 0; i < apply->count; ++i)
    applied += replace_by_call(apply, &apply->decisions[i]);
  account(apply, applied);
  return true;
}

MlirLogicalResult tg_apply_layouts(MlirOperation module,
                                   const struct tg_remark_sink *remarks) {
  struct apply apply = {
      .module = module, .remarks = remarks, .arena = tg_arena_create()};
  if (!apply.arena)
    return mlirLogicalResultFailure();
  bool done = carry_out(&apply);
  tg_arena_destroy(apply.arena);
  return done ? mlirLogicalResultSuccess() : mlirLogicalResultFailure();
}
