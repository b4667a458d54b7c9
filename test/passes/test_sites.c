/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Which operations are configurable, and the kernels read from them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <mlir-c/IR.h>
#include <mlir-c/RegisterEverything.h>

#include "passes/passes.h"

struct fixture {
  MlirContext context;
  MlirModule module;
  struct tg_arena *arena;
  struct tg_site *sites;
  size_t count;
};

/* Parses the text and collects; stop_fixture ends it. */
static struct fixture start_fixture(const char *text) {
  struct fixture f;
  f.context = mlirContextCreateWithThreading(false);
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  mlirRegisterAllDialects(registry);
  mlirContextAppendDialectRegistry(f.context, registry);
  mlirDialectRegistryDestroy(registry);
  mlirContextLoadAllAvailableDialects(f.context);
  f.module =
      mlirModuleCreateParse(f.context, mlirStringRefCreateFromCString(text));
  assert_false(mlirModuleIsNull(f.module));
  f.arena = tg_arena_create();
  assert_true(tg_collect_sites(mlirModuleGetOperation(f.module), f.arena,
                               &f.sites, &f.count));
  return f;
}

static void stop_fixture(struct fixture *f) {
  tg_arena_destroy(f->arena);
  mlirModuleDestroy(f->module);
  mlirContextDestroy(f->context);
}

static void assert_no_site(const char *text) {
  struct fixture f = start_fixture(text);
  assert_int_equal(f.count, 0);
  stop_fixture(&f);
}

/* A function whose only operation has the operands a, b and c. */
#define FUNCTION(op, a, b, c)                                                  \
  "func.func @f(%a: " a ", %b: " b ", %c: " c ") -> " c " {\n"                 \
  "  %r = " op " ins(%a, %b : " a ", " b ") outs(%c : " c ") -> " c "\n"       \
  "  return %r : " c "\n}\n"

#define GENERIC(maps, iterators, body, a, b, c)                                \
  "func.func @f(%a: " a ", %b: " b ", %c: " c ") -> " c " {\n"                 \
  "  %r = linalg.generic {indexing_maps = [" maps "], iterator_types = "       \
  "[" iterators "]} ins(%a, %b : " a ", " b ") outs(%c : " c ") {\n"           \
  "  ^bb0(%x: f32, %y: f32, %z: f32):\n" body "  } -> " c "\n"                 \
  "  return %r : " c "\n}\n"

#define MULTIPLY_ADD                                                           \
  "%m = arith.mulf %x, %y : f32\n %s = arith.addf %z, %m : f32\n"              \
  "linalg.yield %s : f32\n"
#define MATMUL_MAPS                                                            \
  "affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, "         \
  "affine_map<(m, n, k) -> (m, n)>"
#define MATMUL_ITERATORS "\"parallel\", \"parallel\", \"reduction\""

static void test_named_and_generic_are_one_kernel(void **state) {
  (void)state;
  struct fixture named =
      start_fixture(FUNCTION("linalg.matmul", "tensor<7x5xf32>",
                             "tensor<5x3xf32>", "tensor<7x3xf32>"));
  struct fixture generic = start_fixture(
      GENERIC(MATMUL_MAPS, MATMUL_ITERATORS, MULTIPLY_ADD, "tensor<7x5xf32>",
              "tensor<5x3xf32>", "tensor<7x3xf32>"));
  assert_int_equal(named.count, 1);
  assert_int_equal(generic.count, 1);
  assert_int_equal(named.sites[0].kernel.extent[2], 5);
  assert_true(named.sites[0].kernel.reduction[2]);
  assert_true(tg_kernel_hash(&named.sites[0].kernel) ==
              tg_kernel_hash(&generic.sites[0].kernel));
  stop_fixture(&named);
  stop_fixture(&generic);
}

static void test_either_operand_order(void **state) {
  (void)state;
  struct fixture f = start_fixture(
      GENERIC(MATMUL_MAPS, MATMUL_ITERATORS,
              "%m = arith.mulf %y, %x : f32\n %s = arith.addf %m, %z : f32\n"
              "linalg.yield %s : f32\n",
              "tensor<7x5xf32>", "tensor<5x3xf32>", "tensor<7x3xf32>"));
  assert_int_equal(f.count, 1);
  stop_fixture(&f);
}

static void test_maps_are_read(void **state) {
  (void)state;
  struct fixture f = start_fixture(
      FUNCTION("linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k)>, "
               "affine_map<(m, n, k) -> (n, k)>, "
               "affine_map<(m, n, k) -> (m, n)>]",
               "tensor<52xf32>", "tensor<36x52xf32>", "tensor<10x36xf32>"));
  assert_int_equal(f.count, 1);
  const struct tg_kernel *kernel = &f.sites[0].kernel;
  assert_int_equal(kernel->extent[0], 10);
  assert_int_equal(kernel->extent[1], 36);
  assert_int_equal(kernel->extent[2], 52);
  assert_false(tg_kernel_uses(kernel, TG_LHS, 0));
  assert_int_equal(tg_kernel_stride(kernel, TG_RHS, 1), 52);
  stop_fixture(&f);
}

static void test_convolution_strides(void **state) {
  (void)state;
  struct fixture f = start_fixture(FUNCTION(
      "linalg.conv_2d_nchw_fchw {dilations = dense<[1, 3]> : tensor<2xi64>, "
      "strides = dense<[2, 1]> : tensor<2xi64>}",
      "tensor<1x4x9x12xf64>", "tensor<6x4x3x2xf64>", "tensor<1x6x4x9xf64>"));
  assert_int_equal(f.count, 1);
  const struct tg_kernel *kernel = &f.sites[0].kernel;
  const int64_t extent[7] = {1, 6, 4, 9, 4, 3, 2};
  assert_int_equal(kernel->loop_count, 7);
  for (int l = 0; l < 7; ++l)
    assert_int_equal(kernel->extent[l], extent[l]);
  assert_int_equal(kernel->element, TG_F64);
  assert_int_equal(kernel->operand[TG_LHS].coefficient[2][2], 2);
  assert_int_equal(kernel->operand[TG_LHS].coefficient[3][6], 3);
  stop_fixture(&f);
}

static void test_kinds_of_convolutions(void **state) {
  (void)state;
  static const char *const texts[] = {
      FUNCTION("linalg.conv_2d_nhwc_hwcf", "tensor<1x9x9x4xf32>",
               "tensor<3x3x4x8xf32>", "tensor<1x7x7x8xf32>"),
      FUNCTION("linalg.conv_2d_nhwc_fhwc", "tensor<1x9x9x4xf32>",
               "tensor<8x3x3x4xf32>", "tensor<1x7x7x8xf32>"),
      FUNCTION("linalg.conv_2d_ngchw_gfchw", "tensor<1x2x4x9x9xf32>",
               "tensor<2x8x4x3x3xf32>", "tensor<1x2x8x7x7xf32>"),
      FUNCTION("linalg.depthwise_conv_2d_nchw_chw", "tensor<1x4x9x9xf32>",
               "tensor<4x3x3xf32>", "tensor<1x4x7x7xf32>"),
      FUNCTION("linalg.depthwise_conv_2d_nhwc_hwc", "tensor<1x9x9x4xf32>",
               "tensor<3x3x4xf32>", "tensor<1x7x7x4xf32>"),
      FUNCTION("linalg.conv_1d_ncw_fcw", "tensor<1x4x9xf32>",
               "tensor<8x4x3xf32>", "tensor<1x8x7xf32>"),
      FUNCTION("linalg.batch_matmul", "tensor<2x4x5xf32>", "tensor<2x5x6xf32>",
               "tensor<2x4x6xf32>"),
      FUNCTION("linalg.matvec", "tensor<4x5xf32>", "tensor<5xf32>",
               "tensor<4xf32>"),
      FUNCTION("linalg.vecmat", "tensor<5xf32>", "tensor<5x4xf32>",
               "tensor<4xf32>")};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; ++i) {
    struct fixture f = start_fixture(texts[i]);
    assert_int_equal(f.count, 1);
    stop_fixture(&f);
  }
}

static void test_types_left_alone(void **state) {
  (void)state;
#define MATMUL_OF(a, b, c) FUNCTION("linalg.matmul", a, b, c)
  static const char *const texts[] = {
      MATMUL_OF("tensor<0x5xf32>", "tensor<5x3xf32>", "tensor<0x3xf32>"),
      MATMUL_OF("tensor<7x5xi64>", "tensor<5x3xi64>", "tensor<7x3xi64>"),
      MATMUL_OF("tensor<7x5xf16>", "tensor<5x3xf16>", "tensor<7x3xf16>"),
      MATMUL_OF("tensor<7x5xi8>", "tensor<5x3xi8>", "tensor<7x3xi16>"),
      MATMUL_OF("tensor<7x5xi8>", "tensor<5x3xi8>", "tensor<7x3xf32>"),
      MATMUL_OF("tensor<7x5xi4>", "tensor<5x3xi4>", "tensor<7x3xi32>"),
      MATMUL_OF("tensor<7x5xcomplex<f32>>", "tensor<5x3xcomplex<f32>>",
                "tensor<7x3xcomplex<f32>>"),
      MATMUL_OF("tensor<9223372036854775807x2xf32>", "tensor<2x2xf32>",
                "tensor<9223372036854775807x2xf32>"),
      "func.func @f(%a: memref<4x4xf32>) {\n linalg.matmul ins(%a, %a : "
      "memref<4x4xf32>, memref<4x4xf32>) outs(%a : memref<4x4xf32>)\n return }",
      "func.func private @f(tensor<*xf32>) -> tensor<*xf32>",
      "module {}"};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; ++i)
    assert_no_site(texts[i]);
}

static void assert_extensions(const char *text, enum tg_element element,
                              enum tg_extension lhs, enum tg_extension rhs) {
  struct fixture f = start_fixture(text);
  assert_int_equal(f.count, 1);
  assert_int_equal(f.sites[0].kernel.element, element);
  assert_int_equal(f.sites[0].kernel.extension[TG_LHS], lhs);
  assert_int_equal(f.sites[0].kernel.extension[TG_RHS], rhs);
  stop_fixture(&f);
}

static void test_narrow_inputs(void **state) {
  (void)state;
  assert_extensions(
      MATMUL_OF("tensor<7x5xf16>", "tensor<5x3xbf16>", "tensor<7x3xf32>"),
      TG_F32, TG_EXTENSION_FLOAT, TG_EXTENSION_FLOAT);
  assert_extensions(
      MATMUL_OF("tensor<7x5xf64>", "tensor<5x3xf32>", "tensor<7x3xf64>"),
      TG_F64, TG_EXTENSION_NONE, TG_EXTENSION_FLOAT);
  assert_extensions(
      MATMUL_OF("tensor<7x5xi8>", "tensor<5x3xi32>", "tensor<7x3xi32>"), TG_I32,
      TG_EXTENSION_SIGNED, TG_EXTENSION_NONE);
  assert_extensions(
      FUNCTION("linalg.matmul {cast = #linalg.type_fn<cast_unsigned>}",
               "tensor<7x5xi8>", "tensor<5x3xi16>", "tensor<7x3xi32>"),
      TG_I32, TG_EXTENSION_UNSIGNED, TG_EXTENSION_UNSIGNED);
}

/* One site, whose loops are carried out as the letters say: static, bounded,
 * sliced. */
static void assert_dynamic(const char *text, const char *letters) {
  struct fixture f = start_fixture(text);
  assert_int_equal(f.count, 1);
  const struct tg_kernel *kernel = &f.sites[0].kernel;
  assert_int_equal(kernel->loop_count, strlen(letters));
  for (int l = 0; l < kernel->loop_count; ++l) {
    enum tg_dynamic expected = letters[l] == 's'   ? TG_STATIC
                               : letters[l] == 'b' ? TG_BOUNDED
                                                   : TG_SLICED;
    assert_int_equal(kernel->dynamic[l], expected);
    assert_true(kernel->extent[l] >= 1);
    if (expected == TG_SLICED)
      assert_int_equal(kernel->extent[l], 1);
  }
  stop_fixture(&f);
}

static void test_dynamic_extents(void **state) {
  (void)state;
#define CONV                                                                   \
  "linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = " \
  "dense<1> : tensor<2xi64>}"
  assert_dynamic(FUNCTION("linalg.matmul", "tensor<?x5xf32>", "tensor<5x3xf32>",
                          "tensor<?x3xf32>"),
                 "bss");
  assert_dynamic(FUNCTION("linalg.matmul", "tensor<?x?xf32>", "tensor<?x?xf32>",
                          "tensor<?x?xf32>"),
                 "bbb");
  assert_dynamic(FUNCTION("linalg.batch_matmul", "tensor<?x?x5xf32>",
                          "tensor<?x5x3xf32>", "tensor<?x?x3xf32>"),
                 "lbss");
  /* One operand knows what the others don't say. */
  assert_dynamic(FUNCTION("linalg.matmul", "tensor<?x5xf32>", "tensor<?x3xf32>",
                          "tensor<7x3xf32>"),
                 "sss");
  assert_dynamic(FUNCTION(CONV, "tensor<?x3x9x9xf32>", "tensor<4x3x3x3xf32>",
                          "tensor<?x4x7x7xf32>"),
                 "lssssss");
  assert_dynamic(FUNCTION(CONV, "tensor<?x3x?x?xf32>", "tensor<4x3x3x3xf32>",
                          "tensor<?x4x?x?xf32>"),
                 "lsbbsss");
  /* Two reductions of unknown extent; a static extent of 0 beside a dynamic
   * one. */
  assert_no_site(FUNCTION(CONV, "tensor<1x3x9x9xf32>", "tensor<4x3x?x?xf32>",
                          "tensor<1x4x7x7xf32>"));
  assert_no_site(FUNCTION("linalg.matmul", "tensor<?x0xf32>", "tensor<0x3xf32>",
                          "tensor<?x3xf32>"));
#undef CONV
}

static void test_bodies_and_maps_left_alone(void **state) {
  (void)state;
  static const char *const texts[] = {
      /* min-plus */
      GENERIC(MATMUL_MAPS, MATMUL_ITERATORS,
              "%m = arith.addf %x, %y : f32\n %s = arith.minimumf %z, %m : "
              "f32\n linalg.yield %s : f32\n",
              "tensor<7x5xf32>", "tensor<5x3xf32>", "tensor<7x3xf32>"),
      /* x * x, not x * y */
      GENERIC(MATMUL_MAPS, MATMUL_ITERATORS,
              "%m = arith.mulf %x, %x : f32\n %s = arith.addf %z, %m : f32\n"
              "linalg.yield %s : f32\n",
              "tensor<7x5xf32>", "tensor<5x3xf32>", "tensor<7x3xf32>"),
      /* yields the product */
      GENERIC(MATMUL_MAPS, MATMUL_ITERATORS,
              "%m = arith.mulf %x, %y : f32\n %s = arith.addf %z, %m : f32\n"
              "linalg.yield %m : f32\n",
              "tensor<7x5xf32>", "tensor<5x3xf32>", "tensor<7x3xf32>"),
      /* no reduction */
      GENERIC("affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, "
              "affine_map<(i, j) -> (i, j)>",
              "\"parallel\", \"parallel\"", MULTIPLY_ADD, "tensor<7x5xf32>",
              "tensor<7x5xf32>", "tensor<7x5xf32>"),
      /* a diagonal */
      GENERIC("affine_map<(i, j) -> (i, i)>, affine_map<(i, j) -> (j)>, "
              "affine_map<(i, j) -> (i)>",
              "\"parallel\", \"reduction\"", MULTIPLY_ADD, "tensor<4x4xf32>",
              "tensor<4xf32>", "tensor<4xf32>"),
      /* not linear */
      GENERIC("affine_map<(i, j) -> ((i + j) mod 8)>, "
              "affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>",
              "\"parallel\", \"reduction\"", MULTIPLY_ADD, "tensor<8xf32>",
              "tensor<4x8xf32>", "tensor<4xf32>"),
      /* an offset */
      GENERIC("affine_map<(i, j) -> (i, j + 1)>, affine_map<(i, j) -> (j)>, "
              "affine_map<(i, j) -> (i)>",
              "\"parallel\", \"reduction\"", MULTIPLY_ADD, "tensor<4x9xf32>",
              "tensor<8xf32>", "tensor<4xf32>"),
      /* a dot has no loop to tile in parallel */
      FUNCTION("linalg.dot", "tensor<8xf32>", "tensor<8xf32>", "tensor<f32>")};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; ++i)
    assert_no_site(texts[i]);
}

static void test_pooling_is_no_site(void **state) {
  (void)state;
  assert_no_site(FUNCTION("linalg.pooling_nchw_sum", "tensor<1x4x9x9xf32>",
                          "tensor<3x3xf32>", "tensor<1x4x7x7xf32>"));
}

#define SQUARE "tensor<8x8xf32>"
#define SQUARE_MATMUL(attributes, result)                                      \
  "    " result " = linalg.matmul " attributes " ins(%a, %a : " SQUARE         \
  ", " SQUARE ") outs(%a : " SQUARE ") -> " SQUARE "\n"

static void test_skip(void **state) {
  (void)state;
  assert_no_site("func.func @f(%a: " SQUARE ") -> " SQUARE " {\n" SQUARE_MATMUL(
      "{tgraph.skip}", "%r") "return %r : " SQUARE " }");
  assert_no_site("func.func @f(%a: " SQUARE ") -> " SQUARE
                 " attributes {tgraph.skip} {\n" SQUARE_MATMUL(
                     "", "%r") "return %r : " SQUARE " }");
  assert_no_site("module attributes {tgraph.skip} { func.func @f(%a: " SQUARE
                 ") -> " SQUARE
                 " {\n" SQUARE_MATMUL("", "%r") "return %r : " SQUARE " } }");
  assert_no_site("func.func @f(%a: " SQUARE ", %p: i1) -> " SQUARE " {\n"
                 "%r = scf.if %p -> (" SQUARE ") {\n" SQUARE_MATMUL(
                     "", "%q") "scf.yield %q : " SQUARE "\n} else { scf.yield "
                               "%a : " SQUARE " } {tgraph.skip}\n"
                               "return %r : " SQUARE " }");
}

static void test_nesting(void **state) {
  (void)state;
  struct fixture f =
      start_fixture("func.func @f(%a: " SQUARE ", %p: i1) -> " SQUARE " {\n"
                    "%r = scf.if %p -> (" SQUARE ") {\n" SQUARE_MATMUL(
                        "", "%q") "scf.yield %q : " SQUARE
                                  "\n} else {\n" SQUARE_MATMUL(
                                      "", "%q") "scf.yield %q : " SQUARE "\n}\n"
                                                "return %r : " SQUARE " }");
  assert_int_equal(f.count, 2);
  stop_fixture(&f);
  assert_no_site("module { module { func.func @f(%a: " SQUARE ") -> " SQUARE
                 " {\n" SQUARE_MATMUL("", "%r") "return %r : " SQUARE " } } }");
}

static void test_weights_and_init(void **state) {
  (void)state;
  struct fixture f = start_fixture(
      "func.func @f(%x: tensor<4x5xf32>, %w: tensor<30xf32>) -> "
      "tensor<4x6xf32> {\n"
      "  %z = arith.constant 0.0 : f32\n"
      "  %e = tensor.empty() : tensor<4x6xf32>\n"
      "  %i = linalg.fill ins(%z : f32) outs(%e : tensor<4x6xf32>) -> "
      "tensor<4x6xf32>\n"
      "  %b = tensor.expand_shape %w [[0, 1]] output_shape [5, 6] : "
      "tensor<30xf32> into tensor<5x6xf32>\n"
      "  %n = linalg.negf ins(%x : tensor<4x5xf32>) outs(%x : "
      "tensor<4x5xf32>) -> tensor<4x5xf32>\n"
      "  %r = linalg.matmul ins(%n, %b : tensor<4x5xf32>, tensor<5x6xf32>) "
      "outs(%i : tensor<4x6xf32>) -> tensor<4x6xf32>\n"
      "  return %r : tensor<4x6xf32>\n}\n");
  assert_int_equal(f.count, 1);
  assert_false(f.sites[0].kernel.weight[TG_LHS]);
  assert_true(f.sites[0].kernel.weight[TG_RHS]);
  assert_true(f.sites[0].kernel.init_is_zero);
  stop_fixture(&f);
}

/* -0.0 + 0.0 is not what a sum that starts from +0.0 gives. */
static void test_init_of_minus_zero(void **state) {
  (void)state;
  struct fixture f = start_fixture(
      "func.func @f(%x: " SQUARE ") -> " SQUARE " {\n"
      "  %z = arith.constant -0.0 : f32\n"
      "  %e = tensor.empty() : " SQUARE "\n"
      "  %i = linalg.fill ins(%z : f32) outs(%e : " SQUARE ") -> " SQUARE "\n"
      "  %r = linalg.matmul ins(%x, %x : " SQUARE ", " SQUARE
      ") outs(%i : " SQUARE ") -> " SQUARE "\n"
      "  return %r : " SQUARE "\n}\n");
  assert_int_equal(f.count, 1);
  assert_false(f.sites[0].kernel.init_is_zero);
  stop_fixture(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_named_and_generic_are_one_kernel),
      cmocka_unit_test(test_either_operand_order),
      cmocka_unit_test(test_maps_are_read),
      cmocka_unit_test(test_convolution_strides),
      cmocka_unit_test(test_kinds_of_convolutions),
      cmocka_unit_test(test_types_left_alone),
      cmocka_unit_test(test_narrow_inputs),
      cmocka_unit_test(test_dynamic_extents),
      cmocka_unit_test(test_bodies_and_maps_left_alone),
      cmocka_unit_test(test_pooling_is_no_site),
      cmocka_unit_test(test_skip),
      cmocka_unit_test(test_nesting),
      cmocka_unit_test(test_weights_and_init),
      cmocka_unit_test(test_init_of_minus_zero),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
