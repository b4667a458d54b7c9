// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a nested module holds is not ours, a configuration in it included; the
// outer module's functions are. A name taken inside is free outside.
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2 model=analytic' --tgraph-apply-layouts --verify-each | FileCheck %s
// CHECK: tgraph.chosen = 0
// CHECK-LABEL: func.func @outer
// CHECK: call @tgraph_matmul_16x16x16_f32(
// CHECK: module @inner {
// CHECK: func.func private @tgraph_matmul_16x16x16_f32()
// CHECK: linalg.matmul ins
// CHECK: linalg.matmul {tgraph.config = "mine"} ins
// CHECK: func.func private @tgraph_matmul_16x16x16_f32(%
module {
  func.func @outer(%a: tensor<16x16xf32>) -> tensor<16x16xf32> {
    %r = linalg.matmul ins(%a, %a : tensor<16x16xf32>, tensor<16x16xf32>) outs(%a : tensor<16x16xf32>) -> tensor<16x16xf32>
    return %r : tensor<16x16xf32>
  }
  module @inner {
    func.func private @tgraph_matmul_16x16x16_f32()
    func.func @f(%a: tensor<16x16xf32>) -> tensor<16x16xf32> {
      %r = linalg.matmul ins(%a, %a : tensor<16x16xf32>, tensor<16x16xf32>) outs(%a : tensor<16x16xf32>) -> tensor<16x16xf32>
      %s = linalg.matmul {tgraph.config = "mine"} ins(%r, %a : tensor<16x16xf32>, tensor<16x16xf32>) outs(%a : tensor<16x16xf32>) -> tensor<16x16xf32>
      return %s : tensor<16x16xf32>
    }
  }
}
