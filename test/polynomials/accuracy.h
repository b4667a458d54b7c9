/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Errors of compiled functions, in units of the last place of the type, against
 * libm in the next wider type.
 */
#ifndef TGRAPH_TEST_POLYNOMIALS_ACCURACY_H
#define TGRAPH_TEST_POLYNOMIALS_ACCURACY_H

#include "test/polynomials/functions.h"

/* The largest error found, and where. A wrong zero, infinity or NaN counts as
 * an infinite error. */
struct worst {
  double error;
  double x, z, got, expected;
  int64_t count; /* values looked at */
};

enum { MAX_COMPILED = 8 };

/* Looks at the function in each of the compiled modules, of which all are of
 * f32 or all of f64. worst[i] is of compiled[i], and is added to. */
void check_sample(struct compiled *const *compiled, int compiled_count,
                  bool wide, enum function function, struct worst *worst);
/* Every f32 whose bits are from `first` to before `end`. */
void check_all(struct compiled *const *compiled, int compiled_count,
               enum function function, uint64_t first, uint64_t end,
               struct worst *worst);

#endif
