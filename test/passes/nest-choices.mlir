// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The options and attributes of the choice, for operations that are no sums of
// products.
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2 model=analytic' | FileCheck %s
// CHECK-LABEL: @plain
// CHECK: linalg.exp {tgraph.config = {register_vectors = 1 : i64, schedule = "vector", vector_loops = [1], version = 1 : i64}}
// CHECK-LABEL: @mine
// CHECK: linalg.exp {tgraph.config = {register_vectors = 7 : i64, schedule = "vector", vector_loops = [1], version = 1 : i64}}
// CHECK: linalg.exp {tgraph.config = {schedule = "stock", version = 1 : i64}}
// CHECK: linalg.exp {tgraph.skip} ins
// CHECK-LABEL: @skipped
// CHECK: linalg.exp ins
// CHECK-LABEL: @left
// CHECK-NOT: tgraph.config

// Hand-written numbers are carried out, the stock lowering and skipped
// operations are left.
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2 model=analytic' --tgraph-apply-layouts --verify-each | FileCheck %s --check-prefix=APPLY
// APPLY-LABEL: @plain
// APPLY: call @tgraph_exp_4x64(
// APPLY-LABEL: @mine
// APPLY: call @tgraph_exp_4x64_{{[0-9]+}}(
// APPLY: linalg.exp {tgraph.config = {schedule = "stock", version = 1 : i64}}
// APPLY: linalg.exp {tgraph.skip} ins
// APPLY-LABEL: @skipped
// APPLY: linalg.exp ins

// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2 model=none' | FileCheck %s --check-prefix=NONE
// NONE-LABEL: @plain
// NONE: linalg.exp {tgraph.config = {schedule = "stock", version = 1 : i64}}
// NONE-LABEL: @mine
// NONE: linalg.exp {tgraph.config = {register_vectors = 7 : i64,

// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2 model=analytic overwrite' | FileCheck %s --check-prefix=OVER
// OVER-LABEL: @mine
// OVER-COUNT-2: linalg.exp {tgraph.config = {register_vectors = 1 : i64, schedule = "vector",
// OVER: linalg.exp {tgraph.skip} ins

// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2 model=analytic explain' -o /dev/null \
// RUN:   --remarks-filter-analyse=tgraph --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=EXPLAIN
// EXPLAIN: nest-choices.mlir:[[#@LINE+9]]:8: remark: [Analysis] tgraph-select-layouts | Category:tgraph | Remark="vectors along loop 1, 1 in a body, about {{[0-9]+}} cycles (4 configurations; the analytic rule was asked)"
// EXPLAIN: Remark="vectors along loop 1, 7 in a body, about {{[0-9]+}} cycles (4 configurations; {{.*}})"
// EXPLAIN: Remark="stock lowering (4 configurations; {{.*}})"
// EXPLAIN-NOT: Remark
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2 model=none explain' -o /dev/null \
// RUN:   --remarks-filter-analyse=tgraph --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=EXPLAIN-NONE
// EXPLAIN-NONE: Remark="stock lowering (4 configurations; model=none keeps the stock lowering)"

func.func @plain(%a: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %r = linalg.exp ins(%a : tensor<4x64xf32>) outs(%a : tensor<4x64xf32>) -> tensor<4x64xf32>
  return %r : tensor<4x64xf32>
}
func.func @mine(%a: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %r = linalg.exp {tgraph.config = {version = 1, schedule = "vector", vector_loops = [1], register_vectors = 7}} ins(%a : tensor<4x64xf32>) outs(%a : tensor<4x64xf32>) -> tensor<4x64xf32>
  %s = linalg.exp {tgraph.config = {version = 1, schedule = "stock"}} ins(%r : tensor<4x64xf32>) outs(%a : tensor<4x64xf32>) -> tensor<4x64xf32>
  %t = linalg.exp {tgraph.skip} ins(%s : tensor<4x64xf32>) outs(%a : tensor<4x64xf32>) -> tensor<4x64xf32>
  return %t : tensor<4x64xf32>
}
func.func @skipped(%a: tensor<4x64xf32>) -> tensor<4x64xf32> attributes {tgraph.skip} {
  %r = linalg.exp ins(%a : tensor<4x64xf32>) outs(%a : tensor<4x64xf32>) -> tensor<4x64xf32>
  return %r : tensor<4x64xf32>
}
// No loops, dynamic extents, an operation that has no vector form, a result
// that no loop walks contiguously.
func.func @left(%a: tensor<f32>, %b: tensor<?xf32>, %c: tensor<8xi32>, %d: tensor<8xf32>) -> (tensor<f32>, tensor<?xf32>, tensor<8xi32>, tensor<8xf32>) {
  %0 = linalg.exp ins(%a : tensor<f32>) outs(%a : tensor<f32>) -> tensor<f32>
  %1 = linalg.exp ins(%b : tensor<?xf32>) outs(%b : tensor<?xf32>) -> tensor<?xf32>
  %2 = linalg.div ins(%c, %c : tensor<8xi32>, tensor<8xi32>) outs(%c : tensor<8xi32>) -> tensor<8xi32>
  %3 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%d : tensor<8xf32>) outs(%d : tensor<8xf32>) {
  ^bb0(%x: f32, %o: f32):
    %c0 = arith.constant 0.0 : f32
    %p = arith.cmpf ogt, %x, %c0 : f32
    %s = scf.if %p -> f32 {
      scf.yield %x : f32
    } else {
      scf.yield %c0 : f32
    }
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %0, %1, %2, %3 : tensor<f32>, tensor<?xf32>, tensor<8xi32>, tensor<8xf32>
}
