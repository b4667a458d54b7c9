// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What has no configurations goes through select and apply as it is, and lowers
// as the stock pipeline lowers it.
// RUN: %mlir_opt %s > %t.plain
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2 model=analytic' --tgraph-apply-layouts --tgraph-strip --verify-each | diff %t.plain -
// RUN: %tgraph_opt %s --tgraph-cpu='target=avx2 model=analytic' --verify-each | FileCheck %s
// CHECK-COUNT-9: llvm.func @
module {
  func.func private @unranked_out(tensor<*xf32>) -> tensor<*xf32>
  func.func @unranked(%a: tensor<*xf32>) -> tensor<*xf32> {
    %r = call @unranked_out(%a) : (tensor<*xf32>) -> tensor<*xf32>
    return %r : tensor<*xf32>
  }
  func.func @memref(%a: memref<4x4xf32>, %b: memref<4x4xf32>) {
    linalg.matmul ins(%a, %a : memref<4x4xf32>, memref<4x4xf32>) outs(%b : memref<4x4xf32>)
    return
  }
  func.func @zero(%a: tensor<0x4xf32>, %b: tensor<4x4xf32>) -> tensor<0x4xf32> {
    %r = linalg.matmul ins(%a, %b : tensor<0x4xf32>, tensor<4x4xf32>) outs(%a : tensor<0x4xf32>) -> tensor<0x4xf32>
    return %r : tensor<0x4xf32>
  }
  func.func @dynamic(%a: tensor<?x4xf8E5M2>, %b: tensor<4x4xf8E5M2>) -> tensor<?x4xf8E5M2> {
    %r = linalg.matmul ins(%a, %b : tensor<?x4xf8E5M2>, tensor<4x4xf8E5M2>) outs(%a : tensor<?x4xf8E5M2>) -> tensor<?x4xf8E5M2>
    return %r : tensor<?x4xf8E5M2>
  }
  func.func @complex(%a: tensor<4x4xcomplex<f32>>) -> tensor<4x4xcomplex<f32>> {
    %r = linalg.matmul ins(%a, %a : tensor<4x4xcomplex<f32>>, tensor<4x4xcomplex<f32>>) outs(%a : tensor<4x4xcomplex<f32>>) -> tensor<4x4xcomplex<f32>>
    return %r : tensor<4x4xcomplex<f32>>
  }
  func.func @index(%a: tensor<4xindex>) -> tensor<4xindex> {
    %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a : tensor<4xindex>) outs(%a : tensor<4xindex>) {
    ^bb0(%in: index, %out: index):
      %0 = arith.divui %in, %in : index
      linalg.yield %0 : index
    } -> tensor<4xindex>
    return %r : tensor<4xindex>
  }
  func.func @sub_byte(%a: tensor<4x4xi4>, %c: tensor<4x4xi32>) -> tensor<4x4xi32> {
    %r = linalg.matmul ins(%a, %a : tensor<4x4xi4>, tensor<4x4xi4>) outs(%c : tensor<4x4xi32>) -> tensor<4x4xi32>
    return %r : tensor<4x4xi32>
  }
  func.func @unsigned(%a: tensor<4x4xui8>) -> tensor<4x4xui8> {
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j, i)>], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<4x4xui8>) outs(%a : tensor<4x4xui8>) {
    ^bb0(%in: ui8, %out: ui8):
      linalg.yield %in : ui8
    } -> tensor<4x4xui8>
    return %r : tensor<4x4xui8>
  }
  func.func @huge(%a: tensor<2199023255552x2xf32>, %b: tensor<2x2xf32>) -> tensor<2199023255552x2xf32> {
    %r = linalg.matmul ins(%a, %b : tensor<2199023255552x2xf32>, tensor<2x2xf32>) outs(%a : tensor<2199023255552x2xf32>) -> tensor<2199023255552x2xf32>
    return %r : tensor<2199023255552x2xf32>
  }
}
