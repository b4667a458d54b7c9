// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Remarks have the category tgraph and the name of the pass, and come through
// MLIR's remark engine: on the terminal or into a file.
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2 model=analytic explain' -o /dev/null \
// RUN:   --remarks-filter-analyse=tgraph --remark-format=emitRemark 2>&1 | FileCheck %s
// CHECK: cli-remarks.mlir:[[#@LINE+12]]:{{[0-9]+}}: remark: [Analysis] tgraph-select-layouts | Category:tgraph | Remark="
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2 model=analytic explain' -o /dev/null \
// RUN:   --remarks-filter=tgraph --remark-format=yaml --remarks-output-file=%t.yaml
// RUN: FileCheck %s --check-prefix=YAML < %t.yaml
// YAML: Pass: {{ *}}tgraph
// YAML: Name: {{ *}}tgraph-select-layouts
// Without a filter nothing is said.
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2 model=analytic explain' -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=SILENT --allow-empty
// SILENT-NOT: remark

func.func @one(%a: tensor<128x64xf32>, %b: tensor<64x96xf32>, %c: tensor<128x96xf32>) -> tensor<128x96xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<128x64xf32>, tensor<64x96xf32>) outs(%c : tensor<128x96xf32>) -> tensor<128x96xf32>
  return %r : tensor<128x96xf32>
}
