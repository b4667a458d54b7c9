// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions with a body carry the CPU that the code was made for; a CPU that
// the user named stays. Without a target nothing is recorded.
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2 model=none' --tgraph-apply-layouts --tgraph-lower | FileCheck %s
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2,features=+avx512f;-sse4a model=none' --tgraph-lower | FileCheck %s --check-prefix=FEATURES
// FEATURES: llvm.func @f({{.*}}target_cpu = "x86-64-v3", target_features = #llvm.target_features<["+avx512f", "-sse4a"]>
// RUN: %tgraph_opt %s --tgraph-lower | FileCheck %s --check-prefix=BARE
// BARE-NOT: target_cpu = "x86
// CHECK: llvm.func @f({{.*}}target_cpu = "x86-64-v3"
// CHECK: llvm.func @g(){{.*}}sym_visibility = "private"{{.*$}}
// CHECK-NOT: x86-64-v3
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}
func.func private @g()
