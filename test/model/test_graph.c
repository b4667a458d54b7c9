/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Columns of nodes, windows, graphs of kernels, the check and the files.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "model/file.h"
#include "model/node.h"
#include "model/npz.h"

#define COLUMN(row, name) ((row)[TG_NODE_FEATURE_##name])

/* Loops of operand dimensions: up to two {loop, factor} pairs per dimension. */
static void set_dimension(struct tg_kernel *kernel, int operand, int64_t extent,
                          int loop, int factor, int loop2, int factor2) {
  struct tg_access *access = &kernel->operand[operand];
  access->extent[access->rank] = extent;
  access->coefficient[access->rank][loop] = factor;
  if (loop2 >= 0)
    access->coefficient[access->rank][loop2] = factor2;
  ++access->rank;
}

/* (n f oh ow c kh kw), NCHW, stride 2, dilation 3: 1 x 8 x 5 x 6. */
static struct tg_kernel make_conv(void) {
  struct tg_kernel k;
  memset(&k, 0, sizeof k);
  const int64_t extent[7] = {1, 8, 5, 6, 4, 3, 2};
  k.loop_count = 7;
  for (int l = 0; l < 7; ++l) {
    k.extent[l] = extent[l];
    k.reduction[l] = l >= 4;
  }
  set_dimension(&k, TG_LHS, 1, 0, 1, -1, 0);
  set_dimension(&k, TG_LHS, 4, 4, 1, -1, 0);
  set_dimension(&k, TG_LHS, 15, 2, 2, 5, 3);
  set_dimension(&k, TG_LHS, 14, 3, 2, 6, 3);
  set_dimension(&k, TG_RHS, 8, 1, 1, -1, 0);
  set_dimension(&k, TG_RHS, 4, 4, 1, -1, 0);
  set_dimension(&k, TG_RHS, 3, 5, 1, -1, 0);
  set_dimension(&k, TG_RHS, 2, 6, 1, -1, 0);
  set_dimension(&k, TG_RESULT, 1, 0, 1, -1, 0);
  set_dimension(&k, TG_RESULT, 8, 1, 1, -1, 0);
  set_dimension(&k, TG_RESULT, 5, 2, 1, -1, 0);
  set_dimension(&k, TG_RESULT, 6, 3, 1, -1, 0);
  return k;
}

/* C[m, n] += A[m, k] * B[k, n]: 4 x 6 x 5. */
static struct tg_kernel make_matmul(void) {
  struct tg_kernel k;
  memset(&k, 0, sizeof k);
  k.loop_count = 3;
  k.extent[0] = 4;
  k.extent[1] = 6;
  k.extent[2] = 5;
  k.reduction[2] = true;
  set_dimension(&k, TG_LHS, 4, 0, 1, -1, 0);
  set_dimension(&k, TG_LHS, 5, 2, 1, -1, 0);
  set_dimension(&k, TG_RHS, 5, 2, 1, -1, 0);
  set_dimension(&k, TG_RHS, 6, 1, 1, -1, 0);
  set_dimension(&k, TG_RESULT, 4, 0, 1, -1, 0);
  set_dimension(&k, TG_RESULT, 6, 1, 1, -1, 0);
  return k;
}

static void test_tables(void **state) {
  (void)state;
  assert_string_equal(tg_node_feature_names[0], "is_root");
  assert_string_equal(tg_node_feature_names[28], "shape_dimensions_product");
  assert_string_equal(tg_node_feature_names[107], "feature_group_count");
  assert_string_equal(tg_node_feature_names[134], "layout_minor_to_major_0");
  assert_string_equal(tg_opcode_names[0], "unknown");
  assert_string_equal(tg_opcode_names[26], "convolution");
  assert_string_equal(tg_opcode_names[34], "dot");
  assert_string_equal(tg_opcode_names[120], "tan");
}

static void test_opcode_from_op(void **state) {
  (void)state;
  assert_int_equal(tg_opcode_from_op("linalg.matmul", 13), TG_OPCODE_dot);
  assert_int_equal(tg_opcode_from_op("linalg.matmul", 12), TG_OPCODE_unknown);
  assert_int_equal(tg_opcode_from_op("arith.addf", 10), TG_OPCODE_add);
  assert_int_equal(tg_opcode_from_op("", 0), TG_OPCODE_unknown);
}

/* Of nothing, the sum is 0, the product 1 and the layout unset. */
static void test_row_of_scalar(void **state) {
  (void)state;
  struct tg_node_facts node;
  float row[TG_NODE_FEATURE_COUNT];
  tg_node_facts_init(&node);
  node.element_type = TG_ELEMENT_F32;
  tg_node_features(&node, row);
  assert_true(COLUMN(row, shape_element_type_is_f32) == 1.0f);
  assert_true(COLUMN(row, shape_element_type_is_invalid_type) == 0.0f);
  assert_true(COLUMN(row, shape_dimensions_sum) == 0.0f);
  assert_true(COLUMN(row, shape_dimensions_product) == 1.0f);
  assert_true(COLUMN(row, window_size_product) == 1.0f);
  assert_true(COLUMN(row, layout_minor_to_major_0) == -1.0f);
}

/* Six dimensions are listed, sum and product count all. */
static void test_row_of_high_rank(void **state) {
  (void)state;
  struct tg_node_facts node;
  float row[TG_NODE_FEATURE_COUNT];
  const int64_t extents[7] = {2, 3, 1, 1, 1, 1, 5};
  tg_node_facts_init(&node);
  tg_node_set_shape(&node, 7, extents);
  tg_node_features(&node, row);
  assert_true(COLUMN(row, shape_dimensions_1) == 3.0f);
  assert_true(COLUMN(row, shape_dimensions_sum) == 14.0f);
  assert_true(COLUMN(row, shape_dimensions_product) == 30.0f);
  assert_true(COLUMN(row, layout_minor_to_major_0) == 6.0f);
  assert_true(COLUMN(row, layout_minor_to_major_5) == 1.0f);
}

static void test_row_stays_finite(void **state) {
  (void)state;
  struct tg_node_facts node;
  float row[TG_NODE_FEATURE_COUNT];
  tg_node_facts_init(&node);
  for (int d = 0; d < 100; ++d)
    tg_dims_push(&node.shape, INT64_MAX);
  tg_dims_push(&node.shape, 0);
  for (int d = 0; d < 100; ++d)
    tg_dims_push(&node.padding_low, INT64_MIN);
  tg_node_features(&node, row);
  for (int c = 0; c < TG_NODE_FEATURE_COUNT; ++c)
    assert_true(row[c] - row[c] == 0.0f);
}

static void test_convolution(void **state) {
  (void)state;
  struct tg_kernel kernel = make_conv();
  struct tg_node_facts node;
  float row[TG_NODE_FEATURE_COUNT];
  const int64_t low[4] = {0, 0, 1, 2}, high[4] = {0, 0, 3, 4};
  tg_node_facts_init(&node);
  tg_node_set_convolution(&node, &kernel, low, high);
  tg_node_features(&node, row);
  assert_true(COLUMN(row, window_size_0) == 3.0f);
  assert_true(COLUMN(row, window_size_1) == 2.0f);
  assert_true(COLUMN(row, window_size_product) == 6.0f);
  assert_true(COLUMN(row, window_stride_sum) == 4.0f);
  assert_true(COLUMN(row, window_window_dilation_product) == 9.0f);
  assert_true(COLUMN(row, window_padding_low_1) == 2.0f);
  assert_true(COLUMN(row, window_padding_high_0) == 3.0f);
  assert_true(COLUMN(row, window_window_reversal_false_count) == 2.0f);
  assert_true(COLUMN(row, convolution_dim_numbers_input_feature_dim) == 1.0f);
  assert_true(COLUMN(row, convolution_dim_numbers_input_spatial_dims_1) ==
              3.0f);
  assert_true(COLUMN(row, convolution_dim_numbers_kernel_input_feature_dim) ==
              1.0f);
  assert_true(COLUMN(row, convolution_dim_numbers_kernel_spatial_dims_0) ==
              2.0f);
  assert_true(COLUMN(row, convolution_dim_numbers_output_feature_dim) == 1.0f);
  assert_true(COLUMN(row, feature_group_count) == 1.0f);
}

/* depthwise, NHWC: (n oh ow c kh kw); every channel is a group. */
static void test_depthwise(void **state) {
  (void)state;
  struct tg_kernel k;
  memset(&k, 0, sizeof k);
  const int64_t extent[6] = {1, 5, 6, 24, 3, 3};
  k.loop_count = 6;
  for (int l = 0; l < 6; ++l) {
    k.extent[l] = extent[l];
    k.reduction[l] = l >= 4;
  }
  set_dimension(&k, TG_LHS, 1, 0, 1, -1, 0);
  set_dimension(&k, TG_LHS, 7, 1, 1, 4, 1);
  set_dimension(&k, TG_LHS, 8, 2, 1, 5, 1);
  set_dimension(&k, TG_LHS, 24, 3, 1, -1, 0);
  set_dimension(&k, TG_RHS, 3, 4, 1, -1, 0);
  set_dimension(&k, TG_RHS, 3, 5, 1, -1, 0);
  set_dimension(&k, TG_RHS, 24, 3, 1, -1, 0);
  set_dimension(&k, TG_RESULT, 1, 0, 1, -1, 0);
  set_dimension(&k, TG_RESULT, 5, 1, 1, -1, 0);
  set_dimension(&k, TG_RESULT, 6, 2, 1, -1, 0);
  set_dimension(&k, TG_RESULT, 24, 3, 1, -1, 0);
  struct tg_node_facts node;
  tg_node_facts_init(&node);
  tg_node_set_convolution(&node, &k, NULL, NULL);
  assert_int_equal(node.feature_group_count, 24);
  assert_int_equal(node.conv.input_feature, 3);
  assert_int_equal(node.conv.kernel_output_feature, 2);
  assert_int_equal(node.conv.output_feature, 3);
}

/* A pooling has a window along every dimension of its input. */
static void test_pooling(void **state) {
  (void)state;
  struct tg_kernel kernel = make_conv();
  struct tg_node_facts node;
  tg_node_facts_init(&node);
  tg_node_set_pooling(&node, &kernel, NULL, NULL);
  assert_int_equal(node.window_size.count, 4);
  assert_true(node.window_size.value[0] == 1.0);
  assert_true(node.window_size.value[2] == 3.0);
  assert_true(node.window_stride.value[3] == 2.0);
}

static void test_graph_from_kernel(void **state) {
  (void)state;
  struct tg_arena *arena = tg_arena_create();
  struct tg_error error;
  struct tg_graph graph;
  struct tg_kernel kernel = make_matmul();
  assert_int_equal(tg_graph_from_kernel(&kernel, arena, &graph, &error), TG_OK);
  assert_int_equal(tg_graph_check(&graph, "kernel", &error), TG_OK);
  assert_int_equal(graph.node_count, 4);
  assert_int_equal(graph.edge_count, 3);
  assert_int_equal(graph.node_opcode[2], TG_OPCODE_parameter);
  assert_int_equal(graph.node_opcode[3], TG_OPCODE_dot);
  assert_true(COLUMN(graph.node_feat + 3 * TG_NODE_FEATURE_COUNT, is_root) ==
              1.0f);
  kernel = make_conv();
  kernel.init_is_zero = true;
  assert_int_equal(tg_graph_from_kernel(&kernel, arena, &graph, &error), TG_OK);
  assert_int_equal(tg_graph_check(&graph, "kernel", &error), TG_OK);
  assert_int_equal(graph.node_count, 5);
  assert_int_equal(graph.node_opcode[2], TG_OPCODE_constant);
  assert_int_equal(graph.node_opcode[3], TG_OPCODE_broadcast);
  assert_int_equal(graph.node_opcode[4], TG_OPCODE_convolution);
  tg_arena_destroy(arena);
}

static void test_check_names_the_fault(void **state) {
  (void)state;
  struct tg_arena *arena = tg_arena_create();
  struct tg_error error;
  struct tg_graph graph;
  struct tg_kernel kernel = make_matmul();
  assert_int_equal(tg_graph_from_kernel(&kernel, arena, &graph, &error), TG_OK);
  graph.edges[2] = 0;
  assert_int_equal(tg_graph_check(&graph, "f.npz", &error), TG_BAD_INPUT);
  assert_non_null(strstr(error.message, "f.npz: edge 1 (0, 1)"));
  graph.edges[2] = 9;
  assert_int_equal(tg_graph_check(&graph, "f.npz", &error), TG_BAD_INPUT);
  graph.edges[2] = 3;
  graph.node_opcode[1] = 121;
  assert_int_equal(tg_graph_check(&graph, "f.npz", &error), TG_BAD_INPUT);
  assert_non_null(strstr(error.message, "node 1: operation code 121"));
  graph.node_opcode[1] = 0;
  graph.node_splits[0] = 1;
  assert_int_equal(tg_graph_check(&graph, "f.npz", &error), TG_BAD_INPUT);
  graph.node_splits[0] = 0;
  graph.node_feat[1] /= 0.0f;
  assert_int_equal(tg_graph_check(&graph, "f.npz", &error), TG_BAD_INPUT);
  assert_non_null(strstr(error.message, "column element_size_in_bits"));
  tg_arena_destroy(arena);
}

static void test_dot_file(void **state) {
  (void)state;
  struct tg_arena *arena = tg_arena_create();
  struct tg_error error;
  struct tg_graph graph;
  struct tg_kernel kernel = make_matmul();
  const int32_t root = 3;
  const struct tg_graph_extra extra = {NULL, 1, &root};
  unsigned char *text;
  size_t nbytes;
  assert_int_equal(tg_graph_from_kernel(&kernel, arena, &graph, &error), TG_OK);
  graph.node_name[0] = "say \"x\"";
  assert_int_equal(tg_graph_write_dot(&graph, &extra, "g.dot", &error), TG_OK);
  assert_int_equal(tg_file_read("g.dot", arena, &text, &nbytes, &error), TG_OK);
  assert_non_null(strstr((char *)text, "n0 [label=\"0 say \\\"x\\\"\\n"
                                       "parameter 4x5\"];"));
  assert_non_null(strstr((char *)text, "dot 4x6\", peripheries=2];"));
  assert_non_null(strstr((char *)text, "n0 -> n3;"));
  unlink("g.dot");
  assert_int_equal(tg_graph_write_dot(&graph, NULL, "/nowhere/g.dot", &error),
                   TG_BAD_INPUT);
  assert_non_null(strstr(error.message, "/nowhere/g.dot"));
  tg_arena_destroy(arena);
}

static void test_npz_file(void **state) {
  (void)state;
  struct tg_arena *arena = tg_arena_create();
  struct tg_error error;
  struct tg_graph graph;
  struct tg_target target;
  struct tg_kernel kernel = make_matmul();
  const int32_t root = 3;
  const struct tg_graph_extra extra = {&target, 1, &root};
  struct tg_npz *npz;
  float *features;
  int64_t *edges;
  const char **names;
  assert_int_equal(tg_target_parse("avx2", &target, &error), TG_OK);
  assert_int_equal(tg_graph_from_kernel(&kernel, arena, &graph, &error), TG_OK);
  assert_int_equal(tg_graph_write_npz(&graph, &extra, "g.npz", &error), TG_OK);
  assert_int_equal(tg_npz_read("g.npz", arena, &npz, &error), TG_OK);
  int64_t shape[2] = {4, TG_NODE_FEATURE_COUNT};
  assert_int_equal(
      tg_npz_get_f32(npz, "node_feat", 2, shape, arena, &features, &error),
      TG_OK);
  assert_memory_equal(features, graph.node_feat,
                      4 * TG_NODE_FEATURE_COUNT * sizeof(float));
  shape[0] = 3;
  shape[1] = 2;
  assert_int_equal(
      tg_npz_get_i64(npz, "edge_index", 2, shape, arena, &edges, &error),
      TG_OK);
  assert_int_equal(edges[4], 3);
  assert_int_equal(edges[5], 2);
  shape[0] = TG_NODE_FEATURE_COUNT;
  assert_int_equal(
      tg_npz_get_text(npz, "node_feat_names", 1, shape, arena, &names, &error),
      TG_OK);
  assert_string_equal(names[139], "layout_minor_to_major_5");
  assert_non_null(tg_npz_find(npz, "node_splits"));
  assert_non_null(tg_npz_find(npz, "target"));
  assert_non_null(tg_npz_find(npz, "node_config_ids"));
  unlink("g.npz");
  tg_arena_destroy(arena);
}

/* A program without functions is a graph, too. */
static void test_empty_graph(void **state) {
  (void)state;
  struct tg_error error;
  struct tg_graph graph;
  memset(&graph, 0, sizeof graph);
  assert_int_equal(tg_graph_check(&graph, "empty", &error), TG_OK);
  assert_int_equal(tg_graph_write_npz(&graph, NULL, "e.npz", &error), TG_OK);
  assert_int_equal(tg_graph_write_dot(&graph, NULL, "e.dot", &error), TG_OK);
  unlink("e.npz");
  unlink("e.dot");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_tables),
      cmocka_unit_test(test_opcode_from_op),
      cmocka_unit_test(test_row_of_scalar),
      cmocka_unit_test(test_row_of_high_rank),
      cmocka_unit_test(test_row_stays_finite),
      cmocka_unit_test(test_convolution),
      cmocka_unit_test(test_depthwise),
      cmocka_unit_test(test_pooling),
      cmocka_unit_test(test_graph_from_kernel),
      cmocka_unit_test(test_check_names_the_fault),
      cmocka_unit_test(test_dot_file),
      cmocka_unit_test(test_npz_file),
      cmocka_unit_test(test_empty_graph),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
