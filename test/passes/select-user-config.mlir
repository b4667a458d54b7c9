// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A user's own configuration is a decision: kept to the letter, also where
// layouts are left out; the rest is chosen around it.
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2 model=analytic' > %t
// RUN: FileCheck %s < %t
// RUN: %tgraph_opt %t --tgraph-apply-layouts --verify-each | FileCheck %s --check-prefix=APPLY
// It needs no choice of ours to be carried out.
// RUN: %tgraph_opt %s --tgraph-apply-layouts --verify-each | FileCheck %s --check-prefix=ALONE

// CHECK: tgraph.chosen = 3
// APPLY-LABEL: @mine
// APPLY-COUNT-1: call @tgraph_matmul_32x32x32_f32(
// APPLY: linalg.matmul {tgraph.config = {schedule = "stock", version = 1 : i64}}
// APPLY: call @tgraph_matmul_32x32x32_f32_1(
// ALONE-LABEL: @mine
// ALONE: call @tgraph_matmul_32x32x32_f32(
// ALONE: linalg.matmul {tgraph.config = {schedule = "stock", version = 1 : i64}}
// ALONE: linalg.matmul ins
module attributes {tgraph.target = "avx2"} {
  // CHECK-LABEL: @mine
  func.func @mine(%a: tensor<32x32xf32>, %b: tensor<32x32xf32>) -> tensor<32x32xf32> {
    // CHECK: {tgraph.config = {cache_reduction = 16 : i64, cache_rows = 0 : i64, cache_vector = 8 : i64, innermost = "rows", pack = ["rhs", "lhs"], register_rows = 2 : i64, register_vectors = 1 : i64, row_loops = [0], schedule = "tiled", unroll = 2 : i64, vector_loops = [1], version = 1 : i64}}
    %0 = linalg.matmul {tgraph.config = {version = 1, schedule = "tiled", vector_loops = [1], row_loops = [0],
        register_vectors = 1, register_rows = 2, unroll = 2, cache_vector = 8, cache_rows = 0, cache_reduction = 16,
        innermost = "rows", pack = ["rhs", "lhs"]}}
        ins(%a, %b : tensor<32x32xf32>, tensor<32x32xf32>) outs(%a : tensor<32x32xf32>) -> tensor<32x32xf32>
    // CHECK: {tgraph.config = {schedule = "stock", version = 1 : i64}}
    %1 = linalg.matmul {tgraph.config = {version = 1, schedule = "stock"}}
        ins(%0, %b : tensor<32x32xf32>, tensor<32x32xf32>) outs(%a : tensor<32x32xf32>) -> tensor<32x32xf32>
    // CHECK: {tgraph.config = {{.*}}layouts = {{.*}}schedule = "tiled"
    %2 = linalg.matmul ins(%1, %b : tensor<32x32xf32>, tensor<32x32xf32>) outs(%a : tensor<32x32xf32>) -> tensor<32x32xf32>
    return %2 : tensor<32x32xf32>
  }
}
