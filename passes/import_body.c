/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The operation code of an operation. A structured operation without a row in
 * the table has the code that its body says: a contraction or a convolution,
 * whatever its name; one arithmetic operation is that operation, or a reduce
 * when there is a reduction loop; several are a fusion; none moves data.
 */
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/Dialect/Linalg.h>
#include <string.h>

#include "passes/import.h"
#include "passes/inspect.h"

enum { MAX_OPERANDS = 32 };

bool tg_op_is_opaque_body(MlirOperation op) {
  return tg_op_name_starts_with(op, "linalg.") ||
         tg_op_name_starts_with(op, "tensor.");
}

/* Terminators, subscripts and checks are not what a body computes. */
static bool is_bookkeeping(MlirOperation op) {
  static const char *const names[] = {"linalg.yield", "linalg.index",
                                      "arith.constant", "arith.index_cast",
                                      "cf.assert"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i)
    if (tg_op_is(op, names[i]))
      return true;
  return false;
}

struct body {
  MlirBlock block;
  int computing;         /* operations that compute */
  enum tg_opcode opcode; /* of the last of them */
  bool has_index;
};

static bool read_body(MlirOperation op, struct body *body) {
  memset(body, 0, sizeof *body);
  if (mlirOperationGetNumRegions(op) != 1)
    return false;
  body->block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  if (mlirBlockIsNull(body->block))
    return false;
  for (MlirOperation inner = mlirBlockGetFirstOperation(body->block);
       !mlirOperationIsNull(inner);
       inner = mlirOperationGetNextInBlock(inner)) {
    body->has_index |= tg_op_is(inner, "linalg.index");
    if (is_bookkeeping(inner))
      continue;
    MlirStringRef name = tg_op_name(inner);
    body->opcode = mlirOperationGetNumRegions(inner) > 0
                       ? TG_OPCODE_fusion
                       : tg_opcode_from_op(name.data, name.length);
    ++body->computing;
  }
  return true;
}

/* Is there a loop that the map of the last operand does not use? */
static bool has_reduction(const MlirAffineMap *maps, int count) {
  MlirAffineMap result = maps[count - 1];
  for (intptr_t l = 0; l < mlirAffineMapGetNumDims(result); ++l) {
    bool used = false;
    for (intptr_t r = 0; r < mlirAffineMapGetNumResults(result); ++r)
      used |=
          mlirAffineExprIsFunctionOfDim(mlirAffineMapGetResult(result, r), l);
    if (!used)
      return true;
  }
  return false;
}

/* A body that computes nothing: by what it yields and from where. */
static enum tg_opcode opcode_of_move(const struct body *body,
                                     const MlirAffineMap *maps, int count) {
  MlirOperation yield = mlirBlockGetTerminator(body->block);
  if (mlirOperationIsNull(yield) || mlirOperationGetNumOperands(yield) != 1)
    return TG_OPCODE_fusion;
  MlirValue value = mlirOperationGetOperand(yield, 0);
  if (!mlirValueIsABlockArgument(value) ||
      !mlirBlockEqual(mlirBlockArgumentGetOwner(value), body->block))
    return body->has_index ? TG_OPCODE_iota : TG_OPCODE_broadcast;
  intptr_t argument = mlirBlockArgumentGetArgNumber(value);
  if (argument >= count ||
      !mlirAffineMapIsProjectedPermutation(maps[argument]) ||
      mlirAffineMapGetNumResults(maps[argument]) <
          mlirAffineMapGetNumResults(maps[count - 1]))
    return TG_OPCODE_broadcast;
  return mlirAffineMapEqual(maps[argument], maps[count - 1])
             ? TG_OPCODE_copy
             : TG_OPCODE_transpose;
}

static enum tg_opcode opcode_of_structured(MlirOperation op) {
  MlirAffineMap maps[MAX_OPERANDS];
  struct body body;
  int count = tg_op_get_maps(op, MAX_OPERANDS, maps);
  if (count == 0 || !read_body(op, &body))
    return TG_OPCODE_unknown;
  if (count < 0) /* more operands than any single operation has */
    return body.computing > 0 ? TG_OPCODE_fusion : TG_OPCODE_unknown;
  if (mlirLinalgIsAContractionOp(op))
    return TG_OPCODE_dot;
  bool reduces = has_reduction(maps, count);
  if (reduces && mlirLinalgIsAConvolutionOp(op))
    return body.computing > 1 ? TG_OPCODE_convolution : TG_OPCODE_reduce_window;
  if (body.computing > 1)
    return TG_OPCODE_fusion;
  if (body.computing == 1)
    return reduces ? TG_OPCODE_reduce : body.opcode;
  return opcode_of_move(&body, maps, count);
}

enum tg_opcode tg_opcode_of_op(MlirOperation op) {
  MlirStringRef name = tg_op_name(op);
  enum tg_opcode opcode = tg_opcode_from_op(name.data, name.length);
  if (opcode != TG_OPCODE_unknown || !tg_op_name_starts_with(op, "linalg.") ||
      mlirAttributeIsNull(mlirLinalgGetIndexingMapsAttribute(op)))
    return opcode;
  return opcode_of_structured(op);
}
