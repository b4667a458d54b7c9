/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The space of loop nests and its rule.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "model/nest.h"

static struct tg_target target_of(const char *text) {
  struct tg_target target;
  struct tg_error error;
  assert_int_equal(tg_target_parse(text, &target, &error), TG_OK);
  return target;
}

/* An operand whose dimensions are loops: order[d] walks dimension d. */
static void set_operand(struct tg_nest *nest, int o, int rank,
                        const int *order) {
  nest->operand[o].rank = rank;
  for (int d = 0; d < rank; ++d) {
    nest->operand[o].extent[d] = nest->extent[order[d]];
    nest->operand[o].coefficient[d][order[d]] = 1;
  }
  nest->element_nbytes[o] = 4;
}

/* rows x columns; a sum over the columns, or an operation on each element. */
static struct tg_nest make_nest(int64_t rows, int64_t columns, bool sum) {
  struct tg_nest nest = {.loop_count = 2,
                         .extent = {rows, columns},
                         .reduction = {false, sum},
                         .input_count = 1,
                         .operand_count = 2,
                         .read = {true, sum},
                         .vectorizable = {true, true},
                         .body_ops = 1};
  set_operand(&nest, 0, 2, (const int[]){0, 1});
  set_operand(&nest, 1, sum ? 1 : 2, (const int[]){0, 1});
  return nest;
}

static struct tg_nest make_transpose(int64_t rows, int64_t columns) {
  struct tg_nest nest = make_nest(rows, columns, false);
  memset(&nest.operand[0], 0, sizeof(nest.operand[0]));
  set_operand(&nest, 0, 2, (const int[]){1, 0});
  return nest;
}

static struct tg_config config_of(int loop, int vectors) {
  struct tg_config config = {{0}};
  config.knob[TG_KNOB_tiled] = 1;
  config.knob[TG_KNOB_vector_loop] = loop;
  config.knob[TG_KNOB_row_loop] = TG_NO_LOOP;
  config.knob[TG_KNOB_vectors] = vectors;
  config.knob[TG_KNOB_rows] = config.knob[TG_KNOB_unroll] = 1;
  return config;
}

static void test_reach(void **state) {
  (void)state;
  struct tg_access access = {.rank = 2, .extent = {5, 40}};
  assert_int_equal(tg_access_reach(&access, 0), TG_REACH_UNIFORM);
  access.coefficient[1][0] = 1;
  assert_int_equal(tg_access_reach(&access, 0), TG_REACH_CONTIGUOUS);
  assert_int_equal(tg_access_reach(&access, 1), TG_REACH_UNIFORM);
  for (int32_t step = 2; step <= TG_MAX_STEP; ++step) {
    access.coefficient[1][0] = step;
    assert_int_equal(tg_access_reach(&access, 0), TG_REACH_STRIDED);
  }
  access.coefficient[1][0] = TG_MAX_STEP + 1;
  assert_int_equal(tg_access_reach(&access, 0), TG_REACH_SCATTERED);
  /* A diagonal, and a dimension that others follow. */
  access.coefficient[1][0] = access.coefficient[0][0] = 1;
  assert_int_equal(tg_access_reach(&access, 0), TG_REACH_SCATTERED);
  access.coefficient[1][0] = 0;
  assert_int_equal(tg_access_reach(&access, 0), TG_REACH_SCATTERED);
  access.extent[1] = 1;
  assert_int_equal(tg_access_reach(&access, 0), TG_REACH_CONTIGUOUS);
}

static void test_lanes(void **state) {
  (void)state;
  struct tg_nest nest = make_nest(4, 64, false);
  struct tg_target avx2 = target_of("avx2"), avx512 = target_of("avx512");
  assert_int_equal(tg_nest_lanes(&nest, &avx2), 8);
  assert_int_equal(tg_nest_lanes(&nest, &avx512), 16);
  nest.element_nbytes[0] = 8;
  assert_int_equal(tg_nest_lanes(&nest, &avx2), 8);
  nest.element_nbytes[1] = 8;
  assert_int_equal(tg_nest_lanes(&nest, &avx2), 4);
}

static void test_check(void **state) {
  (void)state;
  struct tg_nest nest = make_nest(4, 64, false);
  struct tg_config config = config_of(1, 2);
  assert_null(tg_nest_check(&nest, &config));
  config = config_of(0, 2);
  assert_string_equal(tg_nest_check(&nest, &config),
                      "a result isn't contiguous along the vector loop");
  config = config_of(2, 2);
  assert_string_equal(tg_nest_check(&nest, &config),
                      "the vector loop is none of the operation's loops");
  config = config_of(-1, 2);
  assert_string_equal(tg_nest_check(&nest, &config),
                      "the vector loop is none of the operation's loops");
  config = config_of(1, 0);
  assert_non_null(tg_nest_check(&nest, &config));
  config = config_of(1, TG_MAX_TILE_VECTORS + 1);
  assert_non_null(tg_nest_check(&nest, &config));
  config = config_of(1, TG_MAX_TILE_VECTORS);
  assert_null(tg_nest_check(&nest, &config));
  config.knob[TG_KNOB_tiled] = 0;
  assert_non_null(tg_nest_check(&nest, &config));
  config = config_of(1, 1);
  nest.vectorizable[1] = false;
  assert_string_equal(
      tg_nest_check(&nest, &config),
      "the body can't be done for neighbours of the vector loop at once");
}

/* A sum may have vectors along what it sums over, and along its results. */
static void test_check_sum(void **state) {
  (void)state;
  struct tg_nest nest = make_nest(4, 64, true);
  for (int loop = 0; loop < 2; ++loop) {
    struct tg_config config = config_of(loop, 1);
    assert_null(tg_nest_check(&nest, &config));
  }
}

static void test_enumerate(void **state) {
  (void)state;
  struct tg_config configs[TG_NEST_MAX_CONFIGS];
  struct tg_nest nest = make_nest(4, 64, false);
  int count = tg_nest_enumerate(&nest, configs);
  assert_int_equal(count, 4);
  assert_int_equal(configs[0].knob[TG_KNOB_tiled], 0);
  for (int i = 1; i < count; ++i) {
    assert_int_equal(configs[i].knob[TG_KNOB_vector_loop], 1);
    assert_null(tg_nest_check(&nest, &configs[i]));
    for (int j = 1; j < i; ++j)
      assert_memory_not_equal(&configs[i], &configs[j], sizeof(configs[i]));
  }
  nest = make_nest(4, 64, true);
  assert_int_equal(tg_nest_enumerate(&nest, configs), 7);
  nest.vectorizable[0] = nest.vectorizable[1] = false;
  assert_int_equal(tg_nest_enumerate(&nest, configs), 1);
}

static double cycles_of(const struct tg_nest *nest, int loop, int vectors,
                        const char *name) {
  struct tg_target target = target_of(name);
  struct tg_config config = config_of(loop, vectors);
  return tg_nest_cycles(nest, &config, &target);
}

/* More iterations, operations or narrower vectors never cost less. */
static void test_cycles(void **state) {
  (void)state;
  for (int sum = 0; sum < 2; ++sum) {
    double before = 0;
    for (int64_t extent = 1; extent < 300; ++extent) {
      struct tg_nest nest = make_nest(4, extent, sum);
      double cycles = cycles_of(&nest, 1, 1, "avx2");
      assert_true(cycles >= before && cycles > 0);
      assert_true(cycles_of(&nest, 1, 1, "generic") >= cycles);
      assert_true(cycles >= cycles_of(&nest, 1, 1, "avx512"));
      nest.body_ops = 20;
      assert_true(cycles_of(&nest, 1, 1, "avx2") > cycles);
      struct tg_nest taller = make_nest(5, extent, sum);
      assert_true(cycles_of(&taller, 1, 1, "avx2") > cycles);
      before = cycles;
    }
  }
}

/* Independent sums hide each other's latency. */
static void test_accumulators(void **state) {
  (void)state;
  struct tg_nest nest = make_nest(4, 4096, true);
  assert_true(cycles_of(&nest, 1, 4, "avx2") < cycles_of(&nest, 1, 1, "avx2"));
}

static void test_scattered(void **state) {
  (void)state;
  struct tg_nest plain = make_nest(64, 64, false);
  struct tg_nest transpose = make_transpose(64, 64);
  assert_true(cycles_of(&transpose, 1, 1, "avx2") >
              cycles_of(&plain, 1, 1, "avx2"));
}

static void test_choose(void **state) {
  (void)state;
  struct tg_target target = target_of("avx2");
  struct tg_config config;
  struct tg_nest nest = make_nest(64, 64, false);
  assert_true(tg_nest_choose(&nest, &target, &config));
  assert_int_equal(config.knob[TG_KNOB_vector_loop], 1);
  /* A long sum of few results along itself, many short sums side by side. */
  nest = make_nest(2, 4096, true);
  assert_true(tg_nest_choose(&nest, &target, &config));
  assert_int_equal(config.knob[TG_KNOB_vector_loop], 1);
  nest = make_nest(4096, 2, true);
  memset(&nest.operand[0], 0, sizeof(nest.operand[0]));
  set_operand(&nest, 0, 2, (const int[]){1, 0});
  assert_true(tg_nest_choose(&nest, &target, &config));
  assert_int_equal(config.knob[TG_KNOB_vector_loop], 0);
  nest.vectorizable[0] = nest.vectorizable[1] = false;
  assert_false(tg_nest_choose(&nest, &target, &config));
  assert_int_equal(config.knob[TG_KNOB_tiled], 0);
}

/* The choice is the member of the space with the fewest cycles. */
static void test_choose_least(void **state) {
  (void)state;
  struct tg_target target = target_of("avx512");
  for (int64_t extent = 1; extent < 200; extent += 7) {
    struct tg_nest nest = make_nest(extent, 211 - extent, true);
    struct tg_config configs[TG_NEST_MAX_CONFIGS], chosen;
    int count = tg_nest_enumerate(&nest, configs);
    assert_true(tg_nest_choose(&nest, &target, &chosen));
    for (int i = 1; i < count; ++i)
      assert_true(tg_nest_cycles(&nest, &chosen, &target) <=
                  tg_nest_cycles(&nest, &configs[i], &target));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_reach),        cmocka_unit_test(test_lanes),
      cmocka_unit_test(test_check),        cmocka_unit_test(test_check_sum),
      cmocka_unit_test(test_enumerate),    cmocka_unit_test(test_cycles),
      cmocka_unit_test(test_accumulators), cmocka_unit_test(test_scattered),
      cmocka_unit_test(test_choose),       cmocka_unit_test(test_choose_least),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
