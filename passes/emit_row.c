/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Vectors of an unpacked image whose window slides along them. The positions of
 * a window read almost the same elements, so the row is read once in whole
 * pieces, and what a position needs is shuffled out of them. Equal pieces are
 * the same load for the compiler.
 */
#include "passes/emit.h"

/* What the register tile reads of one row: `total` elements from its start. */
struct row {
  MlirValue source, indices[TG_MAX_RANK];
  int rank;
  int64_t total;
};

/* The subscript's constant part; clears it and tells how far other positions
 * of the window go that are known to exist. */
static int64_t take_constant(struct tg_emit *emit, int operand,
                             int64_t *reach) {
  const struct tg_access *access = &emit->kernel->operand[operand];
  const int32_t *coefficient = access->coefficient[access->rank - 1];
  int64_t constant = 0;
  *reach = 0;
  for (int l = 0; l < emit->kernel->loop_count; ++l) {
    if (!coefficient[l])
      continue;
    constant += coefficient[l] * emit->delta[l];
    int64_t first, last = emit->delta[l];
    if (emit->kernel->reduction[l] &&
        tg_index_constant(&emit->builder, emit->position[l], &first))
      last = emit->kernel->extent[l] - 1 - first;
    if (l != emit->plan->vector_loop)
      *reach += coefficient[l] * last;
    emit->delta[l] = 0;
  }
  return constant;
}

static MlirValue read_piece(struct tg_emit *emit, struct row *row,
                            int64_t piece) {
  struct tg_builder *b = &emit->builder;
  int64_t first = piece * b->lanes, left = row->total - first;
  MlirValue start = row->indices[row->rank - 1];
  row->indices[row->rank - 1] = tg_add(b, start, tg_index(b, first));
  MlirValue vector = tg_read(b, row->source, row->rank, row->indices,
                             left < b->lanes ? left : b->lanes);
  row->indices[row->rank - 1] = start;
  return vector;
}

/* Lane j is element first + step * j of the row, for j < valid. */
static MlirValue pick(struct tg_emit *emit, struct row *row, int64_t first,
                      int64_t step, int64_t valid) {
  struct tg_builder *b = &emit->builder;
  int64_t lanes = b->lanes, picked[TG_MAX_LANES];
  int64_t piece = first / lanes, last = (first + step * (valid - 1)) / lanes;
  MlirValue result = read_piece(emit, row, piece);
  if (step == 1 && first % lanes == 0)
    return result;
  int64_t have = piece; /* lanes up to this piece are in place */
  do {
    MlirValue next = have < last ? read_piece(emit, row, have + 1) : result;
    for (int64_t j = 0; j < lanes; ++j) {
      int64_t element = j < valid ? first + step * j : first;
      int64_t from = element / lanes;
      bool placed = have > piece && from <= have;
      picked[j] = placed                      ? j
                  : from == have + 1          ? lanes + element % lanes
                  : from <= have && j < valid ? element % lanes
                                              : 0;
    }
    result = tg_permute(b, result, next, picked);
  } while (++have < last);
  return result;
}

MlirValue tg_emit_read_row(struct tg_emit *emit, int operand, int64_t columns,
                           int64_t valid) {
  const struct tg_plan *plan = emit->plan;
  int64_t step = tg_plan_step(plan, operand, plan->vector_loop);
  int64_t kept[TG_MAX_LOOPS], reach;
  for (int l = 0; l < TG_MAX_LOOPS; ++l)
    kept[l] = emit->delta[l];
  int64_t first = take_constant(emit, operand, &reach);
  struct row row = {.source = emit->source[operand]};
  row.rank = tg_emit_subscripts(emit, operand, row.indices);
  row.total = reach + step * (columns - 1) + 1;
  for (int l = 0; l < TG_MAX_LOOPS; ++l)
    emit->delta[l] = kept[l];
  return pick(emit, &row, first, step, valid);
}
