/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Other work on finished files: a second measurement of some kernels, for the
 * noise ceiling, and new columns after the features have changed.
 */
#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "model/npz.h"
#include "tools/measure.h"
#include "tools/measure_columns.h"
#include "tools/options.h"
#include "tools/progress.h"

/* A file as it is read back. */
struct stored {
  struct tg_arena *arena;
  struct tg_npz *npz;
  struct tg_tile_data data;
  struct tg_kernel_entry entry;
  struct tg_config *configs; /* (data.config_count) */
};

static int is_kernel_file(const struct dirent *entry) {
  size_t length = strlen(entry->d_name);
  return !strncmp(entry->d_name, "kernel-", 7) && length > 4 &&
         !strcmp(entry->d_name + length - 4, ".npz");
}

/* Sorted names of the kernel files; -1 when the folder can't be read. */
static int list_files(const char *folder, struct dirent ***names) {
  return scandir(folder, names, is_kernel_file, alphasort);
}

static void free_files(struct dirent **names, int count) {
  for (int i = 0; i < count; i++)
    free(names[i]);
  free(names);
}

static enum tg_status read_text_key(const struct stored *s, const char *key,
                                    const char **text, struct tg_error *error) {
  const char **texts;
  enum tg_status status =
      tg_npz_get_text(s->npz, key, 0, NULL, s->arena, &texts, error);
  if (status == TG_OK)
    *text = texts[0];
  return status;
}

/* Knobs by name: the table may have grown since; what is new is 0. */
static enum tg_status read_configs(struct stored *s, struct tg_error *error) {
  const struct tg_tile_data *d = &s->data;
  s->configs =
      tg_arena_alloc(s->arena, (size_t)d->config_count + 1, sizeof *s->configs);
  if (!s->configs)
    return tg_fail_memory(error, s->npz->path);
  if (!d->knobs)
    return tg_fail(error, "%s: has no knobs", s->npz->path);
  for (int64_t k = 0; k < d->knob_count; k++) {
    int own = 0;
    while (own < TG_KNOB_COUNT && strcmp(tg_knob_names[own], d->knob_names[k]))
      own++;
    if (own == TG_KNOB_COUNT)
      return tg_fail(error, "%s: knob_names: unknown knob '%s'", s->npz->path,
                     d->knob_names[k]);
    for (int64_t c = 0; c < d->config_count; c++) {
      int64_t value = d->knobs[c * d->knob_count + k];
      if (value < INT32_MIN || value > INT32_MAX)
        return tg_fail(error, "%s: knobs: row %lld: %s is out of range",
                       s->npz->path, (long long)c, tg_knob_names[own]);
      s->configs[c].knob[own] = (int32_t)value;
    }
  }
  return TG_OK;
}

static enum tg_status read_stored(const char *path, struct stored *s,
                                  struct tg_error *error) {
  memset(s, 0, sizeof *s);
  s->arena = tg_arena_create();
  if (!s->arena)
    return tg_fail_memory(error, path);
  const char *text = NULL;
  enum tg_status status = tg_npz_read(path, s->arena, &s->npz, error);
  if (status == TG_OK)
    status = tg_tile_data_read(s->npz, s->arena, &s->data, error);
  if (status == TG_OK)
    status = read_text_key(s, "mlir", &text, error);
  if (status == TG_OK)
    status = read_configs(s, error);
  if (status == TG_OK) {
    s->entry.text = (char *)text;
    snprintf(s->entry.name, sizeof s->entry.name, "%s",
             s->data.kernel ? s->data.kernel : path);
  }
  return status;
}

/* The kernel and the operation of the stored text. */
static enum tg_status open_program(struct stored *s, struct tg_program *program,
                                   MlirOperation *op, struct tg_error *error) {
  enum tg_status status =
      tg_program_create_from_text(program, s->npz->path, s->entry.text,
                                  strlen(s->entry.text), "main", error);
  if (status != TG_OK)
    return status;
  if (!tg_kernels_find_site(program->module, op, &s->entry.kernel)) {
    tg_program_destroy(program);
    return tg_fail(error, "%s: mlir: holds no kernel", s->npz->path);
  }
  s->entry.hash = tg_kernel_hash(&s->entry.kernel);
  return TG_OK;
}

/* Writes the file again with the arrays of `data`. */
static enum tg_status rewrite(const struct stored *s,
                              const struct tg_tile_data *data,
                              struct tg_error *error) {
  struct tg_npz_writer *writer = tg_npz_writer_create();
  if (!writer)
    return tg_fail_memory(error, s->npz->path);
  tg_tile_data_write(writer, data);
  return tg_store_rewrite(writer, s->npz, error);
}

static enum tg_status refresh_file(const char *path, struct tg_error *error) {
  struct stored s;
  struct tg_program program;
  MlirOperation op;
  enum tg_status status = read_stored(path, &s, error);
  if (status == TG_OK && !s.data.has_target)
    status = tg_fail(error, "%s: has no target", path);
  if (status == TG_OK)
    status = open_program(&s, &program, &op, error);
  if (status == TG_OK) {
    struct tg_tile_data fresh = s.data;
    struct tg_columns_input in = {op, &s.entry.kernel, &s.data.target,
                                  s.configs, s.data.config_count};
    status = tg_columns_fill(&in, s.arena, &fresh)
                 ? rewrite(&s, &fresh, error)
                 : tg_fail_memory(error, path);
    tg_program_destroy(&program);
  }
  tg_arena_destroy(s.arena);
  return status;
}

int tg_measure_refresh(const struct tg_measure_settings *settings) {
  struct dirent **names;
  struct tg_error error;
  int count = list_files(settings->folder, &names);
  if (count < 1)
    return tg_complain("%s: has no kernel files", settings->folder);
  int status = TG_EXIT_GOOD;
  for (int i = 0; i < count; i++) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", settings->folder, names[i]->d_name);
    tg_progress("%d/%d %s", i, count, names[i]->d_name);
    if (refresh_file(path, &error) != TG_OK)
      status = tg_complain("%s", error.message);
  }
  tg_progress_end();
  printf("%d files brought up to date\n", count);
  free_files(names, count);
  return status;
}

static void no_idle(void *user) { (void)user; }

enum tg_status tg_job_run(struct tg_measure_job *job, struct tg_error *error) {
  while (job->built < job->count) {
    tg_progress("%s: building %d/%d", job->entry->name, job->built, job->count);
    tg_job_build_next(job, no_idle, NULL);
  }
  tg_job_finish_build(job);
  if (job->reference_config < 0)
    return tg_fail(error, "%s: no configuration works any more",
                   job->entry->name);
  struct tg_timer timer = {0};
  enum tg_status status = tg_timer_start(&timer, job, error);
  tg_progress("%s: timing", job->entry->name);
  while (status == TG_OK && timer.job && !tg_timer_poll(&timer)) {
    struct timespec pause = {0, 5000000};
    nanosleep(&pause, NULL);
  }
  return status;
}

/* Builds and times the stored configurations once more. */
static enum tg_status measure_stored(struct stored *s,
                                     struct tg_measure_job *job,
                                     struct tg_error *error) {
  job->count = (int)s->data.config_count;
  job->candidates = calloc((size_t)job->count, sizeof *job->candidates);
  if (!job->candidates)
    return tg_fail_memory(error, s->npz->path);
  for (int i = 0; i < job->count; i++) {
    job->candidates[i].config = s->configs[i];
    job->candidates[i].name = i == s->data.analytic_config ? "analytic" : "";
  }
  enum tg_status status = tg_job_prepare(job, error);
  return status == TG_OK ? tg_job_run(job, error) : status;
}

static enum tg_status again_file(const char *path,
                                 const struct tg_measure_settings *settings,
                                 struct tg_error *error) {
  struct stored s;
  struct tg_measure_job job = {.settings = settings, .reference_config = -1};
  MlirOperation op;
  enum tg_status status = read_stored(path, &s, error);
  if (status == TG_OK && s.data.config_count > TG_CANDIDATE_LIMIT)
    status = tg_fail(error, "%s: has too many configurations", path);
  if (status == TG_OK)
    status = open_program(&s, &job.program, &op, error);
  if (status == TG_OK) {
    job.entry = &s.entry;
    status = measure_stored(&s, &job, error);
  }
  if (status == TG_OK) {
    size_t count = (size_t)s.data.config_count;
    s.data.rerun_ns = tg_arena_alloc(s.arena, count, sizeof(double));
    for (size_t i = 0; s.data.rerun_ns && i < count; i++) {
      const struct tg_candidate *c = &job.candidates[i];
      s.data.rerun_ns[i] = tg_candidate_is_good(c)
                               ? s.data.normalizer_ns[i] * exp(c->ratio)
                               : NAN;
    }
    status = s.data.rerun_ns ? rewrite(&s, &s.data, error)
                             : tg_fail_memory(error, path);
  }
  tg_job_destroy(&job);
  tg_arena_destroy(s.arena);
  return status;
}

int tg_again_count(double share, int count) {
  int wanted = (int)ceil(share * count);
  wanted = wanted < 3 ? 3 : wanted;
  return wanted > count ? count : wanted;
}

int tg_measure_again(const struct tg_measure_settings *settings, double share) {
  struct dirent **names;
  struct tg_error error;
  int count = list_files(settings->folder, &names);
  if (count < 1)
    return tg_complain("%s: has no kernel files", settings->folder);
  int wanted = tg_again_count(share, count);
  int *order = malloc(sizeof *order * (size_t)count);
  uint64_t random = settings->seed + 1;
  if (!order)
    return tg_complain("out of memory");
  tg_shuffle(order, count, &random);
  int status = TG_EXIT_GOOD;
  for (int i = 0; i < wanted; i++) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", settings->folder,
             names[order[i]]->d_name);
    if (again_file(path, settings, &error) != TG_OK) {
      tg_progress_end();
      status = tg_complain("%s", error.message);
    } else {
      tg_progress_end();
      printf("%s measured again\n", names[order[i]]->d_name);
      fflush(stdout);
    }
  }
  free(order);
  free_files(names, count);
  return status;
}
