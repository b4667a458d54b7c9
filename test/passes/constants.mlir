// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Weights that are constants: panels are made while the program is compiled, by
// the code that would make them at run time.
// RUN: %tgraph_opt --tgraph-apply-layouts %s | FileCheck %s
// RUN: %if tool %{ %tgraph verify --target avx2 --function plain %s %}
// RUN: %if tool %{ %tgraph verify --target avx2 --function transposed %s %}
// RUN: %if tool %{ %tgraph verify --target avx2 --function scaled %s %}
// RUN: %if tool %{ %tgraph verify --target avx2 --function quantized %s %}
// RUN: %if tool %{ %tgraph verify --target avx2 --function resource %s %}

#config = {version = 1, schedule = "tiled", vector_loops = [1], register_vectors = 1, cache_vector = 0,
           row_loops = [0], register_rows = 2, cache_rows = 0, cache_reduction = 0, unroll = 1,
           innermost = "vectors", pack = ["rhs"], prepack = ["rhs"]}
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

module attributes {tgraph.target = "avx2"} {

// What isn't there is zero.
// CHECK-LABEL: func.func @plain
// CHECK-NEXT: %[[PANELS:.*]] = arith.constant dense<{{\[\[\[}}1.000000e+00, 2.000000e+00, 3.000000e+00, 0.000000e+00{{.*}}[4.000000e+00, 5.000000e+00, 6.000000e+00, 0.000000e+00{{.*}}]]]> : tensor<1x2x8xf32>
// CHECK-NEXT: call @tgraph_matmul_4x3x2_f32(%{{.*}}, %[[PANELS]], %{{.*}})
func.func @plain(%x: tensor<4x2xf32>, %y: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %w = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %r = linalg.matmul {tgraph.config = #config} ins(%x, %w : tensor<4x2xf32>, tensor<2x3xf32>)
    outs(%y : tensor<4x3xf32>) -> tensor<4x3xf32>
  return %r : tensor<4x3xf32>
}

// CHECK-LABEL: func.func @transposed
// CHECK-NEXT: arith.constant dense<{{\[\[\[}}1.000000e+00, 3.000000e+00, 5.000000e+00, 0.000000e+00{{.*}}[2.000000e+00, 4.000000e+00, 6.000000e+00,
// CHECK-NOT: linalg.transpose
func.func @transposed(%x: tensor<4x2xf32>, %y: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %w = arith.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %e = tensor.empty() : tensor<2x3xf32>
  %t = linalg.transpose ins(%w : tensor<3x2xf32>) outs(%e : tensor<2x3xf32>) permutation = [1, 0]
  %r = linalg.matmul {tgraph.config = #config} ins(%x, %t : tensor<4x2xf32>, tensor<2x3xf32>)
    outs(%y : tensor<4x3xf32>) -> tensor<4x3xf32>
  return %r : tensor<4x3xf32>
}

// What is made of constants is one, too.
// CHECK-LABEL: func.func @scaled
// CHECK-NEXT: arith.constant dense<{{\[\[\[}}2.000000e+00, 4.000000e+00, 6.000000e+00, 0.000000e+00{{.*}}[1.200000e+01, 1.500000e+01, 1.800000e+01,
// CHECK-NOT: linalg.generic
func.func @scaled(%x: tensor<4x2xf32>, %y: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %w = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %s = arith.constant dense<[2.0, 3.0]> : tensor<2xf32>
  %e = tensor.empty() : tensor<2x3xf32>
  %v = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
    ins(%w, %s : tensor<2x3xf32>, tensor<2xf32>) outs(%e : tensor<2x3xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    linalg.yield %m : f32
  } -> tensor<2x3xf32>
  %r = linalg.matmul {tgraph.config = #config} ins(%x, %v : tensor<4x2xf32>, tensor<2x3xf32>)
    outs(%y : tensor<4x3xf32>) -> tensor<4x3xf32>
  return %r : tensor<4x3xf32>
}

// Panels hold what the products are taken in.
// CHECK-LABEL: func.func @quantized
// CHECK-NEXT: arith.constant dense<{{\[\[\[}}-1, 2, -3, 0{{.*}}[4, -128, 127, 0{{.*}} : tensor<1x2x8xi32>
func.func @quantized(%x: tensor<4x2xi8>, %y: tensor<4x3xi32>) -> tensor<4x3xi32> {
  %w = arith.constant dense<[[-1, 2, -3], [4, -128, 127]]> : tensor<2x3xi8>
  %r = linalg.matmul {tgraph.config = #config} ins(%x, %w : tensor<4x2xi8>, tensor<2x3xi8>)
    outs(%y : tensor<4x3xi32>) -> tensor<4x3xi32>
  return %r : tensor<4x3xi32>
}

// CHECK-LABEL: func.func @resource
// CHECK-NEXT: arith.constant dense<{{\[\[\[}}1.000000e+00, 2.000000e+00, 3.000000e+00, 0.000000e+00
func.func @resource(%x: tensor<4x2xf32>, %y: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %w = arith.constant dense_resource<weight> : tensor<2x3xf32>
  %r = linalg.matmul {tgraph.config = #config} ins(%x, %w : tensor<4x2xf32>, tensor<2x3xf32>)
    outs(%y : tensor<4x3xf32>) -> tensor<4x3xf32>
  return %r : tensor<4x3xf32>
}

// A division that could trap isn't run while the program is compiled.
// CHECK-LABEL: func.func @division
// CHECK: arith.divsi
// CHECK: call @tgraph_matmul_4x3x2_i32_pack_rhs
func.func @division(%x: tensor<4x2xi32>, %y: tensor<4x3xi32>) -> tensor<4x3xi32> {
  %w = arith.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %z = arith.constant dense<[0, 1]> : tensor<2xi32>
  %e = tensor.empty() : tensor<2x3xi32>
  %v = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
    ins(%w, %z : tensor<2x3xi32>, tensor<2xi32>) outs(%e : tensor<2x3xi32>) {
  ^bb0(%a: i32, %b: i32, %o: i32):
    %m = arith.divsi %a, %b : i32
    linalg.yield %m : i32
  } -> tensor<2x3xi32>
  %r = linalg.matmul {tgraph.config = #config} ins(%x, %v : tensor<4x2xi32>, tensor<2x3xi32>)
    outs(%y : tensor<4x3xi32>) -> tensor<4x3xi32>
  return %r : tensor<4x3xi32>
}

}

{-#
  dialect_resources: {
    builtin: { weight: "0x040000000000803F0000004000004040000080400000A0400000C040" }
  }
#-}
