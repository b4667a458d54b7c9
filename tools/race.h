/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A race: contestants take turns in a fresh random order every round, so that
 * whatever disturbs the machine disturbs all of them. Runs in the calling
 * process, which should be a pinned child.
 */
#ifndef TGRAPH_TOOLS_RACE_H
#define TGRAPH_TOOLS_RACE_H

#include <stdint.h>

#include "tools/timing.h"

enum { TG_RACE_ENTRY_LIMIT = 8, TG_RACE_ROUND_LIMIT = 101 };

struct tg_race_entry {
  void (*run)(void *user);
  void *user;
};

struct tg_race_settings {
  int rounds;      /* 1..TG_RACE_ROUND_LIMIT */
  double sample_s; /* a sample repeats the run to last this long */
  double entry_s;  /* a slow entry gets fewer rounds, at least 3, to stay
                      within this time */
  int core;        /* that the process is pinned to */
  int vector_bits; /* for the measured peak */
  uint64_t seed;   /* of the orders */
};

struct tg_race_result {
  int rounds;
  int entry_rounds[TG_RACE_ENTRY_LIMIT];
  double seconds[TG_RACE_ENTRY_LIMIT][TG_RACE_ROUND_LIMIT]; /* NaN: not run */
  double peak_gflops; /* median over the rounds */
  int disturbed;      /* samples kept although something interfered */
};

void tg_race_run(const struct tg_race_entry *entries, int count,
                 const struct tg_race_settings *settings,
                 struct tg_race_result *result);

/* Median and interval of one entry's seconds. */
struct tg_interval tg_race_time(const struct tg_race_result *result, int entry);
/* Of the ratios seconds[of] / seconds[to], over rounds that have both; *n may
 * be NULL. */
struct tg_interval tg_race_ratio(const struct tg_race_result *result, int of,
                                 int to, int *n);

#endif
