/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Which kernels the algorithm serves, what a configuration of it means, and
 * the transforms. The estimate and the list of configurations are in
 * winograd_choose.c.
 */
#include "model/winograd.h"

#include <assert.h>
#include <string.h>

static const int64_t line_nbytes = 64;

/*===-- The transforms ----------------------------------------------------===*/

/* Points but 0 and infinity, each with its negative. 5/8 and 3/2 make half the
 * rounding error of 1 and 2 (2.0e-7 against 4.6e-7 of the largest value in the
 * mean over 64 channels in f32; a plain sum: 1.1e-7). */
static const double points_of_2[] = {1.0};
static const double points_of_4[] = {0.625, 1.5};

/* The coefficients of the product of (x - point) over all points but `left`,
 * lowest power first. Returns its degree. */
static int expand(const double *points, int count, int left, double *row) {
  int degree = 0;
  row[0] = 1;
  for (int i = 0; i < count; ++i) {
    if (i == left)
      continue;
    row[degree + 1] = 0;
    for (int d = ++degree; d > 0; --d)
      row[d] = row[d - 1] - points[i] * row[d];
    row[0] *= -points[i];
  }
  return degree;
}

void tg_winograd_get_matrices(int64_t output,
                              struct tg_winograd_matrices *matrices) {
  memset(matrices, 0, sizeof(*matrices));
  const double *pairs = output == 2 ? points_of_2 : points_of_4;
  int m = (int)output, n = m + TG_WINOGRAD_WINDOW - 1;
  matrices->output = m;
  matrices->input = n;
  double points[TG_WINOGRAD_MAX_INPUT] = {0};
  for (int i = 1; i < n - 1; ++i)
    points[i] = i % 2 ? pairs[i / 2] : -pairs[i / 2 - 1];
  for (int i = 0; i < n - 1; ++i) {
    double row[TG_WINOGRAD_MAX_INPUT + 1], scale = 1, power = 1;
    int degree = expand(points, n - 1, i, row);
    memcpy(matrices->bt[i], row, (size_t)(degree + 1) * sizeof(double));
    for (int j = 0; j < n - 1; ++j)
      scale *= j == i ? 1 : points[i] - points[j];
    for (int k = 0; k < m || k < TG_WINOGRAD_WINDOW; ++k, power *= points[i]) {
      if (k < m)
        matrices->at[k][i] = power;
      if (k < TG_WINOGRAD_WINDOW)
        matrices->g[i][k] = power / scale;
    }
  }
  expand(points, n - 1, -1, matrices->bt[n - 1]);
  matrices->at[m - 1][n - 1] = 1;
  matrices->g[n - 1][TG_WINOGRAD_WINDOW - 1] = 1;
}

/*===-- The loops ---------------------------------------------------------===*/

/* The loops of a subscript, all of coefficient 1; -1: it has others. */
static int subscript_loops(const struct tg_kernel *kernel, int operand, int d,
                           int loops[TG_MAX_LOOPS]) {
  int count = 0;
  for (int l = 0; l < kernel->loop_count; ++l) {
    int32_t coefficient = kernel->operand[operand].coefficient[d][l];
    if (coefficient != 0 && coefficient != 1)
      return -1;
    if (coefficient)
      loops[count++] = l;
  }
  return count;
}

/* The windows of the operand: pairs of a loop of the result and a loop of the
 * filter, 3 long. Returns how many, -1 where a subscript is something else. */
static int find_windows(const struct tg_kernel *kernel, int operand,
                        int along[2], int window[2]) {
  int found = 0;
  for (int d = 0; d < kernel->operand[operand].rank; ++d) {
    int loops[TG_MAX_LOOPS];
    int count = subscript_loops(kernel, operand, d, loops);
    if (count < 0 || count > 2)
      return -1;
    if (count < 2)
      continue;
    int w = kernel->reduction[loops[0]] ? 0 : 1;
    if (!kernel->reduction[loops[w]] || kernel->reduction[loops[1 - w]] ||
        kernel->extent[loops[w]] != TG_WINOGRAD_WINDOW || found == 2)
      return -1;
    along[found] = loops[1 - w];
    window[found++] = loops[w];
  }
  return found;
}

static const char *find_image(const struct tg_kernel *kernel,
                              struct tg_winograd *w) {
  int along[2], window[2], none[2], unused[2];
  for (w->image = TG_LHS; w->image <= TG_RHS; ++w->image) {
    w->filter = TG_LHS + TG_RHS - w->image;
    if (find_windows(kernel, w->image, along, window) != 2 ||
        find_windows(kernel, w->filter, none, unused) != 0 ||
        find_windows(kernel, TG_RESULT, none, unused) != 0)
      continue;
    w->row = along[0];
    w->column = along[1];
    w->window_row = window[0];
    w->window_column = window[1];
    /* Each of the four steps through one dimension of the image alone. */
    if (w->row == w->column || w->window_row == w->window_column ||
        tg_kernel_stride(kernel, w->image, w->row) !=
            tg_kernel_stride(kernel, w->image, w->window_row) ||
        tg_kernel_stride(kernel, w->image, w->column) !=
            tg_kernel_stride(kernel, w->image, w->window_column))
      continue;
    return NULL;
  }
  return "winograd needs a convolution of 3x3 windows, stride and dilation 1";
}

static const char *sort_loop(const struct tg_kernel *kernel, int loop,
                             struct tg_winograd *w) {
  bool image = tg_kernel_uses(kernel, w->image, loop);
  bool filter = tg_kernel_uses(kernel, w->filter, loop);
  bool result = tg_kernel_uses(kernel, TG_RESULT, loop);
  if (image && filter && result)
    w->group[w->group_count++] = loop;
  else if (image && result)
    w->batch[w->batch_count++] = loop;
  else if (image && filter && w->channel == TG_NO_LOOP)
    w->channel = loop;
  else if (filter && result && w->feature == TG_NO_LOOP)
    w->feature = loop;
  else
    return "winograd serves one loop of channels and one of filters";
  return NULL;
}

static const char *sort_loops(const struct tg_kernel *kernel,
                              struct tg_winograd *w) {
  w->channel = w->feature = TG_NO_LOOP;
  for (int l = 0; l < kernel->loop_count; ++l) {
    bool spatial = l == w->row || l == w->column;
    bool window = l == w->window_row || l == w->window_column;
    const char *fault = NULL;
    if (spatial ? tg_kernel_uses(kernel, w->filter, l) ||
                      !tg_kernel_uses(kernel, TG_RESULT, l)
                : window && (!tg_kernel_uses(kernel, w->filter, l) ||
                             tg_kernel_uses(kernel, TG_RESULT, l)))
      fault = "winograd needs a convolution of an image with a filter";
    else if (!spatial && !window)
      fault = sort_loop(kernel, l, w);
    if (fault)
      return fault;
  }
  return NULL;
}

/*===-- Layouts -----------------------------------------------------------===*/

static bool is_contiguous(const struct tg_kernel *kernel, int operand,
                          int loop) {
  return loop != TG_NO_LOOP && tg_kernel_stride(kernel, operand, loop) == 1;
}

static const char *find_filter_way(const struct tg_kernel *kernel,
                                   struct tg_winograd *w) {
  int64_t row = tg_kernel_stride(kernel, w->filter, w->window_row);
  int64_t column = tg_kernel_stride(kernel, w->filter, w->window_column);
  int64_t channel = w->channel == TG_NO_LOOP
                        ? 9
                        : tg_kernel_stride(kernel, w->filter, w->channel);
  if (w->feature == TG_NO_LOOP || is_contiguous(kernel, w->filter, w->feature))
    w->filter_way = TG_WINOGRAD_VECTORS;
  else if (column == 1 && row == 3 && channel == 9)
    w->filter_way = TG_WINOGRAD_WINDOWS;
  else if (channel == 1 && row == 3 * column)
    w->filter_way = TG_WINOGRAD_CHANNELS;
  else
    return "winograd needs a filter whose windows, channels or filters are "
           "contiguous";
  return NULL;
}

static const char *find_layouts(const struct tg_kernel *kernel,
                                struct tg_winograd *w) {
  w->image_by_column = is_contiguous(kernel, w->image, w->column);
  w->result_by_column = is_contiguous(kernel, TG_RESULT, w->column);
  if (!w->image_by_column && !is_contiguous(kernel, w->image, w->channel))
    return "winograd needs an image whose rows or channels are contiguous";
  if (!w->result_by_column && !is_contiguous(kernel, TG_RESULT, w->feature))
    return "winograd needs a result whose rows or channels are contiguous";
  if (w->result_by_column && !w->image_by_column)
    return "winograd needs image and result to be contiguous alike";
  return find_filter_way(kernel, w);
}

const char *tg_winograd_match(const struct tg_kernel *kernel,
                              struct tg_winograd *winograd) {
  if (!tg_kernel_is_plain(kernel))
    return "Winograd's algorithm is for floats of one type";
  memset(winograd, 0, sizeof(*winograd));
  const char *fault;
  if (tg_kernel_has(kernel, TG_BOUNDED))
    return "winograd needs static extents";
  if ((fault = find_image(kernel, winograd)) ||
      (fault = sort_loops(kernel, winograd)) ||
      (fault = find_layouts(kernel, winograd)))
    return fault;
  winograd->height = kernel->extent[winograd->row];
  winograd->width = kernel->extent[winograd->column];
  winograd->channels =
      winograd->channel == TG_NO_LOOP ? 1 : kernel->extent[winograd->channel];
  winograd->features =
      winograd->feature == TG_NO_LOOP ? 1 : kernel->extent[winograd->feature];
  return NULL;
}

bool tg_winograd_may_take_panels(const struct tg_kernel *kernel, int operand) {
  struct tg_winograd winograd;
  if (tg_winograd_match(kernel, &winograd) || operand != winograd.filter)
    return false;
  for (int i = 0; i < winograd.group_count; ++i)
    if (kernel->extent[winograd.group[i]] != 1)
      return false;
  return true;
}

/*===-- The product -------------------------------------------------------===*/

static int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

/* An odd number of cache lines: rows of it spread over all sets. */
static int64_t odd_lines(int64_t elements, int64_t nbytes) {
  return (ceil_div(elements * nbytes, line_nbytes) | 1) * line_nbytes / nbytes;
}

enum { ELEMENT, PANEL, FEATURE, TILE, CHANNEL, PRODUCT_LOOPS };

static void set_access(struct tg_access *access, int rank, const int *loops,
                       const int64_t *extents) {
  access->rank = rank;
  for (int d = 0; d < rank; ++d) {
    access->extent[d] = extents[d];
    access->coefficient[d][loops[d]] = 1;
  }
}

static void make_product_kernel(const struct tg_winograd *w,
                                enum tg_element element,
                                struct tg_kernel *kernel) {
  memset(kernel, 0, sizeof(*kernel));
  int64_t elements = w->input * w->input;
  kernel->loop_count = PRODUCT_LOOPS;
  kernel->element = element;
  kernel->init_is_zero = true;
  kernel->reduction[CHANNEL] = true;
  const int64_t extents[] = {elements, w->panels, w->panel, w->block_tiles,
                             w->channels};
  memcpy(kernel->extent, extents, sizeof(extents));
  const int64_t image[] = {elements, w->image_rows, w->image_stride};
  const int by_column[] = {ELEMENT, CHANNEL, TILE};
  const int by_channel[] = {ELEMENT, TILE, CHANNEL};
  set_access(&kernel->operand[TG_LHS], 3,
             w->image_by_column ? by_column : by_channel, image);
  const int filter[] = {ELEMENT, PANEL, CHANNEL, FEATURE};
  const int64_t filter_extents[] = {elements, w->panels, w->channels, w->panel};
  set_access(&kernel->operand[TG_RHS], 4, filter, filter_extents);
  const int tiles_last[] = {ELEMENT, PANEL, FEATURE, TILE};
  const int64_t tiles_last_extents[] = {elements, w->panels, w->panel,
                                        w->result_stride};
  const int features_last[] = {ELEMENT, TILE, PANEL, FEATURE};
  const int64_t features_last_extents[] = {elements, w->block_tiles, w->panels,
                                           w->panel};
  set_access(&kernel->operand[TG_RESULT], 4,
             w->result_by_column ? tiles_last : features_last,
             w->result_by_column ? tiles_last_extents : features_last_extents);
}

/* The loops as they are: merged ones would have other roles. */
static void make_canonical(const struct tg_kernel *kernel,
                           struct tg_canonical *canonical) {
  memset(canonical, 0, sizeof(*canonical));
  canonical->kernel = *kernel;
  for (int l = 0; l < kernel->loop_count; ++l) {
    canonical->loop_of[l] = canonical->loop_first[l] = l;
    canonical->loop_size[l] = 1;
  }
  for (int o = 0; o < TG_OPERAND_COUNT; ++o) {
    canonical->source_rank[o] = kernel->operand[o].rank;
    for (int d = 0; d < kernel->operand[o].rank; ++d)
      canonical->group[o][d] = d;
  }
}

static const char *make_product(const struct tg_plan *plan,
                                const struct tg_target *target,
                                struct tg_winograd *w) {
  struct tg_kernel kernel;
  struct tg_canonical canonical;
  make_product_kernel(w, plan->canonical.kernel.element, &kernel);
  make_canonical(&kernel, &canonical);
  struct tg_config config = {{0}};
  int32_t *knob = config.knob;
  knob[TG_KNOB_tiled] = 1;
  knob[TG_KNOB_vector_loop] = w->result_by_column ? TILE : FEATURE;
  knob[TG_KNOB_row_loop] = w->result_by_column ? FEATURE : TILE;
  knob[TG_KNOB_vectors] = (int32_t)plan->vectors;
  knob[TG_KNOB_rows] = (int32_t)plan->rows;
  knob[TG_KNOB_unroll] = (int32_t)plan->unroll;
  /* A block of one tile's width brings the panels of features inside. */
  if (w->result_by_column && !plan->vectors_inner &&
      plan->width < w->block_tiles)
    knob[TG_KNOB_block_vector] = (int32_t)plan->width;
  return tg_plan_make_canonical(&canonical, &config, target, &w->product);
}

/* What follows from the plan; its roles and sizes are checked already. */
static const char *describe(const struct tg_plan *plan,
                            const struct tg_target *target,
                            struct tg_winograd *w) {
  const char *fault = tg_winograd_match(&plan->canonical.kernel, w);
  if (fault)
    return fault;
  int64_t nbytes = tg_kernel_element_nbytes(&plan->canonical.kernel);
  w->output = plan->winograd;
  w->input = w->output + TG_WINOGRAD_WINDOW - 1;
  w->tile_rows = ceil_div(w->height, w->output);
  w->tile_columns = ceil_div(w->width, w->output);
  int64_t block = w->result_by_column ? plan->block_vector : plan->block_rows;
  w->block_rows = block / w->tile_columns;
  w->block_tiles = w->block_rows * w->tile_columns;
  w->panel = w->result_by_column ? plan->rows : plan->width;
  w->panels = ceil_div(w->features, w->panel);
  /* A vector of tiles may reach beyond the end of its row of tiles. */
  int64_t written = (w->block_rows - 1) * w->tile_columns +
                    ceil_div(w->tile_columns, plan->lanes) * plan->lanes;
  w->image_stride =
      odd_lines(w->image_by_column ? written : w->channels, nbytes);
  w->image_rows = w->image_by_column ? w->channels | 1 : w->block_tiles;
  w->result_stride = odd_lines(w->block_tiles, nbytes);
  return make_product(plan, target, w);
}

/*===-- Plans -------------------------------------------------------------===*/

static const char *check_knobs(const struct tg_config *config) {
  const int32_t *knob = config->knob;
  if (knob[TG_KNOB_tiled] != 1 ||
      (knob[TG_KNOB_winograd] != 2 && knob[TG_KNOB_winograd] != 4))
    return "winograd is 0, 2 or 4";
  if (knob[TG_KNOB_vectors] < 1 || knob[TG_KNOB_vectors] > 256 ||
      knob[TG_KNOB_rows] < 1 || knob[TG_KNOB_rows] > 256 ||
      knob[TG_KNOB_unroll] < 1)
    return "register_vectors, register_rows and unroll are at least 1, and "
           "with winograd at most 256";
  if (knob[TG_KNOB_order] != 0 && knob[TG_KNOB_order] != 1)
    return "a flag is neither 0 nor 1";
  if (knob[TG_KNOB_flatten] || knob[TG_KNOB_pack_lhs] ||
      knob[TG_KNOB_pack_rhs] || knob[TG_KNOB_pack_result])
    return "winograd lays out its operands itself: nothing to pack";
  if (knob[TG_KNOB_block_reduction])
    return "winograd takes all channels at once: cache_reduction is 0";
  return NULL;
}

/* The tiles follow the result's contiguous loop, the features the other one;
 * blocks are whole rows of tiles. */
static const char *assign(const struct tg_config *config,
                          const struct tg_winograd *w, struct tg_plan *plan) {
  const int32_t *knob = config->knob;
  bool by_column = w->result_by_column;
  int vector = by_column ? w->column : w->feature;
  int row = by_column ? w->feature : w->column;
  if (knob[TG_KNOB_vector_loop] != vector || knob[TG_KNOB_row_loop] != row)
    return by_column ? "with winograd vectors run along the tiles of the "
                       "image and rows along the filters"
                     : "with winograd vectors run along the filters and rows "
                       "along the tiles of the image";
  int32_t tiles = knob[by_column ? TG_KNOB_block_vector : TG_KNOB_block_rows];
  int32_t other = knob[by_column ? TG_KNOB_block_rows : TG_KNOB_block_vector];
  int64_t columns = ceil_div(w->width, plan->winograd);
  int64_t all = columns * ceil_div(w->height, plan->winograd);
  if (other)
    return "with winograd only the loop of tiles has a cache block";
  if (tiles < 0 || (tiles && tiles < all && tiles % columns))
    return "with winograd a cache block is whole rows of tiles";
  if (!by_column && knob[TG_KNOB_order])
    return "with winograd rows are innermost where features are contiguous";
  int64_t block = tiles && tiles < all ? tiles : all;
  plan->vector_loop = vector;
  plan->row_loop = row;
  plan->vector_extent = by_column ? all : w->features;
  plan->row_extent = by_column ? w->features : all;
  plan->block_vector = by_column ? block : w->features;
  plan->block_rows = by_column ? w->features : block;
  return NULL;
}

static const char *check_sizes(const struct tg_plan *plan) {
  if (plan->rows > plan->row_extent)
    return "register_rows exceeds the row loop";
  if (plan->lanes * (plan->vectors - 1) >= plan->vector_extent)
    return "the tile is wider than the vector loop";
  return NULL;
}

const char *tg_winograd_plan(const struct tg_canonical *canonical,
                             const struct tg_config *config,
                             const struct tg_target *target,
                             struct tg_plan *plan) {
  const int32_t *knob = config->knob;
  const char *fault = check_knobs(config);
  if (fault)
    return fault;
  memset(plan, 0, sizeof(*plan));
  plan->canonical = *canonical;
  plan->gathered = -1;
  plan->winograd = knob[TG_KNOB_winograd];
  plan->lanes = target->vector_bits / 8 /
                tg_kernel_element_nbytes(&plan->canonical.kernel);
  plan->vectors = knob[TG_KNOB_vectors];
  plan->width = plan->lanes * plan->vectors;
  plan->rows = knob[TG_KNOB_rows];
  plan->unroll = knob[TG_KNOB_unroll];
  plan->vectors_inner = knob[TG_KNOB_order] != 0;
  /* The sum is made at once: the result is stored once. */
  plan->reduction_extent = plan->block_reduction = 1;
  plan->reduction_rest = plan->outer_rows = 1;
  struct tg_winograd w;
  if (plan->lanes < 2)
    return "the machine's vectors are too narrow for the element type";
  if ((fault = tg_winograd_match(&canonical->kernel, &w)) ||
      (fault = assign(config, &w, plan)) || (fault = check_sizes(plan)))
    return fault;
  return describe(plan, target, &w);
}

void tg_winograd_describe(const struct tg_plan *plan,
                          struct tg_winograd *winograd) {
  /* Registers were counted when the plan was made. */
  struct tg_target target = {
      .vector_bits =
          plan->lanes * 8 * tg_kernel_element_nbytes(&plan->canonical.kernel),
      .vector_registers = INT32_MAX};
  const char *fault = describe(plan, &target, winograd);
  assert(!fault);
  (void)fault;
}
