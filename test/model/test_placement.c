/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Placements: what is used at the same time never overlaps.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/placement.h"

enum { MOST = 60, ALIGNMENT = 64 };

static uint64_t state = 7;

static int64_t draw(int64_t bound) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (int64_t)((state >> 33) % (uint64_t)bound);
}

static void check_places(size_t count, const struct tg_buffer *buffers,
                         int64_t total) {
  for (size_t i = 0; i < count; ++i) {
    assert_int_equal(buffers[i].offset % ALIGNMENT, 0);
    assert_true(buffers[i].offset >= 0);
    assert_true(buffers[i].offset + buffers[i].nbytes <= total);
    for (size_t j = 0; j < i; ++j) {
      bool apart_in_time = buffers[i].last < buffers[j].first ||
                           buffers[j].last < buffers[i].first;
      bool apart = buffers[i].offset + buffers[i].nbytes <= buffers[j].offset ||
                   buffers[j].offset + buffers[j].nbytes <= buffers[i].offset;
      assert_true(apart_in_time || apart);
    }
  }
}

static void test_random_lifetimes(void **unused) {
  (void)unused;
  for (int i = 0; i < 500; ++i) {
    struct tg_arena *arena = tg_arena_create();
    struct tg_buffer buffers[MOST];
    size_t count = (size_t)draw(MOST);
    for (size_t b = 0; b < count; ++b) {
      buffers[b].nbytes = draw(5000);
      buffers[b].first = draw(40);
      buffers[b].last = buffers[b].first + draw(10);
    }
    int64_t total = tg_place_buffers(count, buffers, ALIGNMENT, arena);
    check_places(count, buffers, total);
    assert_true(total >= tg_live_nbytes(count, buffers, arena));
    tg_arena_destroy(arena);
  }
}

/* A chain of which each step reads one buffer and writes the next. */
static void test_chain_takes_two_places(void **unused) {
  (void)unused;
  struct tg_arena *arena = tg_arena_create();
  struct tg_buffer buffers[10];
  for (int i = 0; i < 10; ++i)
    buffers[i] = (struct tg_buffer){.nbytes = 640, .first = i, .last = i + 1};
  assert_int_equal(tg_place_buffers(10, buffers, ALIGNMENT, arena), 1280);
  assert_int_equal(tg_live_nbytes(10, buffers, arena), 1280);
  tg_arena_destroy(arena);
}

/* A small one goes between large ones where one has ended. */
static void test_fills_the_smallest_gap(void **unused) {
  (void)unused;
  struct tg_arena *arena = tg_arena_create();
  struct tg_buffer buffers[] = {{.nbytes = 6400, .first = 0, .last = 9},
                                {.nbytes = 3200, .first = 0, .last = 3},
                                {.nbytes = 1280, .first = 0, .last = 9},
                                {.nbytes = 640, .first = 0, .last = 3},
                                {.nbytes = 320, .first = 0, .last = 9},
                                {.nbytes = 256, .first = 4, .last = 9}};
  assert_int_equal(tg_place_buffers(6, buffers, ALIGNMENT, arena),
                   6400 + 3200 + 1280 + 640 + 320);
  assert_int_equal(buffers[5].offset, buffers[3].offset);
  tg_arena_destroy(arena);
}

static void test_nothing_to_place(void **unused) {
  (void)unused;
  struct tg_arena *arena = tg_arena_create();
  assert_int_equal(tg_place_buffers(0, NULL, ALIGNMENT, arena), 0);
  assert_int_equal(tg_live_nbytes(0, NULL, arena), 0);
  tg_arena_destroy(arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_random_lifetimes),
      cmocka_unit_test(test_chain_takes_two_places),
      cmocka_unit_test(test_fills_the_smallest_gap),
      cmocka_unit_test(test_nothing_to_place)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
