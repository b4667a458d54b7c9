// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TARGET: generic
func.func @f(%a: tensor<6x7xf32>, %b: tensor<7x9xf32>, %c: tensor<6x9xf32>) -> tensor<6x9xf32> attributes {llvm.emit_c_interface} {
  %r = linalg.matmul {tgraph.config = {version = 1, schedule = "tiled", vector_loops = [1], row_loops = [0], register_rows = 4, register_vectors = 2, unroll = 3, cache_vector = 0, cache_rows = 0, cache_reduction = 5, innermost = "rows", pack = ["rhs"]}} ins(%a, %b : tensor<6x7xf32>, tensor<7x9xf32>) outs(%c : tensor<6x9xf32>) -> tensor<6x9xf32>
  return %r : tensor<6x9xf32>
}
