/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The register tile: rows x vectors accumulators that stay in registers while
 * the reduction loops run. An input that follows the vector loop is loaded a
 * vector at a time, one that follows the rows is broadcast, one that follows
 * both is loaded for each accumulator.
 */
#include "passes/emit_dynamic.h"

#include <assert.h>

struct tile {
  int64_t rows, columns, vectors;
  int64_t unroll[TG_MAX_LOOPS]; /* by depth of the reduction loop */
  MlirValue accumulator[TG_BUILD_MAX_CARRIED]; /* (rows, vectors) */
};

static int64_t valid_lanes(const struct tg_emit *emit, const struct tile *tile,
                           int64_t vector) {
  if (!mlirValueIsNull(emit->rest))
    return tg_rest_lanes(vector);
  int64_t left = tile->columns - vector * emit->plan->lanes;
  return left < emit->plan->lanes ? left : emit->plan->lanes;
}

static void set_deltas(struct tg_emit *emit, int64_t row, int64_t vector) {
  const struct tg_plan *plan = emit->plan;
  emit->delta[plan->vector_loop] = vector * plan->lanes;
  if (plan->row_loop != TG_NO_LOOP)
    emit->delta[plan->row_loop] = row;
}

/* The panel's element or vector for the current reduction step. */
static MlirValue load_packed(struct tg_emit *emit, int operand, int64_t row,
                             int64_t vector) {
  struct tg_builder *builder = &emit->builder;
  const struct tg_plan *plan = emit->plan;
  MlirValue panels = emit->state[TG_CARRIED_PANELS + operand];
  MlirValue indices[3] = {tg_emit_panel_index(emit, operand),
                          tg_emit_panel_depth(emit, operand)};
  if (plan->follows_vector[operand]) {
    indices[2] = tg_index(builder, vector * plan->lanes);
    return tg_read(builder, panels, 3, indices, plan->lanes);
  }
  indices[2] = tg_index(builder, row);
  if (!mlirValueIsNull(emit->row_offset))
    indices[2] = tg_add(builder, emit->row_offset, indices[2]);
  return tg_broadcast(builder, tg_extract(builder, panels, 3, indices));
}

static MlirValue load(struct tg_emit *emit, const struct tile *tile,
                      int operand, int64_t row, int64_t vector) {
  struct tg_builder *builder = &emit->builder;
  if (emit->plan->packed[operand])
    return load_packed(emit, operand, row, vector);
  MlirValue indices[TG_MAX_RANK];
  set_deltas(emit, row, vector);
  int rank = tg_emit_subscripts(emit, operand, indices);
  MlirValue source = emit->source[operand];
  if (emit->plan->follows_vector[operand]) {
    int64_t valid = valid_lanes(emit, tile, vector);
    if (tg_plan_step(emit->plan, operand, emit->plan->vector_loop) > 1)
      return tg_emit_extend(
          emit, operand, tg_emit_read_row(emit, operand, tile->columns, valid));
    return tg_emit_extend(emit, operand,
                          tg_read(builder, source, rank, indices, valid));
  }
  return tg_broadcast(
      builder, tg_emit_extend(emit, operand,
                              tg_extract(builder, source, rank, indices)));
}

/* One step of the reduction: every accumulator gets its product. */
static void emit_step(struct tg_emit *emit, struct tile *tile) {
  const struct tg_plan *plan = emit->plan;
  MlirValue value[TG_RESULT][TG_MAX_TILE_VECTORS];
  for (int64_t i = 0; i < tile->rows; ++i)
    for (int64_t v = 0; v < tile->vectors; ++v) {
      MlirValue input[TG_RESULT];
      for (int o = 0; o < TG_RESULT; ++o) {
        /* Loaded once per row, per vector, for each, or once in all. */
        bool fresh = (plan->follows_row[o] || i == 0) &&
                     (plan->follows_vector[o] || v == 0);
        int64_t slot = plan->follows_vector[o] ? v : 0;
        if (fresh)
          value[o][slot] = load(emit, tile, o, i, v);
        input[o] = value[o][slot];
      }
      MlirValue *accumulator = &tile->accumulator[i * tile->vectors + v];
      *accumulator = tg_multiply_add(&emit->builder, input[TG_LHS],
                                     input[TG_RHS], *accumulator);
    }
  set_deltas(emit, 0, 0);
}

/* Innermost loops are unrolled whole as long as the knob allows, the first
 * that doesn't fit in part. */
static void split_unroll(const struct tg_emit *emit, struct tile *tile) {
  const struct tg_plan *plan = emit->plan;
  int64_t left = plan->unroll;
  for (int d = plan->reduction_count - 1; d >= 0; --d) {
    int64_t extent = d == 0 ? plan->block_reduction
                            : emit->kernel->extent[plan->reduction[d]];
    tile->unroll[d] = left < extent ? left : extent;
    left /= tile->unroll[d];
    if (left < 1)
      left = 1;
  }
}

static void emit_reduction(struct tg_emit *emit, struct tile *tile, int depth);

/* The body of one loop: `size` steps one after the other. */
static void emit_steps(struct tg_emit *emit, struct tile *tile, int depth,
                       MlirValue position, int64_t size) {
  int l = emit->plan->reduction[depth];
  emit->position[l] = position;
  for (int64_t step = 0; step < size; ++step) {
    emit->delta[l] = step;
    emit_reduction(emit, tile, depth + 1);
  }
  emit->delta[l] = 0;
}

static void emit_step_loop(struct tg_emit *emit, struct tile *tile, int depth,
                           MlirValue lower, MlirValue upper, int64_t step) {
  struct tg_for loop;
  int count = (int)(tile->rows * tile->vectors);
  tg_for_begin(&emit->builder, &loop, lower, upper, step, count,
               tile->accumulator);
  for (int i = 0; i < count; ++i)
    tile->accumulator[i] = loop.carried[i];
  emit_steps(emit, tile, depth, loop.iv, step);
  tg_for_end(&emit->builder, &loop, tile->accumulator);
  for (int i = 0; i < count; ++i)
    tile->accumulator[i] = loop.carried[i];
}

/* The outermost reduction loop, inside its block. */
static void emit_reduction_block(struct tg_emit *emit, struct tile *tile) {
  struct tg_builder *b = &emit->builder;
  const struct tg_plan *plan = emit->plan;
  int64_t extent = plan->reduction_extent, block = plan->block_reduction;
  int64_t unroll = tile->unroll[0];
  MlirValue origin = emit->reduction_origin;
  bool bounded = plan->bounded_reduction;
  bool whole = block >= extent && !bounded;
  if (whole && unroll >= extent) {
    emit_steps(emit, tile, 0, tg_index(b, 0), extent);
    return;
  }
  if (whole || (!bounded && block % unroll == 0 && extent % unroll == 0)) {
    int64_t full = extent / unroll * unroll;
    MlirValue upper = whole ? tg_index(b, full)
                            : tg_min(b, tg_add(b, origin, tg_index(b, block)),
                                     tg_index(b, full));
    emit_step_loop(emit, tile, 0, origin, upper, unroll);
    if (whole && full < extent)
      emit_steps(emit, tile, 0, tg_index(b, full), extent - full);
    return;
  }
  MlirValue end = tg_min(b, tg_add(b, origin, tg_index(b, block)),
                         tg_emit_end(emit, plan->reduction[0]));
  MlirValue steps = tg_div(b, tg_sub(b, end, origin), unroll);
  MlirValue full_end = tg_add(b, origin, tg_mul(b, steps, unroll));
  emit_step_loop(emit, tile, 0, origin, full_end, unroll);
  emit_step_loop(emit, tile, 0, full_end, end, 1);
}

static void emit_reduction(struct tg_emit *emit, struct tile *tile, int depth) {
  const struct tg_plan *plan = emit->plan;
  struct tg_builder *b = &emit->builder;
  if (depth == plan->reduction_count) {
    emit_step(emit, tile);
    return;
  }
  if (depth == 0) {
    emit_reduction_block(emit, tile);
    return;
  }
  int64_t extent = emit->kernel->extent[plan->reduction[depth]];
  int64_t unroll = tile->unroll[depth], full = extent / unroll * unroll;
  if (unroll < extent)
    emit_step_loop(emit, tile, depth, tg_index(b, 0), tg_index(b, full),
                   unroll);
  else
    full = 0;
  if (full < extent)
    emit_steps(emit, tile, depth, tg_index(b, full), extent - full);
}

/* Row of the packed result: the row loops counted as one number. */
static MlirValue packed_result_row(struct tg_emit *emit, int64_t row) {
  struct tg_builder *b = &emit->builder;
  const struct tg_plan *plan = emit->plan;
  MlirValue flat = tg_index(b, 0);
  for (int i = 0; i < plan->outer_row_count; ++i) {
    int l = plan->outer_row[i];
    flat =
        tg_add(b, tg_mul(b, flat, emit->kernel->extent[l]), emit->position[l]);
  }
  flat = tg_add(b, tg_mul(b, flat, plan->row_extent),
                emit->position[plan->row_loop]);
  return tg_add(b, flat, tg_index(b, row));
}

static int result_indices(struct tg_emit *emit, int64_t row, int64_t vector,
                          MlirValue *indices) {
  if (emit->plan->packed[TG_RESULT]) {
    indices[0] = tg_emit_panel_index(emit, TG_RESULT);
    indices[1] = packed_result_row(emit, row);
    indices[2] = tg_index(&emit->builder, vector * emit->plan->lanes);
    return 3;
  }
  set_deltas(emit, row, vector);
  int rank = tg_emit_subscripts(emit, TG_RESULT, indices);
  set_deltas(emit, 0, 0);
  return rank;
}

static bool starts_from_zero(const struct tg_plan *plan) {
  return !tg_plan_accumulates(plan) &&
         (plan->packed[TG_RESULT] || plan->canonical.kernel.init_is_zero);
}

void tg_emit_tile(struct tg_emit *emit, int64_t rows, int64_t columns) {
  struct tg_builder *builder = &emit->builder;
  const struct tg_plan *plan = emit->plan;
  struct tile tile = {.rows = rows,
                      .columns = columns,
                      .vectors = (columns + plan->lanes - 1) / plan->lanes};
  assert(rows <= TG_MAX_TILE_ROWS && tile.vectors <= TG_MAX_TILE_VECTORS);
  MlirValue *result =
      &emit->state[plan->packed[TG_RESULT] ? TG_CARRIED_PACKED_RESULT
                                           : TG_CARRIED_RESULT];
  bool masked = !plan->packed[TG_RESULT];
  MlirValue indices[TG_MAX_RANK];
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t v = 0; v < tile.vectors; ++v) {
      MlirValue *accumulator = &tile.accumulator[i * tile.vectors + v];
      if (starts_from_zero(plan)) {
        *accumulator = tg_zero_vector(builder);
        continue;
      }
      int rank = result_indices(emit, i, v, indices);
      *accumulator =
          tg_read(builder, *result, rank, indices,
                  masked ? valid_lanes(emit, &tile, v) : plan->lanes);
    }
  split_unroll(emit, &tile);
  emit_reduction(emit, &tile, 0);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t v = 0; v < tile.vectors; ++v) {
      MlirValue vector = tile.accumulator[i * tile.vectors + v];
      int rank = result_indices(emit, i, v, indices);
      int64_t valid = masked ? valid_lanes(emit, &tile, v) : plan->lanes;
      /* A packed result goes through it when it is unpacked. */
      if (!plan->packed[TG_RESULT])
        vector =
            tg_epilogue_emit(builder, emit->epilogue, vector, indices, valid);
      *result = tg_write(builder, vector, *result, rank, indices, valid);
    }
}
