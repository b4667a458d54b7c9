/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What a space holds: the named ones first, nothing twice, nothing illegal,
 * the same every time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <stdlib.h>

#include "model/space.h"
#include "test/model/make_kernel.h"

#define WORDS(a, b, c) ((const char *const[]){a, b, c})

struct fixture {
  struct tg_arena *arena;
  struct tg_target target;
};

static struct fixture start(const char *target) {
  struct fixture f;
  struct tg_error error;
  f.arena = tg_arena_create();
  assert_non_null(f.arena);
  assert_int_equal(tg_target_parse(target, &f.target, &error), TG_OK);
  return f;
}

static struct tg_space enumerate(struct fixture *f,
                                 const struct tg_kernel *kernel) {
  struct tg_space space;
  assert_true(tg_space_enumerate(kernel, &f->target, f->arena, &space));
  return space;
}

static int compare_configs(const void *a, const void *b) {
  return memcmp(a, b, sizeof(struct tg_config));
}

static void assert_distinct(struct fixture *f, const struct tg_space *space) {
  struct tg_config *copy =
      tg_arena_alloc(f->arena, space->count, sizeof(*copy));
  memcpy(copy, space->configs, space->count * sizeof(*copy));
  qsort(copy, space->count, sizeof(*copy), compare_configs);
  for (size_t i = 1; i < space->count; ++i)
    assert_true(compare_configs(&copy[i - 1], &copy[i]) != 0);
}

static void assert_legal(struct fixture *f, const struct tg_kernel *kernel,
                         const struct tg_space *space) {
  struct tg_plan plan;
  for (int k = 0; k < TG_KNOB_COUNT; ++k)
    assert_int_equal(space->configs[TG_CONFIG_STOCK].knob[k], 0);
  for (size_t i = TG_CONFIG_ANALYTIC; i < space->count; ++i)
    assert_null(tg_plan_make(kernel, &space->configs[i], &f->target, &plan));
}

static void check_space(const char *target, struct tg_kernel kernel) {
  struct fixture f = start(target);
  struct tg_space space = enumerate(&f, &kernel);
  struct tg_space again = enumerate(&f, &kernel);
  struct tg_config analytic;
  assert_true(space.count > TG_CONFIG_NAMED_COUNT);
  assert_distinct(&f, &space);
  assert_legal(&f, &kernel, &space);
  assert_int_equal(space.count, again.count);
  assert_memory_equal(space.configs, again.configs,
                      space.count * sizeof(struct tg_config));
  assert_true(tg_analytic_choice(&kernel, &f.target, &analytic));
  assert_memory_equal(&analytic, &space.configs[TG_CONFIG_ANALYTIC],
                      sizeof(analytic));
  tg_arena_destroy(f.arena);
}

static void test_spaces(void **state) {
  (void)state;
  static const char *const targets[] = {"generic", "avx2", "avx512"};
  for (int t = 0; t < 3; ++t) {
    check_space(targets[t], make_matmul(64, 96, 300));
    check_space(targets[t], make_matmul(7, 13, 5));
    check_space(targets[t], make_matmul(1, 1000, 512));
    check_space(targets[t], make_conv(64, 64, 28, 3, 1));
    check_space(targets[t], make_conv(24, 8, 14, 3, 2));
    check_space(targets[t], make_kernel("b12 m128 n128 k64",
                                        WORDS("bmk", "bnk", "bmn"), 1));
  }
}

static size_t count_dots(const char *target, struct tg_kernel kernel) {
  struct fixture f = start(target);
  struct tg_space space = enumerate(&f, &kernel);
  size_t dots = 0;
  for (size_t i = TG_CONFIG_ANALYTIC; i < space.count; ++i) {
    struct tg_plan plan;
    assert_null(tg_plan_make(&kernel, &space.configs[i], &f.target, &plan));
    dots += plan.dot;
  }
  tg_arena_destroy(f.arena);
  return dots;
}

/* Offered where no operand would have to be transposed, and only there. */
static void test_dot_products(void **state) {
  (void)state;
  static const char *const targets[] = {"generic", "avx2", "avx512"};
  for (int t = 0; t < 3; ++t) {
    struct tg_kernel vector =
        make_kernel("n1000 k512", WORDS("k", "nk", "n"), 1);
    struct tg_kernel transposed =
        make_kernel("m40 n30 k52", WORDS("mk", "nk", "mn"), 1);
    check_space(targets[t], vector);
    check_space(targets[t], transposed);
    assert_true(count_dots(targets[t], vector) > 20);
    assert_true(count_dots(targets[t], transposed) > 20);
    assert_int_equal(count_dots(targets[t], make_matmul(64, 96, 300)), 0);
  }
}

static void test_nothing_but_stock(void **state) {
  (void)state;
  struct fixture f = start("avx2");
  /* One element: no loop is left to be vectorised. */
  struct tg_kernel kernel = make_matmul(1, 1, 40);
  struct tg_space space = enumerate(&f, &kernel);
  struct tg_config config;
  assert_int_equal(space.count, 1);
  assert_false(tg_analytic_choice(&kernel, &f.target, &config));
  assert_true(tg_space_sample(&kernel, &f.target, 1, 50, f.arena, &space));
  assert_int_equal(space.count, 1);
  assert_true(tg_space_cheapest(&kernel, &f.target, 50, f.arena, &space));
  assert_int_equal(space.count, 1);
  tg_arena_destroy(f.arena);
}

/* Registers for fewer rows than one at the widest vectors. */
static void test_few_registers(void **state) {
  (void)state;
  check_space("avx2,vector_registers=8", make_matmul(64, 96, 300));
  check_space("avx2,vector_registers=8", make_matmul(1, 96, 300));
}

static void test_samples(void **state) {
  (void)state;
  struct fixture f = start("avx512");
  struct tg_kernel kernel = make_conv(64, 32, 14, 3, 1);
  struct tg_space space = enumerate(&f, &kernel), sample, again, other;
  assert_true(space.count > 200);
  assert_true(tg_space_sample(&kernel, &f.target, 3, 64, f.arena, &sample));
  assert_true(tg_space_sample(&kernel, &f.target, 3, 64, f.arena, &again));
  assert_true(tg_space_sample(&kernel, &f.target, 4, 64, f.arena, &other));
  assert_int_equal(sample.count, 64);
  assert_distinct(&f, &sample);
  assert_legal(&f, &kernel, &sample);
  assert_memory_equal(sample.configs, again.configs,
                      64 * sizeof(struct tg_config));
  assert_true(memcmp(sample.configs, other.configs,
                     64 * sizeof(struct tg_config)) != 0);
  assert_memory_equal(sample.configs, space.configs,
                      TG_CONFIG_NAMED_COUNT * sizeof(struct tg_config));
  tg_arena_destroy(f.arena);
}

/* Sizes at which rounding could lose or double a member. */
static void test_sample_sizes(void **state) {
  (void)state;
  struct fixture f = start("generic");
  struct tg_kernel kernel = make_matmul(9, 9, 9);
  struct tg_space space = enumerate(&f, &kernel);
  for (size_t count = 2; count <= space.count + 3; ++count) {
    struct tg_space sample;
    size_t expected = count < space.count ? count : space.count;
    assert_true(
        tg_space_sample(&kernel, &f.target, count, count, f.arena, &sample));
    assert_int_equal(sample.count, expected);
    assert_distinct(&f, &sample);
  }
  tg_arena_destroy(f.arena);
}

static void test_cheapest_starts_with_the_analytic(void **state) {
  (void)state;
  struct fixture f = start("avx2");
  struct tg_kernel kernel = make_matmul(64, 96, 300);
  struct tg_space few, all = enumerate(&f, &kernel);
  assert_true(tg_space_cheapest(&kernel, &f.target, 20, f.arena, &few));
  assert_int_equal(few.count, 20);
  assert_distinct(&f, &few);
  assert_memory_equal(few.configs, all.configs,
                      TG_CONFIG_NAMED_COUNT * sizeof(struct tg_config));
  assert_true(tg_space_cheapest(&kernel, &f.target, 1, f.arena, &few));
  tg_arena_destroy(f.arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_spaces),
      cmocka_unit_test(test_dot_products),
      cmocka_unit_test(test_nothing_but_stock),
      cmocka_unit_test(test_few_registers),
      cmocka_unit_test(test_samples),
      cmocka_unit_test(test_sample_sizes),
      cmocka_unit_test(test_cheapest_starts_with_the_analytic),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
