/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Sweeps with reductions: in the order of the loops, each lane on its own, or
 * apart, where the vector loop itself is summed over.
 */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

#include "passes/inspect.h"
#include "passes/lanes.h"
#include "passes/nest_walk.h"

static MlirType result_element(const struct tg_stage *stage, int o) {
  return mlirShapedTypeGetElementType(
      mlirValueGetType(mlirOperationGetOperand(stage->op, o)));
}

/* In the order of the loops: the sum goes on from the initial value. */
static MlirValue start_in_order(struct tg_nest_walk *walk, int s, int o,
                                int64_t valid) {
  const struct tg_stage *stage = tg_nest_stage(walk, s);
  MlirType type = result_element(stage, o);
  MlirValue value =
      stage->nest.read[o]
          ? tg_nest_read_initial(walk, s, o, valid)
          : tg_constant(walk->builder, type, tg_zero_attribute(type));
  return stage->vector_loop < 0 ? value : tg_nest_as_vector(walk, value);
}

/* In any order: the initial value is added at the end. */
static MlirValue start_apart(struct tg_nest_walk *walk, int s, int o) {
  const struct tg_stage *stage = tg_nest_stage(walk, s);
  MlirType type = tg_vector_of(walk->builder, result_element(stage, o));
  MlirAttribute identity = tg_combiner_identity(
      tg_nest_combiner(stage->op, o - stage->nest.input_count));
  return tg_constant(walk->builder, type,
                     mlirDenseElementsAttrSplatGet(type, identity));
}

/* Results without a tensor matter only where others may depend on them. */
static void find_accumulators(struct tg_nest_walk *walk, bool apart) {
  walk->accumulator_count = 0;
  for (int s = walk->first; s <= walk->last; ++s) {
    const struct tg_stage *stage = tg_nest_stage(walk, s);
    for (int o = stage->nest.input_count; o < stage->nest.operand_count; ++o)
      if (stage->reduces &&
          (stage->tensor[o] != TG_NO_TENSOR || (!apart && stage->nest.read[o])))
        walk->accumulator[walk->accumulator_count++] =
            (struct tg_nest_accumulator){.stage = s, .operand = o};
  }
}

static void finish_apart(struct tg_nest_walk *walk) {
  for (int a = 0; a < walk->accumulator_count; ++a) {
    struct tg_nest_accumulator *accumulator = &walk->accumulator[a];
    const struct tg_stage *stage = tg_nest_stage(walk, accumulator->stage);
    int o = accumulator->operand;
    MlirOperation combiner =
        tg_nest_combiner(stage->op, o - stage->nest.input_count);
    MlirValue sum = accumulator->value[0];
    for (int64_t k = 1; k < walk->live; ++k)
      sum = tg_combine(walk->builder, combiner, sum, accumulator->value[k]);
    sum = tg_reduce_lanes(walk->builder, combiner, sum);
    sum = tg_combine(walk->builder, combiner,
                     tg_nest_read_initial(walk, accumulator->stage, o, 1), sum);
    tg_nest_write(walk, stage, o, sum, 1);
  }
}

static void finish_in_order(struct tg_nest_walk *walk, int64_t valid) {
  for (int a = 0; a < walk->accumulator_count; ++a) {
    struct tg_nest_accumulator *accumulator = &walk->accumulator[a];
    const struct tg_stage *stage = tg_nest_stage(walk, accumulator->stage);
    for (int64_t k = 0; k < walk->live; ++k) {
      if (stage->vector_loop >= 0)
        walk->delta[stage->vector_loop] = k * walk->group->lanes;
      tg_nest_write(walk, stage, accumulator->operand, accumulator->value[k],
                    tg_nest_valid(k, walk->live, walk->group->lanes, valid));
    }
    if (stage->vector_loop >= 0)
      walk->delta[stage->vector_loop] = 0;
  }
}

static void drop_accumulators(struct tg_nest_walk *walk) {
  walk->accumulator_count = 0;
  walk->live = 0;
}

static int reduction_loops(const struct tg_nest_walk *walk, int *loops) {
  const struct tg_stage *lead = tg_nest_lead(walk);
  int count = 0;
  for (int l = 0; l < lead->nest.loop_count; ++l)
    if (tg_stage_has_loop(walk->group, lead, l) && l != lead->vector_loop &&
        tg_nest_reduces_over(walk, l))
      loops[count++] = l;
  return count;
}

static void emit_reduced_vectors(struct tg_nest_walk *walk) {
  const struct tg_stage *lead = tg_nest_lead(walk);
  int64_t live = walk->live;
  if (lead->vector_loop < 0)
    tg_nest_emit_stages(walk, 0, 1);
  else if (tg_nest_reduces_over(walk, lead->vector_loop))
    tg_nest_emit_pieces(walk, lead->vector_loop, walk->group->lanes, live,
                        tg_nest_emit_vectors);
  else
    tg_nest_emit_vectors(walk, live, walk->valid);
}

/* Sums of the iterations along the vector loop: each lane has its own. */
static void emit_piece_in_order(struct tg_nest_walk *walk, int64_t vectors,
                                int64_t valid) {
  const struct tg_stage *lead = tg_nest_lead(walk);
  int loops[TG_MAX_LOOPS];
  int count = reduction_loops(walk, loops);
  find_accumulators(walk, false);
  for (int a = 0; a < walk->accumulator_count; ++a)
    for (int64_t k = 0; k < vectors; ++k) {
      struct tg_nest_accumulator *accumulator = &walk->accumulator[a];
      if (lead->vector_loop >= 0)
        walk->delta[lead->vector_loop] = k * walk->group->lanes;
      accumulator->value[k] =
          start_in_order(walk, accumulator->stage, accumulator->operand,
                         tg_nest_valid(k, vectors, walk->group->lanes, valid));
    }
  if (lead->vector_loop >= 0)
    walk->delta[lead->vector_loop] = 0;
  walk->live = vectors;
  walk->valid = valid;
  tg_nest_emit_loops(walk, loops, count, emit_reduced_vectors);
  finish_in_order(walk, valid);
  drop_accumulators(walk);
}

/* The vector loop itself is summed over. */
static void emit_sums_apart(struct tg_nest_walk *walk) {
  const struct tg_stage *lead = tg_nest_lead(walk);
  int loops[TG_MAX_LOOPS];
  int count = reduction_loops(walk, loops);
  int64_t lanes = walk->group->lanes;
  int64_t most = (lead->nest.extent[lead->vector_loop] + lanes - 1) / lanes;
  walk->live = lead->vectors < most ? lead->vectors : most;
  find_accumulators(walk, true);
  for (int a = 0; a < walk->accumulator_count; ++a)
    for (int64_t k = 0; k < walk->live; ++k)
      walk->accumulator[a].value[k] = start_apart(
          walk, walk->accumulator[a].stage, walk->accumulator[a].operand);
  tg_nest_emit_loops(walk, loops, count, emit_reduced_vectors);
  finish_apart(walk);
  drop_accumulators(walk);
}

void tg_nest_emit_sums(struct tg_nest_walk *walk) {
  const struct tg_stage *lead = tg_nest_lead(walk);
  if (lead->vector_loop < 0)
    emit_piece_in_order(walk, 1, 1);
  else if (tg_nest_reduces_over(walk, lead->vector_loop))
    emit_sums_apart(walk);
  else
    tg_nest_emit_pieces(walk, lead->vector_loop, walk->group->lanes,
                        lead->vectors, emit_piece_in_order);
}
