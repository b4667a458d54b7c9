/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The TpuGraphs files and this project's additions to them. A file that a
 * TpuGraphs reader reads is read here, and the other way round: what is added
 * goes into further keys. Arrays of optional keys are NULL where absent.
 */
#ifndef TGRAPH_MODEL_DATASET_H
#define TGRAPH_MODEL_DATASET_H

#include <stdbool.h>
#include <stdint.h>

#include "model/graph.h"
#include "model/npz.h"
#include "model/target.h"

enum { TG_TILE_FEATURE_COUNT = 24, TG_LAYOUT_FEATURE_COUNT = 18 };

/* A kernel with its measured tile configurations. */
struct tg_tile_data {
  struct tg_graph graph; /* node_feat, node_opcode, edge_index */
  int64_t config_count;  /* C */
  float *config_feat;    /* config_feat (C, 24): the TpuGraphs columns */
  double *runtime_ns;    /* config_runtime (C), positive */
  double *normalizer_ns; /* config_runtime_normalizers (C), positive */
  /* Optional from here. */
  double *rerun_ns; /* config_runtime_rerun (C): measured again in a fresh
                       process, scaled to the first run's normaliser; NaN where
                       it wasn't */
  float *ratio_ci;  /* ratio_ci (C): half width of the 95 % interval of
                       log(runtime / normaliser) */
  int64_t feature_count;
  const char **feature_names; /* feature_names (F) */
  uint64_t *feature_versions; /* feature_versions (F): hash of each formula */
  float *features;            /* features (C, F) */
  int64_t knob_count;
  const char **knob_names; /* knob_names (n) */
  int64_t *knobs;          /* knobs (C, n) */
  bool has_target;
  struct tg_target target; /* target (T), target_names (T) */
  const char *kernel;      /* kernel: name, () text */
  const char *family;      /* family: the network family, () text */
  int64_t analytic_config; /* analytic_config: index, -1 = none */
  int64_t chosen_config;   /* what a model chose, -1: unknown */
};

/* A graph with measured layout configurations. */
struct tg_layout_data {
  struct tg_graph graph;
  int64_t config_count;       /* C */
  int64_t configurable_count; /* K */
  int32_t *node_config_ids;   /* node_config_ids (K) */
  int8_t *node_config_feat;   /* node_config_feat (C, K, 18), -2..5 */
  double *runtime_ns;         /* config_runtime (C), positive */
  /* Optional: every single run. */
  int64_t run_count;
  int32_t *run_config_index; /* run_config_index (R) */
  double *run_runtime_ns;    /* run_runtime (R) */
  /* Optional from here, as in a tile file. */
  double *normalizer_ns;
  double *rerun_ns;
  float *ratio_ci;
  int64_t feature_count;
  const char **feature_names;
  uint64_t *feature_versions;
  float *node_features; /* node_features (C, K, F): of kernels, else 0 */
  int64_t knob_count;
  const char **knob_names;
  int64_t *node_knobs; /* node_knobs (C, K, n): of kernels, else 0 */
  bool has_target;
  struct tg_target target;
  const char *name; /* graph: name, () text */
  const char *family;
  int64_t analytic_config, chosen_config;
};

/* Is it a layout file (else a tile file)? */
bool tg_dataset_is_layout(const struct tg_npz *npz);

enum tg_status tg_tile_data_read(const struct tg_npz *npz,
                                 struct tg_arena *arena,
                                 struct tg_tile_data *data,
                                 struct tg_error *error);
enum tg_status tg_layout_data_read(const struct tg_npz *npz,
                                   struct tg_arena *arena,
                                   struct tg_layout_data *data,
                                   struct tg_error *error);

/* Adds the keys above; the caller may add further ones, then finishes. */
void tg_tile_data_write(struct tg_npz_writer *writer,
                        const struct tg_tile_data *data);
void tg_layout_data_write(struct tg_npz_writer *writer,
                          const struct tg_layout_data *data);
/* Adds the keys target and target_names. */
void tg_target_write(struct tg_npz_writer *writer,
                     const struct tg_target *target);

#endif
