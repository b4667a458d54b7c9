// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is wrong with an option is said in one line, and mlir-opt exits with 1.
// RUN: not %tgraph_opt %s --tgraph-select-layouts='serach=random' 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not %tgraph_opt %s --tgraph-cpu='serach=random' 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not %tgraph_opt %s --pass-pipeline='builtin.module(tgraph-cpu{serach=random})' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NAME
// NAME: error: tgraph-select-layouts: no such option serach (options: model target search budget

// RUN: not %tgraph_opt %s --tgraph-strip='all' 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: tgraph-strip: no such option all (the pass has no options)

// RUN: not %tgraph_opt %s --tgraph-select-layouts='budget=many' 2>&1 | FileCheck %s --check-prefix=TYPE
// TYPE: for the --budget option: 'many' value invalid
// TYPE: error: tgraph-select-layouts: the value of an option could not be read

// RUN: not %tgraph_opt %s --tgraph-select-layouts='explain=maybe' 2>&1 | FileCheck %s --check-prefix=BOOL
// BOOL: for the --explain option: 'maybe' is invalid value for boolean argument

// Values are judged by the pass itself.
// RUN: not %tgraph_opt %s --tgraph-select-layouts='target=avx2 search=beast' 2>&1 | FileCheck %s --check-prefix=SEARCH
// SEARCH: error: tgraph-select-layouts: option 'search': unknown value 'beast' (auto, exhaustive, random)
// RUN: not %tgraph_opt %s --tgraph-select-layouts='target=avx2 budget=-1' 2>&1 | FileCheck %s --check-prefix=BUDGET
// BUDGET: error: tgraph-select-layouts: option 'budget':

// The passes are for modules. Elsewhere the pass manager refuses them.
// RUN: not %tgraph_opt %s --pass-pipeline='builtin.module(func.func(tgraph-select-layouts))' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NESTED
// NESTED: error: Can't add pass 'tgraph-select-layouts' restricted to 'builtin.module' on a PassManager intended to run on 'func.func'

func.func @empty() {
  return
}
