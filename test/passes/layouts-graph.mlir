// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors between operations in another order: written by the choice, carried
// out by the generics that read and write them so, and by a transposition where
// one disagrees with its neighbour.
// RUN: %tgraph_opt --tgraph-apply-layouts %s | FileCheck %s
// RUN: %tgraph_opt --pass-pipeline='builtin.module(tgraph-select-layouts{target=generic layouts=given},tgraph-apply-layouts)' %s | FileCheck %s --check-prefix=GIVEN
// RUN: %tgraph_opt --tgraph-select-layouts='target=avx512 layouts=given' %s | FileCheck %s --check-prefix=KEPT

// The convolution writes channels last, the ReLU and the pad keep that, and
// only what is returned is transposed back.
// CHECK-LABEL: func.func @chain
// CHECK: linalg.generic
// CHECK-SAME: ins(%{{.*}}, %{{.*}} : tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32>)
// CHECK-SAME: outs(%{{.*}} : tensor<1x8x8x4xf32>)
// CHECK: linalg.generic {indexing_maps = [#[[ID:.*]], #[[ID]]]
// CHECK-SAME: ins(%{{.*}} : tensor<1x8x8x4xf32>)
// CHECK-NOT: linalg.generic
// CHECK: tensor<1x8x8x4xf32>, tensor<1x10x10x4xf32>
// CHECK: call @tgraph_
// CHECK: return
// KEPT: linalg.conv_2d_nchw_fchw
// KEPT-SAME: tgraph.layouts = {{\[\[\], \[\], \[1, 3, 2, 0\]\]}}
// GIVEN-LABEL: func.func @chain
// GIVEN: call @tgraph_conv_2d_nchw_fchw_1x4x8x8x3x1x1_f32
// GIVEN: return
func.func @chain(%image: tensor<1x3x8x8xf32>, %filter: tensor<4x3x1x1xf32>) -> tensor<1x4x10x10xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x4x8x8xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %0 = linalg.conv_2d_nchw_fchw {tgraph.layouts = [[], [], [1, 3, 2, 0]]}
    ins(%image, %filter : tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32>)
    outs(%init : tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %1 = linalg.generic {
      indexing_maps = [affine_map<(n, c, h, w) -> (n, c, h, w)>, affine_map<(n, c, h, w) -> (n, c, h, w)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%0 : tensor<1x4x8x8xf32>) outs(%empty : tensor<1x4x8x8xf32>)
      attrs = {tgraph.layouts = [[1, 3, 2, 0], [1, 3, 2, 0]]} {
  ^bb0(%in: f32, %out: f32):
    %r = arith.maximumf %in, %zero : f32
    linalg.yield %r : f32
  } -> tensor<1x4x8x8xf32>
  %padded = tensor.pad %1 low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %zero : f32
  } : tensor<1x4x8x8xf32> to tensor<1x4x10x10xf32>
  return %padded : tensor<1x4x10x10xf32>
}
