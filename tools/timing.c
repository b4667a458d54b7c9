/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Clocks, cores, statistics; see timing.h. */
#define _GNU_SOURCE
#include "tools/timing.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static double read_clock(clockid_t id) {
  struct timespec t;
  clock_gettime(id, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
double tg_clock_seconds(void) { return read_clock(CLOCK_MONOTONIC); }
double tg_thread_seconds(void) { return read_clock(CLOCK_THREAD_CPUTIME_ID); }

int tg_core_count(void) {
  long count = sysconf(_SC_NPROCESSORS_ONLN);
  return count < 1 ? 1 : (int)count;
}

static int open_core_lock(int core) {
  char path[64];
  snprintf(path, sizeof path, P_tmpdir "/tgraph-core-%d.lock", core);
  return open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
}

void tg_hold_core(int core) {
  int file = open_core_lock(core);
  while (file >= 0 && flock(file, LOCK_EX) && errno == EINTR)
    continue;
}

int tg_borrow_core(int core) {
  int file = open_core_lock(core);
  if (file >= 0 && flock(file, LOCK_EX | LOCK_NB)) {
    close(file);
    return -1;
  }
  return file;
}

void tg_return_core(int borrowed) {
  if (borrowed < 0)
    return;
  flock(borrowed, LOCK_UN); /* a child may still have the file open */
  close(borrowed);
}

bool tg_pin_to_core(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  return sched_setaffinity(0, sizeof set, &set) == 0;
}

void tg_disable_randomisation(char **argv) {
  int now = personality(0xffffffff);
  if (now == -1 || (now & ADDR_NO_RANDOMIZE))
    return;
  if (personality((unsigned long)now | ADDR_NO_RANDOMIZE) == -1)
    return;
  now = personality(0xffffffff);
  if (now == -1 || !(now & ADDR_NO_RANDOMIZE))
    return; /* refused in silence: do not start over for ever */
  execv("/proc/self/exe", argv);
}

static long long read_steal(int core) {
  FILE *file = fopen("/proc/stat", "r");
  if (!file)
    return 0;
  char line[512], name[16];
  long long steal = 0;
  int length = snprintf(name, sizeof name, "cpu%d ", core);
  while (fgets(line, sizeof line, file))
    if (!strncmp(line, name, (size_t)length)) {
      sscanf(line, "%*s %*d %*d %*d %*d %*d %*d %*d %lld", &steal);
      break;
    }
  fclose(file);
  return steal;
}

static long read_switches(void) {
  struct rusage usage;
  return getrusage(RUSAGE_THREAD, &usage) ? 0 : usage.ru_nivcsw;
}

void tg_interference_begin(struct tg_interference *state, int core) {
  state->core = core;
  state->steal_ticks = read_steal(core);
  state->switches = read_switches();
}

bool tg_interference_end(struct tg_interference *state) {
  long switches = read_switches() - state->switches;
  bool stolen = read_steal(state->core) != state->steal_ticks;
  double sorted[TG_BACKGROUND_COUNT];
  int count = state->recent_count < TG_BACKGROUND_COUNT ? state->recent_count
                                                        : TG_BACKGROUND_COUNT;
  for (int i = 0; i < count; i++)
    sorted[i] = (double)state->recent[i];
  double usual = count ? tg_median(sorted, count) : 0;
  state->recent[state->recent_count++ % TG_BACKGROUND_COUNT] = switches;
  return stolen || (double)switches > 2 * usual + 1;
}

static int compare_doubles(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

double tg_median(double *values, int count) {
  if (count < 1)
    return NAN;
  qsort(values, (size_t)count, sizeof *values, compare_doubles);
  return count % 2 ? values[count / 2]
                   : (values[count / 2 - 1] + values[count / 2]) / 2;
}

struct tg_interval tg_median_interval(double *values, int count) {
  struct tg_interval interval = {NAN, NAN, NAN, 0};
  if (count < 1)
    return interval;
  interval.median = tg_median(values, count);
  /* The interval from the k-th smallest to the k-th largest misses the median
   * with twice the chance of fewer than k heads in n tosses. */
  int k = 1;
  double tail = pow(0.5, count), term = tail;
  for (int next = 1; next < count / 2; next++) {
    term *= (double)(count - next + 1) / next;
    if (2 * (tail + term) > 0.05)
      break;
    tail += term;
    k = next + 1;
  }
  interval.low = values[k - 1];
  interval.high = values[count - k];
  interval.coverage = count > 1 ? 1 - 2 * tail : 0;
  return interval;
}

static uint64_t next_random(uint64_t *state) {
  /* xorshift64*; state 0 is moved off its fixed point */
  uint64_t x = *state ? *state : 88172645463325252u;
  x ^= x >> 12;
  x ^= x << 25;
  x ^= x >> 27;
  *state = x;
  return x * UINT64_C(0x2545f4914f6cdd1d);
}

void tg_shuffle(int *order, int count, uint64_t *state) {
  for (int i = 0; i < count; i++)
    order[i] = i;
  for (int i = count - 1; i > 0; i--) {
    int j = (int)((next_random(state) >> 33) % (uint64_t)(i + 1));
    int kept = order[i];
    order[i] = order[j];
    order[j] = kept;
  }
}
