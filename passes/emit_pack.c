/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Panels: an input is copied into (panel, depth, width), so that the register
 * tile reads it front to back. Four ways, by how the source is addressed:
 * vectors along the panel's own loop, vectors along the reduction that are
 * transposed in registers, gathers for a flattened image, and single elements
 * for what is left.
 */
#include "passes/emit_dynamic.h"

#include <mlir-c/BuiltinTypes.h>

struct pack {
  int operand;
  int loop;      /* the loop that the panels cut */
  int64_t width; /* of a panel */
  int64_t valid; /* elements of this panel that exist */
  MlirValue panel;
  /* The source with its reduction dimensions collapsed into the last one;
   * null where they aren't contiguous. */
  MlirValue flat_source;
  int flat_rank;
};

static MlirValue *panels(struct tg_emit *emit, const struct pack *pack) {
  return &emit->state[TG_CARRIED_PANELS + pack->operand];
}

static int64_t group_size(const struct tg_emit *emit, int64_t size,
                          int64_t group) {
  int64_t left = size - group * emit->plan->lanes;
  return left < emit->plan->lanes ? left : emit->plan->lanes;
}

/*===-- Which way ---------------------------------------------------------===*/

/* Are the reduction loops, in order, the operand's trailing dimensions? Then
 * group[] collapses them, and the answer is the collapsed rank; else 0. */
static int flat_reduction_group(const struct tg_plan *plan, int operand,
                                int group[TG_MAX_RANK]) {
  const struct tg_kernel *kernel = &plan->canonical.kernel;
  const struct tg_access *access = &kernel->operand[operand];
  int first = access->rank - plan->reduction_count;
  if (plan->reduction_count == 0 || first < 0)
    return 0;
  for (int d = 0; d < access->rank; ++d) {
    group[d] = d < first ? d : first;
    for (int l = 0; l < kernel->loop_count; ++l) {
      bool own = d >= first && plan->reduction[d - first] == l;
      if (d >= first && access->coefficient[d][l] != (own ? 1 : 0))
        return 0;
      if (d < first && kernel->reduction[l] && access->coefficient[d][l])
        return 0;
      if (own && access->extent[d] != kernel->extent[l])
        return 0;
    }
  }
  return first + 1;
}

/*===-- One step of depth -------------------------------------------------===*/

static void write_panel(struct tg_emit *emit, const struct pack *pack,
                        MlirValue depth, int64_t column, MlirValue vector,
                        int64_t valid) {
  struct tg_builder *b = &emit->builder;
  MlirValue indices[3] = {pack->panel, depth, tg_index(b, column)};
  *panels(emit, pack) =
      tg_write(b, vector, *panels(emit, pack), 3, indices, valid);
}

/* What doesn't exist is zero in a panel: garbage there would be harmless but
 * for denormal numbers, which are slow, and would make each compilation another
 * one where panels are constants. */
static void clear_lanes(struct tg_emit *emit, struct pack *pack,
                        MlirValue depth) {
  int64_t lanes = emit->plan->lanes;
  if (pack->valid < pack->width || !mlirValueIsNull(emit->rest))
    for (int64_t g = 0; g * lanes < pack->width; ++g)
      write_panel(emit, pack, depth, g * lanes, tg_zero_vector(&emit->builder),
                  group_size(emit, pack->width, g));
}

/* Vectors along the panel's loop; what doesn't exist is read as zero. */
static void copy_contiguous(struct tg_emit *emit, struct pack *pack) {
  MlirValue depth = tg_emit_panel_depth(emit, pack->operand);
  int64_t lanes = emit->plan->lanes;
  MlirValue indices[TG_MAX_RANK];
  for (int64_t g = 0; g * lanes < pack->width; ++g) {
    int64_t exists = group_size(emit, pack->valid, g);
    if (exists <= 0) {
      write_panel(emit, pack, depth, g * lanes, tg_zero_vector(&emit->builder),
                  group_size(emit, pack->width, g));
      continue;
    }
    if (!mlirValueIsNull(emit->rest))
      exists = tg_rest_lanes(g);
    emit->delta[pack->loop] = g * lanes;
    int rank = tg_emit_subscripts(emit, pack->operand, indices);
    emit->delta[pack->loop] = 0;
    MlirValue vector = tg_read_strided(
        &emit->builder, emit->source[pack->operand], rank, indices,
        tg_plan_step(emit->plan, pack->operand, pack->loop), exists);
    write_panel(emit, pack, depth, g * lanes,
                tg_emit_extend(emit, pack->operand, vector),
                group_size(emit, pack->width, g));
  }
}

/* Row-major offset of the current position, the panel's loop left out. */
static MlirValue base_offset(struct tg_emit *emit, int operand, int loop) {
  struct tg_builder *b = &emit->builder;
  MlirValue sum = tg_index(b, 0);
  for (int l = 0; l < emit->kernel->loop_count; ++l) {
    if (l == loop)
      continue;
    int64_t stride = tg_kernel_stride(emit->kernel, operand, l);
    sum = tg_add(b, sum, tg_mul(b, emit->position[l], stride));
  }
  return sum;
}

static void copy_gathered(struct tg_emit *emit, struct pack *pack,
                          const MlirValue *offsets) {
  MlirValue depth = tg_emit_panel_depth(emit, pack->operand);
  MlirValue base = base_offset(emit, pack->operand, pack->loop);
  int64_t lanes = emit->plan->lanes;
  for (int64_t g = 0; g * lanes < pack->width; ++g) {
    if (group_size(emit, pack->valid, g) <= 0) {
      write_panel(emit, pack, depth, g * lanes, tg_zero_vector(&emit->builder),
                  lanes);
      continue;
    }
    MlirValue vector =
        tg_gather(&emit->builder, pack->flat_source, base, offsets[g]);
    write_panel(emit, pack, depth, g * lanes,
                tg_emit_extend(emit, pack->operand, vector), lanes);
  }
}

static MlirValue valid_elements(struct tg_emit *emit, const struct pack *pack) {
  return mlirValueIsNull(emit->rest) ? tg_index(&emit->builder, pack->valid)
                                     : emit->rest;
}

/* Single elements, the lanes that don't exist cleared first. */
static void copy_elements(struct tg_emit *emit, struct pack *pack) {
  struct tg_builder *b = &emit->builder;
  MlirValue depth = tg_emit_panel_depth(emit, pack->operand);
  clear_lanes(emit, pack, depth);
  MlirValue start = emit->position[pack->loop];
  struct tg_for loop;
  tg_for_begin(b, &loop, tg_index(b, 0), valid_elements(emit, pack), 1, 1,
               panels(emit, pack));
  emit->position[pack->loop] = tg_add(b, start, loop.iv);
  MlirValue indices[TG_MAX_RANK];
  int rank = tg_emit_subscripts(emit, pack->operand, indices);
  MlirValue element =
      tg_emit_extend(emit, pack->operand,
                     tg_extract(b, emit->source[pack->operand], rank, indices));
  MlirValue place[3] = {pack->panel, depth, loop.iv};
  MlirValue next = tg_insert(b, element, loop.carried[0], 3, place);
  tg_for_end(b, &loop, &next);
  *panels(emit, pack) = loop.carried[0];
  emit->position[pack->loop] = start;
}

/* Subscripts of lane `lane` of the panel; beyond a rest, of its last one once
 * more. */
static void lane_subscripts(struct tg_emit *emit, const struct pack *pack,
                            int64_t lane, MlirValue *indices) {
  struct tg_builder *b = &emit->builder;
  MlirValue start = emit->position[pack->loop];
  if (mlirValueIsNull(emit->rest)) {
    emit->delta[pack->loop] = lane;
  } else {
    MlirValue last = tg_sub(b, emit->rest, tg_index(b, 1));
    emit->position[pack->loop] =
        tg_add(b, start, tg_min(b, tg_index(b, lane), last));
  }
  tg_emit_subscripts(emit, pack->operand, indices);
  emit->delta[pack->loop] = 0;
  emit->position[pack->loop] = start;
}

/* lanes x lanes elements at once, of one group of the panel's lanes: vectors
 * along the reduction, transposed. */
static void copy_transposed(struct tg_emit *emit, struct pack *pack,
                            int64_t group, MlirValue source_depth,
                            MlirValue depth) {
  struct tg_builder *b = &emit->builder;
  MlirValue rows[TG_MAX_LANES], indices[TG_MAX_RANK];
  int64_t exists = group_size(emit, pack->valid, group);
  int64_t first = group * b->lanes;
  for (int64_t i = 0; i < b->lanes; ++i) {
    if (i >= exists) {
      rows[i] = tg_zero_vector(b);
      continue;
    }
    lane_subscripts(emit, pack, first + i, indices);
    indices[pack->flat_rank - 1] = source_depth;
    rows[i] = tg_emit_extend(
        emit, pack->operand,
        tg_read(b, pack->flat_source, pack->flat_rank, indices, b->lanes));
  }
  tg_transpose(b, rows);
  for (int64_t i = 0; i < b->lanes; ++i)
    write_panel(emit, pack, tg_add(b, depth, tg_index(b, i)), first, rows[i],
                group_size(emit, pack->width, group));
}

/* One element of every lane of the panel, from the flat source. */
static void copy_flat_elements(struct tg_emit *emit, struct pack *pack,
                               MlirValue source_depth, MlirValue depth) {
  struct tg_builder *b = &emit->builder;
  clear_lanes(emit, pack, depth);
  MlirValue start = emit->position[pack->loop];
  MlirValue indices[TG_MAX_RANK];
  struct tg_for loop;
  tg_for_begin(b, &loop, tg_index(b, 0), valid_elements(emit, pack), 1, 1,
               panels(emit, pack));
  emit->position[pack->loop] = tg_add(b, start, loop.iv);
  tg_emit_subscripts(emit, pack->operand, indices);
  indices[pack->flat_rank - 1] = source_depth;
  MlirValue element = tg_emit_extend(
      emit, pack->operand,
      tg_extract(b, pack->flat_source, pack->flat_rank, indices));
  MlirValue place[3] = {pack->panel, depth, loop.iv};
  MlirValue next = tg_insert(b, element, loop.carried[0], 3, place);
  tg_for_end(b, &loop, &next);
  *panels(emit, pack) = loop.carried[0];
  emit->position[pack->loop] = start;
}

/*===-- Loops over the depth ----------------------------------------------===*/

/* Vectors with gaps aren't read under a mask. */
static bool is_copied_by_vectors(const struct tg_emit *emit,
                                 const struct pack *pack) {
  int64_t step = tg_plan_step(emit->plan, pack->operand, pack->loop);
  return step == 1 || (step > 1 && mlirValueIsNull(emit->rest));
}

static void over_reduction(struct tg_emit *emit, struct pack *pack, int depth,
                           MlirValue lower, MlirValue upper,
                           const MlirValue *offsets) {
  struct tg_builder *b = &emit->builder;
  const struct tg_plan *plan = emit->plan;
  if (depth == plan->reduction_count) {
    if (offsets)
      copy_gathered(emit, pack, offsets);
    else if (is_copied_by_vectors(emit, pack))
      copy_contiguous(emit, pack);
    else
      copy_elements(emit, pack);
    return;
  }
  int l = plan->reduction[depth];
  struct tg_for loop;
  tg_for_begin(b, &loop, lower, upper, 1, 1, panels(emit, pack));
  *panels(emit, pack) = loop.carried[0];
  emit->position[l] = loop.iv;
  MlirValue next = tg_index(b, 0);
  if (depth + 1 < plan->reduction_count)
    next = tg_index(b, emit->kernel->extent[plan->reduction[depth + 1]]);
  over_reduction(emit, pack, depth + 1, tg_index(b, 0), next, offsets);
  tg_for_end(b, &loop, panels(emit, pack));
  *panels(emit, pack) = loop.carried[0];
  emit->position[l] = tg_index(b, 0);
}

/* The flat reduction in steps of a vector, a loop for each group of lanes (one
 * for all would hold more row addresses than LLVM likes); fewer than a vector
 * are left over. */
static void over_flat_reduction(struct tg_emit *emit, struct pack *pack,
                                MlirValue lower, MlirValue upper) {
  struct tg_builder *b = &emit->builder;
  int64_t rest = emit->plan->reduction_rest;
  MlirValue origin = tg_mul(b, lower, rest);
  MlirValue length = tg_mul(b, tg_sub(b, upper, lower), rest);
  MlirValue whole = tg_mul(b, tg_div(b, length, b->lanes), b->lanes);
  struct tg_for loop;
  for (int64_t g = 0; g * b->lanes < pack->width; ++g) {
    tg_for_begin(b, &loop, tg_index(b, 0), whole, b->lanes, 1,
                 panels(emit, pack));
    *panels(emit, pack) = loop.carried[0];
    copy_transposed(emit, pack, g, tg_add(b, origin, loop.iv), loop.iv);
    tg_for_end(b, &loop, panels(emit, pack));
    *panels(emit, pack) = loop.carried[0];
  }
  tg_for_begin(b, &loop, whole, length, 1, 1, panels(emit, pack));
  *panels(emit, pack) = loop.carried[0];
  copy_flat_elements(emit, pack, tg_add(b, origin, loop.iv), loop.iv);
  tg_for_end(b, &loop, panels(emit, pack));
  *panels(emit, pack) = loop.carried[0];
}

/* offsets[g]: of the lanes of group g, as index vectors. Lanes beyond the end
 * repeat the last element, so that every gather stays inside. */
static void flat_offsets(struct tg_emit *emit, const struct pack *pack,
                         MlirValue *offsets) {
  struct tg_builder *b = &emit->builder;
  const struct tg_plan *plan = emit->plan;
  MlirType type = mlirVectorTypeGet(1, &b->lanes, b->index);
  MlirValue step = tg_build_1(b, "vector.step", 0, NULL, type);
#define SPLAT(value)                                                           \
  tg_build_1(b, "vector.broadcast", 1, (MlirValue[]){value}, type)
#define BINARY(name, x, y) tg_build_1(b, name, 2, (MlirValue[]){x, y}, type)
  for (int64_t g = 0; g * b->lanes < pack->width; ++g) {
    MlirValue first =
        tg_add(b, emit->position[pack->loop], tg_index(b, g * b->lanes));
    MlirValue flat = BINARY("arith.addi", SPLAT(first), step);
    if (group_size(emit, pack->valid, g) < b->lanes)
      flat = BINARY("arith.minui", flat,
                    SPLAT(tg_index(b, plan->vector_extent - 1)));
    MlirValue inner = SPLAT(tg_index(b, plan->flat_inner));
    MlirValue outer = BINARY("arith.divui", flat, inner);
    inner = BINARY("arith.remui", flat, inner);
    offsets[g] = BINARY(
        "arith.addi",
        BINARY("arith.muli", outer, SPLAT(tg_index(b, plan->gather_outer))),
        BINARY("arith.muli", inner, SPLAT(tg_index(b, plan->gather_inner))));
  }
#undef SPLAT
#undef BINARY
}

static void emit_pack_panel(struct tg_emit *emit, MlirValue position,
                            int64_t valid, void *data) {
  struct pack *pack = data;
  struct tg_builder *b = &emit->builder;
  const struct tg_plan *plan = emit->plan;
  pack->valid = valid;
  emit->position[pack->loop] = position;
  pack->panel = tg_emit_panel_index(emit, pack->operand);
  bool hoisted = plan->hoisted[pack->operand];
  MlirValue lower = hoisted ? tg_index(b, 0) : emit->reduction_origin;
  MlirValue upper = plan->bounded_reduction
                        ? tg_emit_end(emit, plan->reduction[0])
                        : tg_index(b, plan->reduction_extent);
  if (!hoisted && tg_plan_accumulates(plan))
    upper =
        tg_min(b, tg_add(b, lower, tg_index(b, plan->block_reduction)), upper);
  MlirValue offsets[TG_MAX_TILE_VECTORS];
  if (pack->operand == plan->gathered) {
    flat_offsets(emit, pack, offsets);
    over_reduction(emit, pack, 0, lower, upper, offsets);
  } else if (pack->flat_rank) {
    over_flat_reduction(emit, pack, lower, upper);
  } else {
    over_reduction(emit, pack, 0, lower, upper, NULL);
  }
}

void tg_emit_pack(struct tg_emit *emit, int operand) {
  const struct tg_plan *plan = emit->plan;
  const struct tg_access *access = &emit->kernel->operand[operand];
  bool vector = plan->follows_vector[operand];
  struct pack pack = {.operand = operand,
                      .loop = vector ? plan->vector_loop : plan->row_loop,
                      .width = vector ? plan->width : plan->rows};
  int group[TG_MAX_RANK] = {0};
  if (operand == plan->gathered) {
    pack.flat_source =
        tg_collapse(&emit->builder, emit->source[operand], access->rank, group);
  } else if (!tg_plan_step(plan, operand, pack.loop)) {
    pack.flat_rank = flat_reduction_group(plan, operand, group);
    if (pack.flat_rank)
      pack.flat_source = tg_collapse(&emit->builder, emit->source[operand],
                                     access->rank, group);
  }
  bool whole = plan->hoisted[operand];
  int64_t extent = vector ? plan->vector_extent : plan->row_extent;
  int64_t block = vector ? plan->block_vector : plan->block_rows;
  MlirValue origin = vector ? emit->vector_origin : emit->row_origin;
  if (tg_emit_is_bounded(emit, pack.loop))
    tg_emit_split_masked(emit, pack.loop, origin, block, pack.width,
                         emit_pack_panel, &pack);
  else
    tg_emit_split(emit, origin, whole ? extent : block, extent, pack.width,
                  emit_pack_panel, &pack);
  emit->position[pack.loop] = tg_index(&emit->builder, 0);
}
