// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The calling order of docs/prepack.md from C: @linear_prepack once, @linear_packed often.
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=generic prepack' --tgraph-apply-layouts --tgraph-lower -o %t.mlir
// RUN: %mlir_translate --mlir-to-llvmir %t.mlir -o %t.ll
// RUN: %llc -O2 -mtriple=x86_64-linux-gnu -relocation-model=pic -filetype=obj %t.ll -o %t.o
// RUN: cc -Wall -Werror %S/Inputs/call_prepack.c %t.o -lm -o %t.program
// RUN: %t.program | FileCheck %s
// CHECK: 48 48
// CHECK-NEXT: 96 96
// CHECK-NEXT: 144 144

func.func @linear(%x: tensor<100x96xf32>, %w: tensor<96x144xf32> {tgraph.weight}) -> tensor<100x144xf32> attributes {llvm.emit_c_interface} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<100x144xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<100x144xf32>) -> tensor<100x144xf32>
  %m = linalg.matmul ins(%x, %w : tensor<100x96xf32>, tensor<96x144xf32>) outs(%f : tensor<100x144xf32>) -> tensor<100x144xf32>
  return %m : tensor<100x144xf32>
}
