// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tgraph.skip on an operation, a function or a module leaves it alone: nothing
// is chosen, what stands there is neither read nor carried out.
// RUN: %tgraph_opt %s --split-input-file --tgraph-select-layouts='target=avx2 model=analytic' --tgraph-apply-layouts --verify-each \
// RUN:   | FileCheck %s --implicit-check-not='call @' --implicit-check-not='tgraph.config = {'

// CHECK-LABEL: @operation
func.func @operation(%a: tensor<32x32xf32>) -> tensor<32x32xf32> {
  // CHECK: linalg.matmul {tgraph.skip} ins
  %r = linalg.matmul {tgraph.skip} ins(%a, %a : tensor<32x32xf32>, tensor<32x32xf32>) outs(%a : tensor<32x32xf32>) -> tensor<32x32xf32>
  // CHECK: linalg.matmul {tgraph.config = "mine", tgraph.skip} ins
  %s = linalg.matmul {tgraph.skip, tgraph.config = "mine"} ins(%r, %a : tensor<32x32xf32>, tensor<32x32xf32>) outs(%a : tensor<32x32xf32>) -> tensor<32x32xf32>
  // CHECK: linalg.matmul {tgraph.config = "mine"} ins
  %p = arith.constant true
  %t = scf.if %p -> tensor<32x32xf32> {
    %u = linalg.matmul {tgraph.config = "mine"} ins(%r, %a : tensor<32x32xf32>, tensor<32x32xf32>) outs(%a : tensor<32x32xf32>) -> tensor<32x32xf32>
    scf.yield %u : tensor<32x32xf32>
  } else {
    scf.yield %s : tensor<32x32xf32>
  } {tgraph.skip}
  return %t : tensor<32x32xf32>
}
// CHECK-LABEL: @function
// CHECK: linalg.matmul ins
func.func @function(%a: tensor<32x32xf32>) -> tensor<32x32xf32> attributes {tgraph.skip} {
  %r = linalg.matmul ins(%a, %a : tensor<32x32xf32>, tensor<32x32xf32>) outs(%a : tensor<32x32xf32>) -> tensor<32x32xf32>
  return %r : tensor<32x32xf32>
}

// -----

module attributes {tgraph.skip} {
  // CHECK-LABEL: @in_module
  // CHECK: linalg.matmul ins
  func.func @in_module(%a: tensor<32x32xf32>) -> tensor<32x32xf32> {
    %r = linalg.matmul ins(%a, %a : tensor<32x32xf32>, tensor<32x32xf32>) outs(%a : tensor<32x32xf32>) -> tensor<32x32xf32>
    return %r : tensor<32x32xf32>
  }
}
