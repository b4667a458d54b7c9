/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Loops whose extent is known only at run time. A bounded loop is one of the
 * plan's own, run up to a value: blocks and tiles are as planned, and what is
 * left of the last block is done by smaller tiles along the rows, under a mask
 * along the vectors, and by single steps of the reduction. A sliced loop is
 * around the whole kernel, which sees one iteration of it.
 */
#ifndef TGRAPH_PASSES_EMIT_DYNAMIC_H
#define TGRAPH_PASSES_EMIT_DYNAMIC_H

#include "passes/emit.h"

/* Does the canonical loop end at a bound? TG_NO_LOOP doesn't. */
bool tg_emit_is_bounded(const struct tg_emit *emit, int loop);
/* Its bound, or else its extent. */
MlirValue tg_emit_end(struct tg_emit *emit, int loop);
/* Sets the bounds from the inputs, which emit->source holds, and the result,
 * all in canonical shape. */
void tg_emit_find_bounds(struct tg_emit *emit, MlirValue result);

/*
 * tg_emit_split for a bounded loop: [origin, min(origin + block, bound)). The
 * rest, fewer iterations than a step, in tiles of 2^n iterations, for each of
 * which the body is emitted; emit->row_offset says where they begin in their
 * step.
 */
void tg_emit_split_ladder(struct tg_emit *emit, int loop, MlirValue origin,
                          int64_t block, int64_t step,
                          void (*body)(struct tg_emit *, MlirValue position,
                                       int64_t size, void *data),
                          void *data);
/* The rest in one tile of full size of which emit->rest columns exist; the
 * builder's masks are set accordingly. */
void tg_emit_split_masked(struct tg_emit *emit, int loop, MlirValue origin,
                          int64_t block, int64_t step,
                          void (*body)(struct tg_emit *, MlirValue position,
                                       int64_t size, void *data),
                          void *data);

/*
 * tg_emit_kernel, and around it the sliced loops of the operation. kernel: the
 * operation's, with its own loops and, of the inputs, its own dimensions as
 * they are before any transposition.
 */
MlirValue tg_emit_operation(struct tg_builder *builder,
                            const struct tg_kernel *kernel,
                            const struct tg_plan *plan,
                            struct tg_epilogue *epilogue,
                            const MlirValue *arguments);

#endif
