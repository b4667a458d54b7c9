/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The loop nest of a plan (see the picture in model/plan.h).
 */
#include "passes/emit_dynamic.h"
#include "passes/emit_winograd.h"

#include <assert.h>
#include <mlir-c/BuiltinTypes.h>
#include <string.h>

/*===-- What the stages share ---------------------------------------------===*/

void tg_emit_loop_begin(struct tg_emit *emit, struct tg_for *loop,
                        MlirValue lower, MlirValue upper, int64_t step) {
  MlirValue live[TG_CARRIED_COUNT];
  int count = 0;
  for (int i = 0; i < TG_CARRIED_COUNT; ++i)
    if (!mlirValueIsNull(emit->state[i]))
      live[count++] = emit->state[i];
  tg_for_begin(&emit->builder, loop, lower, upper, step, count, live);
  count = 0;
  for (int i = 0; i < TG_CARRIED_COUNT; ++i)
    if (!mlirValueIsNull(emit->state[i]))
      emit->state[i] = loop->carried[count++];
}

void tg_emit_loop_end(struct tg_emit *emit, struct tg_for *loop) {
  MlirValue live[TG_CARRIED_COUNT];
  int count = 0;
  for (int i = 0; i < TG_CARRIED_COUNT; ++i)
    if (!mlirValueIsNull(emit->state[i]))
      live[count++] = emit->state[i];
  tg_for_end(&emit->builder, loop, live);
  count = 0;
  for (int i = 0; i < TG_CARRIED_COUNT; ++i)
    if (!mlirValueIsNull(emit->state[i]))
      emit->state[i] = loop->carried[count++];
}

void tg_emit_split(struct tg_emit *emit, MlirValue origin, int64_t block,
                   int64_t extent, int64_t step,
                   void (*body)(struct tg_emit *, MlirValue position,
                                int64_t size, void *data),
                   void *data) {
  struct tg_builder *builder = &emit->builder;
  int64_t full = extent / step * step, rest = extent - full;
  bool whole = block >= extent;
  MlirValue full_end = tg_index(builder, full);
  struct tg_for loop;
  if (whole && full == step) {
    body(emit, tg_index(builder, 0), step, data);
  } else if (full > 0) {
    MlirValue upper =
        whole
            ? full_end
            : tg_min(builder, tg_add(builder, origin, tg_index(builder, block)),
                     full_end);
    tg_emit_loop_begin(emit, &loop, origin, upper, step);
    body(emit, loop.iv, step, data);
    tg_emit_loop_end(emit, &loop);
  }
  if (rest == 0)
    return;
  if (whole) {
    body(emit, full_end, rest, data);
    return;
  }
  /* At most one iteration, and none in blocks before the last. */
  MlirValue upper =
      tg_min(builder, tg_add(builder, origin, tg_index(builder, block)),
             tg_index(builder, extent));
  tg_emit_loop_begin(emit, &loop, tg_max(builder, origin, full_end), upper,
                     step);
  body(emit, loop.iv, rest, data);
  tg_emit_loop_end(emit, &loop);
}

MlirValue tg_emit_extend(struct tg_emit *emit, int operand, MlirValue value) {
  static const char *const names[] = {[TG_EXTENSION_FLOAT] = "arith.extf",
                                      [TG_EXTENSION_SIGNED] = "arith.extsi",
                                      [TG_EXTENSION_UNSIGNED] = "arith.extui"};
  struct tg_builder *builder = &emit->builder;
  enum tg_extension extension = emit->kernel->extension[operand];
  if (extension == TG_EXTENSION_NONE)
    return value;
  bool vector = mlirTypeIsAVector(mlirValueGetType(value));
  return tg_build_1(builder, names[extension], 1, &value,
                    vector ? builder->vector : builder->element);
}

int tg_emit_subscripts(struct tg_emit *emit, int operand, MlirValue *indices) {
  struct tg_builder *builder = &emit->builder;
  const struct tg_access *access = &emit->kernel->operand[operand];
  for (int d = 0; d < access->rank; ++d) {
    MlirValue sum = tg_index(builder, 0);
    int64_t constant = 0;
    for (int l = 0; l < emit->kernel->loop_count; ++l) {
      int32_t coefficient = access->coefficient[d][l];
      if (!coefficient)
        continue;
      sum =
          tg_add(builder, sum, tg_mul(builder, emit->position[l], coefficient));
      constant += coefficient * emit->delta[l];
    }
    indices[d] = tg_add(builder, sum, tg_index(builder, constant));
  }
  return access->rank;
}

MlirValue tg_emit_panel_depth(struct tg_emit *emit, int operand) {
  struct tg_builder *builder = &emit->builder;
  const struct tg_plan *plan = emit->plan;
  MlirValue depth = tg_index(builder, 0);
  int64_t constant = 0;
  for (int i = 0; i < plan->reduction_count; ++i) {
    int l = plan->reduction[i];
    MlirValue position = emit->position[l];
    if (i == 0 && !plan->hoisted[operand])
      position = tg_sub(builder, position, emit->reduction_origin);
    depth = tg_add(builder, tg_mul(builder, depth, emit->kernel->extent[l]),
                   position);
    constant = constant * emit->kernel->extent[l] + emit->delta[l];
  }
  return tg_add(builder, depth, tg_index(builder, constant));
}

MlirValue tg_emit_panel_index(struct tg_emit *emit, int operand) {
  struct tg_builder *builder = &emit->builder;
  const struct tg_plan *plan = emit->plan;
  bool vector = operand == TG_RESULT || plan->follows_vector[operand];
  MlirValue position =
      emit->position[vector ? plan->vector_loop : plan->row_loop];
  if (!plan->hoisted[operand])
    position = tg_sub(builder, position,
                      vector ? emit->vector_origin : emit->row_origin);
  return tg_div(builder, position, vector ? plan->width : plan->rows);
}

bool tg_plan_reads_init(const struct tg_plan *plan) {
  if (!plan->canonical.kernel.init_is_zero)
    return true;
  return !plan->packed[TG_RESULT] && tg_plan_accumulates(plan);
}

/*===-- The nest ----------------------------------------------------------===*/

static void emit_tile(struct tg_emit *emit, int64_t rows, int64_t columns) {
  if (emit->plan->dot)
    tg_emit_dot_tile(emit, rows, columns);
  else
    tg_emit_tile(emit, rows, columns);
}

static void emit_rows(struct tg_emit *emit, MlirValue position, int64_t rows,
                      void *columns) {
  if (emit->plan->row_loop != TG_NO_LOOP)
    emit->position[emit->plan->row_loop] = position;
  emit_tile(emit, rows, *(int64_t *)columns);
}

static void split_rows(struct tg_emit *emit,
                       void (*body)(struct tg_emit *, MlirValue, int64_t,
                                    void *),
                       void *data) {
  const struct tg_plan *plan = emit->plan;
  if (tg_emit_is_bounded(emit, plan->row_loop))
    tg_emit_split_ladder(emit, plan->row_loop, emit->row_origin,
                         plan->block_rows, plan->rows, body, data);
  else
    tg_emit_split(emit, emit->row_origin, plan->block_rows, plan->row_extent,
                  plan->rows, body, data);
}

static void split_columns(struct tg_emit *emit,
                          void (*body)(struct tg_emit *, MlirValue, int64_t,
                                       void *),
                          void *data) {
  const struct tg_plan *plan = emit->plan;
  if (tg_emit_is_bounded(emit, plan->column_loop))
    tg_emit_split_masked(emit, plan->column_loop, emit->vector_origin,
                         plan->block_vector, plan->width, body, data);
  else
    tg_emit_split(emit, emit->vector_origin, plan->block_vector,
                  plan->vector_extent, plan->width, body, data);
}

static void emit_panel(struct tg_emit *emit, MlirValue position,
                       int64_t columns, void *data) {
  (void)data;
  const struct tg_plan *plan = emit->plan;
  if (plan->column_loop != TG_NO_LOOP)
    emit->position[plan->column_loop] = position;
  split_rows(emit, emit_rows, &columns);
}

static void emit_columns(struct tg_emit *emit, MlirValue position,
                         int64_t columns, void *rows) {
  if (emit->plan->column_loop != TG_NO_LOOP)
    emit->position[emit->plan->column_loop] = position;
  emit_tile(emit, *(int64_t *)rows, columns);
}

static void emit_row_panel(struct tg_emit *emit, MlirValue position,
                           int64_t rows, void *data) {
  (void)data;
  const struct tg_plan *plan = emit->plan;
  if (plan->row_loop != TG_NO_LOOP)
    emit->position[plan->row_loop] = position;
  split_columns(emit, emit_columns, &rows);
}

static void emit_register_tiles(struct tg_emit *emit) {
  const struct tg_plan *plan = emit->plan;
  if (plan->vectors_inner)
    split_rows(emit, emit_row_panel, NULL);
  else
    split_columns(emit, emit_panel, NULL);
}

static void pack_blocks(struct tg_emit *emit, const bool *follows) {
  for (int o = 0; o < TG_RESULT; ++o)
    if (emit->plan->packed[o] && !emit->plan->hoisted[o] && follows[o])
      tg_emit_pack(emit, o);
}

/* A loop over blocks of `split`; none where one block is everything. */
static bool block_begin(struct tg_emit *emit, struct tg_for *loop, int split,
                        int64_t block, int64_t extent, MlirValue *origin) {
  struct tg_builder *builder = &emit->builder;
  bool bounded = tg_emit_is_bounded(emit, split);
  *origin = tg_index(builder, 0);
  if (block >= extent && !bounded)
    return false;
  MlirValue end =
      bounded ? tg_emit_end(emit, split) : tg_index(builder, extent);
  tg_emit_loop_begin(emit, loop, *origin, end, block);
  *origin = loop->iv;
  return true;
}

static void emit_row_blocks(struct tg_emit *emit) {
  const struct tg_plan *plan = emit->plan;
  struct tg_for loop;
  bool looped = block_begin(emit, &loop, plan->row_loop, plan->block_rows,
                            plan->row_extent, &emit->row_origin);
  if (plan->row_loop != TG_NO_LOOP)
    pack_blocks(emit, plan->follows_row);
  emit_register_tiles(emit);
  if (looped)
    tg_emit_loop_end(emit, &loop);
}

static void emit_loops(struct tg_emit *emit, const int *loops, int count,
                       void (*body)(struct tg_emit *)) {
  if (count == 0) {
    body(emit);
    return;
  }
  struct tg_builder *builder = &emit->builder;
  struct tg_for loop;
  tg_emit_loop_begin(emit, &loop, tg_index(builder, 0),
                     tg_emit_end(emit, loops[0]), 1);
  emit->position[loops[0]] = loop.iv;
  emit_loops(emit, loops + 1, count - 1, body);
  tg_emit_loop_end(emit, &loop);
}

static void emit_reduction_blocks(struct tg_emit *emit) {
  const struct tg_plan *plan = emit->plan;
  struct tg_for loop;
  bool looped = block_begin(
      emit, &loop, plan->reduction_count ? plan->reduction[0] : TG_NO_LOOP,
      plan->block_reduction, plan->reduction_extent, &emit->reduction_origin);
  pack_blocks(emit, plan->follows_vector);
  emit_loops(emit, plan->outer_row, plan->outer_row_count, emit_row_blocks);
  if (looped)
    tg_emit_loop_end(emit, &loop);
}

static void emit_vector_blocks(struct tg_emit *emit) {
  const struct tg_plan *plan = emit->plan;
  struct tg_for loop;
  bool looped = block_begin(emit, &loop, plan->column_loop, plan->block_vector,
                            plan->vector_extent, &emit->vector_origin);
  if (plan->packed[TG_RESULT] && tg_plan_accumulates(plan))
    tg_emit_clear_packed_result(emit);
  emit_reduction_blocks(emit);
  if (plan->packed[TG_RESULT])
    tg_emit_unpack(emit);
  if (looped)
    tg_emit_loop_end(emit, &loop);
}

/*===-- Set-up ------------------------------------------------------------===*/

static MlirValue create_panels(struct tg_emit *emit, int operand) {
  const struct tg_plan *plan = emit->plan;
  if (plan->dot)
    return tg_emit_dot_scratch(emit, operand);
  bool vector = plan->follows_vector[operand] || operand == TG_RESULT;
  int64_t width = vector ? plan->width : plan->rows;
  bool whole = plan->hoisted[operand];
  int64_t depth = operand == TG_RESULT ? plan->outer_rows * plan->row_extent
                                       : (whole ? plan->reduction_extent
                                                : plan->block_reduction) *
                                             plan->reduction_rest;
  int64_t shape[3] = {tg_plan_packed_elements(plan, operand) / width / depth,
                      depth, width};
  return tg_scratch(&emit->builder, 3, shape);
}

static void start_blocks(struct tg_emit *emit) {
  emit->vector_origin = emit->row_origin = emit->reduction_origin =
      tg_index(&emit->builder, 0);
}

static void pack_whole(struct tg_emit *emit, int operand) {
  if (emit->plan->dot)
    tg_emit_dot_pack(emit, operand);
  else
    tg_emit_pack(emit, operand);
}

static void pack_hoisted(struct tg_emit *emit) {
  start_blocks(emit);
  for (int o = 0; o < TG_RESULT; ++o)
    if (emit->plan->hoisted[o] && !tg_plan_takes_panels(emit->plan, o))
      pack_whole(emit, o);
}

MlirValue tg_emit_prepack(struct tg_builder *builder,
                          const struct tg_plan *plan, int operand,
                          MlirValue source) {
  if (plan->winograd)
    return tg_emit_winograd_panels(builder, plan, source);
  const struct tg_canonical *canonical = &plan->canonical;
  struct tg_emit emit = {
      .builder = *builder, .plan = plan, .kernel = &canonical->kernel};
  for (int l = 0; l < TG_MAX_LOOPS; ++l)
    emit.position[l] = tg_index(&emit.builder, 0);
  emit.source[operand] =
      tg_collapse(&emit.builder, source, canonical->source_rank[operand],
                  canonical->group[operand]);
  emit.state[TG_CARRIED_PANELS + operand] = create_panels(&emit, operand);
  start_blocks(&emit);
  pack_whole(&emit, operand);
  builder->block = emit.builder.block;
  return emit.state[TG_CARRIED_PANELS + operand];
}

MlirValue tg_emit_kernel(struct tg_builder *builder, const struct tg_plan *plan,
                         struct tg_epilogue *epilogue,
                         const MlirValue *arguments) {
  if (plan->winograd)
    return tg_emit_winograd(builder, plan, epilogue, arguments);
  const struct tg_canonical *canonical = &plan->canonical;
  struct tg_emit emit = {.builder = *builder,
                         .plan = plan,
                         .epilogue = epilogue,
                         .kernel = &canonical->kernel};
  struct tg_builder *b = &emit.builder;
  for (int l = 0; l < TG_MAX_LOOPS; ++l)
    emit.position[l] = tg_index(b, 0);
  int rank = canonical->source_rank[TG_RESULT];
  const int *group = canonical->group[TG_RESULT];
  for (int o = 0; o < TG_RESULT; ++o)
    if (!tg_plan_takes_panels(plan, o))
      emit.source[o] = tg_collapse(b, arguments[o], canonical->source_rank[o],
                                   canonical->group[o]);
  MlirValue result = tg_collapse(b, arguments[TG_RESULT], rank, group);
  MlirValue whole = result;
  tg_emit_find_bounds(&emit, result);
  tg_epilogue_begin(b, epilogue, arguments + TG_OPERAND_COUNT);
  int unpack_group[TG_MAX_RANK], separate;
  int canonical_rank = canonical->kernel.operand[TG_RESULT].rank;
  if (plan->packed[TG_RESULT]) {
    tg_unpack_shape(plan, unpack_group, &separate);
    result = tg_collapse(b, result, canonical_rank, unpack_group);
  }
  emit.state[TG_CARRIED_RESULT] = result;
  if (plan->packed[TG_RESULT])
    emit.state[TG_CARRIED_PACKED_RESULT] = create_panels(&emit, TG_RESULT);
  for (int o = 0; o < TG_RESULT; ++o)
    if (plan->packed[o])
      emit.state[TG_CARRIED_PANELS + o] = tg_plan_takes_panels(plan, o)
                                              ? arguments[o]
                                              : create_panels(&emit, o);
  pack_hoisted(&emit);
  emit_loops(&emit, plan->batch, plan->batch_count, emit_vector_blocks);
  result = emit.state[TG_CARRIED_RESULT];
  if (plan->packed[TG_RESULT])
    result = tg_expand(b, result, canonical_rank, unpack_group, whole);
  result = tg_expand(b, result, rank, group, arguments[TG_RESULT]);
  builder->block = b->block;
  return result;
}
