/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * An operand of a dot product that isn't contiguous along the reduction is
 * copied with its dimensions in another order: the vector loop's last. Squares
 * of lanes x lanes elements are transposed in registers.
 */
#include "passes/emit.h"

struct dot_pack {
  int operand, count;
  int loops[TG_MAX_RANK]; /* of the copy's dimensions; the vector loop last */
  int contiguous;         /* the loop of the source's last dimension */
};

static MlirValue *copy_of(struct tg_emit *emit, const struct dot_pack *pack) {
  return &emit->state[TG_CARRIED_PANELS + pack->operand];
}

int tg_emit_dot_subscripts(struct tg_emit *emit, int operand,
                           MlirValue *indices) {
  struct tg_builder *b = &emit->builder;
  int loops[TG_MAX_RANK];
  int count = tg_plan_dot_loops(emit->plan, operand, loops);
  for (int d = 0; d < count; ++d)
    indices[d] =
        tg_add(b, emit->position[loops[d]], tg_index(b, emit->delta[loops[d]]));
  return count;
}

MlirValue tg_emit_dot_scratch(struct tg_emit *emit, int operand) {
  int loops[TG_MAX_RANK];
  int64_t shape[TG_MAX_RANK];
  int count = tg_plan_dot_loops(emit->plan, operand, loops);
  for (int d = 0; d < count; ++d)
    shape[d] = emit->kernel->extent[loops[d]];
  return tg_scratch(&emit->builder, count, shape);
}

/* lines x depth elements from the position on, each at most the lanes. */
static void copy_square(struct tg_emit *emit, const struct dot_pack *pack,
                        int64_t lines, int64_t depth) {
  struct tg_builder *b = &emit->builder;
  int vector_loop = emit->plan->vector_loop;
  MlirValue square[TG_MAX_LANES], indices[TG_MAX_RANK];
  for (int64_t i = 0; i < b->lanes; ++i) {
    if (i >= depth) {
      square[i] = tg_zero_vector(b);
      continue;
    }
    emit->delta[vector_loop] = i;
    int rank = tg_emit_subscripts(emit, pack->operand, indices);
    square[i] = tg_emit_extend(
        emit, pack->operand,
        tg_read(b, emit->source[pack->operand], rank, indices, lines));
  }
  emit->delta[vector_loop] = 0;
  tg_transpose(b, square);
  MlirValue *copy = copy_of(emit, pack);
  for (int64_t i = 0; i < lines; ++i) {
    emit->delta[pack->contiguous] = i;
    int rank = tg_emit_dot_subscripts(emit, pack->operand, indices);
    *copy = tg_write(b, square[i], *copy, rank, indices, depth);
  }
  emit->delta[pack->contiguous] = 0;
}

static void copy_lines(struct tg_emit *emit, MlirValue position, int64_t lines,
                       void *data) {
  struct dot_pack *pack = data;
  struct tg_builder *b = &emit->builder;
  int vector_loop = emit->plan->vector_loop;
  int64_t extent = emit->kernel->extent[vector_loop];
  int64_t full = extent / b->lanes * b->lanes;
  emit->position[pack->contiguous] = position;
  if (full) {
    struct tg_for loop;
    tg_emit_loop_begin(emit, &loop, tg_index(b, 0), tg_index(b, full),
                       b->lanes);
    emit->position[vector_loop] = loop.iv;
    copy_square(emit, pack, lines, b->lanes);
    tg_emit_loop_end(emit, &loop);
  }
  emit->position[vector_loop] = tg_index(b, full);
  if (full < extent)
    copy_square(emit, pack, lines, extent - full);
  emit->position[vector_loop] = tg_index(b, 0);
}

static void over_loops(struct tg_emit *emit, struct dot_pack *pack, int depth) {
  struct tg_builder *b = &emit->builder;
  if (depth + 1 == pack->count) {
    int64_t extent = emit->kernel->extent[pack->contiguous];
    tg_emit_split(emit, tg_index(b, 0), extent, extent, b->lanes, copy_lines,
                  pack);
    emit->position[pack->contiguous] = tg_index(b, 0);
    return;
  }
  int l = pack->loops[depth];
  if (l == pack->contiguous) {
    over_loops(emit, pack, depth + 1);
    return;
  }
  struct tg_for loop;
  tg_emit_loop_begin(emit, &loop, tg_index(b, 0),
                     tg_index(b, emit->kernel->extent[l]), 1);
  emit->position[l] = loop.iv;
  over_loops(emit, pack, depth + 1);
  tg_emit_loop_end(emit, &loop);
  emit->position[l] = tg_index(b, 0);
}

void tg_emit_dot_pack(struct tg_emit *emit, int operand) {
  struct dot_pack pack = {.operand = operand};
  const struct tg_access *access = &emit->kernel->operand[operand];
  pack.count = tg_plan_dot_loops(emit->plan, operand, pack.loops);
  while (!access->coefficient[access->rank - 1][pack.contiguous])
    pack.contiguous++;
  over_loops(emit, &pack, 0);
}
