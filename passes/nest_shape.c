/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * How a group walks its rows: loops that are one, sweeps, vectors, buffers.
 */
#include "passes/nest_group.h"

#include <string.h>

#include "passes/build.h"
#include "passes/inspect.h"

enum {
  MIN_VECTOR_WORK = 32, /* iterations of a row that are worth vectors */
  MAX_ROW_ELEMENTS = 1 << 16,
  /* With the tensors no more than loops can carry. */
  MAX_ACCUMULATORS = TG_BUILD_MAX_CARRIED - TG_MAX_GROUP_TENSORS
};

bool tg_stage_has_loop(const struct tg_group *group,
                       const struct tg_stage *stage, int loop) {
  return loop >= group->rows && loop < stage->nest.loop_count &&
         stage->nest.extent[loop] > 1;
}

/*===-- Merging loops -----------------------------------------------------===*/

/* Neighbouring loops that every stage walks as one, and neighbouring
 * dimensions of every tensor that are then one. */
struct merges {
  bool loop[TG_MAX_STAGES][TG_MAX_LOOPS];            /* with the next loop */
  bool dimension[TG_MAX_GROUP_TENSORS][TG_MAX_RANK]; /* with the next one */
};

/* The loop after this one that has iterations; loop_count: none. */
static int next_loop(const struct tg_group *group, const struct tg_stage *stage,
                     int loop) {
  do
    ++loop;
  while (loop < stage->nest.loop_count &&
         !tg_stage_has_loop(group, stage, loop));
  return loop;
}

static bool uses_index(const struct tg_stage *stage) {
  for (MlirOperation op = mlirBlockGetFirstOperation(tg_nest_body(stage->op));
       !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op))
    if (tg_op_is(op, "linalg.index"))
      return true;
  return false;
}

/* The loop that walks the whole dimension alone; -1 where none does. */
static int whole_loop(const struct tg_nest *nest, int operand, int dimension) {
  const struct tg_access *access = &nest->operand[operand];
  int loop = -1;
  for (int l = 0; l < nest->loop_count; ++l) {
    if (access->coefficient[dimension][l] == 0)
      continue;
    if (loop >= 0 || access->coefficient[dimension][l] != 1 ||
        nest->extent[l] != access->extent[dimension])
      return -1;
    loop = l;
  }
  return loop;
}

static void start_merges(const struct tg_group *group, struct merges *merges) {
  memset(merges, 0, sizeof(*merges));
  for (int s = 0; s < group->stage_count; ++s) {
    const struct tg_stage *stage = &group->stage[s];
    for (int l = group->rows; l < stage->nest.loop_count; ++l) {
      int next = next_loop(group, stage, l);
      merges->loop[s][l] =
          tg_stage_has_loop(group, stage, l) && next < stage->nest.loop_count &&
          stage->nest.reduction[l] == stage->nest.reduction[next] &&
          !uses_index(stage);
    }
  }
  for (int t = 0; t < group->tensor_count; ++t)
    for (int d = 0; d + 1 < group->tensor[t].rank; ++d)
      merges->dimension[t][d] = true;
}

/* The operand's dimension that the loop walks, -1: none, -2: no plain one. */
static int walked_dimension(const struct tg_nest *nest, int operand, int loop) {
  const struct tg_access *access = &nest->operand[operand];
  int dimension = -1;
  for (int d = 0; d < access->rank; ++d)
    if (access->coefficient[d][loop]) {
      if (dimension != -1 || whole_loop(nest, operand, d) != loop)
        return -2;
      dimension = d;
    }
  return dimension;
}

static bool loops_agree(const struct tg_group *group,
                        const struct merges *merges, int s, int loop) {
  const struct tg_stage *stage = &group->stage[s];
  int next = next_loop(group, stage, loop);
  for (int o = 0; o < stage->nest.operand_count; ++o) {
    int t = stage->tensor[o];
    if (t == TG_NO_TENSOR)
      continue;
    int a = walked_dimension(&stage->nest, o, loop);
    int b = walked_dimension(&stage->nest, o, next);
    if (a == -1 && b == -1)
      continue;
    if (a < 0 || b != a + 1 || !merges->dimension[t][a])
      return false;
  }
  return true;
}

static bool dimensions_agree(const struct tg_group *group,
                             const struct merges *merges, int t, int d) {
  for (int s = 0; s < group->stage_count; ++s) {
    const struct tg_stage *stage = &group->stage[s];
    for (int o = 0; o < stage->nest.operand_count; ++o) {
      if (stage->tensor[o] != t)
        continue;
      int a = whole_loop(&stage->nest, o, d);
      int b = whole_loop(&stage->nest, o, d + 1);
      if (a < 0 || b < 0 || b != next_loop(group, stage, a) ||
          !merges->loop[s][a])
        return false;
    }
  }
  return true;
}

/* Takes back what contradicts, until nothing does. */
static void settle_merges(const struct tg_group *group, struct merges *merges) {
  bool changed = true;
  while (changed) {
    changed = false;
    for (int s = 0; s < group->stage_count; ++s)
      for (int l = 0; l < group->stage[s].nest.loop_count; ++l)
        if (merges->loop[s][l] && !loops_agree(group, merges, s, l)) {
          merges->loop[s][l] = false;
          changed = true;
        }
    for (int t = 0; t < group->tensor_count; ++t)
      for (int d = 0; d + 1 < group->tensor[t].rank; ++d)
        if (merges->dimension[t][d] && !dimensions_agree(group, merges, t, d)) {
          merges->dimension[t][d] = false;
          changed = true;
        }
  }
}

/* Drops a tensor's dimension d, here and in all accesses: it becomes part of
 * the one before it (d > 0) or after it. */
static void drop_dimension(struct tg_group *group, int t, int d) {
  struct tg_group_tensor *tensor = &group->tensor[t];
  int into = d > 0 ? d - 1 : 0;
  tensor->extent[d > 0 ? d - 1 : 1] *= tensor->extent[d];
  for (int i = d; i + 1 < tensor->rank; ++i)
    tensor->extent[i] = tensor->extent[i + 1];
  tensor->rank--;
  for (int i = 0; i < tensor->source_rank; ++i)
    if (tensor->group[i] == d)
      tensor->group[i] = into;
    else if (tensor->group[i] > d)
      tensor->group[i]--;
  for (int s = 0; s < group->stage_count; ++s)
    for (int o = 0; o < group->stage[s].nest.operand_count; ++o) {
      if (group->stage[s].tensor[o] != t)
        continue;
      struct tg_access *access = &group->stage[s].nest.operand[o];
      size_t row = sizeof(access->coefficient[0]);
      memmove(access->coefficient[d], access->coefficient[d + 1],
              (size_t)(access->rank - 1 - d) * row);
      memset(access->coefficient[--access->rank], 0, row);
      memcpy(access->extent, tensor->extent, sizeof(tensor->extent));
    }
}

static void copy_extents(struct tg_group *group) {
  for (int s = 0; s < group->stage_count; ++s)
    for (int o = 0; o < group->stage[s].nest.operand_count; ++o) {
      int t = group->stage[s].tensor[o];
      if (t != TG_NO_TENSOR)
        memcpy(group->stage[s].nest.operand[o].extent, group->tensor[t].extent,
               sizeof(group->tensor[t].extent));
    }
}

/* Dimensions of one element need no index. One stays if there is no other. */
static void drop_units(struct tg_group *group) {
  for (int t = 0; t < group->tensor_count; ++t)
    for (int d = group->tensor[t].rank - 1; d >= 0; --d)
      if (group->tensor[t].extent[d] == 1 && group->tensor[t].rank > 1)
        drop_dimension(group, t, d);
}

/* Loops of one iteration address nothing. A row's buffer has no rows; a
 * diagonal's row still says where in it. */
static void clear_coefficients(struct tg_group *group) {
  for (int s = 0; s < group->stage_count; ++s) {
    struct tg_stage *stage = &group->stage[s];
    for (int o = 0; o < stage->nest.operand_count; ++o) {
      int t = stage->tensor[o];
      struct tg_access *access = &stage->nest.operand[o];
      bool row_buffer =
          t != TG_NO_TENSOR && group->tensor[t].residence == TG_ROW_BUFFER;
      for (int l = 0; l < stage->nest.loop_count; ++l)
        for (int d = 0; d < access->rank; ++d)
          if (stage->nest.extent[l] == 1 ||
              (row_buffer && l < group->rows && d < group->rows))
            access->coefficient[d][l] = 0;
    }
  }
  for (int t = 0; t < group->tensor_count; ++t)
    for (int d = 0; d < group->rows && d < group->tensor[t].rank; ++d)
      if (group->tensor[t].residence == TG_ROW_BUFFER)
        group->tensor[t].extent[d] = 1;
  copy_extents(group);
}

/* From the last loop to the first, so that chains become one. */
static void apply_loop_merges(struct tg_group *group,
                              const struct merges *merges) {
  for (int s = 0; s < group->stage_count; ++s) {
    struct tg_stage *stage = &group->stage[s];
    for (int l = stage->nest.loop_count - 1; l >= 0; --l) {
      if (!merges->loop[s][l])
        continue;
      int next = next_loop(group, stage, l);
      stage->nest.extent[l] *= stage->nest.extent[next];
      stage->nest.extent[next] = 1;
      if (stage->vector_loop == next)
        stage->vector_loop = l;
      for (int o = 0; o < stage->nest.operand_count; ++o)
        for (int d = 0; d < stage->nest.operand[o].rank; ++d)
          stage->nest.operand[o].coefficient[d][next] = 0;
    }
  }
}

static void merge(struct tg_group *group) {
  struct merges merges;
  clear_coefficients(group);
  drop_units(group);
  start_merges(group, &merges);
  settle_merges(group, &merges);
  apply_loop_merges(group, &merges);
  for (int t = 0; t < group->tensor_count; ++t)
    for (int d = group->tensor[t].rank - 2; d >= 0; --d)
      if (merges.dimension[t][d])
        drop_dimension(group, t, d + 1);
}

/*===-- Sweeps ------------------------------------------------------------===*/

static int count_loops(const struct tg_group *group,
                       const struct tg_stage *stage) {
  int count = 0;
  for (int l = 0; l < stage->nest.loop_count; ++l)
    count += tg_stage_has_loop(group, stage, l);
  return count;
}

/* Do both stages walk a row in the same way? */
static bool same_walk(const struct tg_group *group, const struct tg_stage *a,
                      const struct tg_stage *b) {
  int most = a->nest.loop_count > b->nest.loop_count ? a->nest.loop_count
                                                     : b->nest.loop_count;
  for (int l = group->rows; l < most; ++l) {
    bool has_a = tg_stage_has_loop(group, a, l);
    if (has_a != tg_stage_has_loop(group, b, l) ||
        (has_a && a->nest.extent[l] != b->nest.extent[l]))
      return false;
  }
  return a->vector_loop == b->vector_loop;
}

/* Are the elements that the stage reads of the sweep's tensors those that the
 * sweep has just made, in registers? */
static bool reads_registers(const struct tg_group *group, int first, int s) {
  const struct tg_stage *reader = &group->stage[s];
  for (int o = 0; o < reader->nest.operand_count; ++o) {
    int t = reader->tensor[o];
    int producer = t == TG_NO_TENSOR ? TG_NO_STAGE : group->tensor[t].producer;
    if (producer < first || producer == s)
      continue;
    const struct tg_stage *maker = &group->stage[producer];
    int made = maker->nest.input_count;
    while (maker->tensor[made] != t)
      ++made;
    const struct tg_access *a = &maker->nest.operand[made];
    const struct tg_access *b = &reader->nest.operand[o];
    if (maker->reduces ||
        memcmp(a->coefficient, b->coefficient, sizeof(a->coefficient)) != 0)
      return false;
  }
  return true;
}

/* Accumulators that a sweep over the stages needs for each vector. */
static int count_accumulators(const struct tg_group *group, int first,
                              int last) {
  int count = 0;
  for (int s = first; s <= last; ++s)
    if (group->stage[s].reduces)
      count +=
          group->stage[s].nest.operand_count - group->stage[s].nest.input_count;
  return count;
}

/* A sum can be one of several stages of a sweep where it's over all of it. */
static bool joins_sweep(const struct tg_group *group, int first, int s) {
  const struct tg_stage *stage = &group->stage[s];
  int accumulators = count_accumulators(group, first, s);
  return same_walk(group, &group->stage[first], stage) &&
         (accumulators == 0 || (count_loops(group, stage) == 1 &&
                                accumulators <= MAX_ACCUMULATORS)) &&
         reads_registers(group, first, s);
}

static void find_sweeps(struct tg_group *group) {
  for (int s = 0; s < group->stage_count; ++s) {
    int first = s ? group->stage[s - 1].first_of_sweep : 0;
    group->stage[s].first_of_sweep =
        s && joins_sweep(group, first, s) ? first : s;
  }
  for (int t = 0; t < group->tensor_count; ++t) {
    struct tg_group_tensor *tensor = &group->tensor[t];
    if (tensor->residence != TG_ROW_BUFFER)
      continue;
    bool same = true;
    for (int s = 0; s < group->stage_count; ++s)
      for (int o = 0; o < group->stage[s].nest.input_count; ++o)
        if (group->stage[s].tensor[o] == t)
          same &= group->stage[s].first_of_sweep ==
                  group->stage[tensor->producer].first_of_sweep;
    if (same)
      tensor->residence = TG_REGISTER;
  }
}

/* The first stage of a sweep says how many vectors a body has: as many as any
 * stage wants, as long as the accumulators are few. */
static void agree_on_vectors(struct tg_group *group) {
  for (int s = 0; s < group->stage_count; ++s) {
    int first = group->stage[s].first_of_sweep;
    struct tg_stage *lead = &group->stage[first];
    if (group->stage[s].vectors > lead->vectors)
      lead->vectors = group->stage[s].vectors;
    int accumulators = count_accumulators(group, first, s);
    while (lead->vectors > 1 && accumulators * lead->vectors > MAX_ACCUMULATORS)
      lead->vectors--;
  }
}

/*===-- The whole ---------------------------------------------------------===*/

/* A vector loop that became a row is none. Not where much work is left to be
 * done one iteration at a time. */
static bool keep_vectors(struct tg_group *group) {
  for (int s = 0; s < group->stage_count; ++s) {
    struct tg_stage *stage = &group->stage[s];
    if (tg_stage_has_loop(group, stage, stage->vector_loop))
      continue;
    int64_t work = 1;
    for (int l = group->rows; l < stage->nest.loop_count; ++l)
      work *= stage->nest.extent[l];
    if (work >= MIN_VECTOR_WORK && group->stage_count > 1)
      return false;
    stage->vector_loop = -1;
    stage->vectors = 1;
  }
  return true;
}

static bool buffers_fit(const struct tg_group *group) {
  int64_t elements = 0;
  for (int t = 0; t < group->tensor_count; ++t) {
    int64_t own = group->tensor[t].residence == TG_ROW_BUFFER;
    for (int d = 0; d < group->tensor[t].rank && own; ++d)
      own *= group->tensor[t].extent[d];
    elements += own;
  }
  return elements <= MAX_ROW_ELEMENTS;
}

bool tg_group_shape(struct tg_group *group, int rows) {
  group->rows = rows;
  merge(group);
  if (!keep_vectors(group))
    return false;
  find_sweeps(group);
  agree_on_vectors(group);
  return buffers_fit(group);
}
