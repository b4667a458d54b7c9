// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// frontend/compiled.py: an object of `tgraph object` as a function in Python. Each block is freed once.
// REQUIRES: tool
// RUN: %python %S/Inputs/call_compiled.py %s %tgraph | FileCheck %s

// CHECK: signature: 2x3xf32 3x2xf32 i64 -> 2x2xf32 2x3xf32 i64
// CHECK: product: {{\[\[}}4.0, 5.0], [10.0, 11.0]{{\]}} argument: {{\[\[}}1.0, 2.0, 3.0], [4.0, 5.0, 6.0]{{\]}} count: 8
// CHECK: freed: 0
// CHECK: freed: 1
// CHECK: freed: 11
// CHECK: bound: {{\[\[}}13.0, 5.0], [10.0, 11.0]{{\]}}
// CHECK: error: the program takes 3 arguments, but got 2
// CHECK: error: argument 1 is 3x2xf32, but got <f4 of shape (2, 3)
// CHECK: error: argument 0 is 2x3xf32, but got <f8 of shape (2, 3)
// CHECK: error: tgraph: error: /no/such.mlir

func.func @main(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %n: i64)
    -> (tensor<2x2xf32>, tensor<2x3xf32>, i64) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1 : i64
  %empty = tensor.empty() : tensor<2x2xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x2xf32>) -> tensor<2x2xf32>
  %r = linalg.matmul ins(%a, %b : tensor<2x3xf32>, tensor<3x2xf32>)
    outs(%init : tensor<2x2xf32>) -> tensor<2x2xf32>
  %m = arith.addi %n, %one : i64
  return %r, %a, %m : tensor<2x2xf32>, tensor<2x3xf32>, i64
}
