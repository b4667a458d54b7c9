// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Nests in code that is never reached, and reductions whose flags exclude what
// usually changes nothing.
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2 model=analytic' --tgraph-apply-layouts --verify-each | FileCheck %s
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2 model=analytic' | FileCheck %s --check-prefix=PROMISED
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// An operation may be its own destination there, or be used before it.
// CHECK-LABEL: func.func @unreachable(
// CHECK: ^bb1:
func.func @unreachable(%a: tensor<96x64xf32>) -> tensor<96x64xf32> {
  return %a : tensor<96x64xf32>
^bb1:
  %n = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%e : tensor<96x64xf32>) outs(%a : tensor<96x64xf32>) {
  ^bb0(%p: f32, %o: f32):
    %s = arith.addf %p, %o : f32
    linalg.yield %s : f32
  } -> tensor<96x64xf32>
  %e = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%n : tensor<96x64xf32>) outs(%e : tensor<96x64xf32>) {
  ^bb0(%p: f32, %o: f32):
    %s = arith.addf %p, %o : f32
    linalg.yield %s : f32
  } -> tensor<96x64xf32>
  cf.br ^bb1
}

// Lanes start with numbers that the flags allow.
// CHECK-LABEL: func.func private @tgraph_maxnumf_7x13(
// CHECK: arith.constant dense<-3.40282347E+38> : vector<8xf32>
func.func @flags(%a: tensor<7x13xf32>, %b: tensor<7xf32>) -> tensor<7xf32> {
  %r = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<7x13xf32>) outs(%b : tensor<7xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.maxnumf %x, %o fastmath<nnan,ninf> : f32
    linalg.yield %s : f32
  } -> tensor<7xf32>
  return %r : tensor<7xf32>
}

// CHECK-LABEL: func.func private @tgraph_minimumf_7x13(
// CHECK: arith.constant dense<0x7F800000> : vector<8xf32>
func.func @nan(%a: tensor<7x13xf32>, %b: tensor<7xf32>) -> tensor<7xf32> {
  %r = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<7x13xf32>) outs(%b : tensor<7xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.minimumf %x, %o fastmath<nnan> : f32
    linalg.yield %s : f32
  } -> tensor<7xf32>
  return %r : tensor<7xf32>
}

// A sum that promises not to overflow promises it of its own order: the rows
// are the vector, not the sum.
// PROMISED-LABEL: func.func @promised_sum(
// PROMISED: vector_loops = [0]
func.func @promised_sum(%x: tensor<40x37xi32>, %i: tensor<40xi32>) -> tensor<40xi32> {
  %r = linalg.generic {
      indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<40x37xi32>) outs(%i : tensor<40xi32>) {
  ^bb0(%a: i32, %o: i32):
    %s = arith.addi %a, %o overflow<nsw> : i32
    linalg.yield %s : i32
  } -> tensor<40xi32>
  return %r : tensor<40xi32>
}
