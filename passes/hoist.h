/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Which operations of a function move into @f_prepack, and which of their
 * results the rest of the function reads.
 */
#ifndef TGRAPH_PASSES_HOIST_H
#define TGRAPH_PASSES_HOIST_H

#include <mlir-c/IR.h>
#include <stdbool.h>
#include <stddef.h>

#include "model/arena.h"
#include "passes/outline.h"

/* The calls that pack an operand, in program order. */
struct tg_packs {
  struct tg_arena *arena;
  size_t count, capacity;
  MlirOperation *calls;
};

struct tg_hoisted_op {
  MlirOperation op;
  bool from_weights; /* what follows is set for these alone */
  bool stays;        /* is computed by @f_packed */
  bool moves;        /* is computed by @f_prepack; both are possible */
};

/* A result of an operation, by the operation's number. */
struct tg_frontier {
  size_t op;
  intptr_t result;
  size_t panel; /* which of the panels it is: equal calls make one */
};

struct tg_hoist {
  struct tg_arena *arena;
  const struct tg_outliner *outliner;
  const struct tg_packs *packs;
  MlirOperation function;
  /* Of constants alone, by what can be run while the program is compiled. */
  bool only_constants;
  size_t count, capacity;
  struct tg_hoisted_op *ops; /* in the order of tg_hoist_number */
  size_t frontier_count, frontier_capacity;
  struct tg_frontier *frontier; /* in program order */
  size_t panel_count;
  intptr_t argument_count;
  bool *taken; /* by argument: do operations that move read it? */
};

/* Would what the operation makes of weights be passed as a panel? A view, a
 * fill or a broadcast is better made anew. Calls that pack are for the caller.
 */
bool tg_is_worth_a_panel(MlirOperation op);

/* False: out of memory. Nothing moves where panel_count is 0. */
bool tg_hoist_find(struct tg_hoist *hoist);

/* Calls `visit` for each of the function's operations, the function being the
 * first, in an order that a clone has as well. Bodies of structured operations
 * are left out. */
void tg_hoist_number(MlirOperation function,
                     bool (*visit)(MlirOperation, void *), void *data);

#endif
