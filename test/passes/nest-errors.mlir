// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Configurations of nests that are written by hand and can't be carried out.
// RUN: %tgraph_opt %s --split-input-file --verify-diagnostics --tgraph-select-layouts='target=avx2 model=analytic'

func.func @loop(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{tgraph.config: 'vector_loops' names a loop that the operation hasn't}}
  %r = linalg.exp {tgraph.config = {version = 1, schedule = "vector", vector_loops = [2], register_vectors = 1}} ins(%a : tensor<4x8xf32>) outs(%a : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// -----

func.func @loops(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{tgraph.config: 'vector_loops' has to be one loop}}
  %r = linalg.exp {tgraph.config = {version = 1, schedule = "vector", vector_loops = [0, 1], register_vectors = 1}} ins(%a : tensor<4x8xf32>) outs(%a : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// -----

func.func @no_list(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{tgraph.config: 'vector_loops' is not a list of loops}}
  %r = linalg.exp {tgraph.config = {version = 1, schedule = "vector", vector_loops = 1, register_vectors = 1}} ins(%a : tensor<4x8xf32>) outs(%a : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// -----

func.func @not_contiguous(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{tgraph.config: a result isn't contiguous along the vector loop}}
  %r = linalg.exp {tgraph.config = {version = 1, schedule = "vector", vector_loops = [0], register_vectors = 1}} ins(%a : tensor<4x8xf32>) outs(%a : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// -----

// A sum that goes from element to element is in order.
#full = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @in_order(%a: tensor<4x8xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{tgraph.config: the body can't be done for neighbours of the vector loop at once}}
  %r = linalg.generic {indexing_maps = [#full, #row], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<4x8xf32>) outs(%b : tensor<4xf32>)
      attrs = {tgraph.config = {version = 1, schedule = "vector", vector_loops = [1], register_vectors = 1}} {
  ^bb0(%x: f32, %y: f32):
    %0 = arith.subf %x, %y : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

func.func @too_many(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{tgraph.config: a body holds between 1 and 16 vectors}}
  %r = linalg.exp {tgraph.config = {version = 1, schedule = "vector", vector_loops = [1], register_vectors = 17}} ins(%a : tensor<4x8xf32>) outs(%a : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// -----

func.func @none(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{tgraph.config: 'register_vectors' is out of range}}
  %r = linalg.exp {tgraph.config = {version = 1, schedule = "vector", vector_loops = [1], register_vectors = 0}} ins(%a : tensor<4x8xf32>) outs(%a : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// -----

func.func @missing(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{tgraph.config: 'register_vectors' is missing}}
  %r = linalg.exp {tgraph.config = {version = 1, schedule = "vector", vector_loops = [1]}} ins(%a : tensor<4x8xf32>) outs(%a : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// -----

func.func @entry(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{tgraph.config: unknown entry 'register_rows'}}
  %r = linalg.exp {tgraph.config = {version = 1, schedule = "vector", vector_loops = [1], register_vectors = 1, register_rows = 4}} ins(%a : tensor<4x8xf32>) outs(%a : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// -----

func.func @version(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{tgraph.config: version 2 is not 1}}
  %r = linalg.exp {tgraph.config = {version = 2, schedule = "vector", vector_loops = [1], register_vectors = 1}} ins(%a : tensor<4x8xf32>) outs(%a : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// -----

func.func @schedule(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{tgraph.config: 'schedule' is "tiled", neither "stock" nor "vector"}}
  %r = linalg.exp {tgraph.config = {version = 1, schedule = "tiled", vector_loops = [1], register_vectors = 1}} ins(%a : tensor<4x8xf32>) outs(%a : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// -----

func.func @dictionary(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{tgraph.config is not a dictionary}}
  %r = linalg.exp {tgraph.config = "vector"} ins(%a : tensor<4x8xf32>) outs(%a : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}
