// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A second run changes nothing, whatever it is asked; `overwrite` chooses anew.
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2 model=analytic' > %t.once
// RUN: %tgraph_opt %t.once --tgraph-select-layouts='target=avx2 model=analytic' | cmp - %t.once
// RUN: %tgraph_opt %t.once --tgraph-select-layouts='target=avx2 model=none' | cmp - %t.once
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2 model=analytic' --tgraph-select-layouts='target=avx2 model=analytic' | cmp - %t.once
// RUN: %tgraph_opt %t.once --tgraph-select-layouts='target=avx2 model=none overwrite' | FileCheck %s --check-prefix=NONE
// NONE: tgraph.model = "none"
// NONE: schedule = "stock"
// RUN: %tgraph_opt %t.once --tgraph-select-layouts='target=avx2 model=analytic explain' -o /dev/null \
// RUN:   --remarks-filter-analyse=tgraph --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=KEPT
// KEPT: remark: {{.*}}the choice stood already
// A machine that can't carry the old choice out is told so.
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx512 model=analytic' > %t.wide
// RUN: not %tgraph_opt %t.wide --tgraph-select-layouts='target=avx2 model=analytic' 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: error: tgraph-select-layouts: tgraph.config: {{.*}} (option 'overwrite' chooses anew)
// RUN: %tgraph_opt %t.wide --tgraph-select-layouts='target=avx2 model=analytic overwrite' | cmp - %t.once

// Bytecode in between, and text, are the same.
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2 model=analytic' --emit-bytecode -o %t.bc
// RUN: %tgraph_opt %t.bc --tgraph-select-layouts='target=avx2 model=analytic' | cmp - %t.once
// RUN: %tgraph_opt %t.bc --tgraph-apply-layouts > %t.from.bytecode
// RUN: %tgraph_opt %t.once --tgraph-apply-layouts | cmp - %t.from.bytecode

func.func @one(%a: tensor<128x512xf32>, %b: tensor<512x512xf32>, %c: tensor<128x512xf32>) -> tensor<128x512xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<128x512xf32>, tensor<512x512xf32>)
                     outs(%c : tensor<128x512xf32>) -> tensor<128x512xf32>
  return %r : tensor<128x512xf32>
}
