/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Finding and emitting epilogues.
 */
#include "passes/epilogue.h"

#include <assert.h>
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <string.h>

#include "passes/emit.h"
#include "passes/inspect.h"
#include "passes/lanes.h"

/*===-- What can be taken in ----------------------------------------------===*/

/* Any input may be a vector; where an iteration is doesn't matter. */
static bool is_vectorizable_body(MlirBlock body) {
  bool varying[TG_MAX_EPILOGUE_INPUTS];
  for (int i = 0; i < TG_MAX_EPILOGUE_INPUTS; ++i)
    varying[i] = true;
  for (MlirOperation op = mlirBlockGetFirstOperation(body);
       !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op))
    if (tg_op_is(op, "linalg.index"))
      return false;
  return tg_lanes_can(body, varying, -1, NULL, NULL);
}

static bool has_uses(MlirValue value) {
  return !mlirOpOperandIsNull(mlirValueGetFirstUse(value));
}

static bool is_parallel(MlirOperation op) {
  MlirAttribute iterators =
      mlirOperationGetAttributeByName(op, tg_ref("iterator_types"));
  if (mlirAttributeIsNull(iterators))
    return false;
  MlirAttribute parallel = tg_iterator_kind(mlirOperationGetContext(op), false);
  for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(iterators); ++i)
    if (!mlirAttributeEqual(mlirArrayAttrGetElement(iterators, i), parallel))
      return false;
  return true;
}

/* The only use of the value; false where there are none or several. */
static bool only_use(MlirValue value, MlirOperation *user, int *operand) {
  MlirOpOperand use = mlirValueGetFirstUse(value);
  if (mlirOpOperandIsNull(use) ||
      !mlirOpOperandIsNull(mlirOpOperandGetNextUse(use)))
    return false;
  *user = mlirOpOperandGetOwner(use);
  *operand = (int)mlirOpOperandGetOperandNumber(use);
  return true;
}

/*===-- Where an input is read --------------------------------------------===*/

/* How the stored result is addressed: its own dimensions, collapsed. */
struct stored {
  int own_rank;
  int64_t own_extent[TG_MAX_RANK]; /* 1 of a loop around the kernel, what is
                                      assumed where it is known to none */
  int own_group[TG_MAX_RANK];      /* own dimension -> dimension as stored */
  int rank;
  int64_t extent[TG_MAX_RANK];
};

static void describe_stored(const struct tg_kernel *kernel,
                            const struct tg_plan *plan, struct stored *stored) {
  const struct tg_canonical *canonical = &plan->canonical;
  const struct tg_access *result = &canonical->kernel.operand[TG_RESULT];
  int group[TG_MAX_RANK], separate;
  for (int d = 0; d < result->rank; ++d)
    group[d] = d;
  if (plan->packed[TG_RESULT])
    tg_unpack_shape(plan, group, &separate);
  stored->own_rank = canonical->source_rank[TG_RESULT];
  for (int d = 0; d < stored->own_rank; ++d) {
    stored->own_group[d] = group[canonical->group[TG_RESULT][d]];
    stored->own_extent[d] = kernel->operand[TG_RESULT].extent[d];
  }
  stored->rank = group[result->rank - 1] + 1;
  for (int d = 0; d < stored->rank; ++d)
    stored->extent[d] = 1;
  for (int d = 0; d < result->rank; ++d)
    stored->extent[group[d]] *= result->extent[d];
}

/* The result's dimension that each dimension of the input goes with, -1 for a
 * dimension of extent 1; and how long it is. */
static bool input_dimensions(const struct stored *stored, MlirAffineMap map,
                             MlirType type, struct tg_epilogue_input *input,
                             int *dimension, int64_t *extent) {
  struct tg_access access;
  if (!mlirTypeIsARankedTensor(type) || !tg_access_from_map(map, type, &access))
    return false;
  input->source_rank = access.rank;
  for (int d = 0; d < access.rank; ++d) {
    dimension[d] = input->own[d] = -1;
    extent[d] = access.extent[d];
    if (extent[d] == 1)
      continue;
    for (int own = 0; own < stored->own_rank; ++own) {
      int32_t coefficient = access.coefficient[d][own];
      if (coefficient == 0)
        continue;
      if (coefficient != 1 || input->own[d] >= 0)
        return false;
      input->own[d] = own;
    }
    if (input->own[d] < 0)
      return false;
    if (mlirShapedTypeIsDynamicDim(type, d) ||
        stored->own_extent[input->own[d]] == 1)
      extent[d] = stored->own_extent[input->own[d]];
    if (extent[d] != 1)
      dimension[d] = stored->own_group[input->own[d]];
  }
  return true;
}

/* Groups neighbours that go with the same dimension; each group has to cover
 * it whole and in order, so that one index serves both. */
static bool group_input(const struct stored *stored, MlirAffineMap map,
                        MlirType type, struct tg_epilogue_input *input) {
  int dimension[TG_MAX_RANK];
  int64_t extent[TG_MAX_RANK];
  if (!input_dimensions(stored, map, type, input, dimension, extent))
    return false;
  if (input->source_rank == 0) {
    input->rank = 0;
    input->vector = false;
    return true;
  }
  int64_t covered[TG_MAX_RANK] = {1};
  int current = 0;
  input->result_dimension[0] = -1;
  int last_own = -1;
  for (int d = 0; d < input->source_rank; ++d) {
    int *at = &input->result_dimension[current];
    if (dimension[d] >= 0 && *at >= 0 && *at != dimension[d]) {
      if (dimension[d] < *at)
        return false;
      at = &input->result_dimension[++current];
      covered[current] = 1;
      *at = -1;
    }
    if (dimension[d] >= 0) {
      /* A transposed input, or a diagonal. */
      if (input->own[d] <= last_own)
        return false;
      last_own = input->own[d];
      *at = dimension[d];
    }
    covered[current] *= extent[d];
    input->group[d] = current;
  }
  input->rank = current + 1;
  for (int g = 0; g < input->rank; ++g) {
    int result = input->result_dimension[g];
    if (result >= 0 && covered[g] != stored->extent[result])
      return false;
  }
  input->vector = input->result_dimension[current] == stored->rank - 1;
  return true;
}

/* Inputs are read as vectors: a mask of i1 can't be. */
static bool add_inputs(MlirOperation op, int link, int chained,
                       const struct stored *stored, const MlirAffineMap *maps,
                       int input_count, struct tg_epilogue *epilogue) {
  for (int i = 0; i < input_count; ++i) {
    if (i == chained)
      continue;
    if (epilogue->input_count == TG_MAX_EPILOGUE_INPUTS)
      return false;
    MlirType type = mlirValueGetType(mlirOperationGetOperand(op, i));
    struct tg_epilogue_input *input = &epilogue->input[epilogue->input_count];
    input->link = link;
    input->operand = i;
    if (!mlirTypeIsARankedTensor(type) ||
        !tg_lanes_hold(mlirShapedTypeGetElementType(type)) ||
        !tg_element_is_addressable(mlirShapedTypeGetElementType(type)) ||
        !group_input(stored, maps[i], type, input))
      return false;
    epilogue->input_count++;
  }
  return true;
}

/* Can the operation be the next link? Adds its inputs if so. */
static bool add_link(MlirOperation op, int chained, MlirType type,
                     const struct stored *stored,
                     struct tg_epilogue *epilogue) {
  MlirAffineMap maps[TG_MAX_EPILOGUE_INPUTS];
  if (!tg_op_is(op, "linalg.generic") || mlirOperationGetNumResults(op) != 1 ||
      !mlirTypeEqual(mlirValueGetType(mlirOperationGetResult(op, 0)), type) ||
      tg_op_has_attribute(op, "tgraph.skip") || !is_parallel(op))
    return false;
  int count = tg_op_get_maps(op, TG_MAX_EPILOGUE_INPUTS, maps);
  if (count < 2 || chained >= count - 1 ||
      !mlirAffineMapIsIdentity(maps[chained]) ||
      !mlirAffineMapIsIdentity(maps[count - 1]))
    return false;
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  if (has_uses(mlirBlockGetArgument(body, count - 1)) ||
      !is_vectorizable_body(body))
    return false;
  int inputs_before = epilogue->input_count;
  if (!add_inputs(op, epilogue->length, chained, stored, maps, count - 1,
                  epilogue)) {
    epilogue->input_count = inputs_before;
    return false;
  }
  epilogue->chain[epilogue->length] = op;
  epilogue->chained_operand[epilogue->length++] = chained;
  return true;
}

void tg_epilogue_find(MlirOperation op, const struct tg_kernel *kernel,
                      const struct tg_plan *plan,
                      struct tg_epilogue *epilogue) {
  epilogue->length = epilogue->input_count = 0;
  /* Partial sums must not go through it. */
  if (!plan->packed[TG_RESULT] && tg_plan_accumulates(plan))
    return;
  struct stored stored;
  describe_stored(kernel, plan, &stored);
  MlirValue value = mlirOperationGetResult(op, 0);
  MlirType type = mlirValueGetType(value);
  MlirBlock block = mlirOperationGetBlock(op);
  MlirOperation user;
  int operand;
  while (epilogue->length < TG_MAX_CHAIN && only_use(value, &user, &operand) &&
         mlirBlockEqual(mlirOperationGetBlock(user), block) &&
         add_link(user, operand, type, &stored, epilogue))
    value = mlirOperationGetResult(user, 0);
}

/*===-- Code --------------------------------------------------------------===*/

void tg_epilogue_begin(struct tg_builder *builder, struct tg_epilogue *epilogue,
                       const MlirValue *arguments) {
  for (int i = 0; i < epilogue->input_count; ++i)
    epilogue->source[i] =
        tg_collapse(builder, arguments[i], epilogue->input[i].source_rank,
                    epilogue->input[i].group);
}

static MlirValue load_input(struct tg_builder *builder,
                            const struct tg_epilogue *epilogue, int i,
                            const MlirValue *indices, int64_t valid) {
  const struct tg_epilogue_input *input = &epilogue->input[i];
  MlirValue own[TG_MAX_RANK];
  for (int d = 0; d < input->rank; ++d) {
    int result = input->result_dimension[d];
    own[d] = result < 0 ? tg_index(builder, 0) : indices[result];
  }
  if (input->vector)
    return tg_read(builder, epilogue->source[i], input->rank, own, valid);
  return tg_extract(builder, epilogue->source[i], input->rank, own);
}

static MlirValue emit_link(struct tg_builder *builder,
                           const struct tg_epilogue *epilogue, int link,
                           MlirValue vector, const MlirValue *indices,
                           int64_t valid) {
  MlirBlock body =
      mlirRegionGetFirstBlock(mlirOperationGetRegion(epilogue->chain[link], 0));
  struct tg_lanes lanes = {
      .builder = builder, .valid = valid, .vector_loop = -1};
  tg_lanes_bind(&lanes,
                mlirBlockGetArgument(body, epilogue->chained_operand[link]),
                vector);
  for (int i = 0; i < epilogue->input_count; ++i)
    if (epilogue->input[i].link == link)
      tg_lanes_bind(&lanes,
                    mlirBlockGetArgument(body, epilogue->input[i].operand),
                    load_input(builder, epilogue, i, indices, valid));
  MlirOperation yield = tg_lanes_emit(&lanes, body);
  return tg_lanes_get_vector(&lanes, mlirOperationGetOperand(yield, 0));
}

MlirValue tg_epilogue_emit(struct tg_builder *builder,
                           const struct tg_epilogue *epilogue, MlirValue vector,
                           const MlirValue *indices, int64_t valid) {
  for (int link = 0; link < epilogue->length; ++link)
    vector = emit_link(builder, epilogue, link, vector, indices, valid);
  return vector;
}
