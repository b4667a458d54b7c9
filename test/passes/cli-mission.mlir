// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The plain command line, with every default: the embedded model, this machine.
// RUN: %mlir_opt --load-pass-plugin=%plugin --tgraph-select-layouts %s --verify-each | FileCheck %s
// RUN: %mlir_opt --load-pass-plugin=%plugin --pass-pipeline='builtin.module(tgraph-select-layouts)' %s | FileCheck %s
// CHECK: module attributes {{[{].*}}tgraph.model = {{.*}}tgraph.target = 
// CHECK: linalg.matmul {tgraph.config = {
func.func @one(%a: tensor<128x64xf32>, %b: tensor<64x96xf32>, %c: tensor<128x96xf32>) -> tensor<128x96xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<128x64xf32>, tensor<64x96xf32>) outs(%c : tensor<128x96xf32>) -> tensor<128x96xf32>
  return %r : tensor<128x96xf32>
}
