/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * memref.copy: trailing dimensions that are contiguous on both sides are one
 * run, copied by vectors; loops over the others are around it.
 */
#include "passes/copy.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/Dialect/Linalg.h>

#include "passes/inspect.h"
#include "passes/run.h"

enum { MAX_RANK = 12, FROM = 0, TO = 1 };

struct copy {
  MlirOperation op;
  MlirValue memory[2];
  int rank;
  int run_first; /* the first dimension of the run */
  int64_t run;   /* its elements */
};

/* Row-major without gaps or an offset. */
static bool is_plain(MlirType type) {
  MlirAttribute layout = mlirMemRefTypeGetLayout(type);
  return mlirAttributeIsAAffineMap(layout) &&
         mlirAffineMapIsIdentity(mlirAffineMapAttrGetValue(layout));
}

/* Dimensions from the back that follow each other without gaps. Returns the
 * first of them, `rank` for none; `elements` of known extent. */
static int find_run(MlirType type, int64_t *elements) {
  int64_t strides[MAX_RANK], offset;
  int rank = (int)mlirShapedTypeGetRank(type), first = rank;
  *elements = 1;
  if (mlirLogicalResultIsFailure(
          mlirMemRefTypeGetStridesAndOffset(type, strides, &offset)))
    return rank;
  while (first > 0 && !mlirShapedTypeIsDynamicDim(type, first - 1) &&
         strides[first - 1] == *elements)
    *elements *= mlirShapedTypeGetDimSize(type, --first);
  return first;
}

static bool read_copy(MlirOperation op, struct copy *copy) {
  *copy = (struct copy){.op = op};
  int first[2];
  for (int side = FROM; side <= TO; ++side) {
    copy->memory[side] = mlirOperationGetOperand(op, side);
    MlirType type = mlirValueGetType(copy->memory[side]);
    if (!mlirTypeIsAMemRef(type) || mlirShapedTypeGetRank(type) > MAX_RANK ||
        !(is_plain(type) ||
          mlirAttributeIsAStridedLayout(mlirMemRefTypeGetLayout(type))) ||
        !tg_run_serves(mlirShapedTypeGetElementType(type)))
      return false;
    copy->rank = (int)mlirShapedTypeGetRank(type);
    int64_t elements;
    first[side] = find_run(type, &elements);
  }
  copy->run_first = first[FROM] > first[TO] ? first[FROM] : first[TO];
  copy->run = 1;
  MlirType type = mlirValueGetType(copy->memory[FROM]);
  for (int d = copy->run_first; d < copy->rank; ++d)
    copy->run *= mlirShapedTypeGetDimSize(type, d);
  return copy->rank > 0 && copy->run > 1;
}

/* Is each side one piece of memory? */
static bool is_contiguous(MlirOperation op) {
  for (int side = FROM; side <= TO; ++side) {
    MlirType type = mlirValueGetType(mlirOperationGetOperand(op, side));
    int64_t elements;
    if (!mlirTypeIsAMemRef(type))
      return true; /* unranked: not ours */
    MlirAttribute layout = mlirMemRefTypeGetLayout(type);
    bool plain = mlirAttributeIsAAffineMap(layout) &&
                 mlirAffineMapIsIdentity(mlirAffineMapAttrGetValue(layout));
    if (!plain &&
        (mlirShapedTypeGetRank(type) > MAX_RANK ||
         !mlirShapedTypeHasStaticShape(type) || find_run(type, &elements) != 0))
      return false;
  }
  return true;
}

/*===-- Vectors -----------------------------------------------------------===*/

/* The view whose last dimension is the run. */
static MlirValue collapse(struct tg_builder *builder, const struct copy *copy,
                          MlirValue memory) {
  int dims = copy->run_first + 1;
  if (dims == copy->rank)
    return memory;
  MlirContext context = builder->context;
  MlirType type = mlirValueGetType(memory);
  int64_t strides[MAX_RANK], shape[MAX_RANK], offset;
  mlirMemRefTypeGetStridesAndOffset(type, strides, &offset);
  MlirAttribute groups[MAX_RANK], members[MAX_RANK];
  MlirType i64 = mlirIntegerTypeGet(context, 64);
  for (int d = 0; d < copy->run_first; ++d) {
    MlirAttribute own = mlirIntegerAttrGet(i64, d);
    groups[d] = mlirArrayAttrGet(context, 1, &own);
    shape[d] = mlirShapedTypeGetDimSize(type, d);
  }
  for (int d = copy->run_first; d < copy->rank; ++d)
    members[d - copy->run_first] = mlirIntegerAttrGet(i64, d);
  groups[dims - 1] =
      mlirArrayAttrGet(context, copy->rank - copy->run_first, members);
  shape[dims - 1] = copy->run;
  strides[dims - 1] = 1;
  MlirType collapsed = mlirMemRefTypeGet(
      mlirShapedTypeGetElementType(type), dims, shape,
      is_plain(type) ? mlirAttributeGetNull()
                     : mlirStridedLayoutAttrGet(context, offset, dims, strides),
      mlirMemRefTypeGetMemorySpace(type));
  MlirNamedAttribute attribute = tg_named(
      context, "reassociation", mlirArrayAttrGet(context, dims, groups));
  return mlirOperationGetResult(tg_build(builder, "memref.collapse_shape", 1,
                                         &memory, 1, &collapsed, 1, &attribute),
                                0);
}

static MlirValue extent(struct tg_builder *builder, const struct copy *copy,
                        int dimension) {
  MlirType type = mlirValueGetType(copy->memory[FROM]);
  if (!mlirShapedTypeIsDynamicDim(type, dimension))
    return tg_index(builder, mlirShapedTypeGetDimSize(type, dimension));
  MlirValue operands[2] = {copy->memory[FROM], tg_index(builder, dimension)};
  return tg_build_1(builder, "memref.dim", 2, operands, builder->index);
}

static void emit(struct tg_builder *builder, const struct copy *copy,
                 int64_t vector_bits) {
  struct tg_run run;
  tg_run_init(
      &run, builder,
      mlirShapedTypeGetElementType(mlirValueGetType(copy->memory[FROM])),
      vector_bits);
  MlirValue from = collapse(builder, copy, copy->memory[FROM]);
  MlirValue to = collapse(builder, copy, copy->memory[TO]);
  struct tg_for loop[MAX_RANK];
  MlirValue indices[MAX_RANK];
  MlirValue zero = tg_index(builder, 0);
  for (int d = 0; d < copy->run_first; ++d) {
    tg_for_begin(builder, &loop[d], zero, extent(builder, copy, d), 1, 0, NULL);
    indices[d] = loop[d].iv;
  }
  indices[copy->run_first] = zero;
  int rank = copy->run_first + 1;
  tg_run_copy(&run, (struct tg_run_place){from, rank, indices},
              (struct tg_run_place){to, rank, indices}, copy->run);
  for (int d = copy->run_first - 1; d >= 0; --d)
    tg_for_end(builder, &loop[d], NULL);
}

static void emit_before(const struct copy *copy, int64_t vector_bits) {
  MlirBlock block = mlirBlockCreate(0, NULL, NULL);
  struct tg_builder builder;
  tg_builder_init(
      &builder, block, mlirOperationGetLocation(copy->op),
      mlirShapedTypeGetElementType(mlirValueGetType(copy->memory[FROM])), 1);
  emit(&builder, copy, vector_bits);
  MlirOperation made;
  while (made = mlirBlockGetFirstOperation(block), !mlirOperationIsNull(made)) {
    mlirOperationRemoveFromParent(made);
    mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(copy->op),
                                        copy->op, made);
  }
  mlirBlockDestroy(block);
}

/*===-- Anything else -----------------------------------------------------===*/

static void replace_by_linalg(MlirOperation op) {
  MlirContext context = mlirOperationGetContext(op);
  MlirValue operands[2] = {mlirOperationGetOperand(op, FROM),
                           mlirOperationGetOperand(op, TO)};
  int32_t segments[2] = {1, 1};
  MlirNamedAttribute attribute =
      tg_named(context, "operandSegmentSizes",
               mlirDenseI32ArrayGet(context, 2, segments));
  MlirRegion region = mlirRegionCreate();
  MlirOperationState state = mlirOperationStateGet(
      tg_ref("linalg.copy"), mlirOperationGetLocation(op));
  mlirOperationStateAddOperands(&state, 2, operands);
  mlirOperationStateAddAttributes(&state, 1, &attribute);
  mlirOperationStateAddOwnedRegions(&state, 1, &region);
  MlirOperation copy = mlirOperationCreate(&state);
  mlirLinalgFillBuiltinNamedOpRegion(copy);
  mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(op), op, copy);
}

static MlirWalkResult visit(MlirOperation op, void *data) {
  const int64_t *vector_bits = data;
  struct copy copy;
  if (!tg_op_is(op, "memref.copy") || is_contiguous(op))
    return MlirWalkResultAdvance;
  if (read_copy(op, &copy))
    emit_before(&copy, *vector_bits);
  else
    replace_by_linalg(op);
  mlirOperationDestroy(op);
  return MlirWalkResultSkip;
}

void tg_expand_copies(MlirOperation module, int64_t vector_bits) {
  mlirOperationWalk(module, visit, &vector_bits, MlirWalkPostOrder);
}
