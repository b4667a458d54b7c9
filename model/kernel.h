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

enum tg_element {
#define ELEMENT(id, name, nbytes) TG_##id,
#include "model/element.def"
  TG_ELEMENT_COUNT
};
/* MLIR's names of the element types. */
extern const char *const tg_element_names[TG_ELEMENT_COUNT];

/* How an input becomes what the kernel computes in. */
enum tg_extension {
  TG_EXTENSION_NONE, /* it is of that type */
  TG_EXTENSION_FLOAT,
  TG_EXTENSION_SIGNED,
  TG_EXTENSION_UNSIGNED
};

/*
 * How a loop whose extent is known only at run time is carried out; its
 * `extent` is then what the code is planned for, and no operand's extent along
 * it is more than that assumption.
 */
enum tg_dynamic {
  TG_STATIC,  /* the extent is what it says */
  TG_SLICED,  /* around the kernel, one iteration at a time: extent 1 */
  TG_BOUNDED, /* inside of the kernel, up to a bound that is a value */
};

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
  enum tg_dynamic dynamic[TG_MAX_LOOPS];
  enum tg_element element; /* of the result, and of all arithmetic */
  enum tg_extension extension[TG_OPERAND_COUNT]; /* of the inputs */
  struct tg_access operand[TG_OPERAND_COUNT];
  bool weight[TG_OPERAND_COUNT]; /* a constant or an argument of the function */
  /* Packed once, before the program runs, where it is packed as a whole. */
  bool prepacked[TG_OPERAND_COUNT];
  bool init_is_zero; /* the result starts from a fill of zero */
};

/* The first dimension of the operand that the loop steps; -1 for none. */
int tg_access_dimension(const struct tg_access *access, int loop);
/* Does the operand's address depend on the loop? */
bool tg_kernel_uses(const struct tg_kernel *kernel, int operand, int loop);
/* Elements between neighbours of the loop in the row-major operand. */
int64_t tg_kernel_stride(const struct tg_kernel *kernel, int operand, int loop);
int64_t tg_kernel_element_nbytes(const struct tg_kernel *kernel);
/* Are all operands floats of one type? */
bool tg_kernel_is_plain(const struct tg_kernel *kernel);
/* 2 x the product of the loops' extents. */
double tg_kernel_flops(const struct tg_kernel *kernel);
/* Does the loop of the kind exist? */
bool tg_kernel_has(const struct tg_kernel *kernel, enum tg_dynamic kind);
bool tg_kernel_is_dynamic(const struct tg_kernel *kernel);
/* Does the operand come packed where a plan packs it whole? Only in programs
 * of static shapes. */
bool tg_kernel_comes_packed(const struct tg_kernel *kernel, int operand);
/* A hash of everything above but `weight`, TG_SLICED and names: equal kernels
 * are equal. */
uint64_t tg_kernel_hash(const struct tg_kernel *kernel);

#endif
