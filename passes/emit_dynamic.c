/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Bounded and sliced loops.
 */
#include "passes/emit_dynamic.h"

#include <assert.h>
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <string.h>

#include "passes/passes.h"

/*===-- Bounded loops -----------------------------------------------------===*/

bool tg_emit_is_bounded(const struct tg_emit *emit, int loop) {
  return loop != TG_NO_LOOP && !mlirValueIsNull(emit->bound[loop]);
}

MlirValue tg_emit_end(struct tg_emit *emit, int loop) {
  return tg_emit_is_bounded(emit, loop)
             ? emit->bound[loop]
             : tg_index(&emit->builder, emit->kernel->extent[loop]);
}

void tg_emit_find_bounds(struct tg_emit *emit, MlirValue result) {
  for (int l = 0; l < emit->kernel->loop_count; ++l) {
    int operand, dimension;
    if (emit->kernel->dynamic[l] != TG_BOUNDED)
      continue;
    bool found =
        tg_kernel_find_dimension(emit->kernel, l, &operand, &dimension);
    assert(found);
    (void)found;
    emit->bound[l] = tg_dim(
        &emit->builder, operand == TG_RESULT ? result : emit->source[operand],
        dimension);
  }
}

/* The end of the block, and the end of the whole steps in it. */
static MlirValue block_end(struct tg_emit *emit, int loop, MlirValue origin,
                           int64_t block, int64_t step, MlirValue *full_end) {
  struct tg_builder *b = &emit->builder;
  MlirValue end =
      tg_min(b, tg_add(b, origin, tg_index(b, block)), tg_emit_end(emit, loop));
  MlirValue steps = tg_div(b, tg_sub(b, end, origin), step);
  *full_end = tg_add(b, origin, tg_mul(b, steps, step));
  return end;
}

void tg_emit_split_ladder(struct tg_emit *emit, int loop, MlirValue origin,
                          int64_t block, int64_t step,
                          void (*body)(struct tg_emit *, MlirValue position,
                                       int64_t size, void *data),
                          void *data) {
  struct tg_builder *b = &emit->builder;
  MlirValue full_end;
  MlirValue end = block_end(emit, loop, origin, block, step, &full_end);
  struct tg_for rounds;
  tg_emit_loop_begin(emit, &rounds, origin, full_end, step);
  body(emit, rounds.iv, step, data);
  tg_emit_loop_end(emit, &rounds);
  int64_t size = 1;
  while (2 * size < step)
    size *= 2;
  /* Each rung takes at most one round: less than twice its size is left. */
  MlirValue position = full_end;
  for (; size >= 1 && step > 1; size /= 2) {
    MlirValue count = tg_div(b, tg_sub(b, end, position), size);
    MlirValue next = tg_add(b, position, tg_mul(b, count, size));
    tg_emit_loop_begin(emit, &rounds, position, next, size);
    emit->row_offset = tg_sub(b, rounds.iv, full_end);
    body(emit, rounds.iv, size, data);
    emit->row_offset = (MlirValue){NULL};
    tg_emit_loop_end(emit, &rounds);
    position = next;
  }
}

/* rest_mask[v]: the lanes of vector v that lie within `count` columns. */
static void set_masks(struct tg_builder *b, MlirValue count, int64_t width) {
  MlirType type =
      mlirVectorTypeGet(1, &b->lanes, mlirIntegerTypeGet(b->context, 1));
  for (int64_t v = 0; v * b->lanes < width; ++v) {
    assert(v < TG_BUILD_MAX_REST);
    MlirValue left = tg_sub(b, count, tg_index(b, v * b->lanes));
    b->rest_mask[v] = tg_build_1(b, "vector.create_mask", 1, &left, type);
  }
}

void tg_emit_split_masked(struct tg_emit *emit, int loop, MlirValue origin,
                          int64_t block, int64_t step,
                          void (*body)(struct tg_emit *, MlirValue position,
                                       int64_t size, void *data),
                          void *data) {
  struct tg_builder *b = &emit->builder;
  MlirValue full_end;
  MlirValue end = block_end(emit, loop, origin, block, step, &full_end);
  struct tg_for rounds;
  MlirValue outer = emit->rest, masks[TG_BUILD_MAX_REST];
  memcpy(masks, b->rest_mask, sizeof(masks));
  tg_emit_loop_begin(emit, &rounds, origin, full_end, step);
  emit->rest = (MlirValue){NULL};
  body(emit, rounds.iv, step, data);
  tg_emit_loop_end(emit, &rounds);
  tg_emit_loop_begin(emit, &rounds, full_end, end, step);
  emit->rest = tg_sub(b, end, full_end);
  set_masks(b, emit->rest, step);
  body(emit, rounds.iv, step, data);
  tg_emit_loop_end(emit, &rounds);
  emit->rest = outer;
  memcpy(b->rest_mask, masks, sizeof(masks));
}

/*===-- Sliced loops ------------------------------------------------------===*/

struct sliced {
  struct tg_builder *builder;
  const struct tg_kernel *kernel;
  const struct tg_plan *plan;
  struct tg_epilogue *epilogue;
  const MlirValue *arguments;
  MlirValue position[TG_MAX_LOOPS]; /* of sliced loops, else null */
};

/* A tensor's part: one iteration of some dimensions, the others whole. */
struct part {
  int rank;
  MlirValue offset[TG_MAX_RANK]; /* null: the whole dimension */
};

static bool is_whole(const struct part *part) {
  for (int d = 0; d < part->rank; ++d)
    if (!mlirValueIsNull(part->offset[d]))
      return false;
  return true;
}

/* Operands and attributes that extracting and inserting have in common: first
 * the tensors, then offsets and sizes that aren't constants. */
static int slice_operands(struct tg_builder *b, MlirValue whole,
                          const struct part *part, int tensors,
                          MlirValue *operands, MlirNamedAttribute attributes[4],
                          int64_t *sizes) {
  int64_t offsets[TG_MAX_RANK], strides[TG_MAX_RANK];
  int offset_count = 0, count = tensors;
  for (int d = 0; d < part->rank; ++d) {
    bool cut = !mlirValueIsNull(part->offset[d]);
    if (cut) {
      operands[count++] = part->offset[d];
      offset_count++;
    }
    offsets[d] = cut ? mlirShapedTypeGetDynamicStrideOrOffset() : 0;
    sizes[d] = cut ? 1 : mlirShapedTypeGetDimSize(mlirValueGetType(whole), d);
    strides[d] = 1;
  }
  for (int d = 0; d < part->rank; ++d)
    if (mlirShapedTypeIsDynamicSize(sizes[d]))
      operands[count++] = tg_dim(b, whole, d);
  int32_t segments[5] = {1, 1, offset_count, count - tensors - offset_count, 0};
  MlirContext context = b->context;
  attributes[0] =
      tg_named(context, "operandSegmentSizes",
               mlirDenseI32ArrayGet(context, 3 + tensors,
                                    segments + (tensors == 1 ? 1 : 0)));
  attributes[1] = tg_named(context, "static_offsets",
                           mlirDenseI64ArrayGet(context, part->rank, offsets));
  attributes[2] = tg_named(context, "static_sizes",
                           mlirDenseI64ArrayGet(context, part->rank, sizes));
  attributes[3] = tg_named(context, "static_strides",
                           mlirDenseI64ArrayGet(context, part->rank, strides));
  return count;
}

static MlirValue extract_part(struct tg_builder *b, MlirValue whole,
                              const struct part *part) {
  if (is_whole(part))
    return whole;
  MlirNamedAttribute attributes[4];
  int64_t sizes[TG_MAX_RANK];
  MlirValue operands[1 + 2 * TG_MAX_RANK] = {whole};
  int count = slice_operands(b, whole, part, 1, operands, attributes, sizes);
  MlirType type = mlirRankedTensorTypeGet(
      part->rank, sizes, mlirShapedTypeGetElementType(mlirValueGetType(whole)),
      mlirAttributeGetNull());
  return mlirOperationGetResult(tg_build(b, "tensor.extract_slice", count,
                                         operands, 1, &type, 4, attributes),
                                0);
}

static MlirValue insert_part(struct tg_builder *b, MlirValue piece,
                             MlirValue whole, const struct part *part) {
  if (is_whole(part))
    return piece;
  MlirNamedAttribute attributes[4];
  int64_t sizes[TG_MAX_RANK];
  MlirValue operands[2 + 2 * TG_MAX_RANK] = {piece, whole};
  int count = slice_operands(b, whole, part, 2, operands, attributes, sizes);
  MlirType type = mlirValueGetType(whole);
  return mlirOperationGetResult(tg_build(b, "tensor.insert_slice", count,
                                         operands, 1, &type, 4, attributes),
                                0);
}

static struct part operand_part(const struct sliced *sliced, int operand) {
  const struct tg_access *access = &sliced->kernel->operand[operand];
  struct part part = {.rank = access->rank};
  for (int l = 0; l < sliced->kernel->loop_count; ++l) {
    int d = tg_access_dimension(access, l);
    if (d >= 0 && !mlirValueIsNull(sliced->position[l]))
      part.offset[d] = sliced->position[l];
  }
  return part;
}

/* An input of the epilogue is cut where the result is. */
static struct part input_part(const struct tg_epilogue_input *input,
                              const struct part *result) {
  struct part part = {.rank = input->source_rank};
  for (int d = 0; d < part.rank; ++d)
    if (input->own[d] >= 0)
      part.offset[d] = result->offset[input->own[d]];
  return part;
}

/* One iteration of all sliced loops; returns the result with its part of it
 * computed. */
static MlirValue emit_part(struct sliced *sliced, MlirValue result) {
  struct tg_builder *b = sliced->builder;
  MlirValue arguments[TG_OPERAND_COUNT + TG_MAX_EPILOGUE_INPUTS];
  for (int o = 0; o < TG_OPERAND_COUNT; ++o) {
    struct part part = operand_part(sliced, o);
    MlirValue whole = o == TG_RESULT ? result : sliced->arguments[o];
    arguments[o] = extract_part(b, whole, &part);
  }
  struct part cut = operand_part(sliced, TG_RESULT);
  for (int i = 0; i < sliced->epilogue->input_count; ++i) {
    struct part part = input_part(&sliced->epilogue->input[i], &cut);
    arguments[TG_OPERAND_COUNT + i] =
        extract_part(b, sliced->arguments[TG_OPERAND_COUNT + i], &part);
  }
  MlirValue piece =
      tg_emit_kernel(b, sliced->plan, sliced->epilogue, arguments);
  return insert_part(b, piece, result, &cut);
}

static MlirValue emit_loops(struct sliced *sliced, int loop, MlirValue result) {
  struct tg_builder *b = sliced->builder;
  const struct tg_kernel *kernel = sliced->kernel;
  while (loop < kernel->loop_count && kernel->dynamic[loop] != TG_SLICED)
    ++loop;
  if (loop == kernel->loop_count)
    return emit_part(sliced, result);
  int operand, dimension;
  bool found = tg_kernel_find_dimension(kernel, loop, &operand, &dimension);
  assert(found);
  (void)found;
  MlirValue end = tg_dim(b, sliced->arguments[operand], dimension);
  struct tg_for rounds;
  tg_for_begin(b, &rounds, tg_index(b, 0), end, 1, 1, &result);
  sliced->position[loop] = rounds.iv;
  MlirValue next = emit_loops(sliced, loop + 1, rounds.carried[0]);
  tg_for_end(b, &rounds, &next);
  return rounds.carried[0];
}

/*===-- Extents that types don't tell -------------------------------------===*/

/* The extent of the operand's dimension where other operands' types tell it,
 * else 0. */
static int64_t known_extent(const struct tg_kernel *kernel, int operand,
                            int dimension) {
  const int32_t *row = kernel->operand[operand].coefficient[dimension];
  int64_t extent = 1;
  int count = 0;
  for (int l = 0; l < kernel->loop_count; ++l) {
    if (row[l] == 0)
      continue;
    /* An image may be longer than its windows reach. */
    if (count++ || row[l] != 1 || kernel->dynamic[l] != TG_STATIC)
      return 0;
    extent = kernel->extent[l];
  }
  return extent;
}

static MlirValue cast(struct tg_builder *b, MlirValue tensor, MlirType type) {
  return mlirTypeEqual(mlirValueGetType(tensor), type)
             ? tensor
             : tg_build_1(b, "tensor.cast", 1, &tensor, type);
}

/* The tensor with all that is known in its type: dimensions can then be
 * collapsed. extent[d] is 0 for what is not. */
static MlirValue cast_to_known(struct tg_builder *b, MlirValue tensor,
                               const int64_t *extent) {
  int64_t shape[TG_MAX_RANK];
  MlirType type = mlirValueGetType(tensor);
  intptr_t rank = mlirShapedTypeGetRank(type);
  for (intptr_t d = 0; d < rank; ++d)
    shape[d] = mlirShapedTypeIsDynamicDim(type, d) && extent[d]
                   ? extent[d]
                   : mlirShapedTypeGetDimSize(type, d);
  return cast(b, tensor,
              mlirRankedTensorTypeGet(rank, shape,
                                      mlirShapedTypeGetElementType(type),
                                      mlirAttributeGetNull()));
}

MlirValue tg_emit_operation(struct tg_builder *builder,
                            const struct tg_kernel *kernel,
                            const struct tg_plan *plan,
                            struct tg_epilogue *epilogue,
                            const MlirValue *arguments) {
  MlirValue known[TG_OPERAND_COUNT + TG_MAX_EPILOGUE_INPUTS];
  struct sliced sliced = {.builder = builder,
                          .kernel = kernel,
                          .plan = plan,
                          .epilogue = epilogue,
                          .arguments = known};
  int64_t extent[TG_MAX_RANK];
  for (int o = 0; o < TG_OPERAND_COUNT; ++o) {
    for (int d = 0; d < kernel->operand[o].rank; ++d)
      extent[d] = known_extent(kernel, o, d);
    known[o] = cast_to_known(builder, arguments[o], extent);
  }
  for (int i = 0; i < epilogue->input_count; ++i) {
    const struct tg_epilogue_input *input = &epilogue->input[i];
    for (int d = 0; d < input->source_rank; ++d)
      extent[d] = input->own[d] < 0
                      ? 0
                      : known_extent(kernel, TG_RESULT, input->own[d]);
    known[TG_OPERAND_COUNT + i] =
        cast_to_known(builder, arguments[TG_OPERAND_COUNT + i], extent);
  }
  MlirValue result = emit_loops(&sliced, 0, known[TG_RESULT]);
  return cast(builder, result, mlirValueGetType(arguments[TG_RESULT]));
}
