/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Tile and layout files: from keys to structs, every index and value checked.
 */
#include "model/dataset.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* What the read functions below pass around. */
struct tg_dataset_reader {
  const struct tg_npz *npz;
  struct tg_arena *arena;
  struct tg_error *error;
};

static bool tg_dataset_has(const struct tg_dataset_reader *reader,
                           const char *key) {
  return tg_npz_find(reader->npz, key) != NULL;
}

bool tg_dataset_is_layout(const struct tg_npz *npz) {
  return tg_npz_find(npz, "node_config_feat") != NULL;
}

static enum tg_status tg_dataset_read_graph(struct tg_dataset_reader *reader,
                                            struct tg_graph *graph) {
  const struct tg_npz *npz = reader->npz;
  int64_t shape[2] = {TG_NPZ_ANY, TG_NODE_FEATURE_COUNT};
  memset(graph, 0, sizeof *graph);
  enum tg_status status =
      tg_npz_get_f32(npz, "node_feat", 2, shape, reader->arena,
                     &graph->node_feat, reader->error);
  if (status)
    return status;
  graph->node_count = shape[0];
  if (!graph->node_count)
    return tg_fail(reader->error, "%s: node_feat: no nodes", npz->path);
  status = tg_npz_get_i32(npz, "node_opcode", 1, &graph->node_count, 0,
                          TG_OPCODE_COUNT - 1, reader->arena,
                          &graph->node_opcode, reader->error);
  if (status)
    return status;
  int64_t edge_shape[2] = {TG_NPZ_ANY, 2};
  status = tg_npz_get_i32(npz, "edge_index", 2, edge_shape, 0, INT32_MAX,
                          reader->arena, &graph->edges, reader->error);
  if (status)
    return status;
  graph->edge_count = edge_shape[0];
  for (int64_t e = 0; e < graph->edge_count; e++) {
    int32_t u = graph->edges[2 * e], v = graph->edges[2 * e + 1];
    if (u >= graph->node_count || v >= u)
      return tg_fail(reader->error,
                     "%s: edge_index: row %" PRId64 " is (%d, %d) with %" PRId64
                     " nodes, expected v < u < nodes",
                     npz->path, e, u, v, graph->node_count);
  }
  for (int64_t i = 0; i < graph->node_count * TG_NODE_FEATURE_COUNT; i++)
    if (!isfinite(graph->node_feat[i]))
      return tg_fail(reader->error,
                     "%s: node_feat: node %" PRId64 ", column %s is not finite",
                     npz->path, i / TG_NODE_FEATURE_COUNT,
                     tg_node_feature_names[i % TG_NODE_FEATURE_COUNT]);
  return TG_OK;
}

/* Runtimes: (count), finite and positive. */
static enum tg_status tg_dataset_read_times(struct tg_dataset_reader *reader,
                                            const char *key, int64_t *count,
                                            double **values) {
  enum tg_status status = tg_npz_get_f64(reader->npz, key, 1, count,
                                         reader->arena, values, reader->error);
  for (int64_t i = 0; !status && i < *count; i++)
    if (!((*values)[i] > 0) || !isfinite((*values)[i]))
      return tg_fail(reader->error, "%s: %s: item %" PRId64 " is %g",
                     reader->npz->path, key, i, (*values)[i]);
  return status;
}

/* A matrix (rows, columns) of finite floats. */
static enum tg_status tg_dataset_read_matrix(struct tg_dataset_reader *reader,
                                             const char *key, int64_t rows,
                                             int64_t columns, float **values) {
  int64_t shape[2] = {rows, columns};
  enum tg_status status = tg_npz_get_f32(reader->npz, key, 2, shape,
                                         reader->arena, values, reader->error);
  for (int64_t i = 0; !status && i < shape[0] * shape[1]; i++)
    if (!isfinite((*values)[i]))
      return tg_fail(reader->error,
                     "%s: %s: row %" PRId64 ", column %" PRId64
                     " is not finite",
                     reader->npz->path, key, i / shape[1], i % shape[1]);
  return status;
}

static enum tg_status tg_dataset_read_features(struct tg_dataset_reader *reader,
                                               struct tg_tile_data *data) {
  if (!tg_dataset_has(reader, "features"))
    return TG_OK;
  data->feature_count = TG_NPZ_ANY;
  enum tg_status status =
      tg_npz_get_text(reader->npz, "feature_names", 1, &data->feature_count,
                      reader->arena, &data->feature_names, reader->error);
  if (!status)
    status = tg_dataset_read_matrix(reader, "features", data->config_count,
                                    data->feature_count, &data->features);
  if (!status && tg_dataset_has(reader, "feature_versions"))
    status =
        tg_npz_get_u64(reader->npz, "feature_versions", 1, &data->feature_count,
                       reader->arena, &data->feature_versions, reader->error);
  return status;
}

static enum tg_status tg_dataset_read_knobs(struct tg_dataset_reader *reader,
                                            struct tg_tile_data *data) {
  if (!tg_dataset_has(reader, "knobs"))
    return TG_OK;
  data->knob_count = TG_NPZ_ANY;
  enum tg_status status =
      tg_npz_get_text(reader->npz, "knob_names", 1, &data->knob_count,
                      reader->arena, &data->knob_names, reader->error);
  int64_t shape[2] = {data->config_count, data->knob_count};
  if (!status)
    status = tg_npz_get_i64(reader->npz, "knobs", 2, shape, reader->arena,
                            &data->knobs, reader->error);
  return status;
}

/* Columns that the file doesn't have keep the values of "generic". */
static enum tg_status tg_dataset_read_target(struct tg_dataset_reader *reader,
                                             struct tg_target *target,
                                             bool *has_target) {
  if (!tg_dataset_has(reader, "target"))
    return TG_OK;
  int64_t count = TG_NPZ_ANY, *values = NULL;
  const char **names = NULL;
  enum tg_status status = tg_npz_get_i64(reader->npz, "target", 1, &count,
                                         reader->arena, &values, reader->error);
  if (!status)
    status = tg_npz_get_text(reader->npz, "target_names", 1, &count,
                             reader->arena, &names, reader->error);
  if (!status)
    status = tg_target_parse("generic", target, reader->error);
  for (int64_t i = 0; !status && i < count; i++) {
    int column = 0;
    while (column < TG_TARGET_COLUMN_COUNT &&
           strcmp(tg_target_column_names[column], names[i]))
      column++;
    if (column == TG_TARGET_COLUMN_COUNT)
      return tg_fail(reader->error, "%s: target_names: unknown column '%.80s'",
                     reader->npz->path, names[i]);
    struct tg_error cause;
    if (tg_target_check(column, values[i], &cause))
      return tg_fail(reader->error, "%s: %s", reader->npz->path, cause.message);
    tg_target_set_column(target, column, values[i]);
  }
  if (!status) {
    *has_target = true;
    strcpy(target->name, "file");
  }
  return status;
}

static enum tg_status tg_dataset_read_word(struct tg_dataset_reader *reader,
                                           const char *key, const char **word) {
  if (!tg_dataset_has(reader, key))
    return TG_OK;
  const char **texts = NULL;
  enum tg_status status = tg_npz_get_text(reader->npz, key, 0, NULL,
                                          reader->arena, &texts, reader->error);
  if (!status)
    *word = texts[0];
  return status;
}

/* A configuration's number, -1 where the key isn't there. */
static enum tg_status read_index(struct tg_dataset_reader *reader,
                                 const char *key, int64_t count,
                                 int64_t *value) {
  *value = -1;
  if (!tg_dataset_has(reader, key))
    return TG_OK;
  int32_t *index = NULL;
  enum tg_status status =
      tg_npz_get_i32(reader->npz, key, 0, NULL, -1, (int32_t)count - 1,
                     reader->arena, &index, reader->error);
  if (status == TG_OK)
    *value = *index;
  return status;
}

static enum tg_status read_reruns(struct tg_dataset_reader *reader,
                                  int64_t *count, double **rerun_ns,
                                  float **ratio_ci) {
  enum tg_status status = TG_OK;
  if (tg_dataset_has(reader, "config_runtime_rerun"))
    status = tg_npz_get_f64(reader->npz, "config_runtime_rerun", 1, count,
                            reader->arena, rerun_ns, reader->error);
  if (!status && tg_dataset_has(reader, "ratio_ci"))
    status = tg_npz_get_f32(reader->npz, "ratio_ci", 1, count, reader->arena,
                            ratio_ci, reader->error);
  return status;
}

static enum tg_status tg_dataset_read_labels(struct tg_dataset_reader *reader,
                                             struct tg_tile_data *data) {
  enum tg_status status = read_reruns(reader, &data->config_count,
                                      &data->rerun_ns, &data->ratio_ci);
  if (!status)
    status = read_index(reader, "analytic_config", data->config_count,
                        &data->analytic_config);
  if (!status)
    status = read_index(reader, "chosen_config", data->config_count,
                        &data->chosen_config);
  if (!status)
    status = tg_dataset_read_word(reader, "kernel", &data->kernel);
  if (!status)
    status = tg_dataset_read_word(reader, "family", &data->family);
  return status;
}

enum tg_status tg_tile_data_read(const struct tg_npz *npz,
                                 struct tg_arena *arena,
                                 struct tg_tile_data *data,
                                 struct tg_error *error) {
  struct tg_dataset_reader reader = {npz, arena, error};
  memset(data, 0, sizeof *data);
  enum tg_status status = tg_dataset_read_graph(&reader, &data->graph);
  data->config_count = TG_NPZ_ANY;
  if (!status)
    status = tg_dataset_read_times(&reader, "config_runtime",
                                   &data->config_count, &data->runtime_ns);
  if (!status)
    status = tg_dataset_read_times(&reader, "config_runtime_normalizers",
                                   &data->config_count, &data->normalizer_ns);
  if (!status)
    status = tg_dataset_read_matrix(&reader, "config_feat", data->config_count,
                                    TG_TILE_FEATURE_COUNT, &data->config_feat);
  if (!status)
    status = tg_dataset_read_features(&reader, data);
  if (!status)
    status = tg_dataset_read_knobs(&reader, data);
  if (!status)
    status = tg_dataset_read_target(&reader, &data->target, &data->has_target);
  if (!status)
    status = tg_dataset_read_labels(&reader, data);
  return status;
}

static enum tg_status read_runs(struct tg_dataset_reader *reader,
                                struct tg_layout_data *data) {
  if (!tg_dataset_has(reader, "run_runtime"))
    return TG_OK;
  data->run_count = TG_NPZ_ANY;
  enum tg_status status = tg_dataset_read_times(
      reader, "run_runtime", &data->run_count, &data->run_runtime_ns);
  if (!status)
    status =
        tg_npz_get_i32(reader->npz, "run_config_index", 1, &data->run_count, 0,
                       (int32_t)(data->config_count - 1), reader->arena,
                       &data->run_config_index, reader->error);
  return status;
}

static enum tg_status read_node_columns(struct tg_dataset_reader *reader,
                                        struct tg_layout_data *data) {
  const struct tg_npz *npz = reader->npz;
  enum tg_status status = TG_OK;
  if (tg_dataset_has(reader, "node_knobs")) {
    data->knob_count = TG_NPZ_ANY;
    status = tg_npz_get_text(npz, "knob_names", 1, &data->knob_count,
                             reader->arena, &data->knob_names, reader->error);
    int64_t shape[3] = {data->config_count, data->configurable_count,
                        data->knob_count};
    if (!status)
      status = tg_npz_get_i64(npz, "node_knobs", 3, shape, reader->arena,
                              &data->node_knobs, reader->error);
  }
  if (status || !tg_dataset_has(reader, "node_features"))
    return status;
  data->feature_count = TG_NPZ_ANY;
  status = tg_npz_get_text(npz, "feature_names", 1, &data->feature_count,
                           reader->arena, &data->feature_names, reader->error);
  int64_t shape[3] = {data->config_count, data->configurable_count,
                      data->feature_count};
  if (!status)
    status = tg_npz_get_f32(npz, "node_features", 3, shape, reader->arena,
                            &data->node_features, reader->error);
  for (int64_t i = 0; !status && i < shape[0] * shape[1] * shape[2]; i++)
    if (!isfinite(data->node_features[i]))
      return tg_fail(reader->error,
                     "%s: node_features: row %" PRId64 ", column %" PRId64
                     " is not finite",
                     npz->path, i / shape[2], i % shape[2]);
  if (!status && tg_dataset_has(reader, "feature_versions"))
    status =
        tg_npz_get_u64(npz, "feature_versions", 1, &data->feature_count,
                       reader->arena, &data->feature_versions, reader->error);
  return status;
}

static enum tg_status read_graph_labels(struct tg_dataset_reader *reader,
                                        struct tg_layout_data *data) {
  static const char normalizers[] = "config_runtime_normalizers";
  enum tg_status status = TG_OK;
  if (tg_dataset_has(reader, normalizers))
    status = tg_dataset_read_times(reader, normalizers, &data->config_count,
                                   &data->normalizer_ns);
  if (!status)
    status = read_reruns(reader, &data->config_count, &data->rerun_ns,
                         &data->ratio_ci);
  if (!status)
    status = read_index(reader, "analytic_config", data->config_count,
                        &data->analytic_config);
  if (!status)
    status = read_index(reader, "chosen_config", data->config_count,
                        &data->chosen_config);
  const char **names;
  if (!status && tg_dataset_has(reader, "config_names"))
    status =
        tg_npz_get_text(reader->npz, "config_names", 1, &data->config_count,
                        reader->arena, &names, reader->error);
  if (!status)
    status = tg_dataset_read_word(reader, "graph", &data->name);
  if (!status)
    status = tg_dataset_read_word(reader, "family", &data->family);
  return status;
}

enum tg_status tg_layout_data_read(const struct tg_npz *npz,
                                   struct tg_arena *arena,
                                   struct tg_layout_data *data,
                                   struct tg_error *error) {
  struct tg_dataset_reader reader = {npz, arena, error};
  memset(data, 0, sizeof *data);
  enum tg_status status = tg_dataset_read_graph(&reader, &data->graph);
  if (status)
    return status;
  data->configurable_count = TG_NPZ_ANY;
  status = tg_npz_get_i32(npz, "node_config_ids", 1, &data->configurable_count,
                          0, (int32_t)(data->graph.node_count - 1), arena,
                          &data->node_config_ids, error);
  data->config_count = TG_NPZ_ANY;
  if (!status)
    status = tg_dataset_read_times(&reader, "config_runtime",
                                   &data->config_count, &data->runtime_ns);
  int64_t shape[3] = {data->config_count, data->configurable_count,
                      TG_LAYOUT_FEATURE_COUNT};
  if (!status)
    status = tg_npz_get_i8(npz, "node_config_feat", 3, shape, -2, 5, arena,
                           &data->node_config_feat, error);
  if (!status)
    status = read_runs(&reader, data);
  if (!status)
    status = read_node_columns(&reader, data);
  if (!status)
    status = tg_dataset_read_target(&reader, &data->target, &data->has_target);
  if (!status)
    status = read_graph_labels(&reader, data);
  return status;
}
