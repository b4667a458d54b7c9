/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Weights files that must be refused, each with a message that says why. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "model/file.h"
#include "model/infer.h"
#include "model/weights.h"

#define SAMPLE TG_TEST_INPUTS "/../model/vectors/cross_norm.tgw"

static struct tg_arena *arena;
static unsigned char *data;
static size_t data_nbytes;

static int set_up(void **state) {
  (void)state;
  struct tg_error error;
  arena = tg_arena_create();
  return !arena || tg_file_read(SAMPLE, arena, &data, &data_nbytes, &error);
}

static int tear_down(void **state) {
  (void)state;
  tg_arena_destroy(arena);
  return 0;
}

static void put_u32(unsigned char *p, uint32_t value) {
  for (int i = 0; i < 4; i++)
    p[i] = (unsigned char)(value >> (8 * i));
}

/* Makes the checksum right again after a change. */
static void seal(unsigned char *bytes, size_t nbytes) {
  put_u32(bytes + nbytes - 4, (uint32_t)crc32(0, bytes, (uInt)(nbytes - 4)));
}

static void assert_refused(const unsigned char *bytes, size_t nbytes,
                           const char *part) {
  struct tg_model *model = NULL;
  struct tg_error error = {""};
  assert_int_equal(
      tg_model_create_from_memory("w.tgw", bytes, nbytes, &model, &error),
      TG_BAD_INPUT);
  assert_int_equal(strncmp(error.message, "w.tgw: ", 7), 0);
  if (!strstr(error.message, part))
    fail_msg("'%s' doesn't say '%s'", error.message, part);
}

/* Replaces a text of the table by one of equal length. */
static void replace(const char *from, const char *to) {
  size_t length = strlen(from);
  assert_int_equal(length, strlen(to));
  for (size_t i = 0; i + length <= data_nbytes; i++)
    if (!memcmp(data + i, from, length)) {
      memcpy(data + i, to, length);
      seal(data, data_nbytes);
      return;
    }
  fail_msg("'%s' is not in the file", from);
}

static void a_good_file_is_read(void **state) {
  (void)state;
  struct tg_weights *weights;
  struct tg_error error;
  assert_int_equal(
      tg_weights_parse("w.tgw", data, data_nbytes, arena, &weights, &error),
      TG_OK);
  int64_t count;
  const struct tg_column *columns =
      tg_weights_get_columns(weights, "tile.config", &count);
  assert_int_equal(count, 5);
  assert_string_equal(columns[1].name, "column_2");
  assert_true(columns[1].version == tg_hash_text(TG_HASH_START, "column_2"));
  const struct tg_tensor *op = tg_weights_find_tensor(weights, "tile.op");
  assert_int_equal(op->shape[0], 121);
  assert_non_null(strstr(weights->card, "random"));
}

static void foreign_empty_and_missing_files(void **state) {
  (void)state;
  struct tg_model *model;
  struct tg_error error;
  assert_refused((const unsigned char *)"", 0, "not a .tgw file");
  assert_refused((const unsigned char *)"{\"a\": 1, \"b\": 2}", 16,
                 "not a .tgw file");
  assert_int_equal(tg_model_create_from_file("no-such.tgw", &model, &error),
                   TG_BAD_INPUT);
  assert_string_equal(error.message, "no-such.tgw: No such file or directory");
}

static void every_truncation_is_refused(void **state) {
  (void)state;
  for (size_t cut = 0; cut < data_nbytes; cut += cut < 200 ? 1 : 997)
    assert_refused(data, cut, "");
}

static void a_flipped_bit_is_refused(void **state) {
  (void)state;
  for (size_t i = 60; i < data_nbytes; i += 1009) {
    data[i] ^= 4;
    assert_refused(data, data_nbytes, "wrong checksum");
    data[i] ^= 4;
  }
}

static void another_version_is_refused(void **state) {
  (void)state;
  put_u32(data + 8, 2);
  assert_refused(data, data_nbytes, "format version 2");
}

static void a_renamed_column_breaks_the_schema_hash(void **state) {
  (void)state;
  replace("column tile.config column_2", "column tile.config kolumn_2");
  assert_refused(data, data_nbytes, "schema hash");
}

static void a_missing_tensor_is_named(void **state) {
  (void)state;
  replace("tensor tile.join.bias", "tensor tile.yoin.bias");
  assert_refused(data, data_nbytes, "tensor tile.join.bias is missing");
}

static void another_shape_is_named(void **state) {
  (void)state;
  replace("tensor layout.dense1.weight 8 16",
          "tensor layout.dense1.weight 16 8");
  assert_refused(data, data_nbytes, "layout.dense1.weight has another shape");
}

static void broken_tables_are_refused(void **state) {
  (void)state;
  replace("set tile.heads 3", "set tile.heads x");
  assert_refused(data, data_nbytes, "line");
  replace("set tile.heads x", "set tile.heads 4");
  assert_refused(data, data_nbytes, "another shape");
  replace("set tile.heads 4", "set tile.heads 0");
  assert_refused(data, data_nbytes, "setting tile.heads is 0");
  replace("set tile.heads 0", "sit tile.heads 3");
  assert_refused(data, data_nbytes, "line");
}

static void forged_sizes_are_refused(void **state) {
  (void)state;
  put_u32(data + 16, 0xffffffff); /* table_nbytes */
  assert_refused(data, data_nbytes, "");
  put_u32(data + 16, 0);
  assert_refused(data, data_nbytes, "describes");
}

int main(void) {
  const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
      TEST(a_good_file_is_read),
      TEST(foreign_empty_and_missing_files),
      TEST(every_truncation_is_refused),
      TEST(a_flipped_bit_is_refused),
      TEST(another_version_is_refused),
      TEST(a_renamed_column_breaks_the_schema_hash),
      TEST(a_missing_tensor_is_named),
      TEST(another_shape_is_named),
      TEST(broken_tables_are_refused),
      TEST(forged_sizes_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
