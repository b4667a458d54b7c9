/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Programs as graphs: nodes, edges, codes and columns.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <mlir-c/IR.h>
#include <mlir-c/RegisterEverything.h>

#include "passes/import.h"

#define COLUMN(f, node, name)                                                  \
  ((f).import.graph                                                            \
       .node_feat[(node)*TG_NODE_FEATURE_COUNT + TG_NODE_FEATURE_##name])

struct fixture {
  MlirContext context;
  MlirModule module;
  struct tg_arena *arena;
  struct tg_import import;
};

static struct fixture start_fixture(const char *text) {
  struct fixture f;
  struct tg_error error;
  f.context = mlirContextCreateWithThreading(false);
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  mlirRegisterAllDialects(registry);
  mlirContextAppendDialectRegistry(f.context, registry);
  mlirDialectRegistryDestroy(registry);
  mlirContextLoadAllAvailableDialects(f.context);
  mlirContextSetAllowUnregisteredDialects(f.context, true);
  f.module =
      mlirModuleCreateParse(f.context, mlirStringRefCreateFromCString(text));
  assert_false(mlirModuleIsNull(f.module));
  f.arena = tg_arena_create();
  assert_true(tg_import(mlirModuleGetOperation(f.module), f.arena, &f.import));
  assert_int_equal(tg_graph_check(&f.import.graph, "import", &error), TG_OK);
  return f;
}

static void stop_fixture(struct fixture *f) {
  tg_arena_destroy(f->arena);
  mlirModuleDestroy(f->module);
  mlirContextDestroy(f->context);
}

/* The only node of the name. */
static int64_t find_node(const struct fixture *f, const char *name) {
  int64_t found = -1;
  for (int64_t i = 0; i < f->import.graph.node_count; ++i)
    if (strcmp(f->import.graph.node_name[i], name) == 0) {
      assert_int_equal(found, -1);
      found = i;
    }
  assert_true(found >= 0);
  return found;
}

static bool has_edge(const struct fixture *f, int64_t user, int64_t used) {
  for (int64_t e = 0; e < f->import.graph.edge_count; ++e)
    if (f->import.graph.edges[2 * e] == user &&
        f->import.graph.edges[2 * e + 1] == used)
      return true;
  return false;
}

static enum tg_opcode opcode_of(const struct fixture *f, const char *name) {
  return (enum tg_opcode)f->import.graph.node_opcode[find_node(f, name)];
}

static void test_arguments_edges_and_root(void **state) {
  (void)state;
  struct fixture f =
      start_fixture("func.func @f(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) -> "
                    "tensor<2x3xf32> {\n"
                    "  %s = arith.addf %a, %b : tensor<2x3xf32>\n"
                    "  %q = arith.mulf %s, %s : tensor<2x3xf32>\n"
                    "  return %q : tensor<2x3xf32>\n}\n");
  assert_int_equal(f.import.graph.node_count, 5);
  assert_int_equal(f.import.graph.edge_count, 4); /* %s, %s is one edge */
  assert_int_equal(f.import.graph.node_opcode[1], TG_OPCODE_parameter);
  assert_true(COLUMN(f, 1, parameter_number) == 1.0f);
  assert_int_equal(f.import.graph.node_opcode[2], TG_OPCODE_add);
  assert_true(has_edge(&f, 2, 0) && has_edge(&f, 2, 1) && has_edge(&f, 4, 3));
  assert_true(COLUMN(f, 4, is_root) == 1.0f);
  assert_true(COLUMN(f, 3, is_root) == 0.0f);
  assert_true(COLUMN(f, 3, shape_dimensions_product) == 6.0f);
  assert_true(COLUMN(f, 3, layout_minor_to_major_0) == 1.0f);
  assert_true(COLUMN(f, 3, layout_minor_to_major_2) == -1.0f);
  assert_int_equal(tg_import_find(&f.import, f.import.node_op[3]), 3);
  stop_fixture(&f);
}

/* The body of a generic is not entered, but what it captures is consumed. */
static void test_generic_is_one_node(void **state) {
  (void)state;
  struct fixture f = start_fixture(
      "func.func @clip(%x: tensor<12xf32>, %o: tensor<12xf32>, %lim: f32) -> "
      "tensor<12xf32> {\n"
      "  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, "
      "affine_map<(i) -> (i)>], iterator_types = [\"parallel\"]} ins(%x : "
      "tensor<12xf32>) outs(%o : tensor<12xf32>) {\n"
      "  ^bb0(%v: f32, %w: f32):\n"
      "    %row = linalg.index 0 : index\n"
      "    %c7 = arith.constant 7 : index\n"
      "    %early = arith.cmpi ult, %row, %c7 : index\n"
      "    %y = scf.if %early -> (f32) {\n"
      "      %t = arith.minimumf %v, %lim : f32\n"
      "      scf.yield %t : f32\n"
      "    } else {\n"
      "      %t = arith.negf %v : f32\n"
      "      scf.yield %t : f32\n"
      "    }\n"
      "    linalg.yield %y : f32\n"
      "  } -> tensor<12xf32>\n"
      "  return %r : tensor<12xf32>\n}\n");
  assert_int_equal(f.import.graph.node_count, 5);
  assert_int_equal(f.import.graph.node_opcode[3], TG_OPCODE_fusion);
  assert_true(has_edge(&f, 3, 2));
  stop_fixture(&f);
}

static void test_regions_before_their_operation(void **state) {
  (void)state;
  struct fixture f = start_fixture(
      "func.func @f(%n: index, %w: tensor<4xf32>) -> tensor<4xf32> {\n"
      "  %c0 = arith.constant 0 : index\n"
      "  %r = scf.for %i = %c0 to %n step %n iter_args(%acc = %w) -> "
      "(tensor<4xf32>) {\n"
      "    %m = arith.addf %acc, %w : tensor<4xf32>\n"
      "    scf.yield %m : tensor<4xf32>\n"
      "  }\n"
      "  return %r : tensor<4xf32>\n}\n");
  int64_t add = find_node(&f, "arith.addf");
  int64_t yield = find_node(&f, "scf.yield");
  int64_t loop = find_node(&f, "scf.for");
  assert_int_equal(f.import.graph.node_opcode[loop], TG_OPCODE_while);
  assert_true(has_edge(&f, add, 1));
  assert_true(has_edge(&f, yield, add));
  assert_true(has_edge(&f, loop, yield));
  assert_true(has_edge(&f, loop, 0));
  stop_fixture(&f);
}

/* The text may name a block before the one that dominates it, and code that
 * is never reached may use itself in a circle. */
static void test_blocks_in_any_order(void **state) {
  (void)state;
  struct fixture f = start_fixture("func.func @cfg(%x: i32, %c: i1) -> i32 {\n"
                                   "  cf.br ^bb2\n"
                                   "^bb1:\n"
                                   "  %u = arith.addi %d, %x : i32\n"
                                   "  cf.cond_br %c, ^bb2, ^bb3\n"
                                   "^bb2:\n"
                                   "  %d = arith.muli %x, %x : i32\n"
                                   "  cf.br ^bb1\n"
                                   "^bb3:\n"
                                   "  return %u : i32\n"
                                   "^dead1:\n"
                                   "  %p = arith.subi %q, %x : i32\n"
                                   "  cf.br ^dead2\n"
                                   "^dead2:\n"
                                   "  %q = arith.xori %p, %x : i32\n"
                                   "  cf.br ^dead1\n}\n");
  assert_true(
      has_edge(&f, find_node(&f, "arith.addi"), find_node(&f, "arith.muli")));
  assert_true(
      has_edge(&f, find_node(&f, "arith.xori"), find_node(&f, "arith.subi")));
  stop_fixture(&f);
}

static void test_functions_and_modules(void **state) {
  (void)state;
  struct fixture f = start_fixture(
      "module attributes {transform.with_named_sequence} {\n"
      "  func.func private @declared(i32)\n"
      "  func.func @one(%a: i32) { return }\n"
      "  module { func.func @nested(%a: i32) { return } }\n"
      "  transform.named_sequence @s(%m: !transform.any_op) { transform.yield "
      "}\n"
      "  func.func @two(%a: i32) { \"foo.bar\"(%a) : (i32) -> () return }\n"
      "}\n");
  assert_int_equal(f.import.graph.node_count, 5);
  assert_int_equal(f.import.graph.split_count, 2);
  assert_int_equal(f.import.graph.node_splits[1], 2);
  assert_int_equal(opcode_of(&f, "foo.bar"), TG_OPCODE_unknown);
  stop_fixture(&f);
}

static void test_empty_module(void **state) {
  (void)state;
  struct fixture f = start_fixture("module {}");
  assert_int_equal(f.import.graph.node_count, 0);
  stop_fixture(&f);
}

/* One function per hazard of a type; the graph's check finds a NaN. */
static void test_types(void **state) {
  (void)state;
  struct fixture f = start_fixture(
      "func.func @f(%0: tensor<*xf32>, %1: tensor<?x4xindex>, %2: i1, %3: "
      "tensor<8xi4>, %4: complex<f64>, %5: tuple<i1, f32, i8>, %6: "
      "memref<3xui16>, %7: bf16, %8: tensor<0xf32>, %9: "
      "tensor<9223372036854775807x9223372036854775807xf8E4M3FN>, %10: none, "
      "%11: i99, %12: vector<[4]xf64>) { return }\n");
  assert_true(COLUMN(f, 0, shape_element_type_is_f32) == 1.0f);
  assert_true(COLUMN(f, 0, layout_minor_to_major_0) == -1.0f);
  assert_true(COLUMN(f, 1, shape_element_type_is_s64) == 1.0f);
  assert_true(COLUMN(f, 1, element_size_in_bits) == 64.0f);
  assert_true(COLUMN(f, 1, shape_dimensions_0) == 0.0f);
  assert_true(COLUMN(f, 1, shape_dimensions_1) == 4.0f);
  assert_true(COLUMN(f, 2, shape_element_type_is_pred) == 1.0f);
  assert_true(COLUMN(f, 2, element_size_in_bits) == 1.0f);
  assert_true(COLUMN(f, 3, shape_element_type_is_s8) == 1.0f);
  assert_true(COLUMN(f, 3, element_size_in_bits) == 4.0f);
  assert_true(COLUMN(f, 4, shape_element_type_is_c128) == 1.0f);
  assert_true(COLUMN(f, 5, shape_element_type_is_tuple) == 1.0f);
  assert_true(COLUMN(f, 5, shape_tuple_shapes_size) == 3.0f);
  assert_true(COLUMN(f, 6, shape_element_type_is_u16) == 1.0f);
  assert_true(COLUMN(f, 7, shape_element_type_is_bf16) == 1.0f);
  assert_true(COLUMN(f, 8, shape_dimensions_product) == 0.0f);
  assert_true(COLUMN(f, 9, element_size_in_bits) == 8.0f);
  assert_true(COLUMN(f, 11, shape_element_type_is_opaque_type) == 1.0f);
  stop_fixture(&f);
}

static void test_moves(void **state) {
  (void)state;
  struct fixture f = start_fixture(
      "func.func @f(%x: tensor<4x6xf32>, %t: tensor<6x4xf32>, %u: "
      "tensor<2x4x6xf32>, %v: tensor<4xf32>) {\n"
      "  %0 = linalg.transpose ins(%x : tensor<4x6xf32>) outs(%t : "
      "tensor<6x4xf32>) permutation = [1, 0]\n"
      "  %1 = linalg.broadcast ins(%x : tensor<4x6xf32>) outs(%u : "
      "tensor<2x4x6xf32>) dimensions = [0]\n"
      "  %2 = linalg.reduce {arith.addf} ins(%x : tensor<4x6xf32>) outs(%v : "
      "tensor<4xf32>) dimensions = [1]\n"
      "  %3 = tensor.concat dim(1) %x, %x : (tensor<4x6xf32>, "
      "tensor<4x6xf32>) -> tensor<4x12xf32>\n"
      "  %4 = tensor.extract_slice %x[1, 2] [2, 2] [1, 3] : tensor<4x6xf32> "
      "to tensor<2x2xf32>\n"
      "  %5 = tensor.insert_slice %4 into %x[0, 0] [2, 2] [1, 1] : "
      "tensor<2x2xf32> into tensor<4x6xf32>\n"
      "  %z = arith.constant 0.0 : f32\n"
      "  %6 = tensor.pad %x low[1, 2] high[3, 4] {\n"
      "  ^bb0(%i: index, %j: index):\n"
      "    tensor.yield %z : f32\n"
      "  } : tensor<4x6xf32> to tensor<8x12xf32>\n"
      "  return\n}\n");
  int64_t node = find_node(&f, "linalg.transpose");
  assert_int_equal(f.import.graph.node_opcode[node], TG_OPCODE_transpose);
  assert_true(COLUMN(f, node, dimensions_0) == 1.0f);
  assert_true(COLUMN(f, node, dimensions_1) == 0.0f);
  node = find_node(&f, "linalg.broadcast");
  assert_true(COLUMN(f, node, dimensions_0) == 1.0f);
  assert_true(COLUMN(f, node, dimensions_1) == 2.0f);
  node = find_node(&f, "linalg.reduce");
  assert_int_equal(f.import.graph.node_opcode[node], TG_OPCODE_reduce);
  assert_true(COLUMN(f, node, dimensions_0) == 1.0f);
  node = find_node(&f, "tensor.concat");
  assert_true(COLUMN(f, node, dimensions_0) == 1.0f);
  node = find_node(&f, "tensor.extract_slice");
  assert_int_equal(f.import.graph.node_opcode[node], TG_OPCODE_slice);
  assert_true(COLUMN(f, node, slice_dims_start_1) == 2.0f);
  assert_true(COLUMN(f, node, slice_dims_limit_1) == 6.0f);
  assert_true(COLUMN(f, node, slice_dims_stride_1) == 3.0f);
  assert_true(COLUMN(f, node, dynamic_slice_sizes_sum) == 0.0f);
  assert_int_equal(opcode_of(&f, "tensor.insert_slice"),
                   TG_OPCODE_dynamic_update_slice);
  node = find_node(&f, "tensor.pad");
  assert_true(COLUMN(f, node, padding_config_edge_padding_low_1) == 2.0f);
  assert_true(COLUMN(f, node, padding_config_edge_padding_high_sum) == 7.0f);
  assert_true(has_edge(&f, node, find_node(&f, "arith.constant")));
  stop_fixture(&f);
}

#define UNARY(attributes, maps, body)                                          \
  "func.func @f(%x: tensor<4x6xf32>, %y: tensor<4xf32>) {\n"                   \
  "  %r = linalg.generic {indexing_maps = [" maps                              \
  "], iterator_types = [" attributes "]} ins(%x : tensor<4x6xf32>) "           \
  "outs(%y : tensor<4xf32>) {\n  ^bb0(%a: f32, %b: f32):\n" body               \
  "  } -> tensor<4xf32>\n  return\n}\n"
#define REDUCE_MAPS "affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>"

static void test_codes_of_bodies(void **state) {
  (void)state;
  struct fixture f = start_fixture(
      UNARY("\"parallel\", \"reduction\"", REDUCE_MAPS,
            "  %s = arith.addf %a, %b : f32\n  linalg.yield %s : f32\n"));
  assert_int_equal(opcode_of(&f, "linalg.generic"), TG_OPCODE_reduce);
  stop_fixture(&f);
  f = start_fixture(
      UNARY("\"parallel\", \"reduction\"", REDUCE_MAPS,
            "  %e = math.exp %a : f32\n  %s = arith.addf %e, %b : f32\n"
            "  linalg.yield %s : f32\n"));
  assert_int_equal(opcode_of(&f, "linalg.generic"), TG_OPCODE_fusion);
  stop_fixture(&f);
  f = start_fixture(
      "func.func @f(%x: tensor<4xf32>) {\n"
      "  %0 = linalg.exp ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) -> "
      "tensor<4xf32>\n"
      "  %1 = linalg.copy ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) -> "
      "tensor<4xf32>\n"
      "  %2 = linalg.map { arith.mulf } ins(%0, %1 : tensor<4xf32>, "
      "tensor<4xf32>) outs(%x : tensor<4xf32>)\n"
      "  return\n}\n");
  assert_int_equal(opcode_of(&f, "linalg.exp"), TG_OPCODE_exponential);
  assert_int_equal(opcode_of(&f, "linalg.copy"), TG_OPCODE_copy);
  assert_int_equal(opcode_of(&f, "linalg.map"), TG_OPCODE_multiply);
  stop_fixture(&f);
}

/* The window's padding is that of the pad before it. */
static void test_windows(void **state) {
  (void)state;
  struct fixture f = start_fixture(
      "func.func @f(%x: tensor<1x4x8x8xf32>, %w: tensor<6x4x3x3xf32>, %o: "
      "tensor<1x6x4x4xf32>, %k: tensor<2x2xf32>, %p: tensor<1x6x2x2xf32>) {\n"
      "  %z = arith.constant 0.0 : f32\n"
      "  %pad = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 0, 0] {\n"
      "  ^bb0(%i: index, %j: index, %l: index, %m: index):\n"
      "    tensor.yield %z : f32\n"
      "  } : tensor<1x4x8x8xf32> to tensor<1x4x9x9xf32>\n"
      "  %c = linalg.conv_2d_nchw_fchw {strides = dense<2> : tensor<2xi64>} "
      "ins(%pad, %w : tensor<1x4x9x9xf32>, tensor<6x4x3x3xf32>) outs(%o : "
      "tensor<1x6x4x4xf32>) -> tensor<1x6x4x4xf32>\n"
      "  %q = linalg.pooling_nchw_max {strides = dense<2> : tensor<2xi64>} "
      "ins(%c, %k : tensor<1x6x4x4xf32>, tensor<2x2xf32>) outs(%p : "
      "tensor<1x6x2x2xf32>) -> tensor<1x6x2x2xf32>\n"
      "  return\n}\n");
  int64_t node = find_node(&f, "linalg.conv_2d_nchw_fchw");
  assert_int_equal(f.import.graph.node_opcode[node], TG_OPCODE_convolution);
  assert_true(COLUMN(f, node, window_size_product) == 9.0f);
  assert_true(COLUMN(f, node, window_stride_0) == 2.0f);
  assert_true(COLUMN(f, node, window_padding_low_0) == 1.0f);
  assert_true(COLUMN(f, node, window_padding_high_0) == 0.0f);
  assert_true(COLUMN(f, node, feature_group_count) == 1.0f);
  node = find_node(&f, "linalg.pooling_nchw_max");
  assert_int_equal(f.import.graph.node_opcode[node], TG_OPCODE_reduce_window);
  assert_true(COLUMN(f, node, window_size_0) == 1.0f);
  assert_true(COLUMN(f, node, window_size_2) == 2.0f);
  assert_true(COLUMN(f, node, feature_group_count) == 0.0f);
  stop_fixture(&f);
}

static void test_kernel_graph(void **state) {
  (void)state;
  struct tg_graph graph;
  struct fixture f = start_fixture(
      "func.func @f(%a: tensor<4x5xf32>, %b: tensor<5x6xf32>, %c: "
      "tensor<4x6xf32>) {\n"
      "  %r = linalg.matmul ins(%a, %b : tensor<4x5xf32>, tensor<5x6xf32>) "
      "outs(%c : tensor<4x6xf32>) -> tensor<4x6xf32>\n"
      "  return\n}\n");
  MlirOperation matmul = f.import.node_op[find_node(&f, "linalg.matmul")];
  assert_true(tg_import_kernel(matmul, f.arena, &graph));
  assert_int_equal(graph.node_count, 4);
  assert_int_equal(graph.node_opcode[3], TG_OPCODE_dot);
  MlirOperation end = f.import.node_op[find_node(&f, "func.return")];
  assert_false(tg_import_kernel(end, f.arena, &graph));
  stop_fixture(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_arguments_edges_and_root),
      cmocka_unit_test(test_generic_is_one_node),
      cmocka_unit_test(test_regions_before_their_operation),
      cmocka_unit_test(test_blocks_in_any_order),
      cmocka_unit_test(test_functions_and_modules),
      cmocka_unit_test(test_empty_module),
      cmocka_unit_test(test_types),
      cmocka_unit_test(test_moves),
      cmocka_unit_test(test_codes_of_bodies),
      cmocka_unit_test(test_windows),
      cmocka_unit_test(test_kernel_graph),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
