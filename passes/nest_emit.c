/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emitting groups of nests: rows, sweeps, vectors.
 *
 *   for each row                        loops that all stages share
 *     for each sweep
 *       for each parallel loop but the vector loop
 *         vector loop parallel:         vector loop a reduction:
 *           for each piece                accumulators = identity
 *             accumulators = initial      for each reduction loop
 *             for each reduction loop       for each piece: stages
 *               stages                    sum the lanes, store
 *             store
 *
 * A piece is `vectors` vectors, the rest of a loop single ones, of which the
 * last may have lanes that don't exist.
 */
#include "passes/nest_emit.h"

#include <assert.h>
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

#include "passes/inspect.h"
#include "passes/nest_walk.h"

/* Larger bodies want more registers than a tile leaves. */
enum { MAX_TILED_BODY = 12 };

/*===-- Sweeps without a reduction ----------------------------------------===*/

static void emit_elementwise(struct tg_nest_walk *walk) {
  const struct tg_stage *lead = tg_nest_lead(walk);
  if (lead->vector_loop < 0)
    tg_nest_emit_stages(walk, 0, 1);
  else
    tg_nest_emit_pieces(walk, lead->vector_loop, walk->group->lanes,
                        lead->vectors, tg_nest_emit_vectors);
}

/* Is the operand scattered along the vector loop, and contiguous along this
 * one? */
static bool is_crossed(const struct tg_nest_walk *walk, int s, int o,
                       int loop) {
  const struct tg_stage *stage = tg_nest_stage(walk, s);
  int t = stage->tensor[o];
  return t != TG_NO_TENSOR && stage->nest.read[o] &&
         walk->group->tensor[t].producer < walk->first &&
         tg_nest_reach(stage, o) == TG_REACH_SCATTERED &&
         tg_element_is_addressable(tg_nest_element_type(walk, t)) &&
         tg_access_reach(&stage->nest.operand[o], loop) == TG_REACH_CONTIGUOUS;
}

/*
 * Where an input runs across the vectors, square tiles of it are transposed in
 * registers. Finds the other loop of these tiles, and what is read so.
 */
static void find_tiles(struct tg_nest_walk *walk) {
  int64_t lanes = walk->group->lanes;
  const struct tg_stage *lead = tg_nest_lead(walk);
  int body_ops = 0;
  walk->tile_loop = -1;
  walk->tiled_count = 0;
  for (int s = walk->first; s <= walk->last; ++s)
    body_ops += tg_nest_stage(walk, s)->nest.body_ops;
  if (lead->vector_loop < 0 || lanes < 2 || (lanes & (lanes - 1)) ||
      body_ops > MAX_TILED_BODY)
    return;
  for (int l = 0; l < lead->nest.loop_count && walk->tiled_count == 0; ++l) {
    if (l == lead->vector_loop || !tg_stage_has_loop(walk->group, lead, l))
      continue;
    walk->tile_loop = l;
    for (int s = walk->first; s <= walk->last; ++s)
      for (int o = 0; o < tg_nest_stage(walk, s)->nest.input_count; ++o)
        if (walk->tiled_count < TG_NEST_MAX_TILED &&
            is_crossed(walk, s, o, l)) {
          walk->tiled[walk->tiled_count].stage = s;
          walk->tiled[walk->tiled_count++].operand = o;
        }
  }
  if (walk->tiled_count == 0)
    walk->tile_loop = -1;
}

/* Vectors along the tile's loop, one for each lane, become vectors along the
 * vector loop, one for each iteration of the tile's loop. */
static void load_tile(struct tg_nest_walk *walk, struct tg_nest_tiled *tiled,
                      int64_t columns, int64_t rows) {
  const struct tg_stage *stage = tg_nest_stage(walk, tiled->stage);
  for (int64_t lane = 0; lane < walk->group->lanes; ++lane) {
    MlirValue indices[TG_MAX_RANK];
    walk->delta[stage->vector_loop] = lane < columns ? lane : columns - 1;
    int rank = tg_nest_subscripts(walk, stage, tiled->operand, indices);
    tiled->vector[lane] =
        lane < columns ? tg_read(walk->builder,
                                 walk->tensor[stage->tensor[tiled->operand]],
                                 rank, indices, rows)
                       : tiled->vector[columns - 1];
  }
  walk->delta[stage->vector_loop] = 0;
  tg_transpose(walk->builder, tiled->vector);
}

static void emit_tile(struct tg_nest_walk *walk, int64_t vectors,
                      int64_t columns) {
  (void)vectors;
  int64_t rows = walk->tile_rows;
  for (int i = 0; i < walk->tiled_count; ++i)
    load_tile(walk, &walk->tiled[i], columns, rows);
  for (int64_t row = 0; row < rows; ++row) {
    walk->delta[walk->tile_loop] = row;
    tg_nest_emit_stages(walk, 0, columns);
  }
  walk->delta[walk->tile_loop] = 0;
}

static void emit_tile_row(struct tg_nest_walk *walk, int64_t vectors,
                          int64_t rows) {
  (void)vectors;
  walk->tile_rows = rows;
  tg_nest_emit_pieces(walk, tg_nest_lead(walk)->vector_loop, walk->group->lanes,
                      1, emit_tile);
}

static void emit_tiles(struct tg_nest_walk *walk) {
  tg_nest_emit_pieces(walk, walk->tile_loop, walk->group->lanes, 1,
                      emit_tile_row);
}

/*===-- Sweeps, rows ------------------------------------------------------===*/

static void emit_sweep(struct tg_nest_walk *walk) {
  const struct tg_stage *lead = tg_nest_lead(walk);
  bool reduces = false;
  for (int s = walk->first; s <= walk->last; ++s)
    reduces |= tg_nest_stage(walk, s)->reduces;
  walk->tile_loop = -1;
  walk->tiled_count = 0;
  if (!reduces)
    find_tiles(walk);
  int loops[TG_MAX_LOOPS], count = 0;
  for (int l = 0; l < lead->nest.loop_count; ++l)
    if (tg_stage_has_loop(walk->group, lead, l) && l != lead->vector_loop &&
        l != walk->tile_loop && !tg_nest_reduces_over(walk, l))
      loops[count++] = l;
  tg_nest_emit_loops(walk, loops, count,
                     reduces                ? tg_nest_emit_sums
                     : walk->tile_loop >= 0 ? emit_tiles
                                            : emit_elementwise);
}

static void emit_sweeps(struct tg_nest_walk *walk) {
  int count = walk->group->stage_count;
  for (walk->first = 0; walk->first < count; walk->first = walk->last + 1) {
    walk->last = walk->first;
    while (walk->last + 1 < count &&
           tg_nest_stage(walk, walk->last + 1)->first_of_sweep == walk->first)
      walk->last++;
    emit_sweep(walk);
  }
  walk->first = 0;
}

static void emit_rows(struct tg_nest_walk *walk) {
  int loops[TG_MAX_LOOPS], count = 0;
  for (int l = 0; l < walk->group->rows; ++l)
    if (walk->group->stage[0].nest.extent[l] > 1)
      loops[count++] = l;
  /* No sweep has begun: there is nothing to load before it. */
  walk->first = 0;
  walk->last = -1;
  tg_nest_emit_loops(walk, loops, count, emit_sweeps);
}

/*===-- Set-up ------------------------------------------------------------===*/

static void bind_arguments(struct tg_nest_walk *walk,
                           const MlirValue *arguments) {
  const struct tg_group *group = walk->group;
  struct tg_builder *builder = walk->builder;
  int next = 0;
  for (int t = 0; t < group->tensor_count; ++t)
    if (group->tensor[t].residence == TG_OUTSIDE)
      walk->tensor[t] =
          tg_collapse(builder, arguments[next++], group->tensor[t].source_rank,
                      group->tensor[t].group);
  for (int t = 0; t < group->tensor_count; ++t)
    if (group->tensor[t].residence == TG_RESULT_OF_GROUP) {
      walk->destination[t] = arguments[next++];
      walk->tensor[t] =
          tg_collapse(builder, walk->destination[t],
                      group->tensor[t].source_rank, group->tensor[t].group);
    }
  for (int i = 0; i < group->capture_count; ++i)
    walk->capture[i] = arguments[next++];
  for (int t = 0; t < group->tensor_count; ++t)
    if (group->tensor[t].residence == TG_ROW_BUFFER)
      walk->tensor[t] =
          tg_scratch_of(builder, tg_nest_element_type(walk, t),
                        group->tensor[t].rank, group->tensor[t].extent);
}

int tg_emit_group(struct tg_builder *builder, const struct tg_group *group,
                  const MlirValue *arguments,
                  MlirValue results[TG_MAX_GROUP_TENSORS]) {
  struct tg_nest_walk walk = {
      .builder = builder, .group = group, .tile_loop = -1};
  for (int l = 0; l < TG_MAX_LOOPS; ++l)
    walk.position[l] = tg_index(builder, 0);
  bind_arguments(&walk, arguments);
  emit_rows(&walk);
  int count = 0;
  for (int t = 0; t < group->tensor_count; ++t)
    if (group->tensor[t].residence == TG_RESULT_OF_GROUP)
      results[count++] =
          tg_expand(builder, walk.tensor[t], group->tensor[t].source_rank,
                    group->tensor[t].group, walk.destination[t]);
  return count;
}
