/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Arrays in and out, files of NumPy, and what must not be read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "model/dataset.h"
#include "model/file.h"
#include "model/npz.h"

#define TPU TG_TEST_INPUTS "/tpugraphs/"

static struct tg_arena *arena;

static int set_up(void **state) {
  (void)state;
  arena = tg_arena_create();
  return arena ? 0 : -1;
}

static int tear_down(void **state) {
  (void)state;
  tg_arena_destroy(arena);
  return 0;
}

static struct tg_npz *read_npz(const char *path) {
  struct tg_npz *npz = NULL;
  struct tg_error error;
  if (tg_npz_read(path, arena, &npz, &error))
    fail_msg("%s", error.message);
  return npz;
}

static void write_sample(const char *path) {
  struct tg_npz_writer *writer = tg_npz_writer_create();
  struct tg_error error;
  static const float matrix[] = {1, 2.5f, -3, 4, 5, 6};
  static const int8_t bytes[] = {-128, 0, 127};
  static const uint64_t large[] = {UINT64_MAX};
  static const char *const names[] = {"a", "h\xc3\xa9t\xc3\xa9", ""};
  tg_npz_writer_add(writer, "matrix", TG_NPZ_FLOAT, 4, 2,
                    (const int64_t[]){2, 3}, matrix);
  tg_npz_writer_add(writer, "bytes", TG_NPZ_INT, 1, 1, (const int64_t[]){3},
                    bytes);
  tg_npz_writer_add(writer, "large", TG_NPZ_UINT, 8, 1, (const int64_t[]){1},
                    large);
  tg_npz_writer_add(writer, "empty", TG_NPZ_FLOAT, 8, 2,
                    (const int64_t[]){0, 7}, matrix);
  tg_npz_writer_add_texts(writer, "names", 3, names);
  tg_npz_writer_add_text(writer, "word", "kernel");
  if (tg_npz_writer_finish(writer, path, &error))
    fail_msg("%s", error.message);
  tg_npz_writer_destroy(writer);
}

static void what_is_written_reads_back(void **state) {
  (void)state;
  struct tg_error error;
  write_sample("sample.npz");
  struct tg_npz *npz = read_npz("sample.npz");
  int64_t shape[2] = {TG_NPZ_ANY, TG_NPZ_ANY}, *integers;
  float *floats;
  const char **texts;
  assert_int_equal(
      tg_npz_get_f32(npz, "matrix", 2, shape, arena, &floats, &error), TG_OK);
  assert_int_equal(shape[0], 2);
  assert_true(floats[1] == 2.5f && floats[5] == 6);
  shape[0] = 3;
  assert_int_equal(
      tg_npz_get_i64(npz, "bytes", 1, shape, arena, &integers, &error), TG_OK);
  assert_int_equal(integers[0], -128);
  assert_int_equal(
      tg_npz_get_text(npz, "names", 1, shape, arena, &texts, &error), TG_OK);
  assert_string_equal(texts[1], "h\xc3\xa9t\xc3\xa9");
  assert_string_equal(texts[2], "");
  assert_int_equal(tg_npz_get_text(npz, "word", 0, NULL, arena, &texts, &error),
                   TG_OK);
  assert_string_equal(texts[0], "kernel");
  assert_int_equal(tg_npz_find(npz, "empty")->count, 0);
}

static void equal_data_gives_equal_files(void **state) {
  (void)state;
  unsigned char *a = NULL, *b = NULL;
  size_t a_nbytes = 0, b_nbytes = 0;
  struct tg_error error;
  write_sample("one.npz");
  write_sample("two.npz");
  assert_int_equal(tg_file_read("one.npz", arena, &a, &a_nbytes, &error), 0);
  assert_int_equal(tg_file_read("two.npz", arena, &b, &b_nbytes, &error), 0);
  assert_int_equal(a_nbytes, b_nbytes);
  assert_memory_equal(a, b, a_nbytes);
}

static void wrong_requests_name_file_key_and_fault(void **state) {
  (void)state;
  struct tg_error error;
  write_sample("sample.npz");
  struct tg_npz *npz = read_npz("sample.npz");
  int64_t shape[2] = {2, 4}, *integers;
  int8_t *bytes;
  float *floats;
  assert_int_equal(
      tg_npz_get_f32(npz, "matrix", 2, shape, arena, &floats, &error),
      TG_BAD_INPUT);
  assert_string_equal(error.message,
                      "sample.npz: matrix: dimension 1 is 3, expected 4");
  tg_npz_get_f32(npz, "none", 2, shape, arena, &floats, &error);
  assert_string_equal(error.message, "sample.npz: none: missing");
  shape[0] = TG_NPZ_ANY;
  tg_npz_get_i64(npz, "large", 1, shape, arena, &integers, &error);
  assert_non_null(strstr(error.message, "large: item 0"));
  shape[0] = TG_NPZ_ANY;
  tg_npz_get_i8(npz, "bytes", 1, shape, -2, 5, arena, &bytes, &error);
  assert_string_equal(error.message,
                      "sample.npz: bytes: item 0 is -128, outside of -2..5");
  shape[0] = TG_NPZ_ANY;
  tg_npz_get_f32(npz, "names", 1, shape, arena, &floats, &error);
  assert_string_equal(
      error.message,
      "sample.npz: names: holds unicode items, expected numbers");
}

static void a_key_twice_is_refused_and_nothing_is_written(void **state) {
  (void)state;
  struct tg_npz_writer *writer = tg_npz_writer_create();
  struct tg_error error;
  unlink("twice.npz");
  tg_npz_writer_add_text(writer, "key", "a");
  tg_npz_writer_add_text(writer, "key", "b");
  assert_int_not_equal(tg_npz_writer_finish(writer, "twice.npz", &error),
                       TG_OK);
  tg_npz_writer_destroy(writer);
  assert_int_equal(access("twice.npz", F_OK), -1);
}

static void an_unwritable_folder_is_an_error(void **state) {
  (void)state;
  struct tg_error error;
  assert_int_equal(tg_file_write("no/such/folder/x", "x", 1, &error),
                   TG_BAD_INPUT);
  assert_non_null(strstr(error.message, "no/such/folder/x"));
}

/* Every prefix of a file, and every byte of it changed: an error or the same
 * keys, never a crash. */
static void damage_is_noticed(void **state) {
  (void)state;
  unsigned char *data = NULL;
  size_t nbytes = 0;
  struct tg_error error;
  struct tg_npz *npz;
  write_sample("sample.npz");
  assert_int_equal(tg_file_read("sample.npz", arena, &data, &nbytes, &error),
                   TG_OK);
  struct tg_arena *scratch = tg_arena_create();
  for (size_t cut = 0; cut < nbytes; cut++) {
    tg_arena_reset(scratch);
    assert_int_equal(
        tg_npz_read_memory("cut", data, cut, scratch, &npz, &error),
        TG_BAD_INPUT);
  }
  for (size_t i = 0; i < nbytes; i++) {
    tg_arena_reset(scratch);
    data[i] ^= 0x55;
    if (!tg_npz_read_memory("bent", data, nbytes, scratch, &npz, &error))
      assert_true(npz->array_count <= 6);
    data[i] ^= 0x55;
  }
  tg_arena_destroy(scratch);
}

static void tile_files_of_tpugraphs(void **state) {
  (void)state;
  static const struct {
    const char *path;
    int64_t nodes, configs;
  } files[] = {{TPU "tile_copy.24_715d6c5d784f9262.npz", 2, 10},
               {TPU "tile_fusion.191_4ae805e53b8d2b8a.npz", 31, 579},
               {TPU "tile_fusion.245_caba9ef5f8c0115a.npz", 21, 23}};
  for (int i = 0; i < 3; i++) {
    struct tg_tile_data data;
    struct tg_error error;
    struct tg_npz *npz = read_npz(files[i].path);
    assert_false(tg_dataset_is_layout(npz));
    if (tg_tile_data_read(npz, arena, &data, &error))
      fail_msg("%s", error.message);
    assert_int_equal(data.graph.node_count, files[i].nodes);
    assert_int_equal(data.config_count, files[i].configs);
    assert_int_equal(data.analytic_config, -1);
    assert_null(data.features);
  }
}

static void layout_file_of_tpugraphs(void **state) {
  (void)state;
  struct tg_layout_data data;
  struct tg_error error;
  struct tg_npz *npz = read_npz(TPU "alexnet_full.npz");
  assert_true(tg_dataset_is_layout(npz));
  if (tg_layout_data_read(npz, arena, &data, &error))
    fail_msg("%s", error.message);
  assert_int_equal(data.graph.node_count, 372);
  assert_int_equal(data.configurable_count, 26);
  assert_int_equal(data.config_count, 29905);
  assert_int_equal(data.run_count, 47712);
}

static void our_keys_survive_a_round(void **state) {
  (void)state;
  struct tg_tile_data data, again;
  struct tg_error error;
  struct tg_npz *npz = read_npz(TPU "tile_copy.24_715d6c5d784f9262.npz");
  assert_int_equal(tg_tile_data_read(npz, arena, &data, &error), TG_OK);
  static const char *const names[] = {"footprint"};
  static uint64_t versions[] = {UINT64_C(0xffffffffffffffff)};
  float features[10] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, ci[10] = {0.01f};
  int64_t knobs[10] = {-1, 5};
  data.feature_count = data.knob_count = 1;
  data.feature_names = data.knob_names = (const char **)names;
  data.feature_versions = versions;
  data.features = features;
  data.knobs = knobs;
  data.ratio_ci = ci;
  data.kernel = "matmul";
  data.family = "resnet";
  data.analytic_config = 3;
  data.has_target = true;
  assert_int_equal(tg_target_parse("avx512,cores=4", &data.target, &error), 0);
  struct tg_npz_writer *writer = tg_npz_writer_create();
  tg_tile_data_write(writer, &data);
  tg_npz_writer_add_text(writer, "unknown_key", "is ignored");
  assert_int_equal(tg_npz_writer_finish(writer, "tile.npz", &error), TG_OK);
  tg_npz_writer_destroy(writer);
  if (tg_tile_data_read(read_npz("tile.npz"), arena, &again, &error))
    fail_msg("%s", error.message);
  assert_string_equal(again.feature_names[0], "footprint");
  assert_true(again.feature_versions[0] == versions[0]);
  assert_true(again.features[9] == 9 && again.ratio_ci[0] == 0.01f);
  assert_int_equal(again.knobs[0], -1);
  assert_int_equal(again.analytic_config, 3);
  assert_string_equal(again.family, "resnet");
  assert_true(again.has_target);
  assert_int_equal(again.target.cores, 4);
  assert_int_equal(again.target.vector_bits, 512);
  assert_memory_equal(again.graph.node_feat, data.graph.node_feat,
                      2 * TG_NODE_FEATURE_COUNT * sizeof(float));
}

static void assert_tile_refused(struct tg_tile_data *data, const char *part) {
  struct tg_error error;
  struct tg_tile_data again;
  struct tg_npz_writer *writer = tg_npz_writer_create();
  tg_tile_data_write(writer, data);
  assert_int_equal(tg_npz_writer_finish(writer, "bad.npz", &error), TG_OK);
  tg_npz_writer_destroy(writer);
  assert_int_equal(
      tg_tile_data_read(read_npz("bad.npz"), arena, &again, &error),
      TG_BAD_INPUT);
  if (!strstr(error.message, part))
    fail_msg("'%s' doesn't say '%s'", error.message, part);
}

static void wrong_values_are_refused(void **state) {
  (void)state;
  struct tg_tile_data data;
  struct tg_error error;
  struct tg_npz *npz = read_npz(TPU "tile_copy.24_715d6c5d784f9262.npz");
  assert_int_equal(tg_tile_data_read(npz, arena, &data, &error), TG_OK);
  data.runtime_ns[4] = 0;
  assert_tile_refused(&data, "bad.npz: config_runtime: item 4 is 0");
  data.runtime_ns[4] = 1;
  data.graph.edges[1] = 7;
  assert_tile_refused(&data, "bad.npz: edge_index: row 0 is (1, 7)");
  data.graph.edges[1] = 0;
  data.graph.node_opcode[1] = 121;
  assert_tile_refused(&data, "bad.npz: node_opcode: item 1 is 121");
  data.graph.node_opcode[1] = 2;
  data.graph.node_feat[140] = (float)(0.0 / (data.runtime_ns[4] - 1));
  assert_tile_refused(&data, "bad.npz: node_feat: node 1, column is_root");
}

int main(void) {
  const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
      TEST(what_is_written_reads_back),
      TEST(equal_data_gives_equal_files),
      TEST(wrong_requests_name_file_key_and_fault),
      TEST(a_key_twice_is_refused_and_nothing_is_written),
      TEST(an_unwritable_folder_is_an_error),
      TEST(damage_is_noticed),
      TEST(tile_files_of_tpugraphs),
      TEST(layout_file_of_tpugraphs),
      TEST(our_keys_survive_a_round),
      TEST(wrong_values_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
