// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is written: one complete dictionary an operation, in the words of its
// own loops, and three attributes on the module. Nothing else changes.
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2 model=analytic' --verify-each > %t
// RUN: FileCheck %s < %t
// Without the attributes it is the input.
// RUN: %mlir_opt %s > %t.plain
// RUN: %tgraph_opt %t --tgraph-strip | diff %t.plain -
// CHECK: module attributes {tgraph.chosen = 3 : i64, tgraph.model = "analytic", tgraph.target = "avx2,cpu=x86-64-v3,vector_bits=256,vector_registers=16,

// CHECK-LABEL: @matmul
// CHECK: linalg.matmul {tgraph.config = {cache_reduction = {{[0-9]+}} : i64, cache_rows = {{[0-9]+}} : i64,
// CHECK-SAME: cache_vector = {{[0-9]+}} : i64, innermost = "{{rows|vectors}}",
// CHECK-SAME: layouts = {lhs = [1, 0], result = [1, 0], rhs = [1, 0]}, pack = [],
// CHECK-SAME: register_rows = {{[0-9]+}} : i64, register_vectors = {{[0-9]+}} : i64,
// CHECK-SAME: row_loops = [0], schedule = "tiled", unroll = {{[0-9]+}} : i64, vector_loops = [1], version = 1 : i64}}
func.func @matmul(%a: tensor<128x64xf32>, %b: tensor<64x96xf32>, %c: tensor<128x96xf32>) -> tensor<128x96xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<128x64xf32>, tensor<64x96xf32>) outs(%c : tensor<128x96xf32>) -> tensor<128x96xf32>
  return %r : tensor<128x96xf32>
}

// Neither vector loop finds a transposed right side in order: something is
// packed.
// CHECK-LABEL: @transposed
// CHECK: tgraph.config = {{.*}}pack = ["{{.+}}"]{{.*}}schedule = "tiled"
func.func @transposed(%a: tensor<128x64xf32>, %b: tensor<96x64xf32>, %c: tensor<128x96xf32>) -> tensor<128x96xf32> {
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<128x64xf32>, tensor<96x64xf32>) outs(%c : tensor<128x96xf32>) -> tensor<128x96xf32>
  return %r : tensor<128x96xf32>
}

// A 1x1 convolution is a matrix product: its two image loops are one list.
// CHECK-LABEL: @pointwise
// CHECK: linalg.conv_2d_nchw_fchw {{.*}}{{row|vector}}_loops = [2, 3]
func.func @pointwise(%x: tensor<1x64x14x14xf32>, %w: tensor<128x64x1x1xf32>, %o: tensor<1x128x14x14xf32>) -> tensor<1x128x14x14xf32> {
  %r = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%x, %w : tensor<1x64x14x14xf32>, tensor<128x64x1x1xf32>) outs(%o : tensor<1x128x14x14xf32>) -> tensor<1x128x14x14xf32>
  return %r : tensor<1x128x14x14xf32>
}
