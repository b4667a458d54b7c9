/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Times the candidates of one kernel in a child that is pinned to its core.
 * Rounds are random blocks: every active candidate once in fresh order, the
 * default configuration at the start, in the middle and at the end. Results
 * live in shared memory, so that a crash costs the culprit alone.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tools/measure.h"

enum {
  FIRST_ROUNDS = 5,
  SLOW_ROUNDS = 3,     /* for what is far behind and takes long */
  SAMPLE_LIMIT_S = 10, /* a sample that takes longer hangs */
  RETRY_LIMIT = 2,     /* of a disturbed sample */
  REJECTED_ROUND_LIMIT = 8
};
static const double sample_s = 0.012;      /* 10 to 20 ms */
static const double wanted_ci = 0.01;      /* in log units */
static const double clearly_worse = 1.3;   /* times the default */
static const double far_behind = 3;        /* times the default */
static const double candidate_s = 0.6;     /* see is_late */
static const double default_spread = 0.03; /* within a round */

struct shared_candidate {
  int dropped; /* crashed or hung in the timing child */
  int count;
  float samples[TG_ROUND_LIMIT];
};

struct tg_timing_shared {
  int current; /* candidate that is running, -1 = none */
  int finished;
  double default_ns, peak_gflops;
  int rounds, rejected_rounds, disturbed;
  struct shared_candidate candidates[];
};

/* The state inside the child. */
struct bench {
  struct tg_measure_job *job;
  struct tg_timing_shared *shared;
  struct tg_code *codes; /* (count) */
  int *repetitions;      /* (count) */
  double *run_s;         /* (count) seconds of a run, as calibrated */
  bool *active;          /* (count) */
  double defaults[4 * TG_ROUND_LIMIT]; /* seconds, of accepted rounds */
  int default_count;
  double deadline; /* tg_clock_seconds */
  struct tg_interference interference;
};

static double run_many(struct bench *b, int candidate, int repetitions) {
  b->shared->current = candidate;
  tg_child_limit_cpu(SAMPLE_LIMIT_S);
  double start = tg_thread_seconds();
  for (int i = 0; i < repetitions; i++)
    tg_call_run(&b->job->call, &b->codes[candidate]);
  double seconds = (tg_thread_seconds() - start) / repetitions;
  tg_child_limit_cpu(0);
  b->shared->current = -1;
  return seconds;
}

static void calibrate(struct bench *b, int candidate) {
  double seconds = run_many(b, candidate, 1);
  if (seconds < 0.1) /* the first run pays for cold caches */
    seconds = run_many(b, candidate, 1);
  if (seconds < sample_s / 8)
    seconds = run_many(b, candidate, 4);
  double wanted = ceil(sample_s / fmax(seconds, 1e-8));
  b->repetitions[candidate] = (int)fmin(fmax(wanted, 1), 1e6);
  b->run_s[candidate] = seconds;
}

/* Disturbed samples are taken again, slow ones never. */
static double take_sample(struct bench *b, int candidate) {
  double seconds = 0;
  int retries = b->run_s[candidate] > 0.1 ? 0 : RETRY_LIMIT;
  for (int i = 0; i <= retries; i++) {
    tg_interference_begin(&b->interference, (int)b->job->settings->core);
    seconds = run_many(b, candidate, b->repetitions[candidate]);
    if (!tg_interference_end(&b->interference))
      return seconds;
  }
  b->shared->disturbed++;
  return seconds;
}

static int list_active(const struct bench *b, int *list) {
  int count = 0;
  for (int i = 0; i < b->job->count; i++)
    if (b->active[i] && i != b->job->reference_config)
      list[count++] = i;
  return count;
}

/* One round; false when its defaults differ too much and nothing was kept. */
static bool run_round(struct bench *b, uint64_t *random, bool must_keep) {
  int list[TG_CANDIDATE_LIMIT], order[TG_CANDIDATE_LIMIT];
  static double seconds[TG_CANDIDATE_LIMIT];
  int count = list_active(b, list);
  int reference = b->job->reference_config;
  double defaults[3];
  tg_shuffle(order, count, random);
  defaults[0] = take_sample(b, reference);
  for (int i = 0; i < count; i++) {
    if (i == count / 2)
      defaults[1] = take_sample(b, reference);
    seconds[order[i]] = take_sample(b, list[order[i]]);
  }
  if (count == 0)
    defaults[1] = take_sample(b, reference);
  defaults[2] = take_sample(b, reference);
  double low = fmin(defaults[0], fmin(defaults[1], defaults[2]));
  double high = fmax(defaults[0], fmax(defaults[1], defaults[2]));
  if (high > low * (1 + default_spread) && !must_keep) {
    b->shared->rejected_rounds++;
    return false;
  }
  for (int i = 0; i < 3; i++)
    if (b->default_count < (int)(sizeof b->defaults / sizeof(double)))
      b->defaults[b->default_count++] = defaults[i];
  double own = tg_median(defaults, 3);
  for (int i = 0; i < count; i++) {
    struct shared_candidate *c = &b->shared->candidates[list[i]];
    if (c->count < TG_ROUND_LIMIT)
      c->samples[c->count++] = (float)log(seconds[i] / own);
  }
  b->shared->rounds++;
  return true;
}

static struct tg_interval interval_of(const float *samples, int count) {
  double values[TG_ROUND_LIMIT];
  for (int i = 0; i < count; i++)
    values[i] = samples[i];
  return tg_median_interval(values, count);
}

/* On a noisy machine the wanted interval may be out of reach: a kernel gets
 * candidate_s for each of its candidates, then the first rounds must do. The
 * interval that was reached is stored with the label. */
static bool is_late(const struct bench *b) {
  return tg_clock_seconds() > b->deadline;
}

static bool is_settled(const struct bench *b, int candidate) {
  const struct shared_candidate *c = &b->shared->candidates[candidate];
  if (c->count >= TG_ROUND_LIMIT)
    return true;
  struct tg_interval i = interval_of(c->samples, c->count);
  bool slow = b->run_s[candidate] > 0.1 && i.low > log(far_behind);
  if (c->count >= SLOW_ROUNDS && slow)
    return true;
  if (c->count < FIRST_ROUNDS)
    return false;
  if (i.low > log(clearly_worse) || is_late(b))
    return true;
  return i.coverage >= 0.95 && i.high - i.low <= 2 * wanted_ci;
}

static enum tg_status load_all(struct bench *b, struct tg_error *error) {
  size_t count = (size_t)b->job->count;
  b->codes = calloc(count, sizeof *b->codes);
  b->repetitions = calloc(count, sizeof *b->repetitions);
  b->run_s = calloc(count, sizeof *b->run_s);
  b->active = calloc(count, sizeof *b->active);
  if (!b->codes || !b->repetitions || !b->run_s || !b->active)
    return TG_OUT_OF_MEMORY;
  for (int i = 0; i < b->job->count; i++) {
    struct tg_candidate *c = &b->job->candidates[i];
    b->active[i] =
        c->object.data && c->same_as == i && !b->shared->candidates[i].dropped;
    if (!b->active[i])
      continue;
    enum tg_status status =
        tg_code_create(&b->codes[i], &c->object, false, error);
    if (status != TG_OK)
      return status;
  }
  return TG_OK;
}

static enum tg_status time_all(void *user, FILE *out, struct tg_error *error) {
  struct tg_timer *timer = user;
  struct bench b = {.job = timer->job, .shared = timer->shared};
  (void)out;
  enum tg_status status = load_all(&b, error);
  if (status != TG_OK)
    return status;
  tg_hold_core((int)timer->job->settings->core);
  b.shared->peak_gflops =
      tg_measure_peak_gflops((int)timer->job->settings->target.vector_bits);
  for (int i = 0; i < b.job->count; i++)
    if (b.active[i])
      calibrate(&b, i);
  uint64_t random = b.job->settings->seed ^ b.job->entry->hash;
  int unsettled[TG_CANDIDATE_LIMIT];
  b.deadline = tg_clock_seconds() + candidate_s * list_active(&b, unsettled);
  for (;;) {
    bool keep =
        is_late(&b) || b.shared->rejected_rounds >= REJECTED_ROUND_LIMIT;
    if (run_round(&b, &random, keep))
      for (int i = 0; i < b.job->count; i++)
        if (b.active[i] && i != b.job->reference_config)
          b.active[i] = !is_settled(&b, i);
    if (list_active(&b, unsettled) == 0 && b.shared->rounds >= FIRST_ROUNDS)
      break;
  }
  b.shared->default_ns = tg_median(b.defaults, b.default_count) * 1e9;
  b.shared->finished = 1;
  return TG_OK;
}

static enum tg_status start_child(struct tg_timer *timer,
                                  struct tg_error *error) {
  struct tg_timing_shared *shared = timer->shared;
  struct tg_limits limits = {.core = (int)timer->job->settings->core};
  shared->current = -1;
  shared->finished = shared->rounds = shared->rejected_rounds = 0;
  shared->disturbed = 0;
  for (int i = 0; i < timer->job->count; i++)
    shared->candidates[i].count = 0;
  return tg_child_start(&timer->child, &limits, time_all, timer, error);
}

enum tg_status tg_timer_start(struct tg_timer *timer,
                              struct tg_measure_job *job,
                              struct tg_error *error) {
  timer->shared_nbytes = sizeof *timer->shared +
                         (size_t)job->count * sizeof(struct shared_candidate);
  void *shared = mmap(NULL, timer->shared_nbytes, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED)
    return tg_fail(error, "no shared memory for the timing process");
  timer->shared = shared;
  timer->job = job;
  enum tg_status status = start_child(timer, error);
  if (status != TG_OK)
    tg_timer_stop(timer);
  return status;
}

static void release(struct tg_timer *timer) {
  munmap(timer->shared, timer->shared_nbytes);
  memset(timer, 0, sizeof *timer);
}

void tg_timer_stop(struct tg_timer *timer) {
  if (!timer->job)
    return;
  tg_child_stop(&timer->child);
  release(timer);
}

/* The default has ratio 0 by definition. */
static void collect(struct tg_timer *timer) {
  struct tg_measure_job *job = timer->job;
  const struct tg_timing_shared *shared = timer->shared;
  job->default_ns = shared->default_ns;
  job->peak_gflops = shared->peak_gflops;
  job->rounds = shared->rounds;
  job->rejected_rounds = shared->rejected_rounds;
  job->disturbed = shared->disturbed;
  for (int i = 0; i < job->count; i++) {
    struct tg_candidate *c = &job->candidates[i];
    const struct shared_candidate *from = &shared->candidates[c->same_as];
    if (!c->object.data || c->status[0])
      continue;
    if (from->dropped) {
      memcpy(c->status, job->candidates[c->same_as].status, sizeof c->status);
      continue;
    }
    c->sample_count = from->count;
    memcpy(c->samples, from->samples, sizeof c->samples);
    if (c->same_as == job->reference_config)
      continue;
    struct tg_interval interval = interval_of(from->samples, from->count);
    c->ratio = interval.median;
    c->ci =
        fmax(interval.high - interval.median, interval.median - interval.low);
  }
}

/* After a crash: names the culprit. False when there is none to drop. */
static bool drop_culprit(struct tg_timer *timer, const char *reason) {
  struct tg_measure_job *job = timer->job;
  int culprit = timer->shared->current;
  if (culprit < 0 || culprit >= job->count)
    return false;
  timer->shared->candidates[culprit].dropped = 1;
  snprintf(job->candidates[culprit].status, TG_STATUS_NBYTES, "time: %.200s",
           reason);
  if (culprit != job->reference_config)
    return true;
  job->reference_config = -1;
  for (int i = 0; i < job->count && job->reference_config < 0; i++)
    if (job->candidates[i].object.data && !job->candidates[i].status[0] &&
        job->candidates[i].same_as == i &&
        strcmp(job->candidates[i].name, "stock"))
      job->reference_config = i;
  return job->reference_config >= 0;
}

bool tg_timer_poll(struct tg_timer *timer) {
  enum tg_outcome outcome;
  struct tg_blob blob;
  struct tg_error error;
  if (!timer->job || !tg_child_poll(&timer->child, &outcome, &blob, &error))
    return false;
  tg_blob_destroy(&blob);
  if (outcome == TG_OUTCOME_OK && timer->shared->finished) {
    collect(timer);
    release(timer);
    return true;
  }
  char reason[200];
  snprintf(reason, sizeof reason, "%.190s", error.message);
  if (drop_culprit(timer, reason) && start_child(timer, &error) == TG_OK)
    return false;
  for (int i = 0; i < timer->job->count; i++)
    if (!timer->job->candidates[i].status[0])
      snprintf(timer->job->candidates[i].status, TG_STATUS_NBYTES,
               "time: %.200s", reason);
  release(timer);
  return true;
}
