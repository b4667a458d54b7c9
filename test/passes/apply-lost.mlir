// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// linalg-generalize-named-ops drops attributes, so it goes before select; where
// it goes in between, apply says how many choices were lost.
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2 model=analytic' --linalg-generalize-named-ops --tgraph-apply-layouts \
// RUN:   --remarks-filter-missed=tgraph --remark-format=emitRemark 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t
// CHECK-NOT: call @tgraph_
// CHECK: linalg.generic
// REMARK: remark: [Missed] tgraph-apply-layouts | Category:tgraph | Remark="2 of 2 chosen operations lost their tgraph.config before this pass and keep the stock lowering"
// RUN: %tgraph_opt %s --linalg-generalize-named-ops --tgraph-select-layouts='target=avx2 model=analytic' --tgraph-apply-layouts \
// RUN:   --remarks-filter-missed=tgraph --remark-format=emitRemark 2>%t.before | FileCheck %s --check-prefix=BEFORE
// BEFORE: call @tgraph_generic_16x16x16_f32
// RUN: FileCheck %s --check-prefix=SILENT --allow-empty < %t.before
// SILENT-NOT: remark
// A count that is no number we can read is nobody's.
// RUN: sed 's/^module {/module attributes {tgraph.chosen = 5 : i128} {/' %s > %t.odd.mlir
// RUN: %tgraph_opt %t.odd.mlir --tgraph-apply-layouts --remarks-filter-missed=tgraph --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=SILENT --allow-empty
module {
  func.func @f(%a: tensor<16x16xf32>) -> tensor<16x16xf32> {
    %0 = linalg.matmul ins(%a, %a : tensor<16x16xf32>, tensor<16x16xf32>) outs(%a : tensor<16x16xf32>) -> tensor<16x16xf32>
    %1 = linalg.matmul ins(%0, %a : tensor<16x16xf32>, tensor<16x16xf32>) outs(%a : tensor<16x16xf32>) -> tensor<16x16xf32>
    return %1 : tensor<16x16xf32>
  }
}
