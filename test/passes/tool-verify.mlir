// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tool on a small program: equal results, the JSON keys that others rely
// on, and a reference that proves nothing.
// REQUIRES: tool
// RUN: %tgraph verify --model analytic --json %s | FileCheck %s --check-prefix=VERIFY
// RUN: %tgraph bench --model analytic --rounds 3 --json %s | FileCheck %s --check-prefix=BENCH
// RUN: not %tgraph verify --model analytic --function constant %s | FileCheck %s --check-prefix=CONSTANT
// RUN: %tgraph verify --model analytic --function integers %s | FileCheck %s --check-prefix=TABLE

// VERIFY: "equal": true
// VERIFY: "max_rel_error": {{[0-9]}}
// BENCH: "stock_us": {{[0-9]}}
// BENCH: "ours_us": {{[0-9]}}
// BENCH: "analytic_us": {{[0-9]}}
// BENCH: "best_us": {{[0-9]}}
// BENCH: "speedup": {{[0-9]}}
// BENCH: "gflops": {{[0-9]}}
// BENCH: "peak_gflops": {{[0-9]}}
// BENCH: "max_rel_error": {{[0-9]}}
// BENCH: "select_ms": {{[0-9]}}
// BENCH: "scratch_bytes": {{[1-9]}}
// CONSTANT: DIFFERENT
// CONSTANT: result 0 of the stock lowering is constant: the data prove nothing
// TABLE: equal

func.func @main(%a: tensor<24x40xf32>, %b: tensor<40x32xf32>)
    -> (tensor<24x32xf32>, tensor<24x40xf32>, f32) {
  %zero = arith.constant 0.0 : f32
  %at = arith.constant 3 : index
  %empty = tensor.empty() : tensor<24x32xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<24x32xf32>)
    -> tensor<24x32xf32>
  %r = linalg.matmul ins(%a, %b : tensor<24x40xf32>, tensor<40x32xf32>)
    outs(%init : tensor<24x32xf32>) -> tensor<24x32xf32>
  %one = tensor.extract %a[%at, %at] : tensor<24x40xf32>
  return %r, %a, %one : tensor<24x32xf32>, tensor<24x40xf32>, f32
}

func.func @constant() -> tensor<4xf32> {
  %c = arith.constant dense<1.0> : tensor<4xf32>
  return %c : tensor<4xf32>
}

func.func @integers(%a: tensor<8xi32> {tgraph.below = 100 : i64},
                    %b: tensor<8xi32>) -> tensor<8xi32> {
  %r = linalg.add ins(%a, %b : tensor<8xi32>, tensor<8xi32>)
    outs(%a : tensor<8xi32>) -> tensor<8xi32>
  return %r : tensor<8xi32>
}
