/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "test/polynomials/speed.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "test/polynomials/functions.h"

enum { COUNT = 2048, RUNS = 15 }; /* in the first-level cache */

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* Nanoseconds an element, over some hundred microseconds. */
static double measure(struct compiled *compiled, enum function function,
                      const float *x, const float *z, float *y, int calls) {
  double start = now();
  for (int i = 0; i < calls; ++i)
    call_function(compiled, function, x, z, y, COUNT);
  return (now() - start) / calls / COUNT;
}

static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *values) {
  qsort(values, RUNS, sizeof(*values), by_size);
  return values[RUNS / 2];
}

static void compare(const struct variant *variant, struct compiled *ours,
                    struct compiled *library, enum function function) {
  static float x[COUNT], z[COUNT], y[COUNT];
  /* Where each function has neither overflow nor huge arguments. */
  for (int i = 0; i < COUNT; ++i) {
    x[i] = 0.01f + 4.f * (float)(i * 641 % COUNT) / COUNT;
    z[i] = 4.f - x[i];
  }
  double time[RUNS], other[RUNS], ratio[RUNS];
  for (int i = 0; i < RUNS; ++i) {
    time[i] = measure(ours, function, x, z, y, 200);
    other[i] = measure(library, function, x, z, y, 20);
    ratio[i] = other[i] / time[i];
  }
  double middle = median(ratio);
  printf("%-6s %-7s %2d lanes: %.3f ns an element, libm %.2f: %.1f times "
         "(%.1f to %.1f)\n",
         function_facts[function].name, variant->target, variant->lanes,
         median(time), median(other), middle, ratio[1], ratio[RUNS - 2]);
}

int run_speed(void) {
  static const struct variant variants[] = {
      {"avx512", true, 16, false, false},
      {"avx2", true, 8, false, false},
      {"generic", false, 4, false, false}};
  for (size_t v = 0; v < sizeof(variants) / sizeof(variants[0]); ++v) {
    if (!host_has(variants[v].target))
      continue;
    struct variant scalar = variants[v];
    scalar.lanes = 0;
    scalar.library = true;
    struct compiled *ours = compile_functions(&variants[v]);
    struct compiled *library = compile_functions(&scalar);
    if (!ours || !library)
      return 1;
    for (int f = 0; f < FUNCTION_COUNT; ++f)
      compare(&variants[v], ours, library, f);
  }
  return 0;
}
