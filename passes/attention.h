/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Attention: two batches of products, of which the second one reads what the
 * first one made through a softmax or other operations that keep the batch.
 */
#ifndef TGRAPH_PASSES_ATTENTION_H
#define TGRAPH_PASSES_ATTENTION_H

#include <mlir-c/IR.h>

#include "model/arena.h"
#include "model/target.h"

/* For `parts` below: what fits into a near cache at a time; all at once. */
enum { TG_ATTENTION_AUTO = 0, TG_ATTENTION_WHOLE = -1 };

/* "auto", "whole", or a number of heads; false: none of these. */
bool tg_attention_parse(const char *text, int64_t *parts);

/*
 * Makes each such chain a loop over parts of the batch, of `parts` heads or
 * fewer, so that scores are kept of one part alone and stay near. The
 * operations are the same, with fewer heads. What has a choice already, and
 * what says tgraph.skip, stays. False: out of memory.
 */
bool tg_split_attention(MlirOperation module, const struct tg_target *target,
                        int64_t parts, struct tg_arena *arena);

#endif
