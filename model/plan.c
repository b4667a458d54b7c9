/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * From a configuration to a plan. Every rule of legality is here, each with
 * the reason that a user gets to read.
 */
#include "model/plan.h"

#include <string.h>

#include "model/winograd.h"

const char *const tg_knob_names[TG_KNOB_COUNT] = {
#define KNOB(name, unit, doc) #name,
#include "model/knobs.def"
};

static int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }

/* A block of 0 or beyond the extent is the whole loop. */
static int64_t block_size(int64_t knob, int64_t extent) {
  return knob == 0 ? extent : min64(knob, extent);
}

static const char *check_values(const struct tg_kernel *kernel,
                                const struct tg_config *config) {
  const int32_t *knob = config->knob;
  if (!knob[TG_KNOB_tiled])
    return "the stock configuration has no plan";
  int vector_loop = knob[TG_KNOB_vector_loop];
  int row_loop = knob[TG_KNOB_row_loop];
  if (vector_loop < 0 || vector_loop >= kernel->loop_count)
    return "vector_loops is not a loop of the operation";
  if (row_loop < TG_NO_LOOP || row_loop >= kernel->loop_count ||
      row_loop == vector_loop)
    return "row_loops is not another loop of the operation";
  if (row_loop >= 0 && kernel->reduction[row_loop])
    return "the rows of the register tile are a parallel loop";
  static const enum tg_knob flags[] = {TG_KNOB_tiled,    TG_KNOB_flatten,
                                       TG_KNOB_order,    TG_KNOB_pack_lhs,
                                       TG_KNOB_pack_rhs, TG_KNOB_pack_result};
  for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); ++i)
    if (knob[flags[i]] != 0 && knob[flags[i]] != 1)
      return "a flag is neither 0 nor 1";
  if (knob[TG_KNOB_vectors] < 1 || knob[TG_KNOB_rows] < 1 ||
      knob[TG_KNOB_unroll] < 1)
    return "register_vectors, register_rows and unroll are at least 1";
  if (knob[TG_KNOB_block_vector] < 0 || knob[TG_KNOB_block_rows] < 0 ||
      knob[TG_KNOB_block_reduction] < 0)
    return "a block size is negative";
  return NULL;
}

/* Merges the vector loop with the loop around it; the input that can't be
 * merged is gathered. */
static const char *flatten(struct tg_plan *plan) {
  struct tg_canonical *canonical = &plan->canonical;
  struct tg_kernel *kernel = &canonical->kernel;
  int inner = plan->vector_loop;
  if (kernel->reduction[inner])
    return "flatten merges parallel loops";
  int outer = tg_canonical_outer(canonical, inner);
  if (outer == TG_NO_LOOP || outer == plan->row_loop)
    return "flatten needs a loop around the vector loop";
  int64_t strides[TG_OPERAND_COUNT][2];
  for (int o = 0; o < TG_OPERAND_COUNT; ++o) {
    strides[o][0] = tg_kernel_stride(kernel, o, outer);
    strides[o][1] = tg_kernel_stride(kernel, o, inner);
  }
  int64_t inner_extent = kernel->extent[inner];
  bool collapsed[TG_OPERAND_COUNT];
  if (!tg_canonical_flatten(canonical, outer, inner, collapsed))
    return "flatten needs a result that is contiguous in both loops";
  for (int o = 0; o < TG_RESULT; ++o) {
    if (collapsed[o])
      continue;
    if (plan->gathered >= 0)
      return "flatten can gather one operand only";
    plan->gathered = o;
    plan->flat_inner = inner_extent;
    plan->gather_outer = strides[o][0];
    plan->gather_inner = strides[o][1];
  }
  /* merge() removed `inner` and kept `outer`. */
  if (plan->row_loop > inner)
    plan->row_loop--;
  plan->vector_loop = outer > inner ? outer - 1 : outer;
  return plan->gathered < 0 ? "nothing to flatten" : NULL;
}

/* A dot product's second parallel loop: what the operand of the rows doesn't
 * follow, so that its vectors serve several columns. The innermost such loop of
 * the result. */
static int find_column_loop(const struct tg_plan *plan) {
  const struct tg_kernel *kernel = &plan->canonical.kernel;
  int found = TG_NO_LOOP;
  for (int l = 0; l < kernel->loop_count; ++l) {
    bool shares = !kernel->reduction[l] && l != plan->row_loop;
    for (int o = 0; o < TG_RESULT; ++o)
      shares &= !(plan->follows_row[o] && tg_kernel_uses(kernel, o, l));
    if (shares &&
        (found == TG_NO_LOOP || tg_kernel_stride(kernel, TG_RESULT, l) <
                                    tg_kernel_stride(kernel, TG_RESULT, found)))
      found = l;
  }
  return found;
}

/* Around the tiles of a dot product: no loop is shared by all of them. */
static void assign_dot_loops(struct tg_plan *plan) {
  const struct tg_kernel *kernel = &plan->canonical.kernel;
  plan->column_loop = find_column_loop(plan);
  for (int l = 0; l < kernel->loop_count; ++l)
    if (!kernel->reduction[l] && l != plan->row_loop && l != plan->column_loop)
      plan->batch[plan->batch_count++] = l;
  for (int l = 0; l < kernel->loop_count; ++l)
    if (kernel->reduction[l] && l != plan->vector_loop)
      plan->reduction[plan->reduction_count++] = l;
  plan->reduction[plan->reduction_count++] = plan->vector_loop;
  for (int i = 1; i < plan->reduction_count; ++i)
    plan->reduction_rest *= kernel->extent[plan->reduction[i]];
}

static void assign_loops(struct tg_plan *plan) {
  const struct tg_kernel *kernel = &plan->canonical.kernel;
  for (int o = 0; o < TG_OPERAND_COUNT; ++o) {
    plan->follows_vector[o] = tg_kernel_uses(kernel, o, plan->vector_loop);
    plan->follows_row[o] = plan->row_loop != TG_NO_LOOP &&
                           tg_kernel_uses(kernel, o, plan->row_loop);
  }
  if (plan->gathered >= 0)
    plan->follows_vector[plan->gathered] = true;
  plan->reduction_rest = plan->outer_rows = 1;
  plan->dot = kernel->reduction[plan->vector_loop];
  plan->column_loop = plan->vector_loop;
  if (plan->dot) {
    assign_dot_loops(plan);
    return;
  }
  for (int l = 0; l < kernel->loop_count; ++l) {
    if (l == plan->vector_loop || l == plan->row_loop)
      continue;
    if (kernel->reduction[l]) {
      if (plan->reduction_count)
        plan->reduction_rest *= kernel->extent[l];
      plan->reduction[plan->reduction_count++] = l;
      continue;
    }
    bool around_vectors = false;
    for (int o = 0; o < TG_RESULT; ++o)
      around_vectors |= plan->follows_vector[o] && tg_kernel_uses(kernel, o, l);
    if (around_vectors) {
      plan->batch[plan->batch_count++] = l;
    } else {
      plan->outer_row[plan->outer_row_count++] = l;
      plan->outer_rows *= kernel->extent[l];
    }
  }
}

static void set_sizes(struct tg_plan *plan, const struct tg_config *config,
                      const struct tg_target *target) {
  const struct tg_kernel *kernel = &plan->canonical.kernel;
  const int32_t *knob = config->knob;
  plan->lanes = target->vector_bits / 8 / tg_kernel_element_nbytes(kernel);
  plan->vectors = knob[TG_KNOB_vectors];
  plan->width = plan->lanes * plan->vectors;
  if (plan->dot)
    plan->width = plan->column_loop == TG_NO_LOOP ? 1 : plan->vectors;
  plan->rows = knob[TG_KNOB_rows];
  plan->unroll = knob[TG_KNOB_unroll];
  plan->vectors_inner = knob[TG_KNOB_order] != 0;
  plan->packed[TG_LHS] = knob[TG_KNOB_pack_lhs] != 0;
  plan->packed[TG_RHS] = knob[TG_KNOB_pack_rhs] != 0;
  plan->packed[TG_RESULT] = knob[TG_KNOB_pack_result] != 0;
  plan->vector_extent =
      plan->column_loop == TG_NO_LOOP ? 1 : kernel->extent[plan->column_loop];
  plan->row_extent =
      plan->row_loop == TG_NO_LOOP ? 1 : kernel->extent[plan->row_loop];
  plan->bounded_reduction = plan->reduction_count &&
                            kernel->dynamic[plan->reduction[0]] == TG_BOUNDED;
  plan->reduction_extent =
      plan->reduction_count ? kernel->extent[plan->reduction[0]] : 1;
  plan->block_vector =
      block_size(knob[TG_KNOB_block_vector], plan->vector_extent);
  plan->block_rows = block_size(knob[TG_KNOB_block_rows], plan->row_extent);
  plan->block_reduction =
      block_size(knob[TG_KNOB_block_reduction], plan->reduction_extent);
}

/* Elements that the vectors of one row of a tile may cover. */
static int64_t vector_room(const struct tg_plan *plan) {
  if (!plan->dot)
    return plan->vector_extent;
  if (plan->column_loop == TG_NO_LOOP)
    return plan->canonical.kernel.extent[plan->vector_loop];
  return plan->lanes * plan->vector_extent;
}

/* Blocks cut into whole register tiles, so that only a loop's last tile can
 * be a partial one. */
static const char *check_sizes(const struct tg_plan *plan,
                               const struct tg_target *target) {
  int64_t vector_registers = target->vector_registers;
  if (plan->lanes < 2)
    return "the machine's vectors are too narrow for the element type";
  if (plan->rows > plan->row_extent)
    return "register_rows exceeds the row loop";
  if (plan->lanes * (plan->vectors - 1) >= vector_room(plan))
    return "the tile is wider than the vector loop";
  if (plan->rows * plan->vectors + plan->vectors + 1 > vector_registers)
    return "the register tile needs more registers than the machine has";
  if (plan->block_vector != plan->vector_extent &&
      plan->block_vector % plan->width)
    return "cache_vector is not a multiple of the tile's width";
  if (plan->block_rows != plan->row_extent && plan->block_rows % plan->rows)
    return "cache_rows is not a multiple of register_rows";
  return NULL;
}

/* What no machine has registers for, or no compiler patience. */
static const char *check_limits(const struct tg_plan *plan) {
  if (plan->lanes > TG_MAX_LANES)
    return "the machine's vectors are too wide";
  if (plan->rows > TG_MAX_TILE_ROWS || plan->vectors > TG_MAX_TILE_VECTORS ||
      plan->rows * plan->vectors > TG_MAX_ACCUMULATORS)
    return "the register tile is too large";
  int64_t steps =
      min64(plan->unroll, plan->block_reduction * min64(plan->reduction_rest,
                                                        TG_MAX_TILE_STEPS + 1));
  if (steps > TG_MAX_TILE_STEPS / (plan->rows * plan->vectors))
    return "the unrolled register tile is too large";
  return NULL;
}

static bool uses_any(const struct tg_kernel *kernel, int operand,
                     const int *loops, int count) {
  for (int i = 0; i < count; ++i)
    if (tg_kernel_uses(kernel, operand, loops[i]))
      return true;
  return false;
}

static bool uses_bounded(const struct tg_kernel *kernel, int operand) {
  for (int l = 0; l < kernel->loop_count; ++l)
    if (kernel->dynamic[l] == TG_BOUNDED && tg_kernel_uses(kernel, operand, l))
      return true;
  return false;
}

static void choose_hoisting(struct tg_plan *plan) {
  const struct tg_kernel *kernel = &plan->canonical.kernel;
  for (int o = 0; o < TG_RESULT; ++o) {
    if (plan->dot) {
      plan->hoisted[o] = plan->packed[o];
      continue;
    }
    /* Scratch memory has a size that is known. */
    if (!plan->packed[o] || uses_bounded(kernel, o))
      continue;
    int outer_rows = plan->follows_row[o] ? plan->outer_row_count : 0;
    plan->hoisted[o] = (plan->batch_count + outer_rows > 0 ||
                        tg_kernel_comes_packed(kernel, o)) &&
                       !uses_any(kernel, o, plan->batch, plan->batch_count) &&
                       !uses_any(kernel, o, plan->outer_row, outer_rows);
  }
}

int64_t tg_plan_step(const struct tg_plan *plan, int operand, int loop) {
  const struct tg_access *access = &plan->canonical.kernel.operand[operand];
  for (int d = 0; d + 1 < access->rank; ++d)
    if (access->coefficient[d][loop])
      return 0;
  int64_t step = access->rank ? access->coefficient[access->rank - 1][loop] : 0;
  return operand != plan->gathered && step >= 1 && step <= TG_MAX_STEP ? step
                                                                       : 0;
}

static const char *check_input(const struct tg_plan *plan, int operand) {
  bool vector = plan->follows_vector[operand];
  bool row = plan->follows_row[operand];
  if (plan->packed[operand] && plan->dot)
    return NULL;
  if (plan->packed[operand])
    return vector == row ? "a packed operand follows either vectors or rows"
                         : NULL;
  if (operand == plan->gathered)
    return "a flattened operand has to be packed";
  if (vector && !tg_plan_step(plan, operand, plan->vector_loop))
    return "an operand whose vectors aren't in its last dimension has to be "
           "packed";
  return NULL;
}

static const char *check_result(const struct tg_plan *plan) {
  const struct tg_kernel *kernel = &plan->canonical.kernel;
  const struct tg_access *result = &kernel->operand[TG_RESULT];
  for (int d = 0; d < result->rank; ++d) {
    int used = 0;
    for (int l = 0; l < kernel->loop_count; ++l)
      used += result->coefficient[d][l] != 0;
    if (used > 1)
      return "the result is not a projection of the loops";
  }
  if (!plan->packed[TG_RESULT])
    return plan->dot ||
                   tg_kernel_stride(kernel, TG_RESULT, plan->vector_loop) == 1
               ? NULL
               : "the result isn't contiguous along the vector loop";
  if (plan->row_loop == TG_NO_LOOP ||
      tg_kernel_stride(kernel, TG_RESULT, plan->row_loop) != 1)
    return "a packed result has to be contiguous along the row loop";
  if (plan->vector_extent % plan->lanes)
    return "a packed result needs whole vectors along the vector loop";
  return NULL;
}

/* What a loop that ends at a bound rules out: wherever an extent would be the
 * size of scratch memory or a factor of an address. */
static const char *check_bounds(const struct tg_plan *plan) {
  const struct tg_kernel *kernel = &plan->canonical.kernel;
  if (plan->packed[TG_RESULT] && uses_bounded(kernel, TG_RESULT))
    return "a packed result needs known extents";
  if (plan->gathered >= 0 && uses_bounded(kernel, plan->gathered))
    return "a flattened operand needs known extents";
  if (plan->dot && tg_kernel_has(kernel, TG_BOUNDED))
    return "sums along vectors need known extents";
  if (kernel->dynamic[plan->vector_loop] != TG_BOUNDED)
    return NULL;
  for (int o = 0; o < TG_RESULT; ++o)
    if (!plan->packed[o] && plan->follows_vector[o] &&
        tg_plan_step(plan, o, plan->vector_loop) != 1)
      return "an operand with gaps along a vector loop of unknown extent has "
             "to be packed";
  return NULL;
}

/* Contiguous along the reduction, or copied so that it is. */
static const char *check_dot_input(const struct tg_plan *plan, int operand) {
  const struct tg_kernel *kernel = &plan->canonical.kernel;
  const struct tg_access *access = &kernel->operand[operand];
  bool follows = plan->follows_vector[operand];
  bool contiguous = tg_plan_step(plan, operand, plan->vector_loop) == 1;
  if (!plan->packed[operand])
    return !follows || contiguous
               ? NULL
               : "sums along vectors need operands that are contiguous along "
                 "the reduction, or packed";
  if (!follows || contiguous)
    return "sums along vectors pack only what isn't contiguous along the "
           "reduction";
  for (int d = 0; d < access->rank; ++d) {
    int used = 0;
    for (int l = 0; l < kernel->loop_count; ++l)
      used += access->coefficient[d][l] == 1   ? 1
              : access->coefficient[d][l] == 0 ? 0
                                               : 2;
    if (used != 1)
      return "sums along vectors pack no image";
  }
  return NULL;
}

/* What a dot product can't do. */
static const char *check_dot(const struct tg_plan *plan) {
  const struct tg_kernel *kernel = &plan->canonical.kernel;
  if (plan->row_loop == TG_NO_LOOP ||
      tg_kernel_stride(kernel, TG_RESULT, plan->row_loop) != 1)
    return "sums along vectors need rows that are contiguous in the result";
  if (plan->packed[TG_RESULT])
    return "sums along vectors are stored as they are";
  if (tg_kernel_has(kernel, TG_BOUNDED))
    return "sums along vectors need known extents";
  if (tg_plan_accumulates(plan))
    return "sums along vectors take the whole reduction";
  if (plan->rows > plan->lanes)
    return "sums along vectors have no more rows than lanes";
  const char *fault = check_dot_input(plan, TG_LHS);
  return fault ? fault : check_dot_input(plan, TG_RHS);
}

const char *tg_plan_make_canonical(const struct tg_canonical *canonical,
                                   const struct tg_config *config,
                                   const struct tg_target *target,
                                   struct tg_plan *plan) {
  if (config->knob[TG_KNOB_winograd])
    return tg_winograd_plan(canonical, config, target, plan);
  const char *fault = check_values(&canonical->kernel, config);
  if (fault)
    return fault;
  memset(plan, 0, sizeof(*plan));
  plan->canonical = *canonical;
  plan->gathered = -1;
  plan->vector_loop = config->knob[TG_KNOB_vector_loop];
  plan->row_loop = config->knob[TG_KNOB_row_loop];
  if (config->knob[TG_KNOB_flatten] && (fault = flatten(plan)))
    return fault;
  assign_loops(plan);
  set_sizes(plan, config, target);
  choose_hoisting(plan);
  if ((fault = check_sizes(plan, target)) || (fault = check_limits(plan)) ||
      (plan->dot && (fault = check_dot(plan))) ||
      (fault = check_input(plan, TG_LHS)) ||
      (fault = check_input(plan, TG_RHS)) || (fault = check_bounds(plan)))
    return fault;
  return check_result(plan);
}

const char *tg_plan_make(const struct tg_kernel *kernel,
                         const struct tg_config *config,
                         const struct tg_target *target, struct tg_plan *plan) {
  struct tg_canonical canonical;
  tg_canonicalize(kernel, &canonical);
  return tg_plan_make_canonical(&canonical, config, target, plan);
}

int tg_plan_dot_loops(const struct tg_plan *plan, int operand,
                      int loops[TG_MAX_RANK]) {
  const struct tg_kernel *kernel = &plan->canonical.kernel;
  int count = 0;
  for (int l = 0; l < kernel->loop_count; ++l)
    if (l != plan->vector_loop && tg_kernel_uses(kernel, operand, l))
      loops[count++] = l;
  loops[count++] = plan->vector_loop;
  return count;
}

static int64_t dot_packed_elements(const struct tg_plan *plan, int operand) {
  int loops[TG_MAX_RANK];
  int64_t elements = 1;
  for (int i = tg_plan_dot_loops(plan, operand, loops) - 1; i >= 0; --i)
    elements *= plan->canonical.kernel.extent[loops[i]];
  return elements;
}

bool tg_plan_takes_panels(const struct tg_plan *plan, int operand) {
  const struct tg_kernel *kernel = &plan->canonical.kernel;
  if (!tg_kernel_comes_packed(kernel, operand))
    return false;
  return plan->winograd ? tg_winograd_may_take_panels(kernel, operand)
                        : plan->hoisted[operand] && operand != plan->gathered;
}

bool tg_plan_accumulates(const struct tg_plan *plan) {
  return plan->block_reduction < plan->reduction_extent ||
         plan->bounded_reduction;
}

int64_t tg_plan_packed_elements(const struct tg_plan *plan, int operand) {
  if (!plan->packed[operand])
    return 0;
  if (plan->dot)
    return dot_packed_elements(plan, operand);
  bool whole = plan->hoisted[operand];
  int64_t vectors = whole ? plan->vector_extent : plan->block_vector;
  int64_t rows = whole ? plan->row_extent : plan->block_rows;
  int64_t depth = (whole ? plan->reduction_extent : plan->block_reduction) *
                  plan->reduction_rest;
  int64_t width = plan->width;
  int64_t padded_vectors = (vectors + width - 1) / width * width;
  int64_t padded_rows = (rows + plan->rows - 1) / plan->rows * plan->rows;
  if (operand == TG_RESULT)
    return padded_vectors * plan->outer_rows * plan->row_extent;
  return (plan->follows_vector[operand] ? padded_vectors : padded_rows) * depth;
}
