/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The tiles of the image: V[b][c][p] or V[b][p][c] = B^T d B. Vectors run
 * along the tiles of a row where the rows of the image are contiguous, else
 * along the channels. What lies beyond the image is read as zero.
 */
#include "passes/emit_winograd.h"

static int64_t clamp(int64_t value, int64_t high) {
  return value < 0 ? 0 : value < high ? value : high;
}

static int64_t image_stride(const struct tg_emit_winograd *e, int loop) {
  return tg_kernel_stride(e->emit.kernel, e->winograd.image, loop);
}

/* `valid` elements from the offset on; none of them is no read. */
static MlirValue read_image(struct tg_emit_winograd *e, MlirValue offset,
                            int64_t valid) {
  struct tg_builder *b = &e->emit.builder;
  if (valid == 0)
    return tg_zero_vector(b);
  return tg_read(b, e->emit.source[e->winograd.image], 1, &offset, valid);
}

static void write_tile(struct tg_emit_winograd *e, int64_t element,
                       MlirValue vector, int64_t valid) {
  struct tg_emit *emit = &e->emit;
  const struct tg_winograd *w = &e->winograd;
  MlirValue channel = w->channel == TG_NO_LOOP ? tg_index(&emit->builder, 0)
                                               : emit->position[w->channel];
  MlirValue indices[3] = {tg_index(&emit->builder, element), channel, e->tile};
  if (!w->image_by_column) {
    indices[1] = e->tile;
    indices[2] = channel;
  }
  emit->state[TG_WINOGRAD_V] = tg_write(
      &emit->builder, vector, emit->state[TG_WINOGRAD_V], 3, indices, valid);
}

/*===-- Along the rows ----------------------------------------------------===*/

/* Down the columns of the image: piece[i][q] is row i of the transform, the
 * q-th vector along the image's row; the last one serves only the windows of
 * the last tile. */
static void transform_columns(
    struct tg_emit_winograd *e, MlirValue offset, int64_t exists,
    MlirValue piece[TG_WINOGRAD_MAX_INPUT][TG_WINOGRAD_MAX_OUTPUT + 1]) {
  int64_t m = e->winograd.output, n = e->winograd.input;
  int64_t lanes = e->emit.builder.lanes;
  int64_t row = image_stride(e, e->winograd.row);
  for (int64_t q = 0; q <= m; ++q) {
    int64_t wanted = q < m ? lanes : TG_WINOGRAD_WINDOW - 1;
    int64_t valid = clamp(exists - q * lanes, wanted);
    MlirValue source[TG_WINOGRAD_MAX_INPUT], result[TG_WINOGRAD_MAX_INPUT];
    for (int64_t i = 0; i < n; ++i) {
      bool inside = i < e->rows + TG_WINOGRAD_WINDOW - 1;
      source[i] =
          read_image(e, tg_winograd_plus(e, offset, i * row + q * lanes),
                     inside ? valid : 0);
    }
    tg_winograd_image_1d(e, source, result);
    for (int64_t i = 0; i < n; ++i)
      piece[i][q] = result[i];
  }
}

/* A vector of tiles; columns: elements of the result's row that they make. */
static void emit_tiles(struct tg_emit *emit, MlirValue position,
                       int64_t columns, void *data) {
  struct tg_emit_winograd *e = data;
  const struct tg_winograd *w = &e->winograd;
  struct tg_builder *b = &emit->builder;
  int64_t m = w->output, n = w->input;
  (void)position;
  MlirValue piece[TG_WINOGRAD_MAX_INPUT][TG_WINOGRAD_MAX_OUTPUT + 1];
  transform_columns(e, tg_winograd_offset(e, w->image),
                    columns + TG_WINOGRAD_WINDOW - 1, piece);
  for (int64_t i = 0; i < n; ++i) {
    MlirValue source[TG_WINOGRAD_MAX_INPUT], result[TG_WINOGRAD_MAX_INPUT];
    for (int64_t q = 0; q < m; ++q)
      source[q] = piece[i][q];
    tg_winograd_split_phases(e, source);
    for (int64_t k = 0; k < TG_WINOGRAD_WINDOW - 1; ++k)
      source[m + k] = tg_winograd_shift_phase(e, source[k], piece[i][m], k);
    tg_winograd_image_1d(e, source, result);
    for (int64_t j = 0; j < n; ++j)
      write_tile(e, i * n + j, result[j], b->lanes);
  }
}

/*===-- Along the channels ------------------------------------------------===*/

static void emit_channels(struct tg_emit *emit, MlirValue position,
                          int64_t channels, void *data) {
  struct tg_emit_winograd *e = data;
  const struct tg_winograd *w = &e->winograd;
  int64_t n = w->input, step = image_stride(e, w->column);
  int64_t row = image_stride(e, w->row);
  if (w->channel != TG_NO_LOOP)
    emit->position[w->channel] = position;
  MlirValue offset = tg_winograd_offset(e, w->image);
  MlirValue half[TG_WINOGRAD_MAX_INPUT][TG_WINOGRAD_MAX_INPUT];
  for (int64_t j = 0; j < n; ++j) {
    MlirValue source[TG_WINOGRAD_MAX_INPUT], result[TG_WINOGRAD_MAX_INPUT];
    for (int64_t i = 0; i < n; ++i) {
      bool inside = i < e->rows + TG_WINOGRAD_WINDOW - 1 &&
                    j < e->columns + TG_WINOGRAD_WINDOW - 1;
      source[i] = read_image(e, tg_winograd_plus(e, offset, i * row + j * step),
                             inside ? channels : 0);
    }
    tg_winograd_image_1d(e, source, result);
    for (int64_t i = 0; i < n; ++i)
      half[i][j] = result[i];
  }
  for (int64_t i = 0; i < n; ++i) {
    MlirValue result[TG_WINOGRAD_MAX_INPUT];
    tg_winograd_image_1d(e, half[i], result);
    for (int64_t j = 0; j < n; ++j)
      write_tile(e, i * n + j, result[j], channels);
  }
}

/* One tile, all channels. */
static void emit_tile(struct tg_emit *emit, MlirValue position, int64_t columns,
                      void *data) {
  struct tg_emit_winograd *e = data;
  const struct tg_winograd *w = &e->winograd;
  struct tg_builder *b = &emit->builder;
  (void)position;
  e->columns = columns;
  tg_emit_split(emit, tg_index(b, 0), w->channels, w->channels, b->lanes,
                emit_channels, e);
}

/*===-- The block ---------------------------------------------------------===*/

void tg_winograd_emit_image(struct tg_emit_winograd *e, MlirValue origin) {
  const struct tg_winograd *w = &e->winograd;
  if (w->image_by_column)
    tg_winograd_over_rows(e, origin, w->channel, emit_tiles);
  else
    tg_winograd_over_tiles(e, origin, emit_tile);
  if (w->channel != TG_NO_LOOP)
    e->emit.position[w->channel] = tg_index(&e->emit.builder, 0);
}
