/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Running a function while the program is compiled: it is lowered, compiled for
 * this machine and called once.
 */
#ifndef TGRAPH_PASSES_EVALUATE_H
#define TGRAPH_PASSES_EVALUATE_H

#include <mlir-c/IR.h>
#include <stdbool.h>
#include <stddef.h>

/* A tensor in memory: row-major, of static shape. */
struct tg_tensor_data {
  MlirType type;
  void *data;
};

/*
 * module: its text is taken; it holds the function and all that it calls.
 * inputs: read only, their order the function's arguments'. results: their
 * types are given, their data is malloc'ed here. False, and no data, where
 * anything goes wrong: the code is then to be run by the program itself.
 */
bool tg_evaluate(MlirOperation module, const char *function,
                 const struct tg_tensor_data *inputs, size_t input_count,
                 struct tg_tensor_data *results, size_t result_count);

/* Bytes of the tensor; 0 where it has no static shape of whole bytes. */
size_t tg_tensor_nbytes(MlirType type);

#endif
