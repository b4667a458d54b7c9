// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The passes are flags of mlir-opt, in order with those of upstream passes, and
// take options.
// RUN: %tgraph_opt %s --cse --tgraph-select-layouts='target=avx2 model=analytic search=random budget=64 seed=7' \
// RUN:   --canonicalize --tgraph-strip --dump-pass-pipeline -o /dev/null 2>&1 | FileCheck %s
// CHECK:      builtin.module(
// CHECK-NEXT:   cse,
// CHECK-NEXT:   tgraph-select-layouts{attention=auto budget=64 {{.*}}model=analytic {{.*}}search=random seed=7 target=avx2{{.*[}]}},
// CHECK-NEXT:   canonicalize{
// CHECK:        tgraph-strip
// CHECK-NEXT: )

// RUN: %tgraph_opt %s --tgraph-apply-layouts --tgraph-lower --dump-pass-pipeline -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=ORDER
// ORDER:      tgraph-apply-layouts,
// ORDER-NEXT: tgraph-lower

// A flag without a value is true.
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2 model=analytic explain' --dump-pass-pipeline -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BARE
// BARE: explain=true

// The flags exist once the plugin is loaded, so it comes first.
// RUN: not %mlir_opt --tgraph-strip --load-pass-plugin=%plugin %s 2>&1 | FileCheck %s --check-prefix=LATE
// LATE: Unknown command line argument '--tgraph-strip'

func.func @empty() {
  return
}
