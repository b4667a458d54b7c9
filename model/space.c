/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Which configurations an operation has: the lists of values that are tried
 * for each knob, their legal combinations, and samples of them.
 *
 * The space is a list of shapes (which loops make the register tile, what is
 * packed) times lists of sizes that depend on the shape.
 */
#include "model/space.h"

#include <stdlib.h>
#include <string.h>

#include "model/cost.h"
#include "model/random.h"

const char *const tg_config_names[TG_CONFIG_NAMED_COUNT] = {"stock",
                                                            "analytic"};

enum { MAX_SHAPES = 64, MAX_VALUES = 8, MAX_ROWS = 31, MAX_TILE_STEPS = 400 };

struct values {
  int count;
  int32_t value[MAX_VALUES];
};

static void add_value(struct values *values, int64_t value) {
  for (int i = 0; i < values->count; ++i)
    if (values->value[i] == value)
      return;
  if (values->count < MAX_VALUES && value >= 0 && value <= INT32_MAX)
    values->value[values->count++] = (int32_t)value;
}

/*===-- Shapes ------------------------------------------------------------===*/

struct shapes {
  int count;
  struct tg_config config[MAX_SHAPES]; /* with the smallest register tile */
};

/* Could the loop be the rows of a tile? Rows that both inputs follow would
 * share nothing. */
static bool can_be_rows(const struct tg_kernel *kernel, int loop) {
  return !kernel->reduction[loop] && !(tg_kernel_uses(kernel, TG_LHS, loop) &&
                                       tg_kernel_uses(kernel, TG_RHS, loop));
}

static bool has_rows_beside(const struct tg_kernel *kernel, int vector_loop) {
  for (int l = 0; l < kernel->loop_count; ++l)
    if (l != vector_loop && can_be_rows(kernel, l))
      return true;
  return false;
}

static void add_shapes_of_loops(const struct tg_canonical *canonical,
                                const struct tg_target *target, int vector_loop,
                                int row_loop, struct shapes *shapes) {
  for (int bits = 0; bits < 16; ++bits) {
    struct tg_config config = {{0}};
    int32_t *knob = config.knob;
    knob[TG_KNOB_tiled] = 1;
    knob[TG_KNOB_vector_loop] = vector_loop;
    knob[TG_KNOB_row_loop] = row_loop;
    knob[TG_KNOB_flatten] = bits >> 3 & 1;
    knob[TG_KNOB_pack_result] = bits >> 2 & 1;
    knob[TG_KNOB_pack_rhs] = bits >> 1 & 1;
    knob[TG_KNOB_pack_lhs] = bits & 1;
    knob[TG_KNOB_vectors] = knob[TG_KNOB_rows] = knob[TG_KNOB_unroll] = 1;
    struct tg_plan plan;
    if (shapes->count < MAX_SHAPES &&
        !tg_plan_make_canonical(canonical, &config, target, &plan))
      shapes->config[shapes->count++] = config;
  }
}

/* Is the copy of the packed operand small beside the work? */
static bool is_narrow(const struct tg_plan *plan) {
  int packed = plan->packed[TG_LHS] ? TG_LHS : TG_RHS;
  int64_t packing = tg_plan_packed_elements(plan, packed);
  return (double)packing * 32 <= tg_kernel_flops(&plan->canonical.kernel) &&
         plan->row_extent <= 2 * plan->lanes;
}

/* Dot products: vectors along a reduction, rows along the loop that the result
 * is contiguous in. */
static void add_dot_shapes(const struct tg_canonical *canonical,
                           const struct tg_target *target, int vector_loop,
                           struct shapes *shapes) {
  for (int i = 0; i < 3 * canonical->kernel.loop_count; ++i) {
    struct tg_config config = {{0}};
    int32_t *knob = config.knob;
    int r = i / 3;
    knob[TG_KNOB_pack_lhs] = i % 3 == 1;
    knob[TG_KNOB_pack_rhs] = i % 3 == 2;
    knob[TG_KNOB_tiled] = 1;
    knob[TG_KNOB_vector_loop] = vector_loop;
    knob[TG_KNOB_row_loop] = r;
    knob[TG_KNOB_vectors] = knob[TG_KNOB_rows] = knob[TG_KNOB_unroll] = 1;
    struct tg_plan plan;
    if (shapes->count < MAX_SHAPES &&
        !tg_plan_make_canonical(canonical, &config, target, &plan) &&
        (i % 3 == 0 || is_narrow(&plan)))
      shapes->config[shapes->count++] = config;
  }
}

static void find_shapes(const struct tg_canonical *canonical,
                        const struct tg_target *target, struct shapes *shapes) {
  const struct tg_kernel *kernel = &canonical->kernel;
  shapes->count = 0;
  for (int v = 0; v < kernel->loop_count; ++v) {
    if (kernel->reduction[v]) {
      add_dot_shapes(canonical, target, v, shapes);
      continue;
    }
    /* A tile of one row is for operations that have no second loop. */
    if (!has_rows_beside(kernel, v))
      add_shapes_of_loops(canonical, target, v, TG_NO_LOOP, shapes);
    for (int r = 0; r < kernel->loop_count; ++r)
      if (r != v && can_be_rows(kernel, r))
        add_shapes_of_loops(canonical, target, v, r, shapes);
  }
}

/*===-- Sizes -------------------------------------------------------------===*/

static int64_t round_to(int64_t value, int64_t multiple) {
  int64_t rounded = (value + multiple / 2) / multiple * multiple;
  return rounded < multiple ? multiple : rounded;
}

static int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

/* Columns of a dot product, or the partial sums of each row. */
static void dot_vector_values(const struct tg_plan *shape,
                              struct values *values) {
  static const int32_t columns[] = {1, 2, 3, 4}, parts[] = {1, 2, 4, 8};
  bool single = shape->column_loop == TG_NO_LOOP;
  int64_t along = shape->canonical.kernel.extent[shape->vector_loop];
  int64_t most = single ? ceil_div(along, shape->lanes) : shape->vector_extent;
  for (int i = 0; i < 4; ++i)
    if ((single ? parts[i] : columns[i]) <= most)
      add_value(values, single ? parts[i] : columns[i]);
}

static void vector_values(const struct tg_plan *shape, struct values *values) {
  values->count = 0;
  if (shape->dot) {
    dot_vector_values(shape, values);
    return;
  }
  for (int vectors = 1; vectors <= 4; ++vectors)
    if (shape->lanes * (vectors - 1) < shape->vector_extent)
      add_value(values, vectors);
  /* A single row needs its independent sums from the vectors alone. */
  for (int vectors = 6; vectors <= 8 && shape->row_extent == 1; vectors += 2)
    if (shape->lanes * (vectors - 1) < shape->vector_extent)
      add_value(values, vectors);
}

/* As many rows as the registers hold, the largest divisors of the loop below
 * that, and small tiles. */
static void row_values(const struct tg_plan *shape,
                       const struct tg_target *target, int64_t vectors,
                       struct values *values) {
  values->count = 0;
  int64_t most = (target->vector_registers - 1 - vectors) / vectors;
  if (most < 1) /* not even one row has registers */
    return;
  most = most < MAX_ROWS ? most : MAX_ROWS;
  most = most < shape->row_extent ? most : shape->row_extent;
  if (shape->dot && most > shape->lanes)
    most = shape->lanes;
  int divisors = 0;
  for (int64_t rows = most; rows > 1 && divisors < 2; --rows)
    if (shape->row_extent % rows == 0 && 2 * rows >= most) {
      add_value(values, rows);
      divisors++;
    }
  add_value(values, most);
  for (int64_t rows = 4; rows < most && rows <= 8; rows += 2)
    add_value(values, rows);
  for (int64_t rows = 1; shape->dot && rows < most && rows <= 2; ++rows)
    add_value(values, rows);
}

/* Vectors of a dot product's reduction in one body. */
static void dot_unroll_values(const struct tg_plan *shape, int64_t tile,
                              struct values *values) {
  int64_t along = shape->canonical.kernel.extent[shape->vector_loop];
  for (int64_t unroll = 1; unroll <= 4; unroll *= 2)
    if (unroll == 1 || (unroll * tile <= 32 && unroll * shape->lanes <= along))
      add_value(values, unroll);
}

/* Does an input follow vectors and rows, as a depthwise image does? */
static bool shares_nothing(const struct tg_plan *shape) {
  for (int o = 0; o < TG_RESULT; ++o)
    if (shape->follows_vector[o] && shape->follows_row[o])
      return true;
  return false;
}

/* Whole inner reduction loops where they are small, else 4 or 8 steps. */
static void unroll_values(const struct tg_plan *shape, int64_t tile,
                          struct values *values) {
  const struct tg_kernel *kernel = &shape->canonical.kernel;
  values->count = 0;
  if (shape->dot) {
    dot_unroll_values(shape, tile, values);
    return;
  }
  /* Rows of a depthwise window share what they load in one body. */
  int64_t product = 1, most = shares_nothing(shape) ? 49 : 16;
  if (shape->reduction_count <= 1) {
    for (int64_t unroll = 4; unroll <= 8; unroll *= 2)
      if (unroll * tile <= MAX_TILE_STEPS)
        add_value(values, unroll);
  } else {
    for (int i = shape->reduction_count - 1; i >= 0; --i) {
      product *= kernel->extent[shape->reduction[i]];
      if (product > most || product * tile > MAX_TILE_STEPS)
        break;
      add_value(values, product);
    }
  }
  if (!values->count)
    add_value(values, shape->reduction_count <= 1 ? 4 : 1);
}

static void block_values(int64_t extent, int64_t step, int64_t small,
                         int64_t large, struct values *values) {
  values->count = 0;
  add_value(values, 0);
  if (round_to(small, step) < extent)
    add_value(values, round_to(small, step));
  if (large && round_to(large, step) < extent)
    add_value(values, round_to(large, step));
}

/* Even pieces of the reduction, about 512 and 192 steps deep. */
static void reduction_values(const struct tg_plan *shape,
                             struct values *values) {
  static const int64_t depths[] = {512, 192};
  values->count = 0;
  add_value(values, 0);
  if (shape->dot)
    return;
  /* A matrix that is read once, whole rows of it after each other. */
  if (shape->row_extent == 1 && shape->reduction_count == 1 &&
      shape->reduction_extent > 16)
    add_value(values, 4);
  int64_t total = shape->reduction_extent * shape->reduction_rest;
  for (size_t i = 0; i < sizeof(depths) / sizeof(depths[0]); ++i) {
    int64_t pieces = ceil_div(total, depths[i]);
    int64_t block = ceil_div(shape->reduction_extent, pieces);
    if (shape->reduction_count == 1)
      block = (block + 7) / 8 * 8;
    if (pieces > 1 && block < shape->reduction_extent)
      add_value(values, block);
  }
}

/* Everything but the register tile, for one register tile. */
struct sizes {
  struct values unroll, block_vector, block_rows, block_reduction, order;
};

static void find_sizes(const struct tg_plan *shape, int64_t vectors,
                       int64_t rows, struct sizes *sizes) {
  int64_t width = vectors * shape->lanes;
  if (shape->dot)
    width = shape->column_loop == TG_NO_LOOP ? 1 : vectors;
  unroll_values(shape, rows * vectors, &sizes->unroll);
  if (shape->dot) {
    sizes->block_vector.count = 0;
    add_value(&sizes->block_vector, 0);
  } else {
    block_values(shape->vector_extent, width, width, 256, &sizes->block_vector);
  }
  block_values(shape->row_extent, rows, 96, 0, &sizes->block_rows);
  reduction_values(shape, &sizes->block_reduction);
  sizes->order.count = 0;
  add_value(&sizes->order, 0);
  if (shape->row_extent > rows && shape->vector_extent > width)
    add_value(&sizes->order, 1);
}

/*===-- Enumeration -------------------------------------------------------===*/

struct list {
  struct tg_arena *arena;
  struct tg_config *configs;
  size_t count, capacity;
  bool failed;
};

static void append(struct list *list, const struct tg_config *config) {
  if (list->count == list->capacity) {
    size_t capacity = list->capacity ? 2 * list->capacity : 512;
    struct tg_config *grown =
        tg_arena_alloc(list->arena, capacity, sizeof(*grown));
    if (!grown) {
      list->failed = true;
      return;
    }
    if (list->count)
      memcpy(grown, list->configs, list->count * sizeof(*grown));
    list->configs = grown;
    list->capacity = capacity;
  }
  list->configs[list->count++] = *config;
}

static void append_sizes(struct list *list, struct tg_config config,
                         const struct tg_canonical *canonical,
                         const struct tg_target *target,
                         const struct sizes *sizes) {
  int32_t *knob = config.knob;
  struct tg_plan plan;
  for (int u = 0; u < sizes->unroll.count; ++u)
    for (int v = 0; v < sizes->block_vector.count; ++v)
      for (int r = 0; r < sizes->block_rows.count; ++r)
        for (int k = 0; k < sizes->block_reduction.count; ++k)
          for (int o = 0; o < sizes->order.count; ++o) {
            knob[TG_KNOB_unroll] = sizes->unroll.value[u];
            knob[TG_KNOB_block_vector] = sizes->block_vector.value[v];
            knob[TG_KNOB_block_rows] = sizes->block_rows.value[r];
            knob[TG_KNOB_block_reduction] = sizes->block_reduction.value[k];
            knob[TG_KNOB_order] = sizes->order.value[o];
            if (!tg_plan_make_canonical(canonical, &config, target, &plan))
              append(list, &config);
          }
}

static void append_shape(struct list *list, const struct tg_config *shape,
                         const struct tg_canonical *canonical,
                         const struct tg_target *target) {
  struct tg_plan plan;
  if (tg_plan_make_canonical(canonical, shape, target, &plan))
    return;
  struct values vectors, rows;
  struct sizes sizes;
  vector_values(&plan, &vectors);
  for (int v = 0; v < vectors.count; ++v) {
    row_values(&plan, target, vectors.value[v], &rows);
    for (int r = 0; r < rows.count; ++r) {
      struct tg_config config = *shape;
      config.knob[TG_KNOB_vectors] = vectors.value[v];
      config.knob[TG_KNOB_rows] = rows.value[r];
      find_sizes(&plan, vectors.value[v], rows.value[r], &sizes);
      append_sizes(list, config, canonical, target, &sizes);
    }
  }
}

static void enumerate_tiled(const struct tg_canonical *canonical,
                            const struct tg_target *target, struct list *list) {
  struct shapes shapes;
  find_shapes(canonical, target, &shapes);
  for (int i = 0; i < shapes.count; ++i)
    append_shape(list, &shapes.config[i], canonical, target);
}

/* The analytic rule: the member of the space that cost.c expects to be the
 * fastest; of equals the first. Returns its index, or -1 for an empty list. */
static ptrdiff_t find_analytic(const struct tg_canonical *canonical,
                               const struct tg_target *target,
                               const struct list *list) {
  ptrdiff_t best = -1;
  double best_cycles = 0;
  for (size_t i = 0; i < list->count; ++i) {
    struct tg_plan plan;
    if (tg_plan_make_canonical(canonical, &list->configs[i], target, &plan))
      continue;
    double cycles = tg_plan_cycles(&plan, target);
    if (best < 0 || cycles < best_cycles) {
      best = (ptrdiff_t)i;
      best_cycles = cycles;
    }
  }
  return best;
}

bool tg_space_enumerate(const struct tg_kernel *kernel,
                        const struct tg_target *target, struct tg_arena *arena,
                        struct tg_space *space) {
  struct tg_canonical canonical;
  tg_canonicalize(kernel, &canonical);
  struct list list = {.arena = arena};
  struct tg_config stock = {{0}};
  append(&list, &stock);
  append(&list, &stock); /* the analytic rule's place */
  enumerate_tiled(&canonical, target, &list);
  if (list.failed)
    return false;
  struct list tiled = list;
  tiled.configs += TG_CONFIG_NAMED_COUNT;
  tiled.count -= TG_CONFIG_NAMED_COUNT;
  ptrdiff_t analytic = find_analytic(&canonical, target, &tiled);
  space->configs = list.configs;
  if (analytic < 0) {
    space->count = 1;
    return true;
  }
  list.configs[TG_CONFIG_ANALYTIC] = tiled.configs[analytic];
  tiled.configs[analytic] = tiled.configs[tiled.count - 1];
  space->count = list.count - 1;
  return true;
}

bool tg_analytic_choice(const struct tg_kernel *kernel,
                        const struct tg_target *target,
                        struct tg_config *config) {
  struct tg_arena *arena = tg_arena_create();
  struct tg_space space = {0, NULL};
  bool found = arena && tg_space_enumerate(kernel, target, arena, &space) &&
               space.count > TG_CONFIG_ANALYTIC;
  if (found)
    *config = space.configs[TG_CONFIG_ANALYTIC];
  tg_arena_destroy(arena);
  return found;
}

/*===-- Samples -----------------------------------------------------------===*/

static int knob_distance(const struct tg_config *a, const struct tg_config *b) {
  int distance = 0;
  for (int k = 0; k < TG_KNOB_COUNT; ++k)
    distance += a->knob[k] != b->knob[k];
  return distance;
}

/* Moves `count` members of [first, end) that fit to its front, in random
 * order. Returns how many there were. */
static size_t draw(struct tg_config *configs, size_t first, size_t end,
                   size_t count, const struct tg_config *near, int max_distance,
                   uint64_t *state) {
  size_t kept = first;
  for (size_t i = first; i < end; ++i) {
    size_t j = i + (size_t)(tg_random_next(state) % (end - i));
    struct tg_config picked = configs[j];
    configs[j] = configs[i];
    configs[i] = picked;
    if (kept - first == count)
      break;
    if (near && knob_distance(&picked, near) > max_distance)
      continue;
    configs[i] = configs[kept];
    configs[kept++] = picked;
  }
  return kept - first;
}

static int compare_ranked(const void *a, const void *b) {
  double x = ((const double *)a)[0], y = ((const double *)b)[0];
  return (x > y) - (x < y);
}

/* Moves the `count` configurations of the lowest expected cost to the front
 * of [first, end). */
static size_t draw_cheapest(const struct tg_kernel *kernel,
                            const struct tg_target *target,
                            struct tg_arena *arena, struct tg_config *configs,
                            size_t first, size_t end, size_t count) {
  size_t total = end - first;
  double *ranked = tg_arena_alloc(arena, total ? total : 1, 2 * sizeof(double));
  struct tg_config *copy =
      tg_arena_alloc(arena, total ? total : 1, sizeof(*copy));
  if (!ranked || !copy)
    return 0;
  struct tg_canonical canonical;
  tg_canonicalize(kernel, &canonical);
  for (size_t i = 0; i < total; ++i) {
    struct tg_plan plan;
    copy[i] = configs[first + i];
    tg_plan_make_canonical(&canonical, &copy[i], target, &plan);
    ranked[2 * i] = tg_plan_cycles(&plan, target);
    ranked[2 * i + 1] = (double)i;
  }
  qsort(ranked, total, 2 * sizeof(double), compare_ranked);
  for (size_t i = 0; i < total; ++i)
    configs[first + i] = copy[(size_t)ranked[2 * i + 1]];
  return count < total ? count : total;
}

bool tg_space_cheapest(const struct tg_kernel *kernel,
                       const struct tg_target *target, size_t count,
                       struct tg_arena *arena, struct tg_space *space) {
  if (!tg_space_enumerate(kernel, target, arena, space))
    return false;
  size_t named = TG_CONFIG_NAMED_COUNT;
  if (space->count <= count || count < named)
    return true;
  space->count = named + draw_cheapest(kernel, target, arena, space->configs,
                                       named, space->count, count - named);
  return true;
}

bool tg_space_sample(const struct tg_kernel *kernel,
                     const struct tg_target *target, uint64_t seed,
                     size_t count, struct tg_arena *arena,
                     struct tg_space *sample) {
  if (!tg_space_enumerate(kernel, target, arena, sample))
    return false;
  size_t end = sample->count;
  if (end <= count || end <= TG_CONFIG_NAMED_COUNT)
    return true;
  uint64_t state = seed ^ tg_kernel_hash(kernel);
  size_t taken = TG_CONFIG_NAMED_COUNT;
  size_t wanted = count > taken ? count - taken : 0;
  /* Pure chance finds few good ones: a third by expected cost, a third
   * neighbours of the analytic choice, the rest anything. */
  taken += draw_cheapest(kernel, target, arena, sample->configs, taken, end,
                         wanted / 3);
  taken += draw(sample->configs, taken, end, wanted / 3,
                &sample->configs[TG_CONFIG_ANALYTIC], 2, &state);
  taken += draw(sample->configs, taken, end, count > taken ? count - taken : 0,
                NULL, 0, &state);
  sample->count = taken;
  return true;
}
