// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is left as it is still has nodes: unranked, dynamic, zero-sized,
// complex, index, sub-byte and memref operands, huge shapes. Declarations and
// nested modules have none, and nothing of it is configurable.
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2 model=analytic dump-graph=%t.dot' | FileCheck %s --check-prefix=KEPT
// RUN: FileCheck %s --implicit-check-not=peripheries < %t.dot
// KEPT-NOT: tgraph.config

module {
  func.func private @declared(tensor<4xf32>) -> tensor<4xf32>
  // CHECK: n0 [label="0 arg0\nparameter"];
  func.func @unranked(%a: tensor<*xf32>) -> tensor<*xf32> { return %a : tensor<*xf32> }
  // CHECK: linalg.matmul\ndot"];
  func.func @memref(%a: memref<4x4xf32>) {
    linalg.matmul ins(%a, %a : memref<4x4xf32>, memref<4x4xf32>) outs(%a : memref<4x4xf32>)
    return
  }
  // CHECK: linalg.matmul\ndot 0x4"];
  func.func @zero(%a: tensor<0x4xf32>, %b: tensor<4x4xf32>) -> tensor<0x4xf32> {
    %r = linalg.matmul ins(%a, %b : tensor<0x4xf32>, tensor<4x4xf32>) outs(%a : tensor<0x4xf32>) -> tensor<0x4xf32>
    return %r : tensor<0x4xf32>
  }
  // A dynamic dimension counts as 0.
  // CHECK: linalg.matmul\ndot 0x4"];
  func.func @dynamic(%a: tensor<?x4xi64>, %b: tensor<4x4xi64>) -> tensor<?x4xi64> {
    %r = linalg.matmul ins(%a, %b : tensor<?x4xi64>, tensor<4x4xi64>) outs(%a : tensor<?x4xi64>) -> tensor<?x4xi64>
    return %r : tensor<?x4xi64>
  }
  // CHECK: linalg.matmul\ndot 4x4"];
  func.func @complex(%a: tensor<4x4xcomplex<f32>>) -> tensor<4x4xcomplex<f32>> {
    %r = linalg.matmul ins(%a, %a : tensor<4x4xcomplex<f32>>, tensor<4x4xcomplex<f32>>) outs(%a : tensor<4x4xcomplex<f32>>) -> tensor<4x4xcomplex<f32>>
    return %r : tensor<4x4xcomplex<f32>>
  }
  // CHECK: arith.muli\nmultiply 4x4"];
  func.func @index(%a: tensor<4x4xindex>) -> tensor<4x4xindex> {
    %r = arith.muli %a, %a : tensor<4x4xindex>
    return %r : tensor<4x4xindex>
  }
  // CHECK: linalg.matmul\ndot 4x4"];
  func.func @sub_byte(%a: tensor<4x4xi4>, %c: tensor<4x4xi32>) -> tensor<4x4xi32> {
    %r = linalg.matmul ins(%a, %a : tensor<4x4xi4>, tensor<4x4xi4>) outs(%c : tensor<4x4xi32>) -> tensor<4x4xi32>
    return %r : tensor<4x4xi32>
  }
  // CHECK: linalg.matmul\ndot 9223372036854775808x2"];
  func.func @huge(%a: tensor<9223372036854775807x2xf32>, %b: tensor<2x2xf32>) -> tensor<9223372036854775807x2xf32> {
    %r = linalg.matmul ins(%a, %b : tensor<9223372036854775807x2xf32>, tensor<2x2xf32>) outs(%a : tensor<9223372036854775807x2xf32>) -> tensor<9223372036854775807x2xf32>
    return %r : tensor<9223372036854775807x2xf32>
  }
  // CHECK-NOT: 7x7
  module @nested {
    func.func @inner(%a: tensor<7x7xf32>) -> tensor<7x7xf32> {
      %r = linalg.matmul ins(%a, %a : tensor<7x7xf32>, tensor<7x7xf32>) outs(%a : tensor<7x7xf32>) -> tensor<7x7xf32>
      return %r : tensor<7x7xf32>
    }
  }
}
