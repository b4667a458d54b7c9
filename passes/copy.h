/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Copies between views of memory, such as the parts of a concatenation. What
 * is contiguous as a whole is left to memcpy; the runtime library that the
 * rest would call moves one element at a time.
 */
#ifndef TGRAPH_PASSES_COPY_H
#define TGRAPH_PASSES_COPY_H

#include <mlir-c/IR.h>
#include <stdint.h>

/*
 * Expands every memref.copy under the operation: into loops over vectors where
 * the last dimensions are contiguous on both sides and of known extent, else
 * into linalg.copy. vector_bits: of the machine.
 */
void tg_expand_copies(MlirOperation module, int64_t vector_bits);

#endif
