// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Packs and unpacks, static or dynamic, whole or padded, are decomposed first.
// RUN: %tgraph_opt %s --tgraph-lower --verify-each | FileCheck %s --implicit-check-not=unrealized_conversion_cast --implicit-check-not='linalg.'
// CHECK: llvm.func @unpack
// CHECK: llvm.func @pack
// CHECK: llvm.func @dynamic
func.func @unpack(%t: tensor<4x5x8xf32>) -> tensor<4x38xf32> {
  %d = tensor.empty() : tensor<4x38xf32>
  %u = linalg.unpack %t inner_dims_pos = [1] inner_tiles = [8] into %d : tensor<4x5x8xf32> -> tensor<4x38xf32>
  return %u : tensor<4x38xf32>
}
func.func @pack(%t: tensor<4x38xf32>) -> tensor<4x5x8xf32> {
  %d = tensor.empty() : tensor<4x5x8xf32>
  %z = arith.constant 0.0 : f32
  %p = linalg.pack %t padding_value(%z : f32) inner_dims_pos = [1] inner_tiles = [8] into %d : tensor<4x38xf32> -> tensor<4x5x8xf32>
  return %p : tensor<4x5x8xf32>
}
func.func @dynamic(%t: tensor<?x5x?xf32>, %n: index, %m: index) -> tensor<?x?xf32> {
  %d = tensor.empty(%n, %m) : tensor<?x?xf32>
  %u = linalg.unpack %t inner_dims_pos = [1] inner_tiles = [%m] into %d : tensor<?x5x?xf32> -> tensor<?x?xf32>
  return %u : tensor<?x?xf32>
}
