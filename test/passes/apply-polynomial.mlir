// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Transcendental functions in a chain behind a kernel are vectors of plain
// arithmetic: no operation of math that would become a call is left. Without
// fused multiplication none is used.
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2 model=analytic' --tgraph-apply-layouts --verify-each | FileCheck %s --check-prefixes=CHECK,FUSED
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=generic model=analytic' --tgraph-apply-layouts --verify-each | FileCheck %s --check-prefixes=CHECK,PLAIN
// RUN: %tgraph_opt %s --tgraph-cpu='target=avx2 model=analytic' | FileCheck %s --check-prefix=LOW

#id = affine_map<(i, j) -> (i, j)>

// CHECK-LABEL: func.func @chain
// CHECK-NOT: math.{{exp|erf|tanh|log}}
// CHECK-LABEL: func.func private @tgraph_matmul_32x48x16_f32(
// CHECK-NOT: math.{{exp|erf|tanh|log}}
// FUSED: math.fma {{.*}} : vector<8xf32>
// FUSED: arith.bitcast {{.*}} : vector<8xi32> to vector<8xf32>
// PLAIN-NOT: math.fma
// PLAIN: arith.bitcast {{.*}} : vector<4xi32> to vector<4xf32>
// CHECK-NOT: math.{{exp|erf|tanh|log}}
// CHECK: return
// LOW-NOT: @{{exp|erf|tanh|log}}
// LOW-NOT: llvm.intr.{{exp|log}}
func.func @chain(%a: tensor<32x16xf32>, %b: tensor<16x48xf32>) -> tensor<32x48xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x48xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<32x48xf32>) -> tensor<32x48xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<32x16xf32>, tensor<16x48xf32>) outs(%f : tensor<32x48xf32>) -> tensor<32x48xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0 : tensor<32x48xf32>) outs(%e : tensor<32x48xf32>) {
  ^bb0(%x: f32, %o: f32):
    %one = arith.constant 1.0 : f32
    %p = math.erf %x : f32
    %q = math.exp %p : f32
    %r = math.tanh %q : f32
    %s = arith.addf %r, %one : f32
    %t = math.log %s : f32
    linalg.yield %t : f32
  } -> tensor<32x48xf32>
  return %1 : tensor<32x48xf32>
}
