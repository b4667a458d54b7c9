/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Rank metrics within a graph. tau-b after W. R. Knight, "A Computer Method for
 * Calculating Kendall's Tau with Ungrouped Data" (1966): sort by the first
 * ranking, count the exchanges that sorting by the second one takes.
 */
#include "model/metrics.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct tg_pair {
  double a, b;
};

static int tg_compare(double x, double y) { return (x > y) - (x < y); }

static int tg_pair_compare(const void *x, const void *y) {
  const struct tg_pair *p = x, *q = y;
  int order = tg_compare(p->a, q->a);
  return order ? order : tg_compare(p->b, q->b);
}

/* Sorts by b and returns the number of exchanges of unequal neighbours. */
static int64_t tg_merge_count(struct tg_pair *pairs, struct tg_pair *scratch,
                              int64_t count) {
  int64_t exchanges = 0;
  for (int64_t width = 1; width < count; width *= 2) {
    for (int64_t start = 0; start < count; start += 2 * width) {
      int64_t middle = start + width < count ? start + width : count;
      int64_t end = middle + width < count ? middle + width : count;
      int64_t left = start, right = middle;
      for (int64_t out = start; out < end; out++) {
        if (right == end ||
            (left < middle && pairs[left].b <= pairs[right].b)) {
          scratch[out] = pairs[left++];
        } else {
          exchanges += middle - left;
          scratch[out] = pairs[right++];
        }
      }
    }
    memcpy(pairs, scratch, (size_t)count * sizeof *pairs);
  }
  return exchanges;
}

/* Number of pairs within runs of equal neighbours. */
static int64_t tg_tied_pairs(const struct tg_pair *pairs, int64_t count,
                             int use_a, int use_b) {
  int64_t tied = 0, run = 1;
  for (int64_t i = 1; i <= count; i++) {
    if (i < count && (!use_a || pairs[i].a == pairs[i - 1].a) &&
        (!use_b || pairs[i].b == pairs[i - 1].b)) {
      run++;
      continue;
    }
    tied += run * (run - 1) / 2;
    run = 1;
  }
  return tied;
}

double tg_tau_b(int64_t count, const double *a, const double *b,
                struct tg_arena *arena) {
  if (count < 2)
    return NAN;
  struct tg_pair *pairs = tg_arena_alloc(arena, (size_t)count, sizeof *pairs);
  struct tg_pair *scratch =
      tg_arena_alloc(arena, (size_t)count, sizeof *scratch);
  if (!pairs || !scratch)
    return NAN;
  for (int64_t i = 0; i < count; i++)
    pairs[i] = (struct tg_pair){a[i], b[i]};
  qsort(pairs, (size_t)count, sizeof *pairs, tg_pair_compare);
  int64_t total = count * (count - 1) / 2;
  int64_t tied_a = tg_tied_pairs(pairs, count, 1, 0);
  int64_t tied_both = tg_tied_pairs(pairs, count, 1, 1);
  int64_t discordant = tg_merge_count(pairs, scratch, count);
  int64_t tied_b = tg_tied_pairs(pairs, count, 0, 1);
  if (tied_a == total || tied_b == total)
    return NAN;
  int64_t difference = total - tied_a - tied_b + tied_both - 2 * discordant;
  return (double)difference / sqrt((double)(total - tied_a)) /
         sqrt((double)(total - tied_b));
}

static int tg_top_compare(const void *x, const void *y) {
  const struct tg_pair *p = x, *q = y;
  int order = tg_compare(p->a, q->a);
  return order ? order : tg_compare(q->b, p->b); /* slowest first */
}

/* Best runtime among the k best scores / best of all. */
static double tg_top_k_ratio(int64_t count, const double *score,
                             const double *runtime, int64_t k,
                             struct tg_arena *arena) {
  assert(k >= 1);
  struct tg_pair *pairs = tg_arena_alloc(arena, (size_t)count, sizeof *pairs);
  if (!count || !pairs)
    return NAN;
  double best = INFINITY, chosen = INFINITY;
  for (int64_t i = 0; i < count; i++) {
    pairs[i] = (struct tg_pair){score[i], runtime[i]};
    best = fmin(best, runtime[i]);
  }
  qsort(pairs, (size_t)count, sizeof *pairs, tg_top_compare);
  for (int64_t i = 0; i < count && i < k; i++)
    chosen = fmin(chosen, pairs[i].b);
  return chosen / best;
}

double tg_top_k_score(int64_t count, const double *score, const double *runtime,
                      int64_t k, struct tg_arena *arena) {
  return 1 / tg_top_k_ratio(count, score, runtime, k, arena);
}

double tg_top_k_slowdown(int64_t count, const double *score,
                         const double *runtime, int64_t k,
                         struct tg_arena *arena) {
  return tg_top_k_ratio(count, score, runtime, k, arena) - 1;
}

double tg_pair_accuracy(int64_t count, const double *score,
                        const double *runtime, const float *ci,
                        struct tg_arena *arena) {
  int64_t pairs = 0, halves = 0; /* right pairs count two halves */
  double *log_runtime =
      tg_arena_alloc(arena, (size_t)count, sizeof *log_runtime);
  if (!log_runtime)
    return NAN;
  for (int64_t i = 0; i < count; i++)
    log_runtime[i] = log(runtime[i]);
  for (int64_t i = 0; i < count; i++) {
    for (int64_t j = i + 1; j < count; j++) {
      double margin = 0.01;
      if (ci)
        margin = fmax(margin, fmax((double)ci[i], (double)ci[j]));
      double difference = log_runtime[i] - log_runtime[j];
      if (!(fabs(difference) > margin))
        continue;
      int order = tg_compare(score[i], score[j]);
      pairs++;
      halves += order == 0 ? 1 : (order > 0) == (difference > 0) ? 2 : 0;
    }
  }
  return pairs ? (double)halves / 2 / (double)pairs : NAN;
}

struct tg_metrics tg_metrics_compute(int64_t count, const double *score,
                                     const double *runtime, const float *ci,
                                     struct tg_arena *arena) {
  return (struct tg_metrics){
      .tau = tg_tau_b(count, score, runtime, arena),
      .top1 = tg_top_k_score(count, score, runtime, 1, arena),
      .top5 = tg_top_k_score(count, score, runtime, 5, arena),
      .top10 = tg_top_k_score(count, score, runtime, 10, arena),
      .slowdown1 = tg_top_k_slowdown(count, score, runtime, 1, arena),
      .slowdown5 = tg_top_k_slowdown(count, score, runtime, 5, arena),
      .pair_accuracy = tg_pair_accuracy(count, score, runtime, ci, arena)};
}

double tg_tau_ceiling(int64_t count, const double *first, const double *second,
                      struct tg_arena *arena) {
  double *a = tg_arena_alloc(arena, (size_t)count, sizeof *a);
  double *b = tg_arena_alloc(arena, (size_t)count, sizeof *b);
  int64_t both = 0;
  if (!a || !b)
    return NAN;
  for (int64_t i = 0; i < count; i++) {
    if (isnan(first[i]) || isnan(second[i]))
      continue;
    a[both] = first[i];
    b[both++] = second[i];
  }
  return tg_tau_b(both, a, b, arena);
}

double tg_tau_ceiling_runs(int64_t count, int64_t run_count,
                           const int32_t *run_item, const double *run_value,
                           struct tg_arena *arena) {
  double *first = tg_arena_alloc(arena, (size_t)count, sizeof *first);
  double *second = tg_arena_alloc(arena, (size_t)count, sizeof *second);
  if (!first || !second)
    return NAN;
  for (int64_t i = 0; i < count; i++)
    first[i] = second[i] = NAN;
  for (int64_t r = 0; r < run_count; r++) {
    int32_t item = run_item[r];
    assert(item >= 0 && item < count);
    if (isnan(first[item]))
      first[item] = run_value[r];
    else if (isnan(second[item]))
      second[item] = run_value[r];
  }
  return tg_tau_ceiling(count, first, second, arena);
}
