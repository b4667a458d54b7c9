/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Graphs once more, for the noise ceiling of layouts. A graph's candidates
 * follow from the program, the seed and the tool, so they are made anew; one
 * counts as the stored one where its code is the same.
 */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "tools/measure.h"
#include "tools/options.h"
#include "tools/progress.h"

struct stored_graph {
  struct tg_arena *arena;
  struct tg_npz *npz;
  struct tg_layout_data data;
  uint64_t *object_hash; /* (data.config_count) */
  uint64_t *seed;
};

static enum tg_status read_stored(const char *path, struct stored_graph *s,
                                  struct tg_error *error) {
  *s = (struct stored_graph){.arena = tg_arena_create()};
  if (!s->arena)
    return tg_fail_memory(error, path);
  enum tg_status status = tg_npz_read(path, s->arena, &s->npz, error);
  if (status == TG_OK)
    status = tg_layout_data_read(s->npz, s->arena, &s->data, error);
  int64_t count = s->data.config_count;
  if (status == TG_OK && !s->data.normalizer_ns)
    status = tg_fail(error, "%s: has no normalisers", path);
  if (status == TG_OK)
    status = tg_npz_get_u64(s->npz, "object_hash", 1, &count, s->arena,
                            &s->object_hash, error);
  if (status == TG_OK)
    status = tg_npz_get_u64(s->npz, "seed", 0, NULL, s->arena, &s->seed, error);
  return status;
}

/* The good candidate with this code, or -1. */
static int find_object(const struct tg_measure_job *job, uint64_t hash) {
  for (int i = 0; i < job->count; i++)
    if (tg_candidate_is_good(&job->candidates[i]) &&
        job->candidates[i].object.hash == hash)
      return i;
  return -1;
}

/* How many of the stored configurations were found again. */
static enum tg_status store_rerun(struct stored_graph *s,
                                  const struct tg_measure_job *job, int *found,
                                  struct tg_error *error) {
  size_t count = (size_t)s->data.config_count;
  struct tg_npz_writer *writer = tg_npz_writer_create();
  s->data.rerun_ns = tg_arena_alloc(s->arena, count + 1, sizeof(double));
  if (!s->data.rerun_ns || !writer) {
    tg_npz_writer_destroy(writer);
    return tg_fail_memory(error, s->npz->path);
  }
  *found = 0;
  for (size_t c = 0; c < count; c++) {
    int i = find_object(job, s->object_hash[c]);
    s->data.rerun_ns[c] =
        i < 0 ? NAN : s->data.normalizer_ns[c] * exp(job->candidates[i].ratio);
    *found += i >= 0;
  }
  tg_layout_data_write(writer, &s->data);
  return tg_store_rewrite(writer, s->npz, error);
}

static enum tg_status again(const struct tg_measure_settings *settings,
                            const struct tg_kernel_entry *entry,
                            const char *path, struct tg_error *error) {
  struct stored_graph s;
  struct tg_measure_settings same = *settings;
  struct tg_measure_job job = {0};
  int found = 0;
  enum tg_status status = read_stored(path, &s, error);
  if (status == TG_OK) {
    same.seed = *s.seed;
    same.config_count = s.data.config_count;
    status = tg_job_create(&job, &same, entry, error);
  }
  if (status == TG_OK)
    status = tg_job_run(&job, error);
  if (status == TG_OK)
    status = store_rerun(&s, &job, &found, error);
  tg_progress_end();
  if (status == TG_OK)
    printf("%s measured again, %d of %lld configurations\n", entry->name, found,
           (long long)s.data.config_count);
  fflush(stdout);
  tg_job_destroy(&job);
  tg_arena_destroy(s.arena);
  return status;
}

int tg_measure_graphs_again(const struct tg_measure_settings *settings,
                            const struct tg_kernel_list *list, double share) {
  int *done = malloc(sizeof *done * ((size_t)list->count + 1));
  int *order = malloc(sizeof *order * ((size_t)list->count + 1));
  int count = 0, status = TG_EXIT_GOOD;
  char path[4096];
  for (int i = 0; done && i < list->count; i++) {
    tg_store_path(settings, &list->entries[i], path, sizeof path);
    if (access(path, R_OK) == 0)
      done[count++] = i;
  }
  if (!done || !order || count == 0) {
    free(done);
    free(order);
    return tg_complain(count == 0 ? "%s: has no files of these graphs"
                                  : "%s: out of memory",
                       settings->folder);
  }
  uint64_t random = settings->seed + 1;
  tg_shuffle(order, count, &random);
  for (int i = 0; i < tg_again_count(share, count); i++) {
    struct tg_error error;
    const struct tg_kernel_entry *entry = &list->entries[done[order[i]]];
    tg_store_path(settings, entry, path, sizeof path);
    if (again(settings, entry, path, &error) != TG_OK)
      status = tg_complain("%s", error.message);
  }
  free(done);
  free(order);
  return status;
}
