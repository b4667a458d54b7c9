// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A filter that is a constant is transformed while the program is compiled.
// RUN: %tgraph_opt --tgraph-apply-layouts %s | FileCheck %s
// RUN: %if tool %{ %tgraph verify --target avx2 %s %}

module attributes {tgraph.target = "avx2"} {
// CHECK-LABEL: func.func @conv
// CHECK-NEXT: %[[U:.*]] = arith.constant dense<{{.*}}> : tensor<16x1x1x2xf32>
// CHECK-NEXT: call @tgraph_conv_2d_nchw_fchw_1x2x6x5x1x3x3_f32(%{{.*}}, %[[U]], %{{.*}})
// CHECK-NEXT: return
func.func @conv(%x: tensor<1x1x8x7xf32>, %y: tensor<1x2x6x5xf32>) -> tensor<1x2x6x5xf32> {
  %w = arith.constant dense<[[[[1.0, -2.0, 0.5], [3.0, 0.25, -1.0], [2.0, 1.5, 4.0]]],
                             [[[0.5, 1.0, -3.0], [2.0, -0.75, 1.0], [0.0, 2.5, -1.0]]]]> : tensor<2x1x3x3xf32>
  %r = linalg.conv_2d_nchw_fchw {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>,
      tgraph.config = {version = 1, schedule = "tiled", vector_loops = [2, 3], row_loops = [1], register_vectors = 1,
                       register_rows = 2, unroll = 1, cache_vector = 0, cache_rows = 0, cache_reduction = 0,
                       innermost = "rows", pack = [], prepack = ["rhs"], winograd = 2}}
      ins(%x, %w : tensor<1x1x8x7xf32>, tensor<2x1x3x3xf32>) outs(%y : tensor<1x2x6x5xf32>) -> tensor<1x2x6x5xf32>
  return %r : tensor<1x2x6x5xf32>
}
}
