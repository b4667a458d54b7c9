/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Functions of passes/polynomial.h, compiled and called.
 */
#ifndef TGRAPH_TEST_POLYNOMIALS_FUNCTIONS_H
#define TGRAPH_TEST_POLYNOMIALS_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>

enum function {
#define FUNCTION(name, low, high, limit_f32, limit_f64, f32, f64)              \
  FUNCTION_##name,
#include "test/polynomials/functions.def"
  FUNCTION_COUNT
};
struct function_facts {
  const char *name;
  double low, high; /* where most of it happens */
  double limit[2];  /* units in the last place; f32, f64 */
  double (*f32)(double x, double z);
  long double (*f64)(long double x, long double z);
};
extern const struct function_facts function_facts[FUNCTION_COUNT];

/* Of which code is made. lanes: 0 for a scalar. */
struct variant {
  const char *target;
  bool fused;
  int lanes;
  bool wide;    /* f64, else f32 */
  bool library; /* leave the operation: upstream's lowering calls libm */
};
bool host_has(const char *target);

/* All functions for the variant, compiled; NULL and a message on the standard
 * output where that fails. Lives as long as the process. */
struct compiled;
struct compiled *compile_functions(const struct variant *variant);
/* y[i] = function(x[i]) or function(x[i], z[i]); count: a multiple of the
 * lanes. */
void call_function(struct compiled *compiled, enum function function,
                   const void *x, const void *z, void *y, int64_t count);

#endif
