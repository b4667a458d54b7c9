// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Narrow inputs are extended when they are read; sums of integers are exact.
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2' | FileCheck %s
// RUN: %tgraph verify --function i8 --target avx512 %s | FileCheck %s --check-prefix=EQUAL
// RUN: %tgraph verify --function i8 --target avx2 %s | FileCheck %s --check-prefix=EQUAL
// RUN: %tgraph verify --function i8_unsigned --target avx512 %s | FileCheck %s --check-prefix=EQUAL
// RUN: %tgraph verify --function i8_unsigned --target avx2 %s | FileCheck %s --check-prefix=EQUAL
// RUN: %tgraph verify --function i8_i16 --target avx512 %s | FileCheck %s --check-prefix=EQUAL
// RUN: %tgraph verify --function i8_i16 --target avx2 %s | FileCheck %s --check-prefix=EQUAL
// RUN: %tgraph verify --function i32 --target avx512 %s | FileCheck %s --check-prefix=EQUAL
// RUN: %tgraph verify --function i32 --target avx2 %s | FileCheck %s --check-prefix=EQUAL
// RUN: %tgraph verify --function bf16 --target avx512 %s | FileCheck %s --check-prefix=EQUAL
// RUN: %tgraph verify --function bf16 --target avx2 %s | FileCheck %s --check-prefix=EQUAL
// RUN: %tgraph verify --function f16 --target avx512 %s | FileCheck %s --check-prefix=EQUAL
// RUN: %tgraph verify --function f16 --target avx2 %s | FileCheck %s --check-prefix=EQUAL
// RUN: %tgraph verify --function bf16_f32 --target avx512 %s | FileCheck %s --check-prefix=EQUAL
// RUN: %tgraph verify --function bf16_f32 --target avx2 %s | FileCheck %s --check-prefix=EQUAL
// RUN: %tgraph verify --function f32_f64 --target avx512 %s | FileCheck %s --check-prefix=EQUAL
// RUN: %tgraph verify --function f32_f64 --target avx2 %s | FileCheck %s --check-prefix=EQUAL
// RUN: %tgraph verify --function bf16_row --target avx512 %s | FileCheck %s --check-prefix=EQUAL
// RUN: %tgraph verify --function bf16_row --target avx2 %s | FileCheck %s --check-prefix=EQUAL
// RUN: %tgraph verify --function i8_transposed --target avx512 %s | FileCheck %s --check-prefix=EQUAL
// RUN: %tgraph verify --function i8_transposed --target avx2 %s | FileCheck %s --check-prefix=EQUAL
// RUN: %tgraph verify --function i8_conv --target avx512 %s | FileCheck %s --check-prefix=EQUAL
// RUN: %tgraph verify --function i8_conv --target avx2 %s | FileCheck %s --check-prefix=EQUAL
// RUN: %tgraph verify --function i8 --target generic %s | FileCheck %s --check-prefix=EQUAL
// RUN: %tgraph verify --function bf16 --target generic %s | FileCheck %s --check-prefix=EQUAL
// EQUAL: equal max error

// CHECK-LABEL: func.func @i8(
// CHECK: schedule = "tiled"
func.func @i8(%a: tensor<37x70xi8>, %b: tensor<70x53xi8>) -> tensor<37x53xi32> {
  %z = arith.constant 0 : i32
  %e = tensor.empty() : tensor<37x53xi32>
  %f = linalg.fill ins(%z : i32) outs(%e : tensor<37x53xi32>) -> tensor<37x53xi32>
  %r = linalg.matmul ins(%a, %b : tensor<37x70xi8>, tensor<70x53xi8>) outs(%f : tensor<37x53xi32>) -> tensor<37x53xi32>
  return %r : tensor<37x53xi32>
}
// CHECK-LABEL: func.func @i8_unsigned(
// CHECK: schedule = "tiled"
func.func @i8_unsigned(%a: tensor<20x35xi8>, %b: tensor<35x48xi8>) -> tensor<20x48xi32> {
  %z = arith.constant 0 : i32
  %e = tensor.empty() : tensor<20x48xi32>
  %f = linalg.fill ins(%z : i32) outs(%e : tensor<20x48xi32>) -> tensor<20x48xi32>
  %r = linalg.matmul {cast = #linalg.type_fn<cast_unsigned>} ins(%a, %b : tensor<20x35xi8>, tensor<35x48xi8>) outs(%f : tensor<20x48xi32>) -> tensor<20x48xi32>
  return %r : tensor<20x48xi32>
}
// CHECK-LABEL: func.func @i8_i16(
// CHECK: schedule = "tiled"
func.func @i8_i16(%a: tensor<20x35xi8>, %b: tensor<35x48xi16>) -> tensor<20x48xi32> {
  %z = arith.constant 0 : i32
  %e = tensor.empty() : tensor<20x48xi32>
  %f = linalg.fill ins(%z : i32) outs(%e : tensor<20x48xi32>) -> tensor<20x48xi32>
  %r = linalg.matmul ins(%a, %b : tensor<20x35xi8>, tensor<35x48xi16>) outs(%f : tensor<20x48xi32>) -> tensor<20x48xi32>
  return %r : tensor<20x48xi32>
}
// CHECK-LABEL: func.func @i32(
// CHECK: schedule = "tiled"
func.func @i32(%a: tensor<33x41xi32>, %b: tensor<41x50xi32>) -> tensor<33x50xi32> {
  %z = arith.constant 0 : i32
  %e = tensor.empty() : tensor<33x50xi32>
  %f = linalg.fill ins(%z : i32) outs(%e : tensor<33x50xi32>) -> tensor<33x50xi32>
  %r = linalg.matmul ins(%a, %b : tensor<33x41xi32>, tensor<41x50xi32>) outs(%f : tensor<33x50xi32>) -> tensor<33x50xi32>
  return %r : tensor<33x50xi32>
}
// CHECK-LABEL: func.func @bf16(
// CHECK: schedule = "tiled"
func.func @bf16(%a: tensor<37x70xbf16>, %b: tensor<70x53xbf16>) -> tensor<37x53xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<37x53xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<37x53xf32>) -> tensor<37x53xf32>
  %r = linalg.matmul ins(%a, %b : tensor<37x70xbf16>, tensor<70x53xbf16>) outs(%f : tensor<37x53xf32>) -> tensor<37x53xf32>
  return %r : tensor<37x53xf32>
}
// CHECK-LABEL: func.func @f16(
// CHECK: schedule = "tiled"
func.func @f16(%a: tensor<37x70xf16>, %b: tensor<70x53xf16>) -> tensor<37x53xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<37x53xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<37x53xf32>) -> tensor<37x53xf32>
  %r = linalg.matmul ins(%a, %b : tensor<37x70xf16>, tensor<70x53xf16>) outs(%f : tensor<37x53xf32>) -> tensor<37x53xf32>
  return %r : tensor<37x53xf32>
}
// CHECK-LABEL: func.func @bf16_f32(
// CHECK: schedule = "tiled"
func.func @bf16_f32(%a: tensor<37x70xbf16>, %b: tensor<70x53xf32>) -> tensor<37x53xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<37x53xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<37x53xf32>) -> tensor<37x53xf32>
  %r = linalg.matmul ins(%a, %b : tensor<37x70xbf16>, tensor<70x53xf32>) outs(%f : tensor<37x53xf32>) -> tensor<37x53xf32>
  return %r : tensor<37x53xf32>
}
// CHECK-LABEL: func.func @f32_f64(
// CHECK: schedule = "tiled"
func.func @f32_f64(%a: tensor<37x30xf32>, %b: tensor<30x53xf32>) -> tensor<37x53xf64> {
  %z = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<37x53xf64>
  %f = linalg.fill ins(%z : f64) outs(%e : tensor<37x53xf64>) -> tensor<37x53xf64>
  %r = linalg.matmul ins(%a, %b : tensor<37x30xf32>, tensor<30x53xf32>) outs(%f : tensor<37x53xf64>) -> tensor<37x53xf64>
  return %r : tensor<37x53xf64>
}
// CHECK-LABEL: func.func @bf16_row(
// CHECK: schedule = "tiled"
func.func @bf16_row(%a: tensor<1x100xbf16>, %b: tensor<100x130xbf16>) -> tensor<1x130xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x130xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x130xf32>) -> tensor<1x130xf32>
  %r = linalg.matmul ins(%a, %b : tensor<1x100xbf16>, tensor<100x130xbf16>) outs(%f : tensor<1x130xf32>) -> tensor<1x130xf32>
  return %r : tensor<1x130xf32>
}
// CHECK-LABEL: func.func @i8_transposed(
// CHECK: schedule = "tiled"
func.func @i8_transposed(%a: tensor<40x130xi8>, %b: tensor<60x130xi8>, %f: tensor<40x60xi32>) -> tensor<40x60xi32> {
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%a, %b : tensor<40x130xi8>, tensor<60x130xi8>) outs(%f : tensor<40x60xi32>) -> tensor<40x60xi32>
  return %r : tensor<40x60xi32>
}
// CHECK-LABEL: func.func @i8_conv(
// CHECK: schedule = "tiled"
func.func @i8_conv(%a: tensor<2x5x15x35xi8>, %b: tensor<17x5x3x3xi8>, %f: tensor<2x17x7x17xi32>) -> tensor<2x17x7x17xi32> {
  %r = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>}
    ins(%a, %b : tensor<2x5x15x35xi8>, tensor<17x5x3x3xi8>) outs(%f : tensor<2x17x7x17xi32>) -> tensor<2x17x7x17xi32>
  return %r : tensor<2x17x7x17xi32>
}
