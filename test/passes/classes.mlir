// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every class of contraction and convolution has a tiled choice, and its
// generalised form (where the fills are generics as well) is the same kernel
// with the same choice. A sum of products alone has lanes, but no tiles.
// RUN: %tgraph_opt %s --tgraph-select-layouts='model=analytic target=avx2' | grep -o 'tgraph.config = .*version = 1' > %t.named
// RUN: %tgraph_opt %s --linalg-generalize-named-ops --tgraph-select-layouts='model=analytic target=avx2' | grep -o 'tgraph.config = .*version = 1' > %t.generic
// RUN: FileCheck %s --implicit-check-not=stock < %t.named
// RUN: grep tiled %t.named > %t.a && grep tiled %t.generic > %t.b && diff %t.a %t.b
// RUN: %tgraph_opt %s --tgraph-cpu='model=analytic target=avx2' --verify-each | FileCheck %s --check-prefix=LOWERED --implicit-check-not='linalg.'

// CHECK-COUNT-67: schedule = "tiled"
// CHECK-NEXT: schedule = "vector"
// CHECK-NOT: tgraph.config
// LOWERED: llvm.func

func.func @matmul(%a: tensor<64x96xf32>, %b: tensor<96x80xf32>) -> tensor<64x80xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x80xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x80xf32>) -> tensor<64x80xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<64x96xf32>, tensor<96x80xf32>) outs(%f : tensor<64x80xf32>) -> tensor<64x80xf32>
  return %0 : tensor<64x80xf32>
}

func.func @batch_matmul(%a: tensor<4x32x48xf32>, %b: tensor<4x48x40xf32>) -> tensor<4x32x40xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x32x40xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4x32x40xf32>) -> tensor<4x32x40xf32>
  %0 = linalg.batch_matmul ins(%a, %b : tensor<4x32x48xf32>, tensor<4x48x40xf32>) outs(%f : tensor<4x32x40xf32>) -> tensor<4x32x40xf32>
  return %0 : tensor<4x32x40xf32>
}

func.func @matvec(%a: tensor<128x96xf32>, %b: tensor<96xf32>) -> tensor<128xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<128xf32>) -> tensor<128xf32>
  %0 = linalg.matvec ins(%a, %b : tensor<128x96xf32>, tensor<96xf32>) outs(%f : tensor<128xf32>) -> tensor<128xf32>
  return %0 : tensor<128xf32>
}

func.func @vecmat(%a: tensor<96xf32>, %b: tensor<96x128xf32>) -> tensor<128xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<128xf32>) -> tensor<128xf32>
  %0 = linalg.vecmat ins(%a, %b : tensor<96xf32>, tensor<96x128xf32>) outs(%f : tensor<128xf32>) -> tensor<128xf32>
  return %0 : tensor<128xf32>
}

func.func @batch_matvec(%a: tensor<4x64x96xf32>, %b: tensor<4x96xf32>) -> tensor<4x64xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x64xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4x64xf32>) -> tensor<4x64xf32>
  %0 = linalg.batch_matvec ins(%a, %b : tensor<4x64x96xf32>, tensor<4x96xf32>) outs(%f : tensor<4x64xf32>) -> tensor<4x64xf32>
  return %0 : tensor<4x64xf32>
}

func.func @batch_vecmat(%a: tensor<4x96xf32>, %b: tensor<4x96x64xf32>) -> tensor<4x64xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x64xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4x64xf32>) -> tensor<4x64xf32>
  %0 = linalg.batch_vecmat ins(%a, %b : tensor<4x96xf32>, tensor<4x96x64xf32>) outs(%f : tensor<4x64xf32>) -> tensor<4x64xf32>
  return %0 : tensor<4x64xf32>
}

func.func @narrow_rows(%a: tensor<3x96xf32>, %b: tensor<96x80xf32>) -> tensor<3x80xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x80xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<3x80xf32>) -> tensor<3x80xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<3x96xf32>, tensor<96x80xf32>) outs(%f : tensor<3x80xf32>) -> tensor<3x80xf32>
  return %0 : tensor<3x80xf32>
}

func.func @narrow_columns(%a: tensor<64x96xf32>, %b: tensor<96x3xf32>) -> tensor<64x3xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x3xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x3xf32>) -> tensor<64x3xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<64x96xf32>, tensor<96x3xf32>) outs(%f : tensor<64x3xf32>) -> tensor<64x3xf32>
  return %0 : tensor<64x3xf32>
}

func.func @one_row(%a: tensor<1x96xf32>, %b: tensor<96x80xf32>) -> tensor<1x80xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x80xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x80xf32>) -> tensor<1x80xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<1x96xf32>, tensor<96x80xf32>) outs(%f : tensor<1x80xf32>) -> tensor<1x80xf32>
  return %0 : tensor<1x80xf32>
}

func.func @one_column(%a: tensor<64x96xf32>, %b: tensor<96x1xf32>) -> tensor<64x1xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x1xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x1xf32>) -> tensor<64x1xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<64x96xf32>, tensor<96x1xf32>) outs(%f : tensor<64x1xf32>) -> tensor<64x1xf32>
  return %0 : tensor<64x1xf32>
}

func.func @batch_reduce_matmul(%a: tensor<4x32x48xf32>, %b: tensor<4x48x40xf32>) -> tensor<32x40xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x40xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<32x40xf32>) -> tensor<32x40xf32>
  %0 = linalg.batch_reduce_matmul ins(%a, %b : tensor<4x32x48xf32>, tensor<4x48x40xf32>) outs(%f : tensor<32x40xf32>) -> tensor<32x40xf32>
  return %0 : tensor<32x40xf32>
}

func.func @mmt4d(%a: tensor<4x24x8x1xf32>, %b: tensor<5x24x16x1xf32>) -> tensor<4x5x8x16xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x5x8x16xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4x5x8x16xf32>) -> tensor<4x5x8x16xf32>
  %0 = linalg.mmt4d ins(%a, %b : tensor<4x24x8x1xf32>, tensor<5x24x16x1xf32>) outs(%f : tensor<4x5x8x16xf32>) -> tensor<4x5x8x16xf32>
  return %0 : tensor<4x5x8x16xf32>
}

func.func @batch_mmt4d(%a: tensor<2x4x24x8x1xf32>, %b: tensor<2x5x24x16x1xf32>) -> tensor<2x4x5x8x16xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x4x5x8x16xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<2x4x5x8x16xf32>) -> tensor<2x4x5x8x16xf32>
  %0 = linalg.batch_mmt4d ins(%a, %b : tensor<2x4x24x8x1xf32>, tensor<2x5x24x16x1xf32>) outs(%f : tensor<2x4x5x8x16xf32>) -> tensor<2x4x5x8x16xf32>
  return %0 : tensor<2x4x5x8x16xf32>
}

func.func @contract(%a: tensor<96x4x64xf32>, %b: tensor<80x4x96xf32>) -> tensor<64x80x4xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x80x4xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x80x4xf32>) -> tensor<64x80x4xf32>
  %0 = linalg.contract indexing_maps = [affine_map<(b, m, n, k) -> (k, b, m)>, affine_map<(b, m, n, k) -> (n, b, k)>, affine_map<(b, m, n, k) -> (m, n, b)>] ins(%a, %b : tensor<96x4x64xf32>, tensor<80x4x96xf32>) outs(%f : tensor<64x80x4xf32>) -> tensor<64x80x4xf32>
  return %0 : tensor<64x80x4xf32>
}
func.func @matmul_transpose_a(%a: tensor<96x64xf32>, %b: tensor<96x80xf32>) -> tensor<64x80xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x80xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x80xf32>) -> tensor<64x80xf32>
  %0 = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] ins(%a, %b : tensor<96x64xf32>, tensor<96x80xf32>) outs(%f : tensor<64x80xf32>) -> tensor<64x80xf32>
  return %0 : tensor<64x80xf32>
}
func.func @matmul_transpose_b(%a: tensor<64x96xf32>, %b: tensor<80x96xf32>) -> tensor<64x80xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x80xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x80xf32>) -> tensor<64x80xf32>
  %0 = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] ins(%a, %b : tensor<64x96xf32>, tensor<80x96xf32>) outs(%f : tensor<64x80xf32>) -> tensor<64x80xf32>
  return %0 : tensor<64x80xf32>
}

func.func @conv_1d_ncw_fcw(%a: tensor<2x16x42xf32>, %b: tensor<24x16x3xf32>) -> tensor<2x24x40xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x24x40xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<2x24x40xf32>) -> tensor<2x24x40xf32>
  %0 = linalg.conv_1d_ncw_fcw {dilations = dense<[1]> : tensor<1xi64>, strides = dense<[1]> : tensor<1xi64>} ins(%a, %b : tensor<2x16x42xf32>, tensor<24x16x3xf32>) outs(%f : tensor<2x24x40xf32>) -> tensor<2x24x40xf32>
  return %0 : tensor<2x24x40xf32>
}

func.func @conv_1d_nwc_wcf(%a: tensor<2x42x16xf32>, %b: tensor<3x16x24xf32>) -> tensor<2x40x24xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x40x24xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<2x40x24xf32>) -> tensor<2x40x24xf32>
  %0 = linalg.conv_1d_nwc_wcf {dilations = dense<[1]> : tensor<1xi64>, strides = dense<[1]> : tensor<1xi64>} ins(%a, %b : tensor<2x42x16xf32>, tensor<3x16x24xf32>) outs(%f : tensor<2x40x24xf32>) -> tensor<2x40x24xf32>
  return %0 : tensor<2x40x24xf32>
}

func.func @conv_1d_ncw_fcw_s2d3(%a: tensor<2x16x85xf32>, %b: tensor<24x16x3xf32>) -> tensor<2x24x40xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x24x40xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<2x24x40xf32>) -> tensor<2x24x40xf32>
  %0 = linalg.conv_1d_ncw_fcw {dilations = dense<[3]> : tensor<1xi64>, strides = dense<[2]> : tensor<1xi64>} ins(%a, %b : tensor<2x16x85xf32>, tensor<24x16x3xf32>) outs(%f : tensor<2x24x40xf32>) -> tensor<2x24x40xf32>
  return %0 : tensor<2x24x40xf32>
}

func.func @conv_1d_nwc_wcf_s3d2(%a: tensor<2x122x16xf32>, %b: tensor<3x16x24xf32>) -> tensor<2x40x24xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x40x24xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<2x40x24xf32>) -> tensor<2x40x24xf32>
  %0 = linalg.conv_1d_nwc_wcf {dilations = dense<[2]> : tensor<1xi64>, strides = dense<[3]> : tensor<1xi64>} ins(%a, %b : tensor<2x122x16xf32>, tensor<3x16x24xf32>) outs(%f : tensor<2x40x24xf32>) -> tensor<2x40x24xf32>
  return %0 : tensor<2x40x24xf32>
}

func.func @conv_1d(%a: tensor<102xf32>, %b: tensor<3xf32>) -> tensor<100xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<100xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<100xf32>) -> tensor<100xf32>
  %0 = linalg.conv_1d ins(%a, %b : tensor<102xf32>, tensor<3xf32>) outs(%f : tensor<100xf32>) -> tensor<100xf32>
  return %0 : tensor<100xf32>
}

func.func @conv_2d(%a: tensor<34x42xf32>, %b: tensor<3x3xf32>) -> tensor<32x40xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x40xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<32x40xf32>) -> tensor<32x40xf32>
  %0 = linalg.conv_2d ins(%a, %b : tensor<34x42xf32>, tensor<3x3xf32>) outs(%f : tensor<32x40xf32>) -> tensor<32x40xf32>
  return %0 : tensor<32x40xf32>
}

func.func @conv_3d(%a: tensor<10x10x18xf32>, %b: tensor<3x3x3xf32>) -> tensor<8x8x16xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x8x16xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<8x8x16xf32>) -> tensor<8x8x16xf32>
  %0 = linalg.conv_3d ins(%a, %b : tensor<10x10x18xf32>, tensor<3x3x3xf32>) outs(%f : tensor<8x8x16xf32>) -> tensor<8x8x16xf32>
  return %0 : tensor<8x8x16xf32>
}

func.func @nchw_fchw(%a: tensor<1x16x12x16xf32>, %b: tensor<24x16x3x3xf32>) -> tensor<1x24x10x14xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x24x10x14xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x24x10x14xf32>) -> tensor<1x24x10x14xf32>
  %0 = linalg.conv_2d_nchw_fchw {dilations = dense<[1, 1]> : tensor<2xi64>, strides = dense<[1, 1]> : tensor<2xi64>} ins(%a, %b : tensor<1x16x12x16xf32>, tensor<24x16x3x3xf32>) outs(%f : tensor<1x24x10x14xf32>) -> tensor<1x24x10x14xf32>
  return %0 : tensor<1x24x10x14xf32>
}

func.func @nhwc_hwcf(%a: tensor<1x12x16x16xf32>, %b: tensor<3x3x16x24xf32>) -> tensor<1x10x14x24xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x10x14x24xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x10x14x24xf32>) -> tensor<1x10x14x24xf32>
  %0 = linalg.conv_2d_nhwc_hwcf {dilations = dense<[1, 1]> : tensor<2xi64>, strides = dense<[1, 1]> : tensor<2xi64>} ins(%a, %b : tensor<1x12x16x16xf32>, tensor<3x3x16x24xf32>) outs(%f : tensor<1x10x14x24xf32>) -> tensor<1x10x14x24xf32>
  return %0 : tensor<1x10x14x24xf32>
}

func.func @nhwc_fhwc(%a: tensor<1x12x16x16xf32>, %b: tensor<24x3x3x16xf32>) -> tensor<1x10x14x24xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x10x14x24xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x10x14x24xf32>) -> tensor<1x10x14x24xf32>
  %0 = linalg.conv_2d_nhwc_fhwc {dilations = dense<[1, 1]> : tensor<2xi64>, strides = dense<[1, 1]> : tensor<2xi64>} ins(%a, %b : tensor<1x12x16x16xf32>, tensor<24x3x3x16xf32>) outs(%f : tensor<1x10x14x24xf32>) -> tensor<1x10x14x24xf32>
  return %0 : tensor<1x10x14x24xf32>
}

func.func @ngchw_fgchw(%a: tensor<1x4x16x12x16xf32>, %b: tensor<24x4x16x3x3xf32>) -> tensor<1x4x24x10x14xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x4x24x10x14xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x4x24x10x14xf32>) -> tensor<1x4x24x10x14xf32>
  %0 = linalg.conv_2d_ngchw_fgchw {dilations = dense<[1, 1]> : tensor<2xi64>, strides = dense<[1, 1]> : tensor<2xi64>} ins(%a, %b : tensor<1x4x16x12x16xf32>, tensor<24x4x16x3x3xf32>) outs(%f : tensor<1x4x24x10x14xf32>) -> tensor<1x4x24x10x14xf32>
  return %0 : tensor<1x4x24x10x14xf32>
}

func.func @ngchw_gfchw(%a: tensor<1x4x16x12x16xf32>, %b: tensor<4x24x16x3x3xf32>) -> tensor<1x4x24x10x14xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x4x24x10x14xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x4x24x10x14xf32>) -> tensor<1x4x24x10x14xf32>
  %0 = linalg.conv_2d_ngchw_gfchw {dilations = dense<[1, 1]> : tensor<2xi64>, strides = dense<[1, 1]> : tensor<2xi64>} ins(%a, %b : tensor<1x4x16x12x16xf32>, tensor<4x24x16x3x3xf32>) outs(%f : tensor<1x4x24x10x14xf32>) -> tensor<1x4x24x10x14xf32>
  return %0 : tensor<1x4x24x10x14xf32>
}

func.func @nhwgc_gfhwc(%a: tensor<1x12x16x4x16xf32>, %b: tensor<4x24x3x3x16xf32>) -> tensor<1x10x14x4x24xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x10x14x4x24xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x10x14x4x24xf32>) -> tensor<1x10x14x4x24xf32>
  %0 = linalg.conv_2d_nhwgc_gfhwc {dilations = dense<[1, 1]> : tensor<2xi64>, strides = dense<[1, 1]> : tensor<2xi64>} ins(%a, %b : tensor<1x12x16x4x16xf32>, tensor<4x24x3x3x16xf32>) outs(%f : tensor<1x10x14x4x24xf32>) -> tensor<1x10x14x4x24xf32>
  return %0 : tensor<1x10x14x4x24xf32>
}

func.func @dw_nchw_chw(%a: tensor<1x16x12x16xf32>, %b: tensor<16x3x3xf32>) -> tensor<1x16x10x14xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x16x10x14xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x16x10x14xf32>) -> tensor<1x16x10x14xf32>
  %0 = linalg.depthwise_conv_2d_nchw_chw {dilations = dense<[1, 1]> : tensor<2xi64>, strides = dense<[1, 1]> : tensor<2xi64>} ins(%a, %b : tensor<1x16x12x16xf32>, tensor<16x3x3xf32>) outs(%f : tensor<1x16x10x14xf32>) -> tensor<1x16x10x14xf32>
  return %0 : tensor<1x16x10x14xf32>
}

func.func @dw_nhwc_hwc(%a: tensor<1x12x16x16xf32>, %b: tensor<3x3x16xf32>) -> tensor<1x10x14x16xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x10x14x16xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x10x14x16xf32>) -> tensor<1x10x14x16xf32>
  %0 = linalg.depthwise_conv_2d_nhwc_hwc {dilations = dense<[1, 1]> : tensor<2xi64>, strides = dense<[1, 1]> : tensor<2xi64>} ins(%a, %b : tensor<1x12x16x16xf32>, tensor<3x3x16xf32>) outs(%f : tensor<1x10x14x16xf32>) -> tensor<1x10x14x16xf32>
  return %0 : tensor<1x10x14x16xf32>
}

func.func @dw_nhwc_hwcm(%a: tensor<1x12x16x16xf32>, %b: tensor<3x3x16x2xf32>) -> tensor<1x10x14x16x2xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x10x14x16x2xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x10x14x16x2xf32>) -> tensor<1x10x14x16x2xf32>
  %0 = linalg.depthwise_conv_2d_nhwc_hwcm {dilations = dense<[1, 1]> : tensor<2xi64>, strides = dense<[1, 1]> : tensor<2xi64>} ins(%a, %b : tensor<1x12x16x16xf32>, tensor<3x3x16x2xf32>) outs(%f : tensor<1x10x14x16x2xf32>) -> tensor<1x10x14x16x2xf32>
  return %0 : tensor<1x10x14x16x2xf32>
}

func.func @nchw_fchw_s2(%a: tensor<1x16x21x29xf32>, %b: tensor<24x16x3x3xf32>) -> tensor<1x24x10x14xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x24x10x14xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x24x10x14xf32>) -> tensor<1x24x10x14xf32>
  %0 = linalg.conv_2d_nchw_fchw {dilations = dense<[1, 1]> : tensor<2xi64>, strides = dense<[2, 2]> : tensor<2xi64>} ins(%a, %b : tensor<1x16x21x29xf32>, tensor<24x16x3x3xf32>) outs(%f : tensor<1x24x10x14xf32>) -> tensor<1x24x10x14xf32>
  return %0 : tensor<1x24x10x14xf32>
}

func.func @nhwc_hwcf_s2(%a: tensor<1x21x29x16xf32>, %b: tensor<3x3x16x24xf32>) -> tensor<1x10x14x24xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x10x14x24xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x10x14x24xf32>) -> tensor<1x10x14x24xf32>
  %0 = linalg.conv_2d_nhwc_hwcf {dilations = dense<[1, 1]> : tensor<2xi64>, strides = dense<[2, 2]> : tensor<2xi64>} ins(%a, %b : tensor<1x21x29x16xf32>, tensor<3x3x16x24xf32>) outs(%f : tensor<1x10x14x24xf32>) -> tensor<1x10x14x24xf32>
  return %0 : tensor<1x10x14x24xf32>
}

func.func @nhwc_fhwc_s2(%a: tensor<1x21x29x16xf32>, %b: tensor<24x3x3x16xf32>) -> tensor<1x10x14x24xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x10x14x24xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x10x14x24xf32>) -> tensor<1x10x14x24xf32>
  %0 = linalg.conv_2d_nhwc_fhwc {dilations = dense<[1, 1]> : tensor<2xi64>, strides = dense<[2, 2]> : tensor<2xi64>} ins(%a, %b : tensor<1x21x29x16xf32>, tensor<24x3x3x16xf32>) outs(%f : tensor<1x10x14x24xf32>) -> tensor<1x10x14x24xf32>
  return %0 : tensor<1x10x14x24xf32>
}

func.func @ngchw_fgchw_s2(%a: tensor<1x4x16x21x29xf32>, %b: tensor<24x4x16x3x3xf32>) -> tensor<1x4x24x10x14xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x4x24x10x14xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x4x24x10x14xf32>) -> tensor<1x4x24x10x14xf32>
  %0 = linalg.conv_2d_ngchw_fgchw {dilations = dense<[1, 1]> : tensor<2xi64>, strides = dense<[2, 2]> : tensor<2xi64>} ins(%a, %b : tensor<1x4x16x21x29xf32>, tensor<24x4x16x3x3xf32>) outs(%f : tensor<1x4x24x10x14xf32>) -> tensor<1x4x24x10x14xf32>
  return %0 : tensor<1x4x24x10x14xf32>
}

func.func @ngchw_gfchw_s2(%a: tensor<1x4x16x21x29xf32>, %b: tensor<4x24x16x3x3xf32>) -> tensor<1x4x24x10x14xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x4x24x10x14xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x4x24x10x14xf32>) -> tensor<1x4x24x10x14xf32>
  %0 = linalg.conv_2d_ngchw_gfchw {dilations = dense<[1, 1]> : tensor<2xi64>, strides = dense<[2, 2]> : tensor<2xi64>} ins(%a, %b : tensor<1x4x16x21x29xf32>, tensor<4x24x16x3x3xf32>) outs(%f : tensor<1x4x24x10x14xf32>) -> tensor<1x4x24x10x14xf32>
  return %0 : tensor<1x4x24x10x14xf32>
}

func.func @nhwgc_gfhwc_s2(%a: tensor<1x21x29x4x16xf32>, %b: tensor<4x24x3x3x16xf32>) -> tensor<1x10x14x4x24xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x10x14x4x24xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x10x14x4x24xf32>) -> tensor<1x10x14x4x24xf32>
  %0 = linalg.conv_2d_nhwgc_gfhwc {dilations = dense<[1, 1]> : tensor<2xi64>, strides = dense<[2, 2]> : tensor<2xi64>} ins(%a, %b : tensor<1x21x29x4x16xf32>, tensor<4x24x3x3x16xf32>) outs(%f : tensor<1x10x14x4x24xf32>) -> tensor<1x10x14x4x24xf32>
  return %0 : tensor<1x10x14x4x24xf32>
}

func.func @dw_nchw_chw_s2(%a: tensor<1x16x21x29xf32>, %b: tensor<16x3x3xf32>) -> tensor<1x16x10x14xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x16x10x14xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x16x10x14xf32>) -> tensor<1x16x10x14xf32>
  %0 = linalg.depthwise_conv_2d_nchw_chw {dilations = dense<[1, 1]> : tensor<2xi64>, strides = dense<[2, 2]> : tensor<2xi64>} ins(%a, %b : tensor<1x16x21x29xf32>, tensor<16x3x3xf32>) outs(%f : tensor<1x16x10x14xf32>) -> tensor<1x16x10x14xf32>
  return %0 : tensor<1x16x10x14xf32>
}

func.func @dw_nhwc_hwc_s2(%a: tensor<1x21x29x16xf32>, %b: tensor<3x3x16xf32>) -> tensor<1x10x14x16xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x10x14x16xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x10x14x16xf32>) -> tensor<1x10x14x16xf32>
  %0 = linalg.depthwise_conv_2d_nhwc_hwc {dilations = dense<[1, 1]> : tensor<2xi64>, strides = dense<[2, 2]> : tensor<2xi64>} ins(%a, %b : tensor<1x21x29x16xf32>, tensor<3x3x16xf32>) outs(%f : tensor<1x10x14x16xf32>) -> tensor<1x10x14x16xf32>
  return %0 : tensor<1x10x14x16xf32>
}

func.func @dw_nhwc_hwcm_s2(%a: tensor<1x21x29x16xf32>, %b: tensor<3x3x16x2xf32>) -> tensor<1x10x14x16x2xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x10x14x16x2xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x10x14x16x2xf32>) -> tensor<1x10x14x16x2xf32>
  %0 = linalg.depthwise_conv_2d_nhwc_hwcm {dilations = dense<[1, 1]> : tensor<2xi64>, strides = dense<[2, 2]> : tensor<2xi64>} ins(%a, %b : tensor<1x21x29x16xf32>, tensor<3x3x16x2xf32>) outs(%f : tensor<1x10x14x16x2xf32>) -> tensor<1x10x14x16x2xf32>
  return %0 : tensor<1x10x14x16x2xf32>
}

func.func @nchw_fchw_d2(%a: tensor<1x16x14x18xf32>, %b: tensor<24x16x3x3xf32>) -> tensor<1x24x10x14xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x24x10x14xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x24x10x14xf32>) -> tensor<1x24x10x14xf32>
  %0 = linalg.conv_2d_nchw_fchw {dilations = dense<[2, 2]> : tensor<2xi64>, strides = dense<[1, 1]> : tensor<2xi64>} ins(%a, %b : tensor<1x16x14x18xf32>, tensor<24x16x3x3xf32>) outs(%f : tensor<1x24x10x14xf32>) -> tensor<1x24x10x14xf32>
  return %0 : tensor<1x24x10x14xf32>
}

func.func @nhwc_hwcf_d2(%a: tensor<1x14x18x16xf32>, %b: tensor<3x3x16x24xf32>) -> tensor<1x10x14x24xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x10x14x24xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x10x14x24xf32>) -> tensor<1x10x14x24xf32>
  %0 = linalg.conv_2d_nhwc_hwcf {dilations = dense<[2, 2]> : tensor<2xi64>, strides = dense<[1, 1]> : tensor<2xi64>} ins(%a, %b : tensor<1x14x18x16xf32>, tensor<3x3x16x24xf32>) outs(%f : tensor<1x10x14x24xf32>) -> tensor<1x10x14x24xf32>
  return %0 : tensor<1x10x14x24xf32>
}

func.func @nhwc_fhwc_d2(%a: tensor<1x14x18x16xf32>, %b: tensor<24x3x3x16xf32>) -> tensor<1x10x14x24xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x10x14x24xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x10x14x24xf32>) -> tensor<1x10x14x24xf32>
  %0 = linalg.conv_2d_nhwc_fhwc {dilations = dense<[2, 2]> : tensor<2xi64>, strides = dense<[1, 1]> : tensor<2xi64>} ins(%a, %b : tensor<1x14x18x16xf32>, tensor<24x3x3x16xf32>) outs(%f : tensor<1x10x14x24xf32>) -> tensor<1x10x14x24xf32>
  return %0 : tensor<1x10x14x24xf32>
}

func.func @ngchw_fgchw_d2(%a: tensor<1x4x16x14x18xf32>, %b: tensor<24x4x16x3x3xf32>) -> tensor<1x4x24x10x14xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x4x24x10x14xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x4x24x10x14xf32>) -> tensor<1x4x24x10x14xf32>
  %0 = linalg.conv_2d_ngchw_fgchw {dilations = dense<[2, 2]> : tensor<2xi64>, strides = dense<[1, 1]> : tensor<2xi64>} ins(%a, %b : tensor<1x4x16x14x18xf32>, tensor<24x4x16x3x3xf32>) outs(%f : tensor<1x4x24x10x14xf32>) -> tensor<1x4x24x10x14xf32>
  return %0 : tensor<1x4x24x10x14xf32>
}

func.func @ngchw_gfchw_d2(%a: tensor<1x4x16x14x18xf32>, %b: tensor<4x24x16x3x3xf32>) -> tensor<1x4x24x10x14xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x4x24x10x14xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x4x24x10x14xf32>) -> tensor<1x4x24x10x14xf32>
  %0 = linalg.conv_2d_ngchw_gfchw {dilations = dense<[2, 2]> : tensor<2xi64>, strides = dense<[1, 1]> : tensor<2xi64>} ins(%a, %b : tensor<1x4x16x14x18xf32>, tensor<4x24x16x3x3xf32>) outs(%f : tensor<1x4x24x10x14xf32>) -> tensor<1x4x24x10x14xf32>
  return %0 : tensor<1x4x24x10x14xf32>
}

func.func @nhwgc_gfhwc_d2(%a: tensor<1x14x18x4x16xf32>, %b: tensor<4x24x3x3x16xf32>) -> tensor<1x10x14x4x24xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x10x14x4x24xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x10x14x4x24xf32>) -> tensor<1x10x14x4x24xf32>
  %0 = linalg.conv_2d_nhwgc_gfhwc {dilations = dense<[2, 2]> : tensor<2xi64>, strides = dense<[1, 1]> : tensor<2xi64>} ins(%a, %b : tensor<1x14x18x4x16xf32>, tensor<4x24x3x3x16xf32>) outs(%f : tensor<1x10x14x4x24xf32>) -> tensor<1x10x14x4x24xf32>
  return %0 : tensor<1x10x14x4x24xf32>
}

func.func @dw_nchw_chw_d2(%a: tensor<1x16x14x18xf32>, %b: tensor<16x3x3xf32>) -> tensor<1x16x10x14xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x16x10x14xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x16x10x14xf32>) -> tensor<1x16x10x14xf32>
  %0 = linalg.depthwise_conv_2d_nchw_chw {dilations = dense<[2, 2]> : tensor<2xi64>, strides = dense<[1, 1]> : tensor<2xi64>} ins(%a, %b : tensor<1x16x14x18xf32>, tensor<16x3x3xf32>) outs(%f : tensor<1x16x10x14xf32>) -> tensor<1x16x10x14xf32>
  return %0 : tensor<1x16x10x14xf32>
}

func.func @dw_nhwc_hwc_d2(%a: tensor<1x14x18x16xf32>, %b: tensor<3x3x16xf32>) -> tensor<1x10x14x16xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x10x14x16xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x10x14x16xf32>) -> tensor<1x10x14x16xf32>
  %0 = linalg.depthwise_conv_2d_nhwc_hwc {dilations = dense<[2, 2]> : tensor<2xi64>, strides = dense<[1, 1]> : tensor<2xi64>} ins(%a, %b : tensor<1x14x18x16xf32>, tensor<3x3x16xf32>) outs(%f : tensor<1x10x14x16xf32>) -> tensor<1x10x14x16xf32>
  return %0 : tensor<1x10x14x16xf32>
}

func.func @dw_nhwc_hwcm_d2(%a: tensor<1x14x18x16xf32>, %b: tensor<3x3x16x2xf32>) -> tensor<1x10x14x16x2xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x10x14x16x2xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x10x14x16x2xf32>) -> tensor<1x10x14x16x2xf32>
  %0 = linalg.depthwise_conv_2d_nhwc_hwcm {dilations = dense<[2, 2]> : tensor<2xi64>, strides = dense<[1, 1]> : tensor<2xi64>} ins(%a, %b : tensor<1x14x18x16xf32>, tensor<3x3x16x2xf32>) outs(%f : tensor<1x10x14x16x2xf32>) -> tensor<1x10x14x16x2xf32>
  return %0 : tensor<1x10x14x16x2xf32>
}

func.func @nchw_fchw_s3d2(%a: tensor<1x16x32x44xf32>, %b: tensor<24x16x3x3xf32>) -> tensor<1x24x10x14xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x24x10x14xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x24x10x14xf32>) -> tensor<1x24x10x14xf32>
  %0 = linalg.conv_2d_nchw_fchw {dilations = dense<[2, 2]> : tensor<2xi64>, strides = dense<[3, 3]> : tensor<2xi64>} ins(%a, %b : tensor<1x16x32x44xf32>, tensor<24x16x3x3xf32>) outs(%f : tensor<1x24x10x14xf32>) -> tensor<1x24x10x14xf32>
  return %0 : tensor<1x24x10x14xf32>
}

func.func @nhwc_hwcf_s3d2(%a: tensor<1x32x44x16xf32>, %b: tensor<3x3x16x24xf32>) -> tensor<1x10x14x24xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x10x14x24xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x10x14x24xf32>) -> tensor<1x10x14x24xf32>
  %0 = linalg.conv_2d_nhwc_hwcf {dilations = dense<[2, 2]> : tensor<2xi64>, strides = dense<[3, 3]> : tensor<2xi64>} ins(%a, %b : tensor<1x32x44x16xf32>, tensor<3x3x16x24xf32>) outs(%f : tensor<1x10x14x24xf32>) -> tensor<1x10x14x24xf32>
  return %0 : tensor<1x10x14x24xf32>
}

func.func @nhwc_fhwc_s3d2(%a: tensor<1x32x44x16xf32>, %b: tensor<24x3x3x16xf32>) -> tensor<1x10x14x24xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x10x14x24xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x10x14x24xf32>) -> tensor<1x10x14x24xf32>
  %0 = linalg.conv_2d_nhwc_fhwc {dilations = dense<[2, 2]> : tensor<2xi64>, strides = dense<[3, 3]> : tensor<2xi64>} ins(%a, %b : tensor<1x32x44x16xf32>, tensor<24x3x3x16xf32>) outs(%f : tensor<1x10x14x24xf32>) -> tensor<1x10x14x24xf32>
  return %0 : tensor<1x10x14x24xf32>
}

func.func @ngchw_fgchw_s3d2(%a: tensor<1x4x16x32x44xf32>, %b: tensor<24x4x16x3x3xf32>) -> tensor<1x4x24x10x14xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x4x24x10x14xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x4x24x10x14xf32>) -> tensor<1x4x24x10x14xf32>
  %0 = linalg.conv_2d_ngchw_fgchw {dilations = dense<[2, 2]> : tensor<2xi64>, strides = dense<[3, 3]> : tensor<2xi64>} ins(%a, %b : tensor<1x4x16x32x44xf32>, tensor<24x4x16x3x3xf32>) outs(%f : tensor<1x4x24x10x14xf32>) -> tensor<1x4x24x10x14xf32>
  return %0 : tensor<1x4x24x10x14xf32>
}

func.func @ngchw_gfchw_s3d2(%a: tensor<1x4x16x32x44xf32>, %b: tensor<4x24x16x3x3xf32>) -> tensor<1x4x24x10x14xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x4x24x10x14xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x4x24x10x14xf32>) -> tensor<1x4x24x10x14xf32>
  %0 = linalg.conv_2d_ngchw_gfchw {dilations = dense<[2, 2]> : tensor<2xi64>, strides = dense<[3, 3]> : tensor<2xi64>} ins(%a, %b : tensor<1x4x16x32x44xf32>, tensor<4x24x16x3x3xf32>) outs(%f : tensor<1x4x24x10x14xf32>) -> tensor<1x4x24x10x14xf32>
  return %0 : tensor<1x4x24x10x14xf32>
}

func.func @nhwgc_gfhwc_s3d2(%a: tensor<1x32x44x4x16xf32>, %b: tensor<4x24x3x3x16xf32>) -> tensor<1x10x14x4x24xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x10x14x4x24xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x10x14x4x24xf32>) -> tensor<1x10x14x4x24xf32>
  %0 = linalg.conv_2d_nhwgc_gfhwc {dilations = dense<[2, 2]> : tensor<2xi64>, strides = dense<[3, 3]> : tensor<2xi64>} ins(%a, %b : tensor<1x32x44x4x16xf32>, tensor<4x24x3x3x16xf32>) outs(%f : tensor<1x10x14x4x24xf32>) -> tensor<1x10x14x4x24xf32>
  return %0 : tensor<1x10x14x4x24xf32>
}

func.func @dw_nchw_chw_s3d2(%a: tensor<1x16x32x44xf32>, %b: tensor<16x3x3xf32>) -> tensor<1x16x10x14xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x16x10x14xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x16x10x14xf32>) -> tensor<1x16x10x14xf32>
  %0 = linalg.depthwise_conv_2d_nchw_chw {dilations = dense<[2, 2]> : tensor<2xi64>, strides = dense<[3, 3]> : tensor<2xi64>} ins(%a, %b : tensor<1x16x32x44xf32>, tensor<16x3x3xf32>) outs(%f : tensor<1x16x10x14xf32>) -> tensor<1x16x10x14xf32>
  return %0 : tensor<1x16x10x14xf32>
}

func.func @dw_nhwc_hwc_s3d2(%a: tensor<1x32x44x16xf32>, %b: tensor<3x3x16xf32>) -> tensor<1x10x14x16xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x10x14x16xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x10x14x16xf32>) -> tensor<1x10x14x16xf32>
  %0 = linalg.depthwise_conv_2d_nhwc_hwc {dilations = dense<[2, 2]> : tensor<2xi64>, strides = dense<[3, 3]> : tensor<2xi64>} ins(%a, %b : tensor<1x32x44x16xf32>, tensor<3x3x16xf32>) outs(%f : tensor<1x10x14x16xf32>) -> tensor<1x10x14x16xf32>
  return %0 : tensor<1x10x14x16xf32>
}

func.func @dw_nhwc_hwcm_s3d2(%a: tensor<1x32x44x16xf32>, %b: tensor<3x3x16x2xf32>) -> tensor<1x10x14x16x2xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x10x14x16x2xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x10x14x16x2xf32>) -> tensor<1x10x14x16x2xf32>
  %0 = linalg.depthwise_conv_2d_nhwc_hwcm {dilations = dense<[2, 2]> : tensor<2xi64>, strides = dense<[3, 3]> : tensor<2xi64>} ins(%a, %b : tensor<1x32x44x16xf32>, tensor<3x3x16x2xf32>) outs(%f : tensor<1x10x14x16x2xf32>) -> tensor<1x10x14x16x2xf32>
  return %0 : tensor<1x10x14x16x2xf32>
}

func.func @dw_1d_ncw_cw(%a: tensor<2x16x42xf32>, %b: tensor<16x3xf32>) -> tensor<2x16x40xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x16x40xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<2x16x40xf32>) -> tensor<2x16x40xf32>
  %0 = linalg.depthwise_conv_1d_ncw_cw {dilations = dense<[1]> : tensor<1xi64>, strides = dense<[1]> : tensor<1xi64>} ins(%a, %b : tensor<2x16x42xf32>, tensor<16x3xf32>) outs(%f : tensor<2x16x40xf32>) -> tensor<2x16x40xf32>
  return %0 : tensor<2x16x40xf32>
}

func.func @dw_1d_nwc_wc(%a: tensor<2x42x16xf32>, %b: tensor<3x16xf32>) -> tensor<2x40x16xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x40x16xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<2x40x16xf32>) -> tensor<2x40x16xf32>
  %0 = linalg.depthwise_conv_1d_nwc_wc {dilations = dense<[1]> : tensor<1xi64>, strides = dense<[1]> : tensor<1xi64>} ins(%a, %b : tensor<2x42x16xf32>, tensor<3x16xf32>) outs(%f : tensor<2x40x16xf32>) -> tensor<2x40x16xf32>
  return %0 : tensor<2x40x16xf32>
}

func.func @dw_1d_nwc_wcm(%a: tensor<2x42x16xf32>, %b: tensor<3x16x2xf32>) -> tensor<2x40x16x2xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x40x16x2xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<2x40x16x2xf32>) -> tensor<2x40x16x2xf32>
  %0 = linalg.depthwise_conv_1d_nwc_wcm {dilations = dense<[1]> : tensor<1xi64>, strides = dense<[1]> : tensor<1xi64>} ins(%a, %b : tensor<2x42x16xf32>, tensor<3x16x2xf32>) outs(%f : tensor<2x40x16x2xf32>) -> tensor<2x40x16x2xf32>
  return %0 : tensor<2x40x16x2xf32>
}

func.func @dw_3d_ncdhw_cdhw(%a: tensor<1x8x6x6x10xf32>, %b: tensor<8x3x3x3xf32>) -> tensor<1x8x4x4x8xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x8x4x4x8xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x8x4x4x8xf32>) -> tensor<1x8x4x4x8xf32>
  %0 = linalg.depthwise_conv_3d_ncdhw_cdhw {dilations = dense<[1, 1, 1]> : tensor<3xi64>, strides = dense<[1, 1, 1]> : tensor<3xi64>} ins(%a, %b : tensor<1x8x6x6x10xf32>, tensor<8x3x3x3xf32>) outs(%f : tensor<1x8x4x4x8xf32>) -> tensor<1x8x4x4x8xf32>
  return %0 : tensor<1x8x4x4x8xf32>
}

func.func @dw_3d_ndhwc_dhwc(%a: tensor<1x6x6x10x8xf32>, %b: tensor<3x3x3x8xf32>) -> tensor<1x4x4x8x8xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x4x4x8x8xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x4x4x8x8xf32>) -> tensor<1x4x4x8x8xf32>
  %0 = linalg.depthwise_conv_3d_ndhwc_dhwc {dilations = dense<[1, 1, 1]> : tensor<3xi64>, strides = dense<[1, 1, 1]> : tensor<3xi64>} ins(%a, %b : tensor<1x6x6x10x8xf32>, tensor<3x3x3x8xf32>) outs(%f : tensor<1x4x4x8x8xf32>) -> tensor<1x4x4x8x8xf32>
  return %0 : tensor<1x4x4x8x8xf32>
}

func.func @dw_3d_ndhwc_dhwcm(%a: tensor<1x6x6x10x8xf32>, %b: tensor<3x3x3x8x2xf32>) -> tensor<1x4x4x8x8x2xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x4x4x8x8x2xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x4x4x8x8x2xf32>) -> tensor<1x4x4x8x8x2xf32>
  %0 = linalg.depthwise_conv_3d_ndhwc_dhwcm {dilations = dense<[1, 1, 1]> : tensor<3xi64>, strides = dense<[1, 1, 1]> : tensor<3xi64>} ins(%a, %b : tensor<1x6x6x10x8xf32>, tensor<3x3x3x8x2xf32>) outs(%f : tensor<1x4x4x8x8x2xf32>) -> tensor<1x4x4x8x8x2xf32>
  return %0 : tensor<1x4x4x8x8x2xf32>
}

func.func @conv_3d_ncdhw_fcdhw(%a: tensor<1x8x6x6x10xf32>, %b: tensor<16x8x3x3x3xf32>) -> tensor<1x16x4x4x8xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x16x4x4x8xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x16x4x4x8xf32>) -> tensor<1x16x4x4x8xf32>
  %0 = linalg.conv_3d_ncdhw_fcdhw {dilations = dense<[1, 1, 1]> : tensor<3xi64>, strides = dense<[1, 1, 1]> : tensor<3xi64>} ins(%a, %b : tensor<1x8x6x6x10xf32>, tensor<16x8x3x3x3xf32>) outs(%f : tensor<1x16x4x4x8xf32>) -> tensor<1x16x4x4x8xf32>
  return %0 : tensor<1x16x4x4x8xf32>
}

func.func @conv_3d_ndhwc_dhwcf(%a: tensor<1x6x6x10x8xf32>, %b: tensor<3x3x3x8x16xf32>) -> tensor<1x4x4x8x16xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x4x4x8x16xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x4x4x8x16xf32>) -> tensor<1x4x4x8x16xf32>
  %0 = linalg.conv_3d_ndhwc_dhwcf {dilations = dense<[1, 1, 1]> : tensor<3xi64>, strides = dense<[1, 1, 1]> : tensor<3xi64>} ins(%a, %b : tensor<1x6x6x10x8xf32>, tensor<3x3x3x8x16xf32>) outs(%f : tensor<1x4x4x8x16xf32>) -> tensor<1x4x4x8x16xf32>
  return %0 : tensor<1x4x4x8x16xf32>
}

func.func @dot(%a: tensor<1000xf32>, %b: tensor<1000xf32>) -> tensor<f32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %0 = linalg.dot ins(%a, %b : tensor<1000xf32>, tensor<1000xf32>) outs(%f : tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
