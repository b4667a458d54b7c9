/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Structured operations that are no sum of products, as nests (model/nest.h).
 */
#ifndef TGRAPH_PASSES_NEST_H
#define TGRAPH_PASSES_NEST_H

#include <mlir-c/IR.h>

#include "model/nest.h"

enum { TG_MAX_NEST_CAPTURES = 8 };

/* Describes the operation; false where it is none that can be done in vectors
 * along some loop. Does not look at tgraph.skip. */
bool tg_nest_from_op(MlirOperation op, struct tg_nest *nest);

/* The body, and what it yields for a result. */
MlirBlock tg_nest_body(MlirOperation op);
MlirValue tg_nest_yielded(MlirOperation op, int result);

/* Values from outside that the body uses and that are no constants, each once:
 * scalars and tensors. Returns their number, -1 where it's over capacity. */
int tg_nest_captures(MlirOperation op, int capacity, MlirValue *captures);

/* The operation of the body that combines a result with what was there before,
 * in any order; a null operation where there is none. */
MlirOperation tg_nest_combiner(MlirOperation op, int result);
/* The element that the combiner's other operand passes through unchanged. */
MlirAttribute tg_combiner_identity(MlirOperation combiner);

#endif
