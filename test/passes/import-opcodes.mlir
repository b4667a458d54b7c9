// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The operation codes: by name, by body, and 0 for what has no row.
// RUN: %tgraph_opt %s --allow-unregistered-dialect --tgraph-select-layouts='target=avx2 model=analytic dump-graph=%t.dot' -o /dev/null
// RUN: FileCheck %s < %t.dot

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#turn = affine_map<(i, j) -> (j, i)>

func.func @codes(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>, %v: tensor<4xf32>, %s: f32) {
  // CHECK: n4 [label="4 linalg.generic\nmultiply 4x4"];
  %0 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : tensor<4x4xf32>, tensor<4x4xf32>) outs(%a : tensor<4x4xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %m = arith.mulf %x, %y : f32
    linalg.yield %m : f32
  } -> tensor<4x4xf32>
  // CHECK-NEXT: n5 [label="5 linalg.generic\nfusion 4x4"];
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<4x4xf32>) outs(%a : tensor<4x4xf32>) {
  ^bb0(%x: f32, %o: f32):
    %m = arith.negf %x : f32
    %n = math.exp %m : f32
    linalg.yield %n : f32
  } -> tensor<4x4xf32>
  // CHECK-NEXT: n6 [label="6 linalg.generic\nbroadcast 4x4"];
  %2 = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%v : tensor<4xf32>) outs(%a : tensor<4x4xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  } -> tensor<4x4xf32>
  // CHECK-NEXT: n7 [label="7 linalg.generic\ntranspose 4x4"];
  %3 = linalg.generic {indexing_maps = [#turn, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<4x4xf32>) outs(%a : tensor<4x4xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  } -> tensor<4x4xf32>
  // CHECK-NEXT: n8 [label="8 linalg.generic\nreduce 4"];
  %4 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<4x4xf32>) outs(%v : tensor<4xf32>) {
  ^bb0(%x: f32, %o: f32):
    %m = arith.maximumf %x, %o : f32
    linalg.yield %m : f32
  } -> tensor<4xf32>
  // A contraction, whatever its name.
  // CHECK-NEXT: n9 [label="9 linalg.generic\ndot 4", peripheries=2];
  %5 = linalg.generic {indexing_maps = [#id, affine_map<(i, j) -> (j)>, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a, %v : tensor<4x4xf32>, tensor<4xf32>) outs(%v : tensor<4xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %m = arith.mulf %x, %y : f32
    %n = arith.addf %o, %m : f32
    linalg.yield %n : f32
  } -> tensor<4xf32>
  // CHECK-NEXT: n10 [label="10 linalg.sub\nsubtract 4x4"];
  %6 = linalg.sub ins(%a, %b : tensor<4x4xf32>, tensor<4x4xf32>) outs(%a : tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK-NEXT: n11 [label="11 tensor.collapse_shape\nreshape 16"];
  %7 = tensor.collapse_shape %a [[0, 1]] : tensor<4x4xf32> into tensor<16xf32>
  // CHECK-NEXT: n12 [label="12 tensor.splat\nbroadcast 8"];
  %8 = tensor.splat %s : tensor<8xf32>
  // CHECK-NEXT: n13 [label="13 tensor.empty\nunknown 2x4x2"];
  // CHECK-NEXT: n14 [label="14 linalg.pack\ncopy 2x4x2"];
  %e = tensor.empty() : tensor<2x4x2xf32>
  %9 = linalg.pack %a inner_dims_pos = [0] inner_tiles = [2] into %e : tensor<4x4xf32> -> tensor<2x4x2xf32>
  // CHECK: foo.bar\nunknown
  "foo.bar"(%a) : (tensor<4x4xf32>) -> ()
  // CHECK-NEXT: func.return\nunknown
  return
}
