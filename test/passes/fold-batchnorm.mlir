// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What scales each channel of a product goes into its weights; one addition per
// channel is left. Without the option, and where it can't be told, nothing
// changes.
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2 fold-batchnorm layouts=given' | FileCheck %s
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2 layouts=given' | FileCheck %s --check-prefix=OFF
// OFF-LABEL: func.func @conv(
// OFF-SAME: %{{[^:]*}}: {{[^,]*}}, %[[W:[^:]*]]:
// OFF: linalg.conv_2d_nchw_fchw {{.*}} ins(%{{[^,]*}}, %[[W]] :
// A second run changes nothing.
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2 fold-batchnorm layouts=given' \
// RUN:   --tgraph-select-layouts='target=avx2 fold-batchnorm layouts=given' | FileCheck %s
// What marked weights make is made once.
// RUN: %tgraph_opt %s --tgraph-select-layouts='target=avx2 fold-batchnorm prepack weights=1-5 layouts=given' \
// RUN:   --tgraph-apply-layouts --canonicalize | FileCheck %s --check-prefix=ONCE

#v = affine_map<(d0) -> (d0)>
#id4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#c11 = affine_map<(d0, d1, d2, d3) -> (d1, 0, 0)>
#last = affine_map<(d0, d1, d2, d3) -> (d3)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>
#col = affine_map<(d0, d1) -> (d1)>
#row = affine_map<(d0, d1) -> (d0)>
#none = affine_map<(d0, d1) -> ()>

// As torch-mlir writes it: channels as Cx1x1, one operation a generic; a ReLU is
// behind it.
// CHECK-LABEL: func.func @conv(
// CHECK-SAME: %[[X:[^:]*]]: {{[^,]*}}, %[[W:[^:]*]]: {{[^,]*}}, %[[MEAN:[^:]*]]: {{[^,]*}}, %[[INV:[^:]*]]: {{[^,]*}}, %[[G:[^:]*]]: {{[^,]*}}, %[[B:[^:]*]]: {{[^)]*}})
// CHECK-DAG: %[[MEAN1:.*]] = tensor.expand_shape %[[MEAN]]
// CHECK-DAG: %[[INV1:.*]] = tensor.expand_shape %[[INV]]
// CHECK-DAG: %[[G1:.*]] = tensor.expand_shape %[[G]]
// CHECK-DAG: %[[B1:.*]] = tensor.expand_shape %[[B]]
// CHECK: %[[SCALE:.*]] = linalg.generic {{.*}} ins(%[[INV1]], %[[G1]] : tensor<32x1x1xf32>, tensor<32x1x1xf32>) outs({{.*}} : tensor<32xf32>)
// CHECK: arith.mulf
// CHECK: %[[W1:.*]] = linalg.generic {{.*}} ins(%[[W]], %[[SCALE]] : tensor<32x16x3x3xf32>, tensor<32xf32>)
// CHECK: arith.mulf
// CHECK: %[[C:.*]] = linalg.conv_2d_nchw_fchw {{.*}} ins(%[[X]], %[[W1]] :
// CHECK: %[[SHIFT:.*]] = linalg.generic {{.*}} ins(%[[MEAN1]], %[[INV1]], %[[G1]], %[[B1]] :
// CHECK: arith.negf
// CHECK: arith.mulf
// CHECK: arith.mulf
// CHECK: arith.addf
// CHECK: %[[S:.*]] = linalg.generic {{.*}} ins(%[[C]], %[[SHIFT]] : tensor<1x32x12x12xf32>, tensor<32xf32>)
// CHECK: arith.addf
// CHECK: linalg.generic {{.*}} ins(%[[S]] :
// CHECK: arith.maximumf
// CHECK: return
// ONCE-LABEL: func.func @conv_prepack(
// ONCE: return %{{.*}}, %{{.*}} : tensor<{{[^>]*}}>, tensor<{{[^>]*}}>
// ONCE-LABEL: func.func @conv_packed(
// ONCE-SAME: %{{[^:]*}}: tensor<1x16x14x14xf32>, %[[P:[^:]*]]: tensor<{{[^>]*}}>, %[[Q:[^:]*]]: tensor<{{[^>]*}}>)
// ONCE-NEXT: tensor.empty
// ONCE-NEXT: call @tgraph_conv_2d_nchw_fchw_{{.*}}(%{{.*}}, %[[P]], %{{.*}}, %[[Q]])
// ONCE-NEXT: return
func.func @conv(%x: tensor<1x16x14x14xf32>, %w: tensor<32x16x3x3xf32>, %mean: tensor<32xf32>, %inv: tensor<32xf32>, %g: tensor<32xf32>, %b: tensor<32xf32>) -> tensor<1x32x12x12xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x32x12x12xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x32x12x12xf32>) -> tensor<1x32x12x12xf32>
  %c = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%x, %w : tensor<1x16x14x14xf32>, tensor<32x16x3x3xf32>) outs(%f : tensor<1x32x12x12xf32>) -> tensor<1x32x12x12xf32>
  %mean1 = tensor.expand_shape %mean [[0, 1, 2]] output_shape [32, 1, 1] : tensor<32xf32> into tensor<32x1x1xf32>
  %t0 = linalg.generic {indexing_maps = [#id4, #c11, #id4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%c, %mean1 : tensor<1x32x12x12xf32>, tensor<32x1x1xf32>) outs(%e : tensor<1x32x12x12xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.subf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<1x32x12x12xf32>
  %inv1 = tensor.expand_shape %inv [[0, 1, 2]] output_shape [32, 1, 1] : tensor<32xf32> into tensor<32x1x1xf32>
  %t1 = linalg.generic {indexing_maps = [#id4, #c11, #id4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%t0, %inv1 : tensor<1x32x12x12xf32>, tensor<32x1x1xf32>) outs(%e : tensor<1x32x12x12xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.mulf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<1x32x12x12xf32>
  %g1 = tensor.expand_shape %g [[0, 1, 2]] output_shape [32, 1, 1] : tensor<32xf32> into tensor<32x1x1xf32>
  %t2 = linalg.generic {indexing_maps = [#id4, #c11, #id4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%t1, %g1 : tensor<1x32x12x12xf32>, tensor<32x1x1xf32>) outs(%e : tensor<1x32x12x12xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.mulf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<1x32x12x12xf32>
  %b1 = tensor.expand_shape %b [[0, 1, 2]] output_shape [32, 1, 1] : tensor<32xf32> into tensor<32x1x1xf32>
  %t3 = linalg.generic {indexing_maps = [#id4, #c11, #id4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%t2, %b1 : tensor<1x32x12x12xf32>, tensor<32x1x1xf32>) outs(%e : tensor<1x32x12x12xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.addf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<1x32x12x12xf32>
  %y = linalg.generic {indexing_maps = [#id4, #id4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%t3 : tensor<1x32x12x12xf32>) outs(%e : tensor<1x32x12x12xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %r = arith.maximumf %i0, %zero : f32
    linalg.yield %r : f32
  } -> tensor<1x32x12x12xf32>
  return %y : tensor<1x32x12x12xf32>
}

// One generic, which computes the deviation too, behind a depthwise convolution
// that starts from a bias.
// CHECK-LABEL: func.func @depthwise(
// CHECK-SAME: %[[X:[^:]*]]: {{[^,]*}}, %[[W:[^:]*]]: {{[^,]*}}, %[[MEAN:[^:]*]]: {{[^,]*}}, %[[VAR:[^:]*]]: {{[^,]*}}, %[[G:[^:]*]]: {{[^,]*}}, %[[B:[^:]*]]: {{[^)]*}})
// CHECK-NOT: linalg.broadcast
// CHECK: %[[SCALE:.*]] = linalg.generic {{.*}} ins(%[[VAR]], %[[G]] : tensor<32xf32>, tensor<32xf32>)
// CHECK: arith.addf
// CHECK: math.rsqrt
// CHECK: %[[W1:.*]] = linalg.generic {{.*}} ins(%[[W]], %[[SCALE]] : tensor<3x3x32xf32>, tensor<32xf32>)
// CHECK: %[[Z:.*]] = linalg.fill
// CHECK: %[[C:.*]] = linalg.depthwise_conv_2d_nhwc_hwc {{.*}} ins(%[[X]], %[[W1]] : {{.*}} outs(%[[Z]]
// CHECK: %[[SHIFT:.*]] = linalg.generic {{.*}} ins(%[[B]], %[[MEAN]], %[[VAR]], %[[G]] :
// CHECK: %[[R:.*]] = linalg.generic {{.*}} ins(%[[C]], %[[SHIFT]] :
// CHECK: arith.addf
// CHECK: return %[[R]]
func.func @depthwise(%x: tensor<1x14x14x32xf32>, %w: tensor<3x3x32xf32>, %mean: tensor<32xf32>, %var: tensor<32xf32>, %g: tensor<32xf32>, %b: tensor<32xf32>) -> tensor<1x12x12x32xf32> {
  %eps = arith.constant 1.0e-5 : f32
  %e = tensor.empty() : tensor<1x12x12x32xf32>
  %f = linalg.broadcast ins(%b : tensor<32xf32>) outs(%e : tensor<1x12x12x32xf32>) dimensions = [0, 1, 2]
  %c = linalg.depthwise_conv_2d_nhwc_hwc {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%x, %w : tensor<1x14x14x32xf32>, tensor<3x3x32xf32>) outs(%f : tensor<1x12x12x32xf32>) -> tensor<1x12x12x32xf32>
  %y = linalg.generic {indexing_maps = [#id4, #last, #last, #last, #last, #id4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%c, %mean, %var, %g, %b : tensor<1x12x12x32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>) outs(%e : tensor<1x12x12x32xf32>) {
  ^bb0(%i0: f32, %i1: f32, %i2: f32, %i3: f32, %i4: f32, %o: f32):
    %d = arith.subf %i0, %i1 : f32
    %s = arith.addf %i2, %eps : f32
    %q = math.rsqrt %s : f32
    %p = arith.mulf %d, %q : f32
    %m = arith.mulf %p, %i3 : f32
    %r = arith.addf %m, %i4 : f32
    linalg.yield %r : f32
  } -> tensor<1x12x12x32xf32>
  return %y : tensor<1x12x12x32xf32>
}

// A product with a transposed weight: the weight is scaled as it lies, so that
// the transposition can still be left out.
// CHECK-LABEL: func.func @matmul(
// CHECK-SAME: %[[X:[^:]*]]: {{[^,]*}}, %[[W:[^:]*]]: {{[^,]*}}, %[[M:[^:]*]]: {{[^,]*}}, %[[D:[^:]*]]: {{[^)]*}})
// CHECK: %[[SCALE:.*]] = linalg.generic {{.*}} ins(%[[D]] : tensor<48xf32>)
// CHECK: arith.negf
// CHECK: arith.divf
// CHECK: %[[W1:.*]] = linalg.generic {{.*}} ins(%[[W]], %[[SCALE]] : tensor<48x32xf32>, tensor<48xf32>)
// CHECK: %[[T:.*]] = linalg.transpose ins(%[[W1]] :
// CHECK: linalg.matmul {{.*}} ins(%[[X]], %[[T]] :
// CHECK: linalg.generic {{.*}} ins(%[[M]], %[[D]] :
// CHECK: arith.divf
// CHECK: arith.addf
// CHECK: return
func.func @matmul(%x: tensor<16x32xf32>, %w: tensor<48x32xf32>, %m: tensor<48xf32>, %d: tensor<48xf32>) -> tensor<16x48xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x48xf32>
  %et = tensor.empty() : tensor<32x48xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x48xf32>) -> tensor<16x48xf32>
  %t = linalg.transpose ins(%w : tensor<48x32xf32>) outs(%et : tensor<32x48xf32>) permutation = [1, 0]
  %c = linalg.matmul ins(%x, %t : tensor<16x32xf32>, tensor<32x48xf32>) outs(%f : tensor<16x48xf32>) -> tensor<16x48xf32>
  %u = linalg.generic {indexing_maps = [#id2, #col, #id2], iterator_types = ["parallel", "parallel"]} ins(%c, %m : tensor<16x48xf32>, tensor<48xf32>) outs(%e : tensor<16x48xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.subf %i1, %i0 : f32
    linalg.yield %r : f32
  } -> tensor<16x48xf32>
  %y = linalg.generic {indexing_maps = [#id2, #col, #id2], iterator_types = ["parallel", "parallel"]} ins(%u, %d : tensor<16x48xf32>, tensor<48xf32>) outs(%e : tensor<16x48xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.divf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<16x48xf32>
  return %y : tensor<16x48xf32>
}

// Something else reads the product: left as it is.
// CHECK-LABEL: func.func @two_uses(
// CHECK-SAME: %{{[^:]*}}: {{[^,]*}}, %[[W:[^:]*]]: {{[^,]*}},
// CHECK: linalg.matmul {{.*}}ins(%{{[^,]*}}, %[[W]] :
// CHECK: return
func.func @two_uses(%x: tensor<16x32xf32>, %w: tensor<32x48xf32>, %s: tensor<48xf32>, %s16: tensor<16xf32>) -> (tensor<16x48xf32>, tensor<16x48xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x48xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x48xf32>) -> tensor<16x48xf32>
  %c = linalg.matmul ins(%x, %w : tensor<16x32xf32>, tensor<32x48xf32>) outs(%f : tensor<16x48xf32>) -> tensor<16x48xf32>
  %y = linalg.generic {indexing_maps = [#id2, #col, #id2], iterator_types = ["parallel", "parallel"]} ins(%c, %s : tensor<16x48xf32>, tensor<48xf32>) outs(%e : tensor<16x48xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.mulf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<16x48xf32>
  return %y, %c : tensor<16x48xf32>, tensor<16x48xf32>
}

// The square isn't affine.
// CHECK-LABEL: func.func @squares(
// CHECK-SAME: %{{[^:]*}}: {{[^,]*}}, %[[W:[^:]*]]: {{[^,]*}},
// CHECK: linalg.matmul {{.*}}ins(%{{[^,]*}}, %[[W]] :
// CHECK: return
func.func @squares(%x: tensor<16x32xf32>, %w: tensor<32x48xf32>, %s: tensor<48xf32>, %s16: tensor<16xf32>) -> tensor<16x48xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x48xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x48xf32>) -> tensor<16x48xf32>
  %c = linalg.matmul ins(%x, %w : tensor<16x32xf32>, tensor<32x48xf32>) outs(%f : tensor<16x48xf32>) -> tensor<16x48xf32>
  %y = linalg.generic {indexing_maps = [#id2, #col, #id2], iterator_types = ["parallel", "parallel"]} ins(%c, %s : tensor<16x48xf32>, tensor<48xf32>) outs(%e : tensor<16x48xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %q = arith.mulf %i0, %i0 : f32
    %r = arith.mulf %q, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<16x48xf32>
  return %y : tensor<16x48xf32>
}

// Nor is a quotient by the value.
// CHECK-LABEL: func.func @divides(
// CHECK-SAME: %{{[^:]*}}: {{[^,]*}}, %[[W:[^:]*]]: {{[^,]*}},
// CHECK: linalg.matmul {{.*}}ins(%{{[^,]*}}, %[[W]] :
// CHECK: return
func.func @divides(%x: tensor<16x32xf32>, %w: tensor<32x48xf32>, %s: tensor<48xf32>, %s16: tensor<16xf32>) -> tensor<16x48xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x48xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x48xf32>) -> tensor<16x48xf32>
  %c = linalg.matmul ins(%x, %w : tensor<16x32xf32>, tensor<32x48xf32>) outs(%f : tensor<16x48xf32>) -> tensor<16x48xf32>
  %y = linalg.generic {indexing_maps = [#id2, #col, #id2], iterator_types = ["parallel", "parallel"]} ins(%c, %s : tensor<16x48xf32>, tensor<48xf32>) outs(%e : tensor<16x48xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.divf %i1, %i0 : f32
    linalg.yield %r : f32
  } -> tensor<16x48xf32>
  return %y : tensor<16x48xf32>
}

// A scale along one dimension and a shift along another: up to the first.
// CHECK-LABEL: func.func @two_dimensions(
// CHECK: arith.mulf
// CHECK: %[[C:.*]] = linalg.matmul
// CHECK-NEXT: linalg.generic {{.*}} ins(%[[C]], %{{.*}} : tensor<16x48xf32>, tensor<16xf32>)
// CHECK-NEXT: ^bb0
// CHECK-NEXT: arith.addf
// CHECK: return
func.func @two_dimensions(%x: tensor<16x32xf32>, %w: tensor<32x48xf32>, %s: tensor<48xf32>, %s16: tensor<16xf32>) -> tensor<16x48xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x48xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x48xf32>) -> tensor<16x48xf32>
  %c = linalg.matmul ins(%x, %w : tensor<16x32xf32>, tensor<32x48xf32>) outs(%f : tensor<16x48xf32>) -> tensor<16x48xf32>
  %y0 = linalg.generic {indexing_maps = [#id2, #col, #id2], iterator_types = ["parallel", "parallel"]} ins(%c, %s : tensor<16x48xf32>, tensor<48xf32>) outs(%e : tensor<16x48xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.mulf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<16x48xf32>
  %y = linalg.generic {indexing_maps = [#id2, #row, #id2], iterator_types = ["parallel", "parallel"]} ins(%y0, %s16 : tensor<16x48xf32>, tensor<16xf32>) outs(%e : tensor<16x48xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.addf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<16x48xf32>
  return %y : tensor<16x48xf32>
}

// Only an addition: there is nothing to fold.
// CHECK-LABEL: func.func @adds(
// CHECK-SAME: %{{[^:]*}}: {{[^,]*}}, %[[W:[^:]*]]: {{[^,]*}},
// CHECK: linalg.matmul {{.*}}ins(%{{[^,]*}}, %[[W]] :
// CHECK: return
func.func @adds(%x: tensor<16x32xf32>, %w: tensor<32x48xf32>, %s: tensor<48xf32>, %s16: tensor<16xf32>) -> tensor<16x48xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x48xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x48xf32>) -> tensor<16x48xf32>
  %c = linalg.matmul ins(%x, %w : tensor<16x32xf32>, tensor<32x48xf32>) outs(%f : tensor<16x48xf32>) -> tensor<16x48xf32>
  %y = linalg.generic {indexing_maps = [#id2, #col, #id2], iterator_types = ["parallel", "parallel"]} ins(%c, %s : tensor<16x48xf32>, tensor<48xf32>) outs(%e : tensor<16x48xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.addf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<16x48xf32>
  return %y : tensor<16x48xf32>
}

// One number for all channels: as good in the chain.
// CHECK-LABEL: func.func @no_channel(
// CHECK-SAME: %{{[^:]*}}: {{[^,]*}}, %[[W:[^:]*]]: {{[^,]*}},
// CHECK: linalg.matmul {{.*}}ins(%{{[^,]*}}, %[[W]] :
// CHECK: return
func.func @no_channel(%x: tensor<16x32xf32>, %w: tensor<32x48xf32>, %s: tensor<48xf32>, %s16: tensor<16xf32>, %n: tensor<f32>) -> tensor<16x48xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x48xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x48xf32>) -> tensor<16x48xf32>
  %c = linalg.matmul ins(%x, %w : tensor<16x32xf32>, tensor<32x48xf32>) outs(%f : tensor<16x48xf32>) -> tensor<16x48xf32>
  %y = linalg.generic {indexing_maps = [#id2, #none, #id2], iterator_types = ["parallel", "parallel"]} ins(%c, %n : tensor<16x48xf32>, tensor<f32>) outs(%e : tensor<16x48xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.mulf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<16x48xf32>
  return %y : tensor<16x48xf32>
}

// Both are marked, one isn't a weight: rows are those of the input.
// CHECK-LABEL: func.func @no_weight(
// CHECK-SAME: %[[X:[^:]*]]: {{[^,]*}},
// CHECK: linalg.matmul {{.*}}ins(%[[X]],
// CHECK: return
func.func @no_weight(%x: tensor<16x32xf32>, %w: tensor<32x48xf32> {tgraph.weight}, %s: tensor<48xf32>, %s16: tensor<16xf32>) -> tensor<16x48xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x48xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x48xf32>) -> tensor<16x48xf32>
  %c = linalg.matmul ins(%x, %w : tensor<16x32xf32>, tensor<32x48xf32>) outs(%f : tensor<16x48xf32>) -> tensor<16x48xf32>
  %y = linalg.generic {indexing_maps = [#id2, #row, #id2], iterator_types = ["parallel", "parallel"]} ins(%c, %s16 : tensor<16x48xf32>, tensor<16xf32>) outs(%e : tensor<16x48xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.mulf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<16x48xf32>
  return %y : tensor<16x48xf32>
}

// tgraph.skip stays.
// CHECK-LABEL: func.func @skipped(
// CHECK-SAME: %{{[^:]*}}: {{[^,]*}}, %[[W:[^:]*]]: {{[^,]*}},
// CHECK: linalg.matmul {{.*}}ins(%{{[^,]*}}, %[[W]] :
// CHECK: return
func.func @skipped(%x: tensor<16x32xf32>, %w: tensor<32x48xf32>, %s: tensor<48xf32>, %s16: tensor<16xf32>) -> tensor<16x48xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x48xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x48xf32>) -> tensor<16x48xf32>
  %c = linalg.matmul {tgraph.skip} ins(%x, %w : tensor<16x32xf32>, tensor<32x48xf32>) outs(%f : tensor<16x48xf32>) -> tensor<16x48xf32>
  %y = linalg.generic {indexing_maps = [#id2, #col, #id2], iterator_types = ["parallel", "parallel"]} ins(%c, %s : tensor<16x48xf32>, tensor<48xf32>) outs(%e : tensor<16x48xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.mulf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<16x48xf32>
  return %y : tensor<16x48xf32>
}

// So does what has a choice.
// CHECK-LABEL: func.func @chosen(
// CHECK-SAME: %{{[^:]*}}: {{[^,]*}}, %[[W:[^:]*]]: {{[^,]*}},
// CHECK: linalg.matmul {{.*}}ins(%{{[^,]*}}, %[[W]] :
// CHECK: return
func.func @chosen(%x: tensor<16x32xf32>, %w: tensor<32x48xf32>, %s: tensor<48xf32>, %s16: tensor<16xf32>) -> tensor<16x48xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x48xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x48xf32>) -> tensor<16x48xf32>
  %c = linalg.matmul {tgraph.config = {schedule = "stock", version = 1 : i64}} ins(%x, %w : tensor<16x32xf32>, tensor<32x48xf32>) outs(%f : tensor<16x48xf32>) -> tensor<16x48xf32>
  %y = linalg.generic {indexing_maps = [#id2, #col, #id2], iterator_types = ["parallel", "parallel"]}  ins(%c, %s : tensor<16x48xf32>, tensor<48xf32>) outs(%e : tensor<16x48xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.mulf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<16x48xf32>
  return %y : tensor<16x48xf32>
}

// Integers wrap around: left.
// CHECK-LABEL: func.func @integers(
// CHECK-SAME: %[[X:[^:]*]]: {{[^,]*}}, %[[W:[^:]*]]:
// CHECK: linalg.matmul {{.*}}ins(%[[X]], %[[W]] :
// CHECK: return
func.func @integers(%x: tensor<16x32xi32>, %w: tensor<32x48xi32>, %s: tensor<48xi32>) -> tensor<16x48xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<16x48xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<16x48xi32>) -> tensor<16x48xi32>
  %c = linalg.matmul ins(%x, %w : tensor<16x32xi32>, tensor<32x48xi32>) outs(%f : tensor<16x48xi32>) -> tensor<16x48xi32>
  %y = linalg.generic {indexing_maps = [#id2, #col, #id2], iterator_types = ["parallel", "parallel"]} ins(%c, %s : tensor<16x48xi32>, tensor<48xi32>) outs(%e : tensor<16x48xi32>) {
  ^bb0(%a: i32, %b: i32, %o: i32):
    %r = arith.muli %a, %b : i32
    linalg.yield %r : i32
  } -> tensor<16x48xi32>
  return %y : tensor<16x48xi32>
}

// One generic that goes on after it: what leads to the value that the rest reads
// is folded, inputs that are read no more go.
// CHECK-LABEL: func.func @goes_on(
// CHECK-SAME: %[[X:[^:]*]]: {{[^,]*}}, %[[W:[^:]*]]: {{[^,]*}}, %[[M:[^:]*]]: {{[^,]*}}, %[[D:[^:]*]]: {{[^,]*}}, %[[L:[^:]*]]: {{[^)]*}})
// CHECK: %[[W1:.*]] = linalg.generic {{.*}} ins(%[[W]], %[[D]] :
// CHECK: %[[C:.*]] = linalg.matmul {{.*}} ins(%[[X]], %[[W1]] :
// CHECK: %[[SHIFT:.*]] = linalg.generic {{.*}} ins(%[[M]], %[[D]] :
// CHECK: %[[S:.*]] = linalg.generic {{.*}} ins(%[[C]], %[[SHIFT]] :
// CHECK: linalg.generic {{.*}} ins(%[[S]], %[[L]] : tensor<16x48xf32>, tensor<48xf32>)
// CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: arith.maximumf %[[A]], %[[B]]
// CHECK-NEXT: linalg.yield
func.func @goes_on(%x: tensor<16x32xf32>, %w: tensor<32x48xf32>, %m: tensor<48xf32>, %d: tensor<48xf32>, %l: tensor<48xf32>) -> tensor<16x48xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x48xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x48xf32>) -> tensor<16x48xf32>
  %c = linalg.matmul ins(%x, %w : tensor<16x32xf32>, tensor<32x48xf32>) outs(%f : tensor<16x48xf32>) -> tensor<16x48xf32>
  %y = linalg.generic {indexing_maps = [#col, #id2, #col, #col, #id2], iterator_types = ["parallel", "parallel"]} ins(%m, %c, %d, %l : tensor<48xf32>, tensor<16x48xf32>, tensor<48xf32>, tensor<48xf32>) outs(%e : tensor<16x48xf32>) {
  ^bb0(%i0: f32, %i1: f32, %i2: f32, %i3: f32, %o: f32):
    %a = arith.addf %i1, %i0 : f32
    %b = arith.mulf %a, %i2 : f32
    %r = arith.maximumf %b, %i3 : f32
    linalg.yield %r : f32
  } -> tensor<16x48xf32>
  return %y : tensor<16x48xf32>
}

// The rest reads two values, so there is no cut.
// CHECK-LABEL: func.func @two_values(
// CHECK-SAME: %[[X:[^:]*]]: {{[^,]*}}, %[[W:[^:]*]]: {{[^,]*}},
// CHECK: linalg.matmul {{.*}} ins(%[[X]], %[[W]] :
func.func @two_values(%x: tensor<16x32xf32>, %w: tensor<32x48xf32>, %m: tensor<48xf32>, %d: tensor<48xf32>) -> tensor<16x48xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x48xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x48xf32>) -> tensor<16x48xf32>
  %c = linalg.matmul ins(%x, %w : tensor<16x32xf32>, tensor<32x48xf32>) outs(%f : tensor<16x48xf32>) -> tensor<16x48xf32>
  %y = linalg.generic {indexing_maps = [#id2, #col, #col, #id2], iterator_types = ["parallel", "parallel"]} ins(%c, %m, %d : tensor<16x48xf32>, tensor<48xf32>, tensor<48xf32>) outs(%e : tensor<16x48xf32>) {
  ^bb0(%i0: f32, %i1: f32, %i2: f32, %o: f32):
    %a = arith.mulf %i0, %i1 : f32
    %b = arith.mulf %i0, %i2 : f32
    %r = arith.maximumf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<16x48xf32>
  return %y : tensor<16x48xf32>
}
