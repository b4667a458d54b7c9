// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums of products in f16 and bf16 are taken in f32 and rounded once: what the
// tile stores is narrow already.
// REQUIRES: tool
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx512 model=analytic' | FileCheck %s
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx512 model=analytic' --tgraph-apply-layouts | FileCheck %s --check-prefix=APPLY
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx512 model=none' | FileCheck %s --check-prefix=NONE
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx512' -o %t.once
// RUN: %tgraph_opt %t.once --tgraph-select-layouts='target=avx512' -o %t.twice
// RUN: cmp %t.once %t.twice
// RUN: %tgraph verify --function bf16 --target avx512 %s | FileCheck %s --check-prefix=EQUAL
// RUN: %tgraph verify --function bf16 --target avx2 %s | FileCheck %s --check-prefix=EQUAL
// RUN: %tgraph verify --function bf16 --target generic %s | FileCheck %s --check-prefix=EQUAL
// RUN: %tgraph verify --function f16_init --target avx512 %s | FileCheck %s --check-prefix=EQUAL
// RUN: %tgraph verify --function f16_init --target avx2 %s | FileCheck %s --check-prefix=EQUAL
// RUN: %tgraph verify --function f16_init --target generic %s | FileCheck %s --check-prefix=EQUAL
// RUN: %tgraph verify --function conv --target avx512 %s | FileCheck %s --check-prefix=EQUAL
// RUN: %tgraph verify --function conv --target avx2 %s | FileCheck %s --check-prefix=EQUAL
// RUN: %tgraph verify --function conv --target avx512 --reassociate %s | FileCheck %s --check-prefix=EQUAL
// RUN: %tgraph verify --function accumulator --target avx512 %s | FileCheck %s --check-prefix=EQUAL
// RUN: %tgraph verify --function dequantized --target avx512 %s | FileCheck %s --check-prefix=EQUAL
// RUN: %tgraph verify --function dequantized --target avx2 %s | FileCheck %s --check-prefix=EQUAL
// RUN: %tgraph verify --function cut --target avx512 %s | FileCheck %s --check-prefix=EQUAL
// RUN: %tgraph verify --function polynomials --target avx512 %s | FileCheck %s --check-prefix=EQUAL
// RUN: %tgraph verify --function polynomials --target avx2 %s | FileCheck %s --check-prefix=EQUAL
// Rounding takes no calls.
// RUN: %tgraph object --function conv --target avx512 %s -o %t.o
// RUN: not grep -q __truncsfbf2 %t.o
// EQUAL: equal max error

// CHECK-LABEL: func.func @bf16(
// CHECK: linalg.generic
// CHECK-SAME: schedule = "tiled"
// CHECK-SAME: tgraph.was = "linalg.matmul"
// CHECK: arith.extf
// CHECK: arith.addf {{.*}} : f32
// CHECK: linalg.generic
// CHECK: arith.truncf {{.*}} : f32 to bf16
// CHECK: return
// APPLY-LABEL: func.func @bf16(
// APPLY: %[[R:.*]] = call @tgraph_matmul_37x53x70_f32({{.*}}) : (tensor<37x70xbf16>, tensor<70x53xbf16>, tensor<37x53xbf16>) -> tensor<37x53xbf16>
// APPLY-NEXT: return %[[R]]
// NONE-LABEL: func.func @bf16(
// NONE: linalg.matmul
func.func @bf16(%a: tensor<37x70xbf16>, %b: tensor<70x53xbf16>) -> tensor<37x53xbf16> {
  %z = arith.constant 0.0 : bf16
  %e = tensor.empty() : tensor<37x53xbf16>
  %f = linalg.fill ins(%z : bf16) outs(%e : tensor<37x53xbf16>) -> tensor<37x53xbf16>
  %r = linalg.matmul ins(%a, %b : tensor<37x70xbf16>, tensor<70x53xbf16>) outs(%f : tensor<37x53xbf16>) -> tensor<37x53xbf16>
  return %r : tensor<37x53xbf16>
}

// The initial value is added in f32, too.
// CHECK-LABEL: func.func @f16_init(
// CHECK: schedule = "tiled"
// CHECK: arith.extf {{.*}} : f16 to f32
// CHECK: arith.truncf {{.*}} : f32 to f16
// APPLY-LABEL: func.func @f16_init(
// APPLY: call @tgraph_batch_matmul_2x21x40x33_f32({{.*}}) : (tensor<2x21x33xf16>, tensor<2x33x40xf16>, tensor<2x21x40xf16>, tensor<2x21x40xf16>) -> tensor<2x21x40xf16>
func.func @f16_init(%a: tensor<2x21x33xf16>, %b: tensor<2x33x40xf16>, %f: tensor<2x21x40xf16>) -> tensor<2x21x40xf16> {
  %r = linalg.batch_matmul ins(%a, %b : tensor<2x21x33xf16>, tensor<2x33x40xf16>) outs(%f : tensor<2x21x40xf16>) -> tensor<2x21x40xf16>
  return %r : tensor<2x21x40xf16>
}

// What follows is done in the tile, rounded where the program rounds.
#id = affine_map<(n, c, h, w) -> (n, c, h, w)>
#c = affine_map<(n, c, h, w) -> (c)>
// APPLY-LABEL: func.func @conv(
// APPLY: call @tgraph_conv_2d_nchw_fchw
// APPLY-NOT: linalg.generic
// APPLY: return
func.func @conv(%x: tensor<1x17x18x18xbf16>, %w: tensor<33x17x3x3xbf16>, %b: tensor<33xbf16>) -> tensor<1x33x16x16xbf16> {
  %z = arith.constant 0.0 : bf16
  %e = tensor.empty() : tensor<1x33x16x16xbf16>
  %f = linalg.fill ins(%z : bf16) outs(%e : tensor<1x33x16x16xbf16>) -> tensor<1x33x16x16xbf16>
  %r = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
    ins(%x, %w : tensor<1x17x18x18xbf16>, tensor<33x17x3x3xbf16>) outs(%f : tensor<1x33x16x16xbf16>) -> tensor<1x33x16x16xbf16>
  %g = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%r, %b : tensor<1x33x16x16xbf16>, tensor<33xbf16>) outs(%e : tensor<1x33x16x16xbf16>) {
  ^bb0(%v: bf16, %c: bf16, %o: bf16):
    %s = arith.addf %v, %c : bf16
    %u = arith.maximumf %s, %z : bf16
    linalg.yield %u : bf16
  } -> tensor<1x33x16x16xbf16>
  return %g : tensor<1x33x16x16xbf16>
}

// An accumulator of f32 and a rounding behind it, as torch-mlir exports them.
#two = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>
// APPLY-LABEL: func.func @accumulator(
// APPLY: call @tgraph_matmul_37x53x70_f32{{.*}} -> tensor<37x53xf16>
// APPLY-NOT: linalg.generic
// APPLY: return
func.func @accumulator(%a: tensor<37x70xf16>, %b: tensor<70x53xf16>, %c: tensor<53xf16>) -> tensor<37x53xf16> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<37x53xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<37x53xf32>) -> tensor<37x53xf32>
  %r = linalg.matmul ins(%a, %b : tensor<37x70xf16>, tensor<70x53xf16>) outs(%f : tensor<37x53xf32>) -> tensor<37x53xf32>
  %h = tensor.empty() : tensor<37x53xf16>
  %n = linalg.generic {indexing_maps = [#two, #two], iterator_types = ["parallel", "parallel"]}
    ins(%r : tensor<37x53xf32>) outs(%h : tensor<37x53xf16>) {
  ^bb0(%v: f32, %o: f16):
    %t = arith.truncf %v : f32 to f16
    linalg.yield %t : f16
  } -> tensor<37x53xf16>
  %g = linalg.generic {indexing_maps = [#two, #row, #two], iterator_types = ["parallel", "parallel"]}
    ins(%n, %c : tensor<37x53xf16>, tensor<53xf16>) outs(%h : tensor<37x53xf16>) {
  ^bb0(%v: f16, %k: f16, %o: f16):
    %t = arith.addf %v, %k : f16
    linalg.yield %t : f16
  } -> tensor<37x53xf16>
  return %g : tensor<37x53xf16>
}

// Sums of i32 become f32 and i8 in the tile.
// APPLY-LABEL: func.func @dequantized(
// APPLY: call @tgraph_matmul_37x53x70_i32{{.*}} -> tensor<37x53xi8>
// APPLY-NOT: linalg.generic
// APPLY: return
func.func @dequantized(%a: tensor<37x70xi8>, %b: tensor<70x53xi8>, %scale: tensor<53xf32>) -> tensor<37x53xi8> {
  %z = arith.constant 0 : i32
  %e = tensor.empty() : tensor<37x53xi32>
  %f = linalg.fill ins(%z : i32) outs(%e : tensor<37x53xi32>) -> tensor<37x53xi32>
  %r = linalg.matmul ins(%a, %b : tensor<37x70xi8>, tensor<70x53xi8>) outs(%f : tensor<37x53xi32>) -> tensor<37x53xi32>
  %h = tensor.empty() : tensor<37x53xf32>
  %n = linalg.generic {indexing_maps = [#two, #row, #two], iterator_types = ["parallel", "parallel"]}
    ins(%r, %scale : tensor<37x53xi32>, tensor<53xf32>) outs(%h : tensor<37x53xf32>) {
  ^bb0(%v: i32, %k: f32, %o: f32):
    %t = arith.sitofp %v : i32 to f32
    %m = arith.mulf %t, %k : f32
    linalg.yield %m : f32
  } -> tensor<37x53xf32>
  %q = tensor.empty() : tensor<37x53xi8>
  %g = linalg.generic {indexing_maps = [#two, #two], iterator_types = ["parallel", "parallel"]}
    ins(%n : tensor<37x53xf32>) outs(%q : tensor<37x53xi8>) {
  ^bb0(%v: f32, %o: i8):
    %t = arith.fptosi %v : f32 to i8
    linalg.yield %t : i8
  } -> tensor<37x53xi8>
  return %g : tensor<37x53xi8>
}

// A choice that is given goes along. Where the sum is cut and its result isn't
// packed, the partial sums are a tensor of f32, and the rounding reads it.
// CHECK-LABEL: func.func @cut(
// CHECK: cache_reduction = 16
// APPLY-LABEL: func.func @cut(
// APPLY: call @tgraph_matmul_37x53x70_f32{{.*}} -> tensor<37x53xf32>
func.func @cut(%a: tensor<37x70xbf16>, %b: tensor<70x53xbf16>) -> tensor<37x53xbf16> {
  %z = arith.constant 0.0 : bf16
  %e = tensor.empty() : tensor<37x53xbf16>
  %f = linalg.fill ins(%z : bf16) outs(%e : tensor<37x53xbf16>) -> tensor<37x53xbf16>
  %r = linalg.matmul {tgraph.config = {schedule = "tiled", version = 1 : i64, row_loops = [0], vector_loops = [1],
      register_rows = 4 : i64, register_vectors = 1 : i64, cache_rows = 0 : i64, cache_vector = 0 : i64, cache_reduction = 16 : i64,
      innermost = "rows", unroll = 4 : i64, pack = [], layouts = {lhs = [1, 0], rhs = [1, 0], result = [1, 0]}}}
    ins(%a, %b : tensor<37x70xbf16>, tensor<70x53xbf16>) outs(%f : tensor<37x53xbf16>) -> tensor<37x53xbf16>
  return %r : tensor<37x53xbf16>
}

// Without knowing the extents.
// APPLY-LABEL: func.func @dynamic(
// APPLY: call @tgraph_matmul_dxdxd_f32{{.*}} -> tensor<?x?xf32>
func.func @dynamic(%a: tensor<?x?xf16>, %b: tensor<?x?xf16>, %f: tensor<?x?xf16>) -> tensor<?x?xf16> {
  %r = linalg.matmul ins(%a, %b : tensor<?x?xf16>, tensor<?x?xf16>) outs(%f : tensor<?x?xf16>) -> tensor<?x?xf16>
  return %r : tensor<?x?xf16>
}

// CHECK-LABEL: func.func @skipped(
// CHECK: linalg.matmul {tgraph.skip}
func.func @skipped(%a: tensor<8x16xbf16>, %b: tensor<16x32xbf16>, %f: tensor<8x32xbf16>) -> tensor<8x32xbf16> {
  %r = linalg.matmul {tgraph.skip} ins(%a, %b : tensor<8x16xbf16>, tensor<16x32xbf16>) outs(%f : tensor<8x32xbf16>) -> tensor<8x32xbf16>
  return %r : tensor<8x32xbf16>
}

// Functions by way of f32.
// CHECK-LABEL: func.func @polynomials(
// CHECK: schedule = "vector"
func.func @polynomials(%a: tensor<37x70xbf16>) -> tensor<37x70xbf16> {
  %e = tensor.empty() : tensor<37x70xbf16>
  %r = linalg.generic {indexing_maps = [#two, #two], iterator_types = ["parallel", "parallel"]}
    ins(%a : tensor<37x70xbf16>) outs(%e : tensor<37x70xbf16>) {
  ^bb0(%x: bf16, %o: bf16):
    %y = math.exp %x : bf16
    %t = math.tanh %y : bf16
    %u = math.erf %t : bf16
    linalg.yield %u : bf16
  } -> tensor<37x70xbf16>
  return %r : tensor<37x70xbf16>
}
