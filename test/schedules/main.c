/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Random schedules. TG_CASES: how many cases (default 600); TG_SEED: where to
 * start; one case alone: TG_CASES=1, TG_SEED=<its seed>, TG_TARGET and
 * TG_LEVEL as the report says.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test/schedules/batch.h"
#include "test/schedules/fixed.h"
#include "test/schedules/schedules.h"

enum { DEFAULT_CASES = 600, BATCH = 10, CPU_SECONDS = 60, WALL_SECONDS = 280 };

static const char *const targets[] = {"generic", "avx2", "avx512",
                                      "generic,vector_bits=64",
                                      "avx2,vector_registers=9"};
enum { TARGET_COUNT = sizeof(targets) / sizeof(targets[0]) };

static bool host_has(const char *target) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
            __builtin_cpu_supports("bmi2");
  bool v4 = v3 && __builtin_cpu_supports("avx512f") &&
            __builtin_cpu_supports("avx512bw") &&
            __builtin_cpu_supports("avx512cd") &&
            __builtin_cpu_supports("avx512dq") &&
            __builtin_cpu_supports("avx512vl");
  return !strncmp(target, "avx512", 6) ? v4
         : !strncmp(target, "avx2", 4) ? v3
                                       : true;
#else
  return false;
#endif
}

/* How the child ended, in words; NULL: well. */
static const char *ending(int status, const struct report *report) {
  static char text[700];
  if (WIFSIGNALED(status))
    snprintf(text, sizeof(text), "%s: %s", report->stage,
             strsignal(WTERMSIG(status)));
  else if (WEXITSTATUS(status) == 0)
    return NULL;
  else
    snprintf(text, sizeof(text), "%s",
             report->fault[0] ? report->fault : report->stage);
  return text;
}

static const char *in_child(const char *target, int level,
                            const uint64_t *seeds, int count, const char *text,
                            struct report *report) {
  report->fault[0] = 0;
  strcpy(report->stage, "start");
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    /* A busy machine must not look like a hang. */
    struct rlimit limit = {CPU_SECONDS, CPU_SECONDS};
    setrlimit(RLIMIT_CPU, &limit);
    alarm(WALL_SECONDS);
    _exit(text ? run_text(target, level, text, report)
               : run_batch(target, level, seeds, count, report));
  }
  int status = 1;
  if (child < 0 || waitpid(child, &status, 0) < 0)
    return "no process";
  return ending(status, report);
}

/* The batch failed: which of its cases did? */
static int blame(const char *target, int level, const uint64_t *seeds,
                 int count, struct report *report) {
  int failures = 0;
  for (int i = 0; i < count; ++i) {
    const char *end = in_child(target, level, &seeds[i], 1, NULL, report);
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
  const char *end = in_child(fixed->target, 1, NULL, 0, fixed->text, report);
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
  struct report *report = mmap(NULL, sizeof(*report), PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (report == MAP_FAILED)
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
    if (host_has(target) && in_child(target, level, seeds, count, NULL, report))
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
