/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Facts and estimates: finite for every member of every space, and right
 * where they can be counted by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "model/cost.h"
#include "model/space.h"
#include "test/model/make_kernel.h"

#define WORDS(a, b, c) ((const char *const[]){a, b, c})

static struct tg_target target_of(const char *text) {
  struct tg_target target;
  struct tg_error error;
  assert_int_equal(tg_target_parse(text, &target, &error), TG_OK);
  return target;
}

static void check_finite(struct tg_kernel kernel, const char *name) {
  struct tg_target target = target_of(name);
  struct tg_arena *arena = tg_arena_create();
  struct tg_space space;
  assert_true(tg_space_enumerate(&kernel, &target, arena, &space));
  for (size_t i = 0; i < space.count; ++i) {
    float row[TG_FEATURE_COUNT];
    struct tg_plan plan;
    tg_config_features(&kernel, &space.configs[i], &target, row);
    for (int c = 0; c < TG_FEATURE_COUNT; ++c)
      if (!isfinite(row[c]))
        fail_msg("%s is %g", tg_feature_names[c], (double)row[c]);
    if (tg_plan_make(&kernel, &space.configs[i], &target, &plan))
      continue;
    double cycles = tg_plan_cycles(&plan, &target);
    assert_true(isfinite(cycles) && cycles > 0);
  }
  tg_arena_destroy(arena);
}

static void test_finite(void **state) {
  (void)state;
  static const char *const targets[] = {"generic", "avx2", "avx512"};
  for (int t = 0; t < 3; ++t) {
    check_finite(make_matmul(1, 1, 1), targets[t]);
    check_finite(make_matmul(1, 1, 7), targets[t]);
    check_finite(make_matmul(13, 1, 7), targets[t]);
    check_finite(make_matmul(64, 40, 1), targets[t]);
    check_finite(make_matmul(40000, 3, 2), targets[t]);
    check_finite(make_conv(16, 3, 14, 7, 2), targets[t]);
    check_finite(make_kernel("g8 x14 y14 X3 Y3", WORDS("g12", "gXY", "gxy"), 1),
                 targets[t]);
    struct tg_kernel kernel = make_matmul(33, 17, 9);
    kernel.element = TG_F64;
    check_finite(kernel, targets[t]);
  }
}

/* As large as an operand may be: no product may leave the range of floats. */
static void test_finite_where_huge(void **state) {
  (void)state;
  struct tg_kernel kernel = make_matmul(1 << 20, 1 << 20, 1 << 20);
  check_finite(kernel, "avx2");
}

static void test_counts_of_a_matmul(void **state) {
  (void)state;
  struct tg_kernel kernel = make_matmul(40, 64, 52);
  struct tg_target target = target_of("avx2");
  struct tg_config config = {{0}};
  config.knob[TG_KNOB_tiled] = 1;
  config.knob[TG_KNOB_vector_loop] = 1;
  config.knob[TG_KNOB_vectors] = 2;
  config.knob[TG_KNOB_rows] = 4;
  config.knob[TG_KNOB_unroll] = 4;
  struct tg_plan plan;
  struct tg_cost cost;
  assert_null(tg_plan_make(&kernel, &config, &target, &plan));
  tg_plan_cost(&plan, &target, &cost);
  assert_true(cost.flops == 2.0 * 40 * 64 * 52);
  assert_true(cost.vectors_total == 64);
  assert_true(cost.rows_total == 40);
  assert_true(cost.depth == 52);
  assert_true(cost.batches == 1);
  assert_true(cost.lane_use == 1);
  assert_true(cost.row_use == 1);
  assert_true(cost.accumulators == 8);
  assert_true(cost.scratch_nbytes == 0);
  /* 16 multiply-adds of 8 lanes a cycle at best, 2 units: 40*64*52/16 */
  assert_true(cost.compute_cycles >= 40.0 * 64 * 52 / 16 * 0.99);
}

/* More of the same work can't be expected to take less. */
static void test_more_work_costs_more(void **state) {
  (void)state;
  struct tg_target target = target_of("avx2");
  double last = 0;
  for (int m = 8; m <= 512; m *= 2) {
    struct tg_kernel kernel = make_matmul(m, 64, 64);
    struct tg_config config;
    struct tg_plan plan;
    assert_true(tg_analytic_choice(&kernel, &target, &config));
    assert_null(tg_plan_make(&kernel, &config, &target, &plan));
    double cycles = tg_plan_cycles(&plan, &target);
    assert_true(cycles > last);
    last = cycles;
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_finite),
      cmocka_unit_test(test_finite_where_huge),
      cmocka_unit_test(test_counts_of_a_matmul),
      cmocka_unit_test(test_more_work_costs_more),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
