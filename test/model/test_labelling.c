/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Labellings: against trying all of them, and of a long chain.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "model/labelling.h"

enum { VARIABLES = 9, PAIRS = 14, CASES = 400 };

struct problem {
  double cost[VARIABLES][2];
  struct tg_label_pair pairs[PAIRS];
};

static uint64_t state = 1;

static int64_t draw(int64_t bound) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (int64_t)((state >> 33) % (uint64_t)bound);
}

/* Equal labels cost no more than different ones. */
static struct problem draw_problem(void) {
  struct problem problem;
  for (int v = 0; v < VARIABLES; ++v)
    for (int l = 0; l < 2; ++l)
      problem.cost[v][l] = (double)draw(50);
  for (int i = 0; i < PAIRS; ++i) {
    struct tg_label_pair *pair = &problem.pairs[i];
    pair->a = (int32_t)draw(VARIABLES);
    pair->b = (int32_t)((pair->a + 1 + draw(VARIABLES - 1)) % VARIABLES);
    pair->cost[0][0] = (double)draw(30);
    pair->cost[1][1] = (double)draw(30);
    double equal = pair->cost[0][0] + pair->cost[1][1];
    pair->cost[0][1] = (double)draw(30);
    double other = equal - pair->cost[0][1];
    pair->cost[1][0] = (other > 0 ? other : 0) + (double)draw(20);
  }
  return problem;
}

static double cost_of(const struct problem *problem, const uint8_t *label) {
  return tg_label_cost(VARIABLES, problem->cost[0], PAIRS, problem->pairs,
                       label);
}

static void test_is_the_cheapest(void **unused) {
  (void)unused;
  for (int i = 0; i < CASES; ++i) {
    struct tg_arena *arena = tg_arena_create();
    struct problem problem = draw_problem();
    uint8_t label[VARIABLES], other[VARIABLES];
    assert_true(tg_label(VARIABLES, problem.cost[0], PAIRS, problem.pairs,
                         arena, label));
    double cost = cost_of(&problem, label);
    for (int bits = 0; bits < 1 << VARIABLES; ++bits) {
      for (int v = 0; v < VARIABLES; ++v)
        other[v] = bits >> v & 1;
      assert_true(cost <= cost_of(&problem, other));
    }
    tg_arena_destroy(arena);
  }
}

/* Where 1 isn't cheaper, nothing is changed. */
static void test_ties_are_0(void **unused) {
  (void)unused;
  struct tg_arena *arena = tg_arena_create();
  const double cost[3][2] = {{5, 5}, {0, 0}, {2, 2}};
  const struct tg_label_pair pair = {0, 1, {{0, 4}, {4, 0}}};
  uint8_t label[3];
  assert_true(tg_label(3, cost[0], 1, &pair, arena, label));
  for (int v = 0; v < 3; ++v)
    assert_int_equal(label[v], 0);
  tg_arena_destroy(arena);
}

/* A pair that is cheaper apart isn't representable: charged, not refused. */
static void test_charges_what_it_must(void **unused) {
  (void)unused;
  struct tg_arena *arena = tg_arena_create();
  const double cost[2][2] = {{0, 3}, {3, 0}};
  const struct tg_label_pair pair = {0, 1, {{9, 0}, {9, 9}}};
  uint8_t label[2];
  assert_true(tg_label(2, cost[0], 1, &pair, arena, label));
  assert_int_equal(label[0], 0);
  assert_int_equal(label[1], 1);
  tg_arena_destroy(arena);
}

/* A chain as long as no program is: all of it follows its end. */
static void test_long_chain(void **unused) {
  (void)unused;
  enum { LENGTH = 100000 };
  struct tg_arena *arena = tg_arena_create();
  double(*cost)[2] = tg_arena_alloc(arena, LENGTH, sizeof(*cost));
  struct tg_label_pair *pairs = tg_arena_alloc(arena, LENGTH, sizeof(*pairs));
  uint8_t *label = tg_arena_alloc(arena, LENGTH, 1);
  memset(cost, 0, LENGTH * sizeof(*cost));
  cost[0][1] = 10;
  cost[LENGTH - 1][0] = 20;
  for (int32_t i = 0; i + 1 < LENGTH; ++i)
    pairs[i] = (struct tg_label_pair){i, i + 1, {{0, 15}, {15, 0}}};
  assert_true(tg_label(LENGTH, cost[0], LENGTH - 1, pairs, arena, label));
  for (int i = 0; i < LENGTH; ++i)
    assert_int_equal(label[i], 1);
  tg_arena_destroy(arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_is_the_cheapest), cmocka_unit_test(test_ties_are_0),
      cmocka_unit_test(test_charges_what_it_must),
      cmocka_unit_test(test_long_chain)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
