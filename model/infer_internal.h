/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the files of the inference engine share; nobody else includes it. */
#ifndef TGRAPH_MODEL_INFER_INTERNAL_H
#define TGRAPH_MODEL_INFER_INTERNAL_H

#include <stdbool.h>

#include "model/infer.h"
#include "model/infer_math.h"
#include "model/weights.h"

enum {
  TG_OP_EMBEDDING = 16,
  TG_LAYOUT_EMBEDDING = 4,
  TG_LAYOUT_ROWS = 8, /* a value v in -2..5 reads row v + 2 */
  TG_NODE_LAYOUT_EMBEDDING = TG_NODE_LAYOUT_COUNT * TG_LAYOUT_EMBEDDING,
  TG_CONFIG_LAYOUT_COUNT = 18,
  TG_FIRST_LAYOUT_COLUMN = TG_NODE_FEATURE_layout_minor_to_major_0
};

/*
 * Looks tensors and columns up and checks shapes; the first fault is kept in
 * `status` and `error`, and later calls do nothing.
 */
struct tg_binder {
  const struct tg_weights *weights;
  struct tg_arena *arena;
  const char *network; /* "tile", "layout": the prefix of all names */
  enum tg_status status;
  struct tg_error *error;
};
/* shape ends at the first 0; -1 accepts any extent. NULL after a fault. */
const struct tg_tensor *tg_bind_tensor(struct tg_binder *binder,
                                       const char *name, int64_t shape0,
                                       int64_t shape1, int64_t shape2);
int64_t tg_bind_setting(struct tg_binder *binder, const char *name, int64_t low,
                        int64_t high);
void *tg_bind_alloc(struct tg_binder *binder, size_t count, size_t size);

/* How a node becomes numbers: shared by both networks. */
struct tg_node_encoder {
  int64_t column_count;  /* kept numeric columns */
  int64_t width;         /* column_count + 16 + 24 */
  const int32_t *column; /* (column_count) of node_feat */
  const float *mean, *scale;
  const float *op;     /* (opcodes, 16) */
  const float *layout; /* (8, 4) */
  bool log1p;
  float limit;
};
void tg_bind_node_encoder(struct tg_binder *binder,
                          struct tg_node_encoder *encoder);
/* x: (node_count) rows of stride `stride`, of which encoder->width are set. */
void tg_encode_nodes(const struct tg_node_encoder *encoder,
                     const struct tg_graph *graph, float *x, int64_t stride);

/* A dense block, or a graph block where `neighbour` has a weight. */
struct tg_block {
  struct tg_linear linear, neighbour;
  struct tg_channel_attention attention;
  float temperature; /* of the cross-attention, where there is one */
};
void tg_bind_block(struct tg_binder *binder, const char *name, int64_t in,
                   int64_t out, bool graph, bool cross, struct tg_block *block);

struct tg_tile_net;
struct tg_layout_net;
/* NULL after a fault. */
struct tg_tile_net *tg_tile_net_bind(struct tg_binder *binder);
struct tg_layout_net *tg_layout_net_bind(struct tg_binder *binder);

struct tg_model {
  struct tg_arena *arena;
  const struct tg_weights *weights;
  const struct tg_tile_net *tile;     /* NULL: the file has none */
  const struct tg_layout_net *layout; /* NULL: the file has none */
};

enum tg_status tg_infer_no_memory(struct tg_error *error);
/* Finite inputs and weights can still overflow on the way. */
enum tg_status tg_infer_check(int64_t count, const float *scores,
                              struct tg_error *error);

#endif
