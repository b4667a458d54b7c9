/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The facts about a plan and the estimate made of them. The constants are
 * cycles and bytes per cycle of recent x86 cores, the same for every target:
 * only the target's columns tell machines apart.
 */
#include "model/cost.h"

#include <math.h>
#include <string.h>

#include "model/winograd.h"

const char *const tg_feature_names[TG_FEATURE_COUNT] = {
#define FEATURE(name, unit, doc, expression) #name,
#include "model/features.def"
};

const char *const tg_feature_formulas[TG_FEATURE_COUNT] = {
#define FEATURE(name, unit, doc, expression) #expression,
#include "model/features.def"
};

/* Cycles an element for the ways of copying, in registers and L1. */
static const double copy_contiguous = 0.25;
static const double copy_transposed = 0.45;
static const double copy_gathered = 1.6;
static const double copy_single = 1.8;
static const double transpose_result = 0.35;
/* Sustained bytes a cycle from a level, and what of it a program may fill. */
static const double l2_rate = 24, l3_rate = 10, memory_rate = 5;
static const double usable = 0.75;
static const double unaligned = 1.4;   /* loads of a vector that may be split */
static const double gap_shuffle = 1.1; /* cycles */
static const double extend = 0.7;      /* cycles of a vector or a broadcast */
static const double fma_latency = 4.5;
static const double spill_cycles = 1.2; /* a reduction step, each */
static const double tile_window = 160;  /* multiplications that are in flight */
static const double store_forwarding = 6;
/* A window's vector that found no register, a reduction step. */
static const double reread_256 = 0.17, reread_512 = 0.4;
static const double reread_most = 0.75; /* of the multiplications' cycles */
static const int64_t short_reduction = 64, short_window = 16;
static const double tile_overhead = 12; /* loop and address set-up */
/* Adding up the lanes of a row, and of all rows in the end. */
static const double column_walk = 1.25;
static const double row_stream = 0.35; /* a line of several rows at once */
static const double sum_lanes = 2.5, sum_column = 10;

static double max2(double a, double b) { return a > b ? a : b; }
static double min2(double a, double b) { return a < b ? a : b; }
static double ceil_div(double a, double b) { return ceil(a / b); }

/* Bytes a cycle at which a working set of this size is read again. */
static double read_rate(double nbytes, const struct tg_target *target) {
  if (nbytes <= usable * (double)target->l1_nbytes)
    return 1e9; /* counted as loads */
  if (nbytes <= usable * (double)target->l2_nbytes)
    return l2_rate;
  return nbytes <= usable * (double)target->l3_nbytes ? l3_rate : memory_rate;
}

/* Steps of the reduction from the loop inwards. */
static int64_t steps_from(const struct tg_plan *plan, int loop) {
  int64_t steps = 1;
  for (int i = plan->reduction_count - 1; i >= 0; --i) {
    steps *= plan->canonical.kernel.extent[plan->reduction[i]];
    if (plan->reduction[i] == loop)
      break;
  }
  return steps;
}

/* Does the next row read at this step what the row reads a few positions of
 * the window loop later? */
static bool slides(const struct tg_plan *plan, int operand, int window_loop) {
  const struct tg_kernel *kernel = &plan->canonical.kernel;
  if (plan->row_loop == TG_NO_LOOP || plan->packed[operand] ||
      !plan->follows_row[operand])
    return false;
  /* The compiler sees that only where the positions are in one body; a short
   * loop of broadcasts it unrolls itself. */
  int64_t body = plan->follows_vector[operand] ? plan->unroll : short_window;
  if (body < steps_from(plan, window_loop))
    return false;
  int64_t row = tg_kernel_stride(kernel, operand, plan->row_loop);
  int64_t window = tg_kernel_stride(kernel, operand, window_loop);
  return window && row % window == 0 &&
         row / window < kernel->extent[window_loop];
}

/* Share of the loads that are left when rows slide along a window: a vector
 * that one row loads, another row uses at the next position. */
static double shared_loads(const struct tg_plan *plan, int operand,
                           double rows) {
  const struct tg_kernel *kernel = &plan->canonical.kernel;
  for (int i = 0; i < plan->reduction_count; ++i) {
    double extent = (double)kernel->extent[plan->reduction[i]];
    if (slides(plan, operand, plan->reduction[i]))
      return (rows + extent - 1) / (rows * extent);
  }
  return 1;
}

/* Loads of one unpacked vector. Where its elements have gaps, the pieces of a
 * row serve all positions of a window that is unrolled; shuffles come on top.
 */
static double unpacked_loads(const struct tg_plan *plan, int operand,
                             double vectors) {
  const struct tg_kernel *kernel = &plan->canonical.kernel;
  const struct tg_access *access = &kernel->operand[operand];
  double step = (double)tg_plan_step(plan, operand, plan->vector_loop);
  double taps = 1;
  if (step <= 1)
    return unaligned;
  for (int l = 0; l < kernel->loop_count; ++l)
    if (kernel->reduction[l] && access->coefficient[access->rank - 1][l] &&
        kernel->extent[l] <= plan->unroll)
      taps = (double)kernel->extent[l];
  double pieces = (step * vectors + (taps > 1)) / (taps * vectors);
  return pieces * unaligned;
}

/* Shuffles of vectors with gaps, which take the multiplications' ports. */
static double gap_cycles(const struct tg_plan *plan, double rows,
                         double vectors) {
  double shuffled = 0;
  for (int o = 0; o < TG_RESULT; ++o)
    if (plan->follows_vector[o] && !plan->packed[o] &&
        tg_plan_step(plan, o, plan->vector_loop) > 1)
      shuffled += plan->follows_row[o]
                      ? rows * shared_loads(plan, o, rows) * vectors
                      : vectors;
  return shuffled * gap_shuffle;
}

/* Loads of a reduction step of a tile: whole vectors, and elements to be
 * broadcast. An unpacked vector is aligned by luck only, and one of strided
 * elements takes as many loads and a shuffle each. */
static double vector_loads(const struct tg_plan *plan, double rows,
                           double vectors) {
  double loads = 0;
  for (int o = 0; o < TG_RESULT; ++o) {
    if (!plan->follows_vector[o])
      continue;
    double each = plan->packed[o] ? 1 : unpacked_loads(plan, o, vectors);
    if (plan->follows_row[o])
      each *= rows * shared_loads(plan, o, rows);
    loads += each * vectors;
  }
  return loads;
}

static double element_loads(const struct tg_plan *plan, double rows) {
  double loads = 0;
  for (int o = 0; o < TG_RESULT; ++o)
    if (!plan->follows_vector[o])
      loads += plan->follows_row[o] ? rows : 1;
  return loads;
}

/* What rows that slide along reduction loop i keep for its next position: all
 * that the loops inside of it read for the rows that go on. */
static double kept_by(const struct tg_plan *plan, int operand, int i,
                      double rows, double vectors) {
  if (!plan->follows_vector[operand])
    return rows;
  double inside = 1;
  for (int j = i + 1; j < plan->reduction_count; ++j)
    inside *= (double)plan->canonical.kernel.extent[plan->reduction[j]];
  return (inside > 1 ? (rows - 1) * inside : rows) * vectors;
}

/* The same of the operand's window; of none 0. */
static double kept_registers(const struct tg_plan *plan, int operand,
                             double rows, double vectors) {
  for (int i = 0; i < plan->reduction_count; ++i)
    if (slides(plan, operand, plan->reduction[i]))
      return kept_by(plan, operand, i, rows, vectors);
  return 0;
}

/*
 * Registers that a body needs, accumulators included. Where rows slide along
 * a window, the compiler unrolls it and keeps what the next position needs
 * again: one more register a row; vectors that it keeps are counted apart, as
 * they may as well be read again. A short reduction is unrolled whole and
 * leaves less room for the accumulators.
 */
static double live_registers(const struct tg_plan *plan, double rows,
                             double vectors) {
  const struct tg_kernel *kernel = &plan->canonical.kernel;
  int64_t lanes_nbytes = plan->lanes * tg_kernel_element_nbytes(kernel);
  /* An element takes a register on its way, two where it can't be an operand
   * of the multiplication (before AVX-512). */
  double live = rows * vectors + vectors + (lanes_nbytes >= 64 ? 1 : 2);
  for (int o = 0; o < TG_RESULT; ++o)
    if (!plan->follows_vector[o])
      live += kept_registers(plan, o, rows, vectors);
  if (lanes_nbytes >= 64 && plan->reduction_count == 1 &&
      kernel->extent[plan->reduction[0]] <= short_reduction)
    live += 4;
  return live;
}

/* Vectors of a reduction step of a dot product, each of `lanes` elements. Rows
 * that aren't whole vectors apart cross cache lines. */
static double dot_loads(const struct tg_plan *plan, double rows,
                        double columns) {
  const struct tg_kernel *kernel = &plan->canonical.kernel;
  double loads = 0;
  for (int o = 0; o < TG_RESULT; ++o) {
    double each = 1;
    if (plan->follows_row[o]) {
      int64_t apart = plan->packed[o]
                          ? kernel->extent[plan->vector_loop]
                          : tg_kernel_stride(kernel, o, plan->row_loop);
      each = rows * (apart % plan->lanes ? 1.4 : 1);
    }
    if (plan->column_loop != TG_NO_LOOP &&
        tg_kernel_uses(kernel, o, plan->column_loop))
      each *= columns;
    loads += each;
  }
  return loads;
}

/* Cycles of a reduction step of a dot product: a vector step has as many of
 * them as there are lanes, the last one perhaps fewer. */
static double dot_step_cycles(const struct tg_plan *plan,
                              const struct tg_target *target, double rows,
                              double columns) {
  double extent = (double)plan->canonical.kernel.extent[plan->vector_loop];
  double parts = plan->column_loop == TG_NO_LOOP ? (double)plan->vectors : 1;
  double wide = target->vector_bits > 256 ? 1.0 : 0.5;
  double fma = rows * columns / (double)target->fma_per_cycle;
  double loads = dot_loads(plan, rows, columns) * wide;
  double cycles = max2(max2(fma, loads), fma_latency / parts);
  return cycles * ceil_div(extent, (double)plan->lanes) / extent;
}

/* How long a sum waits for the step before: all of an addition, but where so
 * short a reduction lets the machine run several tiles at once. */
static double step_latency(const struct tg_plan *plan, double rows,
                           double vectors) {
  double steps = (double)plan->block_reduction * (double)plan->reduction_rest;
  return fma_latency * min2(1, steps * rows * vectors / tile_window);
}

/* Numbers that are extended as they are read, once more in each step. */
static double extension_cycles(const struct tg_plan *plan, double rows,
                               double vectors) {
  const struct tg_kernel *kernel = &plan->canonical.kernel;
  double cycles = 0;
  for (int o = 0; o < TG_RESULT; ++o)
    if (kernel->extension[o] != TG_EXTENSION_NONE && !plan->packed[o])
      cycles += extend * (plan->follows_row[o] ? rows : 1) *
                (plan->follows_vector[o] ? vectors : 1);
  return cycles;
}

/* Unaligned 512-bit loads are a cache line each, half of them two. */
static double step_cycles(const struct tg_plan *plan,
                          const struct tg_target *target, double rows,
                          double vectors) {
  if (plan->dot)
    return dot_step_cycles(plan, target, rows, vectors);
  double fma = rows * vectors / (double)target->fma_per_cycle +
               gap_cycles(plan, rows, vectors) +
               extension_cycles(plan, rows, vectors);
  double wide = target->vector_bits > 256 ? 1.0 : 0.5;
  double loads = vector_loads(plan, rows, vectors) * wide +
                 element_loads(plan, rows) * 0.5;
  double spilled =
      live_registers(plan, rows, vectors) - (double)target->vector_registers;
  double cycles = max2(max2(fma, step_latency(plan, rows, vectors)), loads);
  double kept = 0;
  for (int o = 0; o < TG_RESULT; ++o)
    if (plan->follows_vector[o])
      kept += kept_registers(plan, o, rows, vectors);
  double read_again = min2(kept, kept + spilled);
  if (read_again > 0)
    cycles += min2(read_again * (wide > 0.5 ? reread_512 : reread_256),
                   reread_most * fma);
  if (spilled <= 0)
    return cycles;
  /* A sum that lives in memory waits for its own store at every step. */
  return max2(cycles, fma_latency + store_forwarding) + spilled * spill_cycles;
}

/* Sum over full and partial tiles of f = cycles of a reduction step. */
static double all_tiles(const struct tg_plan *plan,
                        const struct tg_target *target) {
  double cycles = 0;
  int64_t v_full = plan->vector_extent / plan->width;
  int64_t v_rest = plan->vector_extent % plan->width;
  int64_t r_full = plan->row_extent / plan->rows;
  int64_t r_rest = plan->row_extent % plan->rows;
  double rest_vectors = plan->dot
                            ? (double)v_rest
                            : ceil_div((double)v_rest, (double)plan->lanes);
  double rows = (double)plan->rows;
  double vectors = plan->dot ? (double)plan->width : (double)plan->vectors;
  cycles +=
      (double)(v_full * r_full) * step_cycles(plan, target, rows, vectors);
  if (v_rest)
    cycles += (double)r_full * step_cycles(plan, target, rows, rest_vectors);
  if (r_rest)
    cycles +=
        (double)v_full * step_cycles(plan, target, (double)r_rest, vectors);
  if (v_rest && r_rest)
    cycles += step_cycles(plan, target, (double)r_rest, rest_vectors);
  return cycles;
}

static void count_work(const struct tg_plan *plan, struct tg_cost *cost) {
  const struct tg_kernel *kernel = &plan->canonical.kernel;
  cost->flops = tg_kernel_flops(kernel);
  cost->batches = 1;
  for (int i = 0; i < plan->batch_count; ++i)
    cost->batches *= (double)kernel->extent[plan->batch[i]];
  double reduction_blocks =
      ceil_div((double)plan->reduction_extent, (double)plan->block_reduction);
  cost->depth = (double)(plan->reduction_extent * plan->reduction_rest);
  cost->block_depth = (double)(plan->block_reduction * plan->reduction_rest);
  cost->vectors_total = (double)plan->vector_extent * cost->batches;
  cost->rows_total = (double)(plan->row_extent * plan->outer_rows);
  double v_tiles = ceil_div((double)plan->vector_extent, (double)plan->width);
  double r_tiles = ceil_div((double)plan->row_extent, (double)plan->rows);
  cost->tiles = v_tiles * r_tiles * cost->batches * (double)plan->outer_rows *
                reduction_blocks;
  double along = (double)kernel->extent[plan->vector_loop];
  cost->lane_use =
      along / (ceil_div(along, (double)plan->lanes) * (double)plan->lanes);
  cost->row_use = (double)(plan->row_extent / plan->rows * plan->rows) /
                  (double)plan->row_extent;
  cost->accumulators = (double)(plan->rows * plan->vectors);
  cost->loads_per_fma =
      plan->dot
          ? dot_loads(plan, (double)plan->rows, (double)plan->width) /
                (double)(plan->rows * plan->width)
          : (vector_loads(plan, (double)plan->rows, (double)plan->vectors) +
             element_loads(plan, (double)plan->rows)) /
                cost->accumulators;
}

static double operand_nbytes(const struct tg_plan *plan, int operand) {
  const struct tg_kernel *kernel = &plan->canonical.kernel;
  double nbytes = (double)tg_kernel_element_nbytes(kernel);
  for (int d = 0; d < kernel->operand[operand].rank; ++d)
    nbytes *= (double)kernel->operand[operand].extent[d];
  return nbytes;
}

static void count_footprints(const struct tg_plan *plan, struct tg_cost *cost) {
  const struct tg_kernel *kernel = &plan->canonical.kernel;
  double size = (double)tg_kernel_element_nbytes(kernel);
  cost->panel_nbytes = cost->block_depth * (double)plan->width * size;
  cost->row_panel_nbytes = cost->block_depth * (double)plan->rows * size;
  cost->block_nbytes = cost->block_depth * (double)plan->block_vector * size;
  cost->row_block_nbytes = cost->block_depth * (double)plan->block_rows * size;
  for (int o = 0; o < TG_RESULT; ++o) {
    double nbytes = operand_nbytes(plan, o);
    if (plan->follows_vector[o])
      cost->source_nbytes +=
          plan->packed[o] && !plan->dot ? cost->block_nbytes : nbytes;
    else
      cost->row_source_nbytes +=
          plan->packed[o] ? cost->row_block_nbytes : nbytes;
  }
  cost->result_nbytes = operand_nbytes(plan, TG_RESULT);
  int inner = plan->reduction_count ? plan->reduction[plan->reduction_count - 1]
                                    : TG_NO_LOOP;
  cost->vector_step = 1;
  for (int o = 0; o < TG_RESULT; ++o) {
    if (plan->packed[o])
      continue;
    if (plan->follows_vector[o])
      cost->vector_step = max2(
          cost->vector_step, (double)tg_plan_step(plan, o, plan->vector_loop));
    if (plan->follows_vector[o] && inner != TG_NO_LOOP)
      cost->vector_stride_nbytes =
          max2(cost->vector_stride_nbytes,
               size * fabs((double)tg_kernel_stride(kernel, o, inner)));
    if (plan->follows_row[o])
      cost->row_stride_nbytes = max2(
          cost->row_stride_nbytes,
          size * fabs((double)tg_kernel_stride(kernel, o, plan->row_loop)));
  }
}

/* How often the packing of an operand runs over all of it. */
static double pack_repeats(const struct tg_plan *plan, int operand) {
  const struct tg_kernel *kernel = &plan->canonical.kernel;
  if (tg_plan_takes_panels(plan, operand))
    return 0;
  if (plan->hoisted[operand])
    return 1;
  double repeats = 1;
  for (int i = 0; i < plan->batch_count; ++i)
    repeats *= (double)kernel->extent[plan->batch[i]];
  if (plan->follows_row[operand]) {
    repeats *= (double)plan->outer_rows;
    repeats *=
        ceil_div((double)plan->vector_extent, (double)plan->block_vector);
  }
  return repeats;
}

/* Cycles an element, by the way that emit_pack.c takes. */
static double pack_rate(const struct tg_plan *plan, int operand) {
  const struct tg_kernel *kernel = &plan->canonical.kernel;
  if (operand == plan->gathered)
    return copy_gathered;
  if (plan->dot)
    return copy_transposed;
  int loop = plan->follows_vector[operand] ? plan->vector_loop : plan->row_loop;
  int64_t step = tg_plan_step(plan, operand, loop);
  if (step)
    return copy_contiguous * (double)(2 * step - 1);
  int inner = plan->reduction_count ? plan->reduction[plan->reduction_count - 1]
                                    : TG_NO_LOOP;
  bool along_reduction =
      inner != TG_NO_LOOP && tg_kernel_stride(kernel, operand, inner) == 1;
  return along_reduction ? copy_transposed : copy_single;
}

static void count_packing(const struct tg_plan *plan,
                          const struct tg_target *target,
                          struct tg_cost *cost) {
  double size = (double)tg_kernel_element_nbytes(&plan->canonical.kernel);
  for (int o = 0; o < TG_RESULT; ++o) {
    if (!plan->packed[o])
      continue;
    double extent = (double)(plan->follows_vector[o] ? plan->vector_extent
                                                     : plan->row_extent);
    cost->packed_elements[o] = extent * cost->depth * pack_repeats(plan, o);
    double nbytes = extent * cost->depth * size;
    if (plan->dot) {
      cost->packed_elements[o] = (double)tg_plan_packed_elements(plan, o);
      nbytes = cost->packed_elements[o] * size;
    }
    double moved = cost->packed_elements[o] * size;
    cost->pack_cycles += cost->packed_elements[o] * pack_rate(plan, o) +
                         moved / read_rate(max2(nbytes, 65536), target);
  }
  if (plan->packed[TG_RESULT]) {
    double elements = cost->result_nbytes / size;
    cost->packed_elements[TG_RESULT] = elements;
    double scratch = (double)tg_plan_packed_elements(plan, TG_RESULT) * size;
    cost->pack_cycles +=
        elements * transpose_result +
        2 * cost->result_nbytes / read_rate(max2(scratch, 65536), target);
  }
  for (int o = 0; o < TG_OPERAND_COUNT; ++o)
    cost->scratch_nbytes += (double)tg_plan_packed_elements(plan, o) * size;
}

/*
 * Rows that are neighbours in memory: a reduction step goes to another line,
 * where they are far apart to another page, and where the distance is a power
 * of two always to the same sets, which then keep too few of the steps.
 */
static double element_step_cycles(const struct tg_plan *plan,
                                  const struct tg_cost *cost) {
  const struct tg_kernel *kernel = &plan->canonical.kernel;
  double size = (double)tg_kernel_element_nbytes(kernel), cycles = 0;
  if (!plan->reduction_count)
    return 0;
  int inner = plan->reduction[plan->reduction_count - 1];
  for (int o = 0; o < TG_RESULT; ++o) {
    if (plan->packed[o] || plan->follows_vector[o] || !plan->follows_row[o])
      continue;
    double stride = size * fabs((double)tg_kernel_stride(kernel, o, inner));
    double steps = cost->tiles * cost->block_depth;
    if (stride >= 1024)
      cycles += steps * (fmod(stride, 2048) == 0 ? 4 : 1);
  }
  return cycles;
}

/*
 * Unpacked rows are a stream each. Far more of them than a prefetcher follows
 * cost a little, more than the ways of the cache sets that they share cost a
 * miss for every line.
 */
static double row_stream_cycles(const struct tg_plan *plan,
                                const struct tg_target *target,
                                const struct tg_cost *cost) {
  if (cost->row_stride_nbytes < 64)
    return element_step_cycles(plan, cost);
  double sets = (double)target->l1_nbytes / 64 / 8; /* of 8 ways */
  double lines = fmod(cost->row_stride_nbytes / 64, sets);
  double distinct = sets;
  for (double step = 1; step <= sets; step *= 2)
    if (fmod(lines, step) == 0)
      distinct = sets / step;
  double ways = (double)plan->rows / distinct;
  double touched = cost->tiles * cost->row_panel_nbytes / 64;
  /* A dot product uses a line at once, or in two neighbouring steps. */
  if (plan->dot) {
    bool streamed = cost->source_nbytes > usable * (double)target->l2_nbytes;
    return (ways > 8 ? touched : 0) +
           (streamed && plan->rows > 1 ? touched * row_stream : 0);
  }
  if (ways > 6)
    return touched * 16;
  return plan->rows > 12 ? touched * 2 : 0;
}

/* Bytes that tiles read, one block of vectors along, of operands that follow
 * rows and vectors alike: nothing of them is kept from tile to tile. */
static double follow_both_nbytes(const struct tg_plan *plan,
                                 const struct tg_cost *cost) {
  double nbytes = 0, rows = (double)plan->rows;
  double size = (double)tg_kernel_element_nbytes(&plan->canonical.kernel);
  for (int o = 0; o < TG_RESULT; ++o)
    if (plan->follows_vector[o] && plan->follows_row[o] && !plan->dot)
      nbytes += rows * shared_loads(plan, o, rows) * cost->block_depth *
                (double)plan->block_vector * size;
  return nbytes;
}

/*
 * Cycles to bring the operands of all tiles to the first-level cache. The
 * innermost tile loop keeps one slice there and walks the other operand's
 * block; the kept slice comes from its own block, once per walk.
 */
static double count_memory(const struct tg_plan *plan,
                           const struct tg_target *target,
                           const struct tg_cost *cost) {
  double v_tiles = ceil_div((double)plan->block_vector, (double)plan->width);
  double r_tiles = ceil_div((double)plan->block_rows, (double)plan->rows);
  double both = cost->panel_nbytes + cost->row_panel_nbytes;
  double walked, kept;
  if (plan->vectors_inner) {
    double again =
        v_tiles > 1 ? cost->block_nbytes + both + follow_both_nbytes(plan, cost)
                    : both;
    /* The first walk brings the block from where it is. */
    walked =
        cost->tiles * cost->panel_nbytes *
        ((1 - 1 / r_tiles) / read_rate(again, target) +
         1 / r_tiles / read_rate(max2(again, cost->source_nbytes), target));
    kept = cost->tiles / v_tiles * cost->row_panel_nbytes /
           read_rate(cost->row_source_nbytes + cost->block_nbytes, target);
  } else {
    walked =
        cost->tiles * cost->row_panel_nbytes /
        read_rate(r_tiles > 1 ? cost->row_block_nbytes + both : both, target);
    kept = cost->tiles / r_tiles * cost->panel_nbytes /
           read_rate(cost->row_block_nbytes + cost->source_nbytes, target);
    /* A slice that is too big to keep is read again for every tile. */
    if (r_tiles > 1 && both > usable * (double)target->l1_nbytes)
      kept = cost->tiles * cost->panel_nbytes / read_rate(both, target);
  }
  double cycles = walked + kept;
  /* A matrix that is read once: no prefetcher follows columns of it. */
  if (cost->rows_total == 1 && !plan->dot && cost->block_depth > 8 &&
      cost->source_nbytes > usable * (double)target->l2_nbytes)
    cycles *= column_walk;
  /* Unpacked vectors far apart: a new page or cache set at every step. */
  double steps = cost->tiles * cost->block_depth;
  if (cost->vector_stride_nbytes >= 1024)
    cycles += steps;
  if (cost->vector_stride_nbytes >= 2048 &&
      fmod(cost->vector_stride_nbytes, 2048) == 0)
    cycles += 3 * steps;
  return cycles + row_stream_cycles(plan, target, cost);
}

/*
 * Accumulators go to the result once per reduction block. A result beyond the
 * second-level cache also costs its traffic, and a new page for each row where
 * tiles walk down the rows.
 */
static double count_result(const struct tg_plan *plan,
                           const struct tg_target *target,
                           const struct tg_cost *cost) {
  double blocks =
      ceil_div((double)plan->reduction_extent, (double)plan->block_reduction);
  double moved = blocks > 1 ? 2 : 1;
  double cycles = cost->tiles * (cost->accumulators * moved + tile_overhead);
  if (plan->dot)
    cycles = cost->tiles * ((double)plan->width *
                                (sum_lanes * (double)plan->rows + sum_column) +
                            tile_overhead);
  if (plan->packed[TG_RESULT] ||
      cost->result_nbytes <= usable * (double)target->l2_nbytes)
    return cycles;
  double segments = cost->tiles * (double)plan->rows;
  return cycles + segments * moved * (plan->vectors_inner ? 1 : 6) +
         cost->result_nbytes * blocks * moved /
             read_rate(cost->result_nbytes, target);
}

void tg_plan_cost(const struct tg_plan *plan, const struct tg_target *target,
                  struct tg_cost *cost) {
  memset(cost, 0, sizeof(*cost));
  count_work(plan, cost);
  count_footprints(plan, cost);
  count_packing(plan, target, cost);
  cost->compute_cycles = all_tiles(plan, target) * cost->depth * cost->batches *
                         (double)plan->outer_rows;
  cost->memory_cycles = count_memory(plan, target, cost);
  cost->result_cycles = count_result(plan, target, cost);
}

double tg_plan_cycles(const struct tg_plan *plan,
                      const struct tg_target *target) {
  if (plan->winograd)
    return tg_winograd_cycles(plan, target, NULL);
  struct tg_cost cost;
  tg_plan_cost(plan, target, &cost);
  /* Loads overlap with multiplications, though not entirely. */
  return max2(cost.compute_cycles, cost.memory_cycles) +
         0.25 * (cost.compute_cycles < cost.memory_cycles
                     ? cost.compute_cycles
                     : cost.memory_cycles) +
         cost.result_cycles + cost.pack_cycles;
}

static double LOG(double x) { return log2(1.0 + x); }

void tg_config_features(const struct tg_kernel *kernel,
                        const struct tg_config *config,
                        const struct tg_target *target, float *row) {
  memset(row, 0, TG_FEATURE_COUNT * sizeof(*row));
  struct tg_plan plan_storage;
  struct tg_cost cost_storage;
  if (tg_plan_make(kernel, config, target, &plan_storage) ||
      plan_storage.winograd)
    return; /* stock, or another algorithm: all columns are 0 */
  tg_plan_cost(&plan_storage, target, &cost_storage);
  const struct tg_plan *plan = &plan_storage;
  const struct tg_cost *cost = &cost_storage;
#define FEATURE(name, unit, doc, expression)                                   \
  row[TG_FEATURE_##name] = (float)(expression);
#include "model/features.def"
}
