// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Vectors along the reduction where the weights are stored output by input: no
// panels, and one vector of sums is stored for the rows of a tile. A thin
// matrix that is stored the other way is copied first, the reduction last.
// RUN: %tgraph_opt %s --split-input-file --tgraph-select-layouts='target=avx2 model=analytic' | FileCheck %s --check-prefix=SELECT
// RUN: %tgraph_opt %s --split-input-file --tgraph-select-layouts='target=avx2 model=analytic' --tgraph-apply-layouts --verify-each | FileCheck %s
// RUN: %tgraph_opt %s --split-input-file --tgraph-cpu='target=avx2 model=analytic' -o /dev/null

// SELECT-LABEL: func.func @gemv
// SELECT: linalg.matmul
// SELECT-SAME: pack = []
// SELECT-SAME: vector_loops = [2]
// CHECK-LABEL: func.func @gemv
// CHECK: call @tgraph_matmul_1x40x72_f32
// CHECK-LABEL: func.func private @tgraph_matmul_1x40x72_f32
// CHECK-NOT: bufferization.alloc_tensor
// CHECK: vector.fma
// CHECK: vector.shuffle
// CHECK: vector.transfer_write
func.func @gemv(%a: tensor<1x72xf32>, %w: tensor<40x72xf32>) -> tensor<1x40xf32> {
  %z = arith.constant 0.0 : f32
  %t = tensor.empty() : tensor<72x40xf32>
  %b = linalg.transpose ins(%w : tensor<40x72xf32>) outs(%t : tensor<72x40xf32>) permutation = [1, 0]
  %e = tensor.empty() : tensor<1x40xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x40xf32>) -> tensor<1x40xf32>
  %r = linalg.matmul ins(%a, %b : tensor<1x72xf32>, tensor<72x40xf32>) outs(%f : tensor<1x40xf32>) -> tensor<1x40xf32>
  return %r : tensor<1x40xf32>
}

// -----

// SELECT-LABEL: func.func @thin
// SELECT: linalg.matmul
// SELECT-SAME: layouts = {lhs = [1, 0], result = [1, 0], rhs = [0, 1]}
// SELECT-SAME: pack = ["rhs"]
// SELECT-SAME: vector_loops = [2]
// CHECK-LABEL: func.func private @tgraph_matmul_256x3x128_f32
// CHECK: bufferization.alloc_tensor() : tensor<3x128xf32>
func.func @thin(%a: tensor<256x128xf32>, %b: tensor<128x3xf32>) -> tensor<256x3xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x3xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<256x3xf32>) -> tensor<256x3xf32>
  %r = linalg.matmul ins(%a, %b : tensor<256x128xf32>, tensor<128x3xf32>) outs(%f : tensor<256x3xf32>) -> tensor<256x3xf32>
  return %r : tensor<256x3xf32>
}
