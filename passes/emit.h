/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Code for a plan, on tensors: loops of scf, registers of vector. Each stage
 * of the nest in plan.h has its file: emit_nest.c the loops, emit_pack.c the
 * panels, emit_tile.c the register tile, emit_dot.c the one whose lanes are
 * summed, emit_dot_pack.c its operands, emit_unpack.c the packed result.
 */
#ifndef TGRAPH_PASSES_EMIT_H
#define TGRAPH_PASSES_EMIT_H

#include "model/plan.h"
#include "passes/build.h"
#include "passes/epilogue.h"

/* Tensors that the loops carry: the result, its packed form, the panels. */
enum tg_carried {
  TG_CARRIED_RESULT,
  TG_CARRIED_PACKED_RESULT,
  TG_CARRIED_PANELS,                          /* + TG_LHS or TG_RHS */
  TG_CARRIED_WINDOWS = TG_CARRIED_PANELS + 2, /* emit_winograd.h */
  TG_CARRIED_COUNT
};

struct tg_emit {
  struct tg_builder builder;
  const struct tg_plan *plan;
  const struct tg_kernel *kernel;     /* canonical */
  const struct tg_epilogue *epilogue; /* on what is stored last */
  MlirValue source[TG_RESULT];        /* the inputs, in canonical shape */
  MlirValue state[TG_CARRIED_COUNT];  /* innermost value of what is carried */
  MlirValue position[TG_MAX_LOOPS];   /* of every canonical loop, absolute */
  int64_t delta[TG_MAX_LOOPS];        /* a constant on top of the position */
  MlirValue vector_origin, row_origin, reduction_origin; /* of the blocks */
  /* Null but where the extent of a loop isn't known (emit_dynamic.h): */
  MlirValue bound[TG_MAX_LOOPS]; /* what the canonical loop runs to */
  MlirValue rest;                /* columns of the last tile, one at most */
  MlirValue row_offset;          /* of a tile in its panel of rows */
};

/* The whole kernel. arguments: lhs, rhs and initial result in the operation's
 * own shapes (panels instead, where the plan takes them), then the inputs of
 * the epilogue (length 0 for none). */
MlirValue tg_emit_kernel(struct tg_builder *builder, const struct tg_plan *plan,
                         struct tg_epilogue *epilogue,
                         const MlirValue *arguments);
/* The panels of an operand that tg_plan_takes_panels: a new tensor. */
MlirValue tg_emit_prepack(struct tg_builder *builder,
                          const struct tg_plan *plan, int operand,
                          MlirValue source);
/* Does the generated code read the initial value of the result? */
bool tg_plan_reads_init(const struct tg_plan *plan);

/* What was read of the unpacked input, a scalar or a vector, in the kernel's
 * own element type. */
MlirValue tg_emit_extend(struct tg_emit *emit, int operand, MlirValue value);

/* The stages, for emit_nest.c alone. */
void tg_emit_pack(struct tg_emit *emit, int operand);
/* rows, columns: how much of the register tile exists here. */
void tg_emit_tile(struct tg_emit *emit, int64_t rows, int64_t columns);
/* The same for a dot product; columns: iterations of the column loop. */
void tg_emit_dot_tile(struct tg_emit *emit, int64_t rows, int64_t columns);
/* `valid` lanes of an unpacked operand at position + delta, out of whole pieces
 * of the row that a tile of this many columns reads. */
MlirValue tg_emit_read_row(struct tg_emit *emit, int operand, int64_t columns,
                           int64_t valid);
/* A dot product's packed operand: its copy, and the copy's subscripts at
 * position + delta, of which the answer is the number. */
MlirValue tg_emit_dot_scratch(struct tg_emit *emit, int operand);
void tg_emit_dot_pack(struct tg_emit *emit, int operand);
int tg_emit_dot_subscripts(struct tg_emit *emit, int operand,
                           MlirValue *indices);
void tg_emit_clear_packed_result(struct tg_emit *emit);
void tg_emit_unpack(struct tg_emit *emit);
/* Trailing dimensions of the result that the unpacking walks as one; fills
 * group[] for tg_collapse and returns the merged extent. */
int64_t tg_unpack_shape(const struct tg_plan *plan, int group[TG_MAX_RANK],
                        int *separate_outer_rows);

/* What the stages share. Loops that carry the whole state: */
void tg_emit_loop_begin(struct tg_emit *emit, struct tg_for *loop,
                        MlirValue lower, MlirValue upper, int64_t step);
void tg_emit_loop_end(struct tg_emit *emit, struct tg_for *loop);
/*
 * Covers [origin, min(origin + block, extent)) of a loop in steps: whole steps
 * first, then the rest. body(emit, position, size) is emitted at most twice,
 * with size == step and with size == extent % step.
 */
void tg_emit_split(struct tg_emit *emit, MlirValue origin, int64_t block,
                   int64_t extent, int64_t step,
                   void (*body)(struct tg_emit *, MlirValue position,
                                int64_t size, void *data),
                   void *data);
/* Subscripts of an unpacked operand at position + delta; returns the rank. */
int tg_emit_subscripts(struct tg_emit *emit, int operand, MlirValue *indices);
/* origin of the reduction block that the operand's panels start from, and the
 * place of the current reduction position in them. */
MlirValue tg_emit_panel_depth(struct tg_emit *emit, int operand);
MlirValue tg_emit_panel_index(struct tg_emit *emit, int operand);

#endif
