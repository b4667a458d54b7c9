/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The configurations that an operation can have. Whatever is offered here can
 * be carried out (plan.h). The first entries have names: the stock lowering
 * and the analytic rule's choice are always among them.
 */
#ifndef TGRAPH_MODEL_SPACE_H
#define TGRAPH_MODEL_SPACE_H

#include <stddef.h>

#include "model/arena.h"
#include "model/plan.h"

enum { TG_CONFIG_STOCK = 0, TG_CONFIG_ANALYTIC = 1, TG_CONFIG_NAMED_COUNT = 2 };

/* "stock", "analytic" for the first entries of a space. */
extern const char *const tg_config_names[TG_CONFIG_NAMED_COUNT];

struct tg_space {
  size_t count;
  struct tg_config *configs; /* no duplicates; the named ones first */
};

/* The whole space, in a fixed order. False: out of memory. A kernel that the
 * schedules can't serve has the stock configuration alone (count == 1). */
bool tg_space_enumerate(const struct tg_kernel *kernel,
                        const struct tg_target *target, struct tg_arena *arena,
                        struct tg_space *space);

/*
 * `count` distinct members: the named ones, then a share of mutations of the
 * analytic choice (one or two knobs changed) and a random rest. The same seed
 * gives the same sample. Fewer where the space is smaller.
 */
bool tg_space_sample(const struct tg_kernel *kernel,
                     const struct tg_target *target, uint64_t seed,
                     size_t count, struct tg_arena *arena,
                     struct tg_space *sample);

/* The `count` members of the lowest expected cost, the named ones first. */
bool tg_space_cheapest(const struct tg_kernel *kernel,
                       const struct tg_target *target, size_t count,
                       struct tg_arena *arena, struct tg_space *space);

/* The analytic rule: a fixed choice from the shape and the machine alone.
 * False: no tiled configuration is legal. */
bool tg_analytic_choice(const struct tg_kernel *kernel,
                        const struct tg_target *target,
                        struct tg_config *config);

#endif
