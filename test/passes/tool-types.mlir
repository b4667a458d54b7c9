// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs in other float types than their own.
// REQUIRES: tool
// RUN: %tgraph verify --function chain --types bf16 --target avx512 %s | FileCheck %s
// RUN: %tgraph verify --function chain --types f16 --target avx2 %s | FileCheck %s
// CHECK: equal max error {{[0-9.e-]+}} (stock {{[0-9.e-]+}})
// RUN: %tgraph verify --function chain --types f64 --target avx512 %s | FileCheck %s --check-prefix=WIDE
// RUN: %tgraph verify --function chain --types f32 --target avx512 %s | FileCheck %s --check-prefix=WIDE
// WIDE: equal max error {{[0-9.e-]+}} 1 choices
// RUN: %tgraph verify --json --function chain --types bf16 --target avx512 %s | FileCheck %s --check-prefix=JSON
// JSON: "stock_error":
// RUN: %tgraph object --json --types f16 --function chain --target avx512 %s -o %t.o | FileCheck %s --check-prefix=OBJECT
// OBJECT: "dtype": "f16"
//
// RUN: not %tgraph verify --function chain --types f8 %s 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: option --types: there is no 'f8'; f64, f32, f16 and bf16 can be had
// RUN: not %tgraph verify --function chain --types bf16 %S/Inputs/f32-bits.mlir 2>&1 | FileCheck %s --check-prefix=BITS
// BITS: f32-bits.mlir:[[#]]:[[#]]: {{.*}}arith.bitcast{{.*}} (with bf16 in place of its floats)
// RUN: not %tgraph bench --gemm 8 8 8 --types bf16 2>&1 | FileCheck %s --check-prefix=GEMM
// GEMM: options --gemm and --types don't go together

// The mask's number is larger than f16 has any; an extension to f64 goes where
// all is f64.
#two = affine_map<(i, j) -> (i, j)>
func.func @chain(%a: tensor<24x33xf32>, %b: tensor<33x40xf32>, %keep: tensor<24x40xi1>) -> tensor<24x40xf32> {
  %z = arith.constant 0.0 : f32
  %lowest = arith.constant -3.40282347E+38 : f32
  %table = arith.constant dense<[[0.1, 0.2], [0.3, 1.0e+30]]> : tensor<2x2xf32>
  %e = tensor.empty() : tensor<24x40xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<24x40xf32>) -> tensor<24x40xf32>
  %r = linalg.matmul ins(%a, %b : tensor<24x33xf32>, tensor<33x40xf32>) outs(%f : tensor<24x40xf32>) -> tensor<24x40xf32>
  %g = linalg.generic {indexing_maps = [#two, #two, #two], iterator_types = ["parallel", "parallel"]}
    ins(%r, %keep : tensor<24x40xf32>, tensor<24x40xi1>) outs(%e : tensor<24x40xf32>) {
  ^bb0(%x: f32, %k: i1, %o: f32):
    %i = arith.constant 0 : index
    %j = arith.constant 1 : index
    %t = tensor.extract %table[%i, %j] : tensor<2x2xf32>
    %w = arith.extf %t : f32 to f64
    %n = arith.truncf %w : f64 to f32
    %m = arith.select %k, %x, %lowest : f32
    %y = arith.maximumf %m, %n : f32
    %u = math.exp %y : f32
    linalg.yield %u : f32
  } -> tensor<24x40xf32>
  return %g : tensor<24x40xf32>
}
