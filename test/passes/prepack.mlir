// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Weights that are marked are packed by @f_prepack and taken by @f_packed; the
// function itself stays and packs on its own.
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2 prepack' \
// RUN:   --tgraph-apply-layouts --canonicalize | FileCheck %s
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2 prepack' \
// RUN:   --tgraph-apply-layouts --tgraph-lower -o /dev/null
// Split once: a second run leaves the functions alone.
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2 prepack' --tgraph-apply-layouts \
// RUN:   --tgraph-select-layouts='target=avx2 prepack' --tgraph-apply-layouts --canonicalize | FileCheck %s
// RUN: not %tgraph_opt %s --tgraph-select-layouts='target=avx2 weights=1,x' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=LIST
// LIST: error: tgraph-select-layouts: option 'weights': '1,x' is no list of arguments such as 0,2-7
// RUN: not %tgraph_opt %s --tgraph-select-layouts='target=avx2 weights=0-9' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NONE
// NONE: error: tgraph-select-layouts: option 'weights': no function has an argument 3

#id = affine_map<(d0, d1) -> (d0, d1)>
#col = affine_map<(d0, d1) -> (d1)>

// The bias is a weight that is read as it is: it stays an argument. A weight that
// is transposed is packed from what it is stored as.
// CHECK-LABEL: func.func @linear(
// CHECK-SAME: %[[X:.*]]: tensor<100x96xf32>, %[[W:.*]]: tensor<144x96xf32> {tgraph.weight}, %{{.*}}: tensor<144xf32> {tgraph.weight})
// CHECK: %[[P:.*]] = call @[[PACK:.*_pack_rhs]](%[[W]])
// CHECK: call @[[KERNEL:tgraph_matmul_100x144x96_f32]](%[[X]], %[[P]],
// CHECK-LABEL: func.func @linear_prepack(
// CHECK-SAME: %[[W:.*]]: tensor<144x96xf32> {tgraph.weight}) -> [[PANELS:tensor<[^>]*>]] attributes
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

// What is computed of weights alone, assertion included, is computed once, and
// its end is passed. A reshape of it is made where it's read.
// CHECK-LABEL: func.func @norm(
// CHECK-LABEL: func.func @norm_prepack(
// CHECK-SAME: %[[VAR:.*]]: tensor<96xf32> {tgraph.weight}) -> tensor<96xf32>
// CHECK: %[[D:.*]] = call @[[CHAIN:tgraph_sqrt_divf_96]](%[[VAR]],
// CHECK: return %[[D]] :
// CHECK-LABEL: func.func @norm_packed(
// CHECK-SAME: %[[X:.*]]: tensor<1x64x96xf32>, %[[MEAN:.*]]: tensor<96xf32> {tgraph.weight}, %[[D:.*]]: tensor<96xf32>)
// CHECK-NOT: [[CHAIN]]
// CHECK: %[[R:.*]] = tensor.expand_shape %[[D]]
// CHECK: call @tgraph_mulf_{{.*}}(%[[X]], %[[MEAN]], %[[R]],
#id3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#last3 = affine_map<(d0, d1, d2) -> (d2)>
#last3one = affine_map<(d0, d1, d2) -> (0, d2)>
#one = affine_map<(d0) -> (d0)>
func.func @norm(%x: tensor<1x64x96xf32>, %mean: tensor<96xf32> {tgraph.weight}, %var: tensor<96xf32> {tgraph.weight}) -> tensor<1x64x96xf32> {
  %zero = arith.constant 0.0 : f32
  %unit = arith.constant 1.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %e1 = tensor.empty() : tensor<96xf32>
  %e = tensor.empty() : tensor<1x64x96xf32>
  %deviation = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%var : tensor<96xf32>) outs(%e1 : tensor<96xf32>) {
  ^bb0(%i: f32, %o: f32):
    %s = arith.addf %i, %eps : f32
    %r = math.sqrt %s : f32
    linalg.yield %r : f32
  } -> tensor<96xf32>
  %inverse = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%deviation : tensor<96xf32>) outs(%e1 : tensor<96xf32>) {
  ^bb0(%i: f32, %o: f32):
    %c = arith.cmpf one, %i, %zero : f32
    cf.assert %c, "zero"
    %q = arith.divf %unit, %i : f32
    linalg.yield %q : f32
  } -> tensor<96xf32>
  %d = tensor.expand_shape %inverse [[0, 1]] output_shape [1, 96] : tensor<96xf32> into tensor<1x96xf32>
  %r = linalg.generic {indexing_maps = [#id3, #last3, #last3one, #id3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %mean, %d : tensor<1x64x96xf32>, tensor<96xf32>, tensor<1x96xf32>) outs(%e : tensor<1x64x96xf32>) {
  ^bb0(%i: f32, %m: f32, %v: f32, %o: f32):
    %s = arith.subf %i, %m : f32
    %p = arith.mulf %s, %v : f32
    linalg.yield %p : f32
  } -> tensor<1x64x96xf32>
  return %r : tensor<1x64x96xf32>
}

// An assertion that is no part of a body moves along with what is computed.
// CHECK-LABEL: func.func @asserts_prepack(
// CHECK: cf.assert
// CHECK-LABEL: func.func @asserts_packed(
// CHECK-NOT: cf.assert
// CHECK: return
func.func @asserts(%x: tensor<96xf32>, %w: tensor<96xf32> {tgraph.weight}) -> tensor<96xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<96xf32>
  %first = tensor.extract %w[%c0] : tensor<96xf32>
  %c = arith.cmpf one, %first, %zero : f32
  cf.assert %c, "zero"
  %s = linalg.mul ins(%w, %w : tensor<96xf32>, tensor<96xf32>) outs(%e : tensor<96xf32>) -> tensor<96xf32>
  %r = linalg.add ins(%x, %s : tensor<96xf32>, tensor<96xf32>) outs(%e : tensor<96xf32>) -> tensor<96xf32>
  return %r : tensor<96xf32>
}

// Broadcasts are larger than what they are made of, a result belongs to who
// called, and what is written into can't be a panel: all are made anew.
// CHECK-LABEL: func.func @anew(
// CHECK-NOT: @anew_
func.func @anew(%x: tensor<64x96xf32>, %w: tensor<96xf32> {tgraph.weight}, %u: tensor<64x96xf32> {tgraph.weight}) -> (tensor<64x96xf32>, tensor<96x64xf32>, tensor<64x96xf32>) {
  %e = tensor.empty() : tensor<64x96xf32>
  %et = tensor.empty() : tensor<96x64xf32>
  %b = linalg.broadcast ins(%w : tensor<96xf32>) outs(%e : tensor<64x96xf32>) dimensions = [0]
  %s = linalg.add ins(%x, %b : tensor<64x96xf32>, tensor<64x96xf32>) outs(%e : tensor<64x96xf32>) -> tensor<64x96xf32>
  %t = linalg.transpose ins(%u : tensor<64x96xf32>) outs(%et : tensor<96x64xf32>) permutation = [1, 0]
  %twice = linalg.add ins(%u, %u : tensor<64x96xf32>, tensor<64x96xf32>) outs(%e : tensor<64x96xf32>) -> tensor<64x96xf32>
  %i = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<64x96xf32>) outs(%twice : tensor<64x96xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<64x96xf32>
  return %s, %t, %i : tensor<64x96xf32>, tensor<96x64xf32>, tensor<64x96xf32>
}

// A kernel's operand that is made of weights is packed beforehand, as are
// constants; a branch takes the panel.
// CHECK-LABEL: func.func @made_prepack(
// CHECK-SAME: %[[W:.*]]: tensor<96x96xf32> {tgraph.weight}) -> tensor<6x96x16xf32>
// CHECK: %[[V:.*]] = call @tgraph_mul_96x96(%[[W]],
// CHECK: %[[P:.*]] = call @tgraph_matmul_64x96x96_f32_pack_rhs(%[[V]])
// CHECK: return %[[P]] :
// CHECK-LABEL: func.func @made_packed(
// CHECK-NOT: _pack_
// CHECK: scf.if
// CHECK-NOT: _pack_
// CHECK: return
func.func @made(%x: tensor<64x96xf32>, %w: tensor<96x96xf32> {tgraph.weight}, %c: i1) -> tensor<64x96xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x96xf32>
  %ew = tensor.empty() : tensor<96x96xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x96xf32>) -> tensor<64x96xf32>
  %v = linalg.mul ins(%w, %w : tensor<96x96xf32>, tensor<96x96xf32>) outs(%ew : tensor<96x96xf32>) -> tensor<96x96xf32>
  %r = scf.if %c -> tensor<64x96xf32> {
    %m = linalg.matmul ins(%x, %v : tensor<64x96xf32>, tensor<96x96xf32>) outs(%f : tensor<64x96xf32>) -> tensor<64x96xf32>
    scf.yield %m : tensor<64x96xf32>
  } else {
    scf.yield %x : tensor<64x96xf32>
  }
  return %r : tensor<64x96xf32>
}

// CHECK-LABEL: func.func @constant_prepack() -> tensor<6x96x16xf32>
// CHECK-LABEL: func.func @constant_packed(
// CHECK-NOT: _pack_
// CHECK: return
func.func @constant(%x: tensor<64x96xf32>) -> tensor<64x96xf32> {
  %w = arith.constant dense<0.5> : tensor<96x96xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x96xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x96xf32>) -> tensor<64x96xf32>
  %m = linalg.matmul ins(%x, %w : tensor<64x96xf32>, tensor<96x96xf32>) outs(%f : tensor<64x96xf32>) -> tensor<64x96xf32>
  return %m : tensor<64x96xf32>
}
