/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The operations from one batch of products to the next, and where each of
 * them has the batch: it is the first dimensions of all results, maybe split
 * into several.
 */
#ifndef TGRAPH_PASSES_ATTENTION_CHAIN_H
#define TGRAPH_PASSES_ATTENTION_CHAIN_H

#include <mlir-c/IR.h>

#include "passes/slice.h"

enum { TG_CHAIN_MAX_OPS = 64, TG_CHAIN_MAX_LEAD = 4 };

struct tg_chain_op {
  MlirOperation op;
  bool reshapes; /* it is an expand_shape or collapse_shape */
  int lead;      /* dimensions that are the batch */
  int64_t extent[TG_CHAIN_MAX_LEAD];
  int loop[TG_CHAIN_MAX_LEAD];     /* the operation's, of each of them */
  int64_t size[TG_CHAIN_MAX_LEAD]; /* of them at a time */
};

struct tg_chain {
  struct tg_chain_op ops[TG_CHAIN_MAX_OPS]; /* the first and the last: products,
                                               in program order */
  int count;
  int64_t batch;
  int64_t part; /* of the batch at a time, a divisor of it */
};

/* The chain that starts with the operation, a kernel. Leaves `part` and sizes
 * alone. False: there is none. */
bool tg_chain_find(MlirOperation first, struct tg_chain *chain);
/* Settles part and sizes; false where some batch isn't split at its multiples.
 */
bool tg_chain_set_part(struct tg_chain *chain, int64_t part);
/* The operation of the chain that made the value, or -1. */
int tg_chain_producer(const struct tg_chain *chain, MlirValue value);

/* Replaces the chain by a loop over its parts. */
void tg_chain_build(const struct tg_chain *chain);

#endif
