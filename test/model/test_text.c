/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Growing text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "model/text.h"

static void grows(void **state) {
  (void)state;
  struct tg_text text = {0};
  for (int i = 0; i < 1000; i++)
    tg_text_print(&text, "%04d", i);
  assert_false(text.failed);
  assert_int_equal(text.length, 4000);
  assert_int_equal(strlen(text.data), 4000);
  assert_memory_equal(text.data + 3996, "0999", 5);
  tg_text_destroy(&text);
  assert_null(text.data);
}

static void prints_more_than_it_has_room_for(void **state) {
  (void)state;
  struct tg_text text = {0};
  tg_text_print(&text, "%s", "a");
  tg_text_print(&text, "%5000s", "b");
  assert_int_equal(text.length, 5001);
  assert_string_equal(text.data + 4999, " b");
  tg_text_destroy(&text);
}

static void appends_nothing(void **state) {
  (void)state;
  struct tg_text text = {0};
  tg_text_append(&text, NULL, 0);
  assert_string_equal(text.data, "");
  tg_text_destroy(&text);
}

static void escapes_json(void **state) {
  (void)state;
  struct tg_text text = {0};
  tg_text_append_json(&text, "a\"\\\n\x01\xc3\xa9", 7);
  assert_string_equal(text.data, "\"a\\\"\\\\\\u000a\\u0001\xc3\xa9\"");
  tg_text_destroy(&text);
}

static void remembers_failure(void **state) {
  (void)state;
  struct tg_text text = {0};
  tg_text_append(&text, "kept", 4);
  tg_text_append(&text, "too much", SIZE_MAX / 2);
  assert_true(text.failed);
  tg_text_append(&text, "dropped", 7);
  assert_string_equal(text.data, "kept");
  tg_text_destroy(&text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(grows),
      cmocka_unit_test(prints_more_than_it_has_room_for),
      cmocka_unit_test(appends_nothing),
      cmocka_unit_test(escapes_json),
      cmocka_unit_test(remembers_failure),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
