/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The register tile of a dot product: the lanes of an accumulator are partial
 * sums along the reduction. rows x columns accumulators, or rows x vectors
 * partial sums where there is no column loop; a row's operand is loaded once
 * for all columns. In the end the lanes of all rows are added up together, so
 * that one vector of sums is stored for each column.
 */
#include "passes/emit.h"

#include <assert.h>

struct dot {
  int64_t rows, columns; /* of this tile */
  int64_t parts;         /* partial sums of an element in registers */
  int64_t width;         /* accumulators of a row: columns * parts */
  MlirValue accumulator[TG_BUILD_MAX_CARRIED]; /* (rows, width) */
};

static void set_deltas(struct tg_emit *emit, int64_t row, int64_t column) {
  const struct tg_plan *plan = emit->plan;
  emit->delta[plan->row_loop] = row;
  if (plan->column_loop != TG_NO_LOOP)
    emit->delta[plan->column_loop] = column;
}

/*===-- The reduction -----------------------------------------------------===*/

/* `valid` elements along the reduction; the lanes behind them are 0. An operand
 * that the vector loop doesn't step has one element for all of them. */
static MlirValue load(struct tg_emit *emit, int operand, int64_t valid) {
  struct tg_builder *b = &emit->builder;
  MlirValue indices[TG_MAX_RANK];
  if (emit->plan->packed[operand]) {
    int rank = tg_emit_dot_subscripts(emit, operand, indices);
    return tg_read(b, emit->state[TG_CARRIED_PANELS + operand], rank, indices,
                   valid);
  }
  int rank = tg_emit_subscripts(emit, operand, indices);
  MlirValue source = emit->source[operand];
  if (emit->plan->follows_vector[operand])
    return tg_emit_extend(emit, operand,
                          tg_read(b, source, rank, indices, valid));
  return tg_broadcast(
      b, tg_emit_extend(emit, operand, tg_extract(b, source, rank, indices)));
}

static bool follows_column(const struct tg_emit *emit, int operand) {
  int loop = emit->plan->column_loop;
  return loop != TG_NO_LOOP && tg_kernel_uses(emit->kernel, operand, loop);
}

/* One vector of the reduction, for the partial sums `part`. */
static void emit_step(struct tg_emit *emit, struct dot *dot, int64_t part,
                      int64_t valid) {
  MlirValue value[TG_RESULT][TG_MAX_TILE_VECTORS];
  for (int64_t i = 0; i < dot->rows; ++i)
    for (int64_t c = 0; c < dot->columns; ++c) {
      MlirValue input[TG_RESULT];
      set_deltas(emit, i, c);
      for (int o = 0; o < TG_RESULT; ++o) {
        bool columns = follows_column(emit, o);
        int64_t slot = columns ? c : 0;
        if ((emit->plan->follows_row[o] || i == 0) && (columns || c == 0))
          value[o][slot] = load(emit, o, valid);
        input[o] = value[o][slot];
      }
      MlirValue *accumulator =
          &dot->accumulator[i * dot->width + c * dot->parts + part];
      *accumulator = tg_multiply_add(&emit->builder, input[TG_LHS],
                                     input[TG_RHS], *accumulator);
    }
  set_deltas(emit, 0, 0);
}

/* `size` iterations of the vector loop, a vector after the other. */
static void emit_steps(struct tg_emit *emit, struct dot *dot,
                       MlirValue position, int64_t size) {
  int loop = emit->plan->vector_loop;
  int64_t lanes = emit->plan->lanes;
  emit->position[loop] = position;
  for (int64_t at = 0; at < size; at += lanes) {
    emit->delta[loop] = at;
    emit_step(emit, dot, at / lanes % dot->parts,
              size - at < lanes ? size - at : lanes);
  }
  emit->delta[loop] = 0;
}

static void loop_begin(struct tg_emit *emit, struct dot *dot,
                       struct tg_for *loop, int64_t upper, int64_t step) {
  struct tg_builder *b = &emit->builder;
  int count = (int)(dot->rows * dot->width);
  tg_for_begin(b, loop, tg_index(b, 0), tg_index(b, upper), step, count,
               dot->accumulator);
  for (int i = 0; i < count; ++i)
    dot->accumulator[i] = loop->carried[i];
}

static void loop_end(struct tg_emit *emit, struct dot *dot,
                     struct tg_for *loop) {
  tg_for_end(&emit->builder, loop, dot->accumulator);
  for (int i = 0; i < loop->count; ++i)
    dot->accumulator[i] = loop->carried[i];
}

static void emit_vector_loop(struct tg_emit *emit, struct dot *dot) {
  struct tg_builder *b = &emit->builder;
  int64_t extent = emit->kernel->extent[emit->plan->vector_loop];
  int64_t step = emit->plan->lanes * dot->parts * emit->plan->unroll;
  int64_t full = extent / step * step;
  if (full > step) {
    struct tg_for loop;
    loop_begin(emit, dot, &loop, full, step);
    emit_steps(emit, dot, loop.iv, step);
    loop_end(emit, dot, &loop);
  } else {
    full = 0;
  }
  if (full < extent)
    emit_steps(emit, dot, tg_index(b, full), extent - full);
}

static void emit_reduction(struct tg_emit *emit, struct dot *dot, int depth) {
  const struct tg_plan *plan = emit->plan;
  if (depth + 1 == plan->reduction_count) {
    emit_vector_loop(emit, dot);
    return;
  }
  int l = plan->reduction[depth];
  struct tg_for loop;
  loop_begin(emit, dot, &loop, emit->kernel->extent[l], 1);
  emit->position[l] = loop.iv;
  emit_reduction(emit, dot, depth + 1);
  loop_end(emit, dot, &loop);
}

/*===-- The sums ----------------------------------------------------------===*/

/* Lane j of the answer: x[j] + x[j ^ s] where bit s of j is 0, the same of y
 * where it is 1. */
static MlirValue add_pairs(struct tg_builder *b, MlirValue x, MlirValue y,
                           int64_t s) {
  int64_t own[TG_MAX_LANES], other[TG_MAX_LANES];
  for (int64_t j = 0; j < b->lanes; ++j) {
    int64_t from = j & s ? b->lanes : 0;
    own[j] = from + j;
    other[j] = from + (j ^ s);
  }
  return tg_add_elements(b, tg_permute(b, x, y, own),
                         tg_permute(b, x, y, other));
}

/* Lane i of the answer is the sum of all lanes of value[i], for i < count. The
 * values are used up. */
static MlirValue add_lanes(struct tg_builder *b, MlirValue *value,
                           int64_t count) {
  for (int64_t s = 1; s < b->lanes; s *= 2)
    for (int64_t i = 0; i < count; i += 2 * s) {
      MlirValue partner = i + s < count ? value[i + s] : value[i];
      value[i] = add_pairs(b, value[i], partner, s);
    }
  return value[0];
}

static void store_column(struct tg_emit *emit, struct dot *dot,
                         int64_t column) {
  struct tg_builder *b = &emit->builder;
  MlirValue value[TG_MAX_LANES], indices[TG_MAX_RANK];
  for (int64_t i = 0; i < dot->rows; ++i) {
    MlirValue *parts = &dot->accumulator[i * dot->width + column * dot->parts];
    for (int64_t s = 1; s < dot->parts; s *= 2)
      for (int64_t p = 0; p + s < dot->parts; p += 2 * s)
        parts[p] = tg_add_elements(b, parts[p], parts[p + s]);
    value[i] = parts[0];
  }
  MlirValue sums = add_lanes(b, value, dot->rows);
  set_deltas(emit, 0, column);
  int rank = tg_emit_subscripts(emit, TG_RESULT, indices);
  set_deltas(emit, 0, 0);
  MlirValue *result = &emit->state[TG_CARRIED_RESULT];
  if (!emit->kernel->init_is_zero)
    sums =
        tg_add_elements(b, tg_read(b, *result, rank, indices, dot->rows), sums);
  sums = tg_epilogue_emit(b, emit->epilogue, sums, indices, dot->rows);
  *result = tg_write(b, sums, *result, rank, indices, dot->rows);
}

void tg_emit_dot_tile(struct tg_emit *emit, int64_t rows, int64_t columns) {
  const struct tg_plan *plan = emit->plan;
  struct dot dot = {.rows = rows, .columns = columns};
  dot.parts = plan->column_loop == TG_NO_LOOP ? plan->vectors : 1;
  dot.width = columns * dot.parts;
  assert(rows <= plan->lanes && dot.width <= TG_MAX_TILE_VECTORS);
  for (int64_t i = 0; i < rows * dot.width; ++i)
    dot.accumulator[i] = tg_zero_vector(&emit->builder);
  emit_reduction(emit, &dot, 0);
  for (int64_t c = 0; c < columns; ++c)
    store_column(emit, &dot, c);
}
