// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The report: the choice of every site with its reason, and what was left
// alone, with the reason.
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2 model=analytic report=%t.json' -o /dev/null
// RUN: %python -m json.tool %t.json > /dev/null
// RUN: FileCheck %s < %t.json
// CHECK:      "model": "analytic",
// CHECK-NEXT: "target": "avx2,
// CHECK-NEXT: "sites": [
// CHECK-NEXT: {"op": "linalg.matmul", "location": "loc(\"{{.*}}select-report.mlir\":[[#@LINE+29]]:8)",
// CHECK-NEXT: "extents": [8, 16, 4], "flops": 1024, "reason": "ANALYTIC",
// CHECK-NEXT: "configs": {{[0-9]+}}, "scored": {{[0-9]+}},
// CHECK-NEXT: "config": {"tiled": 1,
// CHECK-NEXT: "scratch_nbytes": 0,
// CHECK-NEXT: "features": {"log_flops": 10
// CHECK-NEXT: {"op": "linalg.matmul"
// CHECK-NEXT: "extents": [128, 16, 4], "bounded": [0], "flops": 16384, "reason": "ANALYTIC",
// CHECK:      ],
// CHECK-NEXT: "nests": [
// CHECK-NEXT: {"op": "linalg.add", "location": "loc(\"{{.*}}select-report.mlir\":[[#@LINE+25]]:8)",
// CHECK-NEXT: "extents": [8, 16], "reason": "ANALYTIC", "configs": 4, "cycles": {{[0-9]+}},
// CHECK-NEXT: "config": {"tiled": 1, "vector_loop": 1,
// CHECK-NEXT: ],
// CHECK-NEXT: "left_alone": [
// CHECK-NEXT: "op": "linalg.matmul"{{.*}}"reason": "operands in memory"
// CHECK-NEXT: "op": "linalg.matmul"{{.*}}"reason": "a dimension of zero elements"
// CHECK-NEXT: "op": "linalg.matmul"{{.*}}"reason": "elements of a type that no schedule serves"
// CHECK-NEXT: "op": "linalg.matmul"{{.*}}"reason": "tgraph.skip"
// CHECK-NEXT: "op": "linalg.generic"{{.*}}"reason": "no loops to tile"
// CHECK-NEXT: ]

// Nothing to choose from is a report, too.
// RUN: printf '' | %tgraph_opt --tgraph-select-layouts='target=avx2 model=analytic report=%t.none.json' -o /dev/null
// RUN: %python -m json.tool %t.none.json > /dev/null

#s = affine_map<() -> ()>
func.func @f(%a: tensor<?x4xf32>, %b: tensor<4x16xf32>, %c: tensor<8x16xf32>, %q: tensor<8x4xf32>, %s: tensor<f32>,
             %m: memref<4x4xf32>, %i: tensor<4x4xi4>, %j: tensor<4x4xi32>, %z: tensor<0x4xf32>, %y: tensor<0x16xf32>, %x: tensor<?x16xf32>) -> tensor<8x16xf32> {
  %r = linalg.matmul ins(%q, %b : tensor<8x4xf32>, tensor<4x16xf32>) outs(%c : tensor<8x16xf32>) -> tensor<8x16xf32>
  linalg.matmul ins(%m, %m : memref<4x4xf32>, memref<4x4xf32>) outs(%m : memref<4x4xf32>)
  %0 = linalg.matmul ins(%a, %b : tensor<?x4xf32>, tensor<4x16xf32>) outs(%x : tensor<?x16xf32>) -> tensor<?x16xf32>
  %1 = linalg.matmul ins(%z, %b : tensor<0x4xf32>, tensor<4x16xf32>) outs(%y : tensor<0x16xf32>) -> tensor<0x16xf32>
  %2 = linalg.matmul ins(%i, %i : tensor<4x4xi4>, tensor<4x4xi4>) outs(%j : tensor<4x4xi32>) -> tensor<4x4xi32>
  %3 = linalg.matmul {tgraph.skip} ins(%q, %b : tensor<8x4xf32>, tensor<4x16xf32>) outs(%c : tensor<8x16xf32>) -> tensor<8x16xf32>
  %4 = linalg.add ins(%c, %c : tensor<8x16xf32>, tensor<8x16xf32>) outs(%c : tensor<8x16xf32>) -> tensor<8x16xf32>
  %5 = linalg.generic {indexing_maps = [#s, #s], iterator_types = []} ins(%s : tensor<f32>) outs(%s : tensor<f32>) {
  ^bb0(%u: f32, %v: f32):
    linalg.yield %u : f32
  } -> tensor<f32>
  return %r : tensor<8x16xf32>
}
