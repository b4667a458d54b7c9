// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Weights that are marked are packed by @f_prepack and taken by @f_packed; the
// function itself stays and packs on its own.
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2 prepack' \
// RUN:   --tgraph-apply-layouts --canonicalize | FileCheck %s
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2 prepack' \
// RUN:   --tgraph-apply-layouts --tgraph-lower -o /dev/null
// RUN: not %tgraph_opt %s --tgraph-select-layouts='target=avx2 weights=1,x' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=LIST
// LIST: error: tgraph-select-layouts: option 'weights': '1,x' is no list of arguments such as 0,2-7
// RUN: not %tgraph_opt %s --tgraph-select-layouts='target=avx2 weights=0-9' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NONE
// NONE: error: tgraph-select-layouts: option 'weights': no function has an argument 3

#id = affine_map<(d0, d1) -> (d0, d1)>
#col = affine_map<(d0, d1) -> (d1)>

// The bias is a weight that nothing packs: it stays an argument. A weight that
// is transposed is packed from what it is stored as.
// CHECK-LABEL: func.func @linear(
// CHECK-SAME: %[[X:.*]]: tensor<100x96xf32>, %[[W:.*]]: tensor<144x96xf32> {tgraph.weight}, %{{.*}}: tensor<144xf32> {tgraph.weight})
// CHECK: %[[P:.*]] = call @[[PACK:.*_pack_rhs]](%[[W]])
// CHECK: call @[[KERNEL:tgraph_matmul_100x144x96_f32]](%[[X]], %[[P]],
// CHECK-LABEL: func.func @linear_prepack(
// CHECK-SAME: %[[W:.*]]: tensor<144x96xf32> {tgraph.weight}) -> [[PANELS:tensor<.*>]] {
// CHECK: %[[P:.*]] = call @[[PACK]](%[[W]])
// CHECK: return %[[P]]
// CHECK-LABEL: func.func @linear_packed(
// CHECK-SAME: %[[X:.*]]: tensor<100x96xf32>, %[[B:.*]]: tensor<144xf32> {tgraph.weight}, %[[P:.*]]: [[PANELS]])
// CHECK-NOT: _pack_
// CHECK: call @[[KERNEL]](%[[X]], %[[P]], %{{.*}}, %[[B]])
func.func @linear(%x: tensor<100x96xf32>, %w: tensor<144x96xf32> {tgraph.weight}, %b: tensor<144xf32> {tgraph.weight}) -> tensor<100x144xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<100x144xf32>
  %et = tensor.empty() : tensor<96x144xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<100x144xf32>) -> tensor<100x144xf32>
  %wt = linalg.transpose ins(%w : tensor<144x96xf32>) outs(%et : tensor<96x144xf32>) permutation = [1, 0]
  %m = linalg.matmul ins(%x, %wt : tensor<100x96xf32>, tensor<96x144xf32>) outs(%f : tensor<100x144xf32>) -> tensor<100x144xf32>
  %r = linalg.generic {indexing_maps = [#id, #col, #id], iterator_types = ["parallel", "parallel"]} ins(%m, %b : tensor<100x144xf32>, tensor<144xf32>) outs(%e : tensor<100x144xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %s = arith.addf %a, %c : f32
    linalg.yield %s : f32
  } -> tensor<100x144xf32>
  return %r : tensor<100x144xf32>
}

// One weight, packed in the same way for two calls, is one panel; used as it
// is, too, it stays an argument.
// CHECK-LABEL: func.func @twice_prepack(
// CHECK-COUNT-1: _pack_rhs
// CHECK: return %{{[^,]*}} :
// CHECK-LABEL: func.func @twice_packed(
// CHECK-SAME: tensor<64x96xf32>, %[[W:.*]]: tensor<96x96xf32> {tgraph.weight}, %[[P:[^:]*]]: tensor<
// CHECK: call @{{.*}}(%{{.*}}, %[[P]],
// CHECK: call @{{.*}}(%{{.*}}, %[[P]],
// CHECK: return %{{.*}}, %[[W]]
func.func @twice(%x: tensor<64x96xf32>, %w: tensor<96x96xf32> {tgraph.weight}) -> (tensor<64x96xf32>, tensor<96x96xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x96xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x96xf32>) -> tensor<64x96xf32>
  %m = linalg.matmul ins(%x, %w : tensor<64x96xf32>, tensor<96x96xf32>) outs(%f : tensor<64x96xf32>) -> tensor<64x96xf32>
  %n = linalg.matmul ins(%m, %w : tensor<64x96xf32>, tensor<96x96xf32>) outs(%f : tensor<64x96xf32>) -> tensor<64x96xf32>
  return %n, %w : tensor<64x96xf32>, tensor<96x96xf32>
}

// Not marked: packed inside, as without the option.
// CHECK-LABEL: func.func @unmarked(
// CHECK-NOT: @unmarked_
func.func @unmarked(%x: tensor<64x96xf32>, %w: tensor<96x96xf32>) -> tensor<64x96xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x96xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x96xf32>) -> tensor<64x96xf32>
  %m = linalg.matmul ins(%x, %w : tensor<64x96xf32>, tensor<96x96xf32>) outs(%f : tensor<64x96xf32>) -> tensor<64x96xf32>
  return %m : tensor<64x96xf32>
}
