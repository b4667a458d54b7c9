/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Random nests against the stock lowering. TG_CASES: how many cases; TG_SEED:
 * where to start; one case alone: TG_CASES=1, TG_SEED=<its seed>, TG_TARGET and
 * TG_LEVEL as the report says. An argument: a folder of modules, each with a
 * function @f0 and a comment "// TARGET: ", instead.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/nests/nests.h"
#include "test/schedules/child.h"
#include "test/schedules/fixed.h"

enum { DEFAULT_CASES = 2000, BATCH = 10 };

static const char *const targets[] = {"avx2", "avx512", "generic"};
enum { TARGET_COUNT = sizeof(targets) / sizeof(targets[0]) };

static const char *const tally_text[TALLY_RESULTS] = {
    [TALLY_NESTS] = "nests",
    [TALLY_LEFT] = "structured operations that are none",
    [TALLY_REDUCTION_VECTOR] = "with vectors along a reduction",
    [TALLY_STOCK] = "with the stock lowering",
};

struct work {
  const char *target, *text; /* text: NULL for random cases */
  int level, count;
  const uint64_t *seeds;
  struct report *report;
};

static int run_work(void *data) {
  const struct work *work = data;
  return work->text ? run_nest_text(work->target, work->level, work->text,
                                    work->report)
                    : run_nests(work->target, work->level, work->seeds,
                                work->count, work->report);
}

/* The batch failed: which of its cases did? */
static int blame(struct work work) {
  int failures = 0, count = work.count;
  work.count = 1;
  for (int i = 0; i < count; ++i, ++work.seeds) {
    const char *end = in_child(run_work, &work, work.report);
    if (!end)
      continue;
    printf("FAILED: TG_CASES=1 TG_SEED=0x%llx TG_TARGET=%s TG_LEVEL=%d\n%s\n"
           "%s\n",
           (unsigned long long)work.seeds[0], work.target, work.level, end,
           work.report->text);
    failures++;
  }
  if (!failures)
    printf("FAILED: cases together, but none alone: %s\n%s", work.target,
           work.report->text);
  return failures ? failures : 1;
}

static bool run_fixed(const struct fixed_case *fixed, void *report) {
  struct work work = {.target = fixed->target,
                      .text = fixed->text,
                      .level = 1,
                      .report = report};
  if (!host_has(fixed->target))
    return true;
  const char *end = in_child(run_work, &work, report);
  if (end)
    printf("FAILED: %s: %s\n%s\n", fixed->name, end, fixed->text);
  return !end;
}

static uint64_t number_from(const char *name, uint64_t fallback) {
  const char *text = getenv(name);
  return text ? strtoull(text, NULL, 0) : fallback;
}

static int run_random(uint64_t seed, uint64_t total, struct report *report) {
  const char *only = getenv("TG_TARGET");
  struct random random = {seed};
  int failures = 0;
  for (uint64_t done = 0, batch = 0; done < total; ++batch) {
    uint64_t seeds[BATCH];
    struct work work = {
        .target = only ? only : targets[batch % TARGET_COUNT],
        .level = (int)number_from("TG_LEVEL", batch % 8 == 7 ? 3 : 1),
        .seeds = seeds,
        .report = report};
    for (; work.count < BATCH && done < total; ++work.count, ++done)
      seeds[work.count] = total == 1 ? seed : random_next(&random);
    if (host_has(work.target) && in_child(run_work, &work, report))
      failures += blame(work);
    if (failures >= 8)
      break;
  }
  return failures;
}

int main(int argc, char **argv) {
  uint64_t seed = number_from("TG_SEED", 1);
  uint64_t total = number_from("TG_CASES", DEFAULT_CASES);
  struct report *report = create_report();
  if (!report)
    return 1;
  if (!host_has("generic")) {
    printf("skipped: the targets are of another architecture\n");
    return 0;
  }
  batch_prepare();
  setvbuf(stdout, NULL, _IOLBF, 0);
  if (argc > 1)
    return for_fixed_cases(argv[1], run_fixed, report) != 0;
  int failures = 0;
  if (total > 1)
    failures =
        for_fixed_cases(TG_TEST_INPUTS "/../nests/fixed", run_fixed, report);
  failures += run_random(seed, total, report);
  printf("%d cases ran, %d failed; of their operations:\n", report->ran,
         failures);
  for (int i = 0; i < TALLY_RESULTS; ++i)
    if (tally_text[i])
      printf("  %5d %s\n", report->tally[i], tally_text[i]);
  return failures != 0;
}
