/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Races; see race.h. */
#include "tools/race.h"

#include <math.h>
#include <string.h>

enum { RETRY_LIMIT = 2 };

struct calibrated {
  int repetitions;
  int rounds;
  double seconds; /* of one run */
};

static double time_runs(const struct tg_race_entry *entry, int repetitions) {
  double start = tg_thread_seconds();
  for (int i = 0; i < repetitions; i++)
    entry->run(entry->user);
  return (tg_thread_seconds() - start) / repetitions;
}

/* The first run pays for cold caches and pages and is dropped. */
static struct calibrated calibrate(const struct tg_race_entry *entry,
                                   const struct tg_race_settings *s) {
  struct calibrated c = {1, s->rounds, time_runs(entry, 1)};
  if (c.seconds < s->sample_s)
    c.seconds = time_runs(entry, 1);
  if (c.seconds < s->sample_s) {
    double wanted = s->sample_s / fmax(c.seconds, 1e-8);
    c.repetitions = (int)fmin(ceil(wanted), 1e7);
    if (c.repetitions > 20) { /* a single short run is a poor guess */
      c.seconds = time_runs(entry, 20);
      c.repetitions = (int)fmin(ceil(s->sample_s / fmax(c.seconds, 1e-8)), 1e7);
    }
  }
  double affordable = s->entry_s / fmax(c.seconds * c.repetitions, 1e-9);
  if (affordable < c.rounds)
    c.rounds =
        affordable < 3 ? (s->rounds < 3 ? s->rounds : 3) : (int)affordable;
  return c;
}

/* A disturbed sample is taken again; a slow one never is. */
static double take_sample(const struct tg_race_entry *entry,
                          const struct calibrated *c,
                          const struct tg_race_settings *s,
                          struct tg_interference *state, int *disturbed) {
  double seconds = NAN;
  int retries = c->seconds * c->repetitions > 0.2 ? 0 : RETRY_LIMIT;
  for (int i = 0; i <= retries; i++) {
    tg_interference_begin(state, s->core);
    seconds = time_runs(entry, c->repetitions);
    if (!tg_interference_end(state))
      return seconds;
  }
  ++*disturbed;
  return seconds;
}

/* Spreads an entry's rounds evenly over all rounds. */
static bool takes_part(int round, int entry_rounds, int rounds) {
  return round * entry_rounds / rounds != (round + 1) * entry_rounds / rounds;
}

void tg_race_run(const struct tg_race_entry *entries, int count,
                 const struct tg_race_settings *s,
                 struct tg_race_result *result) {
  struct calibrated calibrated[TG_RACE_ENTRY_LIMIT];
  double peaks[TG_RACE_ROUND_LIMIT];
  uint64_t state = s->seed + 1;
  struct tg_interference interference = {0};
  memset(result, 0, sizeof *result);
  result->rounds = s->rounds;
  for (int i = 0; i < count; i++) {
    calibrated[i] = calibrate(&entries[i], s);
    result->entry_rounds[i] = calibrated[i].rounds;
  }
  for (int round = 0; round < s->rounds; round++) {
    int order[TG_RACE_ENTRY_LIMIT];
    tg_shuffle(order, count, &state);
    peaks[round] = tg_measure_peak_gflops(s->vector_bits);
    for (int i = 0; i < count; i++) {
      int e = order[i];
      result->seconds[e][round] =
          takes_part(round, calibrated[e].rounds, s->rounds)
              ? take_sample(&entries[e], &calibrated[e], s, &interference,
                            &result->disturbed)
              : NAN;
    }
  }
  result->peak_gflops = tg_median(peaks, s->rounds);
}

struct tg_interval tg_race_time(const struct tg_race_result *result,
                                int entry) {
  double values[TG_RACE_ROUND_LIMIT];
  int n = 0;
  for (int r = 0; r < result->rounds; r++)
    if (!isnan(result->seconds[entry][r]))
      values[n++] = result->seconds[entry][r];
  return tg_median_interval(values, n);
}

struct tg_interval tg_race_ratio(const struct tg_race_result *result, int of,
                                 int to, int *n) {
  double values[TG_RACE_ROUND_LIMIT];
  int count = 0;
  for (int r = 0; r < result->rounds; r++) {
    double ratio = result->seconds[of][r] / result->seconds[to][r];
    if (!isnan(ratio))
      values[count++] = ratio;
  }
  if (n)
    *n = count;
  return tg_median_interval(values, count);
}
