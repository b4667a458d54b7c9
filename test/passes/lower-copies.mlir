// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The parts of a concatenation are copied by vectors along what is contiguous
// on both sides, whole blocks by memcpy, single elements by loops.
// REQUIRES: tool
// RUN: %tgraph_opt %s --tgraph-select-layouts='model=none target=avx2' --tgraph-lower --verify-each | FileCheck %s --implicit-check-not=memrefCopy
// RUN: %tgraph verify --target avx2 --function rows %s
// RUN: %tgraph verify --target avx2 --function images %s
// RUN: %tgraph verify --target avx2 --function blocks %s
// RUN: %tgraph verify --target avx2 --function elements %s
// RUN: %tgraph verify --target avx2 --function dynamic %s

// CHECK-LABEL: llvm.func @rows
// CHECK-COUNT-3: llvm.load {{.*}} -> vector<8xf32>
// CHECK: llvm.load {{.*}} -> f32
// CHECK-COUNT-3: llvm.load {{.*}} -> vector<8xf32>
// CHECK-LABEL: llvm.func @images
// CHECK: vector<8xf32>
// CHECK-LABEL: llvm.func @blocks
// CHECK-COUNT-2: llvm.intr.memcpy
// CHECK-LABEL: llvm.func @elements
// CHECK: llvm.load {{.*}} -> f64
// CHECK-LABEL: llvm.func @dynamic
// CHECK: vector<16xi16>
func.func @rows(%a: tensor<5x7x23xf32>, %b: tensor<5x7x1xf32>, %c: tensor<5x7x24xf32>) -> tensor<5x7x48xf32> {
  %0 = tensor.concat dim(2) %a, %b, %c : (tensor<5x7x23xf32>, tensor<5x7x1xf32>, tensor<5x7x24xf32>) -> tensor<5x7x48xf32>
  return %0 : tensor<5x7x48xf32>
}
func.func @images(%a: tensor<4x16x9x9xf32>, %b: tensor<4x3x9x9xf32>) -> tensor<4x19x9x9xf32> {
  %0 = tensor.concat dim(1) %a, %b : (tensor<4x16x9x9xf32>, tensor<4x3x9x9xf32>) -> tensor<4x19x9x9xf32>
  return %0 : tensor<4x19x9x9xf32>
}
func.func @blocks(%a: tensor<16x9xf32>, %b: tensor<3x9xf32>) -> tensor<19x9xf32> {
  %0 = tensor.concat dim(0) %a, %b : (tensor<16x9xf32>, tensor<3x9xf32>) -> tensor<19x9xf32>
  return %0 : tensor<19x9xf32>
}
func.func @elements(%a: tensor<4x9xf64>, %b: tensor<9x20xf64>) -> tensor<9x20xf64> {
  %0 = tensor.insert_slice %a into %b[3, 1][4, 9][1, 2] : tensor<4x9xf64> into tensor<9x20xf64>
  return %0 : tensor<9x20xf64>
}
func.func @dynamic(%a: tensor<6x14x48xi16> {tgraph.below = 9 : i64}, %n: index {tgraph.below = 13 : i64}) -> tensor<6x14x48xi16> {
  %c14 = arith.constant 14 : index
  %r = arith.subi %c14, %n : index
  %x = tensor.extract_slice %a[0, 0, 0] [6, %n, 48] [1, 1, 1] : tensor<6x14x48xi16> to tensor<6x?x48xi16>
  %y = tensor.extract_slice %a[0, %n, 0] [6, %r, 48] [1, 1, 1] : tensor<6x14x48xi16> to tensor<6x?x48xi16>
  %0 = tensor.concat dim(1) %y, %x : (tensor<6x?x48xi16>, tensor<6x?x48xi16>) -> tensor<6x14x48xi16>
  return %0 : tensor<6x14x48xi16>
}
