/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The terms of a chain as generics over the channels.
 */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

#include "passes/channel_chain.h"
#include "passes/generic.h"

MlirAffineMap tg_channel_input_map(MlirContext context,
                                   const struct tg_channel_input *input,
                                   intptr_t rank, int along) {
  MlirAffineExpr results[TG_MAX_RANK];
  intptr_t own = mlirShapedTypeGetRank(mlirValueGetType(input->value));
  for (intptr_t d = 0; d < own; ++d)
    results[d] = d == input->channel ? mlirAffineDimExprGet(context, along)
                                     : mlirAffineConstantExprGet(context, 0);
  return mlirAffineMapGet(context, rank, 0, own, results);
}

struct emit {
  const struct tg_channel_chain *chain;
  struct tg_generic generic;
  int operand[TG_MAX_CHANNEL_INPUTS]; /* of the generic; -1: not read */
  bool seen[TG_MAX_CHANNEL_TERMS];
  MlirValue done[TG_MAX_CHANNEL_TERMS];
};

static void add_inputs(struct emit *emit, MlirContext context, int t) {
  const struct tg_term *term = &emit->chain->terms[t];
  if (emit->seen[t])
    return;
  emit->seen[t] = true;
  for (int i = 0; i < term->operand_count; ++i)
    add_inputs(emit, context, term->operand[i]);
  if (term->kind != TG_TERM_INPUT || emit->operand[term->input] >= 0)
    return;
  const struct tg_channel_input *input = &emit->chain->inputs[term->input];
  emit->operand[term->input] = emit->generic.operand_count;
  tg_generic_add_operand(&emit->generic, input->value,
                         tg_channel_input_map(context, input, 1, 0));
}

static MlirValue emit_clone(struct tg_builder *builder,
                            const struct tg_term *term,
                            const MlirValue *operands) {
  MlirOperation clone = mlirOperationClone(term->op);
  for (int i = 0; i < term->operand_count; ++i)
    mlirOperationSetOperand(clone, i, operands[i]);
  mlirBlockAppendOwnedOperation(builder->block, clone);
  return mlirOperationGetResult(clone, 0);
}

static MlirValue emit_term(struct emit *emit, int t) {
  const struct tg_term *term = &emit->chain->terms[t];
  struct tg_builder *builder = &emit->generic.builder;
  MlirValue operands[TG_MAX_TERM_OPERANDS];
  if (!mlirValueIsNull(emit->done[t]))
    return emit->done[t];
  for (int i = 0; i < term->operand_count; ++i)
    operands[i] = emit_term(emit, term->operand[i]);
  MlirValue value = {NULL};
  switch (term->kind) {
  case TG_TERM_INPUT:
    value = tg_generic_argument(&emit->generic, emit->operand[term->input]);
    break;
  case TG_TERM_OUTSIDE:
    value = term->value;
    break;
  case TG_TERM_ONE:
    value = tg_constant(
        builder, builder->element,
        mlirFloatAttrDoubleGet(builder->context, builder->element, 1.0));
    break;
  case TG_TERM_CLONE:
    value = emit_clone(builder, term, operands);
    break;
  case TG_TERM_BUILT:
    value = tg_build_1(builder, term->name, term->operand_count, operands,
                       builder->element);
    break;
  }
  return emit->done[t] = value;
}

struct tg_channel_input
tg_channel_chain_build(const struct tg_channel_chain *chain,
                       struct tg_builder *outside, int term) {
  if (chain->terms[term].kind == TG_TERM_INPUT)
    return chain->inputs[chain->terms[term].input];
  struct emit emit = {.chain = chain, .generic = {.loop_count = 1}};
  MlirContext context = outside->context;
  MlirAttribute no_encoding = {NULL};
  int64_t channels = mlirShapedTypeGetDimSize(chain->type, chain->channel);
  MlirType type = mlirRankedTensorTypeGet(
      1, &channels, mlirShapedTypeGetElementType(chain->type), no_encoding);
  for (int i = 0; i < TG_MAX_CHANNEL_INPUTS; ++i)
    emit.operand[i] = -1;
  add_inputs(&emit, context, term);
  tg_generic_add_operand(&emit.generic,
                         tg_build_1(outside, "tensor.empty", 0, NULL, type),
                         mlirAffineMapMultiDimIdentityGet(context, 1));
  tg_generic_begin(&emit.generic, outside->location);
  MlirValue value = emit_term(&emit, term);
  MlirOperation op = tg_generic_end(outside, &emit.generic, value);
  return (struct tg_channel_input){mlirOperationGetResult(op, 0), 0};
}
