/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef TGRAPH_TEST_FIXED_H
#define TGRAPH_TEST_FIXED_H

#include <stddef.h>

/* The smallest case of every bug that was found: a module with @f, its
 * operations configured. */
struct fixed_case {
  const char *name, *target, *text;
};
extern const struct fixed_case fixed_cases[];
extern const size_t fixed_case_count;

#endif
