/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The metrics on small cases by hand, and against Python's on stored ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "model/metrics.h"
#include "model/npz.h"

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

#define ASSERT_NEAR(a, b) assert_true(fabs((a) - (b)) < 1e-9)

static void tau_by_hand(void **state) {
  (void)state;
  const double a[] = {1, 2, 3, 4}, same[] = {1, 5, 6, 9};
  const double turned[] = {4, 3, 2, 1}, one_swap[] = {1, 3, 2, 4};
  const double tied[] = {1, 1, 2, 3};
  ASSERT_NEAR(tg_tau_b(4, a, same, arena), 1);
  ASSERT_NEAR(tg_tau_b(4, a, turned, arena), -1);
  ASSERT_NEAR(tg_tau_b(4, a, one_swap, arena), 4.0 / 6);
  ASSERT_NEAR(tg_tau_b(4, a, tied, arena), 5 / sqrt(30));
  ASSERT_NEAR(tg_tau_b(4, tied, a, arena), 5 / sqrt(30));
}

static void a_constant_ranking_says_nothing(void **state) {
  (void)state;
  const double a[] = {1, 2, 3}, constant[] = {5, 5, 5};
  assert_true(isnan(tg_tau_b(3, a, constant, arena)));
  assert_true(isnan(tg_tau_b(3, constant, a, arena)));
  assert_true(isnan(tg_tau_b(1, a, a, arena)));
  assert_true(isnan(tg_tau_b(0, a, a, arena)));
}

static void equal_scores_earn_nothing(void **state) {
  (void)state;
  const double score[] = {7, 7, 7}, runtime[] = {1, 4, 2};
  ASSERT_NEAR(tg_top_k_score(3, score, runtime, 1, arena), 0.25);
  ASSERT_NEAR(tg_top_k_slowdown(3, score, runtime, 1, arena), 3);
  ASSERT_NEAR(tg_top_k_score(3, score, runtime, 3, arena), 1);
  ASSERT_NEAR(tg_top_k_score(3, score, runtime, 10, arena), 1);
  ASSERT_NEAR(tg_pair_accuracy(3, score, runtime, NULL, arena), 0.5);
}

static void near_pairs_are_ties(void **state) {
  (void)state;
  const double score[] = {2, 1, 3}, runtime[] = {1, 1.005, 2};
  const float ci[] = {0, 0, 1};
  ASSERT_NEAR(tg_pair_accuracy(3, score, runtime, NULL, arena), 1);
  assert_true(isnan(tg_pair_accuracy(3, score, runtime, ci, arena)));
}

static void ceiling_over_repeated_items(void **state) {
  (void)state;
  const double first[] = {1, 2, 3, 4}, second[] = {1, NAN, 2, 3};
  ASSERT_NEAR(tg_tau_ceiling(4, first, second, arena), 1);
  const int32_t item[] = {0, 1, 1, 0, 2, 2, 3};
  const double value[] = {1, 2, 2, 1, 3, 0.5, 4};
  /* (1, 1), (2, 2), (3, .5): one of three pairs agrees */
  ASSERT_NEAR(tg_tau_ceiling_runs(4, 7, item, value, arena), -1.0 / 3);
}

static void agrees_with_python(void **state) {
  (void)state;
  struct tg_npz *npz = NULL;
  struct tg_error error;
  int64_t count = TG_NPZ_ANY, metrics = TG_NPZ_ANY;
  double *score, *runtime, *again, *expected;
  float *ci;
  const char **names;
  assert_int_equal(tg_npz_read(TG_TEST_INPUTS "/../model/vectors/metrics.npz",
                               arena, &npz, &error),
                   TG_OK);
  assert_int_equal(
      tg_npz_get_f64(npz, "score", 1, &count, arena, &score, &error), TG_OK);
  assert_int_equal(
      tg_npz_get_f64(npz, "runtime", 1, &count, arena, &runtime, &error),
      TG_OK);
  assert_int_equal(
      tg_npz_get_f64(npz, "again", 1, &count, arena, &again, &error), TG_OK);
  assert_int_equal(tg_npz_get_f32(npz, "ci", 1, &count, arena, &ci, &error),
                   TG_OK);
  assert_int_equal(
      tg_npz_get_f64(npz, "values", 1, &metrics, arena, &expected, &error),
      TG_OK);
  assert_int_equal(
      tg_npz_get_text(npz, "names", 1, &metrics, arena, &names, &error), TG_OK);
  struct tg_metrics m = tg_metrics_compute(count, score, runtime, ci, arena);
  const double actual[] = {
      m.tau,           m.top1,
      m.top5,          m.top10,
      m.slowdown1,     m.slowdown5,
      m.pair_accuracy, tg_tau_ceiling(count, runtime, again, arena)};
  assert_int_equal(metrics, 8);
  assert_string_equal(names[0], "tau");
  assert_string_equal(names[7], "tau_ceiling");
  for (int i = 0; i < 8; i++)
    if (!(fabs(actual[i] - expected[i]) < 1e-6))
      fail_msg("%s: %.9g, Python has %.9g", names[i], actual[i], expected[i]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
      TEST(tau_by_hand),
      TEST(a_constant_ranking_says_nothing),
      TEST(equal_scores_earn_nothing),
      TEST(near_pairs_are_ties),
      TEST(ceiling_over_repeated_items),
      TEST(agrees_with_python),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
