/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Winograd's algorithm: its matrices, which kernels it serves, which
 * configurations are legal, and that the rule doesn't choose it blindly.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "model/cost.h"
#include "model/decide.h"
#include "model/winograd.h"
#include "test/model/make_kernel.h"

#define WORDS(a, b, c) ((const char *const[]){a, b, c})

static struct tg_target target_of(const char *text) {
  struct tg_target target;
  struct tg_error error;
  assert_int_equal(tg_target_parse(text, &target, &error), TG_OK);
  return target;
}

/*===-- Matrices ----------------------------------------------------------===*/

enum { N = TG_WINOGRAD_MAX_INPUT };

/* row-major results of left (rows, inner) times right (inner, columns), the
 * right one transposed where it is stored so; all of stride N. */
static void multiply(int rows, int inner, int columns, double left[N][N],
                     double right[N][N], double result[N][N]) {
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) {
      result[i][j] = 0;
      for (int k = 0; k < inner; ++k)
        result[i][j] += left[i][k] * right[k][j];
    }
}

/* left x middle x left^T, middle (inner, inner). */
static void sandwich(int rows, int inner, double left[N][N],
                     double middle[N][N], double result[N][N]) {
  double half[N][N], transposed[N][N];
  multiply(rows, inner, inner, left, middle, half);
  for (int i = 0; i < rows; ++i)
    for (int k = 0; k < inner; ++k)
      transposed[k][i] = left[i][k];
  multiply(rows, inner, rows, half, transposed, result);
}

static void check_identity(int output, int seed) {
  struct tg_winograd_matrices matrices;
  tg_winograd_get_matrices(output, &matrices);
  int n = output + 2;
  double g[N][N] = {{0}}, at[N][N] = {{0}}, bt[N][N] = {{0}};
  double image[N][N] = {{0}}, filter[N][N] = {{0}};
  double u[N][N], v[N][N], result[N][N];
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      image[i][j] = (seed + 7 * i + 5 * j * j) % 19 - 9;
      filter[i][j] = i < 3 && j < 3 ? (seed + 3 * i + 11 * j) % 13 - 6 : 0;
      bt[i][j] = matrices.bt[i][j];
      g[i][j] = j < 3 ? matrices.g[i][j] : 0;
      at[i][j] = i < output ? matrices.at[i][j] : 0;
    }
  sandwich(n, 3, g, filter, u);
  sandwich(n, n, bt, image, v);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      u[i][j] *= v[i][j];
  sandwich(output, n, at, u, result);
  for (int y = 0; y < output; ++y)
    for (int x = 0; x < output; ++x) {
      double sum = 0;
      for (int i = 0; i < 9; ++i)
        sum += filter[i / 3][i % 3] * image[y + i / 3][x + i % 3];
      assert_true(result[y][x] - sum < 1e-9 && sum - result[y][x] < 1e-9);
    }
}

static void test_identity(void **state) {
  (void)state;
  for (int seed = 0; seed < 50; ++seed) {
    check_identity(2, seed);
    check_identity(4, seed);
  }
}

/* What the code generator relies on: pairs of points. */
static void test_pairs(void **state) {
  (void)state;
  for (int output = 2; output <= 4; output += 2) {
    struct tg_winograd_matrices m;
    tg_winograd_get_matrices(output, &m);
    assert_int_equal(m.output, output);
    assert_int_equal(m.input, output + 2);
    for (int i = 1; i + 1 < m.input; i += 2) {
      for (int j = 0; j < m.input; ++j)
        assert_true(m.bt[i][j] == (j % 2 ? -1 : 1) * m.bt[i + 1][j]);
      for (int j = 0; j < 3; ++j)
        assert_true(m.g[i][j] == (j % 2 ? -1 : 1) * m.g[i + 1][j]);
      for (int k = 0; k < output; ++k)
        assert_true(m.at[k][i] == (k % 2 ? -1 : 1) * m.at[k][i + 1]);
    }
  }
}

/*===-- Which kernels -----------------------------------------------------===*/

static const char *match(const char *loops, const char *const words[3],
                         int stride, struct tg_winograd *w) {
  struct tg_kernel kernel = make_kernel(loops, words, stride);
  struct tg_canonical canonical;
  tg_canonicalize(&kernel, &canonical);
  return tg_winograd_match(&canonical.kernel, w);
}

static void test_layouts(void **state) {
  (void)state;
  static const char loops[] = "n2 f8 x12 y10 c5 X3 Y3";
  struct tg_winograd w;
  assert_null(match(loops, WORDS("nc12", "fcXY", "nfxy"), 1, &w));
  assert_true(w.image == TG_LHS && w.image_by_column && w.result_by_column);
  assert_int_equal(w.filter_way, TG_WINOGRAD_WINDOWS);
  assert_int_equal(w.height, 12);
  assert_int_equal(w.width, 10);
  assert_int_equal(w.channels, 5);
  assert_int_equal(w.features, 8);
  assert_int_equal(w.batch_count, 1);
  assert_null(match(loops, WORDS("n12c", "XYcf", "nxyf"), 1, &w));
  assert_true(!w.image_by_column && !w.result_by_column);
  assert_int_equal(w.filter_way, TG_WINOGRAD_VECTORS);
  assert_null(match(loops, WORDS("n12c", "fXYc", "nxyf"), 1, &w));
  assert_int_equal(w.filter_way, TG_WINOGRAD_CHANNELS);
  /* The filter first, and no channels. */
  assert_null(match(loops, WORDS("fcXY", "nc12", "nfxy"), 1, &w));
  assert_int_equal(w.image, TG_RHS);
  assert_null(
      match("n1 f8 x12 y10 c1 X3 Y3", WORDS("n12c", "XYcf", "nxyf"), 1, &w));
  assert_true(w.channel == TG_NO_LOOP && w.image_by_column);
  assert_null(match("n2 g4 f8 x12 y10 c5 X3 Y3",
                    WORDS("ngc12", "gfcXY", "ngfxy"), 1, &w));
  assert_int_equal(w.group_count, 1);
}

static void test_refused_kernels(void **state) {
  (void)state;
  static const char loops[] = "n2 f8 x12 y10 c5 X3 Y3";
  struct tg_winograd w;
  assert_non_null(match(loops, WORDS("nc12", "fcXY", "nfxy"), 2, &w));
  assert_non_null(
      match("n2 f8 x12 y10 c5 X3 Y5", WORDS("nc12", "fcXY", "nfxy"), 1, &w));
  assert_non_null(match("n2 f8 x12 c5 X3", WORDS("nc1", "fcX", "nfx"), 1, &w));
  assert_non_null(match("m8 n8 k8", WORDS("mk", "kn", "mn"), 1, &w));
  /* One row of results: a window of one dimension is left. */
  assert_non_null(
      match("n2 f8 x1 y10 c5 X3 Y3", WORDS("nc12", "fcXY", "nfxy"), 1, &w));
  /* Contiguous along other loops, and channels in two loops. */
  assert_non_null(match(loops, WORDS("12cn", "fcXY", "nfxy"), 1, &w));
  assert_non_null(match(loops, WORDS("n12c", "fcXY", "nfxy"), 1, &w));
  assert_non_null(match(loops, WORDS("nc12", "cXfY", "nfxy"), 1, &w));
  assert_non_null(match("n2 f8 x12 y10 c5 d3 X3 Y3",
                        WORDS("nc1d2", "fdcXY", "nfxy"), 1, &w));
}

/*===-- Which configurations ----------------------------------------------===*/

static struct tg_kernel conv(int f, int c, int size) {
  struct tg_kernel kernel = make_conv(f, c, size, 3, 1);
  return kernel;
}

/* Canonical loops of conv(): f x y c X Y. */
static struct tg_config good_config(void) {
  struct tg_config config = {{0}};
  config.knob[TG_KNOB_tiled] = 1;
  config.knob[TG_KNOB_winograd] = 4;
  config.knob[TG_KNOB_vector_loop] = 2;
  config.knob[TG_KNOB_row_loop] = 0;
  config.knob[TG_KNOB_vectors] = 2;
  config.knob[TG_KNOB_rows] = 4;
  config.knob[TG_KNOB_unroll] = 4;
  return config;
}

static const char *fault_of(enum tg_knob knob, int32_t value) {
  struct tg_kernel kernel = conv(16, 8, 30);
  struct tg_target target = target_of("avx2");
  struct tg_config config = good_config();
  struct tg_plan plan;
  config.knob[knob] = value;
  return tg_plan_make(&kernel, &config, &target, &plan);
}

static void test_every_rule(void **state) {
  (void)state;
  assert_null(fault_of(TG_KNOB_winograd, 4));
  assert_null(fault_of(TG_KNOB_winograd, 2));
  assert_null(fault_of(TG_KNOB_order, 1));
  assert_null(fault_of(TG_KNOB_block_vector, 16));
  assert_null(fault_of(TG_KNOB_block_vector, 64));
  assert_null(fault_of(TG_KNOB_block_vector, 1000));
  static const struct {
    enum tg_knob knob;
    int32_t value;
    const char *part;
  } cases[] = {
      {TG_KNOB_winograd, 3, "0, 2 or 4"},
      {TG_KNOB_winograd, -2, "0, 2 or 4"},
      {TG_KNOB_tiled, 0, "0, 2 or 4"},
      {TG_KNOB_vectors, 0, "at least 1"},
      {TG_KNOB_vectors, INT32_MAX, "at most 256"},
      {TG_KNOB_rows, 0, "at least 1"},
      {TG_KNOB_unroll, -1, "at least 1"},
      {TG_KNOB_order, 2, "flag"},
      {TG_KNOB_flatten, 1, "nothing to pack"},
      {TG_KNOB_pack_rhs, 1, "nothing to pack"},
      {TG_KNOB_block_reduction, 4, "all channels"},
      {TG_KNOB_vector_loop, 0, "vectors run along the tiles"},
      {TG_KNOB_row_loop, 1, "vectors run along the tiles"},
      {TG_KNOB_block_rows, 4, "only the loop of tiles"},
      {TG_KNOB_block_vector, 12, "whole rows of tiles"},
      {TG_KNOB_block_vector, -8, "whole rows of tiles"},
      {TG_KNOB_rows, 17, "exceeds the row loop"},
      {TG_KNOB_rows, 8, "registers"},
      {TG_KNOB_vectors, 9, "wider than the vector loop"},
      {TG_KNOB_unroll, 1000000, NULL}, /* no more than there are channels */
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    const char *fault = fault_of(cases[i].knob, cases[i].value);
    if (!cases[i].part) {
      assert_null(fault);
      continue;
    }
    assert_non_null(fault);
    if (!strstr(fault, cases[i].part))
      fail_msg("%s = %d: %s", tg_knob_names[cases[i].knob], cases[i].value,
               fault);
  }
}

static void test_sizes(void **state) {
  (void)state;
  struct tg_kernel kernel = conv(16, 8, 30);
  struct tg_target target = target_of("avx2");
  struct tg_config config = good_config();
  struct tg_plan plan;
  struct tg_winograd w;
  config.knob[TG_KNOB_rows] = 5;
  config.knob[TG_KNOB_block_vector] = 24;
  assert_null(tg_plan_make(&kernel, &config, &target, &plan));
  assert_int_equal(plan.winograd, 4);
  tg_winograd_describe(&plan, &w);
  assert_int_equal(w.tile_rows, 8);
  assert_int_equal(w.tile_columns, 8);
  assert_int_equal(w.block_rows, 3);
  assert_int_equal(w.block_tiles, 24);
  assert_int_equal(w.panels, 4); /* of 5 for 16 features */
  assert_true(w.image_stride >= 24 && w.image_stride % 32 == 16);
  assert_false(w.product.packed[TG_LHS] || w.product.packed[TG_RHS]);
  assert_int_equal(w.product.rows, 5);
  assert_int_equal(w.product.width, 16);
  /* Its estimate and its columns. */
  double filter;
  double cycles = tg_winograd_cycles(&plan, &target, &filter);
  assert_true(filter > 0 && filter < cycles);
  assert_true(cycles == tg_plan_cycles(&plan, &target));
  float row[TG_FEATURE_COUNT];
  tg_config_features(&kernel, &config, &target, row);
  for (int f = 0; f < TG_FEATURE_COUNT; ++f)
    assert_true(row[f] == 0);
}

/* The filter of one group may come transformed: it is then only read. */
static void test_prepacked(void **state) {
  (void)state;
  struct tg_kernel kernel = conv(16, 8, 30);
  struct tg_target target = target_of("avx2");
  struct tg_config config = good_config();
  struct tg_plan plan;
  double inside, given;
  assert_null(tg_plan_make(&kernel, &config, &target, &plan));
  double whole = tg_winograd_cycles(&plan, &target, &inside);
  assert_false(tg_plan_takes_panels(&plan, TG_RHS));
  kernel.prepacked[TG_LHS] = kernel.prepacked[TG_RHS] = true;
  assert_null(tg_plan_make(&kernel, &config, &target, &plan));
  assert_true(tg_plan_takes_panels(&plan, TG_RHS));
  assert_false(tg_plan_takes_panels(&plan, TG_LHS)); /* the image */
  double rest = tg_winograd_cycles(&plan, &target, &given) - given;
  assert_true(given > 0 && given < inside);
  assert_true(fabs(rest - (whole - inside)) < 1e-6 * whole);
  struct tg_kernel grouped = make_kernel("n2 g4 f8 x12 y10 c5 X3 Y3",
                                         WORDS("ngc12", "gfcXY", "ngfxy"), 1);
  struct tg_canonical canonical;
  tg_canonicalize(&grouped, &canonical);
  assert_false(tg_winograd_may_take_panels(&canonical.kernel, TG_RHS));
  grouped =
      make_kernel("n2 f8 x12 y10 c5 X3 Y3", WORDS("fcXY", "nc12", "nfxy"), 1);
  tg_canonicalize(&grouped, &canonical);
  assert_true(tg_winograd_may_take_panels(&canonical.kernel, TG_LHS));
  assert_false(tg_winograd_may_take_panels(&canonical.kernel, TG_RHS));
}

/*===-- The choice --------------------------------------------------------===*/

static void test_enumeration_is_legal(void **state) {
  (void)state;
  static const char *const targets[] = {"avx2", "avx512", "generic"};
  for (size_t t = 0; t < 3; ++t) {
    struct tg_arena *arena = tg_arena_create();
    struct tg_target target = target_of(targets[t]);
    struct tg_kernel kernel = conv(20, 7, 23), matmul = make_matmul(8, 8, 8);
    struct tg_space space;
    struct tg_plan plan;
    assert_true(tg_winograd_enumerate(&matmul, &target, arena, &space));
    assert_int_equal(space.count, 0);
    assert_true(tg_winograd_enumerate(&kernel, &target, arena, &space));
    assert_true(space.count > 50);
    for (size_t i = 0; i < space.count; ++i) {
      assert_null(tg_plan_make(&kernel, &space.configs[i], &target, &plan));
      assert_true(plan.winograd == 2 || plan.winograd == 4);
    }
    /* The common space knows none of them. */
    assert_true(tg_space_enumerate(&kernel, &target, arena, &space));
    for (size_t i = 0; i < space.count; ++i)
      assert_int_equal(space.configs[i].knob[TG_KNOB_winograd], 0);
    tg_arena_destroy(arena);
  }
}

static enum tg_reason reason_of(struct tg_kernel kernel, bool reassociate) {
  struct tg_arena *arena = tg_arena_create();
  struct tg_target target = target_of("avx512");
  struct tg_decider decider;
  struct tg_decision decision;
  struct tg_error error;
  assert_int_equal(tg_decider_init(&decider, "analytic", &target,
                                   TG_SEARCH_AUTO, 256, 0, arena, &error),
                   TG_OK);
  decider.reassociate = reassociate;
  assert_int_equal(tg_decide(&decider, &kernel, &decision, &error), TG_OK);
  assert_true((decision.reason == TG_REASON_WINOGRAD) ==
              (decision.config.knob[TG_KNOB_winograd] != 0));
  char text[512];
  tg_decision_explain(&decision, &kernel, &target, text, sizeof(text));
  assert_true((decision.reason == TG_REASON_WINOGRAD) ==
              (strstr(text, "Winograd F(") != NULL));
  tg_decider_release(&decider);
  tg_arena_destroy(arena);
  return decision.reason;
}

static void test_choice(void **state) {
  (void)state;
  assert_int_equal(reason_of(conv(64, 64, 58), true), TG_REASON_WINOGRAD);
  assert_int_equal(reason_of(conv(64, 64, 58), false), TG_REASON_ANALYTIC);
  /* The transforms cost more than what they save. */
  assert_int_equal(reason_of(conv(4, 3, 58), true), TG_REASON_ANALYTIC);
  assert_int_equal(reason_of(make_matmul(64, 64, 64), true),
                   TG_REASON_ANALYTIC);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_identity),
      cmocka_unit_test(test_pairs),
      cmocka_unit_test(test_layouts),
      cmocka_unit_test(test_refused_kernels),
      cmocka_unit_test(test_every_rule),
      cmocka_unit_test(test_sizes),
      cmocka_unit_test(test_prepacked),
      cmocka_unit_test(test_enumeration_is_legal),
      cmocka_unit_test(test_choice),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
