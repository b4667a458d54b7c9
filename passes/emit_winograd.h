/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Code for Winograd's algorithm (model/winograd.h): emit_winograd.c the nest,
 * the filter and the product, emit_winograd_image.c and
 * emit_winograd_result.c what is done with the tiles, winograd_transform.c the
 * transforms of one dimension.
 */
#ifndef TGRAPH_PASSES_EMIT_WINOGRAD_H
#define TGRAPH_PASSES_EMIT_WINOGRAD_H

#include "model/winograd.h"
#include "passes/emit.h"

/* Where the scratch tensors are among those that the loops carry. */
enum {
  TG_WINOGRAD_M = TG_CARRIED_PACKED_RESULT,
  TG_WINOGRAD_V = TG_CARRIED_PANELS + TG_LHS,
  TG_WINOGRAD_U = TG_CARRIED_PANELS + TG_RHS,
  /* The filter's windows of a few channels, transposed: (rows, lanes). */
  TG_WINOGRAD_SCRATCH = TG_CARRIED_WINDOWS
};

struct tg_emit_winograd {
  struct tg_emit emit; /* of the operation; the inputs are flat */
  struct tg_winograd winograd;
  struct tg_winograd_matrices matrices;
  /* What the bodies of nested loops hand down. */
  void (*body)(struct tg_emit *emit, MlirValue position, int64_t size,
               void *data);
  int64_t step;          /* results of a row that a body makes */
  int64_t rows, columns; /* results of the tile that exist */
  MlirValue tile_row;    /* first tile of the row of tiles, in its block */
  MlirValue tile;        /* the tile, in its block */
};

/* The transforms of one dimension: (n) -> (n), (3) -> (n), (n) -> (m) vectors.
 * result may not be the source. */
void tg_winograd_image_1d(struct tg_emit_winograd *e, const MlirValue *source,
                          MlirValue *result);
void tg_winograd_filter_1d(struct tg_emit_winograd *e, const MlirValue *source,
                           MlirValue *result);
void tg_winograd_result_1d(struct tg_emit_winograd *e, const MlirValue *source,
                           MlirValue *result);

/* m vectors that follow each other in memory <-> m vectors of every m-th
 * element: phase[k] lane l is element m l + k. In place. */
void tg_winograd_split_phases(struct tg_emit_winograd *e, MlirValue *vectors);
void tg_winograd_join_phases(struct tg_emit_winograd *e, MlirValue *vectors);
/* phase, one lane up: lane l is element m (l + 1) + k; what comes after the
 * last is element k of `next`. */
MlirValue tg_winograd_shift_phase(struct tg_emit_winograd *e, MlirValue phase,
                                  MlirValue next, int64_t k);

/* Element of the flat input at the current positions (+ delta). */
MlirValue tg_winograd_offset(struct tg_emit_winograd *e, int operand);
/* a + constant */
MlirValue tg_winograd_plus(struct tg_emit_winograd *e, MlirValue a,
                           int64_t constant);

/* Code for the part of a loop of tiles; position: of the first result, size:
 * how many results of the row it makes. */
typedef void (*tg_winograd_body)(struct tg_emit *emit, MlirValue position,
                                 int64_t size, void *data);
/* All tiles of the block that starts at row `origin`: vectors of tiles of a
 * row, for every iteration of `loop` (TG_NO_LOOP: none), or tile by tile. */
void tg_winograd_over_rows(struct tg_emit_winograd *e, MlirValue origin,
                           int loop, tg_winograd_body body);
void tg_winograd_over_tiles(struct tg_emit_winograd *e, MlirValue origin,
                            tg_winograd_body body);

/* The stages of a block that starts at row `origin` of the result. */
void tg_winograd_emit_filter(struct tg_emit_winograd *e);
void tg_winograd_emit_image(struct tg_emit_winograd *e, MlirValue origin);
void tg_winograd_emit_result(struct tg_emit_winograd *e, MlirValue origin);

/* The filter, transformed: a new tensor. */
MlirValue tg_emit_winograd_panels(struct tg_builder *builder,
                                  const struct tg_plan *plan, MlirValue filter);
/* The whole kernel, as tg_emit_kernel. */
MlirValue tg_emit_winograd(struct tg_builder *builder,
                           const struct tg_plan *plan,
                           struct tg_epilogue *epilogue,
                           const MlirValue *arguments);

#endif
