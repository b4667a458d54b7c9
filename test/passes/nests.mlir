// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations that are no sums of products: which of them become one function,
// in how many sweeps over a row, and where values are in between.
// RUN: %tgraph_opt %s --split-input-file --tgraph-select-layouts='target=avx2 model=analytic' | FileCheck %s --check-prefix=SELECT
// RUN: %tgraph_opt %s --split-input-file --tgraph-select-layouts='target=avx2 model=analytic' --tgraph-apply-layouts --verify-each | FileCheck %s
// RUN: %tgraph_opt %s --split-input-file --tgraph-cpu='target=generic model=analytic' --verify-each -o /dev/null

// One function, three sweeps: the maximum; the exponentials, which stay in a
// buffer of one row, and their sum; the division.
// SELECT-LABEL: @softmax
// SELECT: tgraph.config = {register_vectors = {{[0-9]+}} : i64, schedule = "vector", vector_loops = [1], version = 1 : i64}
// SELECT-COUNT-3: tgraph.config = {
// CHECK-LABEL: func.func @softmax
// CHECK-NOT: linalg.generic
// CHECK: call @tgraph_maximumf_exp_addf_96x128(%{{[a-z0-9]+}}, %{{[a-z0-9]+}}) :
// CHECK-NEXT: return
// CHECK: func.func private @tgraph_maximumf_exp_addf_96x128(
// CHECK-DAG: bufferization.alloc_tensor() : tensor<128xf32>
// CHECK: scf.for
// CHECK: scf.for
// CHECK: arith.maximumf %{{.*}} : vector<8xf32>
// CHECK: scf.yield
// CHECK: scf.for
// CHECK: math.fma
// CHECK: vector.transfer_write %{{.*}} : vector<8xf32>, tensor<128xf32>
// CHECK: arith.addf %{{.*}} : vector<8xf32>
// CHECK: scf.yield
// CHECK: scf.for
// CHECK: vector.transfer_read %{{.*}} : tensor<128xf32>, vector<8xf32>
// CHECK: arith.divf %{{.*}} : vector<8xf32>
// CHECK: vector.transfer_write %{{.*}} : vector<8xf32>, tensor<96x128xf32>
// CHECK-NOT: scf.for
#full = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @softmax(%a: tensor<96x128xf32>) -> tensor<96x128xf32> {
  %low = arith.constant 0xFF800000 : f32
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<96x128xf32>
  %v = tensor.empty() : tensor<96xf32>
  %f = linalg.fill ins(%low : f32) outs(%v : tensor<96xf32>) -> tensor<96xf32>
  %g = linalg.fill ins(%z : f32) outs(%v : tensor<96xf32>) -> tensor<96xf32>
  %m = linalg.generic {indexing_maps = [#full, #row], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<96x128xf32>) outs(%f : tensor<96xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.maximumf %x, %o : f32
    linalg.yield %s : f32
  } -> tensor<96xf32>
  %p = linalg.generic {indexing_maps = [#full, #row, #full], iterator_types = ["parallel", "parallel"]} ins(%a, %m : tensor<96x128xf32>, tensor<96xf32>) outs(%e : tensor<96x128xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.subf %x, %y : f32
    %q = math.exp %s : f32
    linalg.yield %q : f32
  } -> tensor<96x128xf32>
  %u = linalg.generic {indexing_maps = [#full, #row], iterator_types = ["parallel", "reduction"]} ins(%p : tensor<96x128xf32>) outs(%g : tensor<96xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.addf %x, %o : f32
    linalg.yield %s : f32
  } -> tensor<96xf32>
  %r = linalg.generic {indexing_maps = [#full, #row, #full], iterator_types = ["parallel", "parallel"]} ins(%p, %u : tensor<96x128xf32>, tensor<96xf32>) outs(%e : tensor<96x128xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.divf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<96x128xf32>
  return %r : tensor<96x128xf32>
}

// -----

// One function for the whole; what depends on the row alone is a scalar.
// CHECK-LABEL: func.func @layernorm
// CHECK-NOT: linalg.generic
// CHECK: call @tgraph_addf_subf_addf_16x768(
// CHECK-NEXT: return
// CHECK: func.func private @tgraph_addf_subf_addf_16x768(
// CHECK: math.rsqrt %{{.*}} : f32
// CHECK: arith.mulf %{{.*}} : vector<8xf32>
#full = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>
func.func @layernorm(%a: tensor<16x768xf32>, %scale: tensor<768xf32>) -> tensor<16x768xf32> {
  %n = arith.constant 768.0 : f32
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x768xf32>
  %v = tensor.empty() : tensor<16xf32>
  %g = linalg.fill ins(%z : f32) outs(%v : tensor<16xf32>) -> tensor<16xf32>
  %m = linalg.generic {indexing_maps = [#full, #row], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<16x768xf32>) outs(%g : tensor<16xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.addf %x, %o : f32
    linalg.yield %s : f32
  } -> tensor<16xf32>
  %d = linalg.generic {indexing_maps = [#full, #row, #full], iterator_types = ["parallel", "parallel"]} ins(%a, %m : tensor<16x768xf32>, tensor<16xf32>) outs(%e : tensor<16x768xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.divf %y, %n : f32
    %q = arith.subf %x, %s : f32
    linalg.yield %q : f32
  } -> tensor<16x768xf32>
  %u = linalg.generic {indexing_maps = [#full, #row], iterator_types = ["parallel", "reduction"]} ins(%d : tensor<16x768xf32>) outs(%g : tensor<16xf32>) {
  ^bb0(%x: f32, %o: f32):
    %p = arith.mulf %x, %x : f32
    %s = arith.addf %p, %o : f32
    linalg.yield %s : f32
  } -> tensor<16xf32>
  %r = linalg.generic {indexing_maps = [#full, #row, #column, #full], iterator_types = ["parallel", "parallel"]} ins(%d, %u, %scale : tensor<16x768xf32>, tensor<16xf32>, tensor<768xf32>) outs(%e : tensor<16x768xf32>) {
  ^bb0(%x: f32, %y: f32, %w: f32, %o: f32):
    %s = arith.divf %y, %n : f32
    %q = math.rsqrt %s : f32
    %p = arith.mulf %x, %q : f32
    %t = arith.mulf %p, %w : f32
    linalg.yield %t : f32
  } -> tensor<16x768xf32>
  return %r : tensor<16x768xf32>
}

// -----

// Square tiles are transposed in registers.
// CHECK-LABEL: func.func @transpose
// CHECK: call @tgraph_transpose_64x48(
// CHECK: func.func private @tgraph_transpose_64x48(
// CHECK-COUNT-8: vector.transfer_read %{{.*}} : tensor<64x48xf32>, vector<8xf32>
// CHECK: vector.shuffle
// CHECK-COUNT-8: vector.transfer_write %{{.*}} : vector<8xf32>, tensor<48x64xf32>
func.func @transpose(%a: tensor<64x48xf32>) -> tensor<48x64xf32> {
  %e = tensor.empty() : tensor<48x64xf32>
  %r = linalg.transpose ins(%a : tensor<64x48xf32>) outs(%e : tensor<48x64xf32>) permutation = [1, 0]
  return %r : tensor<48x64xf32>
}

// -----

// Vectors along a row of results, whose inputs are two apart.
// SELECT-LABEL: @maxpool
// SELECT: vector_loops = [3]
// CHECK-LABEL: func.func @maxpool
// CHECK: call @tgraph_pooling_nchw_max_1x4x34x34(
// CHECK: func.func private @tgraph_pooling_nchw_max_1x4x34x34(
// CHECK: vector.shuffle
// CHECK: arith.maximumf %{{.*}} : vector<8xf32>
func.func @maxpool(%a: tensor<1x4x34x34xf32>) -> tensor<1x4x16x16xf32> {
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<1x4x16x16xf32>
  %w = tensor.empty() : tensor<3x3xf32>
  %f = linalg.fill ins(%low : f32) outs(%e : tensor<1x4x16x16xf32>) -> tensor<1x4x16x16xf32>
  %r = linalg.pooling_nchw_max {strides = dense<2> : vector<2xi64>, dilations = dense<1> : vector<2xi64>} ins(%a, %w : tensor<1x4x34x34xf32>, tensor<3x3xf32>) outs(%f : tensor<1x4x16x16xf32>) -> tensor<1x4x16x16xf32>
  return %r : tensor<1x4x16x16xf32>
}

// -----

// Rows of a table: their number is a scalar, the row is read as vectors.
// SELECT-LABEL: @gather
// SELECT: vector_loops = [1]
// CHECK-LABEL: func.func @gather
// CHECK: call @tgraph_extract_16(
// CHECK: func.func private @tgraph_extract_16(
// CHECK: arith.index_cast %{{.*}} : i32 to index
// CHECK: vector.transfer_read %{{.*}} : tensor<50x64xf32>, vector<8xf32>
func.func @gather(%t: tensor<50x64xf32>, %i: tensor<16xi32>) -> tensor<16x64xf32> {
  %e = tensor.empty() : tensor<16x64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%i : tensor<16xi32>) outs(%e : tensor<16x64xf32>) {
  ^bb0(%x: i32, %o: f32):
    %k = arith.index_cast %x : i32 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %t[%k, %j] : tensor<50x64xf32>
    linalg.yield %v : f32
  } -> tensor<16x64xf32>
  return %r : tensor<16x64xf32>
}

// -----

// The first largest element: in order, so along the rows of results; the
// maximum itself, which nobody uses, is in registers alone.
// SELECT-LABEL: @argmax
// SELECT: vector_loops = [0]
// CHECK-LABEL: func.func @argmax
// CHECK: call @tgraph_select_64x100(%{{.*}}) : (tensor<64x100xf32>, tensor<64xi64>) -> tensor<64xi64>
// CHECK: func.func private @tgraph_select_64x100(
// CHECK: arith.cmpf ogt, %{{.*}} : vector<8xf32>
// CHECK: arith.select %{{.*}} : vector<8xi1>, vector<8xi64>
func.func @argmax(%a: tensor<64x100xf32>) -> tensor<64xi64> {
  %low = arith.constant 0xFF800000 : f32
  %z = arith.constant 0 : i64
  %e = tensor.empty() : tensor<64xf32>
  %w = tensor.empty() : tensor<64xi64>
  %f = linalg.fill ins(%low : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %g = linalg.fill ins(%z : i64) outs(%w : tensor<64xi64>) -> tensor<64xi64>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<64x100xf32>) outs(%f, %g : tensor<64xf32>, tensor<64xi64>) {
  ^bb0(%x: f32, %o: f32, %p: i64):
    %i = linalg.index 1 : index
    %k = arith.index_cast %i : index to i64
    %c = arith.cmpf ogt, %x, %o : f32
    %s = arith.select %c, %x, %o : f32
    %t = arith.select %c, %k, %p : i64
    linalg.yield %s, %t : f32, i64
  } -> (tensor<64xf32>, tensor<64xi64>)
  return %r#1 : tensor<64xi64>
}

// -----

// A value that is read outside, before the last of a chain: two functions.
// CHECK-LABEL: func.func @between
// CHECK: %[[FIRST:.*]] = call @tgraph_negf_16x16(
// CHECK: tensor.extract %[[FIRST]]
// CHECK: call @tgraph_mulf_16x16(
#id = affine_map<(i, j) -> (i, j)>
func.func @between(%a: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %e = tensor.empty() : tensor<16x16xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<16x16xf32>) outs(%e : tensor<16x16xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.negf %x : f32
    linalg.yield %s : f32
  } -> tensor<16x16xf32>
  %c = arith.constant 3 : index
  %k = tensor.extract %0[%c, %c] : tensor<16x16xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<16x16xf32>) outs(%e : tensor<16x16xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.mulf %x, %k : f32
    linalg.yield %s : f32
  } -> tensor<16x16xf32>
  return %1 : tensor<16x16xf32>
}
