/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Winograd's minimal filtering for convolutions of 3x3 windows: m x m outputs
 * from (m + 2) x (m + 2) inputs with (m + 2)^2 multiplications a channel
 * instead of 9 m^2 (S. Winograd, Arithmetic Complexity of Computations, 1980;
 * A. Lavin and S. Gray, Fast Algorithms for Convolutional Neural Networks,
 * 2016). Sums are taken in another order, so rounding changes.
 *
 *   U[b][f][c] = G g G^T      of every filter
 *   V[b][c][p] = B^T d B      of every tile p of the image
 *   M[b][f][p] = sum over c of U[b][f][c] V[b][c][p]
 *   result     = A^T M A      b: one of the (m + 2)^2 elements of a tile
 *
 * The tiles are taken in blocks of whole rows of tiles, so that V and M of a
 * block stay in a cache. The product of a block is a kernel of its own with a
 * plan of its own: the knobs of the tile describe that.
 */
#ifndef TGRAPH_MODEL_WINOGRAD_H
#define TGRAPH_MODEL_WINOGRAD_H

#include "model/arena.h"
#include "model/plan.h"
#include "model/space.h"

enum {
  TG_WINOGRAD_WINDOW = 3,
  TG_WINOGRAD_MAX_OUTPUT = 4,
  TG_WINOGRAD_MAX_INPUT = TG_WINOGRAD_MAX_OUTPUT + TG_WINOGRAD_WINDOW - 1
};

/*
 * The transforms of one dimension, n = m + 2. Made from the points 0, +-p, ...
 * and infinity (Toom and Cook). The points come in pairs: rows 2i + 1 and
 * 2i + 2 of B^T and G, and the same columns of A^T, are equal in even places
 * and each other's negatives in odd ones.
 */
struct tg_winograd_matrices {
  int output; /* m */
  int input;  /* n */
  double at[TG_WINOGRAD_MAX_OUTPUT][TG_WINOGRAD_MAX_INPUT];
  double g[TG_WINOGRAD_MAX_INPUT][TG_WINOGRAD_WINDOW];
  double bt[TG_WINOGRAD_MAX_INPUT][TG_WINOGRAD_MAX_INPUT];
};
/* output: 2 or 4. */
void tg_winograd_get_matrices(int64_t output,
                              struct tg_winograd_matrices *matrices);

/* How the filter's elements of a panel come to lie beside each other. */
enum tg_winograd_filter {
  TG_WINOGRAD_VECTORS,  /* they do already */
  TG_WINOGRAD_WINDOWS,  /* a channel's window is contiguous: transposed */
  TG_WINOGRAD_CHANNELS, /* channels are contiguous: transposed */
};

/* Which loops of the canonical kernel play which part; TG_NO_LOOP: none. */
struct tg_winograd {
  int image, filter; /* TG_LHS and TG_RHS, or the other way round */
  int row, column;   /* of the result; the column is nearer to the end */
  int window_row, window_column;
  int channel, feature;
  int group_count, group[TG_MAX_LOOPS]; /* loops of all operands */
  int batch_count, batch[TG_MAX_LOOPS]; /* of image and result */

  int64_t output, input;      /* m, n */
  int64_t height, width;      /* of the result, in elements */
  int64_t channels, features; /* of a group */
  int64_t tile_rows, tile_columns;
  int64_t block_rows;                     /* tile rows of a block */
  int64_t block_tiles;                    /* tiles of a block */
  bool image_by_column, result_by_column; /* contiguous along the image's row;
                                             else along channels, features */
  enum tg_winograd_filter filter_way;
  int64_t panels, panel; /* features, cut into panels of the tile */
  int64_t image_stride;  /* of V's last dimension, elements */
  int64_t image_rows;    /* of V's dimension before the last */
  int64_t result_stride; /* of M's last dimension where it is tiles */
  /* Loops: element, panel, feature within, tile, channel. */
  struct tg_plan product;
};

/* Fills the loops and sizes that follow from the kernel alone, or says why
 * the algorithm doesn't serve it. */
const char *tg_winograd_match(const struct tg_kernel *kernel,
                              struct tg_winograd *winograd);

/* The plan of a configuration with the knob `winograd`; tg_plan_make calls it.
 * The tile loop is `column` of tg_winograd_match and counts tiles. */
const char *tg_winograd_plan(const struct tg_canonical *canonical,
                             const struct tg_config *config,
                             const struct tg_target *target,
                             struct tg_plan *plan);
/* Can the canonical kernel's operand be given as what the algorithm makes of
 * it: the filter, where there is one group of channels? */
bool tg_winograd_may_take_panels(const struct tg_kernel *kernel, int operand);
/* Everything about a plan that tg_winograd_plan has made. */
void tg_winograd_describe(const struct tg_plan *plan,
                          struct tg_winograd *winograd);

/* The estimate of the whole operation, in cycles of a core; what the filter's
 * transform takes of it goes to *filter_cycles (may be NULL). */
double tg_winograd_cycles(const struct tg_plan *plan,
                          const struct tg_target *target,
                          double *filter_cycles);

/* All configurations of the algorithm, in a fixed order: none where it doesn't
 * serve the kernel. False: out of memory. They are no part of the space of
 * space.h, as they change the rounding. */
bool tg_winograd_enumerate(const struct tg_kernel *kernel,
                           const struct tg_target *target,
                           struct tg_arena *arena, struct tg_space *space);

/* The one that is expected to be the fastest; false: there is none. */
bool tg_winograd_choose(const struct tg_kernel *kernel,
                        const struct tg_target *target, struct tg_arena *arena,
                        struct tg_config *config, double *cycles,
                        size_t *count);

#endif
