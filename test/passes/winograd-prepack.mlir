// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A filter that is a weight is transformed once, by @f_prepack.
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx512 reassociate prepack weights=1' -o %t.chosen
// RUN: FileCheck %s --check-prefix=CHOSEN < %t.chosen
// RUN: %tgraph_opt %t.chosen --tgraph-select-layouts='target=avx512' | cmp - %t.chosen
// RUN: %tgraph_opt %t.chosen --tgraph-apply-layouts | FileCheck %s
// Without the option the filter is transformed inside.
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx512 reassociate weights=1' \
// RUN:   | FileCheck %s --check-prefix=INSIDE --implicit-check-not='prepack ='
// INSIDE: winograd = 4
// RUN: sed 's/%%w: \(tensor<[^>]*>\)/%%w: \1 {tgraph.other}/; s/"rhs"/"lhs"/' %t.chosen | not %tgraph_opt - --tgraph-apply-layouts 2>&1 \
// RUN:   | FileCheck %s --check-prefix=IMAGE
// IMAGE: error: tgraph-apply-layouts: tgraph.config: 'prepack' lists "lhs", which isn't made of constants and arguments marked with tgraph.weight alone

// CHOSEN-LABEL: @nchw
// CHOSEN: pack = [], prepack = ["rhs"]{{.*}}winograd = 4
// CHOSEN-LABEL: @nhwc
// CHOSEN: pack = [], prepack = ["rhs"]{{.*}}winograd = 4
// CHOSEN-LABEL: @nhwc_fhwc
// CHOSEN: pack = [], prepack = ["rhs"]{{.*}}winograd = 4

// CHECK-LABEL: func.func @nchw_prepack(
// CHECK-SAME: %[[W:.*]]: tensor<52x40x3x3xf32> {tgraph.weight}) -> tensor<36x{{[0-9]+}}x40x{{[0-9]+}}xf32>
// CHECK: %[[U:.*]] = call @tgraph_conv_2d_nchw_fchw_{{.*}}_pack_rhs(%[[W]])
// CHECK: return %[[U]]
// CHECK-LABEL: func.func @nchw_packed(
// CHECK-SAME: %[[X:.*]]: tensor<1x40x22x24xf32>, %[[U:.*]]: tensor<36x{{.*}}xf32>)
// CHECK: call @tgraph_conv_2d_nchw_fchw_{{[0-9x]*}}_f32(%[[X]], %[[U]],
func.func @nchw(%x: tensor<1x40x22x24xf32>, %w: tensor<52x40x3x3xf32>) -> tensor<1x52x20x22xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x52x20x22xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x52x20x22xf32>) -> tensor<1x52x20x22xf32>
  %r = linalg.conv_2d_nchw_fchw {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%x, %w : tensor<1x40x22x24xf32>, tensor<52x40x3x3xf32>) outs(%f : tensor<1x52x20x22xf32>) -> tensor<1x52x20x22xf32>
  return %r : tensor<1x52x20x22xf32>
}

func.func @nhwc(%x: tensor<2x22x24x40xf32>, %w: tensor<3x3x40x52xf32>) -> tensor<2x20x22x52xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x20x22x52xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x20x22x52xf32>) -> tensor<2x20x22x52xf32>
  %r = linalg.conv_2d_nhwc_hwcf {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%x, %w : tensor<2x22x24x40xf32>, tensor<3x3x40x52xf32>) outs(%f : tensor<2x20x22x52xf32>) -> tensor<2x20x22x52xf32>
  return %r : tensor<2x20x22x52xf32>
}

func.func @nhwc_fhwc(%x: tensor<1x22x24x40xf32>, %w: tensor<52x3x3x40xf32>) -> tensor<1x20x22x52xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x20x22x52xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x20x22x52xf32>) -> tensor<1x20x22x52xf32>
  %r = linalg.conv_2d_nhwc_fhwc {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%x, %w : tensor<1x22x24x40xf32>, tensor<52x3x3x40xf32>) outs(%f : tensor<1x20x22x52xf32>) -> tensor<1x20x22x52xf32>
  return %r : tensor<1x20x22x52xf32>
}
