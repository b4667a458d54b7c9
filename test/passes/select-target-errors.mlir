// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A target that can't be read, at the module's place.
// RUN: not %tgraph_opt %s --tgraph-select-layouts='target=z80 model=analytic' 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: select-target-errors.mlir:[[#@LINE+14]]:1: error: tgraph-select-layouts: option 'target': {{.*}}z80
// RUN: not %tgraph_opt %s --tgraph-select-layouts='target=avx2,l9_nbytes=3 model=analytic' 2>&1 | FileCheck %s --check-prefix=COLUMN
// COLUMN: error: tgraph-select-layouts: option 'target': {{.*}}l9_nbytes
// RUN: not %tgraph_opt %s --tgraph-select-layouts='target=avx2,vector_bits=wide model=analytic' 2>&1 | FileCheck %s --check-prefix=VALUE
// VALUE: error: tgraph-select-layouts: option 'target': {{.*}}vector_bits
// RUN: not %tgraph_opt %s --tgraph-select-layouts='target=dlti model=analytic' 2>&1 | FileCheck %s --check-prefix=DLTI
// DLTI: error: tgraph-select-layouts: option 'target': the module has no dlti.target_system_spec

// The attribute, as apply and lower read it.
// RUN: not %tgraph_opt %s --tgraph-apply-layouts 2>&1 | FileCheck %s --check-prefix=APPLY
// APPLY: select-target-errors.mlir:[[#@LINE+4]]:1: error: tgraph-apply-layouts: target: {{.*}}z80
// RUN: not %tgraph_opt %s --tgraph-lower 2>&1 | FileCheck %s --check-prefix=LOWER
// LOWER: select-target-errors.mlir:[[#@LINE+2]]:1: error: tgraph-lower: target: {{.*}}z80

module attributes {tgraph.target = "z80"} {
  func.func @empty() {
    return
  }
}
