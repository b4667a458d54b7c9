// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: %tgraph_opt --tgraph-select-layouts --split-input-file --verify-diagnostics %s
// RUN: %tgraph_opt --tgraph-apply-layouts --split-input-file --verify-diagnostics %s

func.func @twice(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>, %c: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error @below {{tgraph.layouts: an entry is not an order of dimensions}}
  %0 = linalg.matmul {tgraph.layouts = [[0, 0], [], []]}
    ins(%a, %b : tensor<4x8xf32>, tensor<8x4xf32>) outs(%c : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

func.func @rank(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>, %c: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error @below {{tgraph.layouts: an entry doesn't fit its operand}}
  %0 = linalg.matmul {tgraph.layouts = [[1, 0, 2], [], []]}
    ins(%a, %b : tensor<4x8xf32>, tensor<8x4xf32>) outs(%c : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

func.func @count(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>, %c: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error @below {{tgraph.layouts: not a list with an entry for each operand}}
  %0 = linalg.matmul {tgraph.layouts = [[1, 0]]}
    ins(%a, %b : tensor<4x8xf32>, tensor<8x4xf32>) outs(%c : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

func.func @dynamic(%a: tensor<?x8xf32>, %b: tensor<8x4xf32>, %c: tensor<?x4xf32>) -> tensor<?x4xf32> {
  // expected-error @below {{tgraph.layouts: an entry doesn't fit its operand, a tensor of static shape}}
  %0 = linalg.matmul {tgraph.layouts = [[0, 1], [], []]}
    ins(%a, %b : tensor<?x8xf32>, tensor<8x4xf32>) outs(%c : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----

func.func @elsewhere(%a: tensor<4xf32>) -> tensor<2x2xf32> {
  // expected-error @below {{tgraph.layouts: not on a structured operation}}
  %0 = tensor.expand_shape %a [[0, 1]] output_shape [2, 2] {tgraph.layouts = [[0, 1]]} : tensor<4xf32> into tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
