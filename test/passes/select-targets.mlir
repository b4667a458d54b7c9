// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The option target: each description is written out whole on the module.
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2 model=analytic' | FileCheck %s --check-prefix=AVX2
// AVX2: tgraph.target = "avx2,cpu=x86-64-v3,vector_bits=256,vector_registers=16,
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx512 model=analytic' | FileCheck %s --check-prefix=AVX512
// AVX512: tgraph.target = "avx512,cpu=x86-64-v4,vector_bits=512,vector_registers=32,
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=generic model=analytic' | FileCheck %s --check-prefix=GENERIC
// GENERIC: tgraph.target = "generic,cpu={{[a-z0-9-]+}},vector_bits=128,vector_registers=16,
// Columns replace those of the name.
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2,l2_nbytes=1048576 model=analytic' | FileCheck %s --check-prefix=COLUMN
// COLUMN: tgraph.target = "avx2,cpu=x86-64-v3,vector_bits=256,vector_registers=16,fma_per_cycle=2,l1_nbytes=32768,l2_nbytes=1048576,l3_nbytes=33554432,cores=1"
// What is written can be given back as the option.
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2,l2_nbytes=1048576 model=analytic' > %t
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2,cpu=x86-64-v3,vector_bits=256,vector_registers=16,fma_per_cycle=2,l1_nbytes=32768,l2_nbytes=1048576,l3_nbytes=33554432,cores=1 model=analytic' | cmp - %t
// From the module.
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=dlti model=analytic' | FileCheck %s --check-prefix=DLTI
// DLTI: tgraph.target = "{{.*}}vector_bits=256{{.*}}l1_nbytes=65536,l2_nbytes=2097152

// The register tile fits the registers of the machine it is for: 12 and 28
// vectors at most.
// AVX2: register_rows = {{[1-9]|1[0-2]}} : i64, register_vectors = {{[1-9]|1[0-2]}} :

module attributes {dlti.target_system_spec = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<
    "L1_cache_size_in_bytes" = 65536 : i32, "L2_cache_size_in_bytes" = 2097152 : i32, "max_vector_width" = 256 : i32>>} {
func.func @one(%a: tensor<128x64xf32>, %b: tensor<64x96xf32>, %c: tensor<128x96xf32>) -> tensor<128x96xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<128x64xf32>, tensor<64x96xf32>)
                     outs(%c : tensor<128x96xf32>) -> tensor<128x96xf32>
  return %r : tensor<128x96xf32>
}
}
