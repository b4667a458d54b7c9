/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A plan is what a configuration means for a kernel: the role of every loop,
 * the sizes of all blocks and what is copied where. Legality, cost features
 * and generated code are all derived from the plan, so they can't disagree.
 *
 * The nest that a plan describes, outermost first:
 *
 *   [pack what is hoisted]
 *   batch loops         parallel loops of the operand that follows the vector
 *     vector blocks     step block_vector
 *       reduction blocks  step block_reduction   [pack what follows vectors]
 *         row loops     parallel loops that it doesn't depend on
 *           row blocks  step block_rows          [pack what follows rows]
 *             register tiles: rows x vectors     [accumulators in registers]
 *               reduction loops
 *       [transpose the packed result]
 *
 * Where the vector loop is a reduction loop, the lanes hold partial sums (a
 * dot product): the tile is rows x columns, its columns a second parallel loop
 * that takes the vector loop's place in the picture above, and the lanes are
 * added up when all reduction loops are done.
 */
#ifndef TGRAPH_MODEL_PLAN_H
#define TGRAPH_MODEL_PLAN_H

#include "model/canonical.h"
#include "model/target.h"

enum tg_knob {
#define KNOB(name, unit, doc) TG_KNOB_##name,
#include "model/knobs.def"
  TG_KNOB_COUNT
};

/* The names of the knobs, in order. */
extern const char *const tg_knob_names[TG_KNOB_COUNT];

struct tg_config {
  int32_t knob[TG_KNOB_COUNT];
};

enum {
  TG_NO_LOOP = -1,
  /* What the code generator keeps in fixed arrays, and a bound on the code of
   * one register tile; no machine that exists comes near them. */
  TG_MAX_LANES = 64,
  TG_MAX_TILE_ROWS = 32,
  TG_MAX_TILE_VECTORS = 16,
  TG_MAX_ACCUMULATORS = 64,
  TG_MAX_TILE_STEPS = 8192
};

struct tg_plan {
  struct tg_canonical canonical; /* with flattening applied */
  int vector_loop;
  int row_loop; /* TG_NO_LOOP: none, rows == 1 */
  /* The lanes are summed in the end: vectors run along a reduction loop, which
   * is the last of `reduction`. */
  bool dot;
  /* The loop that blocks of vectors cut: the vector loop or, of a dot product,
   * the loop of the tile's columns; TG_NO_LOOP where it has none: the tile
   * then holds `vectors` partial sums of each row. */
  int column_loop;
  /* Flattened vector loop v counts outer = v / flat_inner,
   * inner = v % flat_inner in the operands that were not collapsed; their
   * coefficients are in gather_outer and gather_inner (elements). 0: none. */
  int64_t flat_inner;
  int gathered; /* the operand that is gathered, -1: none */
  int64_t gather_outer, gather_inner;

  int64_t lanes;   /* elements of a vector register */
  int64_t vectors; /* registers of a row of the tile */
  /* Iterations of the column loop in a tile: lanes * vectors, or vectors of a
   * dot product (1 without a column loop). */
  int64_t width;
  int64_t rows;
  int64_t unroll;
  int64_t block_vector, block_rows, block_reduction; /* at most the extent */
  bool vectors_inner;                                /* knob `order` */
  bool packed[TG_OPERAND_COUNT];
  /* Packed whole, before all loops: a loop around it would repeat the work. */
  bool hoisted[TG_OPERAND_COUNT];
  bool follows_vector[TG_OPERAND_COUNT];
  bool follows_row[TG_OPERAND_COUNT];

  int batch_count, batch[TG_MAX_LOOPS];         /* outermost first */
  int outer_row_count, outer_row[TG_MAX_LOOPS]; /* outermost first */
  int reduction_count, reduction[TG_MAX_LOOPS]; /* outermost first */

  /* Of the column, the row and the outermost reduction loop. */
  int64_t vector_extent, row_extent, reduction_extent;
  bool bounded_reduction; /* the outermost one ends at a bound */
  int64_t reduction_rest; /* product of the other reduction loops */
  int64_t outer_rows;     /* product of the extents of the outer row loops */
  int64_t winograd; /* knob `winograd`; where it isn't 0, winograd.h describes
                       the rest and of the fields above only what it sets */
};

/*
 * Fills the plan, or returns the reason why the configuration can't be carried
 * out (a string of static lifetime). NULL: legal. The stock configuration has
 * no plan and is answered with a reason too.
 */
const char *tg_plan_make(const struct tg_kernel *kernel,
                         const struct tg_config *config,
                         const struct tg_target *target, struct tg_plan *plan);

/* The same for a kernel that is canonical already: the costly part is done
 * once for a whole space. */
const char *tg_plan_make_canonical(const struct tg_canonical *canonical,
                                   const struct tg_config *config,
                                   const struct tg_target *target,
                                   struct tg_plan *plan);

/*
 * Elements between neighbours of a vector of the unpacked operand, where all of
 * them lie in its last dimension: 1 is contiguous, up to TG_MAX_STEP can be
 * read and shuffled together. 0: it can't be read that way, or doesn't follow.
 */
enum { TG_MAX_STEP = 4 };
int64_t tg_plan_step(const struct tg_plan *plan, int operand, int loop);

/* The loops of a dot product's packed operand, which is copied in this order:
 * the vector loop last. Returns how many. */
int tg_plan_dot_loops(const struct tg_plan *plan, int operand,
                      int loops[TG_MAX_RANK]);

/* Is the operand given as panels, packed before the program runs? */
bool tg_plan_takes_panels(const struct tg_plan *plan, int operand);

/* Is the sum of an element made in several passes over the result? */
bool tg_plan_accumulates(const struct tg_plan *plan);

/* Elements of the scratch buffers, 0 where the operand isn't packed. */
int64_t tg_plan_packed_elements(const struct tg_plan *plan, int operand);

#endif
