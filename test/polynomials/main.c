/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The polynomials against libm.
 *   polynomials            a sample of some million values, every variant
 *   polynomials --all      every f32 (a minute or two a function)
 *   polynomials --all F [PART PARTS]   of one function, and a part of them
 *   polynomials --time     nanoseconds an element, against libm's scalar code
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/polynomials/accuracy.h"
#include "test/polynomials/speed.h"

static const struct variant variants[] = {
    {"generic", false, 0, false, false}, {"generic", false, 4, false, false},
    {"avx2", false, 8, false, false},    {"avx2", true, 8, false, false},
    {"avx512", true, 16, false, false},
};
enum { VARIANT_COUNT = sizeof(variants) / sizeof(variants[0]) };

struct set {
  int count;
  struct variant variant[MAX_COMPILED];
  struct compiled *compiled[MAX_COMPILED];
};

/* Those that this machine can run, from variant `first` in steps. */
static bool compile_set(struct set *set, bool wide, int first, int step) {
  set->count = 0;
  for (int i = first; i < VARIANT_COUNT; i += step) {
    if (!host_has(variants[i].target))
      continue;
    struct variant *variant = &set->variant[set->count];
    *variant = variants[i];
    variant->wide = wide;
    set->compiled[set->count] = compile_functions(variant);
    if (!set->compiled[set->count++])
      return false;
  }
  return true;
}

static int report(const struct set *set, bool wide, enum function function,
                  const struct worst *worst) {
  const struct function_facts *facts = &function_facts[function];
  int failures = 0;
  for (int i = 0; i < set->count; ++i) {
    const struct variant *variant = &set->variant[i];
    bool failed = !(worst[i].error <= facts->limit[wide]);
    printf("%-6s %s %-8s %-7s %2d lanes: %6.3f ulp at %a (%.9g), %a: %a, "
           "not %a "
           "(%lld values)%s\n",
           facts->name, wide ? "f64" : "f32", variant->target,
           variant->fused ? "fused" : "unfused", variant->lanes, worst[i].error,
           worst[i].x, worst[i].x, worst[i].z, worst[i].got, worst[i].expected,
           (long long)worst[i].count, failed ? "  FAILED" : "");
    failures += failed;
  }
  fflush(stdout);
  return failures;
}

static int run_sample(void) {
  int failures = 0;
  for (int wide = 0; wide < 2; ++wide) {
    static struct set set;
    if (!compile_set(&set, wide, 0, 1))
      return 1;
    for (int f = 0; f < FUNCTION_COUNT; ++f) {
      if (function_facts[f].limit[wide] <= 0)
        continue;
      struct worst worst[MAX_COMPILED] = {{0}};
      check_sample(set.compiled, set.count, wide, f, worst);
      failures += report(&set, wide, f, worst);
    }
  }
  return failures;
}

/* part: 0 .. parts - 1 */
static int run_all(const char *only, uint64_t part, uint64_t parts) {
  static struct set set;
  int failures = 0;
  uint64_t first = (UINT64_C(1) << 32) * part / parts;
  uint64_t end = (UINT64_C(1) << 32) * (part + 1) / parts;
  /* The widest with and without a fused multiplication. */
  if (!compile_set(&set, false, 2, 2))
    return 1;
  for (int f = 0; f < FUNCTION_COUNT; ++f) {
    if (only && strcmp(only, function_facts[f].name) != 0)
      continue;
    struct worst worst[MAX_COMPILED] = {{0}};
    check_all(set.compiled, set.count, f, first, end, worst);
    failures += report(&set, false, f, worst);
  }
  return failures;
}

int main(int count, char **argument) {
  if (count > 1 && !strcmp(argument[1], "--all"))
    return run_all(count > 2 ? argument[2] : NULL,
                   count > 4 ? strtoull(argument[3], NULL, 10) : 0,
                   count > 4 ? strtoull(argument[4], NULL, 10) : 1) != 0;
  if (count > 1 && !strcmp(argument[1], "--time"))
    return run_speed() != 0;
  return run_sample() != 0;
}
