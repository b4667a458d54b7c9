// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TARGET: avx2
// The second stage asks for the index of a loop of one iteration, whose number
// is that of a loop of the first stage.
#full = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#row = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @f0(%x: tensor<3x4x9xi32>, %y: tensor<3x4x1xi32>) -> tensor<3x4xi64> attributes {llvm.emit_c_interface} {
  %zero = arith.constant 0 : i32
  %none = arith.constant 0 : i64
  %e = tensor.empty() : tensor<3x4xi32>
  %w = tensor.empty() : tensor<3x4xi64>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<3x4xi32>) -> tensor<3x4xi32>
  %g = linalg.fill ins(%none : i64) outs(%w : tensor<3x4xi64>) -> tensor<3x4xi64>
  %0 = linalg.generic {indexing_maps = [#full, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x : tensor<3x4x9xi32>) outs(%f : tensor<3x4xi32>)
      attrs = {tgraph.config = {version = 1, schedule = "vector", vector_loops = [1], register_vectors = 1}} {
  ^bb0(%a: i32, %o: i32):
    %s = arith.addi %a, %o : i32
    linalg.yield %s : i32
  } -> tensor<3x4xi32>
  %1 = linalg.generic {indexing_maps = [#full, #row, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%y, %0 : tensor<3x4x1xi32>, tensor<3x4xi32>) outs(%g : tensor<3x4xi64>)
      attrs = {tgraph.config = {version = 1, schedule = "vector", vector_loops = [1], register_vectors = 1}} {
  ^bb0(%a: i32, %b: i32, %o: i64):
    %i = linalg.index 2 : index
    %j = arith.index_cast %i : index to i64
    %c = arith.muli %a, %b : i32
    %d = arith.extsi %c : i32 to i64
    %s = arith.addi %d, %j : i64
    %t = arith.addi %s, %o : i64
    linalg.yield %t : i64
  } -> tensor<3x4xi64>
  return %1 : tensor<3x4xi64>
}
