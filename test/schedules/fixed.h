/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef TGRAPH_TEST_FIXED_H
#define TGRAPH_TEST_FIXED_H

#include <stdbool.h>

struct fixed_case {
  char name[256], target[64], text[16384];
};

/* Visits every module of the folder, in order of names; returns how many the
 * visitor, which says why, or the reading of it failed. */
int for_fixed_cases(const char *folder,
                    bool (*visit)(const struct fixed_case *fixed, void *user),
                    void *user);

#endif
