// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
func.func @chain(%a: tensor<24xf32>) -> tensor<24xi32> {
  %e = tensor.empty() : tensor<24xi32>
  %g = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
    ins(%a : tensor<24xf32>) outs(%e : tensor<24xi32>) {
  ^bb0(%x: f32, %o: i32):
    %b = arith.bitcast %x : f32 to i32
    linalg.yield %b : i32
  } -> tensor<24xi32>
  return %g : tensor<24xi32>
}
