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
#include "passes/lanes.h"
#include "passes/nest_walk.h"

/* Larger bodies want more registers than a tile leaves. */
enum { MAX_TILED_BODY = 12 };

static const struct tg_stage *stage_of(const struct tg_nest_walk *walk, int s) {
  return &walk->group->stage[s];
}

static const struct tg_stage *lead_of(const struct tg_nest_walk *walk) {
  return stage_of(walk, walk->first);
}

/*===-- Loops -------------------------------------------------------------===*/

/* Everything that a loop carries: what is stored, and accumulators. */
static int carried_slots(struct tg_nest_walk *walk,
                         MlirValue *slots[TG_BUILD_MAX_CARRIED]) {
  int count = 0;
  for (int t = 0; t < walk->group->tensor_count; ++t)
    if (walk->group->tensor[t].residence == TG_RESULT_OF_GROUP ||
        walk->group->tensor[t].residence == TG_ROW_BUFFER)
      slots[count++] = &walk->tensor[t];
  for (int a = 0; a < walk->accumulator_count; ++a)
    for (int64_t k = 0; k < walk->live; ++k)
      slots[count++] = &walk->accumulator[a].value[k];
  return count;
}

static void loop_begin(struct tg_nest_walk *walk, struct tg_for *loop,
                       int64_t lower, int64_t upper, int64_t step) {
  MlirValue *slots[TG_BUILD_MAX_CARRIED], values[TG_BUILD_MAX_CARRIED];
  int count = carried_slots(walk, slots);
  for (int i = 0; i < count; ++i)
    values[i] = *slots[i];
  struct tg_builder *builder = walk->builder;
  tg_for_begin(builder, loop, tg_index(builder, lower),
               tg_index(builder, upper), step, count, values);
  for (int i = 0; i < count; ++i)
    *slots[i] = loop->carried[i];
}

static void loop_end(struct tg_nest_walk *walk, struct tg_for *loop) {
  MlirValue *slots[TG_BUILD_MAX_CARRIED], values[TG_BUILD_MAX_CARRIED];
  int count = carried_slots(walk, slots);
  for (int i = 0; i < count; ++i)
    values[i] = *slots[i];
  tg_for_end(walk->builder, loop, values);
  for (int i = 0; i < count; ++i)
    *slots[i] = loop->carried[i];
}

/*===-- Operands ----------------------------------------------------------===*/

static int subscripts(struct tg_nest_walk *walk, const struct tg_stage *stage,
                      int o, MlirValue *indices) {
  struct tg_builder *builder = walk->builder;
  const struct tg_access *access = &stage->nest.operand[o];
  for (int d = 0; d < access->rank; ++d) {
    MlirValue sum = tg_index(builder, 0);
    int64_t constant = 0;
    for (int l = 0; l < stage->nest.loop_count; ++l) {
      int32_t coefficient = access->coefficient[d][l];
      if (!coefficient)
        continue;
      sum =
          tg_add(builder, sum, tg_mul(builder, walk->position[l], coefficient));
      constant += coefficient * walk->delta[l];
    }
    indices[d] = tg_add(builder, sum, tg_index(builder, constant));
  }
  return access->rank;
}

static MlirValue element_at(struct tg_nest_walk *walk,
                            const struct tg_stage *stage, int o) {
  MlirValue indices[TG_MAX_RANK];
  int rank = subscripts(walk, stage, o, indices);
  return tg_extract(walk->builder, walk->tensor[stage->tensor[o]], rank,
                    indices);
}

/*===-- Loops over operands -----------------------------------------------===*/

/* Does the operand stay where it is in all loops that are yet to come? The
 * rows of a tile are no loop. */
static bool is_invariant(const struct tg_nest_walk *walk,
                         const struct tg_stage *stage, int o) {
  const struct tg_access *access = &stage->nest.operand[o];
  for (int l = 0; l < stage->nest.loop_count; ++l)
    for (int d = 0; d < access->rank; ++d)
      if (access->coefficient[d][l] && l >= walk->group->rows &&
          (!walk->entered[l] || l == walk->tile_loop))
        return false;
  return stage->vector_loop < 0 ||
         tg_access_reach(access, stage->vector_loop) == TG_REACH_UNIFORM;
}

static struct tg_nest_loaded *find_loaded(struct tg_nest_walk *walk, int s,
                                          int o) {
  for (int i = 0; i < walk->loaded_count; ++i)
    if (walk->loaded[i].stage == s && walk->loaded[i].operand == o)
      return &walk->loaded[i];
  return NULL;
}

/* Reads what the loops inside do not change: nothing tells LLVM that their
 * stores are elsewhere. */
static void load_invariants(struct tg_nest_walk *walk) {
  for (int s = walk->first; s <= walk->last; ++s) {
    const struct tg_stage *stage = stage_of(walk, s);
    for (int o = 0; o < stage->nest.input_count; ++o) {
      int t = stage->tensor[o];
      if (t == TG_NO_TENSOR || !stage->nest.read[o] ||
          walk->group->tensor[t].producer >= walk->first ||
          walk->loaded_count == TG_NEST_MAX_LOADED || find_loaded(walk, s, o) ||
          !is_invariant(walk, stage, o))
        continue;
      walk->loaded[walk->loaded_count++] =
          (struct tg_nest_loaded){s, o, element_at(walk, stage, o)};
    }
  }
}

/* Calls body for the iterations of the loops in `loops`, outermost first. */
static void emit_loops(struct tg_nest_walk *walk, const int *loops, int count,
                       void (*body)(struct tg_nest_walk *)) {
  if (count == 0) {
    body(walk);
    return;
  }
  struct tg_for loop;
  MlirValue before = walk->position[loops[0]];
  int loaded = walk->loaded_count;
  load_invariants(walk);
  walk->entered[loops[0]] = true;
  loop_begin(walk, &loop, 0, lead_of(walk)->nest.extent[loops[0]], 1);
  walk->position[loops[0]] = loop.iv;
  emit_loops(walk, loops + 1, count - 1, body);
  loop_end(walk, &loop);
  /* Another stage may have one iteration of a loop of this number. */
  walk->position[loops[0]] = before;
  walk->entered[loops[0]] = false;
  walk->loaded_count = loaded;
}

/* Covers the loop in pieces: whole ones in a loop, then the rest, a vector
 * each. step: iterations of a piece of `vectors` vectors. */
static void emit_pieces(struct tg_nest_walk *walk, int loop, int64_t lanes,
                        int64_t vectors,
                        void (*body)(struct tg_nest_walk *, int64_t vectors,
                                     int64_t valid)) {
  struct tg_builder *builder = walk->builder;
  int64_t extent = lead_of(walk)->nest.extent[loop];
  int64_t step = lanes * vectors, full = extent / step * step;
  MlirValue before = walk->position[loop];
  int loaded = walk->loaded_count;
  struct tg_for repeat;
  load_invariants(walk);
  walk->entered[loop] = true;
  if (full == step) {
    walk->position[loop] = tg_index(builder, 0);
    body(walk, vectors, lanes);
  } else if (full > 0) {
    loop_begin(walk, &repeat, 0, full, step);
    walk->position[loop] = repeat.iv;
    body(walk, vectors, lanes);
    loop_end(walk, &repeat);
  }
  if (full < extent) {
    int64_t rest = extent - full;
    walk->position[loop] = tg_index(builder, full);
    body(walk, (rest + lanes - 1) / lanes, rest % lanes ? rest % lanes : lanes);
  }
  walk->position[loop] = before;
  walk->entered[loop] = false;
  walk->loaded_count = loaded;
}

/*===-- Vectors of operands -----------------------------------------------===*/

static enum tg_reach reach_of(const struct tg_stage *stage, int o) {
  return stage->vector_loop < 0
             ? TG_REACH_UNIFORM
             : tg_access_reach(&stage->nest.operand[o], stage->vector_loop);
}

/* Lane by lane; those that don't exist repeat the last one that does. */
static MlirValue read_lanes(struct tg_nest_walk *walk,
                            const struct tg_stage *stage, int o,
                            int64_t valid) {
  MlirValue elements[TG_NEST_MAX_LANES];
  int64_t *delta = &walk->delta[stage->vector_loop], before = *delta;
  for (int64_t lane = 0; lane < walk->group->lanes; ++lane) {
    *delta = before + lane;
    elements[lane] =
        lane < valid ? element_at(walk, stage, o) : elements[lane - 1];
  }
  *delta = before;
  return tg_from_lanes(walk->builder, elements);
}

static MlirType element_type(const struct tg_nest_walk *walk, int t) {
  return mlirShapedTypeGetElementType(
      mlirValueGetType(walk->group->tensor[t].value));
}

static MlirValue read_tensor(struct tg_nest_walk *walk, int s, int o,
                             int64_t valid) {
  const struct tg_stage *stage = stage_of(walk, s);
  int t = stage->tensor[o];
  if (!mlirValueIsNull(walk->held[t]))
    return walk->held[t];
  const struct tg_nest_loaded *loaded = find_loaded(walk, s, o);
  if (loaded)
    return loaded->value;
  for (int i = 0; i < walk->tiled_count; ++i)
    if (walk->tiled[i].stage == s && walk->tiled[i].operand == o)
      return walk->tiled[i].vector[walk->delta[walk->tile_loop]];
  enum tg_reach reach = reach_of(stage, o);
  if (reach == TG_REACH_UNIFORM)
    return element_at(walk, stage, o);
  if (reach == TG_REACH_SCATTERED ||
      !tg_element_is_addressable(element_type(walk, t)))
    return read_lanes(walk, stage, o, valid);
  const struct tg_access *access = &stage->nest.operand[o];
  int dimension = tg_access_dimension(access, stage->vector_loop);
  MlirValue indices[TG_MAX_RANK];
  int rank = subscripts(walk, stage, o, indices);
  return tg_read_strided(walk->builder, walk->tensor[t], rank, indices,
                         access->coefficient[dimension][stage->vector_loop],
                         valid);
}

/* A constant, or a capture. */
static MlirValue outer_scalar(struct tg_nest_walk *walk, MlirValue value) {
  for (int i = 0; i < walk->group->capture_count; ++i)
    if (mlirValueEqual(walk->group->capture[i], value))
      return walk->capture[i];
  MlirOperation constant = mlirOperationClone(tg_value_producer(value));
  mlirBlockAppendOwnedOperation(walk->builder->block, constant);
  return mlirOperationGetResult(constant, 0);
}

/* What a result is before the first iteration. */
static MlirValue read_initial(struct tg_nest_walk *walk, int s, int o,
                              int64_t valid) {
  const struct tg_stage *stage = stage_of(walk, s);
  if (!mlirValueIsNull(stage->fill[o]))
    return outer_scalar(walk, stage->fill[o]);
  return read_tensor(walk, s, o, valid);
}

static MlirValue as_vector(struct tg_nest_walk *walk, MlirValue value) {
  return mlirTypeIsAVector(mlirValueGetType(value))
             ? value
             : tg_broadcast(walk->builder, value);
}

static void write_lanes(struct tg_nest_walk *walk, const struct tg_stage *stage,
                        int o, MlirValue vector, int64_t valid) {
  int t = stage->tensor[o];
  int64_t *delta = &walk->delta[stage->vector_loop], before = *delta;
  for (int64_t lane = 0; lane < valid; ++lane) {
    MlirValue indices[TG_MAX_RANK];
    *delta = before + lane;
    int rank = subscripts(walk, stage, o, indices);
    walk->tensor[t] =
        tg_insert(walk->builder, tg_get_lane(walk->builder, vector, lane),
                  walk->tensor[t], rank, indices);
  }
  *delta = before;
}

static void write_tensor(struct tg_nest_walk *walk,
                         const struct tg_stage *stage, int o, MlirValue value,
                         int64_t valid) {
  int t = stage->tensor[o];
  if (t == TG_NO_TENSOR || walk->group->tensor[t].residence == TG_REGISTER)
    return;
  MlirValue indices[TG_MAX_RANK];
  int rank = subscripts(walk, stage, o, indices);
  if (reach_of(stage, o) == TG_REACH_UNIFORM)
    walk->tensor[t] =
        tg_insert(walk->builder, value, walk->tensor[t], rank, indices);
  else if (!tg_element_is_addressable(element_type(walk, t)))
    write_lanes(walk, stage, o, as_vector(walk, value), valid);
  else
    walk->tensor[t] = tg_write(walk->builder, as_vector(walk, value),
                               walk->tensor[t], rank, indices, valid);
}

/*===-- Stages ------------------------------------------------------------===*/

static struct tg_nest_accumulator *find_accumulator(struct tg_nest_walk *walk,
                                                    int s, int o) {
  for (int a = 0; a < walk->accumulator_count; ++a)
    if (walk->accumulator[a].stage == s && walk->accumulator[a].operand == o)
      return &walk->accumulator[a];
  return NULL;
}

static void bind_operands(struct tg_nest_walk *walk, struct tg_lanes *lanes,
                          int s, int64_t k) {
  const struct tg_stage *stage = stage_of(walk, s);
  MlirBlock body = tg_nest_body(stage->op);
  for (int o = 0; o < stage->nest.operand_count; ++o) {
    if (!stage->nest.read[o])
      continue;
    struct tg_nest_accumulator *accumulator = find_accumulator(walk, s, o);
    MlirValue value;
    if (accumulator)
      value = accumulator->value[k];
    else if (o >= stage->nest.input_count)
      value = read_initial(walk, s, o, lanes->valid);
    else if (stage->tensor[o] == TG_NO_TENSOR)
      value = outer_scalar(walk, mlirOperationGetOperand(stage->op, o));
    else
      value = read_tensor(walk, s, o, lanes->valid);
    tg_lanes_bind(lanes, mlirBlockGetArgument(body, o), value);
  }
}

static MlirValue loop_index(struct tg_nest_walk *walk, int64_t loop) {
  return tg_add(walk->builder, walk->position[loop],
                tg_index(walk->builder, walk->delta[loop]));
}

static void bind_captures(struct tg_nest_walk *walk, struct tg_lanes *lanes,
                          int s) {
  const struct tg_stage *stage = stage_of(walk, s);
  MlirValue captures[TG_MAX_NEST_CAPTURES];
  int count = tg_nest_captures(stage->op, TG_MAX_NEST_CAPTURES, captures);
  for (int i = 0; i < count; ++i)
    tg_lanes_bind(lanes, captures[i], outer_scalar(walk, captures[i]));
  for (MlirOperation op = mlirBlockGetFirstOperation(tg_nest_body(stage->op));
       !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
    int64_t loop;
    if (tg_op_is(op, "linalg.index") &&
        tg_attribute_integer(mlirOperationGetAttributeByName(op, tg_ref("dim")),
                             &loop) &&
        loop != stage->vector_loop)
      tg_lanes_bind(lanes, mlirOperationGetResult(op, 0),
                    loop_index(walk, loop));
  }
}

static void take_results(struct tg_nest_walk *walk, struct tg_lanes *lanes,
                         int s, int64_t k, MlirOperation yield) {
  const struct tg_stage *stage = stage_of(walk, s);
  for (int o = stage->nest.input_count; o < stage->nest.operand_count; ++o) {
    MlirValue scalar =
        mlirOperationGetOperand(yield, o - stage->nest.input_count);
    struct tg_nest_accumulator *accumulator = find_accumulator(walk, s, o);
    MlirValue value = tg_lanes_get(lanes, scalar);
    if (accumulator) {
      MlirValue *sum = &accumulator->value[k];
      if (stage->vector_loop >= 0)
        value = as_vector(walk, value);
      bool partial = stage->vector_loop >= 0 &&
                     stage->nest.reduction[stage->vector_loop] &&
                     lanes->valid < walk->group->lanes;
      /* Lanes that don't exist are part of the sum: they stay. */
      *sum = partial ? tg_select_lanes(walk->builder, value, *sum, lanes->valid)
                     : value;
      continue;
    }
    if (stage->tensor[o] != TG_NO_TENSOR)
      walk->held[stage->tensor[o]] = value;
    write_tensor(walk, stage, o, value, lanes->valid);
  }
}

/* One vector of every stage of the sweep. */
static void emit_stages(struct tg_nest_walk *walk, int64_t k, int64_t valid) {
  for (int s = walk->first; s <= walk->last; ++s) {
    const struct tg_stage *stage = stage_of(walk, s);
    struct tg_lanes lanes = {.builder = walk->builder,
                             .valid = valid,
                             .vector_loop = stage->vector_loop};
    if (stage->vector_loop >= 0)
      lanes.index = loop_index(walk, stage->vector_loop);
    bind_operands(walk, &lanes, s, k);
    bind_captures(walk, &lanes, s);
    take_results(walk, &lanes, s, k,
                 tg_lanes_emit(&lanes, tg_nest_body(stage->op)));
  }
  for (int t = 0; t < walk->group->tensor_count; ++t)
    walk->held[t] = (MlirValue){NULL};
}

/*===-- Sweeps without a reduction ----------------------------------------===*/

static int64_t valid_of(int64_t k, int64_t vectors, int64_t lanes,
                        int64_t valid) {
  return k == vectors - 1 ? valid : lanes;
}

static void emit_vectors(struct tg_nest_walk *walk, int64_t vectors,
                         int64_t valid) {
  int loop = lead_of(walk)->vector_loop;
  for (int64_t k = 0; k < vectors; ++k) {
    walk->delta[loop] = k * walk->group->lanes;
    emit_stages(walk, k, valid_of(k, vectors, walk->group->lanes, valid));
  }
  walk->delta[loop] = 0;
}

static void emit_elementwise(struct tg_nest_walk *walk) {
  const struct tg_stage *lead = lead_of(walk);
  if (lead->vector_loop < 0)
    emit_stages(walk, 0, 1);
  else
    emit_pieces(walk, lead->vector_loop, walk->group->lanes, lead->vectors,
                emit_vectors);
}

/* Is the operand scattered along the vector loop, and contiguous along this
 * one? */
static bool is_crossed(const struct tg_nest_walk *walk, int s, int o,
                       int loop) {
  const struct tg_stage *stage = stage_of(walk, s);
  int t = stage->tensor[o];
  return t != TG_NO_TENSOR && stage->nest.read[o] &&
         walk->group->tensor[t].producer < walk->first &&
         reach_of(stage, o) == TG_REACH_SCATTERED &&
         tg_element_is_addressable(element_type(walk, t)) &&
         tg_access_reach(&stage->nest.operand[o], loop) == TG_REACH_CONTIGUOUS;
}

/*
 * Where an input runs across the vectors, square tiles of it are transposed in
 * registers. Finds the other loop of these tiles, and what is read so.
 */
static void find_tiles(struct tg_nest_walk *walk) {
  int64_t lanes = walk->group->lanes;
  const struct tg_stage *lead = lead_of(walk);
  int body_ops = 0;
  walk->tile_loop = -1;
  walk->tiled_count = 0;
  for (int s = walk->first; s <= walk->last; ++s)
    body_ops += stage_of(walk, s)->nest.body_ops;
  if (lead->vector_loop < 0 || lanes < 2 || (lanes & (lanes - 1)) ||
      body_ops > MAX_TILED_BODY)
    return;
  for (int l = 0; l < lead->nest.loop_count && walk->tiled_count == 0; ++l) {
    if (l == lead->vector_loop || !tg_stage_has_loop(walk->group, lead, l))
      continue;
    walk->tile_loop = l;
    for (int s = walk->first; s <= walk->last; ++s)
      for (int o = 0; o < stage_of(walk, s)->nest.input_count; ++o)
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
  const struct tg_stage *stage = stage_of(walk, tiled->stage);
  for (int64_t lane = 0; lane < walk->group->lanes; ++lane) {
    MlirValue indices[TG_MAX_RANK];
    walk->delta[stage->vector_loop] = lane < columns ? lane : columns - 1;
    int rank = subscripts(walk, stage, tiled->operand, indices);
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
    emit_stages(walk, 0, columns);
  }
  walk->delta[walk->tile_loop] = 0;
}

static void emit_tile_row(struct tg_nest_walk *walk, int64_t vectors,
                          int64_t rows) {
  (void)vectors;
  walk->tile_rows = rows;
  emit_pieces(walk, lead_of(walk)->vector_loop, walk->group->lanes, 1,
              emit_tile);
}

static void emit_tiles(struct tg_nest_walk *walk) {
  emit_pieces(walk, walk->tile_loop, walk->group->lanes, 1, emit_tile_row);
}

/*===-- Sweeps with reductions --------------------------------------------===*/

static bool sweep_reduces_over(const struct tg_nest_walk *walk, int loop) {
  for (int s = walk->first; s <= walk->last; ++s)
    if (stage_of(walk, s)->nest.reduction[loop])
      return true;
  return false;
}

static MlirType result_element(const struct tg_stage *stage, int o) {
  return mlirShapedTypeGetElementType(
      mlirValueGetType(mlirOperationGetOperand(stage->op, o)));
}

/* In the order of the loops: the sum goes on from the initial value. */
static MlirValue start_in_order(struct tg_nest_walk *walk, int s, int o,
                                int64_t valid) {
  const struct tg_stage *stage = stage_of(walk, s);
  MlirType type = result_element(stage, o);
  MlirValue value = stage->nest.read[o] ? read_initial(walk, s, o, valid)
                                        : tg_constant(walk->builder, type,
                                                      tg_zero_attribute(type));
  return stage->vector_loop < 0 ? value : as_vector(walk, value);
}

/* In any order: the initial value is added at the end. */
static MlirValue start_apart(struct tg_nest_walk *walk, int s, int o) {
  const struct tg_stage *stage = stage_of(walk, s);
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
    const struct tg_stage *stage = stage_of(walk, s);
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
    const struct tg_stage *stage = stage_of(walk, accumulator->stage);
    int o = accumulator->operand;
    MlirOperation combiner =
        tg_nest_combiner(stage->op, o - stage->nest.input_count);
    MlirValue sum = accumulator->value[0];
    for (int64_t k = 1; k < walk->live; ++k)
      sum = tg_combine(walk->builder, combiner, sum, accumulator->value[k]);
    sum = tg_reduce_lanes(walk->builder, combiner, sum);
    sum = tg_combine(walk->builder, combiner,
                     read_initial(walk, accumulator->stage, o, 1), sum);
    write_tensor(walk, stage, o, sum, 1);
  }
}

static void finish_in_order(struct tg_nest_walk *walk, int64_t valid) {
  for (int a = 0; a < walk->accumulator_count; ++a) {
    struct tg_nest_accumulator *accumulator = &walk->accumulator[a];
    const struct tg_stage *stage = stage_of(walk, accumulator->stage);
    for (int64_t k = 0; k < walk->live; ++k) {
      if (stage->vector_loop >= 0)
        walk->delta[stage->vector_loop] = k * walk->group->lanes;
      write_tensor(walk, stage, accumulator->operand, accumulator->value[k],
                   valid_of(k, walk->live, walk->group->lanes, valid));
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
  const struct tg_stage *lead = lead_of(walk);
  int count = 0;
  for (int l = 0; l < lead->nest.loop_count; ++l)
    if (tg_stage_has_loop(walk->group, lead, l) && l != lead->vector_loop &&
        sweep_reduces_over(walk, l))
      loops[count++] = l;
  return count;
}

static void emit_reduced_vectors(struct tg_nest_walk *walk) {
  const struct tg_stage *lead = lead_of(walk);
  int64_t live = walk->live;
  if (lead->vector_loop < 0)
    emit_stages(walk, 0, 1);
  else if (sweep_reduces_over(walk, lead->vector_loop))
    emit_pieces(walk, lead->vector_loop, walk->group->lanes, live,
                emit_vectors);
  else
    emit_vectors(walk, live, walk->valid);
}

/* Sums of the iterations along the vector loop: each lane has its own. */
static void emit_piece_in_order(struct tg_nest_walk *walk, int64_t vectors,
                                int64_t valid) {
  const struct tg_stage *lead = lead_of(walk);
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
                         valid_of(k, vectors, walk->group->lanes, valid));
    }
  if (lead->vector_loop >= 0)
    walk->delta[lead->vector_loop] = 0;
  walk->live = vectors;
  walk->valid = valid;
  emit_loops(walk, loops, count, emit_reduced_vectors);
  finish_in_order(walk, valid);
  drop_accumulators(walk);
}

/* The vector loop itself is summed over. */
static void emit_sums_apart(struct tg_nest_walk *walk) {
  const struct tg_stage *lead = lead_of(walk);
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
  emit_loops(walk, loops, count, emit_reduced_vectors);
  finish_apart(walk);
  drop_accumulators(walk);
}

static void emit_sums(struct tg_nest_walk *walk) {
  const struct tg_stage *lead = lead_of(walk);
  if (lead->vector_loop < 0)
    emit_piece_in_order(walk, 1, 1);
  else if (sweep_reduces_over(walk, lead->vector_loop))
    emit_sums_apart(walk);
  else
    emit_pieces(walk, lead->vector_loop, walk->group->lanes, lead->vectors,
                emit_piece_in_order);
}

/*===-- Sweeps, rows ------------------------------------------------------===*/

static void emit_sweep(struct tg_nest_walk *walk) {
  const struct tg_stage *lead = lead_of(walk);
  bool reduces = false;
  for (int s = walk->first; s <= walk->last; ++s)
    reduces |= stage_of(walk, s)->reduces;
  walk->tile_loop = -1;
  walk->tiled_count = 0;
  if (!reduces)
    find_tiles(walk);
  int loops[TG_MAX_LOOPS], count = 0;
  for (int l = 0; l < lead->nest.loop_count; ++l)
    if (tg_stage_has_loop(walk->group, lead, l) && l != lead->vector_loop &&
        l != walk->tile_loop && !sweep_reduces_over(walk, l))
      loops[count++] = l;
  emit_loops(walk, loops, count,
             reduces                ? emit_sums
             : walk->tile_loop >= 0 ? emit_tiles
                                    : emit_elementwise);
}

static void emit_sweeps(struct tg_nest_walk *walk) {
  int count = walk->group->stage_count;
  for (walk->first = 0; walk->first < count; walk->first = walk->last + 1) {
    walk->last = walk->first;
    while (walk->last + 1 < count &&
           stage_of(walk, walk->last + 1)->first_of_sweep == walk->first)
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
  emit_loops(walk, loops, count, emit_sweeps);
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
          tg_scratch_of(builder, element_type(walk, t), group->tensor[t].rank,
                        group->tensor[t].extent);
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
