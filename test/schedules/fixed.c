/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "test/schedules/fixed.h"

const struct fixed_case fixed_cases[] = {
    {"a plain tile", "generic",
     "func.func @f(%a: tensor<6x7xf32>, %b: tensor<7x9xf32>, "
     "%c: tensor<6x9xf32>) -> tensor<6x9xf32> attributes "
     "{llvm.emit_c_interface} {\n"
     "  %r = linalg.matmul {tgraph.config = {version = 1, schedule = "
     "\"tiled\", vector_loops = [1], row_loops = [0], register_rows = 4, "
     "register_vectors = 2, unroll = 3, cache_vector = 0, cache_rows = 0, "
     "cache_reduction = 5, innermost = \"rows\", pack = [\"rhs\"]}} "
     "ins(%a, %b : tensor<6x7xf32>, tensor<7x9xf32>) "
     "outs(%c : tensor<6x9xf32>) -> tensor<6x9xf32>\n"
     "  return %r : tensor<6x9xf32>\n}\n"},
};

const size_t fixed_case_count = sizeof(fixed_cases) / sizeof(fixed_cases[0]);
