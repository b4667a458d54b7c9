// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shapes and accesses at the edge of what schedules serve: ranks and numbers of
// loops at and beyond the limits, broadcasts, transposed results, odd strides,
// extents whose products leave 64 bits.
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2 model=analytic' --tgraph-apply-layouts --verify-each | FileCheck %s
// RUN: %tgraph_opt %s --tgraph-cpu='target=avx2 model=analytic' --verify-each -o /dev/null
// RUN: %tgraph_opt %s --tgraph-cpu='target=avx512' --verify-each -o /dev/null

// Eight dimensions are served, nine are not.
// CHECK-LABEL: @rank8
// CHECK: call @tgraph_generic_2x2x2x2x2x2x2x16x8_f32(
func.func @rank8(%a: tensor<2x2x2x2x2x2x2x8xf32>, %b: tensor<16x8xf32>, %c: tensor<2x2x2x2x2x2x2x16xf32>) -> tensor<2x2x2x2x2x2x2x16xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(a,b,c,d,e,f,g,i,k)->(a,b,c,d,e,f,g,k)>, affine_map<(a,b,c,d,e,f,g,i,k)->(i,k)>, affine_map<(a,b,c,d,e,f,g,i,k)->(a,b,c,d,e,f,g,i)>],
      iterator_types = ["parallel","parallel","parallel","parallel","parallel","parallel","parallel","parallel","reduction"]}
      ins(%a, %b : tensor<2x2x2x2x2x2x2x8xf32>, tensor<16x8xf32>) outs(%c : tensor<2x2x2x2x2x2x2x16xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %m = arith.mulf %x, %y : f32
    %s = arith.addf %z, %m : f32
    linalg.yield %s : f32
  } -> tensor<2x2x2x2x2x2x2x16xf32>
  return %r : tensor<2x2x2x2x2x2x2x16xf32>
}
// CHECK-LABEL: @rank9
// CHECK: linalg.generic
func.func @rank9(%a: tensor<2x2x2x2x2x2x2x2x8xf32>, %b: tensor<16x8xf32>, %c: tensor<2x2x2x2x2x2x2x2x16xf32>) -> tensor<2x2x2x2x2x2x2x2x16xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(a,b,c,d,e,f,g,h,i,k)->(a,b,c,d,e,f,g,h,k)>, affine_map<(a,b,c,d,e,f,g,h,i,k)->(i,k)>, affine_map<(a,b,c,d,e,f,g,h,i,k)->(a,b,c,d,e,f,g,h,i)>],
      iterator_types = ["parallel","parallel","parallel","parallel","parallel","parallel","parallel","parallel","parallel","reduction"]}
      ins(%a, %b : tensor<2x2x2x2x2x2x2x2x8xf32>, tensor<16x8xf32>) outs(%c : tensor<2x2x2x2x2x2x2x2x16xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %m = arith.mulf %x, %y : f32
    %s = arith.addf %z, %m : f32
    linalg.yield %s : f32
  } -> tensor<2x2x2x2x2x2x2x2x16xf32>
  return %r : tensor<2x2x2x2x2x2x2x2x16xf32>
}
// CHECK-LABEL: @transposed_result
// CHECK: call @tgraph_generic_64x48x16_f32(
func.func @transposed_result(%a: tensor<16x64xf32>, %b: tensor<48x16xf32>, %c: tensor<48x64xf32>) -> tensor<48x64xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i,j,k)->(k,i)>, affine_map<(i,j,k)->(j,k)>, affine_map<(i,j,k)->(j,i)>], iterator_types = ["parallel","parallel","reduction"]}
      ins(%a, %b : tensor<16x64xf32>, tensor<48x16xf32>) outs(%c : tensor<48x64xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %m = arith.mulf %x, %y : f32
    %s = arith.addf %z, %m : f32
    linalg.yield %s : f32
  } -> tensor<48x64xf32>
  return %r : tensor<48x64xf32>
}
// No schedule has diagonals; a nest does.
// CHECK-LABEL: @diagonal
// CHECK: call @tgraph_addf_8x8(
func.func @diagonal(%a: tensor<8x8xf32>, %b: tensor<8x16xf32>, %c: tensor<8xf32>) -> tensor<8xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i,j)->(i,i)>, affine_map<(i,j)->(i,j)>, affine_map<(i,j)->(i)>], iterator_types = ["parallel","reduction"]}
      ins(%a, %b : tensor<8x8xf32>, tensor<8x16xf32>) outs(%c : tensor<8xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %m = arith.mulf %x, %y : f32
    %s = arith.addf %z, %m : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}
// CHECK-LABEL: @far_apart
// CHECK: call @tgraph_conv_2d_nchw_fchw_
func.func @far_apart(%x: tensor<1x3x40x40xf32>, %w: tensor<8x3x3x3xf32>, %o: tensor<1x8x22x22xf32>) -> tensor<1x8x22x22xf32> {
  %r = linalg.conv_2d_nchw_fchw {dilations = dense<9> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%x, %w : tensor<1x3x40x40xf32>, tensor<8x3x3x3xf32>) outs(%o : tensor<1x8x22x22xf32>) -> tensor<1x8x22x22xf32>
  return %r : tensor<1x8x22x22xf32>
}
// A stride that no 32 bits hold.
// CHECK-LABEL: @far_stride
// CHECK: linalg.conv_2d_nchw_fchw
func.func @far_stride(%x: tensor<1x3x20x20xf32>, %w: tensor<8x3x3x3xf32>, %o: tensor<1x8x1x1xf32>) -> tensor<1x8x1x1xf32> {
  %r = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<[1000000000000, 1000]> : tensor<2xi64>}
      ins(%x, %w : tensor<1x3x20x20xf32>, tensor<8x3x3x3xf32>) outs(%o : tensor<1x8x1x1xf32>) -> tensor<1x8x1x1xf32>
  return %r : tensor<1x8x1x1xf32>
}
// 2^60 multiplications.
// CHECK-LABEL: @large
// CHECK: call @tgraph_matmul_1048576x1048576x1048576_f32(
func.func @large(%a: tensor<1048576x1048576xf32>) -> tensor<1048576x1048576xf32> {
  %r = linalg.matmul ins(%a, %a : tensor<1048576x1048576xf32>, tensor<1048576x1048576xf32>) outs(%a : tensor<1048576x1048576xf32>) -> tensor<1048576x1048576xf32>
  return %r : tensor<1048576x1048576xf32>
}
