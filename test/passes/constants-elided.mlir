// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: %tgraph_opt --tgraph-apply-layouts %s | FileCheck %s

#config = {version = 1, schedule = "tiled", vector_loops = [1], register_vectors = 1, cache_vector = 0,
           row_loops = [0], register_rows = 2, cache_rows = 0, cache_reduction = 0, unroll = 1,
           innermost = "vectors", pack = ["rhs"], prepack = ["rhs"]}

module attributes {tgraph.target = "avx2"} {

// A resource that nothing defines is left to what comes later.
// CHECK-LABEL: func.func @elided
// CHECK: arith.constant dense_resource<__elided__>
// CHECK: call @tgraph_matmul_4x3x2_f32_pack_rhs
func.func @elided(%x: tensor<4x2xf32>, %y: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %w = arith.constant dense_resource<__elided__> : tensor<2x3xf32>
  %r = linalg.matmul {tgraph.config = #config} ins(%x, %w : tensor<4x2xf32>, tensor<2x3xf32>)
    outs(%y : tensor<4x3xf32>) -> tensor<4x3xf32>
  return %r : tensor<4x3xf32>
}

}
