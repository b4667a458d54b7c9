/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Elementwise operations behind a kernel (bias, normalisation, activation,
 * residual sum) that are done on its result before it is stored: linalg.generic
 * operations that read the kernel's result, each other's, and other tensors,
 * and of which only the last one's result is read by anything else.
 * A link may have other elements than the sum: one of f32 that is rounded to
 * bf16 in the end is stored as that.
 */
#ifndef TGRAPH_PASSES_EPILOGUE_H
#define TGRAPH_PASSES_EPILOGUE_H

#include <mlir-c/IR.h>

#include "model/plan.h"
#include "passes/build.h"

enum {
  TG_MAX_CHAIN = 12,
  TG_MAX_LINK_OPERANDS = 8,
  TG_MAX_EPILOGUE_INPUTS = 24
};

/* An input of the chain that it doesn't make itself. */
struct tg_epilogue_input {
  int link;    /* which operation of the chain */
  int operand; /* which operand of it */
  int source_rank;
  int own[TG_MAX_RANK];   /* the operation's own dimension of the result that
                             each dimension goes with, -1: none */
  int group[TG_MAX_RANK]; /* collapses it to `rank` dimensions */
  int rank;
  int result_dimension[TG_MAX_RANK]; /* of the stored result, -1: index 0 */
  bool vector; /* contiguous along the stored vectors, else one element */
};

struct tg_epilogue {
  int length; /* operations in the chain, 0: none */
  MlirOperation chain[TG_MAX_CHAIN];
  int operand_count[TG_MAX_CHAIN]; /* without the one it is written to */
  /* The value that an operand is: 0 the kernel's result, i + 1 that of link i;
   * -1: an input. */
  int chained[TG_MAX_CHAIN][TG_MAX_LINK_OPERANDS];
  int input_count;
  struct tg_epilogue_input input[TG_MAX_EPILOGUE_INPUTS];
  MlirValue source[TG_MAX_EPILOGUE_INPUTS]; /* collapsed, inside the code */
};

/* The longest chain behind the operation, whose own kernel is given, that the
 * plan can take in. */
void tg_epilogue_find(MlirOperation op, const struct tg_kernel *kernel,
                      const struct tg_plan *plan, struct tg_epilogue *epilogue);

/* Collapses the function's arguments that hold the inputs. */
void tg_epilogue_begin(struct tg_builder *builder, struct tg_epilogue *epilogue,
                       const MlirValue *arguments);
/* The vector after the chain; indices: where it is stored in the result, of
 * which `valid` lanes exist. */
MlirValue tg_epilogue_emit(struct tg_builder *builder,
                           const struct tg_epilogue *epilogue, MlirValue vector,
                           const MlirValue *indices, int64_t valid);

#endif
