/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * An operation that weights alone determine can be computed beforehand. Whether
 * it should be depends on what reads it, so that users are looked at before
 * what they use: a view, a fill or a broadcast is made anew where it's needed,
 * and so is what is returned or written into, since panels are only read.
 */
#include "passes/hoist.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

#include "passes/from_weights.h"
#include "passes/inspect.h"
#include "passes/pointer_map.h"

/* While it is sought. */
struct search {
  struct tg_hoist *hoist;
  struct tg_pointer_map number; /* of an operation */
  bool *owned; /* by operation: its result has to be memory of its own */
  bool failed;
};

/*===-- Numbers -----------------------------------------------------------===*/

struct numbering {
  bool (*visit)(MlirOperation, void *);
  void *data;
};

static bool is_structured(MlirOperation op) {
  return tg_op_name_starts_with(op, "linalg.") ||
         tg_op_name_starts_with(op, "tensor.");
}

static MlirWalkResult number_op(MlirOperation op, void *data) {
  const struct numbering *numbering = data;
  if (!numbering->visit(op, numbering->data))
    return MlirWalkResultInterrupt;
  return is_structured(op) ? MlirWalkResultSkip : MlirWalkResultAdvance;
}

void tg_hoist_number(MlirOperation function,
                     bool (*visit)(MlirOperation, void *), void *data) {
  struct numbering numbering = {visit, data};
  mlirOperationWalk(function, number_op, &numbering, MlirWalkPreOrder);
}

static const struct tg_hoisted_op *find_op(const struct search *search,
                                           MlirOperation op) {
  int32_t number = tg_pointer_map_get(&search->number, op.ptr);
  return number < 0 ? NULL : &search->hoist->ops[number];
}

/*===-- What follows from weights -----------------------------------------===*/

static bool is_view(MlirOperation op) {
  return tg_op_is(op, "tensor.expand_shape") ||
         tg_op_is(op, "tensor.collapse_shape") ||
         tg_op_is(op, "tensor.extract_slice") || tg_op_is(op, "tensor.cast") ||
         tg_op_is(op, "tensor.reshape");
}

/* The function that a call of ours calls; null for any other operation. */
static MlirOperation outlined_callee(const struct tg_hoist *hoist,
                                     MlirOperation op) {
  if (!tg_op_is(op, "func.call"))
    return (MlirOperation){NULL};
  MlirStringRef name = mlirFlatSymbolRefAttrGetValue(
      mlirOperationGetAttributeByName(op, tg_ref("callee")));
  return tg_outliner_find(hoist->outliner, name);
}

static bool is_pack(const struct tg_hoist *hoist, MlirOperation op) {
  for (size_t i = 0; i < hoist->packs->count; ++i)
    if (mlirOperationEqual(hoist->packs->calls[i], op))
      return true;
  return false;
}

/* Elsewhere than in the first block an operation may be meant not to run. */
static bool may_move(const struct tg_hoist *hoist, MlirOperation op) {
  if (tg_op_is(op, "arith.constant") || tg_op_is(op, "tensor.expand_shape") ||
      tg_op_is(op, "tensor.collapse_shape") || is_pack(hoist, op))
    return true;
  MlirBlock first =
      mlirRegionGetFirstBlock(mlirOperationGetRegion(hoist->function, 0));
  return mlirBlockEqual(mlirOperationGetBlock(op), first) &&
         (tg_op_is_pure(op) ||
          !mlirOperationIsNull(outlined_callee(hoist, op)));
}

static bool may_run_now(const struct tg_hoist *hoist, MlirOperation op) {
  MlirOperation callee = outlined_callee(hoist, op);
  if (mlirOperationIsNull(callee))
    return tg_op_is_total(op);
  return is_pack(hoist, op) || tg_outliner_is_total(hoist->outliner, callee);
}

static bool is_known(MlirValue value, void *data) {
  const struct search *search = data;
  MlirOperation producer = tg_value_producer(value);
  if (mlirOperationIsNull(producer))
    return !search->hoist->only_constants && tg_value_is_weight_argument(value);
  const struct tg_hoisted_op *maker = find_op(search, producer);
  return maker && maker->from_weights;
}

static bool add_op(MlirOperation op, void *data) {
  struct search *search = data;
  struct tg_hoist *hoist = search->hoist;
  struct tg_hoisted_op *grown = tg_arena_grow(
      hoist->arena, hoist->ops, hoist->count, &hoist->capacity, sizeof(*grown));
  search->failed = !grown || !tg_pointer_map_set(&search->number, op.ptr,
                                                 (int32_t)hoist->count);
  if (search->failed)
    return false;
  hoist->ops = grown;
  hoist->ops[hoist->count++] = (struct tg_hoisted_op){
      .op = op,
      .from_weights = may_move(hoist, op) &&
                      (!hoist->only_constants || may_run_now(hoist, op)) &&
                      tg_op_each_input(op, is_known, search)};
  return true;
}

/*===-- What is worth a panel ---------------------------------------------===*/

static double elements_of(MlirValue value) {
  MlirType type = mlirValueGetType(value);
  if (!mlirTypeIsARankedTensor(type))
    return 0;
  double elements = 1;
  for (intptr_t d = 0; d < mlirShapedTypeGetRank(type); ++d)
    elements *= (double)mlirShapedTypeGetDimSize(type, d);
  return elements;
}

static bool is_blank(MlirValue value) {
  MlirOperation maker = tg_value_producer(value);
  return tg_op_is(maker, "tensor.empty") || tg_op_is(maker, "linalg.fill") ||
         tg_op_is(maker, "bufferization.alloc_tensor");
}

static bool add_elements(MlirValue value, void *data) {
  if (!is_blank(value))
    *(double *)data += elements_of(value);
  return true;
}

/* Does it only move elements? Where their order stays the same, a
 * canonicalisation replaces it by what it reads, which is no memory of its own.
 */
static bool moves_elements(MlirOperation op) {
  return tg_op_is(op, "linalg.copy") || tg_op_is(op, "linalg.transpose") ||
         (tg_op_name_starts_with(op, "tensor.") &&
          !tg_op_is(op, "tensor.gather")) ||
         (tg_op_is(op, "linalg.generic") &&
          tg_block_count_ops(
              mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0))) == 1);
}

static bool may_fold(MlirOperation op) {
  MlirType type = mlirValueGetType(mlirOperationGetResult(op, 0));
  bool same = false;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op) && !same; ++i) {
    MlirValue operand = mlirOperationGetOperand(op, i);
    same = !is_blank(operand) && mlirTypeEqual(mlirValueGetType(operand), type);
  }
  return same && moves_elements(op);
}

/* Panels are tensors of memory of their own, not much larger than what they
 * are made of: reading more than that would be no faster than making it. */
bool tg_is_worth_a_panel(MlirOperation op) {
  static const double most = 2;
  if (mlirOperationGetNumResults(op) == 0 || is_view(op) ||
      tg_op_is(op, "arith.constant") || is_blank(mlirOperationGetResult(op, 0)))
    return false;
  double made = 0, read = 0;
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i) {
    MlirType type = mlirValueGetType(mlirOperationGetResult(op, i));
    if (!mlirTypeIsARankedTensor(type) || !mlirShapedTypeHasStaticShape(type))
      return false;
    made += elements_of(mlirOperationGetResult(op, i));
  }
  tg_op_each_input(op, add_elements, &read);
  return made <= most * read && !may_fold(op);
}

/*===-- Uses --------------------------------------------------------------===*/

/* The number of the operand whose memory the result of the operation is; -1:
 * it has memory of its own. */
static intptr_t destination_of(MlirOperation op, intptr_t result) {
  if (is_view(op))
    return 0;
  if (tg_op_is(op, "scf.for"))
    return 3 + result; /* behind the bounds and the step */
  return tg_op_is(op, "vector.transfer_write") ||
                 tg_op_is(op, "tensor.insert") ||
                 tg_op_is(op, "tensor.insert_slice")
             ? 1
             : -1;
}

/* Is what the function returns in the memory of its argument? */
static bool is_written(MlirOperation function, intptr_t argument) {
  MlirBlock entry =
      mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0));
  MlirOperation last = mlirBlockGetTerminator(entry);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(last); ++i) {
    MlirValue value = mlirOperationGetOperand(last, i);
    while (mlirValueIsAOpResult(value)) {
      MlirOperation maker = mlirOpResultGetOwner(value);
      intptr_t operand =
          destination_of(maker, mlirOpResultGetResultNumber(value));
      if (operand < 0)
        break;
      value = mlirOperationGetOperand(maker, operand);
    }
    if (mlirValueEqual(value, mlirBlockGetArgument(entry, argument)))
      return true;
  }
  return false;
}

/* Is it enough for the user that it can read the operand? */
static bool only_reads(const struct search *search, MlirOperation user,
                       intptr_t operand) {
  const struct tg_hoisted_op *known = find_op(search, user);
  if (known && known->from_weights && is_view(user))
    return !search->owned[known - search->hoist->ops];
  if (tg_op_is(user, "linalg.pack") || tg_op_is(user, "linalg.unpack"))
    return operand != 1;
  if (tg_op_name_starts_with(user, "linalg."))
    return operand <
           mlirOperationGetNumOperands(user) - mlirOperationGetNumResults(user);
  if (tg_op_is(user, "tensor.insert_slice"))
    return operand == 0;
  if (tg_op_is(user, "tensor.extract") || tg_op_is(user, "tensor.pad") ||
      tg_op_is(user, "tensor.dim") || tg_op_is(user, "tensor.concat") ||
      tg_op_is(user, "tensor.gather"))
    return true;
  MlirOperation callee = outlined_callee(search->hoist, user);
  return !mlirOperationIsNull(callee) && !is_written(callee, operand);
}

/* Is the operation, or what it is in, computed by @f_packed? */
static bool is_staying(const struct search *search, MlirOperation op) {
  for (; !mlirOperationIsNull(op); op = mlirOperationGetParentOperation(op)) {
    const struct tg_hoisted_op *known = find_op(search, op);
    if (known && known->from_weights)
      return known->stays;
  }
  return true;
}

struct uses {
  bool read, owned; /* by what stays */
};

static struct uses find_uses(const struct search *search, MlirValue value) {
  struct uses uses = {false, false};
  for (MlirOpOperand use = mlirValueGetFirstUse(value);
       !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    if (!is_staying(search, user))
      continue;
    if (only_reads(search, user, mlirOpOperandGetOperandNumber(use)))
      uses.read = true;
    else
      uses.owned = true;
  }
  return uses;
}

/* Users are settled already. */
static void settle(struct search *search, size_t number) {
  struct tg_hoisted_op *op = &search->hoist->ops[number];
  struct uses uses = {false, false};
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op->op); ++i) {
    struct uses own = find_uses(search, mlirOperationGetResult(op->op, i));
    uses.read |= own.read;
    uses.owned |= own.owned;
  }
  search->owned[number] = uses.owned;
  op->stays = uses.owned || (uses.read && !is_pack(search->hoist, op->op) &&
                             !tg_is_worth_a_panel(op->op));
}

/*===-- The frontier ------------------------------------------------------===*/

static bool are_same_operands(MlirValue a, MlirValue b) {
  return mlirValueEqual(a, b) ||
         (tg_op_is(tg_value_producer(a), "tensor.empty") &&
          tg_op_is(tg_value_producer(b), "tensor.empty") &&
          mlirTypeEqual(mlirValueGetType(a), mlirValueGetType(b)));
}

/* Calls of one function with the same arguments. */
static bool are_same(MlirOperation a, MlirOperation b) {
  intptr_t count = mlirOperationGetNumOperands(a);
  if (mlirOperationEqual(a, b))
    return true;
  if (!tg_op_is(a, "func.call") || !tg_op_is(b, "func.call") ||
      count != mlirOperationGetNumOperands(b) ||
      !mlirAttributeEqual(mlirOperationGetAttributeByName(a, tg_ref("callee")),
                          mlirOperationGetAttributeByName(b, tg_ref("callee"))))
    return false;
  for (intptr_t i = 0; i < count; ++i)
    if (!are_same_operands(mlirOperationGetOperand(a, i),
                           mlirOperationGetOperand(b, i)))
      return false;
  return true;
}

static bool add_frontier(struct search *search, size_t number,
                         intptr_t result) {
  struct tg_hoist *hoist = search->hoist;
  struct tg_frontier *grown =
      tg_arena_grow(hoist->arena, hoist->frontier, hoist->frontier_count,
                    &hoist->frontier_capacity, sizeof(*grown));
  if (!grown)
    return false;
  hoist->frontier = grown;
  size_t same = 0;
  while (same < hoist->frontier_count &&
         (grown[same].result != result ||
          !are_same(hoist->ops[grown[same].op].op, hoist->ops[number].op)))
    ++same;
  bool is_new = same == hoist->frontier_count;
  grown[hoist->frontier_count++] = (struct tg_frontier){
      number, result, is_new ? hoist->panel_count : grown[same].panel};
  hoist->panel_count += is_new;
  hoist->ops[number].moves |= is_new;
  return true;
}

static bool find_frontier(struct search *search) {
  struct tg_hoist *hoist = search->hoist;
  for (size_t i = 0; i < hoist->count; ++i) {
    const struct tg_hoisted_op *op = &hoist->ops[i];
    for (intptr_t r = 0; op->from_weights && !op->stays &&
                         r < mlirOperationGetNumResults(op->op);
         ++r)
      if (find_uses(search, mlirOperationGetResult(op->op, r)).read &&
          !add_frontier(search, i, r))
        return false;
  }
  return true;
}

/* What an operation that moves reads moves as well. */
static bool take_input(MlirValue value, void *data) {
  const struct search *search = data;
  struct tg_hoist *hoist = search->hoist;
  if (mlirValueIsABlockArgument(value))
    hoist->taken[mlirBlockArgumentGetArgNumber(value)] = true;
  else
    hoist
        ->ops[tg_pointer_map_get(&search->number, tg_value_producer(value).ptr)]
        .moves = true;
  return true;
}

static void find_moving(struct search *search) {
  struct tg_hoist *hoist = search->hoist;
  for (size_t i = hoist->count; i-- > 0;) {
    struct tg_hoisted_op *op = &hoist->ops[i];
    op->moves |= op->from_weights && tg_op_is(op->op, "cf.assert");
    if (op->moves)
      tg_op_each_input(op->op, take_input, search);
  }
}

bool tg_hoist_find(struct tg_hoist *hoist) {
  struct search search = {.hoist = hoist, .number = {.arena = hoist->arena}};
  tg_hoist_number(hoist->function, add_op, &search);
  hoist->argument_count = mlirBlockGetNumArguments(
      mlirRegionGetFirstBlock(mlirOperationGetRegion(hoist->function, 0)));
  size_t arguments = (size_t)hoist->argument_count;
  search.owned =
      tg_arena_alloc(hoist->arena, hoist->count + 1, sizeof(*search.owned));
  hoist->taken =
      tg_arena_alloc(hoist->arena, arguments + 1, sizeof(*hoist->taken));
  if (search.failed || !search.owned || !hoist->taken)
    return false;
  for (size_t i = hoist->count; i-- > 0;)
    if (hoist->ops[i].from_weights)
      settle(&search, i);
  if (!find_frontier(&search))
    return false;
  if (hoist->panel_count > 0)
    find_moving(&search);
  return true;
}
