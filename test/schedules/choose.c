/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Random configurations: first which loops, what is packed and what is
 * blocked, so that rare combinations come up as often as common ones; then
 * often sizes that the space itself does not list.
 */
#include "test/schedules/choose.h"

#include "model/space.h"
#include "model/winograd.h"

enum { MAX_KEYS = 512 };

/* Everything but the sizes. */
static uint64_t key_of(const struct tg_config *config) {
  const int32_t *k = config->knob;
  uint64_t key = (uint64_t)k[TG_KNOB_vector_loop];
  key = key * 16 + (uint64_t)(k[TG_KNOB_row_loop] + 1);
  static const enum tg_knob flags[] = {
      TG_KNOB_flatten,    TG_KNOB_order,          TG_KNOB_pack_lhs,
      TG_KNOB_pack_rhs,   TG_KNOB_pack_result,    TG_KNOB_block_vector,
      TG_KNOB_block_rows, TG_KNOB_block_reduction};
  for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); ++i)
    key = key * 2 + (k[flags[i]] != 0);
  return key;
}

static bool is_rare(uint64_t key) {
  /* flatten, pack_result: see the order of the flags above */
  return (key >> 7 & 1) || (key >> 3 & 1);
}

static const struct tg_config *pick(struct random *random,
                                    const struct tg_space *space) {
  uint64_t keys[MAX_KEYS];
  int count = 0;
  bool rare = random_percent(random, 40), any_rare = false;
  for (size_t i = TG_CONFIG_ANALYTIC; i < space->count && rare; ++i)
    any_rare |= is_rare(key_of(&space->configs[i]));
  for (size_t i = TG_CONFIG_ANALYTIC; i < space->count; ++i) {
    uint64_t key = key_of(&space->configs[i]);
    if (any_rare && !is_rare(key))
      continue;
    int at = 0;
    while (at < count && keys[at] != key)
      ++at;
    if (at == count && count < MAX_KEYS)
      keys[count++] = key;
  }
  uint64_t key = keys[random_below(random, count)];
  size_t members = 0, chosen = TG_CONFIG_ANALYTIC;
  for (size_t i = TG_CONFIG_ANALYTIC; i < space->count; ++i)
    if (key_of(&space->configs[i]) == key &&
        random_below(random, (int)++members) == 0)
      chosen = i;
  return &space->configs[chosen];
}

static void mutate(struct random *random, const struct tg_kernel *kernel,
                   const struct tg_target *target, struct tg_config *config) {
  struct tg_config changed = *config;
  int32_t *k = changed.knob;
  struct tg_plan plan;
  /* The space packs for dot products only where it is worth it. */
  if (random_percent(random, 25))
    k[random_percent(random, 50) ? TG_KNOB_pack_lhs : TG_KNOB_pack_rhs] ^= 1;
  if (tg_plan_make(kernel, &changed, target, &plan))
    changed = *config;
  if (random_percent(random, 60))
    k[TG_KNOB_vectors] = 1 + random_below(random, 5);
  if (random_percent(random, 60))
    k[TG_KNOB_rows] = 1 + random_below(random, 12);
  if (random_percent(random, 60))
    k[TG_KNOB_unroll] = 1 + random_below(random, 20);
  k[TG_KNOB_block_vector] = k[TG_KNOB_block_rows] = 0;
  k[TG_KNOB_block_reduction] = 0;
  if (tg_plan_make(kernel, &changed, target, &plan))
    return;
  *config = changed;
  if (random_percent(random, 55))
    k[TG_KNOB_block_vector] =
        (int32_t)plan.width * (1 + random_below(random, 3));
  if (random_percent(random, 55))
    k[TG_KNOB_block_rows] = (int32_t)plan.rows * (1 + random_below(random, 3));
  if (random_percent(random, 55) && !plan.dot)
    k[TG_KNOB_block_reduction] =
        1 + random_below(random, (int)plan.reduction_extent);
  if (random_percent(random, 30))
    k[TG_KNOB_order] ^= 1;
  if (!tg_plan_make(kernel, &changed, target, &plan))
    *config = changed;
}

/* A member of the algorithm's own space, often with sizes that it doesn't
 * list. False: it doesn't serve the kernel. */
static bool choose_winograd(struct random *random,
                            const struct tg_kernel *kernel,
                            const struct tg_target *target,
                            struct tg_arena *arena, struct tg_config *config) {
  struct tg_space space;
  if (!tg_winograd_enumerate(kernel, target, arena, &space) || !space.count)
    return false;
  *config = space.configs[random_below(random, (int)space.count)];
  struct tg_config changed = *config;
  int32_t *k = changed.knob;
  struct tg_plan plan;
  if (random_percent(random, 40))
    k[TG_KNOB_vectors] = 1 + random_below(random, 5);
  if (random_percent(random, 40))
    k[TG_KNOB_rows] = 1 + random_below(random, 12);
  if (random_percent(random, 40))
    k[TG_KNOB_unroll] = 1 + random_below(random, 20);
  if (!tg_plan_make(kernel, &changed, target, &plan))
    *config = changed;
  return true;
}

bool choose_config(struct random *random, const struct tg_kernel *kernel,
                   const struct tg_target *target, struct tg_config *config) {
  struct tg_arena *arena = tg_arena_create();
  struct tg_space space = {0, NULL};
  if (arena && random_percent(random, 70) &&
      choose_winograd(random, kernel, target, arena, config)) {
    tg_arena_destroy(arena);
    return true;
  }
  bool found = arena && tg_space_enumerate(kernel, target, arena, &space) &&
               space.count > TG_CONFIG_ANALYTIC;
  if (found) {
    *config = *pick(random, &space);
    if (random_percent(random, 65))
      mutate(random, kernel, target, config);
  }
  tg_arena_destroy(arena);
  return found;
}
