/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Functions that hold the code of chosen operations. Equal code is kept once.
 */
#ifndef TGRAPH_PASSES_OUTLINE_H
#define TGRAPH_PASSES_OUTLINE_H

#include <mlir-c/IR.h>

#include "model/arena.h"

struct tg_outlined;

/* Zero but for the first two; tg_outliner_release at the end. */
struct tg_outliner {
  MlirOperation module;
  struct tg_arena *arena;
  struct tg_outlined *outlined;
};

enum { TG_MAX_OUTLINE_ARGUMENTS = 96 };

/* A function of the type, in no block yet, with one empty block. The type has
 * at most TG_MAX_OUTLINE_ARGUMENTS inputs. */
MlirOperation tg_outline_begin(MlirLocation location, MlirType type,
                               MlirBlock *entry);
/*
 * Takes the function over and puts it into the module under the name, with a
 * number if that is taken; where an equal function was kept before, destroys
 * this one. Returns the symbol to call, which lives in the arena; NULL, and
 * nothing in the module, where the function isn't valid or memory ran out.
 */
const char *tg_outline_end(struct tg_outliner *outliner, MlirOperation function,
                           const char *name);
/* The function that was kept under the name; null where there is none. */
MlirOperation tg_outliner_find(const struct tg_outliner *outliner,
                               MlirStringRef name);
/* Says of a kept function that it was made of operations that can't fail
 * (from_weights.h), and asks for it. */
void tg_outliner_mark_total(struct tg_outliner *outliner, const char *name);
bool tg_outliner_is_total(const struct tg_outliner *outliner,
                          MlirOperation function);
void tg_outliner_release(struct tg_outliner *outliner);

/* An operation of one result before `op`, at its location. `attribute` may be
 * NULL. */
MlirOperation tg_insert_before(MlirOperation op, const char *name,
                               intptr_t operand_count,
                               const MlirValue *operands, intptr_t result_count,
                               const MlirType *results,
                               const MlirNamedAttribute *attribute);
/* A call of the symbol before `op`. */
MlirOperation tg_insert_call(MlirOperation op, const char *symbol,
                             intptr_t operand_count, const MlirValue *operands,
                             intptr_t result_count, const MlirType *results);

#endif
