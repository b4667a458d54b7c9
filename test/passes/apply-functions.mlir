// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations become calls: equal ones with equal choices share one function,
// with a name that tells what it does, at the place of the operation. Names
// that are taken are left to their owners.
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2 model=analytic' --tgraph-apply-layouts --verify-each --mlir-print-debuginfo --mlir-print-local-scope > %t
// RUN: FileCheck %s --implicit-check-not='linalg.matmul' < %t
// A second time there is nothing left to do.
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2 model=analytic' --tgraph-apply-layouts > %t.once
// RUN: %tgraph_opt %t.once --tgraph-apply-layouts | cmp - %t.once
// RUN: %tgraph_opt %s --mlir-disable-threading --tgraph-select-layouts='target=avx2 model=analytic' --tgraph-apply-layouts | cmp - %t.once
// After strip nothing of ours is left but the functions.
// RUN: %tgraph_opt %t.once --tgraph-strip | FileCheck %s --check-prefix=STRIP
// STRIP-NOT: tgraph.

// CHECK: tgraph.chosen = 0 : i64
// CHECK: func.func private @tgraph_matmul_32x48x16_f32() {
// CHECK: memref.global "private" @tgraph_matmul_32x48x16_f32_1 :
func.func private @tgraph_matmul_32x48x16_f32() {
  return
}
memref.global "private" @tgraph_matmul_32x48x16_f32_1 : memref<4xf32>

// CHECK-LABEL: func.func @f
// CHECK: call @tgraph_matmul_32x48x16_f32_2({{.*}} loc("{{.*}}apply-functions.mlir":[[#@LINE+6]]:8)
// CHECK: call @tgraph_matmul_32x48x16_f32_2(
// CHECK: call @tgraph_matmul_32x48x16_f64(
// CHECK: call @tgraph_conv_2d_nchw_fchw_1x8x6x6x4x3x3_f32(
func.func @f(%a: tensor<32x16xf32>, %b: tensor<16x48xf32>, %c: tensor<32x48xf32>, %p: tensor<32x16xf64>, %q: tensor<16x48xf64>, %r: tensor<32x48xf64>,
             %x: tensor<1x4x8x8xf32>, %w: tensor<8x4x3x3xf32>, %o: tensor<1x8x6x6xf32>) -> (tensor<32x48xf32>, tensor<32x48xf32>, tensor<32x48xf64>, tensor<1x8x6x6xf32>) {
  %0 = linalg.matmul ins(%a, %b : tensor<32x16xf32>, tensor<16x48xf32>) outs(%c : tensor<32x48xf32>) -> tensor<32x48xf32>
  %1 = linalg.matmul ins(%a, %b : tensor<32x16xf32>, tensor<16x48xf32>) outs(%0 : tensor<32x48xf32>) -> tensor<32x48xf32>
  %2 = linalg.matmul ins(%p, %q : tensor<32x16xf64>, tensor<16x48xf64>) outs(%r : tensor<32x48xf64>) -> tensor<32x48xf64>
  %3 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%x, %w : tensor<1x4x8x8xf32>, tensor<8x4x3x3xf32>) outs(%o : tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>
  return %0, %1, %2, %3 : tensor<32x48xf32>, tensor<32x48xf32>, tensor<32x48xf64>, tensor<1x8x6x6xf32>
}

// The same in another function is the same function.
// CHECK-LABEL: func.func @g
// CHECK: call @tgraph_matmul_32x48x16_f32_2(
func.func @g(%a: tensor<32x16xf32>, %b: tensor<16x48xf32>, %c: tensor<32x48xf32>) -> tensor<32x48xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<32x16xf32>, tensor<16x48xf32>) outs(%c : tensor<32x48xf32>) -> tensor<32x48xf32>
  return %0 : tensor<32x48xf32>
}
// CHECK: func.func private @tgraph_matmul_32x48x16_f32_2(
// CHECK: func.func private @tgraph_matmul_32x48x16_f64(
// CHECK: func.func private @tgraph_conv_2d_nchw_fchw_1x8x6x6x4x3x3_f32(
// CHECK-NOT: func.func
