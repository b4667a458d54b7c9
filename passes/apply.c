/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * tgraph-apply-layouts: carries the choices out. Every operation with a tiled
 * tgraph.config becomes a call of a function that holds its loops; equal
 * operations with equal choices share one. All attributes are read and checked
 * before the first operation is touched.
 */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdio.h>
#include <string.h>

#include "passes/apply_nests.h"
#include "passes/attribute.h"
#include "passes/constants.h"
#include "passes/emit_dynamic.h"
#include "passes/from_weights.h"
#include "passes/inspect.h"
#include "passes/outline.h"
#include "passes/pad.h"
#include "passes/passes.h"
#include "passes/prepack.h"
#include "passes/relayout.h"
#include "passes/stored.h"
#include "passes/whole_arguments.h"

enum {
  NAME_NBYTES = 160,
  MAX_ARGUMENTS = TG_OPERAND_COUNT + TG_MAX_EPILOGUE_INPUTS
};

struct decision {
  MlirOperation op;
  struct tg_kernel kernel;
  struct tg_config config;
  struct tg_plan plan;
  struct tg_epilogue epilogue;
  MlirValue panels[TG_RESULT]; /* of inputs that come packed, or null */
};

struct apply {
  MlirOperation module;
  const struct tg_remark_sink *remarks;
  struct tg_arena *arena;
  struct tg_target target;
  struct decision *decisions;
  size_t count, capacity, seen;
  struct tg_nest_choice *nests;
  size_t nest_count, nest_capacity;
  MlirLocation script; /* of a transform script beside the program */
  struct tg_outliner outliner;
  struct tg_packs packs;
  bool failed;
};

/*===-- Reading the choices -----------------------------------------------===*/

static void reject(struct apply *apply, MlirOperation op, const char *reason) {
  tg_fail_at(op, "tgraph-apply-layouts", reason);
  apply->failed = true;
}

static void add_decision(struct apply *apply, const struct decision *decision) {
  struct decision *grown =
      tg_arena_grow(apply->arena, apply->decisions, apply->count,
                    &apply->capacity, sizeof(*grown));
  if (!grown) {
    reject(apply, decision->op, "out of memory");
    return;
  }
  apply->decisions = grown;
  apply->decisions[apply->count++] = *decision;
}

static void add_nest(struct apply *apply, const struct tg_nest_choice *choice) {
  struct tg_nest_choice *grown =
      tg_arena_grow(apply->arena, apply->nests, apply->nest_count,
                    &apply->nest_capacity, sizeof(*grown));
  if (!grown) {
    reject(apply, choice->op, "out of memory");
    return;
  }
  apply->nests = grown;
  apply->nests[apply->nest_count++] = *choice;
}

static void read_nest(struct apply *apply, MlirOperation op,
                      MlirAttribute attribute) {
  struct tg_nest_choice choice = {.op = op};
  struct tg_error error;
  choice.beforehand =
      tg_op_has_attribute(apply->module, TG_PREPACK_ATTRIBUTE) &&
      tg_is_worth_a_panel(op) &&
      tg_value_is_from_weights(mlirOperationGetResult(op, 0));
  if (!tg_nest_from_op(op, &choice.nest))
    reject(apply, op,
           TG_CONFIG_ATTRIBUTE " on an operation that has no configurations");
  else if (tg_nest_config_from_attribute(attribute, &choice.nest,
                                         &choice.config, &error))
    reject(apply, op, error.message);
  else if (choice.config.knob[TG_KNOB_tiled])
    add_nest(apply, &choice);
}

static void read_choice(struct apply *apply, MlirOperation op) {
  MlirAttribute attribute =
      mlirOperationGetAttributeByName(op, tg_ref(TG_CONFIG_ATTRIBUTE));
  struct decision decision = {.op = op};
  struct tg_error error;
  apply->seen++;
  if (!tg_kernel_from_op(op, &decision.kernel)) {
    read_nest(apply, op, attribute);
    return;
  }
  if (tg_prepack_from_attribute(attribute, op, &decision.kernel, &error)) {
    reject(apply, op, error.message);
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
  if (nested)
    return MlirWalkResultSkip;
  if (tg_op_is(op, "transform.named_sequence")) {
    apply->script = mlirOperationGetLocation(op);
    return MlirWalkResultSkip;
  }
  if (!tg_op_has_attribute(op, TG_CONFIG_ATTRIBUTE))
    return MlirWalkResultAdvance;
  if (tg_op_is_skipped(op))
    apply->seen++;
  else
    read_choice(apply, op);
  return MlirWalkResultAdvance;
}

/* The attribute of the operation is one that can be carried out. */
static MlirWalkResult check_layouts(MlirOperation op, void *data) {
  struct apply *apply = data;
  struct tg_kernel kernel;
  struct tg_nest nest;
  const char *fault = tg_layouts_check(op);
  if (!fault && tg_op_has_layouts(op) && !tg_kernel_from_op(op, &kernel) &&
      !tg_nest_from_op(op, &nest))
    fault = "on an operation that has no configurations";
  if (!fault)
    return MlirWalkResultAdvance;
  char message[TG_ERROR_NBYTES];
  snprintf(message, sizeof(message), TG_LAYOUTS_ATTRIBUTE ": %s", fault);
  reject(apply, op, message);
  return MlirWalkResultInterrupt;
}

/*===-- The functions -----------------------------------------------------===*/

/* "tgraph_conv_2d_nchw_fchw_64x112x112x3x7x7_f32"; a loop whose extent isn't
 * known is "d". */
static void make_name(const struct decision *decision, char *name) {
  MlirAttribute was =
      mlirOperationGetAttributeByName(decision->op, tg_ref(TG_WAS_ATTRIBUTE));
  MlirStringRef op_name =
      !mlirAttributeIsNull(was) && mlirAttributeIsAString(was)
          ? mlirStringAttrGetValue(was)
          : tg_op_name(decision->op);
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
  for (int l = 0; l < decision->kernel.loop_count; ++l) {
    char extent[24] = "d";
    if (decision->kernel.dynamic[l] == TG_STATIC)
      snprintf(extent, sizeof(extent), "%lld",
               (long long)decision->kernel.extent[l]);
    used += snprintf(name + used, NAME_NBYTES - (size_t)used, "%s%s",
                     l ? "x" : "", extent);
  }
  snprintf(name + used, NAME_NBYTES - (size_t)used, "_%s",
           tg_element_names[decision->kernel.element]);
}

/* The element type of the arithmetic. */
static MlirType computed_in(const struct decision *decision) {
  return mlirShapedTypeGetElementType(
      mlirValueGetType(mlirOperationGetResult(decision->op, 0)));
}

/* Its result is the function's. */
static MlirOperation last_operation(const struct decision *decision) {
  const struct tg_epilogue *epilogue = &decision->epilogue;
  return epilogue->length ? epilogue->chain[epilogue->length - 1]
                          : decision->op;
}

static MlirType result_type(const struct decision *decision) {
  return mlirValueGetType(mlirOperationGetResult(last_operation(decision), 0));
}

/* What the function takes: the operands, then the epilogue's inputs. Where the
 * initial value isn't read, its place is the result's. */
static int collect_arguments(const struct decision *decision,
                             MlirValue arguments[MAX_ARGUMENTS]) {
  const struct tg_epilogue *epilogue = &decision->epilogue;
  int count = 0;
  int unused[TG_MAX_RANK];
  for (int i = 0; i < TG_RESULT; ++i)
    arguments[count++] = mlirValueIsNull(decision->panels[i])
                             ? tg_op_get_source(decision->op, i, unused)
                             : decision->panels[i];
  arguments[count++] = mlirOperationGetOperand(decision->op, TG_RESULT);
  for (int i = 0; i < epilogue->input_count; ++i)
    arguments[count++] = mlirOperationGetOperand(
        epilogue->chain[epilogue->input[i].link], epilogue->input[i].operand);
  return count;
}

static MlirType function_type(const struct decision *decision) {
  MlirValue arguments[MAX_ARGUMENTS];
  MlirType inputs[MAX_ARGUMENTS];
  int count = collect_arguments(decision, arguments);
  for (int i = 0; i < count; ++i)
    inputs[i] = mlirValueGetType(arguments[i]);
  MlirType result = result_type(decision);
  inputs[TG_RESULT] = result;
  return mlirFunctionTypeGet(mlirOperationGetContext(decision->op), count,
                             inputs, 1, &result);
}

/* The code of the decision; the function is in no block yet. */
static MlirOperation emit_function(const struct apply *apply,
                                   const struct decision *decision) {
  MlirLocation location = mlirOperationGetLocation(decision->op);
  MlirType type = function_type(decision);
  MlirBlock entry;
  MlirOperation function = tg_outline_begin(location, type, &entry);
  struct tg_builder builder;
  tg_builder_init(&builder, entry, location, computed_in(decision),
                  decision->plan.lanes);
  builder.fused = tg_target_has_fma(&apply->target);
  builder.rounds_to_bf16 = tg_target_has_bf16(&apply->target);
  MlirValue arguments[MAX_ARGUMENTS];
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(entry); ++i)
    arguments[i] = mlirBlockGetArgument(entry, i);
  struct tg_epilogue epilogue = decision->epilogue;
  MlirValue result = tg_emit_operation(&builder, &decision->kernel,
                                       &decision->plan, &epilogue, arguments);
  tg_build(&builder, "func.return", 1, &result, 0, NULL, 0, NULL);
  return function;
}

/* A call, before the operation, of a function that packs its input. */
static bool pack_before(struct apply *apply, struct decision *decision,
                        int operand, const char *stem) {
  MlirOperation op = decision->op;
  MlirContext context = mlirOperationGetContext(op);
  MlirLocation location = mlirOperationGetLocation(op);
  int unused[TG_MAX_RANK];
  MlirValue source = tg_op_get_source(op, operand, unused);
  MlirType input = mlirValueGetType(source);
  MlirBlock entry;
  MlirOperation function = tg_outline_begin(
      location, mlirFunctionTypeGet(context, 1, &input, 0, NULL), &entry);
  struct tg_builder builder;
  tg_builder_init(&builder, entry, location, computed_in(decision),
                  decision->plan.lanes);
  builder.fused = tg_target_has_fma(&apply->target);
  MlirValue panels = tg_emit_prepack(&builder, &decision->plan, operand,
                                     mlirBlockGetArgument(entry, 0));
  tg_build(&builder, "func.return", 1, &panels, 0, NULL, 0, NULL);
  MlirType result = mlirValueGetType(panels);
  mlirOperationSetAttributeByName(
      function, tg_ref("function_type"),
      mlirTypeAttrGet(mlirFunctionTypeGet(context, 1, &input, 1, &result)));
  char name[NAME_NBYTES];
  snprintf(name, sizeof(name), "%.*s_pack_%s", NAME_NBYTES - 16, stem,
           operand == TG_LHS ? "lhs" : "rhs");
  const char *symbol = tg_outline_end(&apply->outliner, function, name);
  if (!symbol)
    return false;
  MlirOperation call = tg_insert_call(op, symbol, 1, &source, 1, &result);
  decision->panels[operand] = mlirOperationGetResult(call, 0);
  return tg_packs_add(&apply->packs, call);
}

/*===-- Replacing the operation -------------------------------------------===*/

/* Where the result goes to if nothing has to be there before: an empty tensor
 * in place of the filled one. */
static MlirValue destination(const struct decision *decision) {
  MlirType type = result_type(decision);
  MlirOperation last = last_operation(decision);
  if (mlirShapedTypeHasStaticShape(type))
    return mlirOperationGetResult(
        tg_insert_before(last, "tensor.empty", 0, NULL, 1, &type, NULL), 0);
  /* Of the same extents are the tensor that was filled, and what the last
   * operation was to write to. */
  MlirValue filled = mlirOperationGetOperand(decision->op, TG_RESULT);
  return mlirTypeEqual(mlirValueGetType(filled), type)
             ? mlirOperationGetOperand(tg_value_producer(filled), 1)
             : mlirOperationGetOperand(last,
                                       mlirOperationGetNumOperands(last) - 1);
}

/* The operation goes into the code of another one. */
static void take_nest(struct apply *apply, MlirOperation op) {
  for (size_t i = 0; i < apply->nest_count; ++i)
    if (mlirOperationEqual(apply->nests[i].op, op))
      apply->nests[i].taken = true;
}

enum { MAX_TRANSPOSITIONS = 64 };

/* The transpositions that the input was read through, each once. */
static int add_transpositions(MlirValue value, int count,
                              MlirOperation *found) {
  MlirOperation op = tg_value_producer(value);
  for (; tg_op_is(op, "linalg.transpose") && count < MAX_TRANSPOSITIONS;
       op = tg_value_producer(mlirOperationGetOperand(op, 0))) {
    for (int i = 0; i < count; ++i)
      if (mlirOperationEqual(found[i], op))
        return count;
    found[count++] = op;
  }
  return count;
}

/* Destroys those that nothing else reads; a chain goes from its end. */
static void drop_transpositions(struct apply *apply, int count,
                                MlirOperation *found) {
  bool dropped = true;
  while (dropped) {
    dropped = false;
    for (int i = 0; i < count; ++i) {
      if (!mlirOpOperandIsNull(
              mlirValueGetFirstUse(mlirOperationGetResult(found[i], 0))))
        continue;
      take_nest(apply, found[i]);
      mlirOperationDestroy(found[i]);
      found[i--] = found[--count];
      dropped = true;
    }
  }
}

static bool replace_by_call(struct apply *apply, struct decision *decision) {
  tg_epilogue_find(decision->op, &decision->kernel, &decision->plan,
                   &decision->epilogue);
  char stem[NAME_NBYTES];
  make_name(decision, stem);
  bool packed = true;
  for (int o = 0; o < TG_RESULT && packed; ++o)
    if (tg_plan_takes_panels(&decision->plan, o))
      packed = pack_before(apply, decision, o, stem);
  const char *name = packed
                         ? tg_outline_end(&apply->outliner,
                                          emit_function(apply, decision), stem)
                         : NULL;
  if (!name) {
    tg_remark(apply->remarks, mlirOperationGetLocation(decision->op),
              TG_REMARK_MISSED,
              "the schedule could not be built; the operation stays as it was");
    return false;
  }
  const struct tg_epilogue *epilogue = &decision->epilogue;
  /* Where the last operation stood, all that the call needs is known. */
  MlirOperation last = last_operation(decision);
  MlirValue arguments[MAX_ARGUMENTS];
  int count = collect_arguments(decision, arguments);
  MlirType type = result_type(decision);
  /* A fill that nobody reads would be a pass over the result for nothing. */
  if (!tg_plan_reads_init(&decision->plan))
    arguments[TG_RESULT] = destination(decision);
  MlirOperation call = tg_insert_call(last, name, count, arguments, 1, &type);
  mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(last, 0),
                                mlirOperationGetResult(call, 0));
  for (int i = epilogue->length - 1; i >= 0; --i) {
    take_nest(apply, epilogue->chain[i]);
    mlirOperationDestroy(epilogue->chain[i]);
  }
  MlirOperation found[MAX_TRANSPOSITIONS];
  int transpositions = 0;
  for (int o = 0; o < TG_RESULT; ++o)
    transpositions = add_transpositions(
        mlirOperationGetOperand(decision->op, o), transpositions, found);
  mlirOperationDestroy(decision->op);
  drop_transpositions(apply, transpositions, found);
  return true;
}

/* The module remembers how many choices there were: fewer now means that a
 * pass in between has dropped some. */
static void account(struct apply *apply, size_t applied) {
  MlirContext context = mlirOperationGetContext(apply->module);
  MlirAttribute chosen = mlirOperationGetAttributeByName(
      apply->module, tg_ref(TG_CHOSEN_ATTRIBUTE));
  int64_t count;
  if (tg_attribute_integer(chosen, &count)) {
    if (count > (int64_t)apply->seen) {
      char message[160];
      snprintf(message, sizeof(message),
               "%lld of %lld chosen operations lost their tgraph.config "
               "before this pass and keep the stock lowering",
               (long long)(count - (int64_t)apply->seen), (long long)count);
      tg_remark(apply->remarks, mlirOperationGetLocation(apply->module),
                TG_REMARK_MISSED, message);
    }
    mlirOperationSetDiscardableAttributeByName(
        apply->module, tg_ref(TG_CHOSEN_ATTRIBUTE),
        mlirIntegerAttrGet(mlirIntegerTypeGet(context, 64),
                           (int64_t)(apply->seen - applied)));
  }
}

/* Pads have one schedule and nothing to choose; the stock lowering keeps them
 * where it was chosen for everything. */
static void apply_pads(struct apply *apply) {
  MlirAttribute model = mlirOperationGetAttributeByName(
      apply->module, tg_ref(TG_MODEL_ATTRIBUTE));
  MlirStringRef none = tg_ref("none");
  if (mlirAttributeIsNull(model) || !mlirAttributeIsAString(model) ||
      !mlirStringRefEqual(mlirStringAttrGetValue(model), none))
    tg_apply_pads(&apply->outliner, &apply->target);
}

static bool carry_out(struct apply *apply) {
  struct tg_error error;
  if (tg_get_target(apply->module, &apply->target, &error)) {
    reject(apply, apply->module, error.message);
    return false;
  }
  mlirOperationWalk(apply->module, check_layouts, apply, MlirWalkPreOrder);
  if (apply->failed)
    return false;
  if (!tg_relayout(apply->module, &apply->target, apply->arena)) {
    reject(apply, apply->module, "out of memory");
    return false;
  }
  mlirOperationWalk(apply->module, visit, apply, MlirWalkPreOrder);
  if (apply->failed)
    return false;
  size_t applied = 0;
  for (size_t i = 0; i < apply->count; ++i)
    applied += replace_by_call(apply, &apply->decisions[i]);
  applied += tg_apply_nests(&apply->outliner, &apply->target, apply->remarks,
                            apply->nests, apply->nest_count);
  apply_pads(apply);
  account(apply, applied);
  if (!tg_evaluate_constants(apply->module, &apply->outliner, &apply->packs)) {
    reject(apply, apply->module, "out of memory");
    return false;
  }
  if (mlirLogicalResultIsFailure(
          tg_split_prepack(apply->module, &apply->outliner, &apply->packs)))
    return false;
  if (!tg_pass_wholes(&apply->outliner)) {
    reject(apply, apply->module, "out of memory");
    return false;
  }
  if (applied && !mlirLocationIsNull(apply->script))
    tg_remark(apply->remarks, apply->script, TG_REMARK_MISSED,
              "the module holds a transform script; operations that it matches "
              "may have become calls");
  return true;
}

MlirLogicalResult tg_apply_layouts(MlirOperation module,
                                   const struct tg_remark_sink *remarks) {
  struct apply apply = {
      .module = module, .remarks = remarks, .arena = tg_arena_create()};
  if (!apply.arena) {
    reject(&apply, module, "out of memory");
    return mlirLogicalResultFailure();
  }
  apply.outliner = (struct tg_outliner){.module = module, .arena = apply.arena};
  apply.packs.arena = apply.arena;
  bool done = carry_out(&apply);
  tg_outliner_release(&apply.outliner);
  tg_arena_destroy(apply.arena);
  return done ? mlirLogicalResultSuccess() : mlirLogicalResultFailure();
}
