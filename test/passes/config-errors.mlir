// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A malformed tgraph.config is an error at its operation, from select and from
// apply alike.
// RUN: %tgraph_opt %s --split-input-file --verify-diagnostics --tgraph-select-layouts='target=avx2 model=analytic' -o /dev/null
// RUN: %tgraph_opt %s --split-input-file --verify-diagnostics --tgraph-apply-layouts -o /dev/null

module attributes {tgraph.target = "avx2"} {
  func.func @f(%a: tensor<128x64xf32>, %b: tensor<64x96xf32>, %c: tensor<128x96xf32>) -> tensor<128x96xf32> {
    // expected-error @below {{tgraph.config is not a dictionary}}
    %r = linalg.matmul {tgraph.config = 7 : i64}
        ins(%a, %b : tensor<128x64xf32>, tensor<64x96xf32>) outs(%c : tensor<128x96xf32>) -> tensor<128x96xf32>
    return %r : tensor<128x96xf32>
  }
}

// -----

module attributes {tgraph.target = "avx2"} {
  func.func @f(%a: tensor<128x64xf32>, %b: tensor<64x96xf32>, %c: tensor<128x96xf32>) -> tensor<128x96xf32> {
    // expected-error @below {{tgraph.config is not a dictionary}}
    %r = linalg.matmul {tgraph.config}
        ins(%a, %b : tensor<128x64xf32>, tensor<64x96xf32>) outs(%c : tensor<128x96xf32>) -> tensor<128x96xf32>
    return %r : tensor<128x96xf32>
  }
}

// -----

module attributes {tgraph.target = "avx2"} {
  func.func @f(%a: tensor<128x64xf32>, %b: tensor<64x96xf32>, %c: tensor<128x96xf32>) -> tensor<128x96xf32> {
    // expected-error @below {{tgraph.config: 'version' is missing}}
    %r = linalg.matmul {tgraph.config = {}}
        ins(%a, %b : tensor<128x64xf32>, tensor<64x96xf32>) outs(%c : tensor<128x96xf32>) -> tensor<128x96xf32>
    return %r : tensor<128x96xf32>
  }
}

// -----

module attributes {tgraph.target = "avx2"} {
  func.func @f(%a: tensor<128x64xf32>, %b: tensor<64x96xf32>, %c: tensor<128x96xf32>) -> tensor<128x96xf32> {
    // expected-error @below {{tgraph.config: version 2 is not 1}}
    %r = linalg.matmul {tgraph.config = {version = 2, schedule = "tiled", vector_loops = [1], row_loops = [0], register_vectors = 3, register_rows = 4, unroll = 4, cache_vector = 24, cache_rows = 0, cache_reduction = 0, innermost = "vectors", pack = []}}
        ins(%a, %b : tensor<128x64xf32>, tensor<64x96xf32>) outs(%c : tensor<128x96xf32>) -> tensor<128x96xf32>
    return %r : tensor<128x96xf32>
  }
}

// -----

module attributes {tgraph.target = "avx2"} {
  func.func @f(%a: tensor<128x64xf32>, %b: tensor<64x96xf32>, %c: tensor<128x96xf32>) -> tensor<128x96xf32> {
    // expected-error @below {{tgraph.config: 'version' is not an integer}}
    %r = linalg.matmul {tgraph.config = {version = "1", schedule = "tiled", vector_loops = [1], row_loops = [0], register_vectors = 3, register_rows = 4, unroll = 4, cache_vector = 24, cache_rows = 0, cache_reduction = 0, innermost = "vectors", pack = []}}
        ins(%a, %b : tensor<128x64xf32>, tensor<64x96xf32>) outs(%c : tensor<128x96xf32>) -> tensor<128x96xf32>
    return %r : tensor<128x96xf32>
  }
}

// -----

module attributes {tgraph.target = "avx2"} {
  func.func @f(%a: tensor<128x64xf32>, %b: tensor<64x96xf32>, %c: tensor<128x96xf32>) -> tensor<128x96xf32> {
    // expected-error @below {{tgraph.config: 'version' is out of range}}
    %r = linalg.matmul {tgraph.config = {version = -1, schedule = "tiled", vector_loops = [1], row_loops = [0], register_vectors = 3, register_rows = 4, unroll = 4, cache_vector = 24, cache_rows = 0, cache_reduction = 0, innermost = "vectors", pack = []}}
        ins(%a, %b : tensor<128x64xf32>, tensor<64x96xf32>) outs(%c : tensor<128x96xf32>) -> tensor<128x96xf32>
    return %r : tensor<128x96xf32>
  }
}

// -----

module attributes {tgraph.target = "avx2"} {
  func.func @f(%a: tensor<128x64xf32>, %b: tensor<64x96xf32>, %c: tensor<128x96xf32>) -> tensor<128x96xf32> {
    // expected-error @below {{tgraph.config: 'version' is not an integer}}
    %r = linalg.matmul {tgraph.config = {version = 1 : i128, schedule = "tiled", vector_loops = [1], row_loops = [0], register_vectors = 3, register_rows = 4, unroll = 4, cache_vector = 24, cache_rows = 0, cache_reduction = 0, innermost = "vectors", pack = []}}
        ins(%a, %b : tensor<128x64xf32>, tensor<64x96xf32>) outs(%c : tensor<128x96xf32>) -> tensor<128x96xf32>
    return %r : tensor<128x96xf32>
  }
}

// -----

module attributes {tgraph.target = "avx2"} {
  func.func @f(%a: tensor<128x64xf32>, %b: tensor<64x96xf32>, %c: tensor<128x96xf32>) -> tensor<128x96xf32> {
    // expected-error @below {{tgraph.config: 'schedule' has to be "stock" or "tiled"}}
    %r = linalg.matmul {tgraph.config = {version = 1}}
        ins(%a, %b : tensor<128x64xf32>, tensor<64x96xf32>) outs(%c : tensor<128x96xf32>) -> tensor<128x96xf32>
    return %r : tensor<128x96xf32>
  }
}

// -----

module attributes {tgraph.target = "avx2"} {
  func.func @f(%a: tensor<128x64xf32>, %b: tensor<64x96xf32>, %c: tensor<128x96xf32>) -> tensor<128x96xf32> {
    // expected-error @below {{tgraph.config: 'schedule' is "fast", neither "stock" nor "tiled"}}
    %r = linalg.matmul {tgraph.config = {version = 1, schedule = "fast"}}
        ins(%a, %b : tensor<128x64xf32>, tensor<64x96xf32>) outs(%c : tensor<128x96xf32>) -> tensor<128x96xf32>
    return %r : tensor<128x96xf32>
  }
}

// -----

module attributes {tgraph.target = "avx2"} {
  func.func @f(%a: tensor<128x64xf32>, %b: tensor<64x96xf32>, %c: tensor<128x96xf32>) -> tensor<128x96xf32> {
    // expected-error @below {{tgraph.config: unknown entry 'unroll'}}
    %r = linalg.matmul {tgraph.config = {version = 1, schedule = "stock", unroll = 4}}
        ins(%a, %b : tensor<128x64xf32>, tensor<64x96xf32>) outs(%c : tensor<128x96xf32>) -> tensor<128x96xf32>
    return %r : tensor<128x96xf32>
  }
}

// -----

module attributes {tgraph.target = "avx2"} {
  func.func @f(%a: tensor<128x64xf32>, %b: tensor<64x96xf32>, %c: tensor<128x96xf32>) -> tensor<128x96xf32> {
    // expected-error @below {{tgraph.config: unknown entry 'colour'}}
    %r = linalg.matmul {tgraph.config = {version = 1, schedule = "tiled", vector_loops = [1], row_loops = [0], register_vectors = 3, register_rows = 4, unroll = 4, cache_vector = 24, cache_rows = 0, cache_reduction = 0, innermost = "vectors", pack = [], colour = 1}}
        ins(%a, %b : tensor<128x64xf32>, tensor<64x96xf32>) outs(%c : tensor<128x96xf32>) -> tensor<128x96xf32>
    return %r : tensor<128x96xf32>
  }
}

// -----

module attributes {tgraph.target = "avx2"} {
  func.func @f(%a: tensor<128x64xf32>, %b: tensor<64x96xf32>, %c: tensor<128x96xf32>) -> tensor<128x96xf32> {
    // expected-error @below {{tgraph.config: 'vector_loops' is not a list of loops}}
    %r = linalg.matmul {tgraph.config = {version = 1, schedule = "tiled", vector_loops = 1, row_loops = [0], register_vectors = 3, register_rows = 4, unroll = 4, cache_vector = 24, cache_rows = 0, cache_reduction = 0, innermost = "vectors", pack = []}}
        ins(%a, %b : tensor<128x64xf32>, tensor<64x96xf32>) outs(%c : tensor<128x96xf32>) -> tensor<128x96xf32>
    return %r : tensor<128x96xf32>
  }
}

// -----

module attributes {tgraph.target = "avx2"} {
  func.func @f(%a: tensor<128x64xf32>, %b: tensor<64x96xf32>, %c: tensor<128x96xf32>) -> tensor<128x96xf32> {
    // expected-error @below {{tgraph.config: 'vector_loops' names a loop that the operation hasn't}}
    %r = linalg.matmul {tgraph.config = {version = 1, schedule = "tiled", vector_loops = [3], row_loops = [0], register_vectors = 3, register_rows = 4, unroll = 4, cache_vector = 24, cache_rows = 0, cache_reduction = 0, innermost = "vectors", pack = []}}
        ins(%a, %b : tensor<128x64xf32>, tensor<64x96xf32>) outs(%c : tensor<128x96xf32>) -> tensor<128x96xf32>
    return %r : tensor<128x96xf32>
  }
}

// -----

module attributes {tgraph.target = "avx2"} {
  func.func @f(%a: tensor<128x64xf32>, %b: tensor<64x96xf32>, %c: tensor<128x96xf32>) -> tensor<128x96xf32> {
    // expected-error @below {{tgraph.config: 'row_loops' names a loop that the operation hasn't}}
    %r = linalg.matmul {tgraph.config = {version = 1, schedule = "tiled", vector_loops = [1], row_loops = [-1], register_vectors = 3, register_rows = 4, unroll = 4, cache_vector = 24, cache_rows = 0, cache_reduction = 0, innermost = "vectors", pack = []}}
        ins(%a, %b : tensor<128x64xf32>, tensor<64x96xf32>) outs(%c : tensor<128x96xf32>) -> tensor<128x96xf32>
    return %r : tensor<128x96xf32>
  }
}

// -----

module attributes {tgraph.target = "avx2"} {
  func.func @f(%a: tensor<128x64xf32>, %b: tensor<64x96xf32>, %c: tensor<128x96xf32>) -> tensor<128x96xf32> {
    // expected-error @below {{tgraph.config: 'vector_loops' can't be one loop of this operation}}
    %r = linalg.matmul {tgraph.config = {version = 1, schedule = "tiled", vector_loops = [], row_loops = [0], register_vectors = 3, register_rows = 4, unroll = 4, cache_vector = 24, cache_rows = 0, cache_reduction = 0, innermost = "vectors", pack = []}}
        ins(%a, %b : tensor<128x64xf32>, tensor<64x96xf32>) outs(%c : tensor<128x96xf32>) -> tensor<128x96xf32>
    return %r : tensor<128x96xf32>
  }
}

// -----

module attributes {tgraph.target = "avx2"} {
  func.func @f(%a: tensor<128x64xf32>, %b: tensor<64x96xf32>, %c: tensor<128x96xf32>) -> tensor<128x96xf32> {
    // expected-error @below {{tgraph.config: 'row_loops' can't be one loop of this operation}}
    %r = linalg.matmul {tgraph.config = {version = 1, schedule = "tiled", vector_loops = [1], row_loops = [0, 1], register_vectors = 3, register_rows = 4, unroll = 4, cache_vector = 24, cache_rows = 0, cache_reduction = 0, innermost = "vectors", pack = []}}
        ins(%a, %b : tensor<128x64xf32>, tensor<64x96xf32>) outs(%c : tensor<128x96xf32>) -> tensor<128x96xf32>
    return %r : tensor<128x96xf32>
  }
}

// -----

module attributes {tgraph.target = "avx2"} {
  func.func @f(%a: tensor<128x64xf32>, %b: tensor<64x96xf32>, %c: tensor<128x96xf32>) -> tensor<128x96xf32> {
    // expected-error @below {{tgraph.config: row_loops is not another loop of the operation}}
    %r = linalg.matmul {tgraph.config = {version = 1, schedule = "tiled", vector_loops = [1], row_loops = [1], register_vectors = 3, register_rows = 4, unroll = 4, cache_vector = 24, cache_rows = 0, cache_reduction = 0, innermost = "vectors", pack = []}}
        ins(%a, %b : tensor<128x64xf32>, tensor<64x96xf32>) outs(%c : tensor<128x96xf32>) -> tensor<128x96xf32>
    return %r : tensor<128x96xf32>
  }
}

// -----

module attributes {tgraph.target = "avx2"} {
  func.func @f(%a: tensor<128x64xf32>, %b: tensor<64x96xf32>, %c: tensor<128x96xf32>) -> tensor<128x96xf32> {
    // expected-error @below {{tgraph.config: the rows of the register tile are a parallel loop}}
    %r = linalg.matmul {tgraph.config = {version = 1, schedule = "tiled", vector_loops = [1], row_loops = [2], register_vectors = 3, register_rows = 4, unroll = 4, cache_vector = 24, cache_rows = 0, cache_reduction = 0, innermost = "vectors", pack = []}}
        ins(%a, %b : tensor<128x64xf32>, tensor<64x96xf32>) outs(%c : tensor<128x96xf32>) -> tensor<128x96xf32>
    return %r : tensor<128x96xf32>
  }
}

// -----

module attributes {tgraph.target = "avx2"} {
  func.func @f(%a: tensor<128x64xf32>, %b: tensor<64x96xf32>, %c: tensor<128x96xf32>) -> tensor<128x96xf32> {
    // expected-error @below {{tgraph.config: 'unroll' is missing}}
    %r = linalg.matmul {tgraph.config = {version = 1, schedule = "tiled", vector_loops = [1], row_loops = [0], register_vectors = 3, register_rows = 4, cache_vector = 24, cache_rows = 0, cache_reduction = 0, innermost = "vectors", pack = []}}
        ins(%a, %b : tensor<128x64xf32>, tensor<64x96xf32>) outs(%c : tensor<128x96xf32>) -> tensor<128x96xf32>
    return %r : tensor<128x96xf32>
  }
}

// -----

module attributes {tgraph.target = "avx2"} {
  func.func @f(%a: tensor<128x64xf32>, %b: tensor<64x96xf32>, %c: tensor<128x96xf32>) -> tensor<128x96xf32> {
    // expected-error @below {{tgraph.config: 'unroll' is not an integer}}
    %r = linalg.matmul {tgraph.config = {version = 1, schedule = "tiled", vector_loops = [1], row_loops = [0], register_vectors = 3, register_rows = 4, unroll = 4.0, cache_vector = 24, cache_rows = 0, cache_reduction = 0, innermost = "vectors", pack = []}}
        ins(%a, %b : tensor<128x64xf32>, tensor<64x96xf32>) outs(%c : tensor<128x96xf32>) -> tensor<128x96xf32>
    return %r : tensor<128x96xf32>
  }
}

// -----

module attributes {tgraph.target = "avx2"} {
  func.func @f(%a: tensor<128x64xf32>, %b: tensor<64x96xf32>, %c: tensor<128x96xf32>) -> tensor<128x96xf32> {
    // expected-error @below {{tgraph.config: 'cache_rows' is out of range}}
    %r = linalg.matmul {tgraph.config = {version = 1, schedule = "tiled", vector_loops = [1], row_loops = [0], register_vectors = 3, register_rows = 4, unroll = 4, cache_vector = 24, cache_rows = -4, cache_reduction = 0, innermost = "vectors", pack = []}}
        ins(%a, %b : tensor<128x64xf32>, tensor<64x96xf32>) outs(%c : tensor<128x96xf32>) -> tensor<128x96xf32>
    return %r : tensor<128x96xf32>
  }
}

// -----

module attributes {tgraph.target = "avx2"} {
  func.func @f(%a: tensor<128x64xf32>, %b: tensor<64x96xf32>, %c: tensor<128x96xf32>) -> tensor<128x96xf32> {
    // expected-error @below {{tgraph.config: 'cache_rows' is out of range}}
    %r = linalg.matmul {tgraph.config = {version = 1, schedule = "tiled", vector_loops = [1], row_loops = [0], register_vectors = 3, register_rows = 4, unroll = 4, cache_vector = 24, cache_rows = 2147483648, cache_reduction = 0, innermost = "vectors", pack = []}}
        ins(%a, %b : tensor<128x64xf32>, tensor<64x96xf32>) outs(%c : tensor<128x96xf32>) -> tensor<128x96xf32>
    return %r : tensor<128x96xf32>
  }
}

// -----

module attributes {tgraph.target = "avx2"} {
  func.func @f(%a: tensor<128x64xf32>, %b: tensor<64x96xf32>, %c: tensor<128x96xf32>) -> tensor<128x96xf32> {
    // expected-error @below {{tgraph.config: register_vectors, register_rows and unroll are at least 1}}
    %r = linalg.matmul {tgraph.config = {version = 1, schedule = "tiled", vector_loops = [1], row_loops = [0], register_vectors = 3, register_rows = 4, unroll = 0, cache_vector = 24, cache_rows = 0, cache_reduction = 0, innermost = "vectors", pack = []}}
        ins(%a, %b : tensor<128x64xf32>, tensor<64x96xf32>) outs(%c : tensor<128x96xf32>) -> tensor<128x96xf32>
    return %r : tensor<128x96xf32>
  }
}

// -----

module attributes {tgraph.target = "avx2"} {
  func.func @f(%a: tensor<128x64xf32>, %b: tensor<64x96xf32>, %c: tensor<128x96xf32>) -> tensor<128x96xf32> {
    // expected-error @below {{tgraph.config: 'innermost' is "columns", neither "rows" nor "vectors"}}
    %r = linalg.matmul {tgraph.config = {version = 1, schedule = "tiled", vector_loops = [1], row_loops = [0], register_vectors = 3, register_rows = 4, unroll = 4, cache_vector = 24, cache_rows = 0, cache_reduction = 0, innermost = "columns", pack = []}}
        ins(%a, %b : tensor<128x64xf32>, tensor<64x96xf32>) outs(%c : tensor<128x96xf32>) -> tensor<128x96xf32>
    return %r : tensor<128x96xf32>
  }
}

// -----

module attributes {tgraph.target = "avx2"} {
  func.func @f(%a: tensor<128x64xf32>, %b: tensor<64x96xf32>, %c: tensor<128x96xf32>) -> tensor<128x96xf32> {
    // expected-error @below {{tgraph.config: 'innermost' has to be "rows" or "vectors"}}
    %r = linalg.matmul {tgraph.config = {version = 1, schedule = "tiled", vector_loops = [1], row_loops = [0], register_vectors = 3, register_rows = 4, unroll = 4, cache_vector = 24, cache_rows = 0, cache_reduction = 0, pack = []}}
        ins(%a, %b : tensor<128x64xf32>, tensor<64x96xf32>) outs(%c : tensor<128x96xf32>) -> tensor<128x96xf32>
    return %r : tensor<128x96xf32>
  }
}

// -----

module attributes {tgraph.target = "avx2"} {
  func.func @f(%a: tensor<128x64xf32>, %b: tensor<64x96xf32>, %c: tensor<128x96xf32>) -> tensor<128x96xf32> {
    // expected-error @below {{tgraph.config: 'pack' is not a list}}
    %r = linalg.matmul {tgraph.config = {version = 1, schedule = "tiled", vector_loops = [1], row_loops = [0], register_vectors = 3, register_rows = 4, unroll = 4, cache_vector = 24, cache_rows = 0, cache_reduction = 0, innermost = "vectors", pack = "rhs"}}
        ins(%a, %b : tensor<128x64xf32>, tensor<64x96xf32>) outs(%c : tensor<128x96xf32>) -> tensor<128x96xf32>
    return %r : tensor<128x96xf32>
  }
}

// -----

module attributes {tgraph.target = "avx2"} {
  func.func @f(%a: tensor<128x64xf32>, %b: tensor<64x96xf32>, %c: tensor<128x96xf32>) -> tensor<128x96xf32> {
    // expected-error @below {{tgraph.config: 'pack' lists "lhs", "rhs" and "result"}}
    %r = linalg.matmul {tgraph.config = {version = 1, schedule = "tiled", vector_loops = [1], row_loops = [0], register_vectors = 3, register_rows = 4, unroll = 4, cache_vector = 24, cache_rows = 0, cache_reduction = 0, innermost = "vectors", pack = ["bias"]}}
        ins(%a, %b : tensor<128x64xf32>, tensor<64x96xf32>) outs(%c : tensor<128x96xf32>) -> tensor<128x96xf32>
    return %r : tensor<128x96xf32>
  }
}

// -----

module attributes {tgraph.target = "avx2"} {
  func.func @f(%a: tensor<128x64xf32>, %b: tensor<64x96xf32>, %c: tensor<128x96xf32>) -> tensor<128x96xf32> {
    // expected-error @below {{tgraph.config: 'layouts' contradicts the other entries, which mean {lhs = [1, 0], result = [1, 0], rhs = [1, 0]}}
    %r = linalg.matmul {tgraph.config = {version = 1, schedule = "tiled", vector_loops = [1], row_loops = [0], register_vectors = 3, register_rows = 4, unroll = 4, cache_vector = 24, cache_rows = 0, cache_reduction = 0, innermost = "vectors", pack = [], layouts = {lhs = [0, 1], rhs = [1, 0], result = [1, 0]}}}
        ins(%a, %b : tensor<128x64xf32>, tensor<64x96xf32>) outs(%c : tensor<128x96xf32>) -> tensor<128x96xf32>
    return %r : tensor<128x96xf32>
  }
}

// -----

module attributes {tgraph.target = "avx2"} {
  func.func @f(%a: tensor<128x64xf32>, %b: tensor<64x96xf32>, %c: tensor<128x96xf32>) -> tensor<128x96xf32> {
    // expected-error @below {{tgraph.config: the register tile needs more registers than the machine has}}
    %r = linalg.matmul {tgraph.config = {version = 1, schedule = "tiled", vector_loops = [1], row_loops = [0], register_vectors = 3, register_rows = 8, unroll = 4, cache_vector = 24, cache_rows = 0, cache_reduction = 0, innermost = "vectors", pack = []}}
        ins(%a, %b : tensor<128x64xf32>, tensor<64x96xf32>) outs(%c : tensor<128x96xf32>) -> tensor<128x96xf32>
    return %r : tensor<128x96xf32>
  }
}

// -----

module attributes {tgraph.target = "avx2"} {
  func.func @f(%a: tensor<128x64xf32>, %b: tensor<64x96xf32>, %c: tensor<128x96xf32>) -> tensor<128x96xf32> {
    // expected-error @below {{tgraph.config: register_rows exceeds the row loop}}
    %r = linalg.matmul {tgraph.config = {version = 1, schedule = "tiled", vector_loops = [1], row_loops = [0], register_vectors = 1, register_rows = 200, unroll = 4, cache_vector = 0, cache_rows = 0, cache_reduction = 0, innermost = "vectors", pack = []}}
        ins(%a, %b : tensor<128x64xf32>, tensor<64x96xf32>) outs(%c : tensor<128x96xf32>) -> tensor<128x96xf32>
    return %r : tensor<128x96xf32>
  }
}

// -----

module attributes {tgraph.target = "avx2"} {
  func.func @f(%a: tensor<128x64xf32>, %b: tensor<64x96xf32>, %c: tensor<128x96xf32>) -> tensor<128x96xf32> {
    // expected-error @below {{tgraph.config: the tile is wider than the vector loop}}
    %r = linalg.matmul {tgraph.config = {version = 1, schedule = "tiled", vector_loops = [1], row_loops = [0], register_vectors = 13, register_rows = 1, unroll = 4, cache_vector = 0, cache_rows = 0, cache_reduction = 0, innermost = "vectors", pack = []}}
        ins(%a, %b : tensor<128x64xf32>, tensor<64x96xf32>) outs(%c : tensor<128x96xf32>) -> tensor<128x96xf32>
    return %r : tensor<128x96xf32>
  }
}

// -----

module attributes {tgraph.target = "avx2"} {
  func.func @f(%a: tensor<128x64xf32>, %b: tensor<64x96xf32>, %c: tensor<128x96xf32>) -> tensor<128x96xf32> {
    // expected-error @below {{tgraph.config: cache_vector is not a multiple of the tile's width}}
    %r = linalg.matmul {tgraph.config = {version = 1, schedule = "tiled", vector_loops = [1], row_loops = [0], register_vectors = 3, register_rows = 4, unroll = 4, cache_vector = 25, cache_rows = 0, cache_reduction = 0, innermost = "vectors", pack = []}}
        ins(%a, %b : tensor<128x64xf32>, tensor<64x96xf32>) outs(%c : tensor<128x96xf32>) -> tensor<128x96xf32>
    return %r : tensor<128x96xf32>
  }
}

// -----

module attributes {tgraph.target = "avx2"} {
  func.func @f(%a: tensor<128x64xf32>, %b: tensor<64x96xf32>, %c: tensor<128x96xf32>) -> tensor<128x96xf32> {
    // expected-error @below {{tgraph.config: cache_rows is not a multiple of register_rows}}
    %r = linalg.matmul {tgraph.config = {version = 1, schedule = "tiled", vector_loops = [1], row_loops = [0], register_vectors = 3, register_rows = 4, unroll = 4, cache_vector = 24, cache_rows = 6, cache_reduction = 0, innermost = "vectors", pack = []}}
        ins(%a, %b : tensor<128x64xf32>, tensor<64x96xf32>) outs(%c : tensor<128x96xf32>) -> tensor<128x96xf32>
    return %r : tensor<128x96xf32>
  }
}

// -----

module attributes {tgraph.target = "avx2"} {
  func.func @f(%a: tensor<128x64xf32>, %b: tensor<64x96xf32>, %c: tensor<128x96xf32>) -> tensor<128x96xf32> {
    // expected-error @below {{tgraph.config: a packed result has to be contiguous along the row loop}}
    %r = linalg.matmul {tgraph.config = {version = 1, schedule = "tiled", vector_loops = [1], row_loops = [0], register_vectors = 3, register_rows = 4, unroll = 4, cache_vector = 24, cache_rows = 0, cache_reduction = 0, innermost = "vectors", pack = ["result"]}}
        ins(%a, %b : tensor<128x64xf32>, tensor<64x96xf32>) outs(%c : tensor<128x96xf32>) -> tensor<128x96xf32>
    return %r : tensor<128x96xf32>
  }
}

// -----

module attributes {tgraph.target = "avx2"} {
  func.func @f(%a: tensor<128x100000xf32>, %b: tensor<100000x96xf32>, %c: tensor<128x96xf32>) -> tensor<128x96xf32> {
    // expected-error @below {{tgraph.config: the unrolled register tile is too large}}
    %r = linalg.matmul {tgraph.config = {version = 1, schedule = "tiled", vector_loops = [1], row_loops = [0], register_vectors = 3, register_rows = 4, unroll = 2147483647, cache_vector = 24, cache_rows = 0, cache_reduction = 0, innermost = "vectors", pack = []}}
        ins(%a, %b : tensor<128x100000xf32>, tensor<100000x96xf32>) outs(%c : tensor<128x96xf32>) -> tensor<128x96xf32>
    return %r : tensor<128x96xf32>
  }
}

// -----

// On an operation that has nothing to choose.
module {
  func.func @f(%a: tensor<?x4xf32>) -> tensor<?x4xf32> {
    // expected-error @below {{tgraph.config on an operation that has no configurations}}
    %r = linalg.add {tgraph.config = {version = 1, schedule = "stock"}} ins(%a, %a : tensor<?x4xf32>, tensor<?x4xf32>) outs(%a : tensor<?x4xf32>) -> tensor<?x4xf32>
    return %r : tensor<?x4xf32>
  }
}
