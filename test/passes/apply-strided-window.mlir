// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A window of stride 2 along unpacked vectors: the positions of the window are
// shuffled out of pieces that are read once.
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2 model=analytic' --tgraph-apply-layouts --verify-each --canonicalize --cse | FileCheck %s

// CHECK-LABEL: func.func private @tgraph_depthwise_conv_2d_nchw_chw
// CHECK: vector.transfer_read
// CHECK: vector.shuffle
func.func @strided(%a: tensor<1x8x65x65xf32>, %w: tensor<8x3x3xf32>) -> tensor<1x8x32x32xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x8x32x32xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x8x32x32xf32>) -> tensor<1x8x32x32xf32>
  %r = linalg.depthwise_conv_2d_nchw_chw {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}
      ins(%a, %w : tensor<1x8x65x65xf32>, tensor<8x3x3xf32>) outs(%f : tensor<1x8x32x32xf32>) -> tensor<1x8x32x32xf32>
  return %r : tensor<1x8x32x32xf32>
}
