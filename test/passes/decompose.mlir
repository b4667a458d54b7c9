// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Softmax and gather become generics before the choice, so that their parts
// have choices; the rest is written out before bufferization.
// REQUIRES: tool
// RUN: %tgraph_opt %s --tgraph-select-layouts=model=analytic | FileCheck %s --check-prefix=CHOSEN
// RUN: %tgraph_opt %s --tgraph-select-layouts=model=none | FileCheck %s --check-prefix=NONE
// RUN: %tgraph_opt %s --tgraph-cpu --verify-each | FileCheck %s --implicit-check-not='linalg.' --implicit-check-not='tensor.' --implicit-check-not=tgraph.decompose
// RUN: %tgraph verify --function=softmax %s
// RUN: %tgraph verify --function=gather %s
// RUN: %tgraph verify --function=whole %s
// RUN: %tgraph verify --function=winograd_filter %s
// RUN: %tgraph verify --function=winograd_input %s
// RUN: %tgraph verify --function=winograd_output %s

// CHOSEN-LABEL: @softmax
// CHOSEN-NOT: linalg.softmax
// CHOSEN: arith.maxnumf
// CHOSEN: math.exp
// CHOSEN: arith.addf
// CHOSEN: arith.divf
// NONE-LABEL: @softmax
// NONE: linalg.softmax dimension(1)
// CHECK-LABEL: llvm.func @softmax
func.func @softmax(%a: tensor<3x17x5xf32>) -> tensor<3x17x5xf32> {
  %e = tensor.empty() : tensor<3x17x5xf32>
  %0 = linalg.softmax dimension(1) ins(%a : tensor<3x17x5xf32>) outs(%e : tensor<3x17x5xf32>) -> tensor<3x17x5xf32>
  return %0 : tensor<3x17x5xf32>
}

// CHOSEN-LABEL: @skipped
// CHOSEN: linalg.softmax
// CHOSEN: tensor.gather
func.func @skipped(%a: tensor<?x8xf64>, %e: tensor<?x8xf64>, %i: tensor<4x1xindex>) -> (tensor<?x8xf64>, tensor<4x8xf64>) attributes {tgraph.skip} {
  %0 = linalg.softmax dimension(0) ins(%a : tensor<?x8xf64>) outs(%e : tensor<?x8xf64>) -> tensor<?x8xf64>
  %1 = tensor.gather %a[%i] gather_dims([0]) : (tensor<?x8xf64>, tensor<4x1xindex>) -> tensor<4x8xf64>
  return %0, %1 : tensor<?x8xf64>, tensor<4x8xf64>
}

// CHOSEN-LABEL: @gather
// CHOSEN-NOT: tensor.gather
// CHOSEN: linalg.generic
// CHOSEN: tensor.extract
// CHOSEN: arith.index_cast
// NONE-LABEL: @gather
// NONE: tensor.gather
func.func @gather(%a: tensor<8x33x4xf32>, %i: tensor<6x5x2xi32> {tgraph.below = 4 : i64}) -> tensor<6x5x33xf32> {
  %0 = tensor.gather %a[%i] gather_dims([0, 2]) : (tensor<8x33x4xf32>, tensor<6x5x2xi32>) -> tensor<6x5x33xf32>
  return %0 : tensor<6x5x33xf32>
}

// The gathered dimensions stay with extent one.
func.func @whole(%a: tensor<8x33x4xf32>, %i: tensor<6x1xindex> {tgraph.below = 33 : i64}) -> tensor<6x8x1x4xf32> {
  %0 = tensor.gather %a[%i] gather_dims([1]) : (tensor<8x33x4xf32>, tensor<6x1xindex>) -> tensor<6x8x1x4xf32>
  return %0 : tensor<6x8x1x4xf32>
}

func.func @dynamic(%a: tensor<?x33x?xf32>, %i: tensor<?x5x2xi32>) -> tensor<?x5x33xf32> {
  %0 = tensor.gather %a[%i] gather_dims([0, 2]) : (tensor<?x33x?xf32>, tensor<?x5x2xi32>) -> tensor<?x5x33xf32>
  return %0 : tensor<?x5x33xf32>
}

func.func @winograd_filter(%a: tensor<2x3x3x5xf32>) -> tensor<6x6x5x2xf32> {
  %e = tensor.empty() : tensor<6x6x5x2xf32>
  %0 = linalg.winograd_filter_transform fmr(F_4_3) ins(%a : tensor<2x3x3x5xf32>) outs(%e : tensor<6x6x5x2xf32>) -> tensor<6x6x5x2xf32>
  return %0 : tensor<6x6x5x2xf32>
}
func.func @winograd_input(%a: tensor<2x10x10x5xf32>) -> tensor<6x6x2x2x2x5xf32> {
  %e = tensor.empty() : tensor<6x6x2x2x2x5xf32>
  %0 = linalg.winograd_input_transform fmr(F_4_3) ins(%a : tensor<2x10x10x5xf32>) outs(%e : tensor<6x6x2x2x2x5xf32>) -> tensor<6x6x2x2x2x5xf32>
  return %0 : tensor<6x6x2x2x2x5xf32>
}
func.func @winograd_output(%a: tensor<6x6x2x2x2x2xf32>, %e: tensor<2x8x8x2xf32>) -> tensor<2x8x8x2xf32> {
  %0 = linalg.winograd_output_transform fmr(F_4_3) ins(%a : tensor<6x6x2x2x2x2xf32>) outs(%e : tensor<2x8x8x2xf32>) -> tensor<2x8x8x2xf32>
  return %0 : tensor<2x8x8x2xf32>
}
