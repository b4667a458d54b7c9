/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Which nests become one function, and what their tensors become. How a group
 * walks its rows is for nest_shape.c.
 */
#include "passes/nest_group.h"

#include <mlir-c/BuiltinTypes.h>
#include <string.h>

#include "passes/build.h"
#include "passes/inspect.h"

enum { MAX_DISTANCE = 64 }; /* choices between members of a group */

/*===-- Stages and tensors ------------------------------------------------===*/

static int find_tensor(const struct tg_group *group, MlirValue value) {
  for (int t = 0; t < group->tensor_count; ++t)
    if (mlirValueEqual(group->tensor[t].value, value))
      return t;
  return TG_NO_TENSOR;
}

static int add_tensor(struct tg_group *group, MlirValue value, int producer) {
  if (group->tensor_count == TG_MAX_GROUP_TENSORS)
    return TG_NO_TENSOR;
  struct tg_group_tensor *tensor = &group->tensor[group->tensor_count];
  MlirType type = mlirValueGetType(value);
  memset(tensor, 0, sizeof(*tensor));
  tensor->value = value;
  tensor->producer = producer;
  tensor->rank = tensor->source_rank = (int)mlirShapedTypeGetRank(type);
  for (int d = 0; d < tensor->rank; ++d) {
    tensor->extent[d] = mlirShapedTypeGetDimSize(type, d);
    tensor->group[d] = d;
  }
  return group->tensor_count++;
}

/* The scalar that an operand is filled with, null where it isn't. */
static MlirValue filled_with(MlirValue value) {
  MlirOperation fill = tg_value_producer(value);
  return tg_op_is(fill, "linalg.fill") && mlirOperationGetNumResults(fill) == 1
             ? mlirOperationGetOperand(fill, 0)
             : (MlirValue){NULL};
}

static bool add_capture(struct tg_group *group, MlirValue value) {
  if (tg_op_is(tg_value_producer(value), "arith.constant"))
    return true;
  for (int i = 0; i < group->capture_count; ++i)
    if (mlirValueEqual(group->capture[i], value))
      return true;
  if (group->capture_count == TG_MAX_GROUP_CAPTURES)
    return false;
  group->capture[group->capture_count++] = value;
  return true;
}

static bool add_input(struct tg_group *group, struct tg_stage *stage, int o) {
  MlirValue value = mlirOperationGetOperand(stage->op, o);
  stage->tensor[o] = TG_NO_TENSOR;
  if (!stage->nest.read[o])
    return true;
  if (!mlirTypeIsAShaped(mlirValueGetType(value)))
    return add_capture(group, value);
  int t = find_tensor(group, value);
  stage->tensor[o] =
      t == TG_NO_TENSOR ? add_tensor(group, value, TG_NO_STAGE) : t;
  return stage->tensor[o] != TG_NO_TENSOR;
}

static bool add_result(struct tg_group *group, struct tg_stage *stage, int o) {
  MlirValue value =
      mlirOperationGetResult(stage->op, o - stage->nest.input_count);
  MlirValue before = mlirOperationGetOperand(stage->op, o);
  stage->tensor[o] = TG_NO_TENSOR;
  stage->fill[o] = filled_with(before);
  if (!mlirValueIsNull(stage->fill[o]) && stage->nest.read[o] &&
      !add_capture(group, stage->fill[o]))
    return false;
  if (mlirOpOperandIsNull(mlirValueGetFirstUse(value)))
    return !stage->nest.read[o] || !mlirValueIsNull(stage->fill[o]);
  int t = add_tensor(group, value, group->stage_count);
  if (t == TG_NO_TENSOR)
    return false;
  stage->tensor[o] = t;
  bool unread = !stage->nest.read[o] && !mlirValueIsABlockArgument(before);
  if (mlirValueIsNull(stage->fill[o]) && !unread)
    group->tensor[t].destination = before;
  return true;
}

static bool is_made_inside(const struct tg_group *group, MlirValue value) {
  int t = find_tensor(group, value);
  return t != TG_NO_TENSOR && group->tensor[t].producer != TG_NO_STAGE;
}

/* A result of another stage is no place to put one's own into. */
static bool is_destination_outside(const struct tg_group *group,
                                   const struct tg_stage *stage) {
  for (int o = stage->nest.input_count; o < stage->nest.operand_count; ++o)
    if (is_made_inside(group, mlirOperationGetOperand(stage->op, o)))
      return false;
  return true;
}

static bool add_stage(struct tg_group *group,
                      const struct tg_nest_choice *choice) {
  if (group->stage_count == TG_MAX_STAGES)
    return false;
  struct tg_stage *stage = &group->stage[group->stage_count];
  memset(stage, 0, sizeof(*stage));
  stage->op = choice->op;
  stage->nest = choice->nest;
  stage->vector_loop = choice->config.knob[TG_KNOB_vector_loop];
  stage->vectors = choice->config.knob[TG_KNOB_vectors];
  for (int l = 0; l < stage->nest.loop_count; ++l)
    stage->reduces |= stage->nest.reduction[l] && stage->nest.extent[l] > 1;
  if (!is_destination_outside(group, stage))
    return false;
  for (int o = 0; o < stage->nest.operand_count; ++o)
    if (!(o < stage->nest.input_count ? add_input(group, stage, o)
                                      : add_result(group, stage, o)))
      return false;
  MlirValue captures[TG_MAX_GROUP_CAPTURES];
  int count = tg_nest_captures(stage->op, TG_MAX_GROUP_CAPTURES, captures);
  for (int i = 0; i < count; ++i)
    if (is_made_inside(group, captures[i]) || !add_capture(group, captures[i]))
      return false;
  group->stage_count++;
  return count >= 0;
}

/* The operation of the block that the use is in, maybe nested. */
static MlirOperation ancestor_in(MlirOperation op, MlirBlock block) {
  while (!mlirOperationIsNull(op) &&
         !mlirBlockEqual(mlirOperationGetBlock(op), block))
    op = mlirOperationGetParentOperation(op);
  return op;
}

static bool is_stage(const struct tg_group *group, MlirOperation op) {
  for (int s = 0; s < group->stage_count; ++s)
    if (mlirOperationEqual(group->stage[s].op, op))
      return true;
  return false;
}

/*
 * The function is called where the last stage stood. Every other user of a
 * result has to come after that; `escapes`: is there one?
 */
static bool users_follow(const struct tg_group *group, MlirValue value,
                         bool *escapes) {
  MlirOperation last = group->stage[group->stage_count - 1].op;
  MlirBlock block = mlirOperationGetBlock(last);
  *escapes = false;
  for (MlirOpOperand use = mlirValueGetFirstUse(value);
       !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = ancestor_in(mlirOpOperandGetOwner(use), block);
    if (!mlirOperationIsNull(user) && is_stage(group, user))
      continue;
    *escapes = true;
    if (mlirOperationIsNull(user) || !mlirOperationIsBeforeInBlock(last, user))
      return false;
  }
  return true;
}

static bool find_escapes(struct tg_group *group) {
  for (int t = 0; t < group->tensor_count; ++t) {
    struct tg_group_tensor *tensor = &group->tensor[t];
    bool escapes;
    if (tensor->producer == TG_NO_STAGE) {
      tensor->residence = TG_OUTSIDE;
      continue;
    }
    if (!users_follow(group, tensor->value, &escapes))
      return false;
    /* What starts from a tensor that exists is made in its place. */
    bool given = !mlirValueIsNull(tensor->destination);
    tensor->residence = escapes || given ? TG_RESULT_OF_GROUP : TG_ROW_BUFFER;
  }
  return true;
}

/*===-- Rows --------------------------------------------------------------===*/

/* Is the dimension walked by the loop of the same number, or of one element? */
static bool is_row_dimension(const struct tg_nest *nest, int operand, int row) {
  const struct tg_access *access = &nest->operand[operand];
  if (row >= access->rank)
    return false;
  for (int l = 0; l < nest->loop_count; ++l)
    if (access->coefficient[row][l] != (l == row) &&
        !(nest->extent[l] == 1 && access->extent[row] == 1))
      return false;
  return true;
}

/* Outermost loops that are parallel in both stages and that the tensor which
 * the first one makes and the second one reads has as its first dimensions. */
static int shared_rows(const struct tg_group *group, int consumer, int operand,
                       int most) {
  const struct tg_stage *reader = &group->stage[consumer];
  int t = reader->tensor[operand];
  const struct tg_stage *maker = &group->stage[group->tensor[t].producer];
  int made = 0;
  while (maker->tensor[made] != t || made < maker->nest.input_count)
    ++made;
  int rows = 0;
  while (rows < most && is_row_dimension(&reader->nest, operand, rows) &&
         is_row_dimension(&maker->nest, made, rows))
    ++rows;
  return rows;
}

static int find_rows(const struct tg_group *group) {
  const struct tg_nest *first = &group->stage[0].nest;
  int rows = first->loop_count;
  for (int s = 0; s < group->stage_count; ++s) {
    const struct tg_nest *nest = &group->stage[s].nest;
    int own = 0;
    while (own < rows && own < nest->loop_count && !nest->reduction[own] &&
           nest->extent[own] == first->extent[own])
      ++own;
    rows = own;
    for (int o = 0; o < nest->input_count; ++o) {
      int t = group->stage[s].tensor[o];
      if (t != TG_NO_TENSOR && group->tensor[t].producer != TG_NO_STAGE)
        rows = shared_rows(group, s, o, rows);
    }
  }
  return rows;
}

/*===-- Groups ------------------------------------------------------------===*/

static bool has_row_buffer(const struct tg_group *group) {
  for (int t = 0; t < group->tensor_count; ++t)
    if (group->tensor[t].residence == TG_ROW_BUFFER)
      return true;
  return false;
}

/* Without rows where that is one sweep and needs no buffer, else with as many
 * rows as there can be. */
static bool build_group(const struct tg_nest_choice *const *members, int count,
                        const struct tg_target *target,
                        struct tg_group *group) {
  memset(group, 0, sizeof(*group));
  for (int i = 0; i < count; ++i) {
    int64_t lanes = tg_nest_lanes(&members[i]->nest, target);
    group->lanes = lanes > group->lanes ? lanes : group->lanes;
    if (!add_stage(group, members[i]))
      return false;
  }
  if (!find_escapes(group))
    return false;
  int rows = find_rows(group);
  struct tg_group plain = *group;
  if (tg_group_shape(&plain, 0) && plain.stage[count - 1].first_of_sweep == 0 &&
      !has_row_buffer(&plain)) {
    *group = plain;
    return true;
  }
  return rows > 0 && tg_group_shape(group, rows);
}

static bool uses_result_of(MlirOperation op,
                           const struct tg_nest_choice *const *members,
                           int count) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i) {
    MlirOperation producer = tg_value_producer(mlirOperationGetOperand(op, i));
    for (int m = 0; m < count && !mlirOperationIsNull(producer); ++m)
      if (mlirOperationEqual(members[m]->op, producer))
        return true;
  }
  return false;
}

bool tg_group_find(struct tg_nest_choice *choices, size_t count, size_t first,
                   const struct tg_target *target, struct tg_group *group) {
  const struct tg_nest_choice *members[TG_MAX_STAGES];
  int member_count = 1;
  members[0] = &choices[first];
  choices[first].taken = true;
  if (!build_group(members, 1, target, group))
    return false;
  MlirBlock block = mlirOperationGetBlock(choices[first].op);
  for (size_t i = first + 1; i < count && i < first + MAX_DISTANCE; ++i) {
    if (choices[i].taken || member_count == TG_MAX_STAGES ||
        choices[i].beforehand != choices[first].beforehand ||
        !mlirBlockEqual(mlirOperationGetBlock(choices[i].op), block) ||
        !uses_result_of(choices[i].op, members, member_count))
      continue;
    struct tg_group larger;
    members[member_count] = &choices[i];
    if (!build_group(members, member_count + 1, target, &larger))
      continue;
    *group = larger;
    choices[i].taken = true;
    member_count++;
  }
  return true;
}
