// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sites in loops, branches, blocks, parallel loops and recursive functions are
// found, carried out and lowered, all with verification after each pass.
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2 model=analytic' --tgraph-apply-layouts --verify-each | FileCheck %s --implicit-check-not='linalg.matmul'
// RUN: %tgraph_opt %s --tgraph-cpu='target=avx2 model=analytic' --verify-each | FileCheck %s --check-prefix=LLVM --implicit-check-not=unrealized_conversion_cast
// RUN: %tgraph_opt %s --tgraph-cpu='target=avx512 model=analytic' --verify-each -o /dev/null
// RUN: %tgraph_opt %s --tgraph-cpu='target=generic model=none' --verify-each -o /dev/null

// CHECK: func.func private @declared(tensor<16x16xf32>) -> tensor<16x16xf32>
// LLVM: llvm.func @declared(
func.func private @declared(tensor<16x16xf32>) -> tensor<16x16xf32>

// CHECK-LABEL: @recursive
// CHECK: call @tgraph_matmul_16x16x16_f32(
// CHECK: scf.if
// CHECK: func.call @recursive
// LLVM: llvm.func @recursive({{.*}}target_cpu = "x86-64-v3"
func.func @recursive(%a: tensor<16x16xf32>, %n: i1) -> tensor<16x16xf32> {
  %r = linalg.matmul ins(%a, %a : tensor<16x16xf32>, tensor<16x16xf32>) outs(%a : tensor<16x16xf32>) -> tensor<16x16xf32>
  %s = scf.if %n -> tensor<16x16xf32> {
    %t = func.call @recursive(%r, %n) : (tensor<16x16xf32>, i1) -> tensor<16x16xf32>
    scf.yield %t : tensor<16x16xf32>
  } else {
    scf.yield %r : tensor<16x16xf32>
  }
  %u = func.call @declared(%s) : (tensor<16x16xf32>) -> tensor<16x16xf32>
  return %u : tensor<16x16xf32>
}

// CHECK-LABEL: @blocks
// CHECK: ^bb1
// CHECK: call @tgraph_
func.func @blocks(%a: tensor<16x16xf32>, %n: i1) -> tensor<16x16xf32> {
  cf.cond_br %n, ^b1(%a : tensor<16x16xf32>), ^b2(%a: tensor<16x16xf32>)
^b1(%x: tensor<16x16xf32>):
  %r = linalg.matmul ins(%x, %a : tensor<16x16xf32>, tensor<16x16xf32>) outs(%x : tensor<16x16xf32>) -> tensor<16x16xf32>
  cf.br ^b2(%r : tensor<16x16xf32>)
^b2(%y: tensor<16x16xf32>):
  return %y : tensor<16x16xf32>
}

// CHECK-LABEL: @loops
// CHECK: scf.forall
// CHECK: func.call @tgraph_
// CHECK: scf.for
// CHECK: func.call @tgraph_
// CHECK: scf.execute_region
// CHECK: func.call @tgraph_
func.func @loops(%a: tensor<16x16xf32>, %o: tensor<64x16xf32>, %n: index) -> (tensor<64x16xf32>, tensor<16x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %w = scf.forall (%i) in (4) shared_outs(%x = %o) -> tensor<64x16xf32> {
    %q = affine.apply affine_map<(i) -> (i * 16)>(%i)
    %s = tensor.extract_slice %x[%q, 0] [16, 16] [1, 1] : tensor<64x16xf32> to tensor<16x16xf32>
    %r = linalg.matmul ins(%s, %a : tensor<16x16xf32>, tensor<16x16xf32>) outs(%s : tensor<16x16xf32>) -> tensor<16x16xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %r into %x[%q, 0] [16, 16] [1, 1] : tensor<16x16xf32> into tensor<64x16xf32>
    }
  }
  %l = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %a) -> tensor<16x16xf32> {
    %r = linalg.matmul ins(%a, %a : tensor<16x16xf32>, tensor<16x16xf32>) outs(%acc : tensor<16x16xf32>) -> tensor<16x16xf32>
    scf.yield %r : tensor<16x16xf32>
  }
  %e = scf.execute_region -> tensor<16x16xf32> {
    %r = linalg.matmul ins(%l, %a : tensor<16x16xf32>, tensor<16x16xf32>) outs(%a : tensor<16x16xf32>) -> tensor<16x16xf32>
    scf.yield %r : tensor<16x16xf32>
  }
  return %w, %e : tensor<64x16xf32>, tensor<16x16xf32>
}
