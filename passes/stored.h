/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The attribute tgraph.layouts: in which order an operation's tensors keep
 * their dimensions in memory. A list for each operand, its dimensions from the
 * most minor to the most major one; an empty list where nothing changes. That
 * of an initial value is its result's, too.
 */
#ifndef TGRAPH_PASSES_STORED_H
#define TGRAPH_PASSES_STORED_H

#include <mlir-c/IR.h>

#include "model/nest.h"

#define TG_LAYOUTS_ATTRIBUTE "tgraph.layouts"
/* On the generic that an operation became: that one's name, for functions. */
#define TG_WAS_ATTRIBUTE "tgraph.was"

/* dimension[i]: the operand's dimension that is the i-th in memory, outermost
 * first. Rank 0: as the program has it. */
struct tg_stored {
  int rank;
  int dimension[TG_MAX_RANK];
};

bool tg_op_has_layouts(MlirOperation op);
/* NULL, or what is wrong with the operation's attribute (static lifetime). */
const char *tg_layouts_check(MlirOperation op);
/* Of an attribute that the check accepts, or of none. */
void tg_layouts_get(MlirOperation op, int operand, struct tg_stored *stored);
/* stored: one for each operand. */
void tg_layouts_set(MlirOperation op, const struct tg_stored *stored);

/* The access as the operand's dimensions are stored. */
void tg_access_permute(struct tg_access *access,
                       const struct tg_stored *stored);
/* The type of the tensor as it is stored. */
MlirType tg_stored_type(MlirType type, const struct tg_stored *stored);

#endif
