// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: %tgraph_opt --help | FileCheck %s
// CHECK:      --tgraph-apply-layouts
// CHECK-NEXT: --tgraph-lower
// CHECK-NEXT: --tgraph-select-layouts
// CHECK:        --budget=<long>{{.*}}- most configurations scored per operation
// CHECK:        --model=<string>
// CHECK:      --tgraph-strip
// CHECK:      --tgraph-cpu
// CHECK-NEXT:   --attention=<string>
// CHECK-NEXT:   --budget=<long>

// The passes can be named where mlir-opt takes the name of a pass.
// RUN: %tgraph_opt %s --tgraph-strip --mlir-print-ir-after=tgraph-strip 2>&1 -o /dev/null \
// RUN:   | FileCheck %s --check-prefix=PRINT
// PRINT: IR Dump After tgraph-strip

func.func @empty() {
  return
}
