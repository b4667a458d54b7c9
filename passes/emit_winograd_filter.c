/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The filter: U[b][panel][c][feature of the panel] = G g G^T, a vector of
 * features at a time. Where features aren't neighbours in memory, the windows
 * of a few channels are first transposed in registers into scratch memory.
 * Features beyond the last are zero.
 */
#include <mlir-c/BuiltinTypes.h>

#include "passes/emit_winograd.h"

enum { WINDOW = TG_WINOGRAD_WINDOW * TG_WINOGRAD_WINDOW };

struct stage {
  struct tg_emit_winograd *e;
  MlirValue panel;
  int64_t features; /* of the panel, that exist */
  int64_t group;    /* of lanes, in the panel */
  /* Rows of the scratch windows between channels, and places of a window. */
  int64_t channel_rows, place_rows;
};

static int64_t clamp(int64_t value, int64_t high) {
  return value < 0 ? 0 : value < high ? value : high;
}

static int64_t filter_stride(const struct tg_emit_winograd *e, int loop) {
  return loop == TG_NO_LOOP
             ? 0
             : tg_kernel_stride(e->emit.kernel, e->winograd.filter, loop);
}

/* Lanes of the group that are features, and that are in the panel. */
static int64_t lanes_with_features(const struct stage *stage) {
  int64_t lanes = stage->e->emit.builder.lanes;
  return clamp(stage->features - stage->group * lanes, lanes);
}

static int64_t lanes_of_panel(const struct stage *stage) {
  int64_t lanes = stage->e->emit.builder.lanes;
  return clamp(stage->e->winograd.panel - stage->group * lanes, lanes);
}

/*===-- The transform -----------------------------------------------------===*/

static void write_filter(struct stage *stage, int64_t element,
                         MlirValue channel, MlirValue vector) {
  struct tg_emit *emit = &stage->e->emit;
  struct tg_builder *b = &emit->builder;
  MlirValue indices[4] = {tg_index(b, element), stage->panel, channel,
                          tg_index(b, stage->group * b->lanes)};
  emit->state[TG_WINOGRAD_U] = tg_write(b, vector, emit->state[TG_WINOGRAD_U],
                                        4, indices, lanes_of_panel(stage));
}

/* window: (3, 3) vectors of features. */
static void transform(struct stage *stage, MlirValue channel,
                      const MlirValue *window) {
  struct tg_emit_winograd *e = stage->e;
  int64_t n = e->winograd.input;
  MlirValue half[TG_WINOGRAD_MAX_INPUT][TG_WINOGRAD_WINDOW];
  for (int64_t j = 0; j < TG_WINOGRAD_WINDOW; ++j) {
    MlirValue source[TG_WINOGRAD_WINDOW], result[TG_WINOGRAD_MAX_INPUT];
    for (int64_t i = 0; i < TG_WINOGRAD_WINDOW; ++i)
      source[i] = window[i * TG_WINOGRAD_WINDOW + j];
    tg_winograd_filter_1d(e, source, result);
    for (int64_t i = 0; i < n; ++i)
      half[i][j] = result[i];
  }
  for (int64_t i = 0; i < n; ++i) {
    MlirValue result[TG_WINOGRAD_MAX_INPUT];
    tg_winograd_filter_1d(e, half[i], result);
    for (int64_t j = 0; j < n; ++j)
      write_filter(stage, i * n + j, channel, result[j]);
  }
}

/*===-- Features that are neighbours --------------------------------------===*/

/* The current channel, straight from the filter. */
static void emit_vectors(struct stage *stage, MlirValue channel) {
  struct tg_emit_winograd *e = stage->e;
  struct tg_builder *b = &e->emit.builder;
  const struct tg_winograd *w = &e->winograd;
  int64_t valid = lanes_with_features(stage);
  MlirValue window[WINDOW];
  MlirValue offset =
      tg_winograd_plus(e, tg_winograd_offset(e, w->filter),
                       stage->group * b->lanes); /* features lie one apart */
  for (int64_t k = 0; k < WINDOW; ++k) {
    int64_t place = k / 3 * filter_stride(e, w->window_row) +
                    k % 3 * filter_stride(e, w->window_column);
    MlirValue at = tg_winograd_plus(e, offset, place);
    window[k] = valid ? tg_read(b, e->emit.source[w->filter], 1, &at, valid)
                      : tg_zero_vector(b);
  }
  transform(stage, channel, window);
}

static void emit_neighbours(struct stage *stage) {
  struct tg_emit_winograd *e = stage->e;
  struct tg_builder *b = &e->emit.builder;
  const struct tg_winograd *w = &e->winograd;
  if (w->channel == TG_NO_LOOP) {
    emit_vectors(stage, tg_index(b, 0));
    return;
  }
  struct tg_for loop;
  tg_emit_loop_begin(&e->emit, &loop, tg_index(b, 0), tg_index(b, w->channels),
                     1);
  e->emit.position[w->channel] = loop.iv;
  emit_vectors(stage, loop.iv);
  tg_emit_loop_end(&e->emit, &loop);
  e->emit.position[w->channel] = tg_index(b, 0);
}

/*===-- Features that are not ---------------------------------------------===*/

/* Rows row ... row + lanes of the scratch windows: the `valid` elements from
 * the offset on of the filter, of every feature of the group. */
static void fill_square(struct stage *stage, MlirValue offset, int64_t valid,
                        MlirValue row) {
  struct tg_emit_winograd *e = stage->e;
  struct tg_builder *b = &e->emit.builder;
  const struct tg_winograd *w = &e->winograd;
  int64_t apart = filter_stride(e, w->feature);
  int64_t features = lanes_with_features(stage);
  MlirValue square[TG_MAX_LANES];
  for (int64_t i = 0; i < b->lanes; ++i) {
    MlirValue at =
        tg_winograd_plus(e, offset, (stage->group * b->lanes + i) * apart);
    square[i] = i < features
                    ? tg_read(b, e->emit.source[w->filter], 1, &at, valid)
                    : tg_zero_vector(b);
  }
  tg_transpose(b, square);
  for (int64_t i = 0; i < valid; ++i) {
    MlirValue indices[2] = {tg_winograd_plus(e, row, i), tg_index(b, 0)};
    MlirValue *windows = &e->emit.state[TG_WINOGRAD_SCRATCH];
    *windows = tg_write(b, square[i], *windows, 2, indices, b->lanes);
  }
}

/* `count` squares that follow each other: `apart` elements in the filter. */
static void fill_squares(struct stage *stage, MlirValue offset, int64_t apart,
                         int64_t count, int64_t valid) {
  struct tg_emit *emit = &stage->e->emit;
  struct tg_builder *b = &emit->builder;
  struct tg_for loop;
  tg_emit_loop_begin(emit, &loop, tg_index(b, 0), tg_index(b, count), 1);
  fill_square(stage, tg_add(b, offset, tg_mul(b, loop.iv, apart)), valid,
              tg_mul(b, loop.iv, b->lanes));
  tg_emit_loop_end(emit, &loop);
}

/* The windows of `channels` channels from the current one on. */
static void fill_windows(struct stage *stage, int64_t channels) {
  struct tg_emit_winograd *e = stage->e;
  struct tg_builder *b = &e->emit.builder;
  const struct tg_winograd *w = &e->winograd;
  MlirValue offset = tg_winograd_offset(e, w->filter);
  if (w->filter_way == TG_WINOGRAD_CHANNELS) {
    fill_squares(stage, offset, filter_stride(e, w->window_column), WINDOW,
                 channels);
    stage->channel_rows = 1;
    stage->place_rows = b->lanes;
    return;
  }
  int64_t full = channels * WINDOW / b->lanes;
  int64_t rest = channels * WINDOW % b->lanes;
  if (full)
    fill_squares(stage, offset, b->lanes, full, b->lanes);
  if (rest)
    fill_square(stage, tg_winograd_plus(e, offset, full * b->lanes), rest,
                tg_index(b, full * b->lanes));
  stage->channel_rows = WINDOW;
  stage->place_rows = 1;
}

static void transform_windows(struct stage *stage, MlirValue first,
                              int64_t channels) {
  struct tg_emit_winograd *e = stage->e;
  struct tg_builder *b = &e->emit.builder;
  struct tg_for loop;
  tg_emit_loop_begin(&e->emit, &loop, tg_index(b, 0), tg_index(b, channels), 1);
  MlirValue row = tg_mul(b, loop.iv, stage->channel_rows);
  MlirValue window[WINDOW];
  for (int64_t k = 0; k < WINDOW; ++k) {
    MlirValue indices[2] = {tg_winograd_plus(e, row, k * stage->place_rows),
                            tg_index(b, 0)};
    window[k] =
        tg_read(b, e->emit.state[TG_WINOGRAD_SCRATCH], 2, indices, b->lanes);
  }
  transform(stage, tg_add(b, first, loop.iv), window);
  tg_emit_loop_end(&e->emit, &loop);
}

static void emit_chunk(struct tg_emit *emit, MlirValue position,
                       int64_t channels, void *data) {
  struct stage *stage = data;
  const struct tg_winograd *w = &stage->e->winograd;
  if (w->channel != TG_NO_LOOP)
    emit->position[w->channel] = position;
  if (lanes_with_features(stage))
    fill_windows(stage, channels);
  transform_windows(stage, position, channels);
}

static void emit_transposed(struct stage *stage) {
  struct tg_emit_winograd *e = stage->e;
  struct tg_builder *b = &e->emit.builder;
  const struct tg_winograd *w = &e->winograd;
  tg_emit_split(&e->emit, tg_index(b, 0), w->channels, w->channels, b->lanes,
                emit_chunk, stage);
  if (w->channel != TG_NO_LOOP)
    e->emit.position[w->channel] = tg_index(b, 0);
}

/*===-- Panels ------------------------------------------------------------===*/

static void emit_panel(struct tg_emit *emit, MlirValue position,
                       int64_t features, void *data) {
  struct stage *stage = data;
  const struct tg_winograd *w = &stage->e->winograd;
  struct tg_builder *b = &emit->builder;
  if (w->feature != TG_NO_LOOP)
    emit->position[w->feature] = position;
  stage->panel = tg_div(b, position, w->panel);
  stage->features = features;
  for (stage->group = 0; stage->group * b->lanes < w->panel; ++stage->group)
    if (w->filter_way == TG_WINOGRAD_VECTORS)
      emit_neighbours(stage);
    else
      emit_transposed(stage);
}

void tg_winograd_emit_filter(struct tg_emit_winograd *e) {
  struct tg_builder *b = &e->emit.builder;
  const struct tg_winograd *w = &e->winograd;
  struct stage stage = {.e = e};
  tg_emit_split(&e->emit, tg_index(b, 0), w->features, w->features, w->panel,
                emit_panel, &stage);
  if (w->feature != TG_NO_LOOP)
    e->emit.position[w->feature] = tg_index(b, 0);
}
