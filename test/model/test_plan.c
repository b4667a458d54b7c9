/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What is legal, and what a plan says about it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "model/plan.h"
#include "test/model/make_kernel.h"

#define WORDS(a, b, c) ((const char *const[]){a, b, c})

static struct tg_target target_of(const char *text) {
  struct tg_target target;
  struct tg_error error;
  assert_int_equal(tg_target_parse(text, &target, &error), TG_OK);
  return target;
}

/* m is loop 0, n loop 1: rows and vectors of a matmul, B packed. */
static struct tg_config matmul_config(void) {
  struct tg_config config = {{0}};
  config.knob[TG_KNOB_tiled] = 1;
  config.knob[TG_KNOB_vector_loop] = 1;
  config.knob[TG_KNOB_row_loop] = 0;
  config.knob[TG_KNOB_vectors] = 2;
  config.knob[TG_KNOB_rows] = 4;
  config.knob[TG_KNOB_unroll] = 4;
  config.knob[TG_KNOB_pack_rhs] = 1;
  return config;
}

static const char *fault_of(enum tg_knob knob, int32_t value) {
  struct tg_kernel kernel = make_matmul(40, 64, 52);
  struct tg_target target = target_of("avx2");
  struct tg_config config = matmul_config();
  struct tg_plan plan;
  config.knob[knob] = value;
  return tg_plan_make(&kernel, &config, &target, &plan);
}

static void test_legal(void **state) {
  (void)state;
  assert_null(fault_of(TG_KNOB_tiled, 1));
  assert_null(fault_of(TG_KNOB_order, 1));
  assert_null(fault_of(TG_KNOB_unroll, 7));
  assert_null(fault_of(TG_KNOB_block_reduction, 13));
  assert_null(fault_of(TG_KNOB_block_vector, 48));
  assert_null(fault_of(TG_KNOB_block_vector, 64));
  assert_null(fault_of(TG_KNOB_block_rows, 8));
  assert_null(fault_of(TG_KNOB_pack_rhs, 0));
  assert_null(fault_of(TG_KNOB_pack_lhs, 1));
  assert_null(fault_of(TG_KNOB_row_loop, TG_NO_LOOP) ? NULL : "accepted");
}

static void test_every_rule(void **state) {
  (void)state;
  static const struct {
    enum tg_knob knob;
    int32_t value;
    const char *reason;
  } rules[] = {
      {TG_KNOB_tiled, 0, "stock"},
      {TG_KNOB_tiled, 2, "flag"},
      {TG_KNOB_order, -1, "flag"},
      {TG_KNOB_vector_loop, -1, "not a loop"},
      {TG_KNOB_vector_loop, 3, "not a loop"},
      {TG_KNOB_vector_loop, 2, "contiguous in the result"},
      {TG_KNOB_row_loop, 2, "parallel"},
      {TG_KNOB_row_loop, 1, "not another loop"},
      {TG_KNOB_row_loop, -2, "not another loop"},
      {TG_KNOB_rows, 0, "at least 1"},
      {TG_KNOB_vectors, -3, "at least 1"},
      {TG_KNOB_unroll, 0, "at least 1"},
      {TG_KNOB_block_rows, -1, "negative"},
      {TG_KNOB_rows, 7, "registers"},
      {TG_KNOB_vectors, 4, "registers"},
      {TG_KNOB_rows, INT32_MAX, "exceed"},
      {TG_KNOB_vectors, INT32_MAX, "wider"},
      {TG_KNOB_block_vector, 24, "cache_vector"},
      {TG_KNOB_block_rows, 6, "cache_rows"},
      {TG_KNOB_flatten, 1, "flatten"},
      {TG_KNOB_pack_result, 1, "row loop"},
  };
  for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); ++i) {
    const char *fault = fault_of(rules[i].knob, rules[i].value);
    assert_non_null(fault);
    if (!strstr(fault, rules[i].reason))
      fail_msg("rule %zu: '%s' does not speak of '%s'", i, fault,
               rules[i].reason);
  }
}

static void test_partial_sizes(void **state) {
  (void)state;
  struct tg_kernel kernel = make_matmul(41, 61, 53);
  struct tg_target target = target_of("avx2");
  struct tg_config config = matmul_config();
  struct tg_plan plan;
  config.knob[TG_KNOB_block_reduction] = 1000;
  assert_null(tg_plan_make(&kernel, &config, &target, &plan));
  assert_int_equal(plan.width, 16);
  assert_int_equal(plan.block_reduction, 53);
  assert_int_equal(plan.block_rows, 41);
  assert_int_equal(tg_plan_packed_elements(&plan, TG_RHS), 64 * 53);
  assert_int_equal(tg_plan_packed_elements(&plan, TG_LHS), 0);
}

/* Vectors along m: B has to be broadcast, A and the result packed. */
static void test_packed_result(void **state) {
  (void)state;
  struct tg_kernel kernel = make_matmul(40, 30, 52);
  struct tg_target target = target_of("avx2");
  struct tg_config config = matmul_config();
  struct tg_plan plan;
  config.knob[TG_KNOB_vector_loop] = 0;
  config.knob[TG_KNOB_row_loop] = 1;
  config.knob[TG_KNOB_pack_lhs] = config.knob[TG_KNOB_pack_result] = 1;
  config.knob[TG_KNOB_pack_rhs] = 0;
  assert_null(tg_plan_make(&kernel, &config, &target, &plan));
  assert_int_equal(tg_plan_packed_elements(&plan, TG_RESULT), 48 * 30);
  kernel = make_matmul(41, 30, 52);
  assert_non_null(tg_plan_make(&kernel, &config, &target, &plan));
  config.knob[TG_KNOB_pack_result] = 0;
  kernel = make_matmul(40, 30, 52);
  assert_non_null(tg_plan_make(&kernel, &config, &target, &plan));
}

/* The filter does not depend on the batch: packed once, before it. */
static void test_hoisting(void **state) {
  (void)state;
  struct tg_kernel kernel =
      make_kernel("b3 m40 n64 k52", WORDS("bkm", "kn", "bnm"), 1);
  struct tg_target target = target_of("avx2");
  struct tg_config config = matmul_config();
  struct tg_plan plan;
  config.knob[TG_KNOB_pack_lhs] = 1;
  /* canonical order: b m n k; vectors along m, rows along n */
  config.knob[TG_KNOB_row_loop] = 2;
  config.knob[TG_KNOB_block_reduction] = 13;
  assert_null(tg_plan_make(&kernel, &config, &target, &plan));
  assert_int_equal(plan.batch_count, 1);
  assert_true(plan.hoisted[TG_RHS]);
  assert_false(plan.hoisted[TG_LHS]);
  assert_int_equal(tg_plan_packed_elements(&plan, TG_RHS), 64 * 52);
  assert_int_equal(tg_plan_packed_elements(&plan, TG_LHS), 48 * 13);
}

static void test_flattened_image_is_gathered(void **state) {
  (void)state;
  struct tg_kernel kernel = make_conv(16, 8, 7, 3, 2);
  struct tg_target target = target_of("avx2");
  struct tg_config config = matmul_config();
  struct tg_plan plan;
  /* canonical: f x y c X Y */
  config.knob[TG_KNOB_vector_loop] = 2;
  config.knob[TG_KNOB_row_loop] = 0;
  config.knob[TG_KNOB_flatten] = 1;
  config.knob[TG_KNOB_pack_lhs] = 1;
  config.knob[TG_KNOB_pack_rhs] = 0;
  assert_null(tg_plan_make(&kernel, &config, &target, &plan));
  assert_int_equal(plan.gathered, TG_LHS);
  assert_int_equal(plan.vector_extent, 49);
  assert_int_equal(plan.flat_inner, 7);
  assert_int_equal(plan.gather_inner, 2);
  assert_int_equal(plan.gather_outer, 2 * 15);
  config.knob[TG_KNOB_pack_lhs] = 0;
  assert_non_null(tg_plan_make(&kernel, &config, &target, &plan));
}

/* a x transposed b: both contiguous along k, which is loop 2. */
static struct tg_config dot_config(void) {
  struct tg_config config = {{0}};
  config.knob[TG_KNOB_tiled] = 1;
  config.knob[TG_KNOB_vector_loop] = 2;
  config.knob[TG_KNOB_row_loop] = 1;
  config.knob[TG_KNOB_vectors] = 3;
  config.knob[TG_KNOB_rows] = 4;
  config.knob[TG_KNOB_unroll] = 2;
  return config;
}

static void test_dot_product(void **state) {
  (void)state;
  struct tg_kernel kernel =
      make_kernel("m40 n30 k52", WORDS("mk", "nk", "mn"), 1);
  struct tg_target target = target_of("avx2");
  struct tg_config config = dot_config();
  struct tg_plan plan;
  assert_null(tg_plan_make(&kernel, &config, &target, &plan));
  assert_true(plan.dot);
  assert_int_equal(plan.column_loop, 0);
  assert_int_equal(plan.vector_extent, 40);
  assert_int_equal(plan.width, 3);
  assert_int_equal(plan.reduction_count, 1);
  config.knob[TG_KNOB_block_vector] = 9;
  assert_null(tg_plan_make(&kernel, &config, &target, &plan));
  config.knob[TG_KNOB_block_vector] = 8;
  assert_non_null(tg_plan_make(&kernel, &config, &target, &plan));
}

/* One row of the first operand: no columns, but partial sums. */
static void test_dot_product_of_a_vector(void **state) {
  (void)state;
  struct tg_kernel kernel = make_kernel("n30 k52", WORDS("k", "nk", "n"), 1);
  struct tg_target target = target_of("avx2");
  struct tg_config config = dot_config();
  struct tg_plan plan;
  config.knob[TG_KNOB_vector_loop] = 1;
  config.knob[TG_KNOB_row_loop] = 0;
  assert_null(tg_plan_make(&kernel, &config, &target, &plan));
  assert_int_equal(plan.column_loop, TG_NO_LOOP);
  assert_int_equal(plan.vector_extent, 1);
  assert_int_equal(plan.width, 1);
  config.knob[TG_KNOB_rows] = 1;
  config.knob[TG_KNOB_vectors] = 7;
  assert_null(tg_plan_make(&kernel, &config, &target, &plan));
  config.knob[TG_KNOB_vectors] = 8;
  assert_non_null(tg_plan_make(&kernel, &config, &target, &plan));
}

static void test_rules_of_dot_products(void **state) {
  (void)state;
  static const struct {
    enum tg_knob knob;
    int32_t value;
    const char *reason;
  } rules[] = {
      {TG_KNOB_row_loop, 0, "contiguous in the result"},
      {TG_KNOB_flatten, 1, "parallel loops"},
      {TG_KNOB_rows, 9, "lanes"},
      {TG_KNOB_block_reduction, 16, "whole reduction"},
      {TG_KNOB_pack_lhs, 1, "only what isn't contiguous"},
      {TG_KNOB_pack_result, 1, "as they are"},
  };
  struct tg_kernel kernel =
      make_kernel("m40 n30 k52", WORDS("mk", "nk", "mn"), 1);
  struct tg_target target = target_of("avx2,vector_registers=64");
  struct tg_plan plan;
  for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); ++i) {
    struct tg_config config = dot_config();
    config.knob[rules[i].knob] = rules[i].value;
    const char *fault = tg_plan_make(&kernel, &config, &target, &plan);
    assert_non_null(fault);
    if (!strstr(fault, rules[i].reason))
      fail_msg("rule %zu: '%s' does not speak of '%s'", i, fault,
               rules[i].reason);
  }
  kernel = make_kernel("m40 n30 k52", WORDS("km", "nk", "mn"), 1);
  struct tg_config config = dot_config();
  assert_non_null(strstr(tg_plan_make(&kernel, &config, &target, &plan),
                         "contiguous along the reduction"));
  config.knob[TG_KNOB_pack_lhs] = 1;
  assert_null(tg_plan_make(&kernel, &config, &target, &plan));
  assert_true(plan.hoisted[TG_LHS]);
  assert_int_equal(tg_plan_packed_elements(&plan, TG_LHS), 40 * 52);
}

/* Limits of the generated code, whatever the machine's description says. */
static void test_limits(void **state) {
  (void)state;
  struct tg_kernel kernel = make_matmul(4000, 4096, 5200);
  struct tg_target target = target_of("avx2,vector_registers=1024");
  struct tg_config config = matmul_config();
  struct tg_plan plan;
  config.knob[TG_KNOB_rows] = 33;
  assert_string_equal(tg_plan_make(&kernel, &config, &target, &plan),
                      "the register tile is too large");
  config.knob[TG_KNOB_rows] = 5;
  config.knob[TG_KNOB_vectors] = 13;
  assert_non_null(tg_plan_make(&kernel, &config, &target, &plan));
  config.knob[TG_KNOB_rows] = 1;
  config.knob[TG_KNOB_vectors] = 17;
  assert_non_null(tg_plan_make(&kernel, &config, &target, &plan));
  config.knob[TG_KNOB_vectors] = 2;
  config.knob[TG_KNOB_unroll] = 1000000;
  assert_string_equal(tg_plan_make(&kernel, &config, &target, &plan),
                      "the unrolled register tile is too large");
  config.knob[TG_KNOB_block_reduction] = 8;
  assert_null(tg_plan_make(&kernel, &config, &target, &plan));
  target = target_of("avx2,vector_bits=8192");
  assert_string_equal(tg_plan_make(&kernel, &config, &target, &plan),
                      "the machine's vectors are too wide");
  target = target_of("generic,vector_bits=64");
  kernel.element = TG_F64;
  assert_non_null(tg_plan_make(&kernel, &config, &target, &plan));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_legal),
      cmocka_unit_test(test_every_rule),
      cmocka_unit_test(test_partial_sizes),
      cmocka_unit_test(test_packed_result),
      cmocka_unit_test(test_hoisting),
      cmocka_unit_test(test_flattened_image_is_gathered),
      cmocka_unit_test(test_dot_product),
      cmocka_unit_test(test_dot_product_of_a_vector),
      cmocka_unit_test(test_rules_of_dot_products),
      cmocka_unit_test(test_limits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
