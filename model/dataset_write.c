/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Tile and layout files: from structs to keys. */
#include "model/dataset.h"

static void tg_dataset_write_graph(struct tg_npz_writer *writer,
                                   const struct tg_graph *graph) {
  int64_t nodes[] = {graph->node_count, TG_NODE_FEATURE_COUNT};
  int64_t edges[] = {graph->edge_count, 2};
  tg_npz_writer_add(writer, "node_feat", TG_NPZ_FLOAT, 4, 2, nodes,
                    graph->node_feat);
  tg_npz_writer_add(writer, "node_opcode", TG_NPZ_INT, 4, 1, nodes,
                    graph->node_opcode);
  tg_npz_writer_add(writer, "edge_index", TG_NPZ_INT, 4, 2, edges,
                    graph->edges);
}

void tg_target_write(struct tg_npz_writer *writer,
                     const struct tg_target *target) {
  int64_t values[TG_TARGET_COLUMN_COUNT];
  const int64_t count = TG_TARGET_COLUMN_COUNT;
  for (int c = 0; c < TG_TARGET_COLUMN_COUNT; c++)
    values[c] = tg_target_get(target, (enum tg_target_column)c);
  tg_npz_writer_add(writer, "target", TG_NPZ_INT, 8, 1, &count, values);
  tg_npz_writer_add_texts(writer, "target_names", count,
                          tg_target_column_names);
}

/* What tile and layout files have in common behind their arrays. */
struct labels {
  int64_t count;
  const double *runtime_ns, *normalizer_ns, *rerun_ns;
  const float *ratio_ci;
  int64_t feature_count, knob_count;
  const char *const *feature_names, *const *knob_names;
  const uint64_t *feature_versions;
  const struct tg_target *target; /* NULL: none */
  const char *name_key, *name, *family;
  int64_t analytic_config, chosen_config;
};

static void write_columns(struct tg_npz_writer *writer,
                          const struct labels *l) {
  if (l->feature_names)
    tg_npz_writer_add_texts(writer, "feature_names", l->feature_count,
                            l->feature_names);
  if (l->feature_names && l->feature_versions)
    tg_npz_writer_add(writer, "feature_versions", TG_NPZ_UINT, 8, 1,
                      &l->feature_count, l->feature_versions);
  if (l->knob_names)
    tg_npz_writer_add_texts(writer, "knob_names", l->knob_count, l->knob_names);
  if (l->target)
    tg_target_write(writer, l->target);
}

static void write_labels(struct tg_npz_writer *writer, const struct labels *l) {
  tg_npz_writer_add(writer, "config_runtime", TG_NPZ_FLOAT, 8, 1, &l->count,
                    l->runtime_ns);
  if (l->normalizer_ns)
    tg_npz_writer_add(writer, "config_runtime_normalizers", TG_NPZ_FLOAT, 8, 1,
                      &l->count, l->normalizer_ns);
  if (l->rerun_ns)
    tg_npz_writer_add(writer, "config_runtime_rerun", TG_NPZ_FLOAT, 8, 1,
                      &l->count, l->rerun_ns);
  if (l->ratio_ci)
    tg_npz_writer_add(writer, "ratio_ci", TG_NPZ_FLOAT, 4, 1, &l->count,
                      l->ratio_ci);
  write_columns(writer, l);
  if (l->name)
    tg_npz_writer_add_text(writer, l->name_key, l->name);
  if (l->family)
    tg_npz_writer_add_text(writer, "family", l->family);
  if (l->analytic_config >= 0)
    tg_npz_writer_add(writer, "analytic_config", TG_NPZ_INT, 8, 0, NULL,
                      &l->analytic_config);
  if (l->chosen_config >= 0)
    tg_npz_writer_add(writer, "chosen_config", TG_NPZ_INT, 8, 0, NULL,
                      &l->chosen_config);
}

void tg_tile_data_write(struct tg_npz_writer *writer,
                        const struct tg_tile_data *data) {
  int64_t tile[] = {data->config_count, TG_TILE_FEATURE_COUNT};
  int64_t features[] = {data->config_count, data->feature_count};
  int64_t knobs[] = {data->config_count, data->knob_count};
  struct labels labels = {
      data->config_count,
      data->runtime_ns,
      data->normalizer_ns,
      data->rerun_ns,
      data->ratio_ci,
      data->feature_count,
      data->knob_count,
      data->features ? data->feature_names : NULL,
      data->knobs ? data->knob_names : NULL,
      data->feature_versions,
      data->has_target ? &data->target : NULL,
      "kernel",
      data->kernel,
      data->family,
      data->analytic_config,
      data->chosen_config,
  };
  tg_dataset_write_graph(writer, &data->graph);
  tg_npz_writer_add(writer, "config_feat", TG_NPZ_FLOAT, 4, 2, tile,
                    data->config_feat);
  if (data->features)
    tg_npz_writer_add(writer, "features", TG_NPZ_FLOAT, 4, 2, features,
                      data->features);
  if (data->knobs)
    tg_npz_writer_add(writer, "knobs", TG_NPZ_INT, 8, 2, knobs, data->knobs);
  write_labels(writer, &labels);
}

static void write_runs(struct tg_npz_writer *writer,
                       const struct tg_layout_data *data) {
  if (!data->run_runtime_ns)
    return;
  tg_npz_writer_add(writer, "run_runtime", TG_NPZ_FLOAT, 8, 1, &data->run_count,
                    data->run_runtime_ns);
  tg_npz_writer_add(writer, "run_config_index", TG_NPZ_INT, 4, 1,
                    &data->run_count, data->run_config_index);
}

void tg_layout_data_write(struct tg_npz_writer *writer,
                          const struct tg_layout_data *data) {
  int64_t count = data->config_count, nodes = data->configurable_count;
  int64_t layouts[] = {count, nodes, TG_LAYOUT_FEATURE_COUNT};
  int64_t features[] = {count, nodes, data->feature_count};
  int64_t knobs[] = {count, nodes, data->knob_count};
  struct labels labels = {
      count,
      data->runtime_ns,
      data->normalizer_ns,
      data->rerun_ns,
      data->ratio_ci,
      data->feature_count,
      data->knob_count,
      data->node_features ? data->feature_names : NULL,
      data->node_knobs ? data->knob_names : NULL,
      data->feature_versions,
      data->has_target ? &data->target : NULL,
      "graph",
      data->name,
      data->family,
      data->analytic_config,
      data->chosen_config,
  };
  tg_dataset_write_graph(writer, &data->graph);
  tg_npz_writer_add(writer, "node_config_ids", TG_NPZ_INT, 4, 1, &nodes,
                    data->node_config_ids);
  tg_npz_writer_add(writer, "node_config_feat", TG_NPZ_INT, 1, 3, layouts,
                    data->node_config_feat);
  if (data->node_features)
    tg_npz_writer_add(writer, "node_features", TG_NPZ_FLOAT, 4, 3, features,
                      data->node_features);
  if (data->node_knobs)
    tg_npz_writer_add(writer, "node_knobs", TG_NPZ_INT, 8, 3, knobs,
                      data->node_knobs);
  write_runs(writer, data);
  write_labels(writer, &labels);
}
