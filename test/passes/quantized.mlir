// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products with zero points become products without, and sums over one input
// that are added behind: equal to the bit.
// REQUIRES: tool
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2 model=analytic' | FileCheck %s
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2 model=analytic' --tgraph-select-layouts='target=avx2 model=analytic' | FileCheck %s
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2 model=analytic' --tgraph-apply-layouts --verify-each | FileCheck %s --check-prefix=APPLIED
// RUN: %tgraph verify --function matmul --target avx512 %s | FileCheck %s --check-prefix=EQUAL
// RUN: %tgraph verify --function matmul --target avx2 %s | FileCheck %s --check-prefix=EQUAL
// RUN: %tgraph verify --function requantized --target avx512 %s | FileCheck %s --check-prefix=EQUAL
// RUN: %tgraph verify --function left_zero --target avx512 %s | FileCheck %s --check-prefix=EQUAL
// RUN: %tgraph verify --function no_zero --target avx512 %s | FileCheck %s --check-prefix=EQUAL
// RUN: %tgraph verify --function batch_matmul --target avx512 %s | FileCheck %s --check-prefix=EQUAL
// RUN: %tgraph verify --function conv_nhwc --target avx512 %s | FileCheck %s --check-prefix=EQUAL
// RUN: %tgraph verify --function conv_nhwc --target avx2 %s | FileCheck %s --check-prefix=EQUAL
// RUN: %tgraph verify --function conv_nchw --target avx512 %s | FileCheck %s --check-prefix=EQUAL
// RUN: %tgraph verify --function conv_nhwc_fhwc --target avx512 %s | FileCheck %s --check-prefix=EQUAL
// RUN: %tgraph verify --function conv_grouped --target avx512 %s | FileCheck %s --check-prefix=EQUAL
// RUN: %tgraph verify --function depthwise --target avx512 %s | FileCheck %s --check-prefix=EQUAL
// RUN: %tgraph verify --function unsigned_transposed --target avx512 %s | FileCheck %s --check-prefix=EQUAL
// RUN: %tgraph verify --function wraps --target avx512 %s | FileCheck %s --check-prefix=EQUAL
// EQUAL: equal max error

// APPLIED: @tgraph_quantized_matmul_37x53x70_i32

// CHECK-LABEL: func.func @matmul(
// CHECK-NOT: linalg.quantized_matmul
// CHECK: tgraph.config = {{.*}}schedule = "tiled"
// CHECK: arith.addi %{{.*}} : i32
func.func @matmul(%a: tensor<37x70xi8>, %b: tensor<70x53xi8>, %za: i32, %zb: i32, %c: tensor<37x53xi32>) -> tensor<37x53xi32> {
  %r = linalg.quantized_matmul ins(%a, %b, %za, %zb : tensor<37x70xi8>, tensor<70x53xi8>, i32, i32) outs(%c : tensor<37x53xi32>) -> tensor<37x53xi32>
  return %r : tensor<37x53xi32>
}

// Constants, and a requantisation behind.
func.func @requantized(%a: tensor<37x70xi8>, %b: tensor<70x53xi8>, %bias: tensor<53xi32>) -> tensor<37x53xi8> {
  %z = arith.constant 0 : i32
  %za = arith.constant -3 : i32
  %zb = arith.constant 7 : i32
  %scale = arith.constant 0.0005 : f32
  %low = arith.constant -128.0 : f32
  %high = arith.constant 127.0 : f32
  %e = tensor.empty() : tensor<37x53xi32>
  %f = linalg.fill ins(%z : i32) outs(%e : tensor<37x53xi32>) -> tensor<37x53xi32>
  %r = linalg.quantized_matmul ins(%a, %b, %za, %zb : tensor<37x70xi8>, tensor<70x53xi8>, i32, i32) outs(%f : tensor<37x53xi32>) -> tensor<37x53xi32>
  %n = tensor.empty() : tensor<37x53xi8>
  %q = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%r, %bias : tensor<37x53xi32>, tensor<53xi32>) outs(%n : tensor<37x53xi8>) {
  ^bb0(%x: i32, %y: i32, %o: i8):
    %0 = arith.addi %x, %y : i32
    %1 = arith.sitofp %0 : i32 to f32
    %2 = arith.mulf %1, %scale : f32
    %3 = arith.maximumf %2, %low : f32
    %4 = arith.minimumf %3, %high : f32
    %5 = arith.fptosi %4 : f32 to i8
    linalg.yield %5 : i8
  } -> tensor<37x53xi8>
  return %q : tensor<37x53xi8>
}

// The constant 0 adds nothing: the right input isn't summed.
// CHECK-LABEL: func.func @left_zero(
// CHECK-COUNT-1: "reduction"
// CHECK: tgraph.config = {{.*}}schedule = "tiled"
// CHECK: return
func.func @left_zero(%a: tensor<20x35xi8>, %b: tensor<35x48xi8>, %zb: i32, %c: tensor<20x48xi32>) -> tensor<20x48xi32> {
  %z = arith.constant 0 : i32
  %r = linalg.quantized_matmul ins(%a, %b, %z, %zb : tensor<20x35xi8>, tensor<35x48xi8>, i32, i32) outs(%c : tensor<20x48xi32>) -> tensor<20x48xi32>
  return %r : tensor<20x48xi32>
}

// CHECK-LABEL: func.func @no_zero(
// CHECK: %[[R:.*]] = linalg.generic {{.*}}tgraph.config
// CHECK-NOT: linalg.generic
// CHECK: return %[[R]]
func.func @no_zero(%a: tensor<20x35xi8>, %b: tensor<35x48xi8>, %c: tensor<20x48xi32>) -> tensor<20x48xi32> {
  %z = arith.constant 0 : i32
  %r = linalg.quantized_matmul ins(%a, %b, %z, %z : tensor<20x35xi8>, tensor<35x48xi8>, i32, i32) outs(%c : tensor<20x48xi32>) -> tensor<20x48xi32>
  return %r : tensor<20x48xi32>
}

// CHECK-LABEL: func.func @batch_matmul(
// CHECK: schedule = "tiled"
func.func @batch_matmul(%a: tensor<3x20x35xi8>, %b: tensor<3x35x48xi8>, %za: i32, %zb: i32, %c: tensor<3x20x48xi32>) -> tensor<3x20x48xi32> {
  %r = linalg.quantized_batch_matmul ins(%a, %b, %za, %zb : tensor<3x20x35xi8>, tensor<3x35x48xi8>, i32, i32) outs(%c : tensor<3x20x48xi32>) -> tensor<3x20x48xi32>
  return %r : tensor<3x20x48xi32>
}

// CHECK-LABEL: func.func @conv_nhwc(
// CHECK: schedule = "tiled"
func.func @conv_nhwc(%a: tensor<2x15x13x16xi8>, %b: tensor<3x3x16x24xi8>, %za: i32, %zb: i32, %c: tensor<2x7x6x24xi32>) -> tensor<2x7x6x24xi32> {
  %r = linalg.conv_2d_nhwc_hwcf_q {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%a, %b, %za, %zb : tensor<2x15x13x16xi8>, tensor<3x3x16x24xi8>, i32, i32) outs(%c : tensor<2x7x6x24xi32>) -> tensor<2x7x6x24xi32>
  return %r : tensor<2x7x6x24xi32>
}

// CHECK-LABEL: func.func @conv_nchw(
// CHECK: schedule = "tiled"
func.func @conv_nchw(%a: tensor<2x8x14x17xi8>, %b: tensor<12x8x3x3xi8>, %za: i32, %zb: i32, %c: tensor<2x12x10x13xi32>) -> tensor<2x12x10x13xi32> {
  %r = linalg.conv_2d_nchw_fchw_q {strides = dense<1> : tensor<2xi64>, dilations = dense<2> : tensor<2xi64>} ins(%a, %b, %za, %zb : tensor<2x8x14x17xi8>, tensor<12x8x3x3xi8>, i32, i32) outs(%c : tensor<2x12x10x13xi32>) -> tensor<2x12x10x13xi32>
  return %r : tensor<2x12x10x13xi32>
}

// CHECK-LABEL: func.func @conv_nhwc_fhwc(
// CHECK: schedule = "tiled"
func.func @conv_nhwc_fhwc(%a: tensor<1x9x10x8xi8>, %b: tensor<12x3x3x8xi8>, %za: i32, %zb: i32, %c: tensor<1x7x8x12xi32>) -> tensor<1x7x8x12xi32> {
  %r = linalg.conv_2d_nhwc_fhwc_q {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%a, %b, %za, %zb : tensor<1x9x10x8xi8>, tensor<12x3x3x8xi8>, i32, i32) outs(%c : tensor<1x7x8x12xi32>) -> tensor<1x7x8x12xi32>
  return %r : tensor<1x7x8x12xi32>
}

func.func @conv_grouped(%a: tensor<1x2x4x9x10xi8>, %b: tensor<2x6x4x3x3xi8>, %za: i32, %zb: i32, %c: tensor<1x2x6x7x8xi32>) -> tensor<1x2x6x7x8xi32> {
  %r = linalg.conv_2d_ngchw_gfchw_q {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%a, %b, %za, %zb : tensor<1x2x4x9x10xi8>, tensor<2x6x4x3x3xi8>, i32, i32) outs(%c : tensor<1x2x6x7x8xi32>) -> tensor<1x2x6x7x8xi32>
  return %r : tensor<1x2x6x7x8xi32>
}

func.func @depthwise(%a: tensor<1x9x10x20xi8>, %b: tensor<3x3x20xi8>, %za: i32, %zb: i32, %c: tensor<1x7x8x20xi32>) -> tensor<1x7x8x20xi32> {
  %r = linalg.depthwise_conv_2d_nhwc_hwc_q {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%a, %b, %za, %zb : tensor<1x9x10x20xi8>, tensor<3x3x20xi8>, i32, i32) outs(%c : tensor<1x7x8x20xi32>) -> tensor<1x7x8x20xi32>
  return %r : tensor<1x7x8x20xi32>
}

// A generic: unsigned on one side, a zero point of its own width from outside,
// factors and sum the other way round.
// CHECK-LABEL: func.func @unsigned_transposed(
// CHECK: schedule = "tiled"
func.func @unsigned_transposed(%a: tensor<20x35xi8>, %b: tensor<48x35xi8>, %za: i8, %zb: i32, %c: tensor<48x20xi32>) -> tensor<48x20xi32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> ()>, affine_map<(i, j, k) -> (j, i)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b, %za : tensor<20x35xi8>, tensor<48x35xi8>, i8) outs(%c : tensor<48x20xi32>) {
  ^bb0(%x: i8, %y: i8, %zx: i8, %o: i32):
    %0 = arith.extui %x : i8 to i32
    %1 = arith.extui %zx : i8 to i32
    %2 = arith.subi %0, %1 : i32
    %3 = arith.extsi %y : i8 to i32
    %4 = arith.subi %3, %zb : i32
    %5 = arith.muli %4, %2 : i32
    %6 = arith.addi %5, %o : i32
    linalg.yield %6 : i32
  } -> tensor<48x20xi32>
  return %r : tensor<48x20xi32>
}

// Zero points so large that everything wraps around.
func.func @wraps(%a: tensor<5x9xi8>, %b: tensor<9x33xi8>, %c: tensor<5x33xi32>) -> tensor<5x33xi32> {
  %za = arith.constant 2147483647 : i32
  %zb = arith.constant -1879048193 : i32
  %r = linalg.quantized_matmul ins(%a, %b, %za, %zb : tensor<5x9xi8>, tensor<9x33xi8>, i32, i32) outs(%c : tensor<5x33xi32>) -> tensor<5x33xi32>
  return %r : tensor<5x33xi32>
}

// Extents that are known at run time alone stay with the stock lowering, as
// does what says so.
// CHECK-LABEL: func.func @dynamic(
// CHECK: linalg.quantized_matmul
func.func @dynamic(%a: tensor<20x?xi8>, %b: tensor<?x48xi8>, %za: i32, %zb: i32, %c: tensor<20x48xi32>) -> tensor<20x48xi32> {
  %r = linalg.quantized_matmul ins(%a, %b, %za, %zb : tensor<20x?xi8>, tensor<?x48xi8>, i32, i32) outs(%c : tensor<20x48xi32>) -> tensor<20x48xi32>
  return %r : tensor<20x48xi32>
}
// CHECK-LABEL: func.func @skipped(
// CHECK: linalg.quantized_matmul
func.func @skipped(%a: tensor<20x35xi8>, %b: tensor<35x48xi8>, %za: i32, %zb: i32, %c: tensor<20x48xi32>) -> tensor<20x48xi32> attributes {tgraph.skip} {
  %r = linalg.quantized_matmul ins(%a, %b, %za, %zb : tensor<20x35xi8>, tensor<35x48xi8>, i32, i32) outs(%c : tensor<20x48xi32>) -> tensor<20x48xi32>
  return %r : tensor<20x48xi32>
}
