/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The tile network: the kernel's graph once, its configurations as rows of
 * derived columns, an ensemble of small heads on both (model/train/networks.py
 * is the same in PyTorch).
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/infer_internal.h"

enum {
  TG_TILE_DENSE_BLOCKS = 2,
  TG_TILE_GRAPH_BLOCKS = 2,
  /* GEMMs see a multiple of this many configurations, so that a row's result
   * doesn't depend on where in the set it stands. */
  TG_TILE_ROW_STEP = 16
};

struct tg_tile_head {
  struct tg_linear layer[3];
};

struct tg_tile_net {
  int64_t width, target_count, config_count, head_count, head_width;
  bool cross_attention, instance_norm, has_skip, config_log1p;
  float config_limit, temperature;
  struct tg_node_encoder encoder;
  const int32_t *target_column; /* (target_count) */
  const float *target_mean, *target_scale;
  const struct tg_column *config_column; /* (config_count) */
  const float *config_mean, *config_scale;
  struct tg_block dense[TG_TILE_DENSE_BLOCKS], graph[TG_TILE_GRAPH_BLOCKS];
  struct tg_linear config[2];
  struct tg_linear join_graph, join_config;
  struct tg_tile_head *head;
  struct tg_linear skip; /* (config_count) to a value for each head */
};

static void tg_bind_linear(struct tg_binder *binder, const char *name,
                           int64_t in, int64_t out, struct tg_linear *linear) {
  char part[96];
  snprintf(part, sizeof part, "%s.weight", name);
  const struct tg_tensor *weight = tg_bind_tensor(binder, part, out, in, 0);
  snprintf(part, sizeof part, "%s.bias", name);
  const struct tg_tensor *bias = tg_bind_tensor(binder, part, out, 0, 0);
  if (!binder->status)
    *linear = (struct tg_linear){in, out, weight->data, bias->data};
}

static void tg_bind_target(struct tg_binder *binder, struct tg_tile_net *net) {
  const struct tg_column *columns = tg_weights_get_columns(
      binder->weights, "tile.target", &net->target_count);
  int32_t *index =
      tg_bind_alloc(binder, (size_t)net->target_count, sizeof *index);
  for (int64_t i = 0; !binder->status && i < net->target_count; i++) {
    index[i] = -1;
    for (int32_t k = 0; k < TG_TARGET_COLUMN_COUNT; k++)
      if (!strcmp(tg_target_column_names[k], columns[i].name))
        index[i] = k;
    if (index[i] < 0)
      binder->status = tg_fail(binder->error,
                               "%s: the column %s of the target is unknown to "
                               "this program",
                               binder->weights->path, columns[i].name);
  }
  net->target_column = index;
  const struct tg_tensor *mean =
      net->target_count
          ? tg_bind_tensor(binder, "target_mean", net->target_count, 0, 0)
          : NULL;
  const struct tg_tensor *scale =
      net->target_count
          ? tg_bind_tensor(binder, "target_scale", net->target_count, 0, 0)
          : NULL;
  net->target_mean = mean ? mean->data : NULL;
  net->target_scale = scale ? scale->data : NULL;
}

static void tg_bind_config(struct tg_binder *binder, struct tg_tile_net *net) {
  net->config_column = tg_weights_get_columns(binder->weights, "tile.config",
                                              &net->config_count);
  if (!binder->status && !net->config_count)
    binder->status = tg_fail(binder->error, "%s: no columns of tile.config",
                             binder->weights->path);
  const struct tg_tensor *mean =
      tg_bind_tensor(binder, "config_mean", net->config_count, 0, 0);
  const struct tg_tensor *scale =
      tg_bind_tensor(binder, "config_scale", net->config_count, 0, 0);
  net->config_log1p = tg_bind_setting(binder, "config_log1p", 0, 1);
  net->config_limit =
      (float)tg_bind_setting(binder, "config_limit", 1, 1000000);
  tg_bind_linear(binder, "config0", net->config_count, net->width,
                 &net->config[0]);
  tg_bind_linear(binder, "config1", net->width, net->width, &net->config[1]);
  if (binder->status)
    return;
  net->config_mean = mean->data;
  net->config_scale = scale->data;
}

/* The heads' tensors have the head as first dimension. */
static void tg_bind_heads(struct tg_binder *binder, struct tg_tile_net *net) {
  int64_t in = net->cross_attention ? 2 * net->width : net->width;
  int64_t hidden = net->head_width, heads = net->head_count;
  int64_t ins[] = {in, hidden, hidden}, outs[] = {hidden, hidden, 1};
  net->head = tg_bind_alloc(binder, (size_t)heads, sizeof *net->head);
  for (int layer = 0; layer < 3; layer++) {
    char name[32];
    snprintf(name, sizeof name, "head%d.weight", layer);
    const struct tg_tensor *weight =
        tg_bind_tensor(binder, name, heads, outs[layer], ins[layer]);
    snprintf(name, sizeof name, "head%d.bias", layer);
    const struct tg_tensor *bias =
        tg_bind_tensor(binder, name, heads, outs[layer], 0);
    for (int64_t h = 0; !binder->status && h < heads; h++)
      net->head[h].layer[layer] = (struct tg_linear){
          ins[layer], outs[layer], weight->data + h * outs[layer] * ins[layer],
          bias->data + h * outs[layer]};
  }
}

/* join = one matrix over concat(graph, configuration), kept as its halves so
 * that the graph's half is multiplied once. */
static void tg_bind_join(struct tg_binder *binder, struct tg_tile_net *net) {
  int64_t width = net->width;
  struct tg_linear whole = {0};
  tg_bind_linear(binder, "join", 3 * width, width, &whole);
  size_t rows = (size_t)width;
  float *graph = tg_bind_alloc(binder, rows * 2 * rows, sizeof *graph);
  float *config = tg_bind_alloc(binder, rows * rows, sizeof *config);
  for (int64_t r = 0; !binder->status && r < width; r++) {
    memcpy(graph + r * 2 * width, whole.weight + r * 3 * width,
           2 * rows * sizeof *graph);
    memcpy(config + r * width, whole.weight + r * 3 * width + 2 * width,
           rows * sizeof *config);
  }
  net->join_graph = (struct tg_linear){2 * width, width, graph, whole.bias};
  net->join_config = (struct tg_linear){width, width, config, NULL};
}

struct tg_tile_net *tg_tile_net_bind(struct tg_binder *binder) {
  struct tg_tile_net *net = tg_bind_alloc(binder, 1, sizeof *net);
  if (!net)
    return NULL;
  net->width = tg_bind_setting(binder, "width", 1, 1024);
  net->head_count = tg_bind_setting(binder, "heads", 1, 64);
  net->head_width = tg_bind_setting(binder, "head_width", 1, 1024);
  net->cross_attention = tg_bind_setting(binder, "cross_attention", 0, 1);
  net->instance_norm = tg_bind_setting(binder, "instance_norm", 0, 1);
  net->has_skip = tg_bind_setting(binder, "skip", 0, 1);
  tg_bind_node_encoder(binder, &net->encoder);
  tg_bind_target(binder, net);
  tg_bind_config(binder, net);
  int64_t in = net->encoder.width + net->target_count;
  tg_bind_block(binder, "dense0", in, net->width, false, false, &net->dense[0]);
  tg_bind_block(binder, "dense1", net->width, net->width, false, false,
                &net->dense[1]);
  tg_bind_block(binder, "graph0", net->width, net->width, true, false,
                &net->graph[0]);
  tg_bind_block(binder, "graph1", net->width, net->width, true, false,
                &net->graph[1]);
  tg_bind_join(binder, net);
  if (net->cross_attention) {
    const struct tg_tensor *t = tg_bind_tensor(binder, "temperature", 1, 0, 0);
    net->temperature = t ? t->data[0] : 1;
    if (!binder->status && !(net->temperature > 0))
      binder->status = tg_fail(binder->error,
                               "%s: tile.temperature is not "
                               "positive",
                               binder->weights->path);
  }
  tg_bind_heads(binder, net);
  if (net->has_skip) {
    const struct tg_tensor *t =
        tg_bind_tensor(binder, "skip", net->head_count, net->config_count, 0);
    net->skip = (struct tg_linear){net->config_count, net->head_count,
                                   t ? t->data : NULL, NULL};
  }
  return binder->status ? NULL : net;
}

/* What one call works with; everything is in the arena. */
struct tg_tile_run {
  const struct tg_tile_net *net;
  const struct tg_tile_batch *batch;
  struct tg_arena *arena;
  struct tg_error *error;
  int64_t rows; /* config_count, rounded up */
};

static float *tg_tile_alloc(struct tg_tile_run *run, int64_t rows,
                            int64_t width) {
  return tg_arena_alloc(run->arena, (size_t)rows,
                        (size_t)width * sizeof(float));
}

/* x (node_count, encoder width + target_count) */
static float *tg_tile_encode(struct tg_tile_run *run, int64_t *width) {
  const struct tg_tile_net *net = run->net;
  int64_t nodes = run->batch->graph->node_count;
  *width = net->encoder.width + net->target_count;
  float *x = tg_tile_alloc(run, nodes, *width);
  if (!x)
    return NULL;
  tg_encode_nodes(&net->encoder, run->batch->graph, x, *width);
  for (int64_t i = 0; i < net->target_count; i++) {
    int64_t value = tg_target_get(run->batch->target, net->target_column[i]);
    float log2_value = (float)log2((double)(value > 1 ? value : 1));
    float column = tg_standardise(log2_value, net->target_mean[i],
                                  net->target_scale[i], net->config_limit);
    for (int64_t n = 0; n < nodes; n++)
      x[n * *width + net->encoder.width + i] = column;
  }
  return x;
}

static void tg_tile_pool(int64_t nodes, int64_t width, const float *x,
                         float *pooled) {
  for (int64_t k = 0; k < width; k++) {
    float sum = 0, largest = x[k];
    for (int64_t n = 0; n < nodes; n++) {
      float value = x[n * width + k];
      sum += value;
      largest = value > largest ? value : largest;
    }
    pooled[k] = sum / (float)nodes;
    pooled[width + k] = largest;
  }
}

/* pooled: (2 width). Returns false when out of memory. */
static bool tg_tile_run_graph(struct tg_tile_run *run, float *pooled) {
  const struct tg_tile_net *net = run->net;
  int64_t nodes = run->batch->graph->node_count, width = net->width, in;
  int64_t squeezed = 0;
  for (int b = 0; b < 2; b++) {
    squeezed = squeezed > net->dense[b].attention.squeezed
                   ? squeezed
                   : net->dense[b].attention.squeezed;
    squeezed = squeezed > net->graph[b].attention.squeezed
                   ? squeezed
                   : net->graph[b].attention.squeezed;
  }
  float *x = tg_tile_encode(run, &in);
  float *h = tg_tile_alloc(run, nodes, width);
  float *y = tg_tile_alloc(run, nodes, width);
  float *normed = tg_tile_alloc(run, nodes, width);
  float *mean = tg_tile_alloc(run, nodes, width);
  float *scratch = tg_tile_alloc(run, nodes, width + squeezed);
  double *sums = tg_arena_alloc(run->arena, 2 * (size_t)width, sizeof *sums);
  struct tg_adjacency adjacency;
  if (!x || !h || !y || !normed || !mean || !scratch || !sums ||
      !tg_adjacency_build(run->batch->graph, run->arena, &adjacency))
    return false;
  for (int b = 0; b < TG_TILE_DENSE_BLOCKS; b++) {
    const struct tg_block *block = &net->dense[b];
    const float *from = b ? h : x;
    tg_linear_apply(&block->linear, nodes, from, block->linear.in, y, width, 0);
    if (net->instance_norm)
      tg_instance_norm(nodes, width, y, y, sums);
    tg_channel_attention_apply(&block->attention, nodes, y, scratch);
    tg_gelu(nodes * width, y);
    memcpy(h, y, (size_t)(nodes * width) * sizeof *h);
  }
  for (int b = 0; b < TG_TILE_GRAPH_BLOCKS; b++) {
    const struct tg_block *block = &net->graph[b];
    const float *from = h;
    if (net->instance_norm) {
      tg_instance_norm(nodes, width, h, normed, sums);
      from = normed;
    }
    for (int64_t n = 0; n < nodes; n++)
      tg_neighbour_mean(&adjacency, n, width, from, mean + n * width);
    tg_linear_apply(&block->linear, nodes, from, width, y, width, 0);
    tg_linear_apply(&block->neighbour, nodes, mean, width, y, width, 1);
    tg_channel_attention_apply(&block->attention, nodes, y, scratch);
    for (int64_t i = 0; i < nodes * width; i++)
      h[i] += y[i];
    tg_gelu(nodes * width, h);
  }
  tg_tile_pool(nodes, width, h, pooled);
  return true;
}

/* Finds the weights' columns in the batch: index (net->config_count). */
static enum tg_status tg_tile_match(const struct tg_tile_run *run,
                                    int32_t *index) {
  const struct tg_tile_batch *batch = run->batch;
  for (int64_t i = 0; i < run->net->config_count; i++) {
    const struct tg_column *column = &run->net->config_column[i];
    int64_t found = 0;
    while (found < batch->feature_count &&
           strcmp(batch->feature_names[found], column->name) != 0)
      found++;
    if (found == batch->feature_count)
      return tg_fail(run->error,
                     "the weights need the column %s, which the configurations "
                     "don't have",
                     column->name);
    if (batch->feature_versions && column->version &&
        batch->feature_versions[found] != column->version)
      return tg_fail(run->error,
                     "the weights were trained on another formula of the "
                     "column %s",
                     column->name);
    index[i] = (int32_t)found;
  }
  return TG_OK;
}

/* y (rows, config_count), the rows behind the configurations 0. */
static enum tg_status tg_tile_encode_configs(struct tg_tile_run *run,
                                             float **y) {
  const struct tg_tile_net *net = run->net;
  const struct tg_tile_batch *batch = run->batch;
  int32_t *index =
      tg_arena_alloc(run->arena, (size_t)net->config_count, sizeof *index);
  *y = tg_tile_alloc(run, run->rows, net->config_count);
  if (!index || !*y)
    return tg_infer_no_memory(run->error);
  enum tg_status status = tg_tile_match(run, index);
  for (int64_t c = 0; !status && c < batch->config_count; c++) {
    const float *row = batch->config_feat + c * batch->feature_count;
    for (int64_t i = 0; i < net->config_count; i++) {
      float value = row[index[i]];
      if (!isfinite(value))
        return tg_fail(run->error,
                       "configuration %lld: column %s is not finite",
                       (long long)c, net->config_column[i].name);
      value = net->config_log1p ? tg_signed_log1p(value) : value;
      (*y)[c * net->config_count + i] = tg_standardise(
          value, net->config_mean[i], net->config_scale[i], net->config_limit);
    }
  }
  return status;
}

/* Mean and spread over the heads, whose `out` is (heads, rows). */
static bool tg_tile_combine(struct tg_tile_run *run, const float *out,
                            float *scores, float *spread) {
  int64_t rows = run->rows, count = run->batch->config_count;
  int64_t heads = run->net->head_count;
  double *level = tg_arena_alloc(run->arena, (size_t)heads, sizeof *level);
  if (!level)
    return false;
  for (int64_t h = 0; h < heads; h++)
    for (int64_t c = 0; c < count; c++)
      level[h] += (double)out[h * rows + c] / (double)count;
  /* Training fixes a head's differences, not its level: the spread compares
   * the heads with their means over the set taken off. */
  for (int64_t c = 0; c < count; c++) {
    double sum = 0, centred = 0, squares = 0;
    for (int64_t h = 0; h < heads; h++) {
      double value = (double)out[h * rows + c];
      sum += value;
      centred += value - level[h];
      squares += (value - level[h]) * (value - level[h]);
    }
    double mean = centred / (double)heads;
    double variance = squares / (double)heads - mean * mean;
    scores[c] = (float)(sum / (double)heads);
    if (spread)
      spread[c] = (float)sqrt(variance > 0 ? variance : 0);
  }
  return true;
}

/* x (rows, in), features (rows, config_count) */
static bool tg_tile_run_heads(struct tg_tile_run *run, const float *x,
                              const float *features, float *scores,
                              float *spread) {
  const struct tg_tile_net *net = run->net;
  int64_t rows = run->rows;
  int64_t hidden = net->head_width, heads = net->head_count;
  float *a = tg_tile_alloc(run, rows, hidden);
  float *b = tg_tile_alloc(run, rows, hidden);
  float *out = tg_tile_alloc(run, heads, rows);
  float *straight = tg_tile_alloc(run, rows, heads);
  if (!a || !b || !out || !straight)
    return false;
  if (net->has_skip)
    tg_linear_apply(&net->skip, rows, features, net->config_count, straight,
                    heads, 0);
  for (int64_t h = 0; h < heads; h++) {
    const struct tg_linear *layer = net->head[h].layer;
    tg_linear_apply(&layer[0], rows, x, layer[0].in, a, hidden, 0);
    tg_gelu(rows * hidden, a);
    tg_linear_apply(&layer[1], rows, a, hidden, b, hidden, 0);
    tg_gelu(rows * hidden, b);
    tg_linear_apply(&layer[2], rows, b, hidden, out + h * rows, 1, 0);
    for (int64_t c = 0; c < rows; c++)
      out[h * rows + c] += straight[c * heads + h];
  }
  return tg_tile_combine(run, out, scores, spread);
}

static enum tg_status tg_tile_run_configs(struct tg_tile_run *run,
                                          const float *pooled, float *scores,
                                          float *spread) {
  const struct tg_tile_net *net = run->net;
  int64_t rows = run->rows, width = net->width;
  float *features = NULL;
  enum tg_status status = tg_tile_encode_configs(run, &features);
  if (status)
    return status;
  float *a = tg_tile_alloc(run, rows, width);
  float *b = tg_tile_alloc(run, rows, width);
  float *bias = tg_tile_alloc(run, 1, width);
  float *wide = tg_tile_alloc(run, rows + 1, 2 * width);
  if (!a || !b || !bias || !wide)
    return tg_infer_no_memory(run->error);
  tg_linear_apply(&net->config[0], rows, features, net->config_count, a, width,
                  0);
  tg_gelu(rows * width, a);
  tg_linear_apply(&net->config[1], rows, a, width, b, width, 0);
  tg_gelu(rows * width, b);
  tg_linear_apply(&net->join_graph, 1, pooled, 2 * width, bias, width, 0);
  struct tg_linear join = net->join_config;
  join.bias = bias;
  tg_linear_apply(&join, rows, b, width, a, width, 0);
  tg_gelu(rows * width, a);
  if (net->cross_attention)
    tg_cross_attention(run->batch->config_count, width, net->temperature, a,
                       wide, wide + rows * 2 * width);
  if (!tg_tile_run_heads(run, net->cross_attention ? wide : a, features, scores,
                         spread))
    return tg_infer_no_memory(run->error);
  return tg_infer_check(run->batch->config_count, scores, run->error);
}

enum tg_status tg_model_score_tiles(const struct tg_model *model,
                                    const struct tg_tile_batch *batch,
                                    struct tg_arena *arena, float *scores,
                                    float *spread, struct tg_error *error) {
  if (!model->tile)
    return tg_fail(error, "%s: holds no tile network", model->weights->path);
  enum tg_status status = tg_graph_check(batch->graph, "kernel", error);
  if (status)
    return status;
  if (batch->graph->node_count < 1)
    return tg_fail(error, "kernel: the graph has no nodes");
  if (!batch->config_count)
    return TG_OK;
  struct tg_tile_run run = {
      .net = model->tile, .batch = batch, .arena = arena, .error = error};
  run.rows = (batch->config_count + TG_TILE_ROW_STEP - 1) / TG_TILE_ROW_STEP *
             TG_TILE_ROW_STEP;
  float *pooled = tg_tile_alloc(&run, 2, model->tile->width);
  if (!pooled || !tg_tile_run_graph(&run, pooled))
    return tg_infer_no_memory(error);
  return tg_tile_run_configs(&run, pooled, scores, spread);
}
