/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Groups of nests as functions and calls.
 */
#include "passes/apply_nests.h"

#include <assert.h>
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdio.h>
#include <string.h>

#include "passes/from_weights.h"
#include "passes/inspect.h"
#include "passes/nest_emit.h"

enum { NAME_NBYTES = 160, MAX_NAMED_STAGES = 3 };

static int tensors_of(const struct tg_group *group, enum tg_residence residence,
                      int *tensors) {
  int count = 0;
  for (int t = 0; t < group->tensor_count; ++t)
    if (group->tensor[t].residence == residence)
      tensors[count++] = t;
  return count;
}

/*===-- Names -------------------------------------------------------------===*/

/* What an operation does: a generic's last operation, else its own name. */
static MlirStringRef deed(MlirOperation op) {
  MlirOperation inner = tg_value_producer(tg_nest_yielded(op, 0));
  MlirStringRef name =
      tg_op_name(tg_op_is(op, "linalg.generic") && inner.ptr ? inner : op);
  const char *dot = memchr(name.data, '.', name.length);
  return dot ? mlirStringRefCreate(dot + 1,
                                   name.length - (size_t)(dot + 1 - name.data))
             : name;
}

/* "tgraph_maximumf_addf_divf_12x128x128". */
static void make_name(const struct tg_group *group, char *name) {
  int used = snprintf(name, NAME_NBYTES, "tgraph");
  int count = group->stage_count;
  for (int s = 0; s < count && s < MAX_NAMED_STAGES; ++s) {
    MlirStringRef text = deed(group->stage[s].op);
    used += snprintf(name + used, NAME_NBYTES - (size_t)used, "_%.*s",
                     text.length < 24 ? (int)text.length : 24, text.data);
  }
  MlirType type =
      mlirValueGetType(mlirOperationGetOperand(group->stage[count - 1].op, 0));
  intptr_t rank = mlirTypeIsAShaped(type) ? mlirShapedTypeGetRank(type) : 0;
  for (intptr_t d = 0; d < rank && used < NAME_NBYTES - 24; ++d)
    used +=
        snprintf(name + used, NAME_NBYTES - (size_t)used, "%s%lld",
                 d ? "x" : "_", (long long)mlirShapedTypeGetDimSize(type, d));
}

/*===-- Functions and calls -----------------------------------------------===*/

/* A place that a result is written into. Two empty tensors of one type would
 * be the same value for CSE, so several results have memory of their own. */
static MlirValue make_destination(const struct tg_group_tensor *tensor,
                                  bool several, MlirOperation before) {
  if (!mlirValueIsNull(tensor->destination))
    return tensor->destination;
  MlirType type = mlirValueGetType(tensor->value);
  MlirContext context = mlirOperationGetContext(before);
  int32_t segments[3] = {0, 0, 0};
  MlirNamedAttribute none =
      tg_named(context, "operandSegmentSizes",
               mlirDenseI32ArrayGet(context, 3, segments));
  return mlirOperationGetResult(
      several
          ? tg_insert_before(before, "bufferization.alloc_tensor", 0, NULL, 1,
                             &type, &none)
          : tg_insert_before(before, "tensor.empty", 0, NULL, 1, &type, NULL),
      0);
}

static int collect_arguments(const struct tg_group *group, MlirOperation before,
                             MlirValue *arguments) {
  int count = 0, tensors[TG_MAX_GROUP_TENSORS];
  int read = tensors_of(group, TG_OUTSIDE, tensors);
  for (int i = 0; i < read; ++i)
    arguments[count++] = group->tensor[tensors[i]].value;
  int written = tensors_of(group, TG_RESULT_OF_GROUP, tensors);
  for (int i = 0; i < written; ++i)
    arguments[count++] =
        make_destination(&group->tensor[tensors[i]], written > 1, before);
  for (int i = 0; i < group->capture_count; ++i)
    arguments[count++] = group->capture[i];
  return count;
}

static MlirOperation emit_function(const struct tg_group *group,
                                   const struct tg_target *target,
                                   MlirOperation last, int count,
                                   const MlirValue *arguments, int result_count,
                                   const MlirType *types) {
  MlirType inputs[TG_MAX_GROUP_ARGUMENTS];
  for (int i = 0; i < count; ++i)
    inputs[i] = mlirValueGetType(arguments[i]);
  MlirContext context = mlirOperationGetContext(last);
  MlirType type =
      mlirFunctionTypeGet(context, count, inputs, result_count, types);
  MlirLocation location = mlirOperationGetLocation(last);
  MlirBlock entry;
  MlirOperation function = tg_outline_begin(location, type, &entry);
  struct tg_builder builder;
  tg_builder_init(&builder, entry, location, mlirF32TypeGet(context),
                  group->lanes);
  builder.fused = tg_target_has_fma(target);
  builder.rounds_to_bf16 = tg_target_has_bf16(target);
  MlirValue inside[TG_MAX_GROUP_ARGUMENTS], results[TG_MAX_GROUP_TENSORS];
  for (int i = 0; i < count; ++i)
    inside[i] = mlirBlockGetArgument(entry, i);
  int made = tg_emit_group(&builder, group, inside, results);
  assert(made == result_count);
  tg_build(&builder, "func.return", made, results, 0, NULL, 0, NULL);
  return function;
}

static bool is_total(const struct tg_group *group) {
  bool total = true;
  for (int s = 0; s < group->stage_count; ++s)
    total &= tg_op_is_total(group->stage[s].op);
  return total;
}

/* Stages are destroyed from the last to the first: nothing uses them then. */
static void replace_stages(const struct tg_group *group, MlirOperation call) {
  int tensors[TG_MAX_GROUP_TENSORS];
  int count = tensors_of(group, TG_RESULT_OF_GROUP, tensors);
  for (int i = 0; i < count; ++i)
    mlirValueReplaceAllUsesOfWith(group->tensor[tensors[i]].value,
                                  mlirOperationGetResult(call, i));
  for (int s = group->stage_count - 1; s >= 0; --s)
    mlirOperationDestroy(group->stage[s].op);
}

static bool apply_group(struct tg_outliner *outliner,
                        const struct tg_target *target,
                        const struct tg_group *group) {
  MlirOperation last = group->stage[group->stage_count - 1].op;
  MlirValue arguments[TG_MAX_GROUP_ARGUMENTS];
  MlirType types[TG_MAX_GROUP_TENSORS];
  int tensors[TG_MAX_GROUP_TENSORS];
  int count = collect_arguments(group, last, arguments);
  int result_count = tensors_of(group, TG_RESULT_OF_GROUP, tensors);
  for (int i = 0; i < result_count; ++i)
    types[i] = mlirValueGetType(group->tensor[tensors[i]].value);
  char name[NAME_NBYTES];
  make_name(group, name);
  MlirOperation function =
      emit_function(group, target, last, count, arguments, result_count, types);
  const char *symbol = tg_outline_end(outliner, function, name);
  if (!symbol)
    return false;
  if (is_total(group))
    tg_outliner_mark_total(outliner, symbol);
  replace_stages(group, tg_insert_call(last, symbol, count, arguments,
                                       result_count, types));
  return true;
}

static bool is_used(MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    if (!mlirOpOperandIsNull(
            mlirValueGetFirstUse(mlirOperationGetResult(op, i))))
      return true;
  return false;
}

size_t tg_apply_nests(struct tg_outliner *outliner,
                      const struct tg_target *target,
                      const struct tg_remark_sink *remarks,
                      struct tg_nest_choice *choices, size_t count) {
  size_t applied = 0;
  for (size_t i = 0; i < count; ++i) {
    if (choices[i].taken || !is_used(choices[i].op))
      continue;
    struct tg_group group;
    if (tg_group_find(choices, count, i, target, &group) &&
        apply_group(outliner, target, &group))
      applied += (size_t)group.stage_count;
    else
      tg_remark(remarks, mlirOperationGetLocation(choices[i].op),
                TG_REMARK_MISSED,
                "the schedule could not be built; the operation stays as it "
                "was");
  }
  return applied;
}
