/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Run by the build after it is linked: do the embedded weights fit this code?
 * Every tensor must be in place, and every column of a configuration must exist
 * with the formula that the weights were trained on. Prints why not and exits
 * with 1, which stops the build.
 */
#include <stdio.h>

#include "model/cost.h"
#include "model/infer.h"
#include "model/weights.h"

/* Scores two rows of zeros with the columns that the passes will offer. */
static enum tg_status check_columns(const struct tg_model *model,
                                    struct tg_arena *arena,
                                    struct tg_error *error) {
  static float node_feat[TG_NODE_FEATURE_COUNT];
  static float rows[2 * TG_FEATURE_COUNT];
  static int32_t opcode[1];
  uint64_t versions[TG_FEATURE_COUNT];
  float scores[2];
  struct tg_target target;
  struct tg_graph graph = {
      .node_count = 1, .node_feat = node_feat, .node_opcode = opcode};
  for (int i = 0; i < TG_FEATURE_COUNT; i++)
    versions[i] = tg_hash_text(TG_HASH_START, tg_feature_formulas[i]);
  struct tg_tile_batch batch = {.graph = &graph,
                                .target = &target,
                                .config_count = 2,
                                .feature_count = TG_FEATURE_COUNT,
                                .feature_names = tg_feature_names,
                                .feature_versions = versions,
                                .config_feat = rows};
  enum tg_status status = tg_target_parse("avx2", &target, error);
  if (!status)
    status = tg_model_score_tiles(model, &batch, arena, scores, NULL, error);
  return status;
}

int main(void) {
  struct tg_error error = {"out of memory"};
  struct tg_model *model = NULL;
  struct tg_arena *arena = tg_arena_create();
  enum tg_status status = arena ? TG_OK : TG_OUT_OF_MEMORY;
  if (!status)
    status =
        tg_model_create_from_memory("the weights to embed", tg_embedded_weights,
                                    tg_embedded_weights_nbytes, &model, &error);
  if (!status)
    status = check_columns(model, arena, &error);
  tg_model_destroy(model);
  tg_arena_destroy(arena);
  if (!status)
    return 0;
  fprintf(stderr,
          "error: %s\n"
          "       Train again (model/train), or build with "
          "-DTGRAPH_WEIGHTS=none to measure first.\n",
          error.message);
  return 1;
}
