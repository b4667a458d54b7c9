// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TARGET: avx2
// Three sweeps over a row, and its maximum and sum in registers.
#full = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @f0(%x: tensor<5x67xf32>) -> tensor<5x67xf32> attributes {llvm.emit_c_interface} {
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x67xf32>
  %r = tensor.empty() : tensor<5xf32>
  %least = linalg.fill ins(%low : f32) outs(%r : tensor<5xf32>) -> tensor<5xf32>
  %none = linalg.fill ins(%zero : f32) outs(%r : tensor<5xf32>) -> tensor<5xf32>
  %max = linalg.generic {indexing_maps = [#full, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<5x67xf32>) outs(%least : tensor<5xf32>) {
  ^bb0(%a: f32, %b: f32):
    %m = arith.maximumf %a, %b : f32
    linalg.yield %m : f32
  } -> tensor<5xf32>
  %exp = linalg.generic {indexing_maps = [#full, #row, #full], iterator_types = ["parallel", "parallel"]}
      ins(%x, %max : tensor<5x67xf32>, tensor<5xf32>) outs(%e : tensor<5x67xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %d = arith.subf %a, %b : f32
    %f = math.exp %d : f32
    linalg.yield %f : f32
  } -> tensor<5x67xf32>
  %sum = linalg.generic {indexing_maps = [#full, #row], iterator_types = ["parallel", "reduction"]}
      ins(%exp : tensor<5x67xf32>) outs(%none : tensor<5xf32>) {
  ^bb0(%a: f32, %b: f32):
    %m = arith.addf %a, %b : f32
    linalg.yield %m : f32
  } -> tensor<5xf32>
  %y = linalg.generic {indexing_maps = [#full, #row, #full], iterator_types = ["parallel", "parallel"]}
      ins(%exp, %sum : tensor<5x67xf32>, tensor<5xf32>) outs(%e : tensor<5x67xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %d = arith.divf %a, %b : f32
    linalg.yield %d : f32
  } -> tensor<5x67xf32>
  return %y : tensor<5x67xf32>
}
