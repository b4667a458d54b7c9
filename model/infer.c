/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Models: from a weights file to networks whose every tensor is in place. */
#include "model/infer.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <threads.h>

#include "model/file.h"
#include "model/infer_internal.h"

enum tg_status tg_infer_no_memory(struct tg_error *error) {
  return tg_fail_memory(error, "scoring");
}

enum tg_status tg_infer_check(int64_t count, const float *scores,
                              struct tg_error *error) {
  for (int64_t c = 0; c < count; c++)
    if (!isfinite(scores[c]))
      return tg_fail(error, "configuration %lld: the score is not finite",
                     (long long)c);
  return TG_OK;
}

void *tg_bind_alloc(struct tg_binder *binder, size_t count, size_t size) {
  void *memory =
      binder->status ? NULL : tg_arena_alloc(binder->arena, count, size);
  if (!memory && !binder->status)
    binder->status = tg_fail_memory(binder->error, binder->weights->path);
  return memory;
}

const struct tg_tensor *tg_bind_tensor(struct tg_binder *binder,
                                       const char *name, int64_t shape0,
                                       int64_t shape1, int64_t shape2) {
  char full[128];
  if (binder->status)
    return NULL;
  snprintf(full, sizeof full, "%s.%s", binder->network, name);
  const struct tg_tensor *tensor =
      tg_weights_find_tensor(binder->weights, full);
  if (!tensor) {
    binder->status = tg_fail(binder->error, "%s: tensor %s is missing",
                             binder->weights->path, full);
    return NULL;
  }
  int64_t shape[] = {shape0, shape1, shape2};
  int rank = 0;
  bool fits = true;
  for (; rank < 3 && shape[rank]; rank++)
    fits = fits && rank < tensor->rank &&
           (shape[rank] < 0 || shape[rank] == tensor->shape[rank]);
  if (fits && rank == tensor->rank)
    return tensor;
  binder->status = tg_fail(binder->error,
                           "%s: tensor %s has another shape than "
                           "this program's network",
                           binder->weights->path, full);
  return NULL;
}

int64_t tg_bind_setting(struct tg_binder *binder, const char *name, int64_t low,
                        int64_t high) {
  char full[128];
  double value;
  if (binder->status)
    return low;
  snprintf(full, sizeof full, "%s.%s", binder->network, name);
  if (!tg_weights_get_setting(binder->weights, full, &value)) {
    binder->status = tg_fail(binder->error, "%s: setting %s is missing",
                             binder->weights->path, full);
    return low;
  }
  if (!(value >= (double)low && value <= (double)high) ||
      value != floor(value)) {
    binder->status = tg_fail(binder->error,
                             "%s: setting %s is %g, expected "
                             "a whole number in %lld..%lld",
                             binder->weights->path, full, value, (long long)low,
                             (long long)high);
    return low;
  }
  return (int64_t)value;
}

static int32_t tg_find_node_column(const char *name) {
  for (int32_t i = 0; i < TG_NODE_FEATURE_COUNT; i++)
    if (!strcmp(tg_node_feature_names[i], name))
      return i;
  return -1;
}

void tg_bind_node_encoder(struct tg_binder *binder,
                          struct tg_node_encoder *encoder) {
  char scope[64];
  snprintf(scope, sizeof scope, "%s.node", binder->network);
  int64_t count;
  const struct tg_column *columns =
      tg_weights_get_columns(binder->weights, scope, &count);
  int32_t *column = tg_bind_alloc(binder, (size_t)count, sizeof *column);
  for (int64_t i = 0; !binder->status && i < count; i++) {
    column[i] = tg_find_node_column(columns[i].name);
    if (column[i] < 0)
      binder->status = tg_fail(binder->error,
                               "%s: the column %s of node_feat is unknown to "
                               "this program",
                               binder->weights->path, columns[i].name);
  }
  encoder->column_count = count;
  encoder->width = count + TG_OP_EMBEDDING + TG_NODE_LAYOUT_EMBEDDING;
  encoder->column = column;
  const struct tg_tensor *mean =
      tg_bind_tensor(binder, "node_mean", count, 0, 0);
  const struct tg_tensor *scale =
      tg_bind_tensor(binder, "node_scale", count, 0, 0);
  const struct tg_tensor *op =
      tg_bind_tensor(binder, "op", TG_OPCODE_COUNT, TG_OP_EMBEDDING, 0);
  const struct tg_tensor *layout =
      tg_bind_tensor(binder, "layout", TG_LAYOUT_ROWS, TG_LAYOUT_EMBEDDING, 0);
  encoder->log1p = tg_bind_setting(binder, "node_log1p", 0, 1);
  encoder->limit = (float)tg_bind_setting(binder, "node_limit", 1, 1000000);
  if (binder->status)
    return;
  encoder->mean = mean->data;
  encoder->scale = scale->data;
  encoder->op = op->data;
  encoder->layout = layout->data;
}

void tg_encode_nodes(const struct tg_node_encoder *encoder,
                     const struct tg_graph *graph, float *x, int64_t stride) {
  for (int64_t n = 0; n < graph->node_count; n++) {
    const float *row = graph->node_feat + n * TG_NODE_FEATURE_COUNT;
    float *out = x + n * stride;
    for (int64_t i = 0; i < encoder->column_count; i++) {
      float value = row[encoder->column[i]];
      value = encoder->log1p ? tg_signed_log1p(value) : value;
      *out++ = tg_standardise(value, encoder->mean[i], encoder->scale[i],
                              encoder->limit);
    }
    memcpy(out, encoder->op + graph->node_opcode[n] * TG_OP_EMBEDDING,
           TG_OP_EMBEDDING * sizeof *out);
    out += TG_OP_EMBEDDING;
    for (int64_t d = 0; d < TG_NODE_LAYOUT_COUNT; d++) {
      float value = row[TG_FIRST_LAYOUT_COLUMN + d];
      int64_t v = value < -2.0f ? -2 : value > 5.0f ? 5 : (int64_t)value;
      memcpy(out, encoder->layout + (v + 2) * TG_LAYOUT_EMBEDDING,
             TG_LAYOUT_EMBEDDING * sizeof *out);
      out += TG_LAYOUT_EMBEDDING;
    }
  }
}

void tg_bind_block(struct tg_binder *binder, const char *name, int64_t in,
                   int64_t out, bool graph, bool cross,
                   struct tg_block *block) {
  char part[96];
#define TG_BIND_PART(field, suffix, s0, s1)                                    \
  do {                                                                         \
    snprintf(part, sizeof part, "%s.%s", name, suffix);                        \
    const struct tg_tensor *tensor = tg_bind_tensor(binder, part, s0, s1, 0);  \
    if (!tensor)                                                               \
      return;                                                                  \
    field;                                                                     \
  } while (0)
  block->linear.in = block->neighbour.in = in;
  block->linear.out = block->neighbour.out = out;
  block->attention.width = out;
  TG_BIND_PART(block->linear.weight = tensor->data, "weight", out, in);
  TG_BIND_PART(block->linear.bias = tensor->data, "bias", out, 0);
  TG_BIND_PART(
      {
        block->attention.squeeze = tensor->data;
        block->attention.squeezed = tensor->shape[0];
      },
      "squeeze", -1, out);
  TG_BIND_PART(block->attention.expand = tensor->data, "expand", out,
               block->attention.squeezed);
  if (graph)
    TG_BIND_PART(block->neighbour.weight = tensor->data, "neighbour", out, in);
  if (cross)
    TG_BIND_PART(block->temperature = tensor->data[0], "temperature", 1, 0);
#undef TG_BIND_PART
  if (cross && !(block->temperature > 0))
    binder->status =
        tg_fail(binder->error, "%s: %s.%s.temperature is not positive",
                binder->weights->path, binder->network, name);
}

/* A network is there when its settings are. */
static bool tg_model_has(const struct tg_weights *weights, const char *name) {
  double width;
  return tg_weights_get_setting(weights, name, &width);
}

static enum tg_status tg_model_create(const char *path,
                                      const unsigned char *data, size_t nbytes,
                                      struct tg_arena *arena,
                                      struct tg_model **model,
                                      struct tg_error *error) {
  struct tg_weights *weights = NULL;
  enum tg_status status =
      tg_weights_parse(path, data, nbytes, arena, &weights, error);
  if (status)
    return status;
  struct tg_model *result = tg_arena_alloc(arena, 1, sizeof *result);
  if (!result)
    return tg_fail_memory(error, path);
  result->arena = arena;
  result->weights = weights;
  struct tg_binder binder = {weights, arena, "tile", TG_OK, error};
  bool has_tile = tg_model_has(weights, "tile.width");
  bool has_layout = tg_model_has(weights, "layout.width");
  if (!has_tile && !has_layout)
    return tg_fail(error, "%s: holds no network", path);
  if (has_tile)
    result->tile = tg_tile_net_bind(&binder);
  binder.network = "layout";
  if (!binder.status && has_layout)
    result->layout = tg_layout_net_bind(&binder);
  if (binder.status)
    return binder.status;
  tg_math_set_up();
  *model = result;
  return TG_OK;
}

enum tg_status tg_model_create_from_memory(const char *path,
                                           const unsigned char *data,
                                           size_t nbytes,
                                           struct tg_model **model,
                                           struct tg_error *error) {
  struct tg_arena *arena = tg_arena_create();
  if (!arena)
    return tg_fail_memory(error, path);
  enum tg_status status =
      tg_model_create(path, data, nbytes, arena, model, error);
  if (status)
    tg_arena_destroy(arena);
  return status;
}

enum tg_status tg_model_create_from_file(const char *path,
                                         struct tg_model **model,
                                         struct tg_error *error) {
  unsigned char *data = NULL;
  size_t nbytes = 0;
  struct tg_arena *arena = tg_arena_create();
  if (!arena)
    return tg_fail_memory(error, path);
  enum tg_status status = tg_file_read(path, arena, &data, &nbytes, error);
  if (!status)
    status = tg_model_create_from_memory(path, data, nbytes, model, error);
  tg_arena_destroy(arena);
  return status;
}

void tg_model_destroy(struct tg_model *model) {
  if (model)
    tg_arena_destroy(model->arena);
}

static struct tg_model *tg_embedded_model;

static void tg_create_embedded_model(void) {
  struct tg_error error = {""};
  if (!tg_embedded_weights_nbytes)
    return;
  enum tg_status status = tg_model_create_from_memory(
      "embedded weights", tg_embedded_weights, tg_embedded_weights_nbytes,
      &tg_embedded_model, &error);
  /* The build refuses weights that don't fit the code. */
  assert(status != TG_BAD_INPUT);
  (void)status;
}

const struct tg_model *tg_model_get_embedded(void) {
  static once_flag once = ONCE_FLAG_INIT;
  call_once(&once, tg_create_embedded_model);
  return tg_embedded_model;
}

const char *tg_model_get_card(const struct tg_model *model) {
  return model->weights->card;
}

uint64_t tg_model_schema_hash(const struct tg_model *model) {
  return model->weights->schema_hash;
}
