// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The option explain: one remark per site, in the order of the program, with
// what was chosen, from how many, and why.
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2 model=analytic explain' -o /dev/null \
// RUN:   --remarks-filter-analyse=tgraph --remark-format=emitRemark 2>&1 | FileCheck %s
// CHECK: explain.mlir:[[#@LINE+14]]:8: remark: [Analysis] tgraph-select-layouts | Category:tgraph | Remark="tile {{[0-9]+}} x {{[0-9]+}}, {{.*}}: the analytic rule was asked ({{[0-9]+}} of {{[0-9]+}} configurations looked at)"
// CHECK: explain.mlir:[[#@LINE+14]]:8: remark:
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2 model=none explain' -o /dev/null \
// RUN:   --remarks-filter-analyse=tgraph --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: Remark="stock lowering: model=none keeps the stock lowering (
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2 explain' -o /dev/null \
// RUN:   --remarks-filter-analyse=tgraph --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=MODEL
// MODEL: Remark="tile {{.*}}: the network {{.*}} (256 of {{[0-9]+}} configurations looked at)"
// Without the option nothing is said.
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2 model=analytic' -o /dev/null \
// RUN:   --remarks-filter=tgraph --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=SILENT --allow-empty
// SILENT-NOT: remark

func.func @two(%a: tensor<128x64xf32>, %b: tensor<64x96xf32>, %c: tensor<128x96xf32>, %d: tensor<96x64xf32>) -> tensor<128x64xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<128x64xf32>, tensor<64x96xf32>) outs(%c : tensor<128x96xf32>) -> tensor<128x96xf32>
  %s = linalg.matmul ins(%r, %d : tensor<128x96xf32>, tensor<96x64xf32>) outs(%a : tensor<128x64xf32>) -> tensor<128x64xf32>
  return %s : tensor<128x64xf32>
}
