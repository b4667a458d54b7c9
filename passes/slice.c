/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * tensor.extract_slice and tensor.insert_slice.
 */
#include "passes/slice.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

enum { ATTRIBUTES = 4 };

MlirType tg_slice_type(const struct tg_slice *slice, MlirType whole) {
  return mlirRankedTensorTypeGet(slice->rank, slice->size,
                                 mlirShapedTypeGetElementType(whole),
                                 mlirAttributeGetNull());
}

/* Appends the offsets that aren't 0 to the operands; returns their number. */
static int add_offsets(const struct tg_builder *builder,
                       const struct tg_slice *slice, int tensors,
                       MlirValue *operands, MlirNamedAttribute *attributes) {
  int64_t offsets[TG_MAX_RANK], strides[TG_MAX_RANK];
  int count = 0;
  for (int d = 0; d < slice->rank; ++d) {
    bool given = !mlirValueIsNull(slice->offset[d]);
    offsets[d] = given ? mlirShapedTypeGetDynamicStrideOrOffset() : 0;
    strides[d] = 1;
    if (given)
      operands[tensors + count++] = slice->offset[d];
  }
  /* One or two tensors, the offsets; neither sizes nor strides. */
  int32_t segments[5] = {1, 1, 0, 0, 0};
  segments[tensors] = count;
  MlirContext context = builder->context;
  attributes[0] =
      tg_named(context, "operandSegmentSizes",
               mlirDenseI32ArrayGet(context, tensors + 3, segments));
  attributes[1] = tg_named(context, "static_offsets",
                           mlirDenseI64ArrayGet(context, slice->rank, offsets));
  attributes[2] =
      tg_named(context, "static_sizes",
               mlirDenseI64ArrayGet(context, slice->rank, slice->size));
  attributes[3] = tg_named(context, "static_strides",
                           mlirDenseI64ArrayGet(context, slice->rank, strides));
  return count;
}

MlirValue tg_slice_extract(struct tg_builder *builder, MlirValue whole,
                           const struct tg_slice *slice) {
  MlirValue operands[1 + TG_MAX_RANK] = {whole};
  MlirNamedAttribute attributes[ATTRIBUTES];
  int count = add_offsets(builder, slice, 1, operands, attributes);
  MlirType type = tg_slice_type(slice, mlirValueGetType(whole));
  return mlirOperationGetResult(tg_build(builder, "tensor.extract_slice",
                                         1 + count, operands, 1, &type,
                                         ATTRIBUTES, attributes),
                                0);
}

MlirValue tg_slice_insert(struct tg_builder *builder, MlirValue part,
                          MlirValue whole, const struct tg_slice *slice) {
  MlirValue operands[2 + TG_MAX_RANK] = {part, whole};
  MlirNamedAttribute attributes[ATTRIBUTES];
  int count = add_offsets(builder, slice, 2, operands, attributes);
  MlirType type = mlirValueGetType(whole);
  return mlirOperationGetResult(tg_build(builder, "tensor.insert_slice",
                                         2 + count, operands, 1, &type,
                                         ATTRIBUTES, attributes),
                                0);
}
