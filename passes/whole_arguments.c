/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * tensor.extract_slice before a call and tensor.insert_slice behind it go into
 * a copy of the function.
 */
#include "passes/whole_arguments.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdio.h>

#include "passes/inspect.h"
#include "passes/slice.h"

enum { MAX_ARGUMENTS = TG_MAX_OUTLINE_ARGUMENTS, NAME_NBYTES = 176 };

/* An argument that becomes a whole tensor. */
struct wide {
  int argument;
  MlirValue whole;       /* outside */
  struct tg_slice slice; /* its offsets are values outside */
};

struct widen {
  MlirOperation call, function;
  int count;
  struct wide wide[MAX_ARGUMENTS];
  /* The result's part is put into the whole one of wide[result]; -1: it is
   * returned. */
  int result;
  MlirOperation insert;
  /* What the new function takes: the old arguments that stay, then these. */
  int added_count;
  MlirValue added[MAX_ARGUMENTS]; /* outside */
  MlirValue inside[MAX_ARGUMENTS];
};

struct calls {
  struct tg_arena *arena;
  MlirOperation *ops;
  size_t count, capacity;
  bool failed;
};

/*===-- Reading -----------------------------------------------------------===*/

static MlirAttribute array_of(MlirOperation op, const char *name, int rank) {
  MlirAttribute array = mlirOperationGetAttributeByName(op, tg_ref(name));
  return !mlirAttributeIsNull(array) && mlirAttributeIsADenseI64Array(array) &&
                 mlirDenseArrayGetNumElements(array) == rank
             ? array
             : mlirAttributeGetNull();
}

/* The part that a slicing operation of as many dimensions names. `first`: its
 * first offset operand. Offsets are 0 or values, strides 1. */
static bool read_slice(MlirOperation op, int first, MlirValue whole,
                       MlirValue part, struct tg_slice *slice) {
  MlirType type = mlirValueGetType(part);
  int rank = (int)mlirShapedTypeGetRank(type);
  if (rank > TG_MAX_RANK ||
      mlirShapedTypeGetRank(mlirValueGetType(whole)) != rank ||
      !mlirShapedTypeHasStaticShape(type) ||
      !mlirShapedTypeHasStaticShape(mlirValueGetType(whole)))
    return false;
  MlirAttribute offsets = array_of(op, "static_offsets", rank);
  MlirAttribute sizes = array_of(op, "static_sizes", rank);
  MlirAttribute strides = array_of(op, "static_strides", rank);
  if (mlirAttributeIsNull(offsets) || mlirAttributeIsNull(sizes) ||
      mlirAttributeIsNull(strides))
    return false;
  *slice = (struct tg_slice){.rank = rank};
  for (int d = 0; d < rank; ++d) {
    int64_t offset = mlirDenseI64ArrayGetElement(offsets, d);
    slice->size[d] = mlirShapedTypeGetDimSize(type, d);
    if (mlirDenseI64ArrayGetElement(sizes, d) != slice->size[d] ||
        mlirDenseI64ArrayGetElement(strides, d) != 1)
      return false;
    if (offset == mlirShapedTypeGetDynamicStrideOrOffset())
      slice->offset[d] = mlirOperationGetOperand(op, first++);
    else if (offset != 0)
      return false;
  }
  return true;
}

static void read_inputs(struct widen *widen) {
  for (int i = 0; i < mlirOperationGetNumOperands(widen->call); ++i) {
    MlirValue part = mlirOperationGetOperand(widen->call, i);
    MlirOperation extract = tg_value_producer(part);
    struct wide *wide = &widen->wide[widen->count];
    if (!tg_op_is(extract, "tensor.extract_slice"))
      continue;
    wide->argument = i;
    wide->whole = mlirOperationGetOperand(extract, 0);
    widen->count += read_slice(extract, 1, wide->whole, part, &wide->slice);
  }
}

/* The only argument that is an empty tensor like the result, or -1. */
static int find_destination(MlirOperation call, MlirType type) {
  int found = -1;
  for (int i = 0; i < mlirOperationGetNumOperands(call); ++i) {
    MlirValue value = mlirOperationGetOperand(call, i);
    if (!tg_op_is(tg_value_producer(value), "tensor.empty") ||
        !mlirTypeEqual(mlirValueGetType(value), type))
      continue;
    if (found >= 0)
      return -1;
    found = i;
  }
  return found;
}

/* A result that is put into a larger tensor and used nowhere else. */
static void read_result(struct widen *widen) {
  widen->result = -1;
  if (mlirOperationGetNumResults(widen->call) != 1)
    return;
  MlirValue part = mlirOperationGetResult(widen->call, 0);
  MlirOpOperand use = mlirValueGetFirstUse(part);
  if (mlirOpOperandIsNull(use) ||
      !mlirOpOperandIsNull(mlirOpOperandGetNextUse(use)))
    return;
  MlirOperation insert = mlirOpOperandGetOwner(use);
  struct wide *wide = &widen->wide[widen->count];
  wide->argument = find_destination(widen->call, mlirValueGetType(part));
  if (wide->argument < 0 || !tg_op_is(insert, "tensor.insert_slice") ||
      mlirOpOperandGetOperandNumber(use) != 0 ||
      !mlirBlockEqual(mlirOperationGetBlock(insert),
                      mlirOperationGetBlock(widen->call)))
    return;
  wide->whole = mlirOperationGetOperand(insert, 1);
  if (!read_slice(insert, 2, wide->whole, part, &wide->slice))
    return;
  widen->insert = insert;
  widen->result = widen->count++;
}

/*===-- The function ------------------------------------------------------===*/

/* The new function's argument that the value outside becomes. */
static MlirValue add_argument(struct widen *widen, MlirBlock entry,
                              MlirValue outside, bool shared) {
  for (int i = 0; i < widen->added_count && shared; ++i)
    if (mlirValueEqual(widen->added[i], outside))
      return widen->inside[i];
  MlirValue inside =
      mlirBlockAddArgument(entry, mlirValueGetType(outside),
                           mlirOperationGetLocation(widen->function));
  widen->added[widen->added_count] = outside;
  widen->inside[widen->added_count++] = inside;
  return inside;
}

/* Only indices are shared: a tensor that is written is one of its own. */
static MlirValue take_whole(struct widen *widen, MlirBlock entry,
                            const struct wide *wide, struct tg_slice *inside) {
  *inside = wide->slice;
  MlirValue whole = add_argument(widen, entry, wide->whole, false);
  for (int d = 0; d < inside->rank; ++d)
    if (!mlirValueIsNull(inside->offset[d]))
      inside->offset[d] = add_argument(widen, entry, inside->offset[d], true);
  return whole;
}

static void set_type(MlirOperation function, MlirBlock entry, MlirType result) {
  MlirType inputs[2 * MAX_ARGUMENTS];
  intptr_t count = mlirBlockGetNumArguments(entry);
  for (intptr_t i = 0; i < count; ++i)
    inputs[i] = mlirValueGetType(mlirBlockGetArgument(entry, i));
  MlirContext context = mlirOperationGetContext(function);
  MlirType old = mlirTypeAttrGetValue(
      mlirOperationGetAttributeByName(function, tg_ref("function_type")));
  MlirType results[MAX_ARGUMENTS];
  intptr_t result_count = mlirFunctionTypeGetNumResults(old);
  for (intptr_t r = 0; r < result_count; ++r)
    results[r] = mlirFunctionTypeGetResult(old, r);
  if (!mlirTypeIsNull(result))
    results[0] = result;
  mlirOperationSetAttributeByName(
      function, tg_ref("function_type"),
      mlirTypeAttrGet(
          mlirFunctionTypeGet(context, count, inputs, result_count, results)));
}

/* Slices at the function's entry, and one before it returns. */
static void change_function(struct widen *widen, MlirOperation function) {
  MlirBlock entry =
      mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0));
  MlirOperation first = mlirBlockGetFirstOperation(entry);
  MlirOperation end = mlirBlockGetTerminator(entry);
  MlirLocation location = mlirOperationGetLocation(function);
  MlirBlock front = mlirBlockCreate(0, NULL, NULL);
  struct tg_builder builder;
  MlirType f32 = mlirF32TypeGet(mlirOperationGetContext(function));
  tg_builder_init(&builder, front, location, f32, 1);
  MlirType result = {NULL};
  for (int i = 0; i < widen->count; ++i) {
    const struct wide *wide = &widen->wide[i];
    struct tg_slice slice;
    MlirValue whole = take_whole(widen, entry, wide, &slice);
    mlirValueReplaceAllUsesOfWith(mlirBlockGetArgument(entry, wide->argument),
                                  tg_slice_extract(&builder, whole, &slice));
    if (i != widen->result)
      continue;
    tg_move_before(front, first);
    result = mlirValueGetType(whole);
    MlirValue all = tg_slice_insert(&builder, mlirOperationGetOperand(end, 0),
                                    whole, &slice);
    tg_move_before(front, end);
    mlirOperationSetOperand(end, 0, all);
  }
  tg_move_before(front, first);
  mlirBlockDestroy(front);
  for (intptr_t a = mlirBlockGetNumArguments(entry); a-- > 0;)
    for (int i = 0; i < widen->count; ++i)
      if (widen->wide[i].argument == a)
        mlirBlockEraseArgument(entry, (unsigned)a);
  set_type(function, entry, result);
}

/*===-- The call ----------------------------------------------------------===*/

static int collect_operands(const struct widen *widen, MlirValue *operands) {
  int count = 0;
  for (int i = 0; i < mlirOperationGetNumOperands(widen->call); ++i) {
    bool stays = true;
    for (int w = 0; w < widen->count; ++w)
      stays &= widen->wide[w].argument != i;
    if (stays)
      operands[count++] = mlirOperationGetOperand(widen->call, i);
  }
  for (int i = 0; i < widen->added_count; ++i)
    operands[count++] = widen->added[i];
  return count;
}

/* A result goes where it was put: all that it needs is known there. */
static void change_call(struct widen *widen, const char *symbol) {
  MlirValue operands[2 * MAX_ARGUMENTS];
  MlirType types[MAX_ARGUMENTS];
  int count = collect_operands(widen, operands);
  MlirOperation call = widen->call;
  bool puts = widen->result >= 0;
  MlirOperation before = puts ? widen->insert : call;
  intptr_t results = mlirOperationGetNumResults(call);
  for (intptr_t r = 0; r < results; ++r)
    types[r] = mlirValueGetType(mlirOperationGetResult(before, r));
  MlirOperation made =
      tg_insert_call(before, symbol, count, operands, results, types);
  for (intptr_t r = 0; r < results; ++r)
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(before, r),
                                  mlirOperationGetResult(made, r));
  if (puts)
    mlirOperationDestroy(widen->insert);
  mlirOperationDestroy(call);
}

static MlirStringRef callee_of(MlirOperation call) {
  return mlirFlatSymbolRefAttrGetValue(
      mlirOperationGetAttributeByName(call, tg_ref("callee")));
}

/* At most as many values as a function may have. */
static bool fits(const struct widen *widen) {
  int count = (int)mlirOperationGetNumOperands(widen->call);
  for (int i = 0; i < widen->count; ++i)
    count += 1 + widen->wide[i].slice.rank;
  return count <= MAX_ARGUMENTS;
}

static void widen_call(struct tg_outliner *outliner, struct widen *widen) {
  read_inputs(widen);
  read_result(widen);
  if (widen->count == 0 || !fits(widen))
    return;
  MlirStringRef old = callee_of(widen->call);
  char name[NAME_NBYTES];
  snprintf(name, sizeof(name), "%.*s_part", (int)old.length, old.data);
  MlirOperation function = mlirOperationClone(widen->function);
  change_function(widen, function);
  mlirOperationSetAttributeByName(
      function, tg_ref("sym_name"),
      mlirStringAttrGet(mlirOperationGetContext(function),
                        tg_ref("tgraph_kernel")));
  const char *symbol = tg_outline_end(outliner, function, name);
  if (symbol)
    change_call(widen, symbol);
}

/*===-- The stage ---------------------------------------------------------===*/

static MlirWalkResult collect_call(MlirOperation op, void *data) {
  struct calls *calls = data;
  if (!tg_op_is(op, "func.call"))
    return MlirWalkResultAdvance;
  MlirOperation *grown = tg_arena_grow(calls->arena, calls->ops, calls->count,
                                       &calls->capacity, sizeof(*grown));
  if (!grown) {
    calls->failed = true;
    return MlirWalkResultInterrupt;
  }
  calls->ops = grown;
  calls->ops[calls->count++] = op;
  return MlirWalkResultAdvance;
}

static bool collect_calls(struct tg_outliner *outliner, struct calls *calls) {
  *calls = (struct calls){.arena = outliner->arena};
  mlirOperationWalk(outliner->module, collect_call, calls, MlirWalkPreOrder);
  return !calls->failed;
}

static bool is_called(const struct calls *calls, MlirOperation function) {
  MlirStringRef name = mlirStringAttrGetValue(
      mlirOperationGetAttributeByName(function, tg_ref("sym_name")));
  for (size_t i = 0; i < calls->count; ++i)
    if (mlirStringRefEqual(callee_of(calls->ops[i]), name))
      return true;
  return false;
}

/* Functions that were called for parts alone are called no more. */
static bool drop_unused(struct tg_outliner *outliner, size_t count,
                        const MlirOperation *functions) {
  struct calls calls;
  if (!collect_calls(outliner, &calls))
    return false;
  for (size_t i = 0; i < count; ++i) {
    bool again = false;
    for (size_t j = 0; j < i; ++j)
      again |= mlirOperationEqual(functions[j], functions[i]);
    if (!again && !is_called(&calls, functions[i]))
      mlirOperationDestroy(functions[i]);
  }
  return true;
}

bool tg_pass_wholes(struct tg_outliner *outliner) {
  struct calls calls;
  if (!collect_calls(outliner, &calls))
    return false;
  MlirOperation *functions =
      tg_arena_alloc(outliner->arena, calls.count + 1, sizeof(*functions));
  struct widen *widen = tg_arena_alloc(outliner->arena, 1, sizeof(*widen));
  if (!functions || !widen)
    return false;
  size_t count = 0;
  for (size_t i = 0; i < calls.count; ++i) {
    *widen = (struct widen){
        .call = calls.ops[i],
        .function = tg_outliner_find(outliner, callee_of(calls.ops[i]))};
    if (mlirOperationIsNull(widen->function))
      continue;
    functions[count] = widen->function;
    widen_call(outliner, widen);
    count += widen->count > 0;
  }
  return drop_unused(outliner, count, functions);
}
