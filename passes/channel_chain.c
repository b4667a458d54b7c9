/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The bodies of the chain are run on pairs (scale, shift) instead of numbers.
 */
#include "passes/channel_chain.h"

#include <mlir-c/BuiltinTypes.h>

#include "passes/inspect.h"

enum { MAX_VALUES = 64 };

/* What a value of a body is. */
struct meaning {
  enum { UNKNOWN, NUMBER, AFFINE } kind;
  int number;       /* a term; the same for all elements of a channel */
  int scale, shift; /* of the chain's value */
};

struct body {
  struct tg_channel_chain *chain;
  MlirBlock block;
  int count;
  MlirValue values[MAX_VALUES];
  struct meaning meanings[MAX_VALUES];
};

void tg_channel_chain_init(struct tg_channel_chain *chain, MlirType type) {
  *chain = (struct tg_channel_chain){.type = type,
                                     .channel = TG_NO_CHANNEL,
                                     .scale = TG_NO_TERM,
                                     .shift = TG_NO_TERM};
}

/*===-- Terms -------------------------------------------------------------===*/

/* The term's number; TG_NO_TERM, and the chain has failed, where there is no
 * room or an operand had none. */
static int add_term(struct tg_channel_chain *chain, struct tg_term term) {
  for (int i = 0; i < term.operand_count; ++i)
    chain->failed |= term.operand[i] < 0;
  chain->failed |= chain->term_count == TG_MAX_CHANNEL_TERMS;
  if (chain->failed)
    return TG_NO_TERM;
  chain->terms[chain->term_count] = term;
  return chain->term_count++;
}

static int build_term(struct tg_channel_chain *chain, const char *name,
                      int count, int a, int b) {
  return add_term(chain, (struct tg_term){.kind = TG_TERM_BUILT,
                                          .name = name,
                                          .operand_count = count,
                                          .operand = {a, b}});
}

static int one(struct tg_channel_chain *chain) {
  return add_term(chain, (struct tg_term){.kind = TG_TERM_ONE});
}

/*===-- Operands ----------------------------------------------------------===*/

/* Which dimension of the operand goes with the channels; false where another
 * dimension of the value matters. */
static bool find_channel(struct tg_channel_chain *chain, MlirAffineMap map,
                         MlirType type, int *channel) {
  struct tg_access access;
  if (!mlirTypeIsARankedTensor(type) || !tg_access_from_map(map, type, &access))
    return false;
  *channel = TG_NO_CHANNEL;
  for (int d = 0; d < access.rank; ++d)
    for (int l = 0; l < mlirAffineMapGetNumDims(map); ++l) {
      if (access.coefficient[d][l] == 0 ||
          mlirShapedTypeGetDimSize(chain->type, l) == 1)
        continue;
      if (access.coefficient[d][l] != 1 || *channel != TG_NO_CHANNEL ||
          (chain->channel != TG_NO_CHANNEL && chain->channel != l))
        return false;
      *channel = d;
      chain->channel = l;
    }
  return true;
}

/* The term that stands for an operand. */
static int add_operand(struct tg_channel_chain *chain, MlirValue value,
                       MlirAffineMap map) {
  MlirType type = mlirValueGetType(value);
  if (!mlirTypeIsAShaped(type))
    return add_term(chain,
                    (struct tg_term){.kind = TG_TERM_OUTSIDE, .value = value});
  struct tg_channel_input input = {.value = value};
  if (!find_channel(chain, map, type, &input.channel))
    return TG_NO_TERM;
  int i = 0;
  while (i < chain->input_count &&
         (!mlirValueEqual(chain->inputs[i].value, value) ||
          chain->inputs[i].channel != input.channel))
    ++i;
  if (i == TG_MAX_CHANNEL_INPUTS)
    return TG_NO_TERM;
  if (i == chain->input_count)
    chain->inputs[chain->input_count++] = input;
  return add_term(chain, (struct tg_term){.kind = TG_TERM_INPUT, .input = i});
}

/*===-- Bodies ------------------------------------------------------------===*/

static bool bind(struct body *body, MlirValue value, struct meaning meaning) {
  if (body->count == MAX_VALUES)
    return false;
  body->values[body->count] = value;
  body->meanings[body->count++] = meaning;
  return true;
}

static struct meaning number(int term) {
  return (struct meaning){.kind = term < 0 ? UNKNOWN : NUMBER, .number = term};
}

static struct meaning look_up(struct body *body, MlirValue value) {
  for (int i = 0; i < body->count; ++i)
    if (mlirValueEqual(body->values[i], value))
      return body->meanings[i];
  MlirBlock block = mlirValueIsABlockArgument(value)
                        ? mlirBlockArgumentGetOwner(value)
                        : mlirOperationGetBlock(mlirOpResultGetOwner(value));
  if (mlirBlockEqual(block, body->block) ||
      mlirTypeIsAShaped(mlirValueGetType(value)))
    return (struct meaning){.kind = UNKNOWN};
  return number(add_term(
      body->chain, (struct tg_term){.kind = TG_TERM_OUTSIDE, .value = value}));
}

/* An operation on numbers is one of them. */
static struct meaning clone_op(struct body *body, MlirOperation op, int count,
                               const struct meaning *operands) {
  struct tg_term term = {
      .kind = TG_TERM_CLONE, .op = op, .operand_count = count};
  if ((!tg_op_name_starts_with(op, "arith.") &&
       !tg_op_name_starts_with(op, "math.")) ||
      mlirOperationGetNumResults(op) != 1 ||
      mlirOperationGetNumRegions(op) != 0)
    return number(TG_NO_TERM);
  for (int i = 0; i < count; ++i)
    term.operand[i] = operands[i].number;
  return number(add_term(body->chain, term));
}

static struct meaning plus(struct tg_channel_chain *chain, struct meaning a,
                           int b) {
  a.shift = a.shift == TG_NO_TERM
                ? b
                : build_term(chain, "arith.addf", 2, a.shift, b);
  return a;
}

static struct meaning minus(struct tg_channel_chain *chain, struct meaning a,
                            int b) {
  a.shift = a.shift == TG_NO_TERM
                ? build_term(chain, "arith.negf", 1, b, 0)
                : build_term(chain, "arith.subf", 2, a.shift, b);
  return a;
}

static struct meaning negated(struct tg_channel_chain *chain,
                              struct meaning a) {
  int scale = a.scale == TG_NO_TERM ? one(chain) : a.scale;
  a.scale = build_term(chain, "arith.negf", 1, scale, 0);
  if (a.shift != TG_NO_TERM)
    a.shift = build_term(chain, "arith.negf", 1, a.shift, 0);
  return a;
}

static struct meaning times(struct tg_channel_chain *chain, struct meaning a,
                            int b) {
  a.scale = a.scale == TG_NO_TERM
                ? b
                : build_term(chain, "arith.mulf", 2, a.scale, b);
  if (a.shift != TG_NO_TERM)
    a.shift = build_term(chain, "arith.mulf", 2, a.shift, b);
  return a;
}

static struct meaning divided(struct tg_channel_chain *chain, struct meaning a,
                              int b) {
  int scale = a.scale == TG_NO_TERM ? one(chain) : a.scale;
  a.scale = build_term(chain, "arith.divf", 2, scale, b);
  if (a.shift != TG_NO_TERM)
    a.shift = build_term(chain, "arith.divf", 2, a.shift, b);
  return a;
}

/* An operation of which at least one operand is affine. */
static struct meaning run_affine(struct tg_channel_chain *chain,
                                 MlirOperation op, int count,
                                 const struct meaning *operands) {
  const struct meaning unknown = {.kind = UNKNOWN};
  if (tg_op_is(op, "arith.negf"))
    return negated(chain, operands[0]);
  bool first = operands[0].kind == AFFINE;
  if (count < 2 || (first && operands[1].kind == AFFINE))
    return unknown;
  struct meaning a = operands[first ? 0 : 1];
  int b = operands[first ? 1 : 0].number;
  if (a.kind != AFFINE)
    return unknown;
  if (tg_op_is(op, "arith.addf"))
    return plus(chain, a, b);
  if (tg_op_is(op, "arith.mulf"))
    return times(chain, a, b);
  if (tg_op_is(op, "arith.subf"))
    return first ? minus(chain, a, b) : plus(chain, negated(chain, a), b);
  if (tg_op_is(op, "arith.divf") && first)
    return divided(chain, a, b);
  if (tg_op_is(op, "math.fma") && operands[2].kind == NUMBER)
    return plus(chain, times(chain, a, b), operands[2].number);
  return unknown;
}

static struct meaning run_op(struct body *body, MlirOperation op) {
  struct meaning operands[TG_MAX_TERM_OPERANDS];
  intptr_t count = mlirOperationGetNumOperands(op);
  bool affine = false;
  if (count > TG_MAX_TERM_OPERANDS || mlirOperationGetNumResults(op) != 1)
    return (struct meaning){.kind = UNKNOWN};
  for (intptr_t i = 0; i < count; ++i) {
    operands[i] = look_up(body, mlirOperationGetOperand(op, i));
    if (operands[i].kind == UNKNOWN)
      return operands[i];
    affine |= operands[i].kind == AFFINE;
  }
  return affine ? run_affine(body->chain, op, (int)count, operands)
                : clone_op(body, op, (int)count, operands);
}

/* What the body yields. */
static struct meaning run_body(struct body *body) {
  MlirOperation yield = mlirBlockGetTerminator(body->block);
  for (MlirOperation op = mlirBlockGetFirstOperation(body->block);
       !mlirOperationEqual(op, yield); op = mlirOperationGetNextInBlock(op)) {
    struct meaning meaning = run_op(body, op);
    if (meaning.kind == UNKNOWN ||
        !bind(body, mlirOperationGetResult(op, 0), meaning))
      return (struct meaning){.kind = UNKNOWN};
  }
  return look_up(body, mlirOperationGetOperand(yield, 0));
}

/* The affine values that the operation reads have to be the cut. */
static bool reads_cut(struct body *body, MlirOperation op, MlirValue *cut) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i) {
    MlirValue value = mlirOperationGetOperand(op, i);
    if (look_up(body, value).kind != AFFINE)
      continue;
    if (mlirValueIsNull(*cut))
      *cut = value;
    if (!mlirValueEqual(*cut, value))
      return false;
  }
  return true;
}

/* What the rest of the body reads. */
static struct meaning run_to_cut(struct body *body, MlirValue *cut) {
  const struct meaning unknown = {.kind = UNKNOWN};
  MlirOperation yield = mlirBlockGetTerminator(body->block);
  *cut = (MlirValue){NULL};
  for (MlirOperation op = mlirBlockGetFirstOperation(body->block);
       !mlirOperationEqual(op, yield); op = mlirOperationGetNextInBlock(op)) {
    struct meaning meaning = run_op(body, op);
    if (mlirOperationGetNumRegions(op) != 0 ||
        (meaning.kind == UNKNOWN && !reads_cut(body, op, cut)))
      return unknown;
    for (intptr_t r = 0; r < mlirOperationGetNumResults(op); ++r)
      if (!bind(body, mlirOperationGetResult(op, r), meaning))
        return unknown;
  }
  if (!reads_cut(body, yield, cut) || mlirValueIsNull(*cut))
    return unknown;
  return look_up(body, *cut);
}

/*===-- Links -------------------------------------------------------------===*/

/* Every element of the result once, in order, whatever it was before. */
static bool is_elementwise(MlirOperation op, int operand_count,
                           const MlirAffineMap *maps, MlirBlock *block) {
  if (operand_count < 2 || mlirOperationGetNumResults(op) != 1 ||
      mlirOperationGetNumRegions(op) != 1 ||
      !mlirAffineMapIsIdentity(maps[operand_count - 1]))
    return false;
  *block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  return !mlirBlockIsNull(*block) &&
         mlirBlockGetNumArguments(*block) == operand_count &&
         mlirOpOperandIsNull(mlirValueGetFirstUse(
             mlirBlockGetArgument(*block, operand_count - 1)));
}

/* Runs the operation, of which operand number `chained` (-1: none) is the
 * chain's value: to its end, or to `cut` unless that is NULL. */
static struct meaning run(struct tg_channel_chain *chain, MlirOperation op,
                          intptr_t chained, MlirValue *cut) {
  const struct meaning unknown = {.kind = UNKNOWN};
  MlirAffineMap maps[TG_MAX_CHANNEL_INPUTS];
  struct body body = {.chain = chain};
  int count = tg_op_get_maps(op, TG_MAX_CHANNEL_INPUTS, maps);
  if (!is_elementwise(op, count, maps, &body.block) ||
      !mlirTypeEqual(mlirValueGetType(mlirOperationGetResult(op, 0)),
                     chain->type))
    return unknown;
  for (int i = 0; i < count - 1; ++i) {
    MlirValue argument = mlirBlockGetArgument(body.block, i);
    struct meaning meaning = {
        .kind = AFFINE, .scale = chain->scale, .shift = chain->shift};
    if (i == chained && !mlirAffineMapIsIdentity(maps[i]))
      return unknown;
    if (i != chained)
      meaning =
          number(add_operand(chain, mlirOperationGetOperand(op, i), maps[i]));
    if (meaning.kind == UNKNOWN || !bind(&body, argument, meaning))
      return unknown;
  }
  return cut ? run_to_cut(&body, cut) : run_body(&body);
}

bool tg_channel_chain_start(struct tg_channel_chain *chain,
                            MlirOperation init) {
  struct tg_channel_chain longer = *chain;
  struct meaning meaning = run(&longer, init, -1, NULL);
  if (meaning.kind != NUMBER || longer.failed)
    return false;
  longer.shift = meaning.number;
  *chain = longer;
  return true;
}

bool tg_channel_chain_add(struct tg_channel_chain *chain, MlirOperation op,
                          intptr_t operand) {
  struct tg_channel_chain longer = *chain;
  if (longer.length == TG_MAX_CHANNEL_LINKS)
    return false;
  struct meaning meaning = run(&longer, op, operand, NULL);
  if (meaning.kind != AFFINE || longer.failed)
    return false;
  longer.scale = meaning.scale;
  longer.shift = meaning.shift;
  longer.links[longer.length++] = op;
  *chain = longer;
  return true;
}

bool tg_channel_chain_cut(struct tg_channel_chain *chain, MlirOperation op,
                          intptr_t operand, MlirValue *cut) {
  struct tg_channel_chain longer = *chain;
  struct meaning meaning = run(&longer, op, operand, cut);
  if (meaning.kind != AFFINE || longer.failed ||
      mlirValueIsABlockArgument(*cut))
    return false;
  longer.scale = meaning.scale;
  longer.shift = meaning.shift;
  *chain = longer;
  return true;
}
