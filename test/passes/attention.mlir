// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two batches of products with a softmax between them become a loop over parts
// of the batch; nothing of it is copied, and nothing allocated inside.
// REQUIRES: tool
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2 model=analytic attention=1' | FileCheck %s
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2 model=analytic attention=1' --tgraph-select-layouts='target=avx2 model=analytic attention=1' | FileCheck %s
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2 model=analytic attention=whole' | FileCheck %s --check-prefix=WHOLE
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2,l2_nbytes=65536 model=analytic' | FileCheck %s --check-prefix=AUTO
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2 model=analytic attention=5' | FileCheck %s --check-prefix=FIVE
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2 model=analytic attention=1' --tgraph-apply-layouts --verify-each | FileCheck %s --check-prefix=APPLIED
// RUN: %tgraph_opt %s --tgraph-cpu='target=avx2 model=analytic attention=1' | FileCheck %s --check-prefix=LOWERED
// RUN: not %tgraph_opt %s --tgraph-select-layouts='target=avx2 attention=some' 2>&1 | FileCheck %s --check-prefix=OPTION
// RUN: %tgraph verify --attention 1 --function plain --target avx512 %s | FileCheck %s --check-prefix=EQUAL
// RUN: %tgraph verify --attention 2 --function plain --target avx2 %s | FileCheck %s --check-prefix=EQUAL
// RUN: %tgraph verify --attention 1 --model none --function plain %s | FileCheck %s --check-prefix=EQUAL
// RUN: %tgraph verify --attention 1 --function masked --target avx512 %s | FileCheck %s --check-prefix=EQUAL
// RUN: %tgraph verify --attention 3 --function masked --target avx512 %s | FileCheck %s --check-prefix=EQUAL
// RUN: %tgraph verify --attention 6 --function masked --target avx2 %s | FileCheck %s --check-prefix=EQUAL
// RUN: %tgraph verify --attention 1 --function scores_kept --target avx512 %s | FileCheck %s --check-prefix=EQUAL
// EQUAL: equal max error
// OPTION: option 'attention': 'some' is neither auto, whole, nor a number of heads

// Heads are done one by one, or as many as fit, from a divisor of them.
// CHECK-LABEL: func.func @plain(
// CHECK: scf.for %[[HEAD:.*]] = %c0 to %c4 step %c1 iter_args(%[[ALL:.*]] = %{{.*}}) -> (tensor<4x40x24xf32>)
// CHECK: tensor.extract_slice %{{.*}}[%[[HEAD]], 0, 0] [1, 40, 24] [1, 1, 1]
// CHECK: linalg.batch_matmul {{.*}}tgraph.config{{.*}} -> tensor<1x40x40xf32>
// CHECK: math.exp
// CHECK: linalg.batch_matmul {{.*}}tgraph.config{{.*}} -> tensor<1x40x24xf32>
// CHECK: tensor.insert_slice %{{.*}} into %[[ALL]][%[[HEAD]], 0, 0]
// CHECK: scf.yield
// WHOLE-NOT: scf.for
// AUTO-LABEL: func.func @plain(
// AUTO: linalg.batch_matmul {{.*}} -> tensor<1x40x40xf32>
// FIVE-LABEL: func.func @plain(
// FIVE-NOT: scf.for
// FIVE: return
// APPLIED-LABEL: func.func @plain(
// APPLIED: scf.for %[[HEAD:.*]] = {{.*}} iter_args(%[[ALL:.*]] = %{{.*}})
// APPLIED: call @tgraph_batch_matmul_1x40x40x24_f32_part(%{{.*}}, %arg0, %[[HEAD]], %arg1)
// APPLIED: call @tgraph_maximumf_exp_addf_1x40x40
// APPLIED: call @tgraph_batch_matmul_1x40x24x40_f32_part({{.*}}, %arg2, %[[HEAD]], %[[ALL]])
// APPLIED-NEXT: scf.yield
// LOWERED-LABEL: llvm.func @plain(
// LOWERED: llvm.call @malloc
// LOWERED: llvm.cond_br
// LOWERED-NOT: llvm.call @malloc
// LOWERED: llvm.call @tgraph_batch_matmul_1x40x40x24_f32_part
// LOWERED-NOT: llvm.call @malloc
// LOWERED-NOT: memcpy
// LOWERED: llvm.call @tgraph_batch_matmul_1x40x24x40_f32_part
// LOWERED-NOT: llvm.call @malloc
// LOWERED: llvm.return
#id = affine_map<(b, i, j) -> (b, i, j)>
#row = affine_map<(b, i, j) -> (b, i)>
func.func @plain(%q: tensor<4x40x24xf32>, %k: tensor<4x24x40xf32>, %v: tensor<4x40x24xf32>) -> tensor<4x40x24xf32> {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.25 : f32
  %least = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<4x40x40xf32>
  %r = tensor.empty() : tensor<4x40xf32>
  %o = tensor.empty() : tensor<4x40x24xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e : tensor<4x40x40xf32>) -> tensor<4x40x40xf32>
  %s = linalg.batch_matmul ins(%q, %k : tensor<4x40x24xf32>, tensor<4x24x40xf32>) outs(%f0 : tensor<4x40x40xf32>) -> tensor<4x40x40xf32>
  %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s : tensor<4x40x40xf32>) outs(%e : tensor<4x40x40xf32>) {
  ^bb0(%a: f32, %b: f32):
    %x = arith.mulf %a, %scale : f32
    linalg.yield %x : f32
  } -> tensor<4x40x40xf32>
  %f1 = linalg.fill ins(%least : f32) outs(%r : tensor<4x40xf32>) -> tensor<4x40xf32>
  %m = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%t : tensor<4x40x40xf32>) outs(%f1 : tensor<4x40xf32>) {
  ^bb0(%a: f32, %b: f32):
    %x = arith.maximumf %a, %b : f32
    linalg.yield %x : f32
  } -> tensor<4x40xf32>
  %d = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%t, %m : tensor<4x40x40xf32>, tensor<4x40xf32>) outs(%e : tensor<4x40x40xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %x = arith.subf %a, %b : f32
    %y = math.exp %x : f32
    linalg.yield %y : f32
  } -> tensor<4x40x40xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%r : tensor<4x40xf32>) -> tensor<4x40xf32>
  %n = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%d : tensor<4x40x40xf32>) outs(%f2 : tensor<4x40xf32>) {
  ^bb0(%a: f32, %b: f32):
    %x = arith.addf %a, %b : f32
    linalg.yield %x : f32
  } -> tensor<4x40xf32>
  %p = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%d, %n : tensor<4x40x40xf32>, tensor<4x40xf32>) outs(%e : tensor<4x40x40xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %x = arith.divf %a, %b : f32
    linalg.yield %x : f32
  } -> tensor<4x40x40xf32>
  %f3 = linalg.fill ins(%zero : f32) outs(%o : tensor<4x40x24xf32>) -> tensor<4x40x24xf32>
  %z = linalg.batch_matmul ins(%p, %v : tensor<4x40x40xf32>, tensor<4x40x24xf32>) outs(%f3 : tensor<4x40x24xf32>) -> tensor<4x40x24xf32>
  return %z : tensor<4x40x24xf32>
}

// The batch may be split: 6 heads are 2 images of 3; one mask is of each image,
// a constant of each head, another mask of all.
// CHECK-LABEL: func.func @masked(
// CHECK: scf.for %[[HEAD:.*]] = {{.*}} iter_args
// CHECK: linalg.batch_matmul {{.*}} -> tensor<1x20x20xf32>
// CHECK: tensor.expand_shape %{{.*}} output_shape [1, 1, 20, 20]
// CHECK: arith.divui %[[HEAD]]
// CHECK: tensor.extract_slice %arg3[%{{.*}}, 0, 0, 0] [1, 1, 20, 20]
// CHECK: arith.constant dense<5.000000e-01> : tensor<1x1x20x20xf32>
// CHECK: linalg.generic {{.*}} ins({{.*}} : tensor<1x1x20x20xf32>, tensor<1x1x20x20xf32>, tensor<20x20xf32>, tensor<1x1x20x20xf32>)
// CHECK: tensor.collapse_shape
// CHECK: scf.yield
// Three heads at a time are one image.
// FIVE-LABEL: func.func @masked(
// FIVE: linalg.batch_matmul {{.*}} -> tensor<3x20x20xf32>
// FIVE: output_shape [1, 3, 20, 20]
#split = affine_map<(n, h, i, j) -> (n, h, i, j)>
#image = affine_map<(n, h, i, j) -> (n, 0, i, j)>
#all = affine_map<(n, h, i, j) -> (i, j)>
func.func @masked(%q: tensor<6x20x16xf32>, %k: tensor<6x16x20xf32>, %v: tensor<6x20x16xf32>, %mask: tensor<2x1x20x20xf32>, %common: tensor<20x20xf32>) -> tensor<6x20x16xf32> {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant dense<0.5> : tensor<2x3x20x20xf32>
  %e = tensor.empty() : tensor<6x20x20xf32>
  %e4 = tensor.empty() : tensor<2x3x20x20xf32>
  %o = tensor.empty() : tensor<6x20x16xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e : tensor<6x20x20xf32>) -> tensor<6x20x20xf32>
  %s = linalg.batch_matmul ins(%q, %k : tensor<6x20x16xf32>, tensor<6x16x20xf32>) outs(%f0 : tensor<6x20x20xf32>) -> tensor<6x20x20xf32>
  %s4 = tensor.expand_shape %s [[0, 1], [2], [3]] output_shape [2, 3, 20, 20] : tensor<6x20x20xf32> into tensor<2x3x20x20xf32>
  %t = linalg.generic {indexing_maps = [#split, #image, #all, #split, #split], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%s4, %mask, %common, %half : tensor<2x3x20x20xf32>, tensor<2x1x20x20xf32>, tensor<20x20xf32>, tensor<2x3x20x20xf32>) outs(%e4 : tensor<2x3x20x20xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %h: f32, %d: f32):
    %x = arith.addf %a, %b : f32
    %y = arith.addf %x, %c : f32
    %w = arith.mulf %y, %h : f32
    linalg.yield %w : f32
  } -> tensor<2x3x20x20xf32>
  %t3 = tensor.collapse_shape %t [[0, 1], [2], [3]] : tensor<2x3x20x20xf32> into tensor<6x20x20xf32>
  %f3 = linalg.fill ins(%zero : f32) outs(%o : tensor<6x20x16xf32>) -> tensor<6x20x16xf32>
  %z = linalg.batch_matmul ins(%t3, %v : tensor<6x20x20xf32>, tensor<6x20x16xf32>) outs(%f3 : tensor<6x20x16xf32>) -> tensor<6x20x16xf32>
  return %z : tensor<6x20x16xf32>
}

// The scores are a result of their own: they are needed whole.
// CHECK-LABEL: func.func @scores_kept(
// CHECK-NOT: scf.for
// CHECK: return
func.func @scores_kept(%q: tensor<4x16x8xf32>, %k: tensor<4x8x16xf32>, %v: tensor<4x16x8xf32>) -> (tensor<4x16x8xf32>, tensor<4x16x16xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x16x16xf32>
  %o = tensor.empty() : tensor<4x16x8xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e : tensor<4x16x16xf32>) -> tensor<4x16x16xf32>
  %s = linalg.batch_matmul ins(%q, %k : tensor<4x16x8xf32>, tensor<4x8x16xf32>) outs(%f0 : tensor<4x16x16xf32>) -> tensor<4x16x16xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%o : tensor<4x16x8xf32>) -> tensor<4x16x8xf32>
  %z = linalg.batch_matmul ins(%s, %v : tensor<4x16x16xf32>, tensor<4x16x8xf32>) outs(%f1 : tensor<4x16x8xf32>) -> tensor<4x16x8xf32>
  return %z, %s : tensor<4x16x8xf32>, tensor<4x16x16xf32>
}

// The second product's batch is the first one's rows.
// CHECK-LABEL: func.func @other_batch(
// CHECK-NOT: scf.for
// CHECK: return
func.func @other_batch(%q: tensor<4x16x8xf32>, %k: tensor<4x8x16xf32>, %v: tensor<16x16x8xf32>) -> tensor<16x4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x16x16xf32>
  %e1 = tensor.empty() : tensor<16x4x16xf32>
  %o = tensor.empty() : tensor<16x4x8xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e : tensor<4x16x16xf32>) -> tensor<4x16x16xf32>
  %s = linalg.batch_matmul ins(%q, %k : tensor<4x16x8xf32>, tensor<4x8x16xf32>) outs(%f0 : tensor<4x16x16xf32>) -> tensor<4x16x16xf32>
  %t = linalg.transpose ins(%s : tensor<4x16x16xf32>) outs(%e1 : tensor<16x4x16xf32>) permutation = [1, 0, 2]
  %f1 = linalg.fill ins(%zero : f32) outs(%o : tensor<16x4x8xf32>) -> tensor<16x4x8xf32>
  %z = linalg.batch_matmul ins(%t, %v : tensor<16x4x16xf32>, tensor<16x16x8xf32>) outs(%f1 : tensor<16x4x8xf32>) -> tensor<16x4x8xf32>
  return %z : tensor<16x4x8xf32>
}

// What is between asks which head it is in.
// CHECK-LABEL: func.func @asks(
// CHECK-NOT: scf.for
// CHECK: return
func.func @asks(%q: tensor<4x16x8xf32>, %k: tensor<4x8x16xf32>, %v: tensor<4x16x8xf32>) -> tensor<4x16x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x16x16xf32>
  %o = tensor.empty() : tensor<4x16x8xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e : tensor<4x16x16xf32>) -> tensor<4x16x16xf32>
  %s = linalg.batch_matmul ins(%q, %k : tensor<4x16x8xf32>, tensor<4x8x16xf32>) outs(%f0 : tensor<4x16x16xf32>) -> tensor<4x16x16xf32>
  %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s : tensor<4x16x16xf32>) outs(%e : tensor<4x16x16xf32>) {
  ^bb0(%a: f32, %b: f32):
    %head = linalg.index 0 : index
    %i = arith.index_cast %head : index to i32
    %g = arith.sitofp %i : i32 to f32
    %x = arith.mulf %a, %g : f32
    linalg.yield %x : f32
  } -> tensor<4x16x16xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%o : tensor<4x16x8xf32>) -> tensor<4x16x8xf32>
  %z = linalg.batch_matmul ins(%t, %v : tensor<4x16x16xf32>, tensor<4x16x8xf32>) outs(%f1 : tensor<4x16x8xf32>) -> tensor<4x16x8xf32>
  return %z : tensor<4x16x8xf32>
}
