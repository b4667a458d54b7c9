/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "model/arena.h"

static void memory_is_zeroed_and_aligned(void **state) {
  (void)state;
  struct tg_arena *arena = tg_arena_create();
  for (size_t nbytes = 1; nbytes < 3000; nbytes += 7) {
    unsigned char *p = tg_arena_alloc(arena, nbytes, 1);
    assert_int_equal((uintptr_t)p % TG_ARENA_ALIGN, 0);
    for (size_t i = 0; i < nbytes; i++)
      assert_int_equal(p[i], 0);
    memset(p, 0xff, nbytes);
  }
  tg_arena_destroy(arena);
}

static void reset_gives_zeroed_memory_again(void **state) {
  (void)state;
  struct tg_arena *arena = tg_arena_create();
  unsigned char *first = tg_arena_alloc(arena, 100, 1);
  memset(first, 0xff, 100);
  tg_arena_reset(arena);
  assert_int_equal(tg_arena_nbytes(arena), 0);
  unsigned char *second = tg_arena_alloc(arena, 100, 1);
  assert_ptr_equal(first, second);
  assert_int_equal(second[99], 0);
  tg_arena_destroy(arena);
}

static void larger_than_a_block_fits(void **state) {
  (void)state;
  struct tg_arena *arena = tg_arena_create();
  unsigned char *p = tg_arena_alloc(arena, (size_t)3 << 20, 1);
  assert_non_null(p);
  p[((size_t)3 << 20) - 1] = 1;
  assert_non_null(tg_arena_alloc(arena, 1, 1));
  tg_arena_destroy(arena);
}

static void overflow_and_empty(void **state) {
  (void)state;
  struct tg_arena *arena = tg_arena_create();
  assert_null(tg_arena_alloc(arena, SIZE_MAX / 4, 8));
  assert_null(tg_arena_alloc(arena, SIZE_MAX, SIZE_MAX));
  assert_non_null(tg_arena_alloc(arena, 0, 8));
  assert_non_null(tg_arena_alloc(arena, 8, 0));
  assert_string_equal(tg_arena_strdup(arena, "text"), "text");
  tg_arena_destroy(arena);
  tg_arena_destroy(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(memory_is_zeroed_and_aligned),
      cmocka_unit_test(reset_gives_zeroed_memory_again),
      cmocka_unit_test(larger_than_a_block_fits),
      cmocka_unit_test(overflow_and_empty),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
