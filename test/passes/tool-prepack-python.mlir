// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// frontend/compiled.py packs the weights where it binds arguments: what is written to them later isn't seen. Packing
// again frees the old panels.
// REQUIRES: tool
// RUN: %python %S/Inputs/call_prepacked.py %s %tgraph | FileCheck %s

// CHECK: first: 48.0
// CHECK: another input: 144.0
// CHECK: bound anew: 576.0
// CHECK: kept after 200 more packings: 0

func.func @main(%x: tensor<100x96xf32>, %w: tensor<96x144xf32>) -> tensor<100x144xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<100x144xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<100x144xf32>) -> tensor<100x144xf32>
  %m = linalg.matmul ins(%x, %w : tensor<100x96xf32>, tensor<96x144xf32>) outs(%f : tensor<100x144xf32>) -> tensor<100x144xf32>
  return %m : tensor<100x144xf32>
}
