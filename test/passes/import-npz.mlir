// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The graph as a file: the keys of TpuGraphs, and this project's beside them.
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2 model=analytic dump-graph=%t.npz' -o /dev/null
// RUN: python3 -m zipfile -l %t.npz | FileCheck %s
// CHECK-DAG: edge_index.npy
// CHECK-DAG: node_config_ids.npy
// CHECK-DAG: node_feat.npy
// CHECK-DAG: node_feat_names.npy
// CHECK-DAG: node_names.npy
// CHECK-DAG: node_opcode.npy
// CHECK-DAG: node_splits.npy
// CHECK-DAG: target.npy
// CHECK-DAG: target_names.npy
// Twice the same program, twice the same bytes.
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2 model=analytic dump-graph=%t.again.npz' -o /dev/null
// RUN: cmp %t.npz %t.again.npz

func.func @one(%a: tensor<128x64xf32>, %b: tensor<64x96xf32>, %c: tensor<128x96xf32>) -> tensor<128x96xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<128x64xf32>, tensor<64x96xf32>) outs(%c : tensor<128x96xf32>) -> tensor<128x96xf32>
  return %r : tensor<128x96xf32>
}
