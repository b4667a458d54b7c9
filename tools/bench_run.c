/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Builds, checks and races the contestants of a program; see bench.h. */
#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/bench.h"
#include "tools/choices.h"
#include "tools/exact.h"
#include "tools/progress.h"

const char *const tg_bench_names[TG_BENCH_COUNT] = {
#define SIDE(id, name, doc) name,
#include "tools/sides.def"
    "openblas"};

struct race_job {
  const struct tg_program *program;
  const struct tg_bench_settings *settings;
  struct tg_bench_report *report;
};

struct code_user {
  struct tg_code code;
  struct tg_call *call;
};

static void run_code(void *user) {
  struct code_user *u = user;
  tg_call_run(u->call, &u->code);
}

static enum tg_status add_blas(const struct race_job *job, struct tg_call *call,
                               struct tg_blas_user *blas) {
  const int64_t *gemm = job->settings->gemm;
  openblas_set_num_threads(1);
  blas->m = (int)gemm[0];
  blas->n = (int)gemm[1];
  blas->k = (int)gemm[2];
  blas->call = call;
  blas->result =
      aligned_alloc(64, ((size_t)(gemm[0] * gemm[1]) * 4 + 63) / 64 * 64);
  return blas->result ? TG_OK : TG_OUT_OF_MEMORY;
}

static enum tg_status race_work(void *user, FILE *out, struct tg_error *error) {
  const struct race_job *job = user;
  const struct tg_bench_settings *s = job->settings;
  static struct code_user codes[TG_SIDE_COUNT];
  static struct tg_race_result result;
  struct tg_race_entry entries[TG_BENCH_COUNT];
  struct tg_blas_user blas;
  struct tg_call call;
  int count = 0;
  tg_keep_pages();
  enum tg_status status = tg_call_create(&call, job->program, error);
  for (int i = 0; i < TG_BENCH_COUNT && status == TG_OK; i++) {
    if (job->report->place[i] < 0)
      continue;
    if (i == TG_BENCH_BLAS) {
      status = add_blas(job, &call, &blas);
      entries[count++] = (struct tg_race_entry){tg_blas_run, &blas};
      continue;
    }
    status = tg_code_create(&codes[i].code, &job->report->builds[i].object,
                            false, error);
    codes[i].call = &call;
    entries[count++] = (struct tg_race_entry){run_code, &codes[i]};
  }
  if (status != TG_OK)
    return status;
  tg_call_fill(&call, (uint64_t)s->seed);
  for (int i = 0; i < TG_SIDE_COUNT; i++)
    tg_call_prepack(&call, &codes[i].code);
  struct tg_race_settings race = {
      .rounds = (int)s->rounds,
      .sample_s = 0.012,
      .entry_s = s->entry_s,
      .core = (int)s->core,
      .vector_bits = s->vector_bits,
      .seed = (uint64_t)s->seed,
  };
  tg_race_run(entries, count, &race, &result);
  fwrite(&result, sizeof result, 1, out);
  return TG_OK;
}

static enum tg_status blas_capture_work(void *user, FILE *out,
                                        struct tg_error *error) {
  const struct race_job *job = user;
  struct tg_call call;
  struct tg_blas_user blas;
  enum tg_status status = tg_call_create(&call, job->program, error);
  if (status == TG_OK)
    status = add_blas(job, &call, &blas);
  if (status != TG_OK)
    return status;
  tg_call_fill(&call, (uint64_t)job->settings->seed);
  tg_blas_run(&blas);
  /* the form of tg_capture_run: memory, then dtype and count */
  int64_t count = (int64_t)blas.m * blas.n;
  int64_t head[4] = {0, 0, TG_DTYPE_F32, count};
  static const char zeros[8];
  fwrite(head, sizeof head, 1, out);
  fwrite(blas.result, 4, (size_t)count, out);
  fwrite(zeros, 4, (size_t)(count & 1), out);
  return TG_OK;
}

static bool takes_part(const struct tg_bench_settings *s, int i) {
  if (i == TG_BENCH_BLAS)
    return s->gemm[0] > 0;
  return !(i == TG_SIDE_STOCK && s->skip_stock) &&
         !(i == TG_SIDE_ANALYTIC && s->skip_analytic);
}

static void build_all(const struct race_job *job) {
  struct tg_bench_report *r = job->report;
  for (int i = 0; i < TG_SIDE_COUNT; i++) {
    if (!takes_part(job->settings, i))
      continue;
    tg_progress("%s: building %s", r->name, tg_bench_names[i]);
    tg_build_side((struct tg_program *)job->program, (enum tg_side)i,
                  &job->settings->build, &r->builds[i]);
    if (r->builds[i].outcome != TG_OUTCOME_OK) {
      tg_fail(&r->problems[i], "building: %.400s", r->builds[i].error.message);
      continue;
    }
    r->place[i] = 0;
    for (int j = 0; j < i; j++)
      if (r->place[j] >= 0 &&
          r->builds[j].object.hash == r->builds[i].object.hash)
        r->same_as[i] = r->same_as[j];
  }
  if (takes_part(job->settings, TG_BENCH_BLAS))
    r->place[TG_BENCH_BLAS] = 0;
}

static struct tg_blob capture(const struct race_job *job, int i) {
  struct tg_bench_report *r = job->report;
  struct tg_blob blob = {0};
  struct tg_error error;
  tg_progress("%s: checking %s", r->name, tg_bench_names[i]);
  enum tg_outcome outcome =
      i == TG_BENCH_BLAS
          ? tg_child_run(&job->settings->build.limits, blas_capture_work,
                         (void *)job, &blob, &error)
          : tg_capture_run(job->program, &r->builds[i].object,
                           (uint64_t)job->settings->seed,
                           &job->settings->build.limits, &blob,
                           &r->scratch_nbytes[i], &error);
  if (outcome != TG_OUTCOME_OK) {
    tg_fail(&r->problems[i], "running: %.400s", error.message);
    r->place[i] = -1;
  }
  return blob;
}

/* Runs every contestant once and compares with the reference: stock, or
 * OpenBLAS where stock is left out. */
static void check_all(const struct race_job *job) {
  struct tg_bench_report *r = job->report;
  r->reference = r->place[TG_SIDE_STOCK] >= 0   ? TG_SIDE_STOCK
                 : r->place[TG_BENCH_BLAS] >= 0 ? TG_BENCH_BLAS
                                                : -1;
  struct tg_blob reference = {0};
  struct tg_exact exact = {0};
  struct tg_error *problem = &r->problems[TG_SIDE_STOCK];
  if (r->reference >= 0)
    reference = capture(job, r->reference);
  if (r->reference == TG_SIDE_STOCK && reference.data &&
      tg_exact_create(&exact, job->program, &job->settings->build,
                      (uint64_t)job->settings->seed, problem) != TG_OUTCOME_OK)
    tg_blob_destroy(&reference);
  for (int i = 0; i < TG_BENCH_COUNT; i++) {
    if (r->place[i] < 0 || i == r->reference)
      continue;
    if (i < TG_SIDE_COUNT && r->same_as[i] != i) {
      r->differences[i] = r->differences[r->same_as[i]];
      r->scratch_nbytes[i] = r->scratch_nbytes[r->same_as[i]];
      r->place[i] = r->place[r->same_as[i]];
      continue;
    }
    struct tg_blob blob = capture(job, i);
    if (blob.data && reference.data) {
      tg_exact_compare(&exact, &reference, &blob, &r->differences[i]);
      if (!r->differences[i].equal)
        tg_fail(&r->problems[i], "%s", r->differences[i].note);
    }
    tg_blob_destroy(&blob);
  }
  tg_exact_destroy(&exact);
  tg_blob_destroy(&reference);
}

/* Numbers the contestants; those with the same code share a place. */
static int assign_places(struct tg_bench_report *r) {
  int count = 0;
  for (int i = 0; i < TG_BENCH_COUNT; i++)
    if (r->place[i] >= 0 && r->same_as[i] == i)
      r->place[i] = count++;
    else if (r->same_as[i] != i)
      r->place[i] = -1;
  return count;
}

static bool race_all(const struct race_job *job) {
  struct tg_bench_report *r = job->report;
  if (assign_places(r) == 0)
    return false;
  struct tg_limits limits = job->settings->build.limits;
  limits.core = (int)job->settings->core;
  struct tg_blob blob;
  struct tg_error error = {"its result is cut short"};
  tg_progress("%s: racing", r->name);
  enum tg_outcome outcome =
      tg_child_run(&limits, race_work, (void *)job, &blob, &error);
  if (outcome == TG_OUTCOME_OK && blob.nbytes == sizeof r->race)
    memcpy(&r->race, blob.data, sizeof r->race);
  else
    tg_fail(&r->problems[TG_SIDE_OURS], "racing: %.400s", error.message);
  tg_blob_destroy(&blob);
  for (int i = 0; i < TG_SIDE_COUNT; i++)
    if (r->same_as[i] != i)
      r->place[i] = r->place[r->same_as[i]];
  return outcome == TG_OUTCOME_OK;
}

bool tg_bench_program(struct tg_program *program,
                      const struct tg_bench_settings *settings,
                      struct tg_bench_report *report) {
  struct race_job job = {program, settings, report};
  memset(report, 0, sizeof *report);
  report->name = program->path;
  for (int i = 0; i < TG_BENCH_COUNT; i++) {
    report->same_as[i] = i;
    report->place[i] = -1;
    report->differences[i].equal = true;
  }
  report->flops = tg_module_flops(program->module, &report->kernel_count);
  build_all(&job);
  check_all(&job);
  bool good = race_all(&job);
  tg_progress_end();
  for (int i = 0; i < TG_BENCH_COUNT; i++)
    good = good && !report->problems[i].message[0];
  return good;
}

void tg_bench_destroy(struct tg_bench_report *report) {
  for (int i = 0; i < TG_SIDE_COUNT; i++)
    tg_build_destroy(&report->builds[i]);
}
