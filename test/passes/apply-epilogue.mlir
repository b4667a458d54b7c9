// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elementwise consumers are done on the tile before it is stored: bias, relu
// and residual in one chain. A second user of a value ends the chain before it.
// RUN: %tgraph_opt %s --split-input-file --tgraph-select-layouts='target=avx2 model=analytic' --tgraph-apply-layouts --verify-each | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>

// CHECK-LABEL: func.func @chain
// CHECK-SAME: %[[A:.*]]: tensor<32x16xf32>, %[[B:.*]]: tensor<16x48xf32>, %[[V:.*]]: tensor<48xf32>, %[[R:.*]]: tensor<32x48xf32>)
// CHECK-NOT: linalg.generic
// CHECK: %[[RESULT:.*]] = call @tgraph_matmul_32x48x16_f32(%[[A]], %[[B]], %{{.*}}, %[[V]], %[[R]])
// CHECK-NEXT: return %[[RESULT]]
func.func @chain(%a: tensor<32x16xf32>, %b: tensor<16x48xf32>, %v: tensor<48xf32>, %res: tensor<32x48xf32>) -> tensor<32x48xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x48xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<32x48xf32>) -> tensor<32x48xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<32x16xf32>, tensor<16x48xf32>) outs(%f : tensor<32x48xf32>) -> tensor<32x48xf32>
  %1 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0, %v : tensor<32x48xf32>, tensor<48xf32>) outs(%e : tensor<32x48xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<32x48xf32>
  %2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%res, %1 : tensor<32x48xf32>, tensor<32x48xf32>) outs(%e : tensor<32x48xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<32x48xf32>
  %3 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%2 : tensor<32x48xf32>) outs(%e : tensor<32x48xf32>) {
  ^bb0(%x: f32, %o: f32):
    %zero = arith.constant 0.0 : f32
    %s = arith.maximumf %x, %zero : f32
    linalg.yield %s : f32
  } -> tensor<32x48xf32>
  return %3 : tensor<32x48xf32>
}
// CHECK: func.func private @tgraph_matmul_32x48x16_f32(
// CHECK-DAG: arith.addf
// CHECK-DAG: arith.maximumf
// CHECK: return

// -----

#id = affine_map<(i, j) -> (i, j)>

// CHECK-LABEL: func.func @two_users
// CHECK: %[[SUM:.*]] = call @tgraph_matmul_32x48x16_f32(%{{[a-z0-9]*}}, %{{[a-z0-9]*}}, %{{[a-z0-9]*}})
// CHECK: call @tgraph_negf_32x48(%[[SUM]],
// CHECK: return %[[SUM]], %
func.func @two_users(%a: tensor<32x16xf32>, %b: tensor<16x48xf32>, %c: tensor<32x48xf32>) -> (tensor<32x48xf32>, tensor<32x48xf32>) {
  %e = tensor.empty() : tensor<32x48xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<32x16xf32>, tensor<16x48xf32>) outs(%c : tensor<32x48xf32>) -> tensor<32x48xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0 : tensor<32x48xf32>) outs(%e : tensor<32x48xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.negf %x : f32
    linalg.yield %s : f32
  } -> tensor<32x48xf32>
  return %0, %1 : tensor<32x48xf32>, tensor<32x48xf32>
}

// -----

// A consumer with tgraph.skip, or one in another block, is not taken in.
#id = affine_map<(i, j) -> (i, j)>

// CHECK-LABEL: func.func @elsewhere
// CHECK: call @tgraph_
// CHECK: scf.if
// CHECK: call @tgraph_negf_
// CHECK: call @tgraph_matmul_
// CHECK: linalg.generic {{.*}}tgraph.skip
func.func @elsewhere(%p: i1, %a: tensor<32x16xf32>, %b: tensor<16x48xf32>, %c: tensor<32x48xf32>) -> (tensor<32x48xf32>, tensor<32x48xf32>) {
  %e = tensor.empty() : tensor<32x48xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<32x16xf32>, tensor<16x48xf32>) outs(%c : tensor<32x48xf32>) -> tensor<32x48xf32>
  %1 = scf.if %p -> tensor<32x48xf32> {
    %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%0 : tensor<32x48xf32>) outs(%e : tensor<32x48xf32>) {
    ^bb0(%x: f32, %o: f32):
      %s = arith.negf %x : f32
      linalg.yield %s : f32
    } -> tensor<32x48xf32>
    scf.yield %2 : tensor<32x48xf32>
  } else {
    scf.yield %c : tensor<32x48xf32>
  }
  %3 = linalg.matmul ins(%a, %b : tensor<32x16xf32>, tensor<16x48xf32>) outs(%c : tensor<32x48xf32>) -> tensor<32x48xf32>
  %4 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%3 : tensor<32x48xf32>) outs(%e : tensor<32x48xf32>) attrs = {tgraph.skip} {
  ^bb0(%x: f32, %o: f32):
    %s = arith.negf %x : f32
    linalg.yield %s : f32
  } -> tensor<32x48xf32>
  return %1, %4 : tensor<32x48xf32>, tensor<32x48xf32>
}

// -----

// A mask of bits is not read as vectors of floats: the select is a function of
// its own.
#id = affine_map<(i, j) -> (i, j)>

// CHECK-LABEL: func.func @mask
// CHECK: call @tgraph_matmul_32x48x16_f32(%{{[a-z0-9]*}}, %{{[a-z0-9]*}}, %{{[a-z0-9]*}})
// CHECK: call @tgraph_select_32x48(
func.func @mask(%a: tensor<32x16xf32>, %b: tensor<16x48xf32>, %c: tensor<32x48xf32>, %m: tensor<32x48xi1>) -> tensor<32x48xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<32x16xf32>, tensor<16x48xf32>) outs(%c : tensor<32x48xf32>) -> tensor<32x48xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0, %m : tensor<32x48xf32>, tensor<32x48xi1>) outs(%c : tensor<32x48xf32>) {
  ^bb0(%x: f32, %p: i1, %o: f32):
    %z = arith.constant 0.0 : f32
    %s = arith.select %p, %x, %z : f32
    linalg.yield %s : f32
  } -> tensor<32x48xf32>
  return %1 : tensor<32x48xf32>
}

// -----

// A tensor of one number without dimensions is read like any other input.
#id = affine_map<(i, j) -> (i, j)>
#none = affine_map<(i, j) -> ()>

// CHECK-LABEL: func.func @clamp
// CHECK-SAME: %[[A:.*]]: tensor<32x16xf32>, %[[B:.*]]: tensor<16x48xf32>, %[[MOST:.*]]: tensor<f32>)
// CHECK-NOT: linalg.generic
// CHECK: %[[RESULT:.*]] = call @tgraph_matmul_32x48x16_f32(%[[A]], %[[B]], %{{.*}}, %[[MOST]])
// CHECK-NEXT: return %[[RESULT]]
func.func @clamp(%a: tensor<32x16xf32>, %b: tensor<16x48xf32>, %most: tensor<f32>) -> tensor<32x48xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x48xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<32x48xf32>) -> tensor<32x48xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<32x16xf32>, tensor<16x48xf32>) outs(%f : tensor<32x48xf32>) -> tensor<32x48xf32>
  %1 = linalg.generic {indexing_maps = [#none, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%most, %0 : tensor<f32>, tensor<32x48xf32>) outs(%e : tensor<32x48xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.minimumf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<32x48xf32>
  return %1 : tensor<32x48xf32>
}
// CHECK: func.func private @tgraph_matmul_32x48x16_f32(
// CHECK: tensor.extract %arg3[]

// -----

// A value that two links read, one of them twice, stays in the tile; the
// kernel's own result, read by the last link, as well.
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>

// CHECK-LABEL: func.func @silu
// CHECK-SAME: %[[A:.*]]: tensor<32x16xf32>, %[[B:.*]]: tensor<16x48xf32>, %[[V:.*]]: tensor<48xf32>)
// CHECK-NOT: linalg.generic
// CHECK: %[[RESULT:.*]] = call @tgraph_matmul_32x48x16_f32(%[[A]], %[[B]], %{{.*}}, %[[V]])
// CHECK-NEXT: return %[[RESULT]]
func.func @silu(%a: tensor<32x16xf32>, %b: tensor<16x48xf32>, %v: tensor<48xf32>) -> tensor<32x48xf32> {
  %z = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<32x48xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<32x48xf32>) -> tensor<32x48xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<32x16xf32>, tensor<16x48xf32>) outs(%f : tensor<32x48xf32>) -> tensor<32x48xf32>
  %1 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0, %v : tensor<32x48xf32>, tensor<48xf32>) outs(%e : tensor<32x48xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<32x48xf32>
  %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%1 : tensor<32x48xf32>) outs(%e : tensor<32x48xf32>) {
  ^bb0(%x: f32, %o: f32):
    %n = arith.negf %x : f32
    %p = math.exp %n : f32
    %s = arith.addf %p, %one : f32
    %q = arith.divf %one, %s : f32
    linalg.yield %q : f32
  } -> tensor<32x48xf32>
  %3 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%1, %2 : tensor<32x48xf32>, tensor<32x48xf32>) outs(%e : tensor<32x48xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.mulf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<32x48xf32>
  %4 = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%3, %0, %3 : tensor<32x48xf32>, tensor<32x48xf32>, tensor<32x48xf32>) outs(%e : tensor<32x48xf32>) {
  ^bb0(%x: f32, %y: f32, %w: f32, %o: f32):
    %m = arith.mulf %x, %w : f32
    %s = arith.subf %m, %y : f32
    linalg.yield %s : f32
  } -> tensor<32x48xf32>
  return %4 : tensor<32x48xf32>
}

// -----

// What is read elsewhere as well ends the chain: the second link's result.
#id = affine_map<(i, j) -> (i, j)>

// CHECK-LABEL: func.func @shared
// CHECK: %[[SUM:.*]] = call @tgraph_matmul_32x48x16_f32(%{{[a-z0-9]*}}, %{{[a-z0-9]*}}, %{{[a-z0-9]*}}, %{{[a-z0-9]*}})
// CHECK: %[[LAST:.*]] = call @tgraph_mulf_32x48(%[[SUM]], %{{.*}})
// CHECK: return %[[SUM]], %[[LAST]]
func.func @shared(%a: tensor<32x16xf32>, %b: tensor<16x48xf32>, %c: tensor<32x48xf32>, %r: tensor<32x48xf32>) -> (tensor<32x48xf32>, tensor<32x48xf32>) {
  %e = tensor.empty() : tensor<32x48xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<32x16xf32>, tensor<16x48xf32>) outs(%c : tensor<32x48xf32>) -> tensor<32x48xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0, %r : tensor<32x48xf32>, tensor<32x48xf32>) outs(%e : tensor<32x48xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<32x48xf32>
  %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%1 : tensor<32x48xf32>) outs(%e : tensor<32x48xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.mulf %x, %x : f32
    linalg.yield %s : f32
  } -> tensor<32x48xf32>
  return %1, %2 : tensor<32x48xf32>, tensor<32x48xf32>
}
