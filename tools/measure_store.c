/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A measured kernel as a file in the TpuGraphs form with this project's
 * further keys. Features and graph are computed from the program's text and
 * the knobs, so a file can be brought up to date without measuring again.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/cost.h"
#include "model/npz.h"
#include "model/weights.h"
#include "passes/import.h"
#include "tools/measure.h"
#include "tools/measure_columns.h"
#include "tools/versions.h"

void tg_store_path(const struct tg_measure_settings *settings,
                   const struct tg_kernel_entry *entry, char *path,
                   size_t room) {
  snprintf(path, room, "%s/%s-%016llx.npz", settings->folder,
           entry->path ? "graph" : "kernel", (unsigned long long)entry->hash);
}

bool tg_columns_name(struct tg_arena *arena, struct tg_column_names *names) {
  names->features = tg_arena_alloc(arena, TG_FEATURE_COUNT, sizeof(char *));
  names->feature_versions = tg_arena_alloc(arena, TG_FEATURE_COUNT, 8);
  names->knobs = tg_arena_alloc(arena, TG_KNOB_COUNT, sizeof(char *));
  if (!names->features || !names->feature_versions || !names->knobs)
    return false;
  for (int f = 0; f < TG_FEATURE_COUNT; f++) {
    names->features[f] = tg_feature_names[f];
    names->feature_versions[f] =
        tg_hash_text(TG_HASH_START, tg_feature_formulas[f]);
  }
  for (int k = 0; k < TG_KNOB_COUNT; k++)
    names->knobs[k] = tg_knob_names[k];
  return true;
}

bool tg_columns_fill(const struct tg_columns_input *in, struct tg_arena *arena,
                     struct tg_tile_data *data) {
  int64_t count = in->count;
  size_t rows = (size_t)count + 1;
  data->config_count = count;
  data->config_feat = tg_arena_alloc(arena, rows, 4 * TG_TILE_FEATURE_COUNT);
  data->feature_count = TG_FEATURE_COUNT;
  data->features = tg_arena_alloc(arena, rows, 4 * TG_FEATURE_COUNT);
  data->knob_count = TG_KNOB_COUNT;
  data->knobs = tg_arena_alloc(arena, rows, 8 * TG_KNOB_COUNT);
  struct tg_column_names names;
  if (!data->config_feat || !data->features || !data->knobs ||
      !tg_columns_name(arena, &names) ||
      !tg_import_kernel(in->op, arena, &data->graph))
    return false;
  data->feature_names = names.features;
  data->feature_versions = names.feature_versions;
  data->knob_names = names.knobs;
  for (int64_t c = 0; c < count; c++) {
    const struct tg_config *config = &in->configs[c];
    tg_config_features(in->kernel, config, in->target,
                       data->features + c * TG_FEATURE_COUNT);
    tg_tile_columns(in->kernel, config, in->target,
                    data->config_feat + c * TG_TILE_FEATURE_COUNT);
    for (int k = 0; k < TG_KNOB_COUNT; k++)
      data->knobs[c * TG_KNOB_COUNT + k] = config->knob[k];
  }
  data->has_target = true;
  data->target = *in->target;
  return true;
}

bool tg_candidate_is_good(const struct tg_candidate *c) {
  return c->object.data && !c->status[0];
}

/* The keys that only measuring knows. */
static void add_samples(struct tg_npz_writer *writer,
                        const struct tg_measure_job *job, int64_t count,
                        struct tg_arena *arena) {
  float *samples = tg_arena_alloc(arena, (size_t)count + 1, 4 * TG_ROUND_LIMIT);
  uint64_t *hashes = tg_arena_alloc(arena, (size_t)count + 1, 8);
  const char **names = tg_arena_alloc(arena, (size_t)count + 1, sizeof *names);
  if (!samples || !hashes || !names)
    return;
  int64_t at = 0;
  for (int i = 0; i < job->count; i++) {
    const struct tg_candidate *c = &job->candidates[i];
    if (!tg_candidate_is_good(c))
      continue;
    for (int r = 0; r < TG_ROUND_LIMIT; r++)
      samples[at * TG_ROUND_LIMIT + r] =
          r < c->sample_count ? c->samples[r] : NAN;
    hashes[at] = c->object.hash;
    names[at++] = c->name;
  }
  int64_t shape[2] = {count, TG_ROUND_LIMIT};
  tg_npz_writer_add(writer, "samples", TG_NPZ_FLOAT, 4, 2, shape, samples);
  tg_npz_writer_add(writer, "object_hash", TG_NPZ_UINT, 8, 1, shape, hashes);
  tg_npz_writer_add_texts(writer, "config_names", count, names);
}

static void add_failures(struct tg_npz_writer *writer,
                         const struct tg_measure_job *job, int64_t count,
                         struct tg_arena *arena) {
  int64_t at = 0;
  int64_t *knobs = tg_arena_alloc(arena, (size_t)count + 1, 8 * TG_KNOB_COUNT);
  const char **texts = tg_arena_alloc(arena, (size_t)count + 1, sizeof *texts);
  if (!knobs || !texts || count == 0)
    return;
  for (int i = 0; i < job->count; i++) {
    const struct tg_candidate *c = &job->candidates[i];
    if (tg_candidate_is_good(c))
      continue;
    for (int k = 0; k < TG_KNOB_COUNT; k++)
      knobs[at * TG_KNOB_COUNT + k] = c->config.knob[k];
    texts[at++] = c->status;
  }
  int64_t shape[2] = {count, TG_KNOB_COUNT};
  if (!job->entry->path)
    tg_npz_writer_add(writer, "failed_knobs", TG_NPZ_INT, 8, 2, shape, knobs);
  tg_npz_writer_add_texts(writer, "failed_status", count, texts);
}

static void add_facts(struct tg_npz_writer *writer,
                      const struct tg_measure_job *job) {
  const struct tg_kernel_entry *entry = job->entry;
  int64_t facts[] = {job->rounds, job->rejected_rounds, job->disturbed};
  int64_t three = 3;
  static const char *const names[] = {"rounds", "rejected_rounds",
                                      "disturbed_samples"};
  tg_npz_writer_add(writer, "measuring", TG_NPZ_INT, 8, 1, &three, facts);
  tg_npz_writer_add_texts(writer, "measuring_names", 3, names);
  tg_npz_writer_add(writer, "peak_gflops", TG_NPZ_FLOAT, 8, 0, NULL,
                    &job->peak_gflops);
  tg_npz_writer_add(writer, entry->path ? "graph_hash" : "kernel_hash",
                    TG_NPZ_UINT, 8, 0, NULL, &entry->hash);
  tg_npz_writer_add(writer, "source_hash", TG_NPZ_UINT, 8, 0, NULL,
                    &entry->text_hash);
  tg_npz_writer_add(writer, "seed", TG_NPZ_UINT, 8, 0, NULL,
                    &job->settings->seed);
  tg_npz_writer_add_text(writer, "sources", entry->sources);
  tg_npz_writer_add_text(writer, "mlir", entry->text);
  tg_npz_writer_add_text(writer, "tool_version", tg_tool_version());
  tg_npz_writer_add_text(writer, "llvm_version", tg_llvm_version());
  tg_npz_writer_add_text(writer, "cpu", tg_cpu_model());
  tg_npz_writer_add_text(writer, "target_cpu", job->settings->target.cpu);
}

void tg_store_measuring(struct tg_npz_writer *writer,
                        const struct tg_measure_job *job,
                        struct tg_arena *arena) {
  int64_t good = 0;
  for (int i = 0; i < job->count; i++)
    good += tg_candidate_is_good(&job->candidates[i]);
  add_samples(writer, job, good, arena);
  add_failures(writer, job, job->count - good, arena);
  add_facts(writer, job);
}

enum tg_status tg_store_rewrite(struct tg_npz_writer *writer,
                                const struct tg_npz *npz,
                                struct tg_error *error) {
  for (int64_t i = 0; i < npz->array_count; i++) {
    const struct tg_npz_array *a = &npz->arrays[i];
    if (!tg_npz_writer_has(writer, a->name))
      tg_npz_writer_add(writer, a->name, a->kind, a->item_nbytes, a->rank,
                        a->shape, a->data);
  }
  enum tg_status status = tg_npz_writer_finish(writer, npz->path, error);
  tg_npz_writer_destroy(writer);
  return status;
}

static bool fill_data(const struct tg_measure_job *job, struct tg_arena *arena,
                      struct tg_tile_data *data, MlirOperation op) {
  size_t rows = (size_t)job->count + 1;
  struct tg_config *configs = tg_arena_alloc(arena, rows, sizeof *configs);
  data->runtime_ns = tg_arena_alloc(arena, rows, sizeof(double));
  data->normalizer_ns = tg_arena_alloc(arena, rows, sizeof(double));
  data->ratio_ci = tg_arena_alloc(arena, rows, sizeof(float));
  if (!configs || !data->runtime_ns || !data->normalizer_ns || !data->ratio_ci)
    return false;
  int64_t count = 0;
  data->analytic_config = data->chosen_config = -1;
  for (int i = 0; i < job->count; i++) {
    const struct tg_candidate *c = &job->candidates[i];
    if (!tg_candidate_is_good(c))
      continue;
    configs[count] = c->config;
    data->runtime_ns[count] = job->default_ns * exp(c->ratio);
    data->normalizer_ns[count] = job->default_ns;
    data->ratio_ci[count] = (float)c->ci;
    if (!strcmp(c->name, "analytic"))
      data->analytic_config = count;
    if (i == job->chosen_config)
      data->chosen_config = count;
    count++;
  }
  struct tg_columns_input in = {op, &job->entry->kernel, &job->settings->target,
                                configs, count};
  data->kernel = job->entry->name;
  data->family = job->entry->family;
  return tg_columns_fill(&in, arena, data);
}

enum tg_status tg_store_write(const struct tg_measure_job *job,
                              struct tg_error *error) {
  char path[4096];
  MlirOperation op;
  struct tg_kernel kernel;
  struct tg_tile_data data = {0};
  struct tg_arena *arena = tg_arena_create();
  struct tg_npz_writer *writer = tg_npz_writer_create();
  tg_store_path(job->settings, job->entry, path, sizeof path);
  enum tg_status status = TG_OK;
  if (!arena || !writer)
    status = tg_fail_memory(error, path);
  else if (!tg_kernels_find_site(job->program.module, &op, &kernel) ||
           !fill_data(job, arena, &data, op))
    status = tg_fail(error, "%s: its columns cannot be computed", path);
  if (status == TG_OK) {
    tg_tile_data_write(writer, &data);
    tg_store_measuring(writer, job, arena);
    status = tg_npz_writer_finish(writer, path, error);
  }
  tg_npz_writer_destroy(writer);
  tg_arena_destroy(arena);
  return status;
}

void tg_store_failure(const struct tg_measure_job *job,
                      const struct tg_candidate *candidate) {
  char path[4096];
  snprintf(path, sizeof path, "%s/failures.jsonl", job->settings->folder);
  FILE *file = fopen(path, "a");
  if (!file)
    return;
  char knobs[16 * TG_KNOB_COUNT + 1] = "";
  size_t used = 0;
  for (int k = 0; k < TG_KNOB_COUNT && used < sizeof knobs; k++)
    used += (size_t)snprintf(knobs + used, sizeof knobs - used, "%s%d",
                             k ? " " : "", candidate->config.knob[k]);
  struct tg_json_writer json = {file, 0, false, true};
  tg_json_begin(&json, NULL, '{');
  tg_json_put_text(&json, "kernel", job->entry->name);
  tg_json_put_text(&json, "config", candidate->name);
  tg_json_put_text(&json, "knobs", knobs);
  tg_json_put_text(&json, "status", candidate->status);
  tg_json_end(&json, '}');
  fclose(file);
}
