// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In a block that nothing reaches, a value may come from itself: whoever looks
// along the producers of an operand has to stop.
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2 model=analytic' | FileCheck %s
// CHECK: linalg.matmul {tgraph.config = {{.*}}schedule = "tiled"
func.func @f(%a: tensor<4x16xf32>, %c: tensor<4x16xf32>) -> tensor<4x16xf32> {
  return %a : tensor<4x16xf32>
^bb1:
  %e = tensor.empty() : tensor<4x4xf32>
  %t = linalg.transpose ins(%t : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) permutation = [1, 0]
  %s = tensor.expand_shape %g [[0, 1], [2]] output_shape [2, 2, 16] : tensor<4x16xf32> into tensor<2x2x16xf32>
  %g = tensor.collapse_shape %s [[0, 1], [2]] : tensor<2x2x16xf32> into tensor<4x16xf32>
  %r = linalg.matmul ins(%t, %g : tensor<4x4xf32>, tensor<4x16xf32>) outs(%c : tensor<4x16xf32>) -> tensor<4x16xf32>
  cf.br ^bb1
}
