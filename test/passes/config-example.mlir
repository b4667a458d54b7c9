// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The example of docs/config-attribute.md, written by hand.
// RUN: %tgraph_opt %s --tgraph-apply-layouts --verify-each | FileCheck %s
// RUN: sed 's/pack = \["rhs"\]/pack = ["rhs"], layouts = {lhs = [1, 0], result = [1, 0], rhs = [1, 0, 1]}/' %s \
// RUN:   | %tgraph_opt --tgraph-apply-layouts | FileCheck %s
// RUN: sed 's/register_rows = 4/register_rows = 8/' %s > %t.large.mlir
// RUN: not %tgraph_opt %t.large.mlir --tgraph-apply-layouts 2>&1 | FileCheck %s --check-prefix=LARGE
// LARGE: error: tgraph-apply-layouts: tgraph.config: the register tile needs more registers than the machine has
// CHECK: call @tgraph_matmul_100x96x64_f32(
// CHECK: scf.for %{{.*}} = %c0 to %c96 step %c24
// CHECK: scf.for %{{.*}} = %c0 to %c64 step %c1 
// CHECK: scf.for %{{.*}} = %c0 to %c100 step %c4 
// CHECK: %{{.*}}:12 = scf.for %{{.*}} = %c0 to %c64 step %c4
module attributes {tgraph.target = "avx2"} {
  func.func @linear(%x: tensor<100x64xf32>, %w: tensor<64x96xf32>, %y: tensor<100x96xf32>) -> tensor<100x96xf32> {
    %r = linalg.matmul {tgraph.config = {
          version = 1, schedule = "tiled",
          vector_loops = [1], register_vectors = 3, cache_vector = 24,
          row_loops = [0], register_rows = 4, cache_rows = 0,
          cache_reduction = 0, unroll = 4, innermost = "vectors",
          pack = ["rhs"]}}
        ins(%x, %w : tensor<100x64xf32>, tensor<64x96xf32>) outs(%y : tensor<100x96xf32>) -> tensor<100x96xf32>
    return %r : tensor<100x96xf32>
  }
}
