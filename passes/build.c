/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The builder's operations, each made through mlirOperationCreate.
 */
#include "passes/build.h"

#include <assert.h>
#include <mlir-c/AffineMap.h>
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

#include "model/plan.h"
#include "passes/inspect.h"

enum { MAX_OPERANDS = 80, MAX_LANES = TG_MAX_LANES };

void tg_builder_init(struct tg_builder *builder, MlirBlock entry,
                     MlirLocation location, MlirType element, int64_t lanes) {
  MlirContext context = mlirLocationGetContext(location);
  builder->context = context;
  builder->location = location;
  builder->block = builder->entry = entry;
  builder->index = mlirIndexTypeGet(context);
  builder->element = element;
  builder->vector = mlirVectorTypeGet(1, &lanes, element);
  builder->lanes = lanes;
  builder->fused = true;
  builder->constant_count = 0;
}

MlirNamedAttribute tg_named(MlirContext context, const char *name,
                            MlirAttribute attribute) {
  return mlirNamedAttributeGet(mlirIdentifierGet(context, tg_ref(name)),
                               attribute);
}

static MlirOperation create(struct tg_builder *builder, const char *name,
                            int operand_count, const MlirValue *operands,
                            int result_count, const MlirType *results,
                            int attribute_count,
                            const MlirNamedAttribute *attributes) {
  MlirOperationState state =
      mlirOperationStateGet(tg_ref(name), builder->location);
  mlirOperationStateAddOperands(&state, operand_count, operands);
  mlirOperationStateAddResults(&state, result_count, results);
  mlirOperationStateAddAttributes(&state, attribute_count, attributes);
  return mlirOperationCreate(&state);
}

MlirOperation tg_build(struct tg_builder *builder, const char *name,
                       int operand_count, const MlirValue *operands,
                       int result_count, const MlirType *results,
                       int attribute_count,
                       const MlirNamedAttribute *attributes) {
  MlirOperation op = create(builder, name, operand_count, operands,
                            result_count, results, attribute_count, attributes);
  mlirBlockAppendOwnedOperation(builder->block, op);
  return op;
}

MlirValue tg_build_1(struct tg_builder *builder, const char *name,
                     int operand_count, const MlirValue *operands,
                     MlirType result) {
  return mlirOperationGetResult(
      tg_build(builder, name, operand_count, operands, 1, &result, 0, NULL), 0);
}

void tg_move_before(MlirBlock block, MlirOperation op) {
  MlirOperation made;
  while (made = mlirBlockGetFirstOperation(block), !mlirOperationIsNull(made)) {
    mlirOperationRemoveFromParent(made);
    mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(op), op, made);
  }
}

/*===-- Index arithmetic --------------------------------------------------===*/

MlirValue tg_index(struct tg_builder *builder, int64_t value) {
  for (int i = 0; i < builder->constant_count; ++i)
    if (builder->constant_key[i] == value)
      return builder->constant[i];
  MlirNamedAttribute attribute = tg_named(
      builder->context, "value", mlirIntegerAttrGet(builder->index, value));
  MlirOperation op = create(builder, "arith.constant", 0, NULL, 1,
                            &builder->index, 1, &attribute);
  mlirBlockInsertOwnedOperation(builder->entry, 0, op);
  MlirValue result = mlirOperationGetResult(op, 0);
  /* Past the table's end a constant is merely made twice. */
  if (builder->constant_count < TG_BUILD_MAX_CONSTANTS) {
    builder->constant_key[builder->constant_count] = value;
    builder->constant[builder->constant_count++] = result;
  }
  return result;
}

bool tg_index_constant(const struct tg_builder *builder, MlirValue value,
                       int64_t *constant) {
  for (int i = 0; i < builder->constant_count; ++i)
    if (mlirValueEqual(builder->constant[i], value)) {
      *constant = builder->constant_key[i];
      return true;
    }
  return false;
}

static MlirValue binary(struct tg_builder *builder, const char *name,
                        MlirValue a, MlirValue b) {
  MlirValue operands[2] = {a, b};
  return tg_build_1(builder, name, 2, operands, builder->index);
}

MlirValue tg_add(struct tg_builder *builder, MlirValue a, MlirValue b) {
  int64_t x, y;
  bool a_known = tg_index_constant(builder, a, &x);
  bool b_known = tg_index_constant(builder, b, &y);
  if (a_known && b_known)
    return tg_index(builder, x + y);
  if (a_known && x == 0)
    return b;
  if (b_known && y == 0)
    return a;
  return binary(builder, "arith.addi", a, b);
}

MlirValue tg_sub(struct tg_builder *builder, MlirValue a, MlirValue b) {
  int64_t x, y;
  bool b_known = tg_index_constant(builder, b, &y);
  if (b_known && y == 0)
    return a;
  if (b_known && tg_index_constant(builder, a, &x))
    return tg_index(builder, x - y);
  return binary(builder, "arith.subi", a, b);
}

MlirValue tg_mul(struct tg_builder *builder, MlirValue a, int64_t factor) {
  int64_t x;
  if (tg_index_constant(builder, a, &x))
    return tg_index(builder, x * factor);
  if (factor == 0)
    return tg_index(builder, 0);
  return factor == 1
             ? a
             : binary(builder, "arith.muli", a, tg_index(builder, factor));
}

MlirValue tg_div(struct tg_builder *builder, MlirValue a, int64_t divisor) {
  int64_t x;
  if (tg_index_constant(builder, a, &x))
    return tg_index(builder, x / divisor);
  return divisor == 1
             ? a
             : binary(builder, "arith.divui", a, tg_index(builder, divisor));
}

MlirValue tg_min(struct tg_builder *builder, MlirValue a, MlirValue b) {
  int64_t x, y;
  if (tg_index_constant(builder, a, &x) && tg_index_constant(builder, b, &y))
    return tg_index(builder, x < y ? x : y);
  return binary(builder, "arith.minui", a, b);
}

MlirValue tg_max(struct tg_builder *builder, MlirValue a, MlirValue b) {
  int64_t x, y;
  if (tg_index_constant(builder, a, &x) && tg_index_constant(builder, b, &y))
    return tg_index(builder, x > y ? x : y);
  return binary(builder, "arith.maxui", a, b);
}

/*===-- Loops -------------------------------------------------------------===*/

void tg_for_begin(struct tg_builder *builder, struct tg_for *loop,
                  MlirValue lower, MlirValue upper, int64_t step, int count,
                  const MlirValue *init) {
  assert(count <= TG_BUILD_MAX_CARRIED);
  loop->outside = builder->block;
  loop->lower = lower;
  loop->upper = upper;
  loop->step = tg_index(builder, step);
  loop->count = count;
  MlirType types[TG_BUILD_MAX_CARRIED + 1] = {builder->index};
  MlirLocation locations[TG_BUILD_MAX_CARRIED + 1];
  for (int i = 0; i <= count; ++i)
    locations[i] = builder->location;
  for (int i = 0; i < count; ++i) {
    loop->init[i] = init[i];
    types[i + 1] = mlirValueGetType(init[i]);
  }
  MlirBlock body = mlirBlockCreate(count + 1, types, locations);
  loop->region = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(loop->region, body);
  loop->iv = mlirBlockGetArgument(body, 0);
  for (int i = 0; i < count; ++i)
    loop->carried[i] = mlirBlockGetArgument(body, i + 1);
  builder->block = body;
}

void tg_for_end(struct tg_builder *builder, struct tg_for *loop,
                const MlirValue *yielded) {
  tg_build(builder, "scf.yield", loop->count, yielded, 0, NULL, 0, NULL);
  builder->block = loop->outside;
  MlirValue operands[TG_BUILD_MAX_CARRIED + 3] = {loop->lower, loop->upper,
                                                  loop->step};
  MlirType types[TG_BUILD_MAX_CARRIED];
  for (int i = 0; i < loop->count; ++i) {
    operands[i + 3] = loop->init[i];
    types[i] = mlirValueGetType(loop->init[i]);
  }
  MlirOperationState state =
      mlirOperationStateGet(tg_ref("scf.for"), builder->location);
  mlirOperationStateAddOperands(&state, loop->count + 3, operands);
  mlirOperationStateAddResults(&state, loop->count, types);
  mlirOperationStateAddOwnedRegions(&state, 1, &loop->region);
  loop->op = mlirOperationCreate(&state);
  mlirBlockAppendOwnedOperation(builder->block, loop->op);
  for (int i = 0; i < loop->count; ++i)
    loop->carried[i] = mlirOperationGetResult(loop->op, i);
}

/*===-- Tensors -----------------------------------------------------------===*/

MlirValue tg_scratch(struct tg_builder *builder, int rank,
                     const int64_t *shape) {
  return tg_scratch_of(builder, builder->element, rank, shape);
}

MlirValue tg_scratch_of(struct tg_builder *builder, MlirType element, int rank,
                        const int64_t *shape) {
  MlirType type =
      mlirRankedTensorTypeGet(rank, shape, element, mlirAttributeGetNull());
  /* Not tensor.empty: two of them with one shape are one value for CSE, and
   * loops that carry both would then share one buffer. */
  int32_t segments[3] = {0, 0, 0};
  MlirNamedAttribute attribute =
      tg_named(builder->context, "operandSegmentSizes",
               mlirDenseI32ArrayGet(builder->context, 3, segments));
  MlirOperation op = create(builder, "bufferization.alloc_tensor", 0, NULL, 1,
                            &type, 1, &attribute);
  mlirBlockAppendOwnedOperation(builder->entry, op);
  return mlirOperationGetResult(op, 0);
}

MlirValue tg_extract(struct tg_builder *builder, MlirValue tensor, int rank,
                     const MlirValue *indices) {
  MlirValue operands[MAX_OPERANDS] = {tensor};
  for (int d = 0; d < rank; ++d)
    operands[d + 1] = indices[d];
  return tg_build_1(builder, "tensor.extract", rank + 1, operands,
                    mlirShapedTypeGetElementType(mlirValueGetType(tensor)));
}

MlirValue tg_insert(struct tg_builder *builder, MlirValue scalar,
                    MlirValue tensor, int rank, const MlirValue *indices) {
  MlirValue operands[MAX_OPERANDS] = {scalar, tensor};
  for (int d = 0; d < rank; ++d)
    operands[d + 2] = indices[d];
  return tg_build_1(builder, "tensor.insert", rank + 2, operands,
                    mlirValueGetType(tensor));
}

MlirValue tg_dim(struct tg_builder *builder, MlirValue tensor, int dimension) {
  MlirType type = mlirValueGetType(tensor);
  MlirValue place = tg_index(builder, dimension);
  if (!mlirShapedTypeIsDynamicDim(type, dimension))
    return tg_index(builder, mlirShapedTypeGetDimSize(type, dimension));
  MlirValue operands[2] = {tensor, place};
  return tg_build_1(builder, "tensor.dim", 2, operands, builder->index);
}

static MlirAttribute reassociation(struct tg_builder *builder, int rank,
                                   const int *group) {
  MlirAttribute groups[16], members[16];
  int group_count = 0, d = 0;
  MlirType i64 = mlirIntegerTypeGet(builder->context, 64);
  while (d < rank) {
    int count = 0;
    for (int g = group[d]; d < rank && group[d] == g; ++d)
      members[count++] = mlirIntegerAttrGet(i64, d);
    groups[group_count++] = mlirArrayAttrGet(builder->context, count, members);
  }
  return mlirArrayAttrGet(builder->context, group_count, groups);
}

MlirValue tg_collapse(struct tg_builder *builder, MlirValue tensor,
                      int source_rank, const int *group) {
  if (source_rank == 0 || group[source_rank - 1] == source_rank - 1)
    return tensor;
  MlirType source = mlirValueGetType(tensor);
  int64_t shape[16];
  for (int d = 0; d < source_rank; ++d) {
    int64_t extent = mlirShapedTypeGetDimSize(source, d);
    bool first = d == 0 || group[d] != group[d - 1];
    int64_t *merged = &shape[group[d]];
    if (first)
      *merged = extent;
    else if (mlirShapedTypeIsDynamicSize(extent))
      *merged = extent;
    else if (!mlirShapedTypeIsDynamicSize(*merged))
      *merged *= extent;
  }
  MlirType type = mlirRankedTensorTypeGet(group[source_rank - 1] + 1, shape,
                                          mlirShapedTypeGetElementType(source),
                                          mlirAttributeGetNull());
  MlirNamedAttribute attribute =
      tg_named(builder->context, "reassociation",
               reassociation(builder, source_rank, group));
  return mlirOperationGetResult(tg_build(builder, "tensor.collapse_shape", 1,
                                         &tensor, 1, &type, 1, &attribute),
                                0);
}

MlirValue tg_expand(struct tg_builder *builder, MlirValue tensor,
                    int result_rank, const int *group, MlirValue like) {
  MlirType result = mlirValueGetType(like);
  if (result_rank == 0 || group[result_rank - 1] == result_rank - 1)
    return tensor;
  int64_t shape[16];
  MlirValue operands[17] = {tensor};
  int count = 1;
  for (int d = 0; d < result_rank; ++d) {
    shape[d] = mlirShapedTypeGetDimSize(result, d);
    if (mlirShapedTypeIsDynamicSize(shape[d]))
      operands[count++] = tg_dim(builder, like, d);
  }
  MlirNamedAttribute attributes[2] = {
      tg_named(builder->context, "reassociation",
               reassociation(builder, result_rank, group)),
      tg_named(builder->context, "static_output_shape",
               mlirDenseI64ArrayGet(builder->context, result_rank, shape))};
  return mlirOperationGetResult(tg_build(builder, "tensor.expand_shape", count,
                                         operands, 1, &result, 2, attributes),
                                0);
}

/*===-- Vectors -----------------------------------------------------------===*/

bool tg_element_is_addressable(MlirType element) {
  return !mlirTypeIsAInteger(element) || mlirIntegerTypeGetWidth(element) >= 8;
}

MlirType tg_vector_of(const struct tg_builder *builder, MlirType element) {
  return mlirVectorTypeGet(1, &builder->lanes, element);
}

MlirValue tg_constant(struct tg_builder *builder, MlirType type,
                      MlirAttribute value) {
  MlirNamedAttribute attribute = tg_named(builder->context, "value", value);
  return mlirOperationGetResult(
      tg_build(builder, "arith.constant", 0, NULL, 1, &type, 1, &attribute), 0);
}

MlirAttribute tg_zero_attribute(MlirType element) {
  if (mlirTypeIsAInteger(element) || mlirTypeIsAIndex(element))
    return mlirIntegerAttrGet(element, 0);
  return mlirFloatAttrDoubleGet(mlirTypeGetContext(element), element, 0.0);
}

MlirValue tg_zero_vector(struct tg_builder *builder) {
  return tg_constant(builder, builder->vector,
                     mlirDenseElementsAttrSplatGet(
                         builder->vector, tg_zero_attribute(builder->element)));
}

MlirValue tg_mask(struct tg_builder *builder, int64_t valid) {
  if (valid < 0)
    return builder->rest_mask[-1 - valid];
  MlirType type = mlirVectorTypeGet(1, &builder->lanes,
                                    mlirIntegerTypeGet(builder->context, 1));
  MlirNamedAttribute attribute =
      tg_named(builder->context, "mask_dim_sizes",
               mlirDenseI64ArrayGet(builder->context, 1, &valid));
  return mlirOperationGetResult(tg_build(builder, "vector.constant_mask", 0,
                                         NULL, 1, &type, 1, &attribute),
                                0);
}

/* The attributes that both transfers share. */
static void transfer_attributes(struct tg_builder *builder, int rank,
                                MlirNamedAttribute attributes[2]) {
  MlirAffineMap map = mlirAffineMapMinorIdentityGet(builder->context, rank, 1);
  MlirAttribute in_bounds = mlirBoolAttrGet(builder->context, true);
  attributes[0] =
      tg_named(builder->context, "permutation_map", mlirAffineMapAttrGet(map));
  attributes[1] = tg_named(builder->context, "in_bounds",
                           mlirArrayAttrGet(builder->context, 1, &in_bounds));
}

MlirValue tg_read(struct tg_builder *builder, MlirValue tensor, int rank,
                  const MlirValue *indices, int64_t valid) {
  bool masked = valid < builder->lanes;
  MlirType element = mlirShapedTypeGetElementType(mlirValueGetType(tensor));
  MlirType type = tg_vector_of(builder, element);
  MlirValue operands[MAX_OPERANDS] = {tensor};
  int count = 1;
  for (int d = 0; d < rank; ++d)
    operands[count++] = indices[d];
  operands[count++] = tg_constant(builder, element, tg_zero_attribute(element));
  if (masked)
    operands[count++] = tg_mask(builder, valid);
  MlirNamedAttribute attributes[3];
  transfer_attributes(builder, rank, attributes);
  int32_t segments[4] = {1, rank, 1, masked};
  attributes[2] = tg_named(builder->context, "operandSegmentSizes",
                           mlirDenseI32ArrayGet(builder->context, 4, segments));
  return mlirOperationGetResult(tg_build(builder, "vector.transfer_read", count,
                                         operands, 1, &type, 3, attributes),
                                0);
}

MlirValue tg_write(struct tg_builder *builder, MlirValue vector,
                   MlirValue tensor, int rank, const MlirValue *indices,
                   int64_t valid) {
  bool masked = valid < builder->lanes;
  MlirValue operands[MAX_OPERANDS] = {vector, tensor};
  int count = 2;
  for (int d = 0; d < rank; ++d)
    operands[count++] = indices[d];
  if (masked)
    operands[count++] = tg_mask(builder, valid);
  MlirNamedAttribute attributes[3];
  transfer_attributes(builder, rank, attributes);
  int32_t segments[4] = {1, 1, rank, masked};
  attributes[2] = tg_named(builder->context, "operandSegmentSizes",
                           mlirDenseI32ArrayGet(builder->context, 4, segments));
  MlirType type = mlirValueGetType(tensor);
  return mlirOperationGetResult(tg_build(builder, "vector.transfer_write",
                                         count, operands, 1, &type, 3,
                                         attributes),
                                0);
}

MlirValue tg_broadcast(struct tg_builder *builder, MlirValue scalar) {
  return tg_build_1(builder, "vector.broadcast", 1, &scalar,
                    tg_vector_of(builder, mlirValueGetType(scalar)));
}

MlirValue tg_add_elements(struct tg_builder *builder, MlirValue a,
                          MlirValue b) {
  MlirValue operands[2] = {a, b};
  bool integer = mlirTypeIsAInteger(builder->element);
  return tg_build_1(builder, integer ? "arith.addi" : "arith.addf", 2, operands,
                    mlirValueGetType(a));
}

MlirValue tg_multiply_add(struct tg_builder *builder, MlirValue a, MlirValue b,
                          MlirValue accumulator) {
  MlirValue operands[3] = {a, b, accumulator};
  bool integer = mlirTypeIsAInteger(builder->element);
  if (builder->fused && !integer)
    return tg_build_1(builder, "vector.fma", 3, operands, builder->vector);
  return tg_add_elements(builder,
                         tg_build_1(builder,
                                    integer ? "arith.muli" : "arith.mulf", 2,
                                    operands, builder->vector),
                         accumulator);
}

MlirValue tg_gather(struct tg_builder *builder, MlirValue tensor,
                    MlirValue base, MlirValue offsets) {
  MlirValue all = tg_mask(builder, builder->lanes);
  MlirType element = mlirShapedTypeGetElementType(mlirValueGetType(tensor));
  MlirType type = tg_vector_of(builder, element);
  MlirValue zero = tg_constant(
      builder, type,
      mlirDenseElementsAttrSplatGet(type, tg_zero_attribute(element)));
  MlirValue operands[5] = {tensor, base, offsets, all, zero};
  return tg_build_1(builder, "vector.gather", 5, operands, type);
}

MlirValue tg_permute(struct tg_builder *builder, MlirValue a, MlirValue b,
                     const int64_t *lanes) {
  MlirValue operands[2] = {a, b};
  MlirType type = mlirValueGetType(a);
  MlirNamedAttribute attribute =
      tg_named(builder->context, "mask",
               mlirDenseI64ArrayGet(builder->context, builder->lanes, lanes));
  return mlirOperationGetResult(
      tg_build(builder, "vector.shuffle", 2, operands, 1, &type, 1, &attribute),
      0);
}

MlirValue tg_read_strided(struct tg_builder *builder, MlirValue tensor,
                          int rank, const MlirValue *indices, int64_t step,
                          int64_t valid) {
  if (step == 1)
    return tg_read(builder, tensor, rank, indices, valid);
  int64_t lanes = builder->lanes, needed = step * (valid - 1) + 1;
  MlirValue place[MAX_OPERANDS], result = {NULL};
  for (int d = 0; d < rank; ++d)
    place[d] = indices[d];
  for (int64_t first = 0; first < needed; first += lanes) {
    place[rank - 1] =
        tg_add(builder, indices[rank - 1], tg_index(builder, first));
    int64_t left = needed - first;
    MlirValue piece =
        tg_read(builder, tensor, rank, place, left < lanes ? left : lanes);
    int64_t picked[MAX_LANES];
    for (int64_t lane = 0; lane < lanes; ++lane) {
      int64_t element = step * lane - first;
      bool here = element >= 0 && element < lanes;
      picked[lane] = here ? lanes + element : lane;
    }
    result = tg_permute(builder, first ? result : piece, piece, picked);
  }
  return result;
}

/*
 * log2(lanes) rounds: round s swaps, between row i and row i + s, the lanes
 * whose bit s differs from the row's (Eklundh's in-place transposition).
 */
void tg_transpose(struct tg_builder *builder, MlirValue *rows) {
  int64_t lanes = builder->lanes;
  int64_t low[MAX_LANES], high[MAX_LANES];
  assert(lanes <= MAX_LANES && (lanes & (lanes - 1)) == 0);
  for (int64_t s = 1; s < lanes; s *= 2) {
    for (int64_t j = 0; j < lanes; ++j) {
      bool upper = (j & s) != 0;
      low[j] = upper ? lanes + j - s : j;
      high[j] = upper ? lanes + j : j + s;
    }
    for (int64_t i = 0; i < lanes; ++i) {
      if (i & s)
        continue;
      MlirValue a = rows[i], b = rows[i + s];
      rows[i] = tg_permute(builder, a, b, low);
      rows[i + s] = tg_permute(builder, a, b, high);
    }
  }
}
