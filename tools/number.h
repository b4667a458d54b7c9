/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Elements of every type that a program can be called with, as doubles. */
#ifndef TGRAPH_TOOLS_NUMBER_H
#define TGRAPH_TOOLS_NUMBER_H

#include "tools/program.h"

/* The element with that number; 64-bit integers may be rounded. */
double tg_number_load(enum tg_dtype dtype, const void *elements, int64_t index);
/* Floats alone: rounds to nearest, ties to even; what is too large is Inf. */
void tg_number_store(enum tg_dtype dtype, void *elements, int64_t index,
                     double value);
/* The largest finite value. */
double tg_number_largest(enum tg_dtype dtype);

#endif
