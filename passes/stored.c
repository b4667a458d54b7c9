/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Reading and writing of tgraph.layouts.
 */
#include "passes/stored.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

#include "passes/inspect.h"

enum { MAX_OPERANDS = TG_MAX_NEST_OPERANDS };

bool tg_op_has_layouts(MlirOperation op) {
  return tg_op_has_attribute(op, TG_LAYOUTS_ATTRIBUTE);
}

/* The operand's list: dimensions, minor first. */
static const char *check_list(MlirOperation op, int operand,
                              MlirAttribute list) {
  if (!mlirAttributeIsAArray(list))
    return "an entry is not a list of dimensions";
  intptr_t count = mlirArrayAttrGetNumElements(list);
  if (count == 0)
    return NULL;
  MlirValue value = mlirOperationGetOperand(op, operand);
  MlirType type = mlirValueGetType(value);
  if (!mlirTypeIsARankedTensor(type) || !mlirShapedTypeHasStaticShape(type) ||
      mlirShapedTypeGetRank(type) != count || count > TG_MAX_RANK)
    return "an entry doesn't fit its operand, a tensor of static shape";
  if (tg_op_is(tg_value_producer(value), "linalg.transpose"))
    return "an operand that is made by a transposition is read as it was "
           "before";
  unsigned seen = 0;
  for (intptr_t i = 0; i < count; ++i) {
    int64_t dimension;
    if (!tg_attribute_integer(mlirArrayAttrGetElement(list, i), &dimension) ||
        dimension < 0 || dimension >= count)
      return "an entry names a dimension that its operand hasn't";
    seen |= 1u << dimension;
  }
  return seen == (1u << count) - 1 ? NULL
                                   : "an entry is not an order of dimensions";
}

const char *tg_layouts_check(MlirOperation op) {
  MlirAttribute lists =
      mlirOperationGetAttributeByName(op, tg_ref(TG_LAYOUTS_ATTRIBUTE));
  if (mlirAttributeIsNull(lists))
    return NULL;
  intptr_t operands = mlirOperationGetNumOperands(op);
  if (!tg_op_name_starts_with(op, "linalg."))
    return "not on a structured operation";
  if (!mlirAttributeIsAArray(lists) || operands > MAX_OPERANDS ||
      mlirArrayAttrGetNumElements(lists) != operands)
    return "not a list with an entry for each operand";
  const char *fault = NULL;
  for (int o = 0; o < operands && !fault; ++o)
    fault = check_list(op, o, mlirArrayAttrGetElement(lists, o));
  return fault;
}

void tg_layouts_get(MlirOperation op, int operand, struct tg_stored *stored) {
  stored->rank = 0;
  MlirAttribute lists =
      mlirOperationGetAttributeByName(op, tg_ref(TG_LAYOUTS_ATTRIBUTE));
  if (mlirAttributeIsNull(lists))
    return;
  MlirAttribute list = mlirArrayAttrGetElement(lists, operand);
  stored->rank = (int)mlirArrayAttrGetNumElements(list);
  for (int i = 0; i < stored->rank; ++i) {
    int64_t dimension = 0;
    tg_attribute_integer(mlirArrayAttrGetElement(list, stored->rank - 1 - i),
                         &dimension);
    stored->dimension[i] = (int)dimension;
  }
}

void tg_layouts_set(MlirOperation op, const struct tg_stored *stored) {
  MlirContext context = mlirOperationGetContext(op);
  MlirType i64 = mlirIntegerTypeGet(context, 64);
  MlirAttribute lists[MAX_OPERANDS];
  intptr_t operands = mlirOperationGetNumOperands(op);
  for (intptr_t o = 0; o < operands; ++o) {
    MlirAttribute list[TG_MAX_RANK];
    int rank = stored[o].rank;
    for (int i = 0; i < rank; ++i)
      list[i] = mlirIntegerAttrGet(i64, stored[o].dimension[rank - 1 - i]);
    lists[o] = mlirArrayAttrGet(context, rank, list);
  }
  mlirOperationSetDiscardableAttributeByName(
      op, tg_ref(TG_LAYOUTS_ATTRIBUTE),
      mlirArrayAttrGet(context, operands, lists));
}

void tg_access_permute(struct tg_access *access,
                       const struct tg_stored *stored) {
  struct tg_access given = *access;
  for (int i = 0; i < stored->rank; ++i) {
    int from = stored->dimension[i];
    access->extent[i] = given.extent[from];
    for (int l = 0; l < TG_MAX_LOOPS; ++l)
      access->coefficient[i][l] = given.coefficient[from][l];
  }
}

MlirType tg_stored_type(MlirType type, const struct tg_stored *stored) {
  int64_t shape[TG_MAX_RANK];
  if (stored->rank == 0)
    return type;
  for (int i = 0; i < stored->rank; ++i)
    shape[i] = mlirShapedTypeGetDimSize(type, stored->dimension[i]);
  return mlirRankedTensorTypeGet(stored->rank, shape,
                                 mlirShapedTypeGetElementType(type),
                                 mlirAttributeGetNull());
}
