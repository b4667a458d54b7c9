/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The tiles of the result: A^T M A, then the epilogue, then the store. Vectors
 * run along the tiles of a row where the rows of the result are contiguous,
 * else along the features. What lies beyond the result is not stored.
 */
#include "passes/emit_winograd.h"

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

/* M with its two dimensions of features as one. */
static MlirValue flat_product(struct tg_emit_winograd *e) {
  static const int tiles_last[] = {0, 1, 1, 2}, features_last[] = {0, 1, 2, 2};
  return tg_collapse(&e->emit.builder, e->emit.state[TG_WINOGRAD_M], 4,
                     e->winograd.result_by_column ? tiles_last : features_last);
}

static MlirValue read_product(struct tg_emit_winograd *e, MlirValue product,
                              int64_t element, int64_t valid) {
  struct tg_emit *emit = &e->emit;
  const struct tg_winograd *w = &e->winograd;
  struct tg_builder *b = &emit->builder;
  MlirValue feature =
      w->feature == TG_NO_LOOP ? tg_index(b, 0) : emit->position[w->feature];
  MlirValue indices[3] = {tg_index(b, element), feature, e->tile};
  if (!w->result_by_column) {
    indices[1] = e->tile;
    indices[2] = feature;
  }
  return tg_read(b, product, 3, indices, valid);
}

/* tile[k][j]: row k of the tile, still to be transformed along the row. */
static void transform_columns(
    struct tg_emit_winograd *e, int64_t valid,
    MlirValue tile[TG_WINOGRAD_MAX_OUTPUT][TG_WINOGRAD_MAX_INPUT]) {
  int64_t m = e->winograd.output, n = e->winograd.input;
  MlirValue product = flat_product(e);
  for (int64_t j = 0; j < n; ++j) {
    MlirValue source[TG_WINOGRAD_MAX_INPUT], result[TG_WINOGRAD_MAX_OUTPUT];
    for (int64_t i = 0; i < n; ++i)
      source[i] = read_product(e, product, i * n + j, valid);
    tg_winograd_result_1d(e, source, result);
    for (int64_t k = 0; k < m; ++k)
      tile[k][j] = result[k];
  }
}

/* At the current positions, `row` and `column` further. */
static void store(struct tg_emit_winograd *e, MlirValue vector, int64_t row,
                  int64_t column, int64_t valid) {
  struct tg_emit *emit = &e->emit;
  struct tg_builder *b = &emit->builder;
  MlirValue *result = &emit->state[TG_CARRIED_RESULT];
  MlirValue indices[TG_MAX_RANK];
  emit->delta[e->winograd.row] = row;
  emit->delta[e->winograd.column] = column;
  int rank = tg_emit_subscripts(emit, TG_RESULT, indices);
  emit->delta[e->winograd.row] = emit->delta[e->winograd.column] = 0;
  if (!emit->kernel->init_is_zero) {
    MlirValue operands[2] = {tg_read(b, *result, rank, indices, valid), vector};
    vector = tg_build_1(b, "arith.addf", 2, operands, b->vector);
  }
  vector = tg_epilogue_emit(b, emit->epilogue, vector, indices, valid);
  *result = tg_write(b, vector, *result, rank, indices, valid);
}

/*===-- Along the rows ----------------------------------------------------===*/

static void emit_tiles(struct tg_emit *emit, MlirValue position,
                       int64_t columns, void *data) {
  struct tg_emit_winograd *e = data;
  const struct tg_winograd *w = &e->winograd;
  struct tg_builder *b = &emit->builder;
  int64_t m = w->output, lanes = b->lanes;
  (void)position;
  MlirValue tile[TG_WINOGRAD_MAX_OUTPUT][TG_WINOGRAD_MAX_INPUT];
  transform_columns(e, smaller((columns + m - 1) / m, lanes), tile);
  for (int64_t k = 0; k < e->rows; ++k) {
    MlirValue vectors[TG_WINOGRAD_MAX_OUTPUT];
    tg_winograd_result_1d(e, tile[k], vectors);
    tg_winograd_join_phases(e, vectors);
    for (int64_t q = 0; q < m && q * lanes < columns; ++q)
      store(e, vectors[q], k, q * lanes, smaller(columns - q * lanes, lanes));
  }
}

/*===-- Along the features ------------------------------------------------===*/

static void emit_features(struct tg_emit *emit, MlirValue position,
                          int64_t features, void *data) {
  struct tg_emit_winograd *e = data;
  emit->position[e->winograd.feature] = position;
  MlirValue tile[TG_WINOGRAD_MAX_OUTPUT][TG_WINOGRAD_MAX_INPUT];
  /* M is as wide as whole vectors. */
  transform_columns(e, emit->builder.lanes, tile);
  for (int64_t k = 0; k < e->rows; ++k) {
    MlirValue vectors[TG_WINOGRAD_MAX_OUTPUT];
    tg_winograd_result_1d(e, tile[k], vectors);
    for (int64_t q = 0; q < e->columns; ++q)
      store(e, vectors[q], k, q, features);
  }
}

static void emit_tile(struct tg_emit *emit, MlirValue position, int64_t columns,
                      void *data) {
  struct tg_emit_winograd *e = data;
  const struct tg_winograd *w = &e->winograd;
  struct tg_builder *b = &emit->builder;
  (void)position;
  e->columns = columns;
  tg_emit_split(emit, tg_index(b, 0), w->features, w->features, b->lanes,
                emit_features, e);
}

/*===-- The block ---------------------------------------------------------===*/

void tg_winograd_emit_result(struct tg_emit_winograd *e, MlirValue origin) {
  const struct tg_winograd *w = &e->winograd;
  if (w->result_by_column)
    tg_winograd_over_rows(e, origin, w->feature, emit_tiles);
  else
    tg_winograd_over_tiles(e, origin, emit_tile);
  if (w->feature != TG_NO_LOOP)
    e->emit.position[w->feature] = tg_index(&e->emit.builder, 0);
}
