// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Configurations that loops of unknown extent rule out.
// RUN: not %tgraph_opt %s --split-input-file --tgraph-apply-layouts 2>&1 | FileCheck %s

// CHECK: dynamic-errors.mlir:{{[0-9]+}}:8: error: tgraph-apply-layouts: tgraph.config: a packed result needs known extents
module attributes {tgraph.target = "avx2"} {
func.func @packed_result(%a: tensor<?x64xf32>, %b: tensor<64x96xf32>, %c: tensor<?x96xf32>) -> tensor<?x96xf32> {
  %r = linalg.matmul {tgraph.config = {version = 1, schedule = "tiled", vector_loops = [0], row_loops = [1], register_vectors = 2, register_rows = 4, cache_vector = 0, cache_rows = 0, cache_reduction = 0, unroll = 4, innermost = "rows", pack = ["lhs", "result"]}} ins(%a, %b : tensor<?x64xf32>, tensor<64x96xf32>) outs(%c : tensor<?x96xf32>) -> tensor<?x96xf32>
  return %r : tensor<?x96xf32>
}
}

// -----

// CHECK: error: tgraph-apply-layouts: tgraph.config: 'vector_loops' can't be one loop of this operation
module attributes {tgraph.target = "avx2"} {
func.func @flattened(%x: tensor<1x8x?x10xf32>, %w: tensor<16x8x3x3xf32>, %c: tensor<1x16x?x8xf32>) -> tensor<1x16x?x8xf32> {
  %r = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>, tgraph.config = {version = 1, schedule = "tiled", vector_loops = [0, 3], row_loops = [1], register_vectors = 1, register_rows = 4, cache_vector = 0, cache_rows = 0, cache_reduction = 0, unroll = 1, innermost = "rows", pack = ["lhs"]}} ins(%x, %w : tensor<1x8x?x10xf32>, tensor<16x8x3x3xf32>) outs(%c : tensor<1x16x?x8xf32>) -> tensor<1x16x?x8xf32>
  return %r : tensor<1x16x?x8xf32>
}
}
