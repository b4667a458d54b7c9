/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The layout network, TGraph: node states per configuration, node-major
 * (nodes, configurations, channels), so that everything a configuration's
 * softmax, a node's neighbours and a GEMM need stands together. What the first
 * layer computes from a configuration's 18 columns is a sum of 18 rows of a
 * table; the rest of it is computed once a graph.
 */
#include <math.h>
#include <string.h>

#include "model/infer_internal.h"

enum { TG_LAYOUT_BLOCKS = 2 };

struct tg_layout_net {
  int64_t width; /* of a block before the cross-attention */
  int64_t state; /* of a block's result: 2 width with cross-attention */
  bool cross_attention, instance_norm, prune;
  struct tg_node_encoder encoder;
  struct tg_block dense[TG_LAYOUT_BLOCKS], graph[TG_LAYOUT_BLOCKS];
  struct tg_linear first; /* the configuration-independent part of dense[0] */
  const float *table;     /* (18, 8, width), the rest of it */
  struct tg_linear readout;
};

/* Splits dense0 into `first` and `table`. */
static void tg_bind_first(struct tg_binder *binder, struct tg_layout_net *net) {
  int64_t fixed = net->encoder.width, width = net->width;
  int64_t in = fixed + TG_CONFIG_LAYOUT_COUNT * TG_LAYOUT_EMBEDDING;
  size_t rows = (size_t)width;
  float *weight = tg_bind_alloc(binder, rows * (size_t)fixed, sizeof *weight);
  float *table = tg_bind_alloc(
      binder, (size_t)(TG_CONFIG_LAYOUT_COUNT * TG_LAYOUT_ROWS) * rows,
      sizeof *table);
  if (binder->status)
    return;
  const float *whole = net->dense[0].linear.weight;
  for (int64_t k = 0; k < width; k++) {
    const float *row = whole + k * in;
    memcpy(weight + k * fixed, row, (size_t)fixed * sizeof *weight);
    for (int64_t j = 0; j < TG_CONFIG_LAYOUT_COUNT; j++)
      for (int64_t r = 0; r < TG_LAYOUT_ROWS; r++) {
        double sum = 0;
        for (int64_t e = 0; e < TG_LAYOUT_EMBEDDING; e++)
          sum += (double)row[fixed + j * TG_LAYOUT_EMBEDDING + e] *
                 (double)net->encoder.layout[r * TG_LAYOUT_EMBEDDING + e];
        table[(j * TG_LAYOUT_ROWS + r) * width + k] = (float)sum;
      }
  }
  net->first =
      (struct tg_linear){fixed, width, weight, net->dense[0].linear.bias};
  net->table = table;
}

struct tg_layout_net *tg_layout_net_bind(struct tg_binder *binder) {
  struct tg_layout_net *net = tg_bind_alloc(binder, 1, sizeof *net);
  if (!net)
    return NULL;
  net->width = tg_bind_setting(binder, "width", 1, 1024);
  net->cross_attention = tg_bind_setting(binder, "cross_attention", 0, 1);
  net->instance_norm = tg_bind_setting(binder, "instance_norm", 0, 1);
  net->prune = tg_bind_setting(binder, "prune", 0, 1);
  net->state = net->cross_attention ? 2 * net->width : net->width;
  tg_bind_node_encoder(binder, &net->encoder);
  int64_t in =
      net->encoder.width + TG_CONFIG_LAYOUT_COUNT * TG_LAYOUT_EMBEDDING;
  bool cross = net->cross_attention;
  tg_bind_block(binder, "dense0", in, net->width, false, cross, &net->dense[0]);
  tg_bind_block(binder, "dense1", net->state, net->width, false, cross,
                &net->dense[1]);
  tg_bind_block(binder, "graph0", net->state, net->width, true, cross,
                &net->graph[0]);
  tg_bind_block(binder, "graph1", net->state, net->width, true, cross,
                &net->graph[1]);
  const struct tg_tensor *weight =
      tg_bind_tensor(binder, "readout.weight", 1, net->state, 0);
  const struct tg_tensor *bias =
      tg_bind_tensor(binder, "readout.bias", 1, 0, 0);
  if (binder->status)
    return NULL;
  net->readout = (struct tg_linear){net->state, 1, weight->data, bias->data};
  tg_bind_first(binder, net);
  return binder->status ? NULL : net;
}

struct tg_layout_run {
  const struct tg_layout_net *net;
  const struct tg_layout_batch *batch;
  struct tg_arena *arena;
  struct tg_graph graph;     /* the batch's, or what pruning leaves of it */
  const int32_t *config_row; /* (nodes) index into node_config_ids, or -1 */
  struct tg_adjacency adjacency;
  int64_t configs;
  float *state;         /* (nodes, configs, net->state) */
  float *scratch_state; /* the same size */
  float *part;          /* (configs, width), one node before cross-attention */
  float *mean;          /* (configs, net->state) */
  float *scratch;       /* (configs + 1, squeezed + width) */
  double *sums;         /* (2, configs, net->state) */
};

static enum tg_status tg_layout_check(const struct tg_layout_batch *batch,
                                      struct tg_error *error) {
  enum tg_status status = tg_graph_check(batch->graph, "graph", error);
  if (status)
    return status;
  if (batch->graph->node_count < 1)
    return tg_fail(error, "graph: it has no nodes");
  for (int64_t i = 0; i < batch->configurable_count; i++)
    if (batch->node_config_ids[i] < 0 ||
        batch->node_config_ids[i] >= batch->graph->node_count)
      return tg_fail(error, "node_config_ids: item %lld is %d, of %lld nodes",
                     (long long)i, batch->node_config_ids[i],
                     (long long)batch->graph->node_count);
  int64_t values =
      batch->config_count * batch->configurable_count * TG_CONFIG_LAYOUT_COUNT;
  for (int64_t i = 0; i < values; i++)
    if (batch->node_config_feat[i] < -2 || batch->node_config_feat[i] > 5)
      return tg_fail(error,
                     "node_config_feat: item %lld is %d, outside of "
                     "-2..5",
                     (long long)i, batch->node_config_feat[i]);
  return TG_OK;
}

/* keep (nodes): 1 + the new number of a node that stays, 0 for the others. */
static int64_t tg_layout_mark(const struct tg_layout_batch *batch, bool prune,
                              int32_t *keep) {
  const struct tg_graph *graph = batch->graph;
  for (int64_t n = 0; n < graph->node_count; n++)
    keep[n] = !prune;
  for (int64_t i = 0; i < batch->configurable_count; i++)
    keep[batch->node_config_ids[i]] = 2;
  for (int64_t e = 0; prune && e < graph->edge_count; e++) {
    int32_t u = graph->edges[2 * e], v = graph->edges[2 * e + 1];
    if (keep[u] == 2 && !keep[v])
      keep[v] = 1;
    if (keep[v] == 2 && !keep[u])
      keep[u] = 1;
  }
  int64_t kept = 0;
  for (int64_t n = 0; n < graph->node_count; n++)
    if (keep[n])
      keep[n] = (int32_t)++kept;
  return kept;
}

/* Copies what stays; config_row says which nodes are configurable. */
static bool tg_layout_prune(struct tg_layout_run *run, bool prune) {
  const struct tg_layout_batch *batch = run->batch;
  const struct tg_graph *from = batch->graph;
  struct tg_graph *to = &run->graph;
  int32_t *keep =
      tg_arena_alloc(run->arena, (size_t)from->node_count, sizeof *keep);
  if (!keep)
    return false;
  to->node_count = tg_layout_mark(batch, prune, keep);
  size_t nodes = (size_t)to->node_count;
  size_t row_nbytes = TG_NODE_FEATURE_COUNT * sizeof(float);
  to->node_feat = tg_arena_alloc(run->arena, nodes, row_nbytes);
  to->node_opcode = tg_arena_alloc(run->arena, nodes, sizeof(int32_t));
  to->edges =
      tg_arena_alloc(run->arena, (size_t)from->edge_count, 2 * sizeof(int32_t));
  int32_t *row = tg_arena_alloc(run->arena, nodes, sizeof *row);
  if (!to->node_feat || !to->node_opcode || !to->edges || !row)
    return false;
  for (int64_t n = 0; n < from->node_count; n++) {
    if (!keep[n])
      continue;
    int64_t at = keep[n] - 1;
    memcpy(to->node_feat + at * TG_NODE_FEATURE_COUNT,
           from->node_feat + n * TG_NODE_FEATURE_COUNT, row_nbytes);
    to->node_opcode[at] = from->node_opcode[n];
    row[at] = -1;
  }
  for (int64_t e = 0; e < from->edge_count; e++) {
    int32_t u = keep[from->edges[2 * e]], v = keep[from->edges[2 * e + 1]];
    if (!u || !v)
      continue;
    to->edges[2 * to->edge_count] = u - 1;
    to->edges[2 * to->edge_count++ + 1] = v - 1;
  }
  for (int64_t i = 0; i < batch->configurable_count; i++)
    row[keep[batch->node_config_ids[i]] - 1] = (int32_t)i;
  run->config_row = row;
  return tg_adjacency_build(to, run->arena, &run->adjacency);
}

static bool tg_layout_alloc(struct tg_layout_run *run) {
  const struct tg_layout_net *net = run->net;
  size_t nodes = (size_t)run->graph.node_count, configs = (size_t)run->configs;
  size_t state_nbytes = (size_t)net->state * sizeof(float);
  size_t widest = 0;
  /* BLAS counts rows as int. */
  if (nodes && configs > INT32_MAX / nodes)
    return false;
  for (int b = 0; b < TG_LAYOUT_BLOCKS; b++) {
    size_t dense = (size_t)net->dense[b].attention.squeezed;
    size_t graph = (size_t)net->graph[b].attention.squeezed;
    widest = dense > widest ? dense : widest;
    widest = graph > widest ? graph : widest;
  }
  struct tg_arena *arena = run->arena;
  run->state = tg_arena_alloc(arena, nodes * configs, state_nbytes);
  run->scratch_state = tg_arena_alloc(arena, nodes * configs, state_nbytes);
  run->part = tg_arena_alloc(arena, configs + 1,
                             2 * (size_t)net->width * sizeof(float));
  run->mean = tg_arena_alloc(arena, configs, state_nbytes);
  run->scratch = tg_arena_alloc(arena, configs + 1,
                                (widest + (size_t)net->width) * sizeof(float));
  run->sums =
      tg_arena_alloc(arena, 2 * configs, (size_t)net->state * sizeof(double));
  return run->state && run->scratch_state && run->part && run->mean &&
         run->scratch && run->sums;
}

/* out (nodes, configs, width): the first layer. */
static bool tg_layout_first(struct tg_layout_run *run, float *out) {
  const struct tg_layout_net *net = run->net;
  int64_t nodes = run->graph.node_count, width = net->width;
  int64_t in = net->encoder.width, k_count = run->batch->configurable_count;
  float *x = tg_arena_alloc(run->arena, (size_t)nodes, (size_t)in * sizeof *x);
  float *base =
      tg_arena_alloc(run->arena, (size_t)nodes, (size_t)width * sizeof *base);
  if (!x || !base)
    return false;
  tg_encode_nodes(&net->encoder, &run->graph, x, in);
  tg_linear_apply(&net->first, nodes, x, in, base, width, 0);
  static const int8_t fixed[TG_CONFIG_LAYOUT_COUNT] = {
      -2, -2, -2, -2, -2, -2, -2, -2, -2, -2, -2, -2, -2, -2, -2, -2, -2, -2};
  for (int64_t n = 0; n < nodes; n++)
    for (int64_t c = 0; c < run->configs; c++) {
      int64_t k = run->config_row[n];
      const int8_t *v = k < 0 ? fixed
                              : run->batch->node_config_feat +
                                    (c * k_count + k) * TG_CONFIG_LAYOUT_COUNT;
      float *y = out + (n * run->configs + c) * width;
      memcpy(y, base + n * width, (size_t)width * sizeof *y);
      for (int64_t j = 0; j < TG_CONFIG_LAYOUT_COUNT; j++) {
        const float *row = net->table + (j * TG_LAYOUT_ROWS + v[j] + 2) * width;
        for (int64_t i = 0; i < width; i++)
          y[i] += row[i];
      }
    }
  return true;
}

/* The end of every block, for one node: y (configs, width) is gated, joined
 * with its cross-attention, added to `residual` (or NULL) and written. */
static void tg_layout_finish(struct tg_layout_run *run,
                             const struct tg_block *block, float *y,
                             const float *residual, float *out) {
  const struct tg_layout_net *net = run->net;
  int64_t configs = run->configs, count = configs * net->state;
  tg_channel_attention_apply(&block->attention, configs, y, run->scratch);
  const float *result = y;
  if (net->cross_attention) {
    /* The neighbours' mean is used up by now: its room takes the result. */
    tg_cross_attention(configs, net->width, block->temperature, y, run->mean,
                       run->scratch);
    result = run->mean;
  }
  for (int64_t i = 0; i < count; i++)
    out[i] = residual ? residual[i] + result[i] : result[i];
  tg_gelu(count, out);
}

static bool tg_layout_dense(struct tg_layout_run *run, int index) {
  const struct tg_layout_net *net = run->net;
  const struct tg_block *block = &net->dense[index];
  int64_t nodes = run->graph.node_count, configs = run->configs;
  int64_t width = net->width;
  float *y = run->scratch_state; /* (nodes, configs, width) */
  if (index)
    tg_linear_apply(&block->linear, nodes * configs, run->state, net->state, y,
                    width, 0);
  else if (!tg_layout_first(run, y))
    return false;
  if (net->instance_norm)
    tg_instance_norm(nodes, configs * width, y, y, run->sums);
  for (int64_t n = 0; n < nodes; n++)
    tg_layout_finish(run, block, y + n * configs * width, NULL,
                     run->state + n * configs * net->state);
  return true;
}

static void tg_layout_graph(struct tg_layout_run *run, int index) {
  const struct tg_layout_net *net = run->net;
  const struct tg_block *block = &net->graph[index];
  int64_t nodes = run->graph.node_count, configs = run->configs;
  int64_t size = configs * net->state;
  float *from = run->scratch_state;
  if (net->instance_norm)
    tg_instance_norm(nodes, size, run->state, from, run->sums);
  else
    memcpy(from, run->state, (size_t)(nodes * size) * sizeof *from);
  for (int64_t n = 0; n < nodes; n++) {
    tg_neighbour_mean(&run->adjacency, n, size, from, run->mean);
    tg_linear_apply(&block->linear, configs, from + n * size, net->state,
                    run->part, net->width, 0);
    tg_linear_apply(&block->neighbour, configs, run->mean, net->state,
                    run->part, net->width, 1);
    float *state = run->state + n * size;
    tg_layout_finish(run, block, run->part, state, state);
  }
}

static void tg_layout_readout(struct tg_layout_run *run, float *scores) {
  int64_t nodes = run->graph.node_count, state = run->net->state;
  int64_t size = run->configs * state;
  for (int64_t c = 0; c < run->configs; c++) {
    double score = 0;
    for (int64_t k = 0; k < state; k++) {
      double sum = 0;
      for (int64_t n = 0; n < nodes; n++)
        sum += (double)run->state[n * size + c * state + k];
      score += sum / (double)nodes * (double)run->net->readout.weight[k];
    }
    scores[c] = (float)(score + (double)run->net->readout.bias[0]);
  }
}

enum tg_status tg_model_score_layouts(const struct tg_model *model,
                                      const struct tg_layout_batch *batch,
                                      struct tg_arena *arena, float *scores,
                                      struct tg_error *error) {
  const struct tg_layout_net *net = model->layout;
  if (!net)
    return tg_fail(error, "%s: holds no layout network", model->weights->path);
  enum tg_status status = tg_layout_check(batch, error);
  if (status || !batch->config_count)
    return status;
  struct tg_layout_run run = {.net = net,
                              .batch = batch,
                              .arena = arena,
                              .configs = batch->config_count};
  /* Without a configurable node nothing would stay. */
  bool prune = net->prune && batch->configurable_count;
  if (!tg_layout_prune(&run, prune) || !tg_layout_alloc(&run) ||
      !tg_layout_dense(&run, 0) || !tg_layout_dense(&run, 1))
    return tg_infer_no_memory(error);
  tg_layout_graph(&run, 0);
  tg_layout_graph(&run, 1);
  tg_layout_readout(&run, scores);
  return tg_infer_check(batch->config_count, scores, error);
}
