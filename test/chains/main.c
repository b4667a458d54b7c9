/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Random chains against the stock lowering. TG_CASES: how many; TG_SEED: where
 * to start; one case alone: TG_CASES=1, TG_SEED=<its seed>, TG_TARGET and
 * TG_LEVEL as the report says; TG_TEXT: its text, instead of running it.
 */
#include <stdio.h>
#include <stdlib.h>

#include "test/chains/chains.h"
#include "test/schedules/child.h"

enum { DEFAULT_CASES = 120, MOST_FAILURES = 8 };

static const char *const targets[] = {"avx512", "avx2", "generic"};
enum { TARGET_COUNT = sizeof(targets) / sizeof(targets[0]) };

struct work {
  const char *target;
  int level;
  uint64_t seed;
  struct report *report;
};

static int run_work(void *data) {
  const struct work *work = data;
  return run_chain(work->target, work->level, work->seed, work->report);
}

static uint64_t number_from(const char *name, uint64_t fallback) {
  const char *text = getenv(name);
  return text ? strtoull(text, NULL, 0) : fallback;
}

static int show_text(uint64_t seed) {
  struct chain_case *test = calloc(1, sizeof(*test));
  generate_chain(seed, test);
  char *text = chain_text(test, test->type);
  fputs(text, stdout);
  free(text);
  free(test);
  return 0;
}

static int run_random(uint64_t seed, uint64_t total, struct report *report) {
  const char *only = getenv("TG_TARGET");
  struct random random = {seed};
  int failures = 0;
  for (uint64_t i = 0; i < total && failures < MOST_FAILURES; ++i) {
    struct work work = {only ? only : targets[i % TARGET_COUNT],
                        (int)number_from("TG_LEVEL", i % 8 == 7 ? 3 : 1),
                        total == 1 ? seed : random_next(&random), report};
    if (!host_has(work.target))
      continue;
    const char *end = in_child(run_work, &work, report);
    if (!end)
      continue;
    printf("FAILED: TG_CASES=1 TG_SEED=0x%llx TG_TARGET=%s TG_LEVEL=%d\n%s\n",
           (unsigned long long)work.seed, work.target, work.level, end);
    if (total == 1)
      printf("%s\n", report->text);
    failures++;
  }
  return failures;
}

int main(void) {
  static const char *const tallies[CHAIN_TALLY_COUNT] = {
      [CHAIN_TALLY_KERNELS] = "kernels",
      [CHAIN_TALLY_DRAWN] = "kernels with a random configuration",
      [CHAIN_TALLY_STORED] = "operations with tensors in another order",
      [CHAIN_TALLY_LEFT] = "structured operations without a choice",
  };
  uint64_t seed = number_from("TG_SEED", 1);
  uint64_t total = number_from("TG_CASES", DEFAULT_CASES);
  if (getenv("TG_TEXT"))
    return show_text(seed);
  struct report *report = create_report();
  if (!report)
    return 1;
  if (!host_has("generic")) {
    printf("skipped: the targets are of another architecture\n");
    return 0;
  }
  batch_prepare();
  setvbuf(stdout, NULL, _IOLBF, 0);
  int failures = run_random(seed, total, report);
  printf("%d cases ran, %d were too large, %d failed; with:\n", report->ran,
         report->skipped, failures);
  for (int t = 0; t < CHAIN_TYPES; ++t)
    printf("  %5d cases in %s\n", report->tally[CHAIN_TALLY_TYPES + t],
           chain_type_text[t]);
  for (int i = 0; i < CHAIN_TALLY_COUNT; ++i)
    if (tallies[i])
      printf("  %5d %s\n", report->tally[i], tallies[i]);
  return failures != 0;
}
