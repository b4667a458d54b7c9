// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two inverted bottlenecks, 160 channels of 7x7: widening, depthwise and
// narrowing convolution, and what came in added.
#id = affine_map<(n, c, h, w) -> (n, c, h, w)>
#c = affine_map<(n, c, h, w) -> (c)>
func.func @main(%x0: tensor<1x160x7x7xf32>, %w0a: tensor<960x160x1x1xf32>, %b0a: tensor<960xf32>, %w0d: tensor<960x3x3xf32>, %b0d: tensor<960xf32>, %w0b: tensor<160x960x1x1xf32>, %b0b: tensor<160xf32>, %w1a: tensor<960x160x1x1xf32>, %b1a: tensor<960xf32>, %w1d: tensor<960x3x3xf32>, %b1d: tensor<960xf32>, %w1b: tensor<160x960x1x1xf32>, %b1b: tensor<160xf32>) -> tensor<1x160x7x7xf32> {
  %zero = arith.constant 0.0 : f32
  %ec0a = tensor.empty() : tensor<1x960x7x7xf32>
  %zc0a = linalg.fill ins(%zero : f32) outs(%ec0a : tensor<1x960x7x7xf32>) -> tensor<1x960x7x7xf32>
  %c0a = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%x0, %w0a : tensor<1x160x7x7xf32>, tensor<960x160x1x1xf32>) outs(%zc0a : tensor<1x960x7x7xf32>) -> tensor<1x960x7x7xf32>
  %or0a = tensor.empty() : tensor<1x960x7x7xf32>
  %r0a = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%c0a, %b0a : tensor<1x960x7x7xf32>, tensor<960xf32>) outs(%or0a : tensor<1x960x7x7xf32>) {
  ^bb0(%x: f32, %b: f32, %o: f32):
    %s = arith.addf %x, %b : f32
    %u = arith.maximumf %s, %zero : f32
    linalg.yield %u : f32
  } -> tensor<1x960x7x7xf32>
  %pd0 = tensor.pad %r0a low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
    tensor.yield %zero : f32
  } : tensor<1x960x7x7xf32> to tensor<1x960x9x9xf32>
  %ed0 = tensor.empty() : tensor<1x960x7x7xf32>
  %zd0 = linalg.fill ins(%zero : f32) outs(%ed0 : tensor<1x960x7x7xf32>) -> tensor<1x960x7x7xf32>
  %d0 = linalg.depthwise_conv_2d_nchw_chw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%pd0, %w0d : tensor<1x960x9x9xf32>, tensor<960x3x3xf32>) outs(%zd0 : tensor<1x960x7x7xf32>) -> tensor<1x960x7x7xf32>
  %or0d = tensor.empty() : tensor<1x960x7x7xf32>
  %r0d = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%d0, %b0d : tensor<1x960x7x7xf32>, tensor<960xf32>) outs(%or0d : tensor<1x960x7x7xf32>) {
  ^bb0(%x: f32, %b: f32, %o: f32):
    %s = arith.addf %x, %b : f32
    %u = arith.maximumf %s, %zero : f32
    linalg.yield %u : f32
  } -> tensor<1x960x7x7xf32>
  %ec0b = tensor.empty() : tensor<1x160x7x7xf32>
  %zc0b = linalg.fill ins(%zero : f32) outs(%ec0b : tensor<1x160x7x7xf32>) -> tensor<1x160x7x7xf32>
  %c0b = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%r0d, %w0b : tensor<1x960x7x7xf32>, tensor<160x960x1x1xf32>) outs(%zc0b : tensor<1x160x7x7xf32>) -> tensor<1x160x7x7xf32>
  %or0b = tensor.empty() : tensor<1x160x7x7xf32>
  %r0b = linalg.generic {indexing_maps = [#id, #c, #id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%c0b, %b0b, %x0 : tensor<1x160x7x7xf32>, tensor<160xf32>, tensor<1x160x7x7xf32>) outs(%or0b : tensor<1x160x7x7xf32>) {
  ^bb0(%x: f32, %b: f32, %y: f32, %o: f32):
    %s = arith.addf %x, %b : f32
    %t = arith.addf %s, %y : f32
    linalg.yield %t : f32
  } -> tensor<1x160x7x7xf32>
  %ec1a = tensor.empty() : tensor<1x960x7x7xf32>
  %zc1a = linalg.fill ins(%zero : f32) outs(%ec1a : tensor<1x960x7x7xf32>) -> tensor<1x960x7x7xf32>
  %c1a = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%r0b, %w1a : tensor<1x160x7x7xf32>, tensor<960x160x1x1xf32>) outs(%zc1a : tensor<1x960x7x7xf32>) -> tensor<1x960x7x7xf32>
  %or1a = tensor.empty() : tensor<1x960x7x7xf32>
  %r1a = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%c1a, %b1a : tensor<1x960x7x7xf32>, tensor<960xf32>) outs(%or1a : tensor<1x960x7x7xf32>) {
  ^bb0(%x: f32, %b: f32, %o: f32):
    %s = arith.addf %x, %b : f32
    %u = arith.maximumf %s, %zero : f32
    linalg.yield %u : f32
  } -> tensor<1x960x7x7xf32>
  %pd1 = tensor.pad %r1a low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
    tensor.yield %zero : f32
  } : tensor<1x960x7x7xf32> to tensor<1x960x9x9xf32>
  %ed1 = tensor.empty() : tensor<1x960x7x7xf32>
  %zd1 = linalg.fill ins(%zero : f32) outs(%ed1 : tensor<1x960x7x7xf32>) -> tensor<1x960x7x7xf32>
  %d1 = linalg.depthwise_conv_2d_nchw_chw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%pd1, %w1d : tensor<1x960x9x9xf32>, tensor<960x3x3xf32>) outs(%zd1 : tensor<1x960x7x7xf32>) -> tensor<1x960x7x7xf32>
  %or1d = tensor.empty() : tensor<1x960x7x7xf32>
  %r1d = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%d1, %b1d : tensor<1x960x7x7xf32>, tensor<960xf32>) outs(%or1d : tensor<1x960x7x7xf32>) {
  ^bb0(%x: f32, %b: f32, %o: f32):
    %s = arith.addf %x, %b : f32
    %u = arith.maximumf %s, %zero : f32
    linalg.yield %u : f32
  } -> tensor<1x960x7x7xf32>
  %ec1b = tensor.empty() : tensor<1x160x7x7xf32>
  %zc1b = linalg.fill ins(%zero : f32) outs(%ec1b : tensor<1x160x7x7xf32>) -> tensor<1x160x7x7xf32>
  %c1b = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%r1d, %w1b : tensor<1x960x7x7xf32>, tensor<160x960x1x1xf32>) outs(%zc1b : tensor<1x160x7x7xf32>) -> tensor<1x160x7x7xf32>
  %or1b = tensor.empty() : tensor<1x160x7x7xf32>
  %r1b = linalg.generic {indexing_maps = [#id, #c, #id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%c1b, %b1b, %r0b : tensor<1x160x7x7xf32>, tensor<160xf32>, tensor<1x160x7x7xf32>) outs(%or1b : tensor<1x160x7x7xf32>) {
  ^bb0(%x: f32, %b: f32, %y: f32, %o: f32):
    %s = arith.addf %x, %b : f32
    %t = arith.addf %s, %y : f32
    linalg.yield %t : f32
  } -> tensor<1x160x7x7xf32>
  return %r1b : tensor<1x160x7x7xf32>
}
