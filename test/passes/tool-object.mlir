// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tgraph object: an object file for each side, and what it says of it.
// REQUIRES: tool
// RUN: %tgraph object --model analytic --json %s -o %t.o | FileCheck %s --check-prefix=JSON
// RUN: %tgraph object --model analytic %s -o %t.again.o | FileCheck %s --check-prefix=TEXT
// RUN: cmp %t.o %t.again.o
// RUN: %tgraph object --side stock %s -o %t.stock.o
// RUN: not cmp %t.o %t.stock.o
// RUN: grep -q tg_call %t.stock.o
// RUN: not %tgraph object %s 2>&1 | FileCheck %s --check-prefix=PATH
// RUN: not %tgraph object --side left %s -o %t.o 2>&1 | FileCheck %s --check-prefix=SIDE
// RUN: not %tgraph object %s -o %t.none/x.o 2>&1 | FileCheck %s --check-prefix=FOLDER
// RUN: not %tgraph object %s %s -o %t.o 2>&1 | FileCheck %s --check-prefix=COUNT

// JSON: "hash": "{{[0-9a-f]+}}"
// JSON: "nbytes": {{[0-9]+}}
// JSON: "choices": 1
// JSON: "compile_ms": {{[0-9]}}
// JSON: "arguments": [
// JSON-NEXT: {
// JSON-NEXT: "dtype": "f32",
// JSON-NEXT: "shape": [
// JSON-NEXT: 24,
// JSON-NEXT: 40
// JSON: "results": [
// JSON-NEXT: {
// JSON-NEXT: "dtype": "f32",
// JSON-NEXT: "shape": [
// JSON-NEXT: 24,
// JSON-NEXT: 32
// TEXT: matmul
// TEXT: bytes; chosen in
// PATH: tgraph: error: object: option -o FILE is missing
// SIDE: tgraph: error: object: option --side: there is no 'left'
// FOLDER: tgraph: error: {{.*}}x.o
// COUNT: tgraph: error: object: takes one program, but got 2

func.func @main(%a: tensor<24x40xf32>, %b: tensor<40x32xf32>) -> tensor<24x32xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<24x32xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<24x32xf32>)
    -> tensor<24x32xf32>
  %r = linalg.matmul ins(%a, %b : tensor<24x40xf32>, tensor<40x32xf32>)
    outs(%init : tensor<24x32xf32>) -> tensor<24x32xf32>
  return %r : tensor<24x32xf32>
}
