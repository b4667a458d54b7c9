/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the algorithm is expected to cost, the configurations that it has, and
 * the best of them. The product's cycles are those of its own plan (cost.c);
 * the transforms are counted operation by operation, as they are emitted.
 */
#include <math.h>
#include <string.h>

#include "model/cost.h"
#include "model/winograd.h"

/*===-- The estimate ------------------------------------------------------===*/

/* Operations of a transform of one dimension, for 2 and 4 outputs. */
struct operations {
  double image, filter, result;
};
static const struct operations operations_of_2 = {4, 6, 4};
static const struct operations operations_of_4 = {14, 11, 13};

/* Sustained bytes a cycle from a level, and what of it a program may fill. */
static const double l2_rate = 24, l3_rate = 10, memory_rate = 5;
static const double usable = 0.75;
/* Cycles for set-up and for what doesn't overlap, of a body of a transform. */
static const double body_overhead = 12;

static double ceil_div(double a, double b) { return ceil(a / b); }

static double move_cycles(double nbytes, double footprint_nbytes,
                          const struct tg_target *target) {
  double rate = memory_rate;
  if (footprint_nbytes <= usable * (double)target->l2_nbytes)
    rate = l2_rate;
  else if (footprint_nbytes <= usable * (double)target->l3_nbytes)
    rate = l3_rate;
  return nbytes / rate;
}

/* What a body is made of, in vectors. */
struct body {
  double loads, arithmetic, shuffles, stores;
};

/* Vectors of 512 bits take a whole cycle to load, and two to store. */
static double body_cycles(const struct body *body,
                          const struct tg_target *target) {
  double wide = target->vector_bits > 256 ? 1.0 : 0.5;
  return body->arithmetic / (double)target->fma_per_cycle + body->shuffles +
         (body->loads + 2 * body->stores) * wide + body_overhead;
}

static double filter_cycles(const struct tg_winograd *w, int64_t lanes,
                            const struct operations *operations,
                            const struct tg_target *target) {
  double n = (double)w->input,
         vectors = ceil_div((double)w->panel, (double)lanes);
  struct body body = {
      .loads = 9, .arithmetic = (3 + n) * operations->filter, .stores = n * n};
  if (w->filter_way != TG_WINOGRAD_VECTORS) {
    /* 9 vectors are read, transposed, kept and read again. */
    body.loads += 9;
    body.stores += 9;
    body.shuffles += 9 * log2((double)lanes);
  }
  return (double)(w->panels * w->channels) * vectors *
         body_cycles(&body, target);
}

static double image_cycles(const struct tg_winograd *w, int64_t lanes,
                           const struct operations *operations,
                           const struct tg_target *target) {
  double n = (double)w->input, m = (double)w->output;
  double rows = (double)w->tile_rows, columns = (double)w->tile_columns;
  if (w->image_by_column) {
    struct body body = {.loads = n * (m + 1),
                        .arithmetic = (m + 1 + n) * operations->image,
                        .shuffles = n * (m * log2(m) + 2),
                        .stores = n * n};
    return (double)w->channels * rows * ceil_div(columns, (double)lanes) *
           body_cycles(&body, target);
  }
  struct body body = {
      .loads = n * n, .arithmetic = 2 * n * operations->image, .stores = n * n};
  return ceil_div((double)w->channels, (double)lanes) * rows * columns *
         body_cycles(&body, target);
}

static double result_cycles(const struct tg_winograd *w, int64_t lanes,
                            const struct operations *operations,
                            const struct tg_target *target) {
  double n = (double)w->input, m = (double)w->output;
  double rows = (double)w->tile_rows, columns = (double)w->tile_columns;
  struct body body = {.loads = n * n,
                      .arithmetic = (n + m) * operations->result,
                      .stores = m * m};
  if (!w->result_by_column)
    return ceil_div((double)w->features, (double)lanes) * rows * columns *
           body_cycles(&body, target);
  body.shuffles = m * m * log2(m);
  return (double)w->features * rows * ceil_div(columns, (double)lanes) *
         body_cycles(&body, target);
}

/* The product's own plan, once for each block. Tiles that need more than two
 * loads for as many multiplications as a cycle takes are slower than a count of
 * the loads says (13 x 1 against 6 x 2 on two units of 256 bits: 1.2). */
static double product_cycles(const struct tg_winograd *w,
                             const struct tg_target *target) {
  double rows = (double)w->product.rows, vectors = (double)w->product.vectors;
  double loads = (rows + vectors) / (rows * vectors);
  double blocks = ceil_div((double)w->tile_rows, (double)w->block_rows);
  double crowded = loads * (double)target->fma_per_cycle > 2 ? 1.12 : 1;
  return blocks * crowded * tg_plan_cycles(&w->product, target);
}

/* The transforms of one image, and the traffic of what they make. */
static double transform_cycles(const struct tg_winograd *w, int64_t lanes,
                               double nbytes,
                               const struct operations *operations,
                               const struct tg_target *target) {
  double elements = (double)(w->input * w->input);
  double tiles = (double)w->block_tiles;
  double block =
      elements * tiles * nbytes * (double)(w->channels + w->panels * w->panel);
  double all = block * (double)w->tile_rows / (double)w->block_rows;
  return image_cycles(w, lanes, operations, target) +
         result_cycles(w, lanes, operations, target) +
         move_cycles(all, block, target);
}

static double extent_of(const struct tg_kernel *kernel, const int *loops,
                        int count) {
  double product = 1;
  for (int i = 0; i < count; ++i)
    product *= (double)kernel->extent[loops[i]];
  return product;
}

double tg_winograd_cycles(const struct tg_plan *plan,
                          const struct tg_target *target, double *filter_part) {
  struct tg_winograd w;
  tg_winograd_describe(plan, &w);
  const struct tg_kernel *kernel = &plan->canonical.kernel;
  const struct operations *operations =
      w.output == 2 ? &operations_of_2 : &operations_of_4;
  double nbytes = (double)tg_kernel_element_nbytes(kernel);
  double filter_nbytes = (double)(w.input * w.input * w.channels) *
                         (double)(w.panels * w.panel) * nbytes;
  double plain_nbytes = filter_nbytes * 9 / (double)(w.input * w.input);
  double groups = extent_of(kernel, w.group, w.group_count);
  double images = extent_of(kernel, w.batch, w.batch_count);
  double filter = 0;
  /* A program's weights aren't in a cache when their turn comes: what comes
   * transformed is more of them. Otherwise it is written once, read once, and
   * not to be found in a cache again. */
  if (tg_plan_takes_panels(plan, w.filter))
    filter = (filter_nbytes - plain_nbytes) / memory_rate;
  else
    filter = groups * (filter_cycles(&w, plan->lanes, operations, target) +
                       move_cycles(filter_nbytes + plain_nbytes,
                                   filter_nbytes + plain_nbytes, target));
  double image = transform_cycles(&w, plan->lanes, nbytes, operations, target) +
                 product_cycles(&w, target);
  if (filter_part)
    *filter_part = filter;
  return filter + groups * images * image;
}

/*===-- The configurations ------------------------------------------------===*/

enum { MAX_VALUES = 12, MAX_VECTORS = 4, MAX_BLOCKS = 8 };

struct values {
  int count;
  int64_t value[MAX_VALUES];
};

static void add_value(struct values *values, int64_t value) {
  for (int i = 0; i < values->count; ++i)
    if (values->value[i] == value)
      return;
  if (values->count < MAX_VALUES)
    values->value[values->count++] = value;
}

/* Even parts of a whole, each at most `most`: little is wasted in the last. */
static void add_parts(struct values *values, int64_t whole, int64_t most,
                      int count) {
  if (most > whole)
    most = whole;
  int64_t first = (whole + most - 1) / most;
  for (int64_t parts = first; parts < first + count && parts <= whole; ++parts)
    add_value(values, (whole + parts - 1) / parts);
}

struct list {
  struct tg_arena *arena;
  struct tg_space *space;
  size_t capacity;
  bool failed;
};

static void append(struct list *list, const struct tg_config *config) {
  struct tg_space *space = list->space;
  struct tg_config *grown =
      tg_arena_grow(list->arena, space->configs, space->count, &list->capacity,
                    sizeof(*grown));
  if (!grown) {
    list->failed = true;
    return;
  }
  space->configs = grown;
  space->configs[space->count++] = *config;
}

struct search {
  const struct tg_canonical *canonical;
  const struct tg_target *target;
  struct tg_winograd w;
  struct list list;
};

/* The tile is given; how deep it is unrolled, and which panels stay. */
static void append_orders(struct search *search, struct tg_config config) {
  int orders = search->w.result_by_column ? 2 : 1;
  for (int unroll = 4; unroll <= 8; unroll *= 2)
    for (int order = 0; order < orders; ++order) {
      struct tg_plan plan;
      config.knob[TG_KNOB_unroll] = unroll;
      config.knob[TG_KNOB_order] = order;
      if (!tg_winograd_plan(search->canonical, &config, search->target, &plan))
        append(&search->list, &config);
    }
}

static void append_tiles(struct search *search, struct tg_config config,
                         int64_t tiles) {
  const struct tg_winograd *w = &search->w;
  for (int vectors = 1; vectors <= MAX_VECTORS; ++vectors) {
    int64_t most = (search->target->vector_registers - 1 - vectors) / vectors;
    if (most < 1)
      continue;
    struct values rows = {0};
    add_parts(&rows, w->result_by_column ? w->features : tiles,
              most < TG_MAX_TILE_ROWS ? most : TG_MAX_TILE_ROWS, 3);
    config.knob[TG_KNOB_vectors] = vectors;
    for (int r = 0; r < rows.count; ++r) {
      config.knob[TG_KNOB_rows] = (int32_t)rows.value[r];
      append_orders(search, config);
    }
  }
}

static void append_blocks(struct search *search, struct tg_config config) {
  const struct tg_winograd *w = &search->w;
  int64_t output = config.knob[TG_KNOB_winograd];
  int64_t rows = (w->height + output - 1) / output;
  int64_t columns = (w->width + output - 1) / output;
  struct values blocks = {0};
  add_parts(&blocks, rows, rows, MAX_BLOCKS);
  add_value(&blocks, 1);
  for (int i = 0; i < blocks.count; ++i) {
    int64_t tiles = blocks.value[i] * columns;
    if (tiles > INT32_MAX)
      continue;
    config
        .knob[w->result_by_column ? TG_KNOB_block_vector : TG_KNOB_block_rows] =
        blocks.value[i] == rows ? 0 : (int32_t)tiles;
    append_tiles(search, config, tiles);
  }
}

static bool enumerate(const struct tg_canonical *canonical,
                      const struct tg_target *target, struct tg_arena *arena,
                      struct tg_space *space) {
  struct search search = {.canonical = canonical,
                          .target = target,
                          .list = {.arena = arena, .space = space}};
  memset(space, 0, sizeof(*space));
  if (tg_winograd_match(&canonical->kernel, &search.w))
    return true;
  const struct tg_winograd *w = &search.w;
  for (int output = 2; output <= TG_WINOGRAD_MAX_OUTPUT; output += 2) {
    struct tg_config config = {{0}};
    config.knob[TG_KNOB_tiled] = 1;
    config.knob[TG_KNOB_winograd] = output;
    config.knob[TG_KNOB_vector_loop] =
        w->result_by_column ? w->column : w->feature;
    config.knob[TG_KNOB_row_loop] =
        w->result_by_column ? w->feature : w->column;
    append_blocks(&search, config);
  }
  return !search.list.failed;
}

bool tg_winograd_enumerate(const struct tg_kernel *kernel,
                           const struct tg_target *target,
                           struct tg_arena *arena, struct tg_space *space) {
  struct tg_canonical canonical;
  tg_canonicalize(kernel, &canonical);
  return enumerate(&canonical, target, arena, space);
}

bool tg_winograd_choose(const struct tg_kernel *kernel,
                        const struct tg_target *target, struct tg_arena *arena,
                        struct tg_config *config, double *cycles,
                        size_t *count) {
  struct tg_canonical canonical;
  tg_canonicalize(kernel, &canonical);
  struct tg_space space;
  *count = 0;
  if (!enumerate(&canonical, target, arena, &space) || !space.count)
    return false;
  *count = space.count;
  for (size_t i = 0; i < space.count; ++i) {
    struct tg_plan plan;
    if (tg_winograd_plan(&canonical, &space.configs[i], target, &plan))
      continue;
    double each = tg_winograd_cycles(&plan, target, NULL);
    if (i == 0 || each < *cycles) {
      *cycles = each;
      *config = space.configs[i];
    }
  }
  return true;
}
