/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Layouts of operands, most minor dimension first.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "model/layout.h"
#include "test/model/make_kernel.h"

static struct tg_config tiled(int vector_loop, int row_loop) {
  struct tg_config config = {{0}};
  config.knob[TG_KNOB_tiled] = 1;
  config.knob[TG_KNOB_vector_loop] = vector_loop;
  config.knob[TG_KNOB_row_loop] = row_loop;
  config.knob[TG_KNOB_vectors] = config.knob[TG_KNOB_rows] = 1;
  config.knob[TG_KNOB_unroll] = 1;
  return config;
}

static void assert_layout(const struct tg_kernel *kernel,
                          const struct tg_config *config, int operand,
                          int count, const int *dimensions) {
  struct tg_layout layout;
  tg_config_layout(kernel, config, operand, &layout);
  assert_int_equal(layout.count, count);
  for (int i = 0; i < count; ++i)
    assert_int_equal(layout.dimension[i], dimensions[i]);
}

static void test_stock_is_row_major(void **state) {
  (void)state;
  struct tg_kernel kernel = make_conv(16, 8, 7, 3, 1);
  struct tg_config config = {{0}};
  assert_layout(&kernel, &config, TG_LHS, 4, (const int[]){3, 2, 1, 0});
}

static void test_unpacked_is_row_major(void **state) {
  (void)state;
  struct tg_kernel kernel = make_matmul(40, 64, 52);
  struct tg_config config = tiled(1, 0);
  config.knob[TG_KNOB_pack_rhs] = 1;
  assert_layout(&kernel, &config, TG_LHS, 2, (const int[]){1, 0});
}

/* Panels of B: columns of the panel, the reduction, the panels. */
static void test_panels(void **state) {
  (void)state;
  struct tg_kernel kernel = make_matmul(40, 64, 52);
  struct tg_config config = tiled(1, 0);
  config.knob[TG_KNOB_pack_rhs] = config.knob[TG_KNOB_pack_lhs] = 1;
  assert_layout(&kernel, &config, TG_RHS, 3, (const int[]){1, 0, 1});
  assert_layout(&kernel, &config, TG_LHS, 3, (const int[]){0, 1, 0});
}

static void test_packed_result(void **state) {
  (void)state;
  struct tg_kernel kernel = make_matmul(40, 64, 52);
  struct tg_config config = tiled(0, 1);
  config.knob[TG_KNOB_pack_result] = config.knob[TG_KNOB_pack_lhs] = 1;
  assert_layout(&kernel, &config, TG_RESULT, 3, (const int[]){0, 1, 0});
}

/* What a hasty hand may write: there is no row loop to follow. */
static void test_no_row_loop(void **state) {
  (void)state;
  struct tg_kernel kernel = make_matmul(40, 64, 52);
  struct tg_config config = tiled(1, TG_NO_LOOP);
  config.knob[TG_KNOB_pack_lhs] = config.knob[TG_KNOB_pack_result] = 1;
  struct tg_layout layout;
  tg_config_layout(&kernel, &config, TG_LHS, &layout);
  assert_in_range(layout.count, 1, TG_MAX_LAYOUT);
  tg_config_layout(&kernel, &config, TG_RESULT, &layout);
  assert_in_range(layout.count, 1, TG_MAX_LAYOUT);
}

/* Every dimension that is walked is somewhere in the layout. */
static void test_no_dimension_is_lost(void **state) {
  (void)state;
  struct tg_kernel kernel = make_conv(16, 8, 7, 3, 2);
  for (int vector = 0; vector < 3; ++vector)
    for (int row = 0; row < 3; ++row) {
      if (row == vector)
        continue;
      struct tg_config config = tiled(vector, row);
      config.knob[TG_KNOB_pack_lhs] = config.knob[TG_KNOB_pack_rhs] = 1;
      config.knob[TG_KNOB_pack_result] = 1;
      for (int o = 0; o < TG_OPERAND_COUNT; ++o) {
        struct tg_layout layout;
        unsigned seen = 0;
        tg_config_layout(&kernel, &config, o, &layout);
        for (int i = 0; i < layout.count; ++i)
          seen |= 1u << layout.dimension[i];
        assert_int_equal(seen, (1u << kernel.operand[o].rank) - 1);
      }
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_stock_is_row_major),
      cmocka_unit_test(test_unpacked_is_row_major),
      cmocka_unit_test(test_panels),
      cmocka_unit_test(test_packed_result),
      cmocka_unit_test(test_no_row_loop),
      cmocka_unit_test(test_no_dimension_is_lost),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
