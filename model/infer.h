/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Scores of configurations from a trained network (weights.h). Lower is
 * faster. A score is relative to the set scored together and does not depend
 * on the order of the set.
 */
#ifndef TGRAPH_MODEL_INFER_H
#define TGRAPH_MODEL_INFER_H

#include <stddef.h>
#include <stdint.h>

#include "model/error.h"
#include "model/graph.h"
#include "model/target.h"

struct tg_model;

/* The weights embedded in the library, checked when it was built; NULL only in
 * a build that was told to embed none. Borrowed, lives as long as the process.
 */
const struct tg_model *tg_model_get_embedded(void);
/* Reads a .tgw file; the caller destroys the model. */
enum tg_status tg_model_create_from_file(const char *path,
                                         struct tg_model **model,
                                         struct tg_error *error);
/* The same from the bytes of a file; `path` only names it in messages. */
enum tg_status tg_model_create_from_memory(const char *path,
                                           const unsigned char *data,
                                           size_t nbytes,
                                           struct tg_model **model,
                                           struct tg_error *error);
void tg_model_destroy(struct tg_model *model);

/* Name, training date and figures as written by the exporter (JSON text). */
const char *tg_model_get_card(const struct tg_model *model);
/* Hash over the names and formula versions of the columns it was trained on. */
uint64_t tg_model_schema_hash(const struct tg_model *model);

struct tg_tile_batch {
  const struct tg_graph *graph; /* the kernel: operands, operation, result */
  const struct tg_target *target;
  int64_t config_count;
  int64_t feature_count;
  const char *const *feature_names; /* (feature_count) */
  /* (feature_count) tg_hash_text(TG_HASH_START, formula) of each column, from
   * weights.h; NULL: match by name alone. */
  const uint64_t *feature_versions;
  const float *config_feat; /* (config_count, feature_count) */
};
/*
 * scores, spread: (config_count); the spread is the standard deviation over
 * the heads of the ensemble, in units of the score. Refuses features that
 * are not finite, and a batch that lacks a column the weights need.
 */
enum tg_status tg_model_score_tiles(const struct tg_model *model,
                                    const struct tg_tile_batch *batch,
                                    struct tg_arena *arena, float *scores,
                                    float *spread, struct tg_error *error);

struct tg_layout_batch {
  const struct tg_graph *graph;
  int64_t config_count;
  int64_t configurable_count;     /* K */
  const int32_t *node_config_ids; /* (K) */
  const int8_t *node_config_feat; /* (config_count, K, 18) */
};
enum tg_status tg_model_score_layouts(const struct tg_model *model,
                                      const struct tg_layout_batch *batch,
                                      struct tg_arena *arena, float *scores,
                                      struct tg_error *error);

#endif
