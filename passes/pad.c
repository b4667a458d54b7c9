/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The nest of a pad, on the result as one row of elements:
 *
 *   loops over all dimensions but the last two
 *     [elements below the first row]
 *     rows     [copy of the row] [what lies between it and the next]
 *     last row [copy]
 *     [elements above]
 */
#include "passes/pad.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdio.h>

#include "model/text.h"
#include "passes/inspect.h"
#include "passes/run.h"

/*===-- What it is --------------------------------------------------------===*/

static bool read_widths(MlirOperation op, const char *name, intptr_t rank,
                        int64_t *widths) {
  MlirAttribute attribute = mlirOperationGetAttributeByName(op, tg_ref(name));
  if (mlirAttributeIsNull(attribute) ||
      !mlirAttributeIsADenseI64Array(attribute) ||
      mlirDenseArrayGetNumElements(attribute) != rank)
    return false;
  for (intptr_t d = 0; d < rank; ++d) {
    widths[d] = mlirDenseI64ArrayGetElement(attribute, d);
    if (widths[d] < 0) /* negative, or INT64_MIN for one that isn't static */
      return false;
  }
  return true;
}

/* The value that the body yields at every place; null where it depends on it:
 * only what is known outside, or a constant in the body, is one value. */
static MlirValue padding_value(MlirOperation op) {
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  MlirValue value = mlirOperationGetOperand(mlirBlockGetTerminator(body), 0);
  if (mlirValueIsABlockArgument(value))
    return mlirBlockEqual(mlirBlockArgumentGetOwner(value), body)
               ? (MlirValue){NULL}
               : value;
  MlirOperation producer = mlirOpResultGetOwner(value);
  bool inside = mlirBlockEqual(mlirOperationGetBlock(producer), body);
  return !inside || tg_op_is(producer, "arith.constant") ? value
                                                         : (MlirValue){NULL};
}

/* A dimension without padding is walked together with the one before. */
static void merge_dimensions(struct tg_pad *pad, int rank,
                             const int64_t *extent, const int64_t *low,
                             const int64_t *high) {
  pad->rank = 0;
  for (int d = 0; d < rank; ++d) {
    int into = pad->rank - 1;
    if (into >= 0 && low[d] == 0 && high[d] == 0) {
      pad->extent[into] *= extent[d];
      pad->low[into] *= extent[d];
      pad->high[into] *= extent[d];
      continue;
    }
    pad->extent[pad->rank] = extent[d];
    pad->low[pad->rank] = low[d];
    pad->high[pad->rank++] = high[d];
  }
}

bool tg_pad_from_op(MlirOperation op, struct tg_pad *pad) {
  if (!tg_op_is(op, "tensor.pad"))
    return false;
  MlirType source = mlirValueGetType(mlirOperationGetOperand(op, 0));
  MlirType result = mlirValueGetType(mlirOperationGetResult(op, 0));
  intptr_t rank = mlirShapedTypeGetRank(source);
  int64_t extent[TG_MAX_RANK], low[TG_MAX_RANK], high[TG_MAX_RANK];
  if (rank < 1 || rank > TG_MAX_RANK || !mlirShapedTypeHasStaticShape(source) ||
      !mlirShapedTypeHasStaticShape(result) ||
      !mlirAttributeIsNull(mlirRankedTensorTypeGetEncoding(source)) ||
      !mlirAttributeIsNull(mlirRankedTensorTypeGetEncoding(result)) ||
      !tg_run_serves(mlirShapedTypeGetElementType(source)) ||
      !read_widths(op, "static_low", rank, low) ||
      !read_widths(op, "static_high", rank, high))
    return false;
  bool pads = false;
  for (intptr_t d = 0; d < rank; ++d) {
    extent[d] = mlirShapedTypeGetDimSize(source, d);
    if (extent[d] < 1)
      return false;
    pads = pads || low[d] > 0 || high[d] > 0;
  }
  pad->value = padding_value(op);
  merge_dimensions(pad, (int)rank, extent, low, high);
  return pads && !mlirValueIsNull(pad->value);
}

/*===-- Code --------------------------------------------------------------===*/

struct emit_pad {
  struct tg_builder builder;
  struct tg_run run;
  const struct tg_pad *pad;
  int64_t source_step[TG_MAX_RANK], result_step[TG_MAX_RANK]; /* elements */
  MlirValue source, result;                                   /* rank 1 */
};

static void fill(struct emit_pad *emit, MlirValue at, int64_t count) {
  emit->result = tg_run_fill(
      &emit->run, (struct tg_run_place){emit->result, 1, &at}, count);
}

static void copy(struct emit_pad *emit, MlirValue from, MlirValue to,
                 int64_t count) {
  emit->result =
      tg_run_copy(&emit->run, (struct tg_run_place){emit->source, 1, &from},
                  (struct tg_run_place){emit->result, 1, &to}, count);
}

/* at + index * step + offset */
static MlirValue place(struct emit_pad *emit, MlirValue at, MlirValue index,
                       int64_t step, int64_t offset) {
  struct tg_builder *builder = &emit->builder;
  MlirValue moved = tg_add(builder, at, tg_mul(builder, index, step));
  return tg_add(builder, moved, tg_index(builder, offset));
}

static void loop_begin(struct emit_pad *emit, struct tg_for *loop,
                       int64_t count) {
  struct tg_builder *builder = &emit->builder;
  tg_for_begin(builder, loop, tg_index(builder, 0), tg_index(builder, count), 1,
               1, &emit->result);
  emit->result = loop->carried[0];
}

static void loop_end(struct emit_pad *emit, struct tg_for *loop) {
  tg_for_end(&emit->builder, loop, &emit->result);
  emit->result = loop->carried[0];
}

/* Dimension d (the last but one) and the last: what lies between two rows is
 * filled at once. */
static void emit_rows(struct emit_pad *emit, int d, MlirValue from,
                      MlirValue to) {
  const struct tg_pad *pad = emit->pad;
  struct tg_builder *builder = &emit->builder;
  int64_t row = pad->extent[d + 1], step = emit->result_step[d];
  int64_t below = pad->low[d] * step + pad->low[d + 1];
  int64_t above = pad->high[d] * step + pad->high[d + 1];
  int64_t last = pad->extent[d] - 1;
  fill(emit, to, below);
  if (last > 0) {
    struct tg_for loop;
    loop_begin(emit, &loop, last);
    copy(emit, place(emit, from, loop.iv, row, 0),
         place(emit, to, loop.iv, step, below), row);
    fill(emit, place(emit, to, loop.iv, step, below + row), step - row);
    loop_end(emit, &loop);
  }
  MlirValue index = tg_index(builder, last);
  copy(emit, place(emit, from, index, row, 0),
       place(emit, to, index, step, below), row);
  fill(emit, place(emit, to, index, step, below + row), above);
}

static void emit_single_row(struct emit_pad *emit, MlirValue from,
                            MlirValue to) {
  const struct tg_pad *pad = emit->pad;
  MlirValue zero = tg_index(&emit->builder, 0);
  fill(emit, to, pad->low[0]);
  copy(emit, from, place(emit, to, zero, 0, pad->low[0]), pad->extent[0]);
  fill(emit, place(emit, to, zero, 0, pad->low[0] + pad->extent[0]),
       pad->high[0]);
}

static void emit_dimension(struct emit_pad *emit, int d, MlirValue from,
                           MlirValue to) {
  const struct tg_pad *pad = emit->pad;
  if (pad->rank == 1) {
    emit_single_row(emit, from, to);
    return;
  }
  if (d == pad->rank - 2) {
    emit_rows(emit, d, from, to);
    return;
  }
  int64_t step = emit->result_step[d], below = pad->low[d] * step;
  fill(emit, to, below);
  struct tg_for loop;
  loop_begin(emit, &loop, pad->extent[d]);
  emit_dimension(emit, d + 1,
                 place(emit, from, loop.iv, emit->source_step[d], 0),
                 place(emit, to, loop.iv, step, below));
  loop_end(emit, &loop);
  MlirValue zero = tg_index(&emit->builder, 0);
  fill(emit, place(emit, to, zero, 0, below + pad->extent[d] * step),
       pad->high[d] * step);
}

/* Between a tensor and its elements as one row. */
static MlirValue reshape(struct tg_builder *builder, MlirValue tensor,
                         MlirType shaped, MlirType type, bool expand) {
  intptr_t rank = mlirShapedTypeGetRank(shaped);
  if (rank == 1)
    return tensor;
  MlirContext context = builder->context;
  MlirAttribute members[TG_MAX_RANK];
  int64_t shape[TG_MAX_RANK];
  for (intptr_t d = 0; d < rank; ++d) {
    members[d] = mlirIntegerAttrGet(mlirIntegerTypeGet(context, 64), d);
    shape[d] = mlirShapedTypeGetDimSize(shaped, d);
  }
  MlirAttribute group = mlirArrayAttrGet(context, rank, members);
  MlirNamedAttribute attributes[2] = {
      tg_named(context, "reassociation", mlirArrayAttrGet(context, 1, &group)),
      tg_named(context, "static_output_shape",
               mlirDenseI64ArrayGet(context, rank, shape))};
  return mlirOperationGetResult(
      tg_build(builder,
               expand ? "tensor.expand_shape" : "tensor.collapse_shape", 1,
               &tensor, 1, &type, expand ? 2 : 1, attributes),
      0);
}

static MlirValue flatten(struct tg_builder *builder, MlirValue tensor) {
  MlirType type = mlirValueGetType(tensor);
  int64_t elements = 1;
  for (intptr_t d = 0; d < mlirShapedTypeGetRank(type); ++d)
    elements *= mlirShapedTypeGetDimSize(type, d);
  return reshape(builder, tensor, type,
                 mlirRankedTensorTypeGet(1, &elements,
                                         mlirShapedTypeGetElementType(type),
                                         mlirAttributeGetNull()),
                 false);
}

/* The function's body: arguments are the source, the result and the value. */
static void emit_body(const struct tg_pad *pad, const struct tg_target *target,
                      MlirBlock entry, MlirLocation location) {
  struct emit_pad emit = {.pad = pad};
  MlirValue result = mlirBlockGetArgument(entry, 1);
  MlirType type = mlirValueGetType(result);
  MlirType element = mlirShapedTypeGetElementType(type);
  tg_builder_init(&emit.builder, entry, location, element, 1);
  tg_run_init(&emit.run, &emit.builder, element, target->vector_bits);
  tg_run_set_filler(&emit.run, mlirBlockGetArgument(entry, 2));
  emit.source = flatten(&emit.builder, mlirBlockGetArgument(entry, 0));
  emit.result = flatten(&emit.builder, result);
  int64_t source_step = 1, result_step = 1;
  for (int d = pad->rank - 1; d >= 0; --d) {
    emit.source_step[d] = source_step;
    emit.result_step[d] = result_step;
    source_step *= pad->extent[d];
    result_step *= pad->low[d] + pad->extent[d] + pad->high[d];
  }
  MlirValue zero = tg_index(&emit.builder, 0);
  emit_dimension(&emit, 0, zero, zero);
  MlirValue whole = reshape(&emit.builder, emit.result, type, type, true);
  tg_build(&emit.builder, "func.return", 1, &whole, 0, NULL, 0, NULL);
}

/*===-- Replacing the operation -------------------------------------------===*/

/* "tgraph_pad_1x64x58x58xf32" */
static void make_name(MlirType result, struct tg_text *name) {
  tg_text_print(name, "tgraph_pad_");
  for (intptr_t d = 0; d < mlirShapedTypeGetRank(result); ++d)
    tg_text_print(name, "%lldx",
                  (long long)mlirShapedTypeGetDimSize(result, d));
  mlirTypePrint(mlirShapedTypeGetElementType(result), tg_append_ref, name);
}

/* The constant of a pad's body, where the call can use it. */
static MlirValue value_outside(MlirOperation op, MlirValue value) {
  MlirOperation producer = tg_value_producer(value);
  if (mlirOperationIsNull(producer) ||
      !mlirOperationEqual(mlirOperationGetParentOperation(producer), op))
    return value;
  MlirOperation copy = mlirOperationClone(producer);
  mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(op), op, copy);
  return mlirOperationGetResult(copy, 0);
}

struct apply_pads {
  struct tg_outliner *outliner;
  const struct tg_target *target;
};

static void replace(const struct apply_pads *apply, MlirOperation op,
                    const struct tg_pad *pad) {
  MlirLocation location = mlirOperationGetLocation(op);
  MlirValue old = mlirOperationGetResult(op, 0);
  MlirType result = mlirValueGetType(old);
  MlirType inputs[3] = {mlirValueGetType(mlirOperationGetOperand(op, 0)),
                        result, mlirValueGetType(pad->value)};
  MlirBlock entry;
  MlirOperation function = tg_outline_begin(
      location,
      mlirFunctionTypeGet(mlirOperationGetContext(op), 3, inputs, 1, &result),
      &entry);
  emit_body(pad, apply->target, entry, location);
  struct tg_text name = {0};
  make_name(result, &name);
  const char *symbol =
      name.failed ? NULL : tg_outline_end(apply->outliner, function, name.data);
  tg_text_destroy(&name);
  if (!symbol)
    return;
  MlirValue arguments[3] = {
      mlirOperationGetOperand(op, 0),
      mlirOperationGetResult(
          tg_insert_before(op, "tensor.empty", 0, NULL, 1, &result, NULL), 0),
      value_outside(op, pad->value)};
  MlirOperation call = tg_insert_call(op, symbol, 3, arguments, 1, &result);
  mlirValueReplaceAllUsesOfWith(old, mlirOperationGetResult(call, 0));
  mlirOperationDestroy(op);
}

/* Not in scripts and modules of their own, nor in bodies of scalars. */
static bool is_closed(MlirOperation op, MlirOperation module) {
  return tg_op_name_starts_with(op, "linalg.") ||
         tg_op_name_starts_with(op, "transform.") ||
         (tg_op_is(op, "builtin.module") && !mlirOperationEqual(op, module));
}

static MlirWalkResult visit(MlirOperation op, void *data) {
  const struct apply_pads *apply = data;
  struct tg_pad pad;
  if (is_closed(op, apply->outliner->module))
    return MlirWalkResultSkip;
  if (!tg_pad_from_op(op, &pad) || tg_op_is_skipped(op))
    return MlirWalkResultAdvance;
  replace(apply, op, &pad);
  return MlirWalkResultSkip;
}

void tg_apply_pads(struct tg_outliner *outliner,
                   const struct tg_target *target) {
  struct apply_pads apply = {outliner, target};
  mlirOperationWalk(outliner->module, visit, &apply, MlirWalkPreOrder);
}
