// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The passes and the pipeline in --pass-pipeline, mixed with upstream passes.
// RUN: %tgraph_opt %s --dump-pass-pipeline -o /dev/null 2>&1 \
// RUN:   --pass-pipeline='builtin.module(func.func(canonicalize),tgraph-select-layouts{target=avx2,l2_nbytes=1048576 model=analytic},cse,tgraph-strip)' \
// RUN:   | FileCheck %s
// CHECK:      builtin.module(
// CHECK-NEXT:   func.func(
// CHECK-NEXT:     canonicalize
// CHECK-NEXT:   ),
// CHECK-NEXT:   tgraph-select-layouts{{[{].*}}model=analytic {{.*}}target=avx2,l2_nbytes=1048576{{.*[}]}},
// CHECK-NEXT:   cse,
// CHECK-NEXT:   tgraph-strip

// tgraph-cpu is the three passes, and hands its options to the first.
// RUN: %tgraph_opt %s --pass-pipeline='builtin.module(tgraph-cpu{target=avx2 budget=32 model=analytic})' \
// RUN:   --dump-pass-pipeline -o /dev/null 2>&1 | FileCheck %s --check-prefix=CPU
// RUN: %tgraph_opt %s --tgraph-cpu='target=avx2 budget=32 model=analytic' --dump-pass-pipeline -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=CPU
// CPU:      builtin.module(
// CPU-NEXT:   tgraph-select-layouts{attention=auto budget=32 {{.*}}target=avx2{{.*[}]}},
// CPU-NEXT:   tgraph-apply-layouts,
// CPU-NEXT:   tgraph-lower
// CPU-NEXT: )

func.func @empty() {
  return
}
