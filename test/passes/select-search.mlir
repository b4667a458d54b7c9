// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The options search, budget and seed: how many configurations are looked at.
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2 model=analytic report=%t.json' -o /dev/null
// RUN: FileCheck %s --check-prefix=AUTO < %t.json
// AUTO: "configs": {{[0-9]+}}, "scored": 256
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2 model=analytic search=exhaustive report=%t.json' -o /dev/null
// RUN: FileCheck %s --check-prefix=ALL < %t.json
// ALL: "configs": [[ALL:[0-9]+]], "scored": [[ALL]]
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2 model=analytic search=random budget=40 seed=3 report=%t.json' -o /dev/null
// RUN: FileCheck %s --check-prefix=RANDOM < %t.json
// RANDOM: "scored": 40
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2 model=analytic budget=2 report=%t.json' -o /dev/null
// RUN: FileCheck %s --check-prefix=TWO < %t.json
// TWO: "scored": 2

// The same seed, the same bytes; with any model, in one thread or many.
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2 search=random budget=40 seed=3' > %t.a
// RUN: %tgraph_opt %s --mlir-disable-threading --tgraph-select-layouts='target=avx2 search=random budget=40 seed=3' | cmp - %t.a

// RUN: not %tgraph_opt %s --tgraph-select-layouts='target=avx2 model=analytic budget=1' 2>&1 | FileCheck %s --check-prefix=SMALL
// SMALL: select-search.mlir:0:0: error: tgraph-select-layouts: option 'budget': 1 is not between 2 and 1000000

func.func @one(%a: tensor<128x64xf32>, %b: tensor<64x96xf32>, %c: tensor<128x96xf32>) -> tensor<128x96xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<128x64xf32>, tensor<64x96xf32>)
                     outs(%c : tensor<128x96xf32>) -> tensor<128x96xf32>
  return %r : tensor<128x96xf32>
}
