// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tool packs weights once, before the calls that it compares and times.
// REQUIRES: tool
// RUN: %tgraph verify --prepack --target avx2 --json %s | FileCheck %s --check-prefix=EQUAL
// RUN: %tgraph verify --prepack --target avx2 --function sum --json %s | FileCheck %s --check-prefix=EQUAL
// RUN: %tgraph verify --prepack --target avx2 --function unknown --weights 1 --json %s | FileCheck %s --check-prefix=EQUAL
// RUN: %tgraph bench --prepack --target avx2 --rounds 3 --json %s | FileCheck %s --check-prefix=EQUAL
// EQUAL: "equal": true
// RUN: not %tgraph verify --prepack --target avx2 --function unknown %s 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: no argument of @unknown is known to be a weight; name them with --weights
// RUN: not %tgraph verify --prepack --target avx2 --weights 9 %s 2>&1 | FileCheck %s --check-prefix=LIST
// LIST: option 'weights': no function has an argument 9
// RUN: %tgraph object --prepack --target avx2 %s -o %t.o && grep -q tg_prepack %t.o
// RUN: %tgraph object --target avx2 %s -o %t.plain.o && not grep -q tg_prepack %t.plain.o

// Two panels; the second weight is also read as it is, so that both functions
// take it; a weight stands before the input.
func.func @main(%w: tensor<96x144xf32> {tgraph.kind = "parameter"}, %x: tensor<100x96xf32>, %v: tensor<144x144xf32> {tgraph.kind = "parameter"}) -> (tensor<100x144xf32>, tensor<144x144xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<100x144xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<100x144xf32>) -> tensor<100x144xf32>
  %m = linalg.matmul ins(%x, %w : tensor<100x96xf32>, tensor<96x144xf32>) outs(%f : tensor<100x144xf32>) -> tensor<100x144xf32>
  %n = linalg.matmul ins(%m, %v : tensor<100x144xf32>, tensor<144x144xf32>) outs(%f : tensor<100x144xf32>) -> tensor<100x144xf32>
  %e2 = tensor.empty() : tensor<144x144xf32>
  %d = linalg.add ins(%v, %v : tensor<144x144xf32>, tensor<144x144xf32>) outs(%e2 : tensor<144x144xf32>) -> tensor<144x144xf32>
  return %n, %d : tensor<100x144xf32>, tensor<144x144xf32>
}

// Scalar results, and a weight that carries the mark itself.
func.func @sum(%x: tensor<100x96xf32>, %w: tensor<96x144xf32> {tgraph.weight}) -> (f32, f32) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<100x144xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<100x144xf32>) -> tensor<100x144xf32>
  %m = linalg.matmul ins(%x, %w : tensor<100x96xf32>, tensor<96x144xf32>) outs(%f : tensor<100x144xf32>) -> tensor<100x144xf32>
  %c = arith.constant 7 : index
  %r = tensor.extract %m[%c, %c] : tensor<100x144xf32>
  %q = tensor.extract %m[%c, %c] : tensor<100x144xf32>
  return %r, %q : f32, f32
}

func.func @unknown(%x: tensor<100x96xf32>, %w: tensor<96x144xf32>) -> tensor<100x144xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<100x144xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<100x144xf32>) -> tensor<100x144xf32>
  %m = linalg.matmul ins(%x, %w : tensor<100x96xf32>, tensor<96x144xf32>) outs(%f : tensor<100x144xf32>) -> tensor<100x144xf32>
  return %m : tensor<100x144xf32>
}
