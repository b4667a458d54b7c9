/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * From the first product everything that reads its result, directly or not, up
 * to a product whose first input it is. Each operation has to keep the batch
 * in front.
 */
#include "passes/attention_chain.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <string.h>

#include "passes/attribute.h"
#include "passes/inspect.h"
#include "passes/nest.h"
#include "passes/passes.h"
#include "passes/stored.h"

enum { MAX_DISTANCE = 1024 }; /* operations from the first to the last */

int tg_chain_producer(const struct tg_chain *chain, MlirValue value) {
  MlirOperation op = tg_value_producer(value);
  for (int i = 0; i < chain->count && !mlirOperationIsNull(op); ++i)
    if (mlirOperationEqual(chain->ops[i].op, op))
      return i;
  return -1;
}

/*===-- Structured operations ---------------------------------------------===*/

static bool is_static(MlirValue value) {
  MlirType type = mlirValueGetType(value);
  return !mlirTypeIsAShaped(type) ||
         (mlirTypeIsARankedTensor(type) && mlirShapedTypeHasStaticShape(type) &&
          mlirShapedTypeGetRank(type) <= TG_MAX_RANK &&
          mlirAttributeIsNull(mlirRankedTensorTypeGetEncoding(type)));
}

/* Number of the batch's dimension that the loop walks, or -1. */
static int lead_of(const struct tg_chain_op *entry, intptr_t loop) {
  for (int j = 0; j < entry->lead; ++j)
    if (entry->loop[j] == loop)
      return j;
  return -1;
}

/* Is every dimension either the batch's loop alone, or none of the batch?
 * `in_front`: the batch is the first dimensions, in order. */
static bool keeps_batch(const struct tg_chain_op *entry, MlirAffineMap map,
                        bool in_front) {
  bool seen[TG_CHAIN_MAX_LEAD] = {false};
  intptr_t rank = mlirAffineMapGetNumResults(map);
  if (in_front && rank < entry->lead)
    return false;
  for (intptr_t d = 0; d < rank; ++d) {
    MlirAffineExpr expr = mlirAffineMapGetResult(map, d);
    int lead = mlirAffineExprIsADim(expr)
                   ? lead_of(entry, mlirAffineDimExprGetPosition(expr))
                   : -1;
    if (in_front && (d < entry->lead ? lead != d : lead >= 0))
      return false;
    if (lead >= 0 && seen[lead])
      return false;
    if (lead >= 0)
      seen[lead] = true;
    for (int j = 0; j < entry->lead && lead < 0; ++j)
      if (mlirAffineExprIsFunctionOfDim(expr, entry->loop[j]))
        return false;
  }
  return true;
}

static MlirWalkResult find_index(MlirOperation op, void *data) {
  const struct tg_chain_op **entry = data;
  int64_t loop;
  if (!tg_op_is(op, "linalg.index"))
    return MlirWalkResultAdvance;
  if (tg_attribute_integer(mlirOperationGetAttributeByName(op, tg_ref("dim")),
                           &loop) &&
      lead_of(*entry, loop) < 0)
    return MlirWalkResultAdvance;
  *entry = NULL;
  return MlirWalkResultInterrupt;
}

/* Does the body ask for the number of a batch? */
static bool asks_for_batch(const struct tg_chain_op *entry) {
  const struct tg_chain_op *found = entry;
  mlirOperationWalk(entry->op, find_index, &found, MlirWalkPreOrder);
  return !found;
}

/* Which loops the batch is, from an operand that the chain made. */
static bool read_loops(const struct tg_chain_op *from, MlirAffineMap map,
                       struct tg_chain_op *entry) {
  int loops[TG_CHAIN_MAX_LEAD];
  for (int j = 0; j < from->lead; ++j) {
    MlirAffineExpr expr = mlirAffineMapGetResult(map, j);
    if (!mlirAffineExprIsADim(expr))
      return false;
    loops[j] = (int)mlirAffineDimExprGetPosition(expr);
  }
  size_t nbytes = sizeof(loops[0]) * (size_t)from->lead;
  if (entry->lead)
    return entry->lead == from->lead && !memcmp(entry->loop, loops, nbytes);
  entry->lead = from->lead;
  memcpy(entry->loop, loops, nbytes);
  memcpy(entry->extent, from->extent, sizeof(entry->extent));
  return true;
}

/* `entry` has its operation; for the first one also its loops. */
static bool read_structured(const struct tg_chain *chain,
                            struct tg_chain_op *entry) {
  MlirOperation op = entry->op;
  MlirAffineMap maps[TG_MAX_NEST_OPERANDS];
  int count = tg_op_get_maps(op, TG_MAX_NEST_OPERANDS, maps);
  int results = (int)mlirOperationGetNumResults(op);
  if (count < 1 || results < 1 || results >= count)
    return false;
  bool ours[TG_MAX_NEST_OPERANDS];
  for (int o = 0; o < count; ++o) {
    MlirValue value = mlirOperationGetOperand(op, o);
    int from = tg_chain_producer(chain, value);
    ours[o] = from >= 0;
    if (!is_static(value) ||
        (ours[o] && !read_loops(&chain->ops[from], maps[o], entry)))
      return false;
  }
  for (int o = 0; o < count; ++o)
    if (!keeps_batch(entry, maps[o], ours[o] || o >= count - results))
      return false;
  return !asks_for_batch(entry);
}

/* The first product: dimensions that lead all three operands. */
static bool read_first(struct tg_chain *chain, struct tg_chain_op *entry) {
  MlirAffineMap maps[TG_OPERAND_COUNT];
  if (tg_op_get_maps(entry->op, TG_OPERAND_COUNT, maps) != TG_OPERAND_COUNT)
    return false;
  MlirType type = mlirValueGetType(mlirOperationGetResult(entry->op, 0));
  intptr_t most = TG_CHAIN_MAX_LEAD;
  for (int o = 0; o < TG_OPERAND_COUNT; ++o)
    if (most > mlirAffineMapGetNumResults(maps[o]))
      most = mlirAffineMapGetNumResults(maps[o]);
  chain->batch = 1;
  for (int d = 0; d < most; ++d) {
    MlirAffineExpr expr = mlirAffineMapGetResult(maps[TG_RESULT], d);
    if (!mlirAffineExprIsADim(expr) ||
        !mlirAffineExprEqual(expr, mlirAffineMapGetResult(maps[TG_LHS], d)) ||
        !mlirAffineExprEqual(expr, mlirAffineMapGetResult(maps[TG_RHS], d)) ||
        mlirShapedTypeIsDynamicDim(type, d))
      break;
    entry->loop[d] = (int)mlirAffineDimExprGetPosition(expr);
    entry->extent[d] = mlirShapedTypeGetDimSize(type, d);
    chain->batch *= entry->extent[d];
    entry->lead++;
  }
  return chain->batch > 1 && read_structured(chain, entry);
}

/*===-- Reshapes ----------------------------------------------------------===*/

/* Source dimensions of the group are result dimensions or the other way round;
 * the batch has to be whole groups. */
static bool read_reshape(const struct tg_chain *chain,
                         struct tg_chain_op *entry) {
  MlirOperation op = entry->op;
  MlirValue source = mlirOperationGetOperand(op, 0);
  MlirValue result = mlirOperationGetResult(op, 0);
  MlirAttribute groups =
      mlirOperationGetAttributeByName(op, tg_ref("reassociation"));
  int from = tg_chain_producer(chain, source);
  if (mlirOperationGetNumOperands(op) != 1 || from < 0 || !is_static(source) ||
      !is_static(result) || mlirAttributeIsNull(groups) ||
      !mlirAttributeIsAArray(groups))
    return false;
  int lead = chain->ops[from].lead, grouped = 0, plain = 0;
  bool expands = tg_op_is(op, "tensor.expand_shape");
  while ((expands ? plain : grouped) < lead &&
         plain < mlirArrayAttrGetNumElements(groups))
    grouped += (int)mlirArrayAttrGetNumElements(
        mlirArrayAttrGetElement(groups, plain++));
  entry->reshapes = true;
  entry->lead = expands ? grouped : plain;
  if ((expands ? plain : grouped) != lead || entry->lead > TG_CHAIN_MAX_LEAD)
    return false;
  for (int d = 0; d < entry->lead; ++d)
    entry->extent[d] = mlirShapedTypeGetDimSize(mlirValueGetType(result), d);
  return true;
}

/*===-- The chain ---------------------------------------------------------===*/

static bool reads_chain(const struct tg_chain *chain, MlirOperation op) {
  for (intptr_t o = 0; o < mlirOperationGetNumOperands(op); ++o)
    if (tg_chain_producer(chain, mlirOperationGetOperand(op, o)) >= 0)
      return true;
  return false;
}

static bool has_choice(MlirOperation op) {
  return tg_op_has_attribute(op, TG_CONFIG_ATTRIBUTE) ||
         tg_op_has_layouts(op) || tg_op_has_attribute(op, TG_SKIP_ATTRIBUTE);
}

/* Adds the operation. `last`: it is the product that ends the chain. */
static bool add(struct tg_chain *chain, MlirOperation op, bool *last) {
  struct tg_chain_op entry = {.op = op};
  struct tg_kernel kernel;
  *last = false;
  if (chain->count == TG_CHAIN_MAX_OPS || has_choice(op))
    return false;
  bool reshapes = tg_op_is(op, "tensor.expand_shape") ||
                  tg_op_is(op, "tensor.collapse_shape");
  if (!reshapes && !tg_op_name_starts_with(op, "linalg."))
    return false;
  if (!reshapes && tg_kernel_from_op(op, &kernel)) {
    *last = tg_chain_producer(chain, mlirOperationGetOperand(op, TG_LHS)) >= 0;
    for (int o = TG_RHS; o <= TG_RESULT; ++o)
      *last &= tg_chain_producer(chain, mlirOperationGetOperand(op, o)) < 0;
    if (!*last)
      return false;
  }
  if (!(reshapes ? read_reshape(chain, &entry)
                 : read_structured(chain, &entry)))
    return false;
  chain->ops[chain->count++] = entry;
  return true;
}

/* Nobody else looks at what the chain makes before its last operation. */
static bool is_closed(const struct tg_chain *chain) {
  for (int i = 0; i < chain->count - 1; ++i)
    for (intptr_t r = 0; r < mlirOperationGetNumResults(chain->ops[i].op); ++r)
      for (MlirOpOperand use = mlirValueGetFirstUse(
               mlirOperationGetResult(chain->ops[i].op, r));
           !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use)) {
        MlirOperation user = mlirOpOperandGetOwner(use);
        int place = chain->count - 1;
        while (place > i && !mlirOperationEqual(chain->ops[place].op, user))
          --place;
        if (place == i)
          return false;
      }
  return true;
}

bool tg_chain_find(MlirOperation first, struct tg_chain *chain) {
  memset(chain, 0, sizeof(*chain));
  struct tg_chain_op entry = {.op = first};
  if (has_choice(first) || !read_first(chain, &entry))
    return false;
  chain->ops[chain->count++] = entry;
  MlirOperation op = mlirOperationGetNextInBlock(first);
  bool last = false;
  for (int i = 0; i < MAX_DISTANCE && !mlirOperationIsNull(op) && !last; ++i) {
    if (reads_chain(chain, op) && !add(chain, op, &last))
      return false;
    op = mlirOperationGetNextInBlock(op);
  }
  return last && is_closed(chain);
}

/*===-- Parts -------------------------------------------------------------===*/

/* The innermost dimensions whole, one in parts, the outer ones one by one. */
static bool set_sizes(struct tg_chain_op *entry, int64_t part) {
  for (int d = entry->lead - 1; d >= 0; --d) {
    int64_t extent = entry->extent[d];
    bool whole = part >= extent;
    if (whole ? part % extent != 0 : extent % part != 0)
      return false;
    entry->size[d] = whole ? extent : part;
    part = whole ? part / extent : 1;
  }
  return part == 1;
}

bool tg_chain_set_part(struct tg_chain *chain, int64_t part) {
  chain->part = part;
  if (chain->batch % part != 0)
    return false;
  for (int i = 0; i < chain->count; ++i)
    if (!set_sizes(&chain->ops[i], part))
      return false;
  return true;
}
