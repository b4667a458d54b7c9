/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Chains of elementwise generics that compute value * scale + shift, where
 * scale and shift depend on one dimension of the value alone: its channels.
 * Both are kept as terms over the operands of the chain.
 */
#ifndef TGRAPH_PASSES_CHANNEL_CHAIN_H
#define TGRAPH_PASSES_CHANNEL_CHAIN_H

#include <mlir-c/AffineMap.h>
#include <mlir-c/IR.h>
#include <stdbool.h>
#include <stdint.h>

#include "passes/build.h"

enum {
  TG_MAX_CHANNEL_LINKS = 12,
  TG_MAX_CHANNEL_INPUTS = 15,
  TG_MAX_CHANNEL_TERMS = 96,
  TG_MAX_TERM_OPERANDS = 3,
  TG_NO_TERM = -1, /* a scale of 1, a shift of 0 */
  TG_NO_CHANNEL = -1
};

/* A number for each channel. Operands are numbers of terms before it. */
struct tg_term {
  enum {
    TG_TERM_INPUT,   /* of the chain */
    TG_TERM_OUTSIDE, /* a scalar of the program */
    TG_TERM_ONE,
    TG_TERM_CLONE, /* of an operation of a body, with other operands */
    TG_TERM_BUILT  /* an operation of the name, on the chain's element type */
  } kind;
  int input;
  MlirValue value;
  MlirOperation op;
  const char *name;
  int operand_count, operand[TG_MAX_TERM_OPERANDS];
};

/* A tensor that is read at its dimension `channel`, at 0 in all others;
 * TG_NO_CHANNEL: at one place. */
struct tg_channel_input {
  MlirValue value;
  int channel;
};

struct tg_channel_chain {
  MlirType type;    /* of the value, which is a ranked tensor */
  int channel;      /* its dimension, TG_NO_CHANNEL until it's known */
  int scale, shift; /* terms */
  int length;
  MlirOperation links[TG_MAX_CHANNEL_LINKS]; /* in program order */
  int input_count;
  struct tg_channel_input inputs[TG_MAX_CHANNEL_INPUTS];
  int term_count;
  struct tg_term terms[TG_MAX_CHANNEL_TERMS];
  bool failed; /* a table is full, or a term has no operand */
};

void tg_channel_chain_init(struct tg_channel_chain *chain, MlirType type);

/* Starts from what a broadcast, a fill, or a generic of parallel loops makes.
 * False, and the chain as it was, where that isn't a number for each channel.
 */
bool tg_channel_chain_start(struct tg_channel_chain *chain, MlirOperation init);

/* Takes in the generic, of which operand number `operand` is the value so far.
 * False, and the chain as it was, where it isn't affine for each channel. */
bool tg_channel_chain_add(struct tg_channel_chain *chain, MlirOperation op,
                          intptr_t operand);

/* The same for a generic that goes on with something else: takes in what leads
 * to *cut, the only value of its body that is affine for each channel and that
 * the rest of the body reads. The generic doesn't become a link. */
bool tg_channel_chain_cut(struct tg_channel_chain *chain, MlirOperation op,
                          intptr_t operand, MlirValue *cut);

/* The term as a tensor: an input as it is, all else of one dimension. */
struct tg_channel_input
tg_channel_chain_build(const struct tg_channel_chain *chain,
                       struct tg_builder *outside, int term);
/* Where `rank` loops, of which loop `along` walks the channels, read it. */
MlirAffineMap tg_channel_input_map(MlirContext context,
                                   const struct tg_channel_input *input,
                                   intptr_t rank, int along);

#endif
