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

/* Which value of the chain it is: 0 the kernel's result, i + 1 that of link i;
 * -1: none of them. */
static int chained_value(MlirOperation kernel,
                         const struct tg_epilogue *epilogue, MlirValue value) {
  if (mlirValueEqual(value, mlirOperationGetResult(kernel, 0)))
    return 0;
  for (int i = 0; i < epilogue->length; ++i)
    if (mlirValueEqual(value, mlirOperationGetResult(epilogue->chain[i], 0)))
      return i + 1;
  return -1;
}

/* Inputs are read as vectors: a mask of i1 can't be. */
static bool add_input(MlirOperation op, int operand, MlirAffineMap map,
                      const struct stored *stored,
                      struct tg_epilogue *epilogue) {
  if (epilogue->input_count == TG_MAX_EPILOGUE_INPUTS)
    return false;
  MlirType type = mlirValueGetType(mlirOperationGetOperand(op, operand));
  struct tg_epilogue_input *input = &epilogue->input[epilogue->input_count];
  input->link = epilogue->length;
  input->operand = operand;
  if (!mlirTypeIsARankedTensor(type) ||
      !tg_lanes_hold(mlirShapedTypeGetElementType(type)) ||
      !tg_element_is_addressable(mlirShapedTypeGetElementType(type)) ||
      !group_input(stored, map, type, input))
    return false;
  epilogue->input_count++;
  return true;
}

/* Values of the chain where they are, all else as inputs. */
static bool add_operands(MlirOperation kernel, MlirOperation op,
                         const MlirAffineMap *maps, int count,
                         const struct stored *stored,
                         struct tg_epilogue *epilogue) {
  for (int i = 0; i < count; ++i) {
    int value = chained_value(kernel, epilogue, mlirOperationGetOperand(op, i));
    epilogue->chained[epilogue->length][i] = value;
    if (value >= 0 ? !mlirAffineMapIsIdentity(maps[i])
                   : !add_input(op, i, maps[i], stored, epilogue))
      return false;
  }
  return true;
}

/* A tensor like the kernel's result, but maybe of other elements. */
static bool is_link_type(MlirType type, MlirType result) {
  if (mlirTypeEqual(type, result))
    return true;
  if (!mlirTypeIsARankedTensor(type) ||
      !mlirAttributeIsNull(mlirRankedTensorTypeGetEncoding(type)) ||
      !tg_lanes_hold(mlirShapedTypeGetElementType(type)))
    return false;
  intptr_t rank = mlirShapedTypeGetRank(result);
  bool same = mlirShapedTypeGetRank(type) == rank;
  for (intptr_t d = 0; d < rank && same; ++d)
    same = mlirShapedTypeGetDimSize(type, d) ==
           mlirShapedTypeGetDimSize(result, d);
  return same;
}

/* Can the operation be the next link? Adds its inputs if so. */
static bool add_link(MlirOperation kernel, MlirOperation op,
                     const struct stored *stored,
                     struct tg_epilogue *epilogue) {
  MlirAffineMap maps[TG_MAX_LINK_OPERANDS + 1];
  MlirType type = mlirValueGetType(mlirOperationGetResult(kernel, 0));
  if (!tg_op_is(op, "linalg.generic") || mlirOperationGetNumResults(op) != 1 ||
      !is_link_type(mlirValueGetType(mlirOperationGetResult(op, 0)), type) ||
      tg_op_has_attribute(op, "tgraph.skip") || !is_parallel(op))
    return false;
  int count = tg_op_get_maps(op, TG_MAX_LINK_OPERANDS + 1, maps);
  if (count < 2 || !mlirAffineMapIsIdentity(maps[count - 1]) ||
      chained_value(kernel, epilogue, mlirOperationGetOperand(op, count - 1)) >=
          0)
    return false;
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  if (has_uses(mlirBlockGetArgument(body, count - 1)) ||
      !is_vectorizable_body(body))
    return false;
  int inputs_before = epilogue->input_count;
  if (!add_operands(kernel, op, maps, count - 1, stored, epilogue)) {
    epilogue->input_count = inputs_before;
    return false;
  }
  epilogue->operand_count[epilogue->length] = count - 1;
  epilogue->chain[epilogue->length++] = op;
  return true;
}

static bool is_link(const struct tg_epilogue *epilogue, MlirOperation op) {
  for (int i = 0; i < epilogue->length; ++i)
    if (mlirOperationEqual(epilogue->chain[i], op))
      return true;
  return false;
}

/* The first user of a value of the chain that is no link yet; null where
 * there is none, or one is elsewhere. `unread`: each value but the last has
 * only links for users. */
static MlirOperation next_user(MlirOperation kernel,
                               const struct tg_epilogue *epilogue,
                               bool *unread) {
  MlirOperation first = {NULL};
  MlirBlock block = mlirOperationGetBlock(kernel);
  bool elsewhere = false;
  *unread = true;
  for (int v = 0; v <= epilogue->length; ++v) {
    MlirOperation maker = v ? epilogue->chain[v - 1] : kernel;
    for (MlirOpOperand use =
             mlirValueGetFirstUse(mlirOperationGetResult(maker, 0));
         !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use)) {
      MlirOperation user = mlirOpOperandGetOwner(use);
      if (is_link(epilogue, user))
        continue;
      *unread = *unread && v == epilogue->length;
      if (!mlirBlockEqual(mlirOperationGetBlock(user), block))
        elsewhere = true;
      else if (mlirOperationIsNull(first) ||
               mlirOperationIsBeforeInBlock(user, first))
        first = user;
    }
  }
  return elsewhere ? (MlirOperation){NULL} : first;
}

/* Can what the last link makes be what the code stores? It may have another
 * element type where the sums in memory aren't read. */
static bool can_end(MlirOperation kernel, const struct tg_plan *plan,
                    const struct tg_epilogue *epilogue) {
  MlirType sum = mlirValueGetType(mlirOperationGetResult(kernel, 0));
  MlirType last = mlirValueGetType(
      mlirOperationGetResult(epilogue->chain[epilogue->length - 1], 0));
  return mlirTypeEqual(sum, last) ||
         (!tg_plan_reads_init(plan) &&
          tg_element_is_addressable(mlirShapedTypeGetElementType(last)));
}

/* Links are taken in the order of the block. What counts in the end is the
 * longest part whose values nothing but its own links reads, the last one
 * excepted. */
void tg_epilogue_find(MlirOperation op, const struct tg_kernel *kernel,
                      const struct tg_plan *plan,
                      struct tg_epilogue *epilogue) {
  epilogue->length = epilogue->input_count = 0;
  /* Partial sums must not go through it. */
  if (!plan->packed[TG_RESULT] && tg_plan_accumulates(plan))
    return;
  struct stored stored;
  describe_stored(kernel, plan, &stored);
  int length = 0, input_count = 0;
  bool unread;
  MlirOperation user = next_user(op, epilogue, &unread);
  while (epilogue->length < TG_MAX_CHAIN && !mlirOperationIsNull(user) &&
         add_link(op, user, &stored, epilogue)) {
    user = next_user(op, epilogue, &unread);
    if (unread && can_end(op, plan, epilogue)) {
      length = epilogue->length;
      input_count = epilogue->input_count;
    }
  }
  epilogue->length = length;
  epilogue->input_count = input_count;
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
                           const MlirValue *values, const MlirValue *indices,
                           int64_t valid) {
  MlirBlock body =
      mlirRegionGetFirstBlock(mlirOperationGetRegion(epilogue->chain[link], 0));
  struct tg_lanes lanes = {
      .builder = builder, .valid = valid, .vector_loop = -1};
  for (int i = 0; i < epilogue->operand_count[link]; ++i)
    if (epilogue->chained[link][i] >= 0)
      tg_lanes_bind(&lanes, mlirBlockGetArgument(body, i),
                    values[epilogue->chained[link][i]]);
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
  MlirValue values[TG_MAX_CHAIN + 1] = {vector};
  for (int link = 0; link < epilogue->length; ++link)
    values[link + 1] =
        emit_link(builder, epilogue, link, values, indices, valid);
  return values[epilogue->length];
}
