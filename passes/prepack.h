/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What depends on weights alone is computed once: packing them for kernels that
 * take panels, and whatever else is made of them. For a function @f there are
 * then three:
 *   @f          as before: computes all of it
 *   @f_prepack  takes the weights that such computations read, in the order of
 *               @f's arguments, and returns what the rest reads: the panels
 *   @f_packed   takes @f's other arguments in their order (and weights that it
 *               also uses as they are), then the panels; returns what @f does
 */
#ifndef TGRAPH_PASSES_PREPACK_H
#define TGRAPH_PASSES_PREPACK_H

#include <mlir-c/IR.h>

#include "model/error.h"
#include "passes/hoist.h"

#define TG_WEIGHT_ATTRIBUTE "tgraph.weight"
/* On a module: its functions are to be split. On a function: it was. */
#define TG_PREPACK_ATTRIBUTE "tgraph.prepack"

/* Marks the arguments in the list ("0,2-7") of every function of the module
 * that has them. TG_BAD_INPUT: the list is malformed, or names an argument that
 * no function has. */
enum tg_status tg_mark_weights(MlirOperation module, const char *list,
                               struct tg_error *error);

/* Is it a function with a body that the program had before, and that may be
 * changed? */
bool tg_is_program_function(MlirOperation op,
                            const struct tg_outliner *outliner);
bool tg_packs_add(struct tg_packs *packs, MlirOperation call);

/* A function of what moves, behind the one that it is made of: takes the
 * arguments that are read, returns the panels. Null: out of memory. */
MlirOperation tg_hoist_to_function(const struct tg_hoist *hoist,
                                   const char *name);

/* Makes @f_prepack and @f_packed for every function that computes something
 * from weights alone, if the module carries TG_PREPACK_ATTRIBUTE, which then
 * goes, or packs a weight. Reports a failure at the function. */
MlirLogicalResult tg_split_prepack(MlirOperation module,
                                   const struct tg_outliner *outliner,
                                   const struct tg_packs *packs);

#endif
