// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two residual blocks, 512 channels of 7x7: convolution, bias, ReLU, twice, and
// what came in added.
#id = affine_map<(n, c, h, w) -> (n, c, h, w)>
#c = affine_map<(n, c, h, w) -> (c)>
func.func @main(%x0: tensor<1x512x7x7xf32>, %w0a: tensor<512x512x3x3xf32>, %b0a: tensor<512xf32>, %w0b: tensor<512x512x3x3xf32>, %b0b: tensor<512xf32>, %w1a: tensor<512x512x3x3xf32>, %b1a: tensor<512xf32>, %w1b: tensor<512x512x3x3xf32>, %b1b: tensor<512xf32>) -> tensor<1x512x7x7xf32> {
  %zero = arith.constant 0.0 : f32
  %pc0a = tensor.pad %x0 low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
    tensor.yield %zero : f32
  } : tensor<1x512x7x7xf32> to tensor<1x512x9x9xf32>
  %ec0a = tensor.empty() : tensor<1x512x7x7xf32>
  %zc0a = linalg.fill ins(%zero : f32) outs(%ec0a : tensor<1x512x7x7xf32>) -> tensor<1x512x7x7xf32>
  %c0a = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%pc0a, %w0a : tensor<1x512x9x9xf32>, tensor<512x512x3x3xf32>) outs(%zc0a : tensor<1x512x7x7xf32>) -> tensor<1x512x7x7xf32>
  %or0a = tensor.empty() : tensor<1x512x7x7xf32>
  %r0a = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%c0a, %b0a : tensor<1x512x7x7xf32>, tensor<512xf32>) outs(%or0a : tensor<1x512x7x7xf32>) {
  ^bb0(%x: f32, %b: f32, %o: f32):
    %s = arith.addf %x, %b : f32
    %u = arith.maximumf %s, %zero : f32
    linalg.yield %u : f32
  } -> tensor<1x512x7x7xf32>
  %pc0b = tensor.pad %r0a low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
    tensor.yield %zero : f32
  } : tensor<1x512x7x7xf32> to tensor<1x512x9x9xf32>
  %ec0b = tensor.empty() : tensor<1x512x7x7xf32>
  %zc0b = linalg.fill ins(%zero : f32) outs(%ec0b : tensor<1x512x7x7xf32>) -> tensor<1x512x7x7xf32>
  %c0b = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%pc0b, %w0b : tensor<1x512x9x9xf32>, tensor<512x512x3x3xf32>) outs(%zc0b : tensor<1x512x7x7xf32>) -> tensor<1x512x7x7xf32>
  %or0b = tensor.empty() : tensor<1x512x7x7xf32>
  %r0b = linalg.generic {indexing_maps = [#id, #c, #id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%c0b, %b0b, %x0 : tensor<1x512x7x7xf32>, tensor<512xf32>, tensor<1x512x7x7xf32>) outs(%or0b : tensor<1x512x7x7xf32>) {
  ^bb0(%x: f32, %b: f32, %y: f32, %o: f32):
    %s = arith.addf %x, %b : f32
    %t = arith.addf %s, %y : f32
    %u = arith.maximumf %t, %zero : f32
    linalg.yield %u : f32
  } -> tensor<1x512x7x7xf32>
  %pc1a = tensor.pad %r0b low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
    tensor.yield %zero : f32
  } : tensor<1x512x7x7xf32> to tensor<1x512x9x9xf32>
  %ec1a = tensor.empty() : tensor<1x512x7x7xf32>
  %zc1a = linalg.fill ins(%zero : f32) outs(%ec1a : tensor<1x512x7x7xf32>) -> tensor<1x512x7x7xf32>
  %c1a = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%pc1a, %w1a : tensor<1x512x9x9xf32>, tensor<512x512x3x3xf32>) outs(%zc1a : tensor<1x512x7x7xf32>) -> tensor<1x512x7x7xf32>
  %or1a = tensor.empty() : tensor<1x512x7x7xf32>
  %r1a = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%c1a, %b1a : tensor<1x512x7x7xf32>, tensor<512xf32>) outs(%or1a : tensor<1x512x7x7xf32>) {
  ^bb0(%x: f32, %b: f32, %o: f32):
    %s = arith.addf %x, %b : f32
    %u = arith.maximumf %s, %zero : f32
    linalg.yield %u : f32
  } -> tensor<1x512x7x7xf32>
  %pc1b = tensor.pad %r1a low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
    tensor.yield %zero : f32
  } : tensor<1x512x7x7xf32> to tensor<1x512x9x9xf32>
  %ec1b = tensor.empty() : tensor<1x512x7x7xf32>
  %zc1b = linalg.fill ins(%zero : f32) outs(%ec1b : tensor<1x512x7x7xf32>) -> tensor<1x512x7x7xf32>
  %c1b = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%pc1b, %w1b : tensor<1x512x9x9xf32>, tensor<512x512x3x3xf32>) outs(%zc1b : tensor<1x512x7x7xf32>) -> tensor<1x512x7x7xf32>
  %or1b = tensor.empty() : tensor<1x512x7x7xf32>
  %r1b = linalg.generic {indexing_maps = [#id, #c, #id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%c1b, %b1b, %r0b : tensor<1x512x7x7xf32>, tensor<512xf32>, tensor<1x512x7x7xf32>) outs(%or1b : tensor<1x512x7x7xf32>) {
  ^bb0(%x: f32, %b: f32, %y: f32, %o: f32):
    %s = arith.addf %x, %b : f32
    %t = arith.addf %s, %y : f32
    %u = arith.maximumf %t, %zero : f32
    linalg.yield %u : f32
  } -> tensor<1x512x7x7xf32>
  return %r1b : tensor<1x512x7x7xf32>
}
