/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Weights that are packed once. A kernel that takes panels is called with what
 * a call of its own packing function returns; those calls can move out of the
 * program. For a function @f there are then three:
 *   @f          as before: packs, then computes
 *   @f_prepack  takes the weights that are packed, in the order of @f's
 *               arguments, and returns all panels
 *   @f_packed   takes @f's other arguments in their order (and weights that it
 *               also uses as they are), then the panels; returns what @f does
 */
#ifndef TGRAPH_PASSES_PREPACK_H
#define TGRAPH_PASSES_PREPACK_H

#include <mlir-c/IR.h>

#include "model/arena.h"
#include "model/error.h"

#define TG_WEIGHT_ATTRIBUTE "tgraph.weight"

/* Marks the arguments in the list ("0,2-7") of every function of the module
 * that has them. TG_BAD_INPUT: the list is malformed, or names an argument that
 * no function has. */
enum tg_status tg_mark_weights(MlirOperation module, const char *list,
                               struct tg_error *error);

/* The calls that pack a weight, in program order. */
struct tg_packs {
  struct tg_arena *arena;
  size_t count, capacity;
  MlirOperation *calls;
};
bool tg_packs_add(struct tg_packs *packs, MlirOperation call);

/* Makes @f_prepack and @f_packed for every function that packs arguments.
 * Reports a failure at the function. */
MlirLogicalResult tg_split_prepack(MlirOperation module,
                                   const struct tg_packs *packs);

#endif
