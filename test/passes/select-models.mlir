// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The option model, one value at a time.
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2 model=analytic' | FileCheck %s --check-prefix=ANALYTIC
// ANALYTIC: tgraph.model = "analytic"
// ANALYTIC: schedule = "tiled"
// none keeps the stock choice, and says so.
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2 model=none' | FileCheck %s --check-prefix=NONE
// NONE: tgraph.model = "none"
// NONE: linalg.matmul {tgraph.config = {layouts = {lhs = [1, 0], result = [1, 0], rhs = [1, 0]}, schedule = "stock", version = 1 : i64}}
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2 model=embedded' | FileCheck %s --check-prefix=EMBEDDED
// EMBEDDED: tgraph.model = "embedded, schema {{[0-9a-f]+}}"
// EMBEDDED: schedule = "tiled"
// The weights of the build, as a file, choose what the embedded ones do.
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2 model=%root/model/weights.tgw' | FileCheck %s --check-prefix=FILE
// FILE: tgraph.model = "file, schema {{[0-9a-f]+}}"
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2 model=embedded' | grep -o 'tgraph.config.*' > %t.embedded
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2 model=%root/model/weights.tgw' | grep -o 'tgraph.config.*' | cmp - %t.embedded

func.func @one(%a: tensor<128x64xf32>, %b: tensor<64x96xf32>, %c: tensor<128x96xf32>) -> tensor<128x96xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<128x64xf32>, tensor<64x96xf32>)
                     outs(%c : tensor<128x96xf32>) -> tensor<128x96xf32>
  return %r : tensor<128x96xf32>
}
