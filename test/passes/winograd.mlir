// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The option `reassociate` lets select choose Winograd's algorithm, apply
// carries it out, and a configuration by hand is checked entry by entry.
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx512 model=analytic' \
// RUN:   | FileCheck %s --check-prefix=PLAIN --implicit-check-not='winograd ='
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx512 model=analytic reassociate' -o %t.chosen
// RUN: FileCheck %s --check-prefix=CHOSEN < %t.chosen
// RUN: %tgraph_opt %t.chosen --tgraph-select-layouts='target=avx512' | cmp - %t.chosen
// RUN: %tgraph_opt %t.chosen --tgraph-apply-layouts | FileCheck %s --check-prefix=APPLIED
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx512 model=analytic reassociate explain' \
// RUN:   --remarks-filter-analyse=tgraph --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=EXPLAIN
// RUN: not %tgraph_opt %s --tgraph-select-layouts='reassociate=perhaps' 2>&1 | FileCheck %s --check-prefix=OPTION
// OPTION: for the --reassociate option: 'perhaps' is invalid value for boolean argument

// RUN: sed 's/{tgraph.hand,/{tgraph.config = {version = 1, schedule = "tiled", vector_loops = [2, 3], row_loops = [1], register_vectors = 2, register_rows = 4, unroll = 4, cache_vector = 28, cache_rows = 0, cache_reduction = 0, innermost = "vectors", pack = [], winograd = 4},/' %s > %t.hand
// RUN: %tgraph_opt %t.hand --tgraph-select-layouts='target=avx512 model=analytic' --tgraph-apply-layouts \
// RUN:   | FileCheck %s --check-prefix=APPLIED
// RUN: sed 's/winograd = 4/winograd = 3/' %t.hand | not %tgraph_opt - --tgraph-apply-layouts 2>&1 | FileCheck %s --check-prefix=TILE
// TILE: error: tgraph-apply-layouts: tgraph.config: 'winograd' is 0, 2 or 4
// RUN: sed 's/winograd = 4/winograd = "4"/' %t.hand | not %tgraph_opt - --tgraph-apply-layouts 2>&1 | FileCheck %s --check-prefix=TYPE
// TYPE: error: tgraph-apply-layouts: tgraph.config: 'winograd' is not an integer
// RUN: sed 's/vector_loops = .2, 3./vector_loops = [3]/' %t.hand | not %tgraph_opt - --tgraph-apply-layouts 2>&1 | FileCheck %s --check-prefix=LOOPS
// LOOPS: error: tgraph-apply-layouts: tgraph.config: with 'winograd', 'vector_loops' and 'row_loops' are the loops of the image and the loop of the filters
// RUN: sed 's/pack = ../pack = ["rhs"]/' %t.hand | not %tgraph_opt - --tgraph-apply-layouts 2>&1 | FileCheck %s --check-prefix=PACK
// PACK: error: tgraph-apply-layouts: tgraph.config: winograd lays out its operands itself: nothing to pack
// RUN: sed 's/cache_vector = 28/cache_vector = 32/' %t.hand | not %tgraph_opt - --tgraph-apply-layouts 2>&1 | FileCheck %s --check-prefix=BLOCK
// BLOCK: error: tgraph-apply-layouts: tgraph.config: with winograd a cache block is whole rows of tiles
// RUN: sed 's/dilations = dense<1>/dilations = dense<2>/; s/58x58/60x60/g' %t.hand | not %tgraph_opt - --tgraph-apply-layouts 2>&1 | FileCheck %s --check-prefix=KERNEL
// KERNEL: error: tgraph-apply-layouts: tgraph.config: winograd needs a convolution of 3x3 windows, stride and dilation 1

// PLAIN-LABEL: @conv
// PLAIN: tgraph.config = {
// CHOSEN-LABEL: @conv
// CHOSEN: row_loops = [1]{{.*}}vector_loops = [2, 3]{{.*}}winograd = 4
// EXPLAIN: Winograd F(4x4, 3x3), 4.00 times fewer multiplications, {{.*}} of the time for the filter: the estimate expects the most of Winograd's algorithm
// The bias and the ReLU are done before the result is stored.
// APPLIED-LABEL: @conv
// APPLIED: call @tgraph_conv_2d_nchw_fchw_1x64x56x56x64x3x3_f32
// APPLIED-NEXT: return
// APPLIED: func.func private @tgraph_conv_2d
// APPLIED: vector.shuffle
// APPLIED: vector.fma
// APPLIED: arith.maximumf
#map = affine_map<(d0, d1, d2, d3) -> (d1)>
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
func.func @conv(%x: tensor<1x64x58x58xf32>, %w: tensor<64x64x3x3xf32>, %b: tensor<64xf32>) -> tensor<1x64x56x56xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x64x56x56xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32>
  %r = linalg.conv_2d_nchw_fchw {tgraph.hand, strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%x, %w : tensor<1x64x58x58xf32>, tensor<64x64x3x3xf32>)
      outs(%fill : tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32>
  %s = linalg.generic {indexing_maps = [#id, #map, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%r, %b : tensor<1x64x56x56xf32>, tensor<64xf32>) outs(%empty : tensor<1x64x56x56xf32>) {
    ^bb0(%v: f32, %bias: f32, %out: f32):
      %sum = arith.addf %v, %bias : f32
      %relu = arith.maximumf %sum, %zero : f32
      linalg.yield %relu : f32
  } -> tensor<1x64x56x56xf32>
  return %s : tensor<1x64x56x56xf32>
}
