/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Strides, work and identity of kernels.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "model/kernel.h"

/* C[m, n] += A[m, k] * B[n, k]: 10 x 36 x 52, B transposed. */
static struct tg_kernel make_matmul_bt(void) {
  struct tg_kernel kernel;
  memset(&kernel, 0, sizeof kernel);
  kernel.loop_count = 3;
  kernel.extent[0] = 10;
  kernel.extent[1] = 36;
  kernel.extent[2] = 52;
  kernel.reduction[2] = true;
  static const int loop_of[TG_OPERAND_COUNT][2] = {{0, 2}, {1, 2}, {0, 1}};
  for (int o = 0; o < TG_OPERAND_COUNT; ++o) {
    kernel.operand[o].rank = 2;
    for (int d = 0; d < 2; ++d) {
      kernel.operand[o].extent[d] = kernel.extent[loop_of[o][d]];
      kernel.operand[o].coefficient[d][loop_of[o][d]] = 1;
    }
  }
  return kernel;
}

static void test_uses(void **state) {
  (void)state;
  struct tg_kernel kernel = make_matmul_bt();
  assert_true(tg_kernel_uses(&kernel, TG_LHS, 0));
  assert_false(tg_kernel_uses(&kernel, TG_LHS, 1));
  assert_true(tg_kernel_uses(&kernel, TG_RHS, 2));
  assert_false(tg_kernel_uses(&kernel, TG_RESULT, 2));
}

static void test_stride_of_transposed_operand(void **state) {
  (void)state;
  struct tg_kernel kernel = make_matmul_bt();
  assert_int_equal(tg_kernel_stride(&kernel, TG_LHS, 0), 52);
  assert_int_equal(tg_kernel_stride(&kernel, TG_RHS, 1), 52);
  assert_int_equal(tg_kernel_stride(&kernel, TG_RHS, 2), 1);
  assert_int_equal(tg_kernel_stride(&kernel, TG_RHS, 0), 0);
}

/* image[c, 2 * oh + 3 * kh] of 4 x 99: both loops step the same dimension. */
static void test_stride_of_window(void **state) {
  (void)state;
  struct tg_kernel kernel;
  memset(&kernel, 0, sizeof kernel);
  kernel.loop_count = 3;
  struct tg_access *image = &kernel.operand[TG_LHS];
  image->rank = 2;
  image->extent[0] = 4;
  image->extent[1] = 99;
  image->coefficient[0][0] = 1;
  image->coefficient[1][1] = 2;
  image->coefficient[1][2] = 3;
  assert_int_equal(tg_kernel_stride(&kernel, TG_LHS, 0), 99);
  assert_int_equal(tg_kernel_stride(&kernel, TG_LHS, 1), 2);
  assert_int_equal(tg_kernel_stride(&kernel, TG_LHS, 2), 3);
}

/* A rank-0 operand (all of it broadcast) has no stride. */
static void test_stride_of_scalar(void **state) {
  (void)state;
  struct tg_kernel kernel = make_matmul_bt();
  kernel.operand[TG_LHS].rank = 0;
  assert_int_equal(tg_kernel_stride(&kernel, TG_LHS, 0), 0);
  assert_false(tg_kernel_uses(&kernel, TG_LHS, 0));
}

static void test_work(void **state) {
  (void)state;
  struct tg_kernel kernel = make_matmul_bt();
  assert_true(tg_kernel_flops(&kernel) == 2.0 * 10 * 36 * 52);
  assert_int_equal(tg_kernel_element_nbytes(&kernel), 4);
  kernel.element = TG_F64;
  assert_int_equal(tg_kernel_element_nbytes(&kernel), 8);
}

static void test_work_beyond_integers(void **state) {
  (void)state;
  struct tg_kernel kernel = make_matmul_bt();
  for (int l = 0; l < 3; ++l)
    kernel.extent[l] = INT64_C(1) << 40;
  assert_true(tg_kernel_flops(&kernel) > 1e36);
}

static void test_hash_separates(void **state) {
  (void)state;
  struct tg_kernel kernel = make_matmul_bt();
  uint64_t hash = tg_kernel_hash(&kernel);
  struct tg_kernel other = kernel;
  other.extent[0] = 11;
  assert_true(tg_kernel_hash(&other) != hash);
  other = kernel;
  other.element = TG_F64;
  assert_true(tg_kernel_hash(&other) != hash);
  other = kernel;
  other.init_is_zero = true;
  assert_true(tg_kernel_hash(&other) != hash);
  other = kernel;
  other.operand[TG_RHS].coefficient[0][1] = 2;
  assert_true(tg_kernel_hash(&other) != hash);
}

/* What lies beyond the counts, and whether an operand is a weight, is not
 * part of the identity. */
static void test_hash_ignores(void **state) {
  (void)state;
  struct tg_kernel kernel = make_matmul_bt();
  uint64_t hash = tg_kernel_hash(&kernel);
  kernel.weight[TG_RHS] = true;
  kernel.extent[TG_MAX_LOOPS - 1] = 77;
  kernel.operand[TG_LHS].coefficient[5][0] = 9;
  assert_true(tg_kernel_hash(&kernel) == hash);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_uses),
      cmocka_unit_test(test_stride_of_transposed_operand),
      cmocka_unit_test(test_stride_of_window),
      cmocka_unit_test(test_stride_of_scalar),
      cmocka_unit_test(test_work),
      cmocka_unit_test(test_work_beyond_integers),
      cmocka_unit_test(test_hash_separates),
      cmocka_unit_test(test_hash_ignores),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
