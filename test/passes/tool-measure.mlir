// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Measuring a small kernel: the file is written, a second run finds nothing to
// do, the columns can be computed anew. No time is asserted.
// REQUIRES: tool
// RUN: rm -rf %t && %tgraph measure --list %s | FileCheck %s --check-prefix=LIST
// RUN: %tgraph measure --configs 3 -o %t %s | FileCheck %s --check-prefix=FIRST
// RUN: %tgraph measure --configs 3 -o %t %s | FileCheck %s --check-prefix=SECOND
// RUN: %tgraph measure --refresh -o %t | FileCheck %s --check-prefix=REFRESH
// RUN: %tgraph measure --again -o %t | FileCheck %s --check-prefix=AGAIN

// RUN: %tgraph measure --list --json %s | %python -c "import json, sys; print(json.load(sys.stdin)[0]['hash'])" > %t.hash
// RUN: xargs %tgraph measure --list %s --hash < %t.hash | FileCheck %s --check-prefix=LIST
// RUN: not %tgraph measure --list --hash 0123456789abcdef %s 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not %tgraph measure --list --hash 12 %s 2>&1 | FileCheck %s --check-prefix=DIGITS

// LIST: tool-measure.matmul.16x16_16 {{.*}} 2 no tool-measure
// NONE: error: measure: option --hash: no kernel has the hash 0123456789abcdef
// DIGITS: error: measure: option --hash: '12' is not of 16 hexadecimal digits
// FIRST: 1 kernels, 0 already measured
// FIRST: 1 kernels measured, 0 without result
// SECOND: 1 kernels, 1 already measured
// REFRESH: 1 files brought up to date
// AGAIN: kernel-{{[0-9a-f]+}}.npz measured again

func.func @main(%a: tensor<16x16xf32>, %b: tensor<16x16xf32>)
    -> tensor<16x16xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<16x16xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<16x16xf32>)
    -> tensor<16x16xf32>
  %r = linalg.matmul ins(%a, %b : tensor<16x16xf32>, tensor<16x16xf32>)
    outs(%init : tensor<16x16xf32>) -> tensor<16x16xf32>
  %s = linalg.matmul ins(%r, %b : tensor<16x16xf32>, tensor<16x16xf32>)
    outs(%init : tensor<16x16xf32>) -> tensor<16x16xf32>
  return %s : tensor<16x16xf32>
}
