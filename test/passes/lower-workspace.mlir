// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Buffers that a function makes and frees itself lie in one allocation, each in
// a place that is its own only while it is used; what is returned, and what may
// have been kept by somebody, has an allocation of its own.
// RUN: %tgraph_opt %s --tgraph-lower | FileCheck %s

func.func private @step(memref<1024xf32>, memref<1024xf32>)
func.func private @pass(memref<1024xf32>) -> memref<1024xf32>

// Of three buffers of 4096 bytes two are in use at a time: 8192 and what
// aligning takes.
// CHECK-LABEL: llvm.func @chain
// CHECK-SAME: tgraph.live_bytes = 8192 : i64, tgraph.workspace_bytes = 8192 : i64
// CHECK: llvm.call @malloc
// CHECK-DAG: llvm.call @malloc
// CHECK-NOT: llvm.call @malloc
// CHECK: llvm.call @free
// CHECK-NOT: llvm.call @free
// CHECK: llvm.return
func.func @chain(%a: memref<1024xf32>) -> memref<1024xf32> {
  %0 = memref.alloc() : memref<1024xf32>
  call @step(%a, %0) : (memref<1024xf32>, memref<1024xf32>) -> ()
  %1 = memref.alloc() : memref<1024xf32>
  call @step(%0, %1) : (memref<1024xf32>, memref<1024xf32>) -> ()
  %2 = memref.alloc() : memref<1024xf32>
  call @step(%1, %2) : (memref<1024xf32>, memref<1024xf32>) -> ()
  %3 = memref.alloc() : memref<1024xf32>
  call @step(%2, %3) : (memref<1024xf32>, memref<1024xf32>) -> ()
  return %3 : memref<1024xf32>
}

// A view is a use of the buffer: %0 lives until the last call.
// CHECK-LABEL: llvm.func @view
// CHECK-SAME: tgraph.live_bytes = 12288 : i64, tgraph.workspace_bytes = 12288 : i64
func.func @view(%a: memref<1024xf32>) {
  %0 = memref.alloc() : memref<2x512xf32>
  %flat = memref.collapse_shape %0 [[0, 1]] : memref<2x512xf32> into memref<1024xf32>
  call @step(%a, %flat) : (memref<1024xf32>, memref<1024xf32>) -> ()
  %1 = memref.alloc() : memref<1024xf32>
  call @step(%flat, %1) : (memref<1024xf32>, memref<1024xf32>) -> ()
  %2 = memref.alloc() : memref<1024xf32>
  call @step(%1, %2) : (memref<1024xf32>, memref<1024xf32>) -> ()
  call @step(%flat, %2) : (memref<1024xf32>, memref<1024xf32>) -> ()
  return
}

// A single buffer stays as it is.
// CHECK-LABEL: llvm.func @one
// CHECK-NOT: workspace_bytes
func.func @one(%a: memref<1024xf32>) {
  %0 = memref.alloc() : memref<1024xf32>
  call @step(%a, %0) : (memref<1024xf32>, memref<1024xf32>) -> ()
  call @step(%0, %a) : (memref<1024xf32>, memref<1024xf32>) -> ()
  return
}

// What a call returns may be what it was given, and is used after it: the two
// buffers are apart (what is shared are upstream's lists of what to free).
// CHECK-LABEL: llvm.func @kept
// CHECK-SAME: tgraph.live_bytes = {{[0-9][0-9]}} : i64
func.func @kept(%a: memref<1024xf32>) {
  %0 = memref.alloc() : memref<1024xf32>
  call @step(%a, %0) : (memref<1024xf32>, memref<1024xf32>) -> ()
  %same = call @pass(%0) : (memref<1024xf32>) -> memref<1024xf32>
  %1 = memref.alloc() : memref<1024xf32>
  call @step(%same, %1) : (memref<1024xf32>, memref<1024xf32>) -> ()
  return
}

// Uses in a loop are uses of the loop, whose iterations follow each other.
// CHECK-LABEL: llvm.func @in_loop
// CHECK-SAME: tgraph.live_bytes = 8192 : i64
func.func @in_loop(%a: memref<1024xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = memref.alloc() : memref<1024xf32>
  %1 = memref.alloc() : memref<1024xf32>
  call @step(%a, %0) : (memref<1024xf32>, memref<1024xf32>) -> ()
  scf.for %i = %c0 to %n step %c1 {
    func.call @step(%0, %1) : (memref<1024xf32>, memref<1024xf32>) -> ()
    func.call @step(%1, %0) : (memref<1024xf32>, memref<1024xf32>) -> ()
  }
  call @step(%0, %a) : (memref<1024xf32>, memref<1024xf32>) -> ()
  return
}
