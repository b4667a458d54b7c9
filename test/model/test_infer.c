/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The networks in C against the scores that PyTorch wrote into vectors/ (each
 * combination of switches, and the embedded weights), and what a score must not
 * depend on.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/dataset.h"
#include "model/infer.h"
#include "model/weights.h"

#define VECTORS TG_TEST_INPUTS "/../model/vectors/"

/* Counts calls of the C library's allocator, except under a sanitizer, which
 * brings its own. */
static long allocation_count;
#if !defined(__SANITIZE_ADDRESS__)
extern void *__libc_malloc(size_t nbytes);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t nbytes);
extern void *__libc_memalign(size_t alignment, size_t nbytes);
void *malloc(size_t nbytes) {
  allocation_count++;
  return __libc_malloc(nbytes);
}
void *calloc(size_t count, size_t size) {
  allocation_count++;
  return __libc_calloc(count, size);
}
void *realloc(void *memory, size_t nbytes) {
  allocation_count++;
  return __libc_realloc(memory, nbytes);
}
void *aligned_alloc(size_t alignment, size_t nbytes) {
  allocation_count++;
  return __libc_memalign(alignment, nbytes);
}
#endif

enum { MAX_CONFIGS = 64 };

struct fixture {
  struct tg_arena *arena;
  struct tg_npz *npz;
  struct tg_graph graph;
  struct tg_target target;
  struct tg_tile_batch tile;
  struct tg_layout_batch layout;
  float *scores, *spread; /* as PyTorch computed them */
};

#define CHECKED(call)                                                          \
  do {                                                                         \
    if ((call) != TG_OK)                                                       \
      fail_msg("%s", error.message);                                           \
  } while (0)

static void read_graph(struct fixture *f) {
  struct tg_error error;
  int64_t shape[] = {TG_NPZ_ANY, TG_NODE_FEATURE_COUNT};
  int64_t edges[] = {TG_NPZ_ANY, 2};
  CHECKED(tg_npz_get_f32(f->npz, "node_feat", 2, shape, f->arena,
                         &f->graph.node_feat, &error));
  f->graph.node_count = shape[0];
  CHECKED(tg_npz_get_i32(f->npz, "node_opcode", 1, shape, 0, 120, f->arena,
                         &f->graph.node_opcode, &error));
  CHECKED(tg_npz_get_i32(f->npz, "edge_index", 2, edges, 0, 1000, f->arena,
                         &f->graph.edges, &error));
  f->graph.edge_count = edges[0];
}

static void read_target(struct fixture *f) {
  struct tg_error error;
  int64_t count = TG_NPZ_ANY, *values;
  const char **names;
  CHECKED(tg_target_parse("generic", &f->target, &error));
  CHECKED(
      tg_npz_get_i64(f->npz, "target", 1, &count, f->arena, &values, &error));
  CHECKED(tg_npz_get_text(f->npz, "target_names", 1, &count, f->arena, &names,
                          &error));
  for (int64_t i = 0; i < count; i++)
    for (int k = 0; k < TG_TARGET_COLUMN_COUNT; k++)
      if (!strcmp(tg_target_column_names[k], names[i]))
        tg_target_set_column(&f->target, k, values[i]);
}

static void read_vector(const char *path, struct fixture *f) {
  struct tg_error error;
  memset(f, 0, sizeof *f);
  f->arena = tg_arena_create();
  CHECKED(tg_npz_read(path, f->arena, &f->npz, &error));
  read_graph(f);
  int64_t configs = TG_NPZ_ANY;
  CHECKED(tg_npz_get_f32(f->npz, "scores", 1, &configs, f->arena, &f->scores,
                         &error));
  if (tg_dataset_is_layout(f->npz)) {
    struct tg_layout_batch *b = &f->layout;
    int32_t *ids;
    int8_t *values;
    b->graph = &f->graph;
    b->config_count = configs;
    b->configurable_count = TG_NPZ_ANY;
    CHECKED(tg_npz_get_i32(f->npz, "node_config_ids", 1, &b->configurable_count,
                           0, 1000, f->arena, &ids, &error));
    int64_t shape[] = {configs, b->configurable_count, 18};
    CHECKED(tg_npz_get_i8(f->npz, "node_config_feat", 3, shape, -2, 5, f->arena,
                          &values, &error));
    b->node_config_ids = ids;
    b->node_config_feat = values;
    return;
  }
  struct tg_tile_batch *b = &f->tile;
  const char **names;
  float *values;
  read_target(f);
  CHECKED(tg_npz_get_f32(f->npz, "spread", 1, &configs, f->arena, &f->spread,
                         &error));
  int64_t shape[] = {configs, TG_NPZ_ANY};
  CHECKED(
      tg_npz_get_f32(f->npz, "features", 2, shape, f->arena, &values, &error));
  CHECKED(tg_npz_get_text(f->npz, "feature_names", 1, &shape[1], f->arena,
                          &names, &error));
  *b = (struct tg_tile_batch){.graph = &f->graph,
                              .target = &f->target,
                              .config_count = configs,
                              .feature_count = shape[1],
                              .feature_names = names,
                              .config_feat = values};
}

static struct tg_model *read_model(const char *path) {
  struct tg_model *model = NULL;
  struct tg_error error;
  CHECKED(tg_model_create_from_file(path, &model, &error));
  return model;
}

static void assert_close(float actual, float expected, const char *what) {
  if (!(fabsf(actual - expected) <= 1e-4f * fmaxf(1.0f, fabsf(expected))))
    fail_msg("%s: %.7g, PyTorch has %.7g", what, (double)actual,
             (double)expected);
}

static void compare_tile(const struct tg_model *model, const char *path) {
  struct fixture f;
  struct tg_error error;
  float scores[MAX_CONFIGS], spread[MAX_CONFIGS];
  read_vector(path, &f);
  CHECKED(
      tg_model_score_tiles(model, &f.tile, f.arena, scores, spread, &error));
  for (int64_t c = 0; c < f.tile.config_count; c++) {
    assert_close(scores[c], f.scores[c], path);
    assert_close(spread[c], f.spread[c], path);
  }
  tg_arena_destroy(f.arena);
}

static void compare_layout(const struct tg_model *model, const char *path) {
  struct fixture f;
  struct tg_error error;
  float scores[MAX_CONFIGS];
  read_vector(path, &f);
  CHECKED(tg_model_score_layouts(model, &f.layout, f.arena, scores, &error));
  for (int64_t c = 0; c < f.layout.config_count; c++)
    assert_close(scores[c], f.scores[c], path);
  tg_arena_destroy(f.arena);
}

static const char *const variants[] = {"plain_raw", "plain_norm", "cross_raw",
                                       "cross_norm"};

static void every_switch_agrees_with_pytorch(void **state) {
  (void)state;
  for (int i = 0; i < 4; i++) {
    char path[1024];
    snprintf(path, sizeof path, VECTORS "%s.tgw", variants[i]);
    struct tg_model *model = read_model(path);
    snprintf(path, sizeof path, VECTORS "%s_tile.npz", variants[i]);
    compare_tile(model, path);
    snprintf(path, sizeof path, VECTORS "%s_layout.npz", variants[i]);
    compare_layout(model, path);
    tg_model_destroy(model);
  }
}

static void embedded_weights_agree_with_pytorch(void **state) {
  (void)state;
  const struct tg_model *model = tg_model_get_embedded();
  if (!model)
    skip(); /* built with TGRAPH_WEIGHTS=none */
  compare_tile(model, VECTORS "embedded_tile.npz");
  compare_layout(model, VECTORS "embedded_layout.npz");
}

/* Without cross-attention to the last bit; with it the sums over the set are
 * rounded in another order. */
static void order_of_the_set_is_irrelevant(void **state) {
  (void)state;
  for (int i = 0; i < 4; i++) {
    char path[1024];
    struct fixture f;
    struct tg_error error;
    float straight[MAX_CONFIGS], turned[MAX_CONFIGS];
    snprintf(path, sizeof path, VECTORS "%s.tgw", variants[i]);
    struct tg_model *model = read_model(path);
    snprintf(path, sizeof path, VECTORS "%s_tile.npz", variants[i]);
    read_vector(path, &f);
    int64_t count = f.tile.config_count, width = f.tile.feature_count;
    float *reversed =
        tg_arena_alloc(f.arena, (size_t)(count * width), sizeof *reversed);
    for (int64_t c = 0; c < count; c++)
      memcpy(reversed + c * width, f.tile.config_feat + (count - 1 - c) * width,
             (size_t)width * sizeof *reversed);
    CHECKED(
        tg_model_score_tiles(model, &f.tile, f.arena, straight, NULL, &error));
    f.tile.config_feat = reversed;
    CHECKED(
        tg_model_score_tiles(model, &f.tile, f.arena, turned, NULL, &error));
    for (int64_t c = 0; c < count; c++) {
      float difference = fabsf(straight[c] - turned[count - 1 - c]);
      assert_true(difference <= (i < 2 ? 0.0f : 1e-6f));
    }
    tg_arena_destroy(f.arena);
    tg_model_destroy(model);
  }
}

/* Without cross-attention a score doesn't depend on its companions. */
static void plain_scores_hold_in_any_set(void **state) {
  (void)state;
  struct fixture f;
  struct tg_error error;
  float all[MAX_CONFIGS], few[MAX_CONFIGS];
  struct tg_model *model = read_model(VECTORS "plain_raw.tgw");
  read_vector(VECTORS "plain_raw_tile.npz", &f);
  CHECKED(tg_model_score_tiles(model, &f.tile, f.arena, all, NULL, &error));
  f.tile.config_count = 5;
  CHECKED(tg_model_score_tiles(model, &f.tile, f.arena, few, NULL, &error));
  for (int c = 0; c < 5; c++)
    assert_true(fabsf(all[c] - few[c]) <= 1e-6f);
  tg_arena_destroy(f.arena);
  tg_model_destroy(model);
}

static void columns_are_matched_by_name(void **state) {
  (void)state;
  struct fixture f;
  struct tg_error error;
  float expected[MAX_CONFIGS], actual[MAX_CONFIGS];
  struct tg_model *model = read_model(VECTORS "plain_raw.tgw");
  read_vector(VECTORS "plain_raw_tile.npz", &f);
  CHECKED(
      tg_model_score_tiles(model, &f.tile, f.arena, expected, NULL, &error));
  int64_t count = f.tile.config_count, width = f.tile.feature_count;
  const char **names =
      tg_arena_alloc(f.arena, (size_t)width + 1, sizeof *names);
  float *wider =
      tg_arena_alloc(f.arena, (size_t)(count * (width + 1)), sizeof *wider);
  names[0] = "a column that the weights don't know";
  for (int64_t i = 0; i < width; i++)
    names[i + 1] = f.tile.feature_names[i];
  for (int64_t c = 0; c < count; c++)
    memcpy(wider + c * (width + 1) + 1, f.tile.config_feat + c * width,
           (size_t)width * sizeof *wider);
  f.tile.feature_count = width + 1;
  f.tile.feature_names = names;
  f.tile.config_feat = wider;
  CHECKED(tg_model_score_tiles(model, &f.tile, f.arena, actual, NULL, &error));
  assert_memory_equal(expected, actual, (size_t)count * sizeof *actual);
  tg_arena_destroy(f.arena);
  tg_model_destroy(model);
}

static void assert_refused(const struct tg_model *model, struct fixture *f,
                           const char *part) {
  struct tg_error error = {""};
  float scores[MAX_CONFIGS];
  assert_int_equal(
      tg_model_score_tiles(model, &f->tile, f->arena, scores, NULL, &error),
      TG_BAD_INPUT);
  if (!strstr(error.message, part))
    fail_msg("'%s' doesn't name '%s'", error.message, part);
}

static void missing_changed_and_infinite_columns_are_refused(void **state) {
  (void)state;
  struct fixture f;
  struct tg_model *model = read_model(VECTORS "plain_raw.tgw");
  read_vector(VECTORS "plain_raw_tile.npz", &f);
  int64_t width = f.tile.feature_count;
  uint64_t *versions = tg_arena_alloc(f.arena, (size_t)width, sizeof *versions);
  for (int64_t i = 0; i < width; i++)
    versions[i] = tg_hash_text(TG_HASH_START, f.tile.feature_names[i]);
  f.tile.feature_versions = versions;
  struct tg_error error;
  float scores[MAX_CONFIGS];
  CHECKED(tg_model_score_tiles(model, &f.tile, f.arena, scores, NULL, &error));
  versions[1]++;
  assert_refused(model, &f, f.tile.feature_names[1]);
  f.tile.feature_versions = NULL;
  float *values = (float *)f.tile.config_feat;
  values[2 * width + 1] = NAN;
  assert_refused(model, &f, "configuration 2");
  values[2 * width + 1] = 0;
  f.graph.node_feat[3] = INFINITY;
  assert_refused(model, &f, "");
  f.graph.node_feat[3] = 0;
  const char **names = (const char **)f.tile.feature_names;
  names[1] = "renamed";
  assert_refused(model, &f, "column_2");
  tg_arena_destroy(f.arena);
  tg_model_destroy(model);
}

static void wrong_layouts_are_refused(void **state) {
  (void)state;
  struct fixture f;
  struct tg_error error = {""};
  float scores[MAX_CONFIGS];
  struct tg_model *model = read_model(VECTORS "cross_norm.tgw");
  read_vector(VECTORS "cross_norm_layout.npz", &f);
  int8_t *values = (int8_t *)f.layout.node_config_feat;
  values[7] = 6;
  assert_int_equal(
      tg_model_score_layouts(model, &f.layout, f.arena, scores, &error),
      TG_BAD_INPUT);
  values[7] = 0;
  int32_t *ids = (int32_t *)f.layout.node_config_ids;
  ids[0] = (int32_t)f.graph.node_count;
  assert_int_equal(
      tg_model_score_layouts(model, &f.layout, f.arena, scores, &error),
      TG_BAD_INPUT);
  tg_arena_destroy(f.arena);
  tg_model_destroy(model);
}

/* The second scoring of a kernel finds its memory in the arena. */
static void scoring_allocates_nothing(void **state) {
  (void)state;
  struct fixture f;
  struct tg_error error;
  float scores[MAX_CONFIGS], spread[MAX_CONFIGS];
  struct tg_model *model = read_model(VECTORS "cross_norm.tgw");
  read_vector(VECTORS "cross_norm_tile.npz", &f);
  struct tg_arena *arena = tg_arena_create();
  CHECKED(tg_model_score_tiles(model, &f.tile, arena, scores, spread, &error));
  long before = allocation_count;
  for (int i = 0; i < 3; i++) {
    tg_arena_reset(arena);
    CHECKED(
        tg_model_score_tiles(model, &f.tile, arena, scores, spread, &error));
  }
  assert_int_equal(allocation_count, before);
  tg_arena_destroy(arena);
  tg_arena_destroy(f.arena);
  tg_model_destroy(model);
}

static void a_set_of_one_and_of_none(void **state) {
  (void)state;
  struct fixture f;
  struct tg_error error;
  float scores[MAX_CONFIGS], spread[MAX_CONFIGS];
  struct tg_model *model = read_model(VECTORS "cross_raw.tgw");
  read_vector(VECTORS "cross_raw_tile.npz", &f);
  f.tile.config_count = 0;
  CHECKED(
      tg_model_score_tiles(model, &f.tile, f.arena, scores, spread, &error));
  f.tile.config_count = 1;
  CHECKED(
      tg_model_score_tiles(model, &f.tile, f.arena, scores, spread, &error));
  assert_true(isfinite(scores[0]));
  assert_true(spread[0] < 1e-6f); /* nothing to compare with */
  tg_arena_destroy(f.arena);
  read_vector(VECTORS "cross_raw_layout.npz", &f);
  f.layout.config_count = 1;
  CHECKED(tg_model_score_layouts(model, &f.layout, f.arena, scores, &error));
  assert_true(isfinite(scores[0]));
  tg_arena_destroy(f.arena);
  tg_model_destroy(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_switch_agrees_with_pytorch),
      cmocka_unit_test(embedded_weights_agree_with_pytorch),
      cmocka_unit_test(order_of_the_set_is_irrelevant),
      cmocka_unit_test(plain_scores_hold_in_any_set),
      cmocka_unit_test(columns_are_matched_by_name),
      cmocka_unit_test(missing_changed_and_infinite_columns_are_refused),
      cmocka_unit_test(wrong_layouts_are_refused),
      cmocka_unit_test(scoring_allocates_nothing),
      cmocka_unit_test(a_set_of_one_and_of_none),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
