/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * linalg.generic and linalg.fill, operand by operand.
 */
#include "passes/generic.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

#include "passes/inspect.h"

void tg_generic_add_operand(struct tg_generic *generic, MlirValue value,
                            MlirAffineMap map) {
  generic->operands[generic->operand_count] = value;
  generic->maps[generic->operand_count++] = map;
}

static MlirType element_of(MlirValue value) {
  return mlirShapedTypeGetElementType(mlirValueGetType(value));
}

void tg_generic_begin(struct tg_generic *generic, MlirLocation location) {
  MlirType types[TG_GENERIC_MAX_INPUTS + 1];
  MlirLocation locations[TG_GENERIC_MAX_INPUTS + 1];
  for (int o = 0; o < generic->operand_count; ++o) {
    types[o] = element_of(generic->operands[o]);
    locations[o] = location;
  }
  generic->body = mlirBlockCreate(generic->operand_count, types, locations);
  tg_builder_init(&generic->builder, generic->body, location,
                  types[generic->operand_count - 1], 1);
}

MlirValue tg_generic_argument(const struct tg_generic *generic, int operand) {
  return mlirBlockGetArgument(generic->body, operand);
}

MlirOperation tg_generic_end(struct tg_builder *outside,
                             struct tg_generic *generic, MlirValue value) {
  tg_build(&generic->builder, "linalg.yield", 1, &value, 0, NULL, 0, NULL);
  MlirContext context = outside->context;
  MlirAttribute maps[TG_GENERIC_MAX_INPUTS + 1], kinds[TG_MAX_LOOPS];
  for (int o = 0; o < generic->operand_count; ++o)
    maps[o] = mlirAffineMapAttrGet(generic->maps[o]);
  for (int l = 0; l < generic->loop_count; ++l)
    kinds[l] = tg_iterator_kind(context, generic->reduction[l]);
  int32_t segments[2] = {generic->operand_count - 1, 1};
  MlirNamedAttribute attributes[] = {
      tg_named(context, "indexing_maps",
               mlirArrayAttrGet(context, generic->operand_count, maps)),
      tg_named(context, "iterator_types",
               mlirArrayAttrGet(context, generic->loop_count, kinds)),
      tg_named(context, "operandSegmentSizes",
               mlirDenseI32ArrayGet(context, 2, segments))};
  MlirRegion region = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(region, generic->body);
  MlirType type =
      mlirValueGetType(generic->operands[generic->operand_count - 1]);
  MlirOperationState state =
      mlirOperationStateGet(tg_ref("linalg.generic"), outside->location);
  mlirOperationStateAddOperands(&state, generic->operand_count,
                                generic->operands);
  mlirOperationStateAddResults(&state, 1, &type);
  mlirOperationStateAddAttributes(
      &state, sizeof(attributes) / sizeof(attributes[0]), attributes);
  mlirOperationStateAddOwnedRegions(&state, 1, &region);
  MlirOperation op = mlirOperationCreate(&state);
  mlirBlockAppendOwnedOperation(outside->block, op);
  return op;
}

MlirValue tg_build_number(struct tg_builder *outside, MlirType type,
                          int64_t value) {
  return tg_constant(outside, type, mlirIntegerAttrGet(type, value));
}

MlirValue tg_build_fill(struct tg_builder *outside, MlirValue value,
                        intptr_t rank, const int64_t *shape) {
  MlirType type = mlirRankedTensorTypeGet(rank, shape, mlirValueGetType(value),
                                          mlirAttributeGetNull());
  return tg_build_fill_of(outside, value,
                          tg_build_1(outside, "tensor.empty", 0, NULL, type));
}

MlirValue tg_build_fill_of(struct tg_builder *outside, MlirValue value,
                           MlirValue tensor) {
  MlirType element = mlirValueGetType(value), type = mlirValueGetType(tensor);
  MlirType types[2] = {element, element};
  MlirLocation locations[2] = {outside->location, outside->location};
  MlirBlock body = mlirBlockCreate(2, types, locations);
  struct tg_builder inside;
  tg_builder_init(&inside, body, outside->location, element, 1);
  MlirValue filled = mlirBlockGetArgument(body, 0);
  tg_build(&inside, "linalg.yield", 1, &filled, 0, NULL, 0, NULL);
  MlirRegion region = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(region, body);
  int32_t segments[2] = {1, 1};
  MlirNamedAttribute attribute =
      tg_named(outside->context, "operandSegmentSizes",
               mlirDenseI32ArrayGet(outside->context, 2, segments));
  MlirValue operands[2] = {value, tensor};
  MlirOperationState state =
      mlirOperationStateGet(tg_ref("linalg.fill"), outside->location);
  mlirOperationStateAddOperands(&state, 2, operands);
  mlirOperationStateAddResults(&state, 1, &type);
  mlirOperationStateAddAttributes(&state, 1, &attribute);
  mlirOperationStateAddOwnedRegions(&state, 1, &region);
  MlirOperation op = mlirOperationCreate(&state);
  mlirBlockAppendOwnedOperation(outside->block, op);
  return mlirOperationGetResult(op, 0);
}
