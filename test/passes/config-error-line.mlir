// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The line that a user sees, the exit status, and that nothing comes out.
// RUN: not %tgraph_opt %s --tgraph-select-layouts='target=avx2 model=analytic report=%t.json' > %t.out 2> %t.err
// RUN: FileCheck %s < %t.err
// RUN: test ! -s %t.out
// RUN: test ! -e %t.json
// RUN: not %tgraph_opt %s --tgraph-cpu='target=avx2 model=analytic' 2>&1 | FileCheck %s
// RUN: not %tgraph_opt %s --tgraph-apply-layouts 2>&1 | FileCheck %s --check-prefix=APPLY
// APPLY: error: tgraph-apply-layouts: tgraph.config: version 7 is not 1
// CHECK: config-error-line.mlir:[[#@LINE+5]]:8: error: tgraph-select-layouts: tgraph.config: version 7 is not 1
// CHECK-NEXT: %r = linalg.matmul
// CHECK-NEXT: ^
// CHECK-NOT: error
func.func @f(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %r = linalg.matmul {tgraph.config = {version = 7}} ins(%a, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%a : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}
