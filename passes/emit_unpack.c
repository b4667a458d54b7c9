/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The packed result: computed as (panel, row, width) where the vector loop is
 * not the one that the result is contiguous in, and transposed in registers
 * when a block of vectors is complete.
 */
#include "passes/emit.h"

/* The merged rows of an unpacking: the row loop and as many row loops around
 * it as the result stores without a gap. */
struct unpack {
  int separate;    /* outer row loops that stay loops */
  int64_t rows;    /* merged extent */
  int64_t columns; /* of the panel at hand */
};

int64_t tg_unpack_shape(const struct tg_plan *plan, int group[TG_MAX_RANK],
                        int *separate_outer_rows) {
  const struct tg_kernel *kernel = &plan->canonical.kernel;
  int rank = kernel->operand[TG_RESULT].rank;
  int64_t merged = plan->row_extent;
  int count = plan->outer_row_count, dimensions = 1;
  while (count > 0 && tg_kernel_stride(kernel, TG_RESULT,
                                       plan->outer_row[count - 1]) == merged) {
    merged *= kernel->extent[plan->outer_row[--count]];
    dimensions++;
  }
  for (int d = 0; d < rank; ++d)
    group[d] = d < rank - dimensions ? d : rank - dimensions;
  *separate_outer_rows = count;
  return merged;
}

/* The first row of the packed result that the separate loops stand at. */
static MlirValue first_row(struct tg_emit *emit, const struct unpack *unpack) {
  struct tg_builder *b = &emit->builder;
  MlirValue row = tg_index(b, 0);
  for (int i = 0; i < unpack->separate; ++i) {
    int l = emit->plan->outer_row[i];
    row = tg_add(b, tg_mul(b, row, emit->kernel->extent[l]), emit->position[l]);
  }
  return tg_mul(b, row, unpack->rows);
}

/* Writes one transposed vector: element `column` of lanes successive rows. */
static void store_row(struct tg_emit *emit, MlirValue vector, int64_t column,
                      MlirValue row, int64_t valid) {
  struct tg_builder *b = &emit->builder;
  const struct tg_plan *plan = emit->plan;
  MlirValue *result = &emit->state[TG_CARRIED_RESULT];
  MlirValue indices[TG_MAX_RANK];
  emit->delta[plan->vector_loop] = column;
  tg_emit_subscripts(emit, TG_RESULT, indices);
  emit->delta[plan->vector_loop] = 0;
  int group[TG_MAX_RANK], separate;
  tg_unpack_shape(plan, group, &separate);
  int rank = group[emit->kernel->operand[TG_RESULT].rank - 1] + 1;
  indices[rank - 1] = row;
  if (!emit->kernel->init_is_zero) {
    vector =
        tg_add_elements(b, tg_read(b, *result, rank, indices, valid), vector);
  }
  vector = tg_epilogue_emit(b, emit->epilogue, vector, indices, valid);
  *result = tg_write(b, vector, *result, rank, indices, valid);
}

/* lanes rows of the panel from `row` on, `valid` of them real. */
static void emit_square(struct tg_emit *emit, const struct unpack *unpack,
                        MlirValue row, int64_t valid) {
  struct tg_builder *b = &emit->builder;
  MlirValue panel = tg_emit_panel_index(emit, TG_RESULT);
  MlirValue first = tg_add(b, first_row(emit, unpack), row);
  MlirValue square[TG_MAX_LANES];
  for (int64_t column = 0; column < unpack->columns; column += b->lanes) {
    for (int64_t i = 0; i < b->lanes; ++i) {
      if (i >= valid) {
        square[i] = tg_zero_vector(b);
        continue;
      }
      MlirValue indices[3] = {panel, tg_add(b, first, tg_index(b, i)),
                              tg_index(b, column)};
      square[i] = tg_read(b, emit->state[TG_CARRIED_PACKED_RESULT], 3, indices,
                          b->lanes);
    }
    tg_transpose(b, square);
    for (int64_t i = 0; i < b->lanes; ++i)
      store_row(emit, square[i], column + i, row, valid);
  }
}

static void emit_unpack_panel(struct tg_emit *emit, MlirValue position,
                              int64_t columns, void *data) {
  struct tg_builder *b = &emit->builder;
  struct unpack *unpack = data;
  unpack->columns = columns;
  emit->position[emit->plan->vector_loop] = position;
  int64_t full = unpack->rows / b->lanes * b->lanes;
  if (full > 0) {
    struct tg_for loop;
    tg_emit_loop_begin(emit, &loop, tg_index(b, 0), tg_index(b, full),
                       b->lanes);
    emit_square(emit, unpack, loop.iv, b->lanes);
    tg_emit_loop_end(emit, &loop);
  }
  if (full < unpack->rows)
    emit_square(emit, unpack, tg_index(b, full), unpack->rows - full);
}

static void emit_separate_rows(struct tg_emit *emit, struct unpack *unpack,
                               int depth) {
  struct tg_builder *b = &emit->builder;
  const struct tg_plan *plan = emit->plan;
  if (depth == unpack->separate) {
    tg_emit_split(emit, emit->vector_origin, plan->block_vector,
                  plan->vector_extent, plan->width, emit_unpack_panel, unpack);
    return;
  }
  int l = plan->outer_row[depth];
  struct tg_for loop;
  tg_emit_loop_begin(emit, &loop, tg_index(b, 0),
                     tg_index(b, emit->kernel->extent[l]), 1);
  emit->position[l] = loop.iv;
  emit_separate_rows(emit, unpack, depth + 1);
  tg_emit_loop_end(emit, &loop);
}

void tg_emit_unpack(struct tg_emit *emit) {
  struct unpack unpack;
  int group[TG_MAX_RANK];
  unpack.rows = tg_unpack_shape(emit->plan, group, &unpack.separate);
  emit_separate_rows(emit, &unpack, 0);
}

void tg_emit_clear_packed_result(struct tg_emit *emit) {
  struct tg_builder *b = &emit->builder;
  const struct tg_plan *plan = emit->plan;
  MlirValue *packed = &emit->state[TG_CARRIED_PACKED_RESULT];
  int64_t rows = plan->outer_rows * plan->row_extent;
  int64_t panels =
      tg_plan_packed_elements(plan, TG_RESULT) / rows / plan->width;
  struct tg_for panel, row;
  tg_for_begin(b, &panel, tg_index(b, 0), tg_index(b, panels), 1, 1, packed);
  tg_for_begin(b, &row, tg_index(b, 0), tg_index(b, rows), 1, 1, panel.carried);
  MlirValue next = row.carried[0];
  for (int64_t column = 0; column < plan->width; column += b->lanes) {
    MlirValue indices[3] = {panel.iv, row.iv, tg_index(b, column)};
    next = tg_write(b, tg_zero_vector(b), next, 3, indices, b->lanes);
  }
  tg_for_end(b, &row, &next);
  tg_for_end(b, &panel, row.carried);
  *packed = panel.carried[0];
}
