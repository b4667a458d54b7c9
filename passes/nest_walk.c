/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Loops, operands and stages: what every sweep over a row is made of.
 */
#include "passes/nest_walk.h"

#include <assert.h>
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

#include "passes/inspect.h"
#include "passes/lanes.h"

const struct tg_stage *tg_nest_stage(const struct tg_nest_walk *walk, int s) {
  return &walk->group->stage[s];
}

const struct tg_stage *tg_nest_lead(const struct tg_nest_walk *walk) {
  return tg_nest_stage(walk, walk->first);
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

int tg_nest_subscripts(struct tg_nest_walk *walk, const struct tg_stage *stage,
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
  int rank = tg_nest_subscripts(walk, stage, o, indices);
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
    const struct tg_stage *stage = tg_nest_stage(walk, s);
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
void tg_nest_emit_loops(struct tg_nest_walk *walk, const int *loops, int count,
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
  loop_begin(walk, &loop, 0, tg_nest_lead(walk)->nest.extent[loops[0]], 1);
  walk->position[loops[0]] = loop.iv;
  tg_nest_emit_loops(walk, loops + 1, count - 1, body);
  loop_end(walk, &loop);
  /* Another stage may have one iteration of a loop of this number. */
  walk->position[loops[0]] = before;
  walk->entered[loops[0]] = false;
  walk->loaded_count = loaded;
}

/* Covers the loop in pieces: whole ones in a loop, then the rest, a vector
 * each. step: iterations of a piece of `vectors` vectors. */
void tg_nest_emit_pieces(struct tg_nest_walk *walk, int loop, int64_t lanes,
                         int64_t vectors,
                         void (*body)(struct tg_nest_walk *, int64_t vectors,
                                      int64_t valid)) {
  struct tg_builder *builder = walk->builder;
  int64_t extent = tg_nest_lead(walk)->nest.extent[loop];
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

enum tg_reach tg_nest_reach(const struct tg_stage *stage, int o) {
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

MlirType tg_nest_element_type(const struct tg_nest_walk *walk, int t) {
  return mlirShapedTypeGetElementType(
      mlirValueGetType(walk->group->tensor[t].value));
}

static MlirValue read_tensor(struct tg_nest_walk *walk, int s, int o,
                             int64_t valid) {
  const struct tg_stage *stage = tg_nest_stage(walk, s);
  int t = stage->tensor[o];
  if (!mlirValueIsNull(walk->held[t]))
    return walk->held[t];
  const struct tg_nest_loaded *loaded = find_loaded(walk, s, o);
  if (loaded)
    return loaded->value;
  for (int i = 0; i < walk->tiled_count; ++i)
    if (walk->tiled[i].stage == s && walk->tiled[i].operand == o)
      return walk->tiled[i].vector[walk->delta[walk->tile_loop]];
  enum tg_reach reach = tg_nest_reach(stage, o);
  if (reach == TG_REACH_UNIFORM)
    return element_at(walk, stage, o);
  if (reach == TG_REACH_SCATTERED ||
      !tg_element_is_addressable(tg_nest_element_type(walk, t)))
    return read_lanes(walk, stage, o, valid);
  const struct tg_access *access = &stage->nest.operand[o];
  int dimension = tg_access_dimension(access, stage->vector_loop);
  MlirValue indices[TG_MAX_RANK];
  int rank = tg_nest_subscripts(walk, stage, o, indices);
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
MlirValue tg_nest_read_initial(struct tg_nest_walk *walk, int s, int o,
                               int64_t valid) {
  const struct tg_stage *stage = tg_nest_stage(walk, s);
  if (!mlirValueIsNull(stage->fill[o]))
    return outer_scalar(walk, stage->fill[o]);
  return read_tensor(walk, s, o, valid);
}

MlirValue tg_nest_as_vector(struct tg_nest_walk *walk, MlirValue value) {
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
    int rank = tg_nest_subscripts(walk, stage, o, indices);
    walk->tensor[t] =
        tg_insert(walk->builder, tg_get_lane(walk->builder, vector, lane),
                  walk->tensor[t], rank, indices);
  }
  *delta = before;
}

void tg_nest_write(struct tg_nest_walk *walk, const struct tg_stage *stage,
                   int o, MlirValue value, int64_t valid) {
  int t = stage->tensor[o];
  if (t == TG_NO_TENSOR || walk->group->tensor[t].residence == TG_REGISTER)
    return;
  MlirValue indices[TG_MAX_RANK];
  int rank = tg_nest_subscripts(walk, stage, o, indices);
  if (tg_nest_reach(stage, o) == TG_REACH_UNIFORM)
    walk->tensor[t] =
        tg_insert(walk->builder, value, walk->tensor[t], rank, indices);
  else if (!tg_element_is_addressable(tg_nest_element_type(walk, t)))
    write_lanes(walk, stage, o, tg_nest_as_vector(walk, value), valid);
  else
    walk->tensor[t] = tg_write(walk->builder, tg_nest_as_vector(walk, value),
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
  const struct tg_stage *stage = tg_nest_stage(walk, s);
  MlirBlock body = tg_nest_body(stage->op);
  for (int o = 0; o < stage->nest.operand_count; ++o) {
    if (!stage->nest.read[o])
      continue;
    struct tg_nest_accumulator *accumulator = find_accumulator(walk, s, o);
    MlirValue value;
    if (accumulator)
      value = accumulator->value[k];
    else if (o >= stage->nest.input_count)
      value = tg_nest_read_initial(walk, s, o, lanes->valid);
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
  const struct tg_stage *stage = tg_nest_stage(walk, s);
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
  const struct tg_stage *stage = tg_nest_stage(walk, s);
  for (int o = stage->nest.input_count; o < stage->nest.operand_count; ++o) {
    MlirValue scalar =
        mlirOperationGetOperand(yield, o - stage->nest.input_count);
    struct tg_nest_accumulator *accumulator = find_accumulator(walk, s, o);
    MlirValue value = tg_lanes_get(lanes, scalar);
    if (accumulator) {
      MlirValue *sum = &accumulator->value[k];
      if (stage->vector_loop >= 0)
        value = tg_nest_as_vector(walk, value);
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
    tg_nest_write(walk, stage, o, value, lanes->valid);
  }
}

/* One vector of every stage of the sweep. */
void tg_nest_emit_stages(struct tg_nest_walk *walk, int64_t k, int64_t valid) {
  for (int s = walk->first; s <= walk->last; ++s) {
    const struct tg_stage *stage = tg_nest_stage(walk, s);
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

int64_t tg_nest_valid(int64_t k, int64_t vectors, int64_t lanes,
                      int64_t valid) {
  return k == vectors - 1 ? valid : lanes;
}

void tg_nest_emit_vectors(struct tg_nest_walk *walk, int64_t vectors,
                          int64_t valid) {
  int loop = tg_nest_lead(walk)->vector_loop;
  for (int64_t k = 0; k < vectors; ++k) {
    walk->delta[loop] = k * walk->group->lanes;
    tg_nest_emit_stages(walk, k,
                        tg_nest_valid(k, vectors, walk->group->lanes, valid));
  }
  walk->delta[loop] = 0;
}

bool tg_nest_reduces_over(const struct tg_nest_walk *walk, int loop) {
  for (int s = walk->first; s <= walk->last; ++s)
    if (tg_nest_stage(walk, s)->nest.reduction[loop])
      return true;
  return false;
}
