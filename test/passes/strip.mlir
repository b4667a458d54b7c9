// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tgraph-strip takes away every tgraph attribute and nothing else.
// RUN: %tgraph_opt %s --tgraph-strip --remarks-filter-passed=tgraph --remark-format=emitRemark 2>%t.remarks \
// RUN:   | FileCheck %s --implicit-check-not=tgraph.config --implicit-check-not=tgraph.range
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// A second run changes nothing.
// RUN: %tgraph_opt %s --tgraph-strip > %t.once
// RUN: %tgraph_opt %t.once --tgraph-strip | cmp - %t.once
// REMARK: remark: [Passed] tgraph-strip | Category:tgraph | Remark="removed 9 tgraph attributes"
// REMARK-NOT: remark:

// CHECK: module attributes {my.note = 1 : i32, transform.with_named_sequence} {
module attributes {my.note = 1 : i32, transform.with_named_sequence,
                   tgraph.target = "avx2", tgraph.model = {name = "m"}} {
  // CHECK: func.func private @declared(tensor<4xf32>) -> tensor<4xf32>{{$}}
  func.func private @declared(tensor<4xf32> {tgraph.skip}) -> (tensor<4xf32> {tgraph.note = 2 : i32})

  // CHECK: func.func @one(%{{.*}}: tensor<8x4xf32> {bufferization.writable = false}, %{{.*}}: tensor<4x6xf32>, %{{.*}}: tensor<8x6xf32>) -> tensor<8x6xf32> {
  func.func @one(%a: tensor<8x4xf32> {tgraph.range = [0, 3], bufferization.writable = false},
                 %b: tensor<4x6xf32>, %c: tensor<8x6xf32>) -> tensor<8x6xf32> attributes {tgraph.skip} {
    // CHECK: linalg.matmul {mine} ins
    %r = linalg.matmul {mine, tgraph.config = {vector = 8}}
        ins(%a, %b : tensor<8x4xf32>, tensor<4x6xf32>) outs(%c : tensor<8x6xf32>) -> tensor<8x6xf32>
    return %r : tensor<8x6xf32>
  }

  // CHECK: module @inner {
  module @inner attributes {tgraph.target = "avx2"} {
    // CHECK: func.func @in_a_region
    func.func @in_a_region(%p: i1) -> i32 {
      %r = scf.if %p -> i32 {
        // CHECK: arith.constant 1 : i32
        %x = arith.constant {tgraph.skip} 1 : i32
        scf.yield %x : i32
      } else {
        %x = arith.constant 2 : i32
        scf.yield %x : i32
      }
      return %r : i32
    }
  }

  // A script is the user's program: what it carries stays.
  // CHECK: transform.named_sequence @__transform_main
  // CHECK-NEXT: transform.annotate %{{.*}} "tgraph.skip"
  // CHECK-NEXT: transform.yield{{ +}}{tgraph.skip}
  transform.named_sequence @__transform_main(%m: !transform.any_op {transform.readonly}) {
    transform.annotate %m "tgraph.skip" : !transform.any_op
    transform.yield {tgraph.skip}
  }
}
