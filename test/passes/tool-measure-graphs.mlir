// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Measuring a program as a whole: two kernels with an elementwise operation
// between them, whose orders of tensors and configurations vary. No time is
// asserted.
// REQUIRES: tool
// RUN: rm -rf %t && %tgraph measure --graphs --list %s | FileCheck %s --check-prefix=LIST
// RUN: %tgraph measure --graphs --configs 9 -o %t %s | FileCheck %s --check-prefix=FIRST
// RUN: %tgraph measure --graphs --configs 9 -o %t %s | FileCheck %s --check-prefix=SECOND
// RUN: %tgraph eval %t | FileCheck %s --check-prefix=EVAL
// RUN: %tgraph measure --graphs --again -o %t %s | FileCheck %s --check-prefix=AGAIN
// RUN: not %tgraph measure --graphs --again -o %t 2>&1 | FileCheck %s --check-prefix=NONE

// LIST: tool-measure-graphs {{.*}} 1 no tool-measure-graphs
// FIRST: 1 kernels, 0 already measured
// FIRST: tool-measure-graphs {{ *}}9/9 good
// SECOND: 1 kernels, 1 already measured
// EVAL: mean over graphs {{ *}}1 
// AGAIN: tool-measure-graphs measured again, 9 of 9 configurations
// NONE: error: measure: no program given

#map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>

func.func @main(%x: tensor<1x16x10x10xf32>, %f: tensor<16x16x3x3xf32>, %g: tensor<32x16x1x1xf32>)
    -> tensor<1x32x8x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<1x16x8x8xf32>
  %i0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32>
  %a = linalg.conv_2d_nchw_fchw ins(%x, %f : tensor<1x16x10x10xf32>, tensor<16x16x3x3xf32>)
    outs(%i0 : tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32>
  %b = linalg.generic {indexing_maps = [#map, #map],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%a : tensor<1x16x8x8xf32>) outs(%e0 : tensor<1x16x8x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %m = arith.maximumf %in, %zero : f32
    linalg.yield %m : f32
  } -> tensor<1x16x8x8xf32>
  %e1 = tensor.empty() : tensor<1x32x8x8xf32>
  %i1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<1x32x8x8xf32>) -> tensor<1x32x8x8xf32>
  %r = linalg.conv_2d_nchw_fchw ins(%b, %g : tensor<1x16x8x8xf32>, tensor<32x16x1x1xf32>)
    outs(%i1 : tensor<1x32x8x8xf32>) -> tensor<1x32x8x8xf32>
  return %r : tensor<1x32x8x8xf32>
}
