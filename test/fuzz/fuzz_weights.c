/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Any bytes as a .tgw file, as they are and with checksum and total size made
 * right, so that changes reach the table. A model that is accepted must score.
 */
#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "model/infer.h"
#include "model/weights.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void score(const struct tg_model *model) {
  static float node_feat[2 * TG_NODE_FEATURE_COUNT];
  static int32_t opcode[2], edges[2] = {1, 0};
  static const int32_t ids[1] = {1};
  static const int8_t layouts[2 * 18];
  struct tg_graph graph = {.node_count = 2,
                           .edge_count = 1,
                           .node_feat = node_feat,
                           .node_opcode = opcode,
                           .edges = edges};
  static const char *const names[] = {"column_0", "column_2", "column_4",
                                      "column_6", "column_8"};
  static const float features[2 * 5] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  struct tg_target target;
  struct tg_error error;
  struct tg_arena *arena = tg_arena_create();
  float scores[2], spread[2];
  if (!arena || tg_target_parse("avx2", &target, &error))
    abort();
  struct tg_tile_batch tile = {.graph = &graph,
                               .target = &target,
                               .config_count = 2,
                               .feature_count = 5,
                               .feature_names = names,
                               .config_feat = features};
  struct tg_layout_batch layout = {.graph = &graph,
                                   .config_count = 2,
                                   .configurable_count = 1,
                                   .node_config_ids = ids,
                                   .node_config_feat = layouts};
  (void)tg_model_score_tiles(model, &tile, arena, scores, spread, &error);
  (void)tg_model_score_layouts(model, &layout, arena, scores, &error);
  tg_arena_destroy(arena);
}

static void read_model(const uint8_t *data, size_t size) {
  struct tg_error error = {""};
  struct tg_model *model = NULL;
  if (tg_model_create_from_memory("fuzz", data, size, &model, &error)) {
    assert(error.message[0]);
    return;
  }
  score(model);
  tg_model_destroy(model);
}

/* FNV-1a over the column lines, as the format wants it at byte 40. */
static void seal_columns(uint8_t *bytes, size_t size) {
  uint32_t card, table;
  memcpy(&card, bytes + 12, 4);
  memcpy(&table, bytes + 16, 4);
  if (size < 52 || card > size - 52 || table > size - 52 - card)
    return;
  const char *line = (const char *)bytes + 48 + card, *end = line + table;
  uint64_t hash = TG_HASH_START;
  while (line < end) {
    const char *next = memchr(line, '\n', (size_t)(end - line));
    if (!next)
      break;
    if (next - line > 7 && !memcmp(line, "column ", 7))
      for (const char *c = line + 7; c <= next; c++)
        hash = (hash ^ (unsigned char)*c) * UINT64_C(1099511628211);
    line = next + 1;
  }
  memcpy(bytes + 40, &hash, 8);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  read_model(data, size);
  if (size < 52)
    return 0;
  uint8_t *copy = malloc(size);
  if (!copy)
    abort();
  memcpy(copy, data, size);
  seal_columns(copy, size);
  uint32_t crc = (uint32_t)crc32(0, copy, (uInt)(size - 4));
  memcpy(copy + size - 4, &crc, 4);
  read_model(copy, size);
  free(copy);
  return 0;
}
