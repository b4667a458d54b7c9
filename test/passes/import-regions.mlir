// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The picture of a graph: a node per operation, argument and constant, nested
// ones too; what a node consumes has a smaller number. Configurable nodes have
// a double border.
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2 model=analytic dump-graph=%t.dot' -o /dev/null
// RUN: FileCheck %s < %t.dot
// RUN: %tgraph_opt %s --pass-pipeline='builtin.module(tgraph-select-layouts{target=avx2 model=analytic dump-graph=%t.again.dot})' -o /dev/null
// RUN: cmp %t.dot %t.again.dot

// CHECK:      digraph tgraph {
// CHECK:      n0 [label="0 arg0\nparameter"];
// CHECK-NEXT: n1 [label="1 arg1\nparameter"];
// CHECK-NEXT: n2 [label="2 arg2\nparameter 64x96"];
// CHECK-NEXT: n3 [label="3 arg3\nparameter 96x80"];
// CHECK-NEXT: n4 [label="4 arith.constant\nconstant"];
// CHECK-NEXT: n5 [label="5 arith.constant\nconstant"];
// CHECK-NEXT: n6 [label="6 tensor.empty\nunknown 64x80"];
// CHECK-NEXT: n7 [label="7 linalg.fill\nbroadcast 64x80"];
// CHECK-NEXT: n8 [label="8 arg0\nparameter"];
// CHECK-NEXT: n9 [label="9 arg1\nparameter 64x80"];
// CHECK-NEXT: n10 [label="10 linalg.matmul\ndot 64x80", peripheries=2];
// CHECK-NEXT: n11 [label="11 scf.yield\nunknown 64x80"];
// CHECK-NEXT: n12 [label="12 scf.for\nwhile 64x80"];
// CHECK-NEXT: n13 [label="13 scf.yield\nunknown 64x80"];
// CHECK-NEXT: n14 [label="14 linalg.matmul\ndot 64x80", peripheries=2];
// CHECK-NEXT: n15 [label="15 scf.yield\nunknown 64x80"];
// CHECK-NEXT: n16 [label="16 scf.if\nconditional 64x80"];
// CHECK-NEXT: n17 [label="17 func.return\nunknown 64x80"];
// The fill consumes zero and the empty tensor.
// CHECK-NEXT: n4 -> n7;
// CHECK-NEXT: n6 -> n7;
// In the loop: two captured values and the loop's own argument.
// CHECK-NEXT: n2 -> n10;
// CHECK-NEXT: n3 -> n10;
// CHECK-NEXT: n9 -> n10;
// CHECK-NEXT: n10 -> n11;
// The loop consumes its bounds, its start and what its body yields.
// CHECK-NEXT: n5 -> n12;
// CHECK-NEXT: n1 -> n12;
// CHECK-NEXT: n7 -> n12;
// CHECK-NEXT: n11 -> n12;
// CHECK:      n13 -> n16;
// CHECK-NEXT: n15 -> n16;
// CHECK-NEXT: n16 -> n17;
func.func @branches(%p: i1, %n: index, %x: tensor<64x96xf32>, %w: tensor<96x80xf32>) -> tensor<64x80xf32> {
  %z = arith.constant 0.0 : f32
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<64x80xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x80xf32>) -> tensor<64x80xf32>
  %r = scf.if %p -> (tensor<64x80xf32>) {
    %l = scf.for %i = %c1 to %n step %c1 iter_args(%acc = %f) -> (tensor<64x80xf32>) {
      %m = linalg.matmul ins(%x, %w : tensor<64x96xf32>, tensor<96x80xf32>) outs(%acc : tensor<64x80xf32>) -> tensor<64x80xf32>
      scf.yield %m : tensor<64x80xf32>
    }
    scf.yield %l : tensor<64x80xf32>
  } else {
    %m = linalg.matmul ins(%x, %w : tensor<64x96xf32>, tensor<96x80xf32>) outs(%f : tensor<64x80xf32>) -> tensor<64x80xf32>
    scf.yield %m : tensor<64x80xf32>
  }
  return %r : tensor<64x80xf32>
}
