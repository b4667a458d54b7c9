// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Extents that are known only at run time: what the choice looks like, which
// loops become what, and that buffers stay in place.
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2 model=analytic explain report=%t.json' --remarks-filter-analyse=tgraph --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=EXPLAIN
// RUN: FileCheck %s --check-prefix=REPORT < %t.json
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2 model=analytic' --tgraph-apply-layouts --verify-each -o %t.applied.mlir
// RUN: FileCheck %s < %t.applied.mlir
// RUN: %mlir_opt %t.applied.mlir --canonicalize --cse --empty-tensor-to-alloc-tensor --one-shot-bufferize='bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map' --canonicalize --cse --canonicalize | FileCheck %s --check-prefix=BUFFERS
// RUN: %tgraph_opt %s --tgraph-cpu='target=avx512' --verify-each -o /dev/null
// RUN: %tgraph_opt %s --tgraph-cpu='target=generic' --verify-each -o /dev/null

// EXPLAIN: loop 0 has an unknown extent, planned as if it were 128
// EXPLAIN: loop 0 has an unknown extent and is taken one by one
// REPORT: "extents": [128, 48, 64], "bounded": [0], "flops"
// REPORT: "extents": [1, 16, 32, 32, 8, 3, 3], "bounded": [2, 3], "sliced": [0], "flops"
// REPORT: "linalg.conv_2d"{{.*}}"reason": "dynamic dimensions that no schedule serves"

// A linear layer of any number of rows: the bias goes into the tile, the fill
// is not read.
// CHECK-LABEL: func.func @linear
// CHECK-NOT: linalg.generic
// CHECK: call @tgraph_matmul_dx48x64_f32(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : (tensor<?x64xf32>, tensor<64x48xf32>, tensor<?x48xf32>, tensor<48xf32>) -> tensor<?x48xf32>
func.func @linear(%x: tensor<?x64xf32>, %w: tensor<64x48xf32>, %bias: tensor<48xf32>) -> tensor<?x48xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%n) : tensor<?x48xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x48xf32>) -> tensor<?x48xf32>
  %r = linalg.matmul ins(%x, %w : tensor<?x64xf32>, tensor<64x48xf32>) outs(%f : tensor<?x48xf32>) -> tensor<?x48xf32>
  %o = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%r, %bias : tensor<?x48xf32>, tensor<48xf32>) outs(%e : tensor<?x48xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<?x48xf32>
  return %o : tensor<?x48xf32>
}

// Images one by one, their size as it comes.
// CHECK-LABEL: func.func @conv
// CHECK: call @tgraph_conv_2d_nchw_fchw_dx16xdxdx8x3x3_f32
func.func @conv(%x: tensor<?x8x?x?xf32>, %w: tensor<16x8x3x3xf32>, %c: tensor<?x16x?x?xf32>) -> tensor<?x16x?x?xf32> {
  %r = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%x, %w : tensor<?x8x?x?xf32>, tensor<16x8x3x3xf32>) outs(%c : tensor<?x16x?x?xf32>) -> tensor<?x16x?x?xf32>
  return %r : tensor<?x16x?x?xf32>
}

// What the result's type knows holds for the inputs.
// CHECK-LABEL: func.func @half_known
// CHECK: call @tgraph_matmul_8x16x4_f32
func.func @half_known(%a: tensor<?x4xf32>, %b: tensor<4x?xf32>, %c: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<?x4xf32>, tensor<4x?xf32>) outs(%c : tensor<8x16xf32>) -> tensor<8x16xf32>
  return %r : tensor<8x16xf32>
}

// All at once: blocks of each loop up to its bound, few rows by halves.
// CHECK-LABEL: func.func @all
func.func @all(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// Two reductions of unknown extent stay as they are.
// CHECK-LABEL: func.func @any_filter
// CHECK: linalg.conv_2d
func.func @any_filter(%a: tensor<9x9xf32>, %b: tensor<?x?xf32>, %c: tensor<7x7xf32>) -> tensor<7x7xf32> {
  %r = linalg.conv_2d ins(%a, %b : tensor<9x9xf32>, tensor<?x?xf32>) outs(%c : tensor<7x7xf32>) -> tensor<7x7xf32>
  return %r : tensor<7x7xf32>
}

// CHECK-LABEL: func.func private @tgraph_matmul_dx48x64_f32
// CHECK: %[[ROWS:.*]] = tensor.dim %arg2, %c0
// CHECK: scf.for %{{.*}} = %c0 to %[[ROWS]]
// CHECK-LABEL: func.func private @tgraph_conv_2d_nchw_fchw_dx16xdxdx8x3x3_f32
// CHECK: scf.for
// CHECK: tensor.extract_slice %arg0[%{{.*}}, 0, 0, 0] [1, 8, %{{.*}}, %{{.*}}]
// CHECK: tensor.insert_slice
// CHECK-LABEL: func.func private @tgraph_matmul_dxdxd_f32
// CHECK: vector.create_mask

// No copy of an operand, and scratch memory outside of all loops.
// BUFFERS-LABEL: func.func private @tgraph_matmul_dx48x64_f32
// BUFFERS-NOT: memref.copy
// BUFFERS-LABEL: func.func private @tgraph_conv_2d_nchw_fchw_dx16xdxdx8x3x3_f32
// BUFFERS-NOT: memref.copy
// BUFFERS-NOT: memref.alloc
// BUFFERS: scf.for
// BUFFERS-NOT: memref.copy
// BUFFERS-NOT: memref.alloc
// BUFFERS-LABEL: func.func private @tgraph_matmul_dxdxd_f32
// BUFFERS: scf.for
// BUFFERS-NOT: memref.alloc
// BUFFERS-NOT: memref.copy
