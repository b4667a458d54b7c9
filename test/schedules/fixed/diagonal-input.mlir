// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TARGET: generic
func.func @f(%a: tensor<9x7xf32>, %b: tensor<7xf32>, %c: tensor<3x3xf32>, %e: tensor<3x3xf32>) -> tensor<3x3xf32> attributes {llvm.emit_c_interface} {
  %a3 = tensor.expand_shape %a [[0, 1], [2]] output_shape [3, 3, 7] : tensor<9x7xf32> into tensor<3x3x7xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"], tgraph.config = {version = 1, schedule = "tiled", vector_loops = [0, 1], row_loops = [], register_rows = 1, register_vectors = 2, unroll = 3, cache_vector = 0, cache_rows = 0, cache_reduction = 0, innermost = "rows", pack = ["lhs"]}} ins(%a3, %b : tensor<3x3x7xf32>, tensor<7xf32>) outs(%c : tensor<3x3xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %m = arith.mulf %x, %y : f32
    %s = arith.addf %z, %m : f32
    linalg.yield %s : f32
  } -> tensor<3x3xf32>
  %o = tensor.empty() : tensor<3x3xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%r, %e : tensor<3x3xf32>, tensor<3x3xf32>) outs(%o : tensor<3x3xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<3x3xf32>
  return %t : tensor<3x3xf32>
}
