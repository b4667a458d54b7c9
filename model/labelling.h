/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Two labels for each of many variables, so that the sum of what each label and
 * each pair of labels costs is least: which tensors of a program are stored in
 * their other layout.
 */
#ifndef TGRAPH_MODEL_LABELLING_H
#define TGRAPH_MODEL_LABELLING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/arena.h"

struct tg_label_pair {
  int32_t a, b;      /* two different variables */
  double cost[2][2]; /* [label of a][label of b], in cycles, at least 0 */
};

/* A cost that no labelling with a choice will pay. */
#define TG_LABEL_FORBIDDEN 1e13

/*
 * cost: (count, 2) in cycles; label: (count). The cheapest labelling, found as
 * a minimum cut (Kolmogorov and Zabih, "What energy functions can be minimized
 * via graph cuts?", 2004); of equally cheap ones the one with the fewest 1. A
 * pair must not cost less for different labels than for equal ones (in sum of
 * each); where it does, different ones are charged up to that. False: out of
 * memory.
 */
bool tg_label(int32_t count, const double *cost, size_t pair_count,
              const struct tg_label_pair *pairs, struct tg_arena *arena,
              uint8_t *label);

/* What a labelling costs, by the same account but without that charge. */
double tg_label_cost(int32_t count, const double *cost, size_t pair_count,
                     const struct tg_label_pair *pairs, const uint8_t *label);

#endif
