/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Which loops are dropped and merged, and which must not be.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "model/canonical.h"
#include "test/model/make_kernel.h"

#define WORDS(a, b, c) ((const char *const[]){a, b, c})

static struct tg_canonical canonical_of(const struct tg_kernel *kernel) {
  struct tg_canonical canonical;
  tg_canonicalize(kernel, &canonical);
  return canonical;
}

static void test_matmul_stays(void **state) {
  (void)state;
  struct tg_kernel kernel = make_matmul(10, 36, 52);
  struct tg_canonical canonical = canonical_of(&kernel);
  assert_true(tg_kernel_hash(&canonical.kernel) == tg_kernel_hash(&kernel));
}

static void test_pointwise_convolution_is_a_matmul(void **state) {
  (void)state;
  struct tg_kernel kernel = make_conv(16, 8, 7, 1, 1);
  struct tg_canonical canonical = canonical_of(&kernel);
  assert_int_equal(canonical.kernel.loop_count, 3);
  assert_int_equal(canonical.kernel.operand[TG_LHS].rank, 2);
  assert_int_equal(canonical.kernel.operand[TG_LHS].extent[1], 49);
  assert_int_equal(canonical.kernel.operand[TG_RHS].rank, 2);
  assert_int_equal(canonical.kernel.operand[TG_RESULT].rank, 2);
  /* x and y, loops 2 and 3 of the operation, are one. */
  assert_int_equal(canonical.loop_size[1], 2);
  assert_int_equal(canonical.loop_of[canonical.loop_first[1]], 2);
  assert_int_equal(canonical.loop_of[canonical.loop_first[1] + 1], 3);
}

static void test_strided_pointwise_is_not_merged(void **state) {
  (void)state;
  struct tg_kernel kernel = make_conv(16, 8, 7, 1, 2);
  struct tg_canonical canonical = canonical_of(&kernel);
  assert_int_equal(canonical.kernel.loop_count, 4);
}

static void test_window_is_not_merged(void **state) {
  (void)state;
  struct tg_kernel kernel = make_conv(16, 8, 7, 3, 1);
  struct tg_canonical canonical = canonical_of(&kernel);
  assert_int_equal(canonical.kernel.loop_count, 6);
  assert_int_equal(canonical.kernel.operand[TG_LHS].rank, 3);
}

/* Two batch loops that stand in the other order in one operand. */
static void test_transposed_pair_is_not_merged(void **state) {
  (void)state;
  struct tg_kernel kernel =
      make_kernel("a3 b4 m5 n6 k7", WORDS("abmk", "bakn", "abmn"), 1);
  struct tg_canonical canonical = canonical_of(&kernel);
  assert_int_equal(canonical.kernel.loop_count, 5);
  kernel = make_kernel("a3 b4 m5 n6 k7", WORDS("abmk", "abkn", "abmn"), 1);
  canonical = canonical_of(&kernel);
  assert_int_equal(canonical.kernel.loop_count, 4);
  assert_int_equal(canonical.kernel.extent[0], 12);
}

/* A parallel and a reduction loop side by side. */
static void test_kinds_are_not_mixed(void **state) {
  (void)state;
  struct tg_kernel kernel = make_kernel("m5 k7", WORDS("mk", "k", "m"), 1);
  struct tg_canonical canonical = canonical_of(&kernel);
  assert_int_equal(canonical.kernel.loop_count, 2);
}

/* The pair may come in any order of the loops themselves. */
static void test_merged_against_loop_order(void **state) {
  (void)state;
  struct tg_kernel kernel =
      make_kernel("q3 p4 n6 k7", WORDS("pqk", "kn", "pqn"), 1);
  struct tg_canonical canonical = canonical_of(&kernel);
  assert_int_equal(canonical.kernel.loop_count, 3);
  int merged = canonical.loop_size[0] == 2 ? 0 : 1;
  assert_int_equal(canonical.loop_size[merged], 2);
  assert_int_equal(canonical.loop_of[canonical.loop_first[merged]], 1);
  assert_int_equal(canonical.loop_of[canonical.loop_first[merged] + 1], 0);
}

static void test_unit_loops_and_dimensions_go(void **state) {
  (void)state;
  struct tg_kernel kernel = make_matmul(1, 36, 1);
  struct tg_canonical canonical = canonical_of(&kernel);
  assert_int_equal(canonical.kernel.loop_count, 1);
  for (int o = 0; o < TG_OPERAND_COUNT; ++o)
    assert_int_equal(canonical.kernel.operand[o].rank, 1);
  assert_int_equal(tg_kernel_stride(&canonical.kernel, TG_RHS, 0), 1);
  assert_int_equal(tg_kernel_stride(&canonical.kernel, TG_RESULT, 0), 1);
  assert_false(tg_kernel_uses(&canonical.kernel, TG_LHS, 0));
}

/* Every group is consecutive and its extents multiply up. */
static void test_groups_cover_the_operands(void **state) {
  (void)state;
  struct tg_kernel kernels[] = {
      make_conv(16, 8, 7, 1, 1), make_conv(1, 8, 7, 3, 2),
      make_kernel("a1 m4 p1 q5 k2 r3 n6", WORDS("ampqkr", "akrn", "apqmn"), 1)};
  for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); ++i) {
    struct tg_canonical canonical = canonical_of(&kernels[i]);
    for (int o = 0; o < TG_OPERAND_COUNT; ++o) {
      const struct tg_access *source = &kernels[i].operand[o];
      const struct tg_access *access = &canonical.kernel.operand[o];
      int64_t extent[TG_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
      int last = 0;
      assert_int_equal(canonical.source_rank[o], source->rank);
      for (int d = 0; d < source->rank; ++d) {
        int group = canonical.group[o][d];
        assert_true(group == last || group == last + (d > 0));
        extent[group] *= source->extent[d];
        last = group;
      }
      assert_int_equal(last, access->rank - 1);
      for (int d = 0; d < access->rank; ++d)
        assert_int_equal(extent[d], access->extent[d]);
    }
  }
}

static void test_flatten_leaves_the_image_apart(void **state) {
  (void)state;
  struct tg_kernel kernel = make_conv(16, 8, 7, 3, 2);
  struct tg_canonical canonical = canonical_of(&kernel);
  bool collapsed[TG_OPERAND_COUNT];
  /* f x y c X Y */
  assert_true(tg_canonical_flatten(&canonical, 1, 2, collapsed));
  assert_false(collapsed[TG_LHS]);
  assert_true(collapsed[TG_RHS]);
  assert_true(collapsed[TG_RESULT]);
  assert_int_equal(canonical.kernel.loop_count, 5);
  assert_int_equal(canonical.kernel.extent[1], 49);
}

static void test_flatten_needs_neighbours_in_the_result(void **state) {
  (void)state;
  struct tg_kernel kernel = make_conv(16, 8, 7, 3, 2);
  struct tg_canonical canonical = canonical_of(&kernel), before = canonical;
  bool collapsed[TG_OPERAND_COUNT];
  assert_false(tg_canonical_flatten(&canonical, 0, 2, collapsed));
  assert_memory_equal(&canonical, &before, sizeof(before));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_matmul_stays),
      cmocka_unit_test(test_pointwise_convolution_is_a_matmul),
      cmocka_unit_test(test_strided_pointwise_is_not_merged),
      cmocka_unit_test(test_window_is_not_merged),
      cmocka_unit_test(test_transposed_pair_is_not_merged),
      cmocka_unit_test(test_kinds_are_not_mixed),
      cmocka_unit_test(test_merged_against_loop_order),
      cmocka_unit_test(test_unit_loops_and_dimensions_go),
      cmocka_unit_test(test_groups_cover_the_operands),
      cmocka_unit_test(test_flatten_leaves_the_image_apart),
      cmocka_unit_test(test_flatten_needs_neighbours_in_the_result),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
