/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A configurable operation as numbers: its loops and how each operand is
 * addressed by them. Named operations and generics become the same thing, so
 * whatever is decided from a kernel holds for both.
 */
#ifndef TGRAPH_MODEL_KERNEL_H
#define TGRAPH_MODEL_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

enum {
  TG_MAX_LOOPS = 10,
  TG_MAX_RANK = 8,
  TG_LHS = 0, /* first input: matrix A, or a convolution's image */
  TG_RHS = 1, /* second input: matrix B, or a convolution's filter */
  TG_RESULT = 2,
  TG_OPERAND_COUNT = 3
};

enum tg_element { TG_F32, TG_F64 };

struct tg_access {
  int rank;
  int64_t extent[TG_MAX_RANK]; /* of the operand's dimensions, in elements */
  /* subscript of dimension d = sum over loops l of coefficient[d][l] * l */
  int32_t coefficient[TG_MAX_RANK][TG_MAX_LOOPS];
};

struct tg_kernel {
  int loop_count;
  int64_t extent[TG_MAX_LOOPS]; /* iterations, at least 1 */
  bool reduction[TG_MAX_LOOPS];
  enum tg_element element;
  struct tg_access operand[TG_OPERAND_COUNT];
  bool weight[TG_OPERAND_COUNT]; /* a constant or an argument of the function */
  bool init_is_zero;             /* the result starts from a fill of zero */
};

/* The first dimension of the operand that the loop steps; -1 for none. */
int tg_access_dimension(const struct tg_access *access, int loop);
/* Does the operand's address depend on the loop? */
bool tg_kernel_uses(const struct tg_kernel *kernel, int operand, int loop);
/* Elements between neighbours of the loop in the row-major operand. */
int64_t tg_kernel_stride(const struct tg_kernel *kernel, int operand, int loop);
int64_t tg_kernel_element_nbytes(const struct tg_kernel *kernel);
/* 2 x the product of the loops' extents. */
double tg_kernel_flops(const struct tg_kernel *kernel);
/* A hash of everything above but `weight` and names: equal kernels are equal.
 */
uint64_t tg_kernel_hash(const struct tg_kernel *kernel);

#endif
