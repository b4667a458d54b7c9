/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * How well scores order runtimes, within one graph. Lower is faster in both.
 * Means over graphs are the caller's; never pool the pairs of several graphs.
 * model/train/metrics.py computes the same.
 */
#ifndef TGRAPH_MODEL_METRICS_H
#define TGRAPH_MODEL_METRICS_H

#include <stdint.h>

#include "model/arena.h"

/* Kendall's tau-b of two rankings of `count` items, in O(n log n). NaN when
 * one of them is constant or count < 2: such a graph says nothing. */
double tg_tau_b(int64_t count, const double *a, const double *b,
                struct tg_arena *arena);

/* Best runtime of all / best runtime among the k best scores: 1 is perfect.
 * Equal scores are taken slowest first, so a constant score earns nothing and
 * the order of the items doesn't matter. */
double tg_top_k_score(int64_t count, const double *score, const double *runtime,
                      int64_t k, struct tg_arena *arena);
/* Best runtime among the k best scores / best of all - 1: 0 is perfect. */
double tg_top_k_slowdown(int64_t count, const double *score,
                         const double *runtime, int64_t k,
                         struct tg_arena *arena);

/*
 * Share of the pairs that the score orders as the runtime does, over pairs
 * whose log runtimes differ by more than max(0.01, ci of either); equal scores
 * count one half. ci: (count) half widths in log units, or NULL. NaN when no
 * pair is that far apart.
 */
double tg_pair_accuracy(int64_t count, const double *score,
                        const double *runtime, const float *ci,
                        struct tg_arena *arena);

struct tg_metrics {
  double tau, top1, top5, top10, slowdown1, slowdown5, pair_accuracy;
};
struct tg_metrics tg_metrics_compute(int64_t count, const double *score,
                                     const double *runtime, const float *ci,
                                     struct tg_arena *arena);

/* tau-b of the first run against the second, over the items that have both
 * (second run not NaN): what no model can honestly exceed. */
double tg_tau_ceiling(int64_t count, const double *first, const double *second,
                      struct tg_arena *arena);
/* The same from a list of single runs (R): the first two of every item. */
double tg_tau_ceiling_runs(int64_t count, int64_t run_count,
                           const int32_t *run_item, const double *run_value,
                           struct tg_arena *arena);

#endif
