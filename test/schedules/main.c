/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Random schedules. TG_CASES: how many cases (default 1000); TG_SEED: where to
 * start; one case alone: TG_CASES=1, TG_SEED=<its seed>, TG_TARGET and
 * TG_LEVEL as the report says.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/schedules/batch.h"
#include "test/schedules/child.h"
#include "test/schedules/fixed.h"
#include "test/schedules/schedules.h"

enum { DEFAULT_CASES = 1000, BATCH = 10 };

static const char *const targets[] = {"generic", "avx2", "avx512",
                                      "generic,vector_bits=64",
                                      "avx2,vector_registers=9"};
enum { TARGET_COUNT = sizeof(targets) / sizeof(targets[0]) };

struct work {
  const char *target, *text; /* text: NULL for random cases */
  int level, count;
  const uint64_t *seeds;
  struct report *report;
};

static int run_work(void *data) {
  const struct work *work = data;
  return work->text
             ? run_text(work->target, work->level, work->text, work->report)
             : run_batch(work->target, work->level, work->seeds, work->count,
                         work->report);
}

static const char *run_cases(const char *target, int level,
                             const uint64_t *seeds, int count, const char *text,
                             struct report *report) {
  struct work work = {target, text, level, count, seeds, report};
  return in_child(run_work, &work, report);
}

/* The batch failed: which of its cases did? */
static int blame(const char *target, int level, const uint64_t *seeds,
                 int count, struct report *report) {
  int failures = 0;
  for (int i = 0; i < count; ++i) {
    const char *end = run_cases(target, level, &seeds[i], 1, NULL, report);
    if (!end)
      continue;
    printf("FAILED: TG_CASES=1 TG_SEED=0x%llx TG_TARGET=%s TG_LEVEL=%d\n%s\n"
           "%s\n",
           (unsigned long long)seeds[i], target, level, end, report->text);
    failures++;
  }
  if (!failures)
    printf("FAILED: cases together, but none alone: first seed 0x%llx, %s\n%s",
           (unsigned long long)seeds[0], target, report->text);
  return failures ? failures : 1;
}

static bool run_fixed(const struct fixed_case *fixed, void *report) {
  if (!host_has(fixed->target))
    return true;
  const char *end = run_cases(fixed->target, 1, NULL, 0, fixed->text, report);
  if (end)
    printf("FAILED: %s: %s\n%s\n", fixed->name, end, fixed->text);
  return !end;
}

static uint64_t number_from(const char *name, uint64_t fallback) {
  const char *text = getenv(name);
  return text ? strtoull(text, NULL, 0) : fallback;
}

int main(void) {
  uint64_t seed = number_from("TG_SEED", 1);
  uint64_t total = number_from("TG_CASES", DEFAULT_CASES);
  const char *only = getenv("TG_TARGET");
  struct report *report = create_report();
  if (!report)
    return 1;
  if (!host_has("generic")) {
    printf("skipped: the targets are of another architecture\n");
    return 0;
  }
  batch_prepare();
  int failures = 0;
  if (total > 1)
    failures = for_fixed_cases(TG_TEST_INPUTS "/../schedules/fixed", run_fixed,
                               report);
  struct random random = {seed};
  setvbuf(stdout, NULL, _IOLBF, 0);
  for (uint64_t done = 0, batch = 0; done < total; ++batch) {
    uint64_t seeds[BATCH];
    int count = 0;
    for (; count < BATCH && done < total; ++count, ++done)
      seeds[count] = total == 1 ? seed : random_next(&random);
    const char *target = only ? only : targets[batch % TARGET_COUNT];
    int level = (int)number_from("TG_LEVEL", batch % 8 == 7 ? 3 : 1);
    if (host_has(target) &&
        run_cases(target, level, seeds, count, NULL, report))
      failures += blame(target, level, seeds, count, report);
    if (failures >= 8)
      break;
    if (total > 1000 && batch % 50 == 49)
      fprintf(stderr, "%llu of %llu cases\n", (unsigned long long)done,
              (unsigned long long)total);
  }
  printf("%d cases ran, %d are no sites, %d failed; with:\n", report->ran,
         report->skipped, failures);
  for (int i = 0; i < MAX_KINDS; ++i)
    printf("  %5d %s\n", report->tally[i], batch_kinds[i]);
  return failures != 0;
}
