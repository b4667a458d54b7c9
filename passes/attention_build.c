/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The loop over the parts of a batch: the chain's operations once more, on
 * parts of what comes from outside. Ranks stay, so that maps and bodies do.
 */
#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

#include "passes/attention_chain.h"
#include "passes/generic.h"
#include "passes/inspect.h"
#include "passes/nest.h"

struct build {
  const struct tg_chain *chain;
  struct tg_builder builder;
  MlirValue start; /* of the part, in the batch */
  MlirOperation made[TG_CHAIN_MAX_OPS];
};

/*===-- Parts of what comes from outside ----------------------------------===*/

/* Where the part starts in dimension `lead` of the batch; null: at 0. */
static MlirValue start_in(struct build *build, const struct tg_chain_op *entry,
                          int lead) {
  struct tg_builder *b = &build->builder;
  int64_t inner = 1, outer = 1;
  for (int d = lead + 1; d < entry->lead; ++d)
    inner *= entry->extent[d];
  for (int d = 0; d < lead; ++d)
    outer *= entry->extent[d];
  if (entry->size[lead] == entry->extent[lead])
    return (MlirValue){NULL};
  MlirValue start = tg_div(b, build->start, inner);
  if (outer == 1)
    return start;
  MlirValue operands[2] = {start, tg_index(b, entry->extent[lead])};
  return tg_build_1(b, "arith.remui", 2, operands, b->index);
}

/* The part of an operand that the map reads; false: it has no batch. */
static bool read_slice(struct build *build, const struct tg_chain_op *entry,
                       MlirAffineMap map, MlirType type,
                       struct tg_slice *slice) {
  bool sliced = false;
  *slice = (struct tg_slice){.rank = (int)mlirShapedTypeGetRank(type)};
  for (int d = 0; d < slice->rank; ++d) {
    MlirAffineExpr expr = mlirAffineMapGetResult(map, d);
    slice->size[d] = mlirShapedTypeGetDimSize(type, d);
    for (int j = 0; j < entry->lead && mlirAffineExprIsADim(expr); ++j) {
      if (mlirAffineDimExprGetPosition(expr) != entry->loop[j] ||
          entry->size[j] == entry->extent[j])
        continue;
      slice->offset[d] = start_in(build, entry, j);
      slice->size[d] = entry->size[j];
      sliced = true;
    }
  }
  return sliced;
}

static bool is_splat(MlirOperation op) {
  if (!tg_op_is(op, "arith.constant"))
    return false;
  MlirAttribute value = mlirOperationGetAttributeByName(op, tg_ref("value"));
  return mlirAttributeIsADenseElements(value) &&
         mlirDenseElementsAttrIsSplat(value);
}

/* What is the same everywhere is made anew, of the part's size. */
static MlirValue take_part(struct build *build, MlirValue whole,
                           const struct tg_slice *slice) {
  struct tg_builder *b = &build->builder;
  MlirOperation producer = tg_value_producer(whole);
  MlirType type = tg_slice_type(slice, mlirValueGetType(whole));
  if (tg_op_is(producer, "tensor.empty"))
    return tg_build_1(b, "tensor.empty", 0, NULL, type);
  if (tg_op_is(producer, "linalg.fill") &&
      mlirOperationGetNumResults(producer) == 1 &&
      mlirTypeEqual(mlirValueGetType(mlirOperationGetOperand(producer, 0)),
                    mlirShapedTypeGetElementType(type)))
    return tg_build_fill(b, mlirOperationGetOperand(producer, 0), slice->rank,
                         slice->size);
  if (is_splat(producer))
    return tg_constant(b, type,
                       mlirDenseElementsAttrSplatGet(
                           type, mlirDenseElementsAttrGetSplatValue(
                                     mlirOperationGetAttributeByName(
                                         producer, tg_ref("value")))));
  return tg_slice_extract(b, whole, slice);
}

/*===-- Operations --------------------------------------------------------===*/

static MlirValue operand_of(struct build *build,
                            const struct tg_chain_op *entry, MlirValue value,
                            MlirAffineMap map) {
  int from = tg_chain_producer(build->chain, value);
  struct tg_slice slice;
  if (from >= 0)
    return mlirOperationGetResult(build->made[from],
                                  mlirOpResultGetResultNumber(value));
  MlirType type = mlirValueGetType(value);
  return mlirTypeIsAShaped(type) && read_slice(build, entry, map, type, &slice)
             ? take_part(build, value, &slice)
             : value;
}

/* The operation's result with a part of the batch. */
static MlirType part_type(const struct tg_chain_op *entry, MlirType whole,
                          int64_t shape[TG_MAX_RANK]) {
  intptr_t rank = mlirShapedTypeGetRank(whole);
  for (intptr_t d = 0; d < rank; ++d)
    shape[d] =
        d < entry->lead ? entry->size[d] : mlirShapedTypeGetDimSize(whole, d);
  return mlirRankedTensorTypeGet(
      rank, shape, mlirShapedTypeGetElementType(whole), mlirAttributeGetNull());
}

static void build_op(struct build *build, int i) {
  const struct tg_chain_op *entry = &build->chain->ops[i];
  MlirAffineMap maps[TG_MAX_NEST_OPERANDS] = {{NULL}};
  MlirOperation made = mlirOperationClone(entry->op);
  build->made[i] = made;
  if (!entry->reshapes)
    tg_op_get_maps(entry->op, TG_MAX_NEST_OPERANDS, maps);
  for (intptr_t o = 0; o < mlirOperationGetNumOperands(made); ++o)
    mlirOperationSetOperand(made, o,
                            operand_of(build, entry,
                                       mlirOperationGetOperand(entry->op, o),
                                       maps[o]));
  for (intptr_t r = 0; r < mlirOperationGetNumResults(made); ++r) {
    MlirValue result = mlirOperationGetResult(made, r);
    int64_t shape[TG_MAX_RANK];
    MlirType whole = mlirValueGetType(result);
    mlirValueSetType(result, part_type(entry, whole, shape));
    if (tg_op_is(made, "tensor.expand_shape"))
      mlirOperationSetAttributeByName(
          made, tg_ref("static_output_shape"),
          mlirDenseI64ArrayGet(build->builder.context,
                               mlirShapedTypeGetRank(whole), shape));
  }
  mlirBlockAppendOwnedOperation(build->builder.block, made);
}

/* The part's result in its place in the whole one. */
static MlirValue put_part(struct build *build, MlirValue whole) {
  int last = build->chain->count - 1;
  const struct tg_chain_op *entry = &build->chain->ops[last];
  struct tg_slice slice = {0};
  MlirType type = mlirValueGetType(whole);
  slice.rank = (int)mlirShapedTypeGetRank(type);
  for (int d = 0; d < slice.rank; ++d) {
    slice.size[d] =
        d < entry->lead ? entry->size[d] : mlirShapedTypeGetDimSize(type, d);
    if (d < entry->lead)
      slice.offset[d] = start_in(build, entry, d);
  }
  return tg_slice_insert(&build->builder,
                         mlirOperationGetResult(build->made[last], 0), whole,
                         &slice);
}

void tg_chain_build(const struct tg_chain *chain) {
  MlirOperation last = chain->ops[chain->count - 1].op;
  MlirValue old = mlirOperationGetResult(last, 0);
  MlirType type = mlirValueGetType(old);
  MlirBlock outside = mlirBlockCreate(0, NULL, NULL);
  struct build build = {.chain = chain};
  struct tg_builder *b = &build.builder;
  tg_builder_init(b, outside, mlirOperationGetLocation(last),
                  mlirShapedTypeGetElementType(type), 1);
  struct tg_for loop;
  MlirValue init = tg_build_1(b, "tensor.empty", 0, NULL, type);
  tg_for_begin(b, &loop, tg_index(b, 0), tg_index(b, chain->batch), chain->part,
               1, &init);
  build.start = loop.iv;
  for (int i = 0; i < chain->count; ++i)
    build_op(&build, i);
  MlirValue result = put_part(&build, loop.carried[0]);
  tg_for_end(b, &loop, &result);
  tg_move_before(outside, last);
  mlirBlockDestroy(outside);
  mlirValueReplaceAllUsesOfWith(old, loop.carried[0]);
  for (int i = chain->count - 1; i >= 0; --i)
    mlirOperationDestroy(chain->ops[i].op);
}
