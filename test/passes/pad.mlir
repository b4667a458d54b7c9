// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pads of static shapes become functions of vector copies; others stay.
// REQUIRES: tool
// RUN: %tgraph_opt %s --tgraph-select-layouts='model=analytic target=avx2' --tgraph-apply-layouts --verify-each | FileCheck %s
// RUN: %tgraph_opt %s --tgraph-select-layouts='model=none target=avx2' --tgraph-apply-layouts | FileCheck %s --check-prefix=NONE --implicit-check-not=tgraph_pad
// RUN: %tgraph_opt %s --tgraph-cpu=target=avx2 --verify-each | FileCheck %s --check-prefix=LOWERED
// RUN: %tgraph verify --target avx2 --function image %s
// RUN: %tgraph verify --target avx2 --function bytes %s
// RUN: %tgraph verify --target avx2 --function half %s
// RUN: %tgraph verify --target generic --function brain %s
// RUN: %tgraph verify --target generic --function doubles %s
// RUN: %tgraph verify --target avx2 --function short %s
// RUN: %tgraph verify --target avx2 --function long %s
// RUN: %tgraph verify --target generic,vector_bits=64 --function outer %s
// RUN: %tgraph verify --target avx2 --function scalar_value %s

// One function for both, given the value.
// CHECK-LABEL: func.func @image
// CHECK: call @[[PAD:tgraph_pad_1x3x9x9xf32]](
// CHECK: call @[[PAD]](
// NONE-LABEL: func.func @image
// NONE: tensor.pad
// The result is written in place and not returned.
// LOWERED: llvm.call @tgraph_pad_1x3x9x9xf32({{.*}}) : ({{.*}}) -> ()
func.func @image(%a: tensor<1x3x7x7xf32>, %b: tensor<1x3x7x7xf32>) -> (tensor<1x3x9x9xf32>, tensor<1x3x9x9xf32>) {
  %c = arith.constant 0.0 : f32
  %0 = tensor.pad %a low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %c : f32
  } : tensor<1x3x7x7xf32> to tensor<1x3x9x9xf32>
  %1 = tensor.pad %b low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    %m = arith.constant 0xFF800000 : f32
    tensor.yield %m : f32
  } : tensor<1x3x7x7xf32> to tensor<1x3x9x9xf32>
  %e = tensor.empty() : tensor<1x3x9x9xf32>
  // Infinities prove nothing; the maximum has none.
  %2 = linalg.max ins(%0, %1 : tensor<1x3x9x9xf32>, tensor<1x3x9x9xf32>) outs(%e : tensor<1x3x9x9xf32>) -> tensor<1x3x9x9xf32>
  return %0, %2 : tensor<1x3x9x9xf32>, tensor<1x3x9x9xf32>
}

// CHECK-LABEL: func.func @bytes
// CHECK: call @tgraph_pad_8x41xi8
func.func @bytes(%a: tensor<5x37xi8> {tgraph.below = 100 : i64}) -> tensor<8x41xi8> {
  %c = arith.constant 7 : i8
  %0 = tensor.pad %a low[1, 3] high[2, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %c : i8
  } : tensor<5x37xi8> to tensor<8x41xi8>
  return %0 : tensor<8x41xi8>
}

// CHECK-LABEL: func.func @half
// CHECK: call @tgraph_pad_2x4x33xf16
func.func @half(%a: tensor<2x3x33xf16>) -> tensor<2x4x33xf16> {
  %c = arith.constant 2.0 : f16
  %0 = tensor.pad %a low[0, 1, 0] high[0, 0, 0] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %c : f16
  } : tensor<2x3x33xf16> to tensor<2x4x33xf16>
  return %0 : tensor<2x4x33xf16>
}

// CHECK-LABEL: func.func @brain
// CHECK: call @tgraph_pad_6x22xbf16
func.func @brain(%a: tensor<5x17xbf16>) -> tensor<6x22xbf16> {
  %c = arith.constant 2.0 : bf16
  %0 = tensor.pad %a low[1, 0] high[0, 5] {
  ^bb0(%i: index, %j: index):
    tensor.yield %c : bf16
  } : tensor<5x17xbf16> to tensor<6x22xbf16>
  return %0 : tensor<6x22xbf16>
}

// CHECK-LABEL: func.func @doubles
// CHECK: call @tgraph_pad_2x3x4x5x6xf64
func.func @doubles(%a: tensor<1x1x1x1x1xf64>) -> tensor<2x3x4x5x6xf64> {
  %c = arith.constant 2.0 : f64
  %0 = tensor.pad %a low[1, 0, 1, 0, 2] high[0, 2, 2, 4, 3] {
  ^bb0(%i: index, %j: index, %k: index, %l: index, %m: index):
    tensor.yield %c : f64
  } : tensor<1x1x1x1x1xf64> to tensor<2x3x4x5x6xf64>
  return %0 : tensor<2x3x4x5x6xf64>
}

// CHECK-LABEL: func.func @short
// CHECK: call @tgraph_pad_4xi32
func.func @short(%a: tensor<3xi32> {tgraph.below = 100 : i64}) -> tensor<4xi32> {
  %c = arith.constant 7 : i32
  %0 = tensor.pad %a low[0] high[1] {
  ^bb0(%i: index):
    tensor.yield %c : i32
  } : tensor<3xi32> to tensor<4xi32>
  return %0 : tensor<4xi32>
}

// A loop over the row, and vectors that overlap it behind.
// CHECK-LABEL: func.func @long
// CHECK: call @tgraph_pad_2003xf32
func.func @long(%a: tensor<1001xf32>) -> tensor<2003xf32> {
  %c = arith.constant 7.0 : f32
  %0 = tensor.pad %a low[901] high[101] {
  ^bb0(%i: index):
    tensor.yield %c : f32
  } : tensor<1001xf32> to tensor<2003xf32>
  return %0 : tensor<2003xf32>
}

// Whole images before and behind.
// CHECK-LABEL: func.func @outer
// CHECK: call @tgraph_pad_6x5x5x3xf32
func.func @outer(%a: tensor<3x4x4x3xf32>) -> tensor<6x5x5x3xf32> {
  %c = arith.constant -0.5 : f32
  %0 = tensor.pad %a low[2, 1, 0, 0] high[1, 0, 1, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %c : f32
  } : tensor<3x4x4x3xf32> to tensor<6x5x5x3xf32>
  return %0 : tensor<6x5x5x3xf32>
}

// CHECK-LABEL: func.func @scalar_value
// CHECK: call @tgraph_pad_3x10xf32
func.func @scalar_value(%a: tensor<2x9xf32>, %c: f32) -> tensor<3x10xf32> {
  %0 = tensor.pad %a low[1, 0] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %c : f32
  } : tensor<2x9xf32> to tensor<3x10xf32>
  return %0 : tensor<3x10xf32>
}

// CHECK-LABEL: func.func @left
// CHECK-COUNT-6: tensor.pad
func.func @left(%a: tensor<2x9xf32>, %b: tensor<?x9xf32>, %e: tensor<0x9xf32>, %q: tensor<2x9xi4>, %n: index, %x: f32, %y: i4) -> (tensor<2x12xf32>, tensor<?x10xf32>, tensor<2x9xf32>, tensor<2x10xi4>, tensor<2x?xf32>, tensor<2x10xf32>) {
  // The value depends on the place.
  %0 = tensor.pad %a low[0, 1] high[0, 2] {
  ^bb0(%i: index, %j: index):
    %k = arith.index_cast %j : index to i32
    %f = arith.sitofp %k : i32 to f32
    tensor.yield %f : f32
  } : tensor<2x9xf32> to tensor<2x12xf32>
  %1 = tensor.pad %b low[0, 1] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %x : f32
  } : tensor<?x9xf32> to tensor<?x10xf32>
  %2 = tensor.pad %e low[1, 0] high[1, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %x : f32
  } : tensor<0x9xf32> to tensor<2x9xf32>
  %3 = tensor.pad %q low[0, 1] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %y : i4
  } : tensor<2x9xi4> to tensor<2x10xi4>
  %4 = tensor.pad %a low[0, %n] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %x : f32
  } : tensor<2x9xf32> to tensor<2x?xf32>
  %5 = tensor.pad %a low[0, 1] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %x : f32
  } {tgraph.skip} : tensor<2x9xf32> to tensor<2x10xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<2x12xf32>, tensor<?x10xf32>, tensor<2x9xf32>, tensor<2x10xi4>, tensor<2x?xf32>, tensor<2x10xf32>
}
