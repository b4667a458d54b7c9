/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A run of up to STRAIGHT vectors is straight code, a longer one a loop of
 * GROUP vectors at a time with the rest behind it. A group reads all that it
 * copies before it writes, so that no order of memory has to be kept.
 */
#include "passes/run.h"

#include <assert.h>
#include <mlir-c/AffineMap.h>
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

enum { STRAIGHT = 16, GROUP = 4, MAX_RANK = 16 };

bool tg_run_serves(MlirType element) {
  if (mlirTypeIsAInteger(element)) {
    unsigned width = mlirIntegerTypeGetWidth(element);
    return mlirIntegerTypeIsSignless(element) &&
           (width == 8 || width == 16 || width == 32 || width == 64);
  }
  return mlirTypeIsAF32(element) || mlirTypeIsAF64(element) ||
         mlirTypeIsAF16(element) || mlirTypeIsABF16(element);
}

static int64_t element_bits(MlirType element) {
  return mlirTypeIsAInteger(element) ? (int64_t)mlirIntegerTypeGetWidth(element)
                                     : (int64_t)mlirFloatTypeGetWidth(element);
}

void tg_run_init(struct tg_run *run, struct tg_builder *builder,
                 MlirType element, int64_t vector_bits) {
  *run = (struct tg_run){.builder = builder, .element = element, .lanes = 1};
  int64_t most = vector_bits / element_bits(element);
  while (run->lanes * 2 <= most && run->lanes < 1 << (TG_RUN_SIZES - 1))
    run->lanes *= 2;
  MlirAttribute zero =
      mlirTypeIsAInteger(element)
          ? mlirIntegerAttrGet(element, 0)
          : mlirFloatAttrDoubleGet(builder->context, element, 0.0);
  MlirNamedAttribute value = tg_named(builder->context, "value", zero);
  run->padding = mlirOperationGetResult(
      tg_build(builder, "arith.constant", 0, NULL, 1, &element, 1, &value), 0);
}

static MlirType vector_type(const struct tg_run *run, int64_t lanes) {
  return mlirVectorTypeGet(1, &lanes, run->element);
}

void tg_run_set_filler(struct tg_run *run, MlirValue scalar) {
  for (int64_t size = 0; INT64_C(1) << size <= run->lanes; ++size)
    run->filler[size] = tg_build_1(run->builder, "vector.broadcast", 1, &scalar,
                                   vector_type(run, INT64_C(1) << size));
}

/*===-- Vectors -----------------------------------------------------------===*/

/* What a transfer of one vector along the last dimension says: all of its
 * lanes exist. */
static void transfer_attributes(struct tg_builder *builder, int rank,
                                const int32_t segments[4],
                                MlirNamedAttribute attributes[3]) {
  MlirContext context = builder->context;
  MlirAffineMap map = mlirAffineMapMinorIdentityGet(context, rank, 1);
  MlirAttribute inside = mlirBoolAttrGet(context, true);
  attributes[0] =
      tg_named(context, "permutation_map", mlirAffineMapAttrGet(map));
  attributes[1] =
      tg_named(context, "in_bounds", mlirArrayAttrGet(context, 1, &inside));
  attributes[2] = tg_named(context, "operandSegmentSizes",
                           mlirDenseI32ArrayGet(context, 4, segments));
}

/* The subscripts of the element that is `offset` behind the place. */
static void subscripts(struct tg_run *run, struct tg_run_place place,
                       MlirValue position, int64_t offset, MlirValue *indices) {
  for (int d = 0; d < place.rank; ++d)
    indices[d] = place.indices[d];
  MlirValue *last = &indices[place.rank - 1];
  *last = tg_add(run->builder, *last, position);
  *last = tg_add(run->builder, *last, tg_index(run->builder, offset));
}

static MlirValue read_vector(struct tg_run *run, struct tg_run_place from,
                             MlirValue position, int64_t offset,
                             int64_t lanes) {
  MlirValue operands[MAX_RANK + 2] = {from.array};
  subscripts(run, from, position, offset, operands + 1);
  operands[from.rank + 1] = run->padding;
  const int32_t segments[4] = {1, from.rank, 1, 0};
  MlirNamedAttribute attributes[3];
  transfer_attributes(run->builder, from.rank, segments, attributes);
  MlirType type = vector_type(run, lanes);
  return mlirOperationGetResult(tg_build(run->builder, "vector.transfer_read",
                                         from.rank + 2, operands, 1, &type, 3,
                                         attributes),
                                0);
}

static bool is_tensor(struct tg_run_place place) {
  return mlirTypeIsATensor(mlirValueGetType(place.array));
}

static void write_vector(struct tg_run *run, MlirValue vector,
                         struct tg_run_place *to, MlirValue position,
                         int64_t offset) {
  MlirValue operands[MAX_RANK + 2] = {vector, to->array};
  subscripts(run, *to, position, offset, operands + 2);
  const int32_t segments[4] = {1, 1, to->rank, 0};
  MlirNamedAttribute attributes[3];
  transfer_attributes(run->builder, to->rank, segments, attributes);
  MlirType type = mlirValueGetType(to->array);
  MlirOperation write =
      tg_build(run->builder, "vector.transfer_write", to->rank + 2, operands,
               is_tensor(*to), &type, 3, attributes);
  if (is_tensor(*to))
    to->array = mlirOperationGetResult(write, 0);
}

/*===-- Runs --------------------------------------------------------------===*/

/* Copies where there is a source, else fills. */
struct job {
  struct tg_run *run;
  const struct tg_run_place *from;
  struct tg_run_place to;
};

static int64_t log2_of(int64_t lanes) {
  int64_t size = 0;
  while (INT64_C(1) << size < lanes)
    ++size;
  return size;
}

/* `count` elements from the position on, in vectors of `lanes`, or where there
 * are fewer of the next smaller size: at most STRAIGHT + 1 of them. */
static void straight(struct job *job, MlirValue position, int64_t count,
                     int64_t lanes) {
  if (count <= 0)
    return;
  while (lanes > count)
    lanes /= 2;
  MlirValue vector[STRAIGHT + 1];
  int64_t offset[STRAIGHT + 1];
  int vectors = 0;
  for (int64_t at = 0; at < count; at += lanes)
    offset[vectors++] = at + lanes > count ? count - lanes : at;
  assert(vectors <= STRAIGHT + 1);
  for (int v = 0; v < vectors; ++v)
    vector[v] = job->from ? read_vector(job->run, *job->from, position,
                                        offset[v], lanes)
                          : job->run->filler[log2_of(lanes)];
  for (int v = 0; v < vectors; ++v)
    write_vector(job->run, vector[v], &job->to, position, offset[v]);
}

static MlirValue emit(struct job *job, int64_t count) {
  struct tg_builder *builder = job->run->builder;
  int64_t lanes = job->run->lanes, group = GROUP * lanes;
  MlirValue zero = tg_index(builder, 0);
  if (count <= STRAIGHT * lanes) {
    straight(job, zero, count, lanes);
    return job->to.array;
  }
  int64_t rest = count % group;
  struct tg_for loop;
  tg_for_begin(builder, &loop, zero, tg_index(builder, count - rest), group,
               is_tensor(job->to), &job->to.array);
  MlirValue outside = job->to.array;
  if (is_tensor(job->to))
    job->to.array = loop.carried[0];
  straight(job, loop.iv, group, lanes);
  MlirValue after = job->to.array;
  tg_for_end(builder, &loop, &after);
  job->to.array = is_tensor(job->to) ? loop.carried[0] : outside;
  /* The last vectors may overlap what the loop has done. */
  int64_t tail = rest && rest < lanes ? lanes : rest;
  straight(job, tg_index(builder, count - tail), tail, lanes);
  return job->to.array;
}

MlirValue tg_run_copy(struct tg_run *run, struct tg_run_place from,
                      struct tg_run_place to, int64_t count) {
  struct job job = {run, &from, to};
  return emit(&job, count);
}

MlirValue tg_run_fill(struct tg_run *run, struct tg_run_place to,
                      int64_t count) {
  struct job job = {run, NULL, to};
  return emit(&job, count);
}
