// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loading the plugin again is harmless, be it the same file or a copy of it.
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2 model=analytic' > %t.once
// RUN: %tgraph_opt --load-pass-plugin=%plugin %s --tgraph-select-layouts='target=avx2 model=analytic' > %t.twice
// RUN: cp %plugin %t.copy.so
// RUN: %tgraph_opt --load-pass-plugin=%t.copy.so %s --tgraph-select-layouts='target=avx2 model=analytic' > %t.both
// RUN: cmp %t.once %t.twice
// RUN: cmp %t.once %t.both

// The same bytes with and without threads.
// RUN: %tgraph_opt %s --mlir-disable-threading --tgraph-select-layouts='target=avx2 model=analytic' > %t.alone
// RUN: cmp %t.once %t.alone

// The plugin brings no second MLIR, and keeps the C API to itself.
// RUN: ldd %plugin | grep -c libMLIR | FileCheck %s --check-prefix=MLIR
// MLIR: {{^1$}}
// RUN: nm -D --defined-only %plugin | FileCheck %s --check-prefix=SYMBOLS
// SYMBOLS-NOT: mlirOperation
// SYMBOLS: mlirGetPassPluginInfo
// SYMBOLS-NOT: mlirOperation

func.func @one(%a: tensor<128x64xf32>, %b: tensor<64x96xf32>, %c: tensor<128x96xf32>) -> tensor<128x96xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<128x64xf32>, tensor<64x96xf32>)
                     outs(%c : tensor<128x96xf32>) -> tensor<128x96xf32>
  return %r : tensor<128x96xf32>
}
