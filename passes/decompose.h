/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Operations that are shorthands for several others. Neither bufferization nor
 * the lowering to loops knows them, so they are written out first.
 */
#ifndef TGRAPH_PASSES_DECOMPOSE_H
#define TGRAPH_PASSES_DECOMPOSE_H

#include <mlir-c/IR.h>

enum tg_decompose {
  /* softmax and tensor.gather: their parts are generics that have choices of
   * their own. What says tgraph.skip stays. */
  TG_DECOMPOSE_FOR_CHOICE,
  /* These, packs and unpacks, and the transforms of Winograd's algorithm: what
   * has to be gone before bufferization, whatever it says. */
  TG_DECOMPOSE_FOR_BUFFERS
};

/* Tensors alone: operations on memory stay. Fails, with an error at the
 * operation, where upstream's decomposition does. */
MlirLogicalResult tg_decompose(MlirOperation module, enum tg_decompose what);

#endif
