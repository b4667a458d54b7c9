// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TARGET: avx2
// A row of the copy is a buffer, of which the second operation reads the element
// that has the row's number.
#id = affine_map<(d0, d1) -> (d0, d1)>
#diagonal = affine_map<(d0, d1) -> (d0, d0)>
#turned = affine_map<(d0, d1) -> (d1, d0)>
func.func @f0(%x: tensor<17x17xf32>, %y: tensor<9x17xf32>) -> tensor<9x17xf32> attributes {llvm.emit_c_interface} {
  %e = tensor.empty() : tensor<17x17xf32>
  %g = tensor.empty() : tensor<9x17xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<17x17xf32>) outs(%e : tensor<17x17xf32>)
      attrs = {tgraph.config = {version = 1, schedule = "vector", vector_loops = [1], register_vectors = 1}} {
  ^bb0(%a: f32, %o: f32):
    %n = arith.negf %a : f32
    linalg.yield %n : f32
  } -> tensor<17x17xf32>
  %1 = linalg.generic {indexing_maps = [#diagonal, #turned, #turned], iterator_types = ["parallel", "parallel"]}
      ins(%0, %y : tensor<17x17xf32>, tensor<9x17xf32>) outs(%g : tensor<9x17xf32>)
      attrs = {tgraph.config = {version = 1, schedule = "vector", vector_loops = [0], register_vectors = 1}} {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<9x17xf32>
  return %1 : tensor<9x17xf32>
}
