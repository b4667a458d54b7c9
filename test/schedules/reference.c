/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What a case computes, in double precision, from the accesses alone.
 */
#include <math.h>
#include <stdlib.h>

#include "test/schedules/schedules.h"

static int64_t offset_of(const struct tg_kernel *kernel, int operand,
                         const int64_t *position) {
  const struct tg_access *access = &kernel->operand[operand];
  int64_t offset = 0;
  for (int d = 0; d < access->rank; ++d) {
    int64_t subscript = 0;
    for (int l = 0; l < kernel->loop_count; ++l)
      subscript += access->coefficient[d][l] * position[l];
    offset = offset * access->extent[d] + subscript;
  }
  return offset;
}

/* The next point of the box; false behind the last. */
static bool advance(int count, const int64_t *extent, int64_t *position) {
  for (int i = count - 1; i >= 0; --i) {
    if (++position[i] < extent[i])
      return true;
    position[i] = 0;
  }
  return false;
}

static void compute_kernel(const struct tg_kernel *kernel, const double *lhs,
                           const double *rhs, double *result) {
  int64_t position[TG_MAX_LOOPS] = {0};
  for (int l = 0; l < kernel->loop_count; ++l)
    if (kernel->extent[l] == 0)
      return;
  do
    result[offset_of(kernel, TG_RESULT, position)] +=
        lhs[offset_of(kernel, TG_LHS, position)] *
        rhs[offset_of(kernel, TG_RHS, position)];
  while (advance(kernel->loop_count, kernel->extent, position));
}

static double apply_link(enum link_kind kind, double x, double y) {
  switch (kind) {
  case LINK_ADD:
    return x + y;
  case LINK_SUBTRACT:
    return y - x;
  case LINK_MULTIPLY:
    return x * y;
  case LINK_RELU:
    return x > 0 ? x : 0;
  case LINK_SELECT:
    return x > y ? x : y;
  case LINK_SHIFT:
    return x + 0.5;
  case LINK_NEGATE:
    return -x;
  case LINK_FMA:
    return x * y + x;
  case LINK_EXP:
    return exp(-fabs(x));
  default:
    return y;
  }
}

static void compute_link(const struct test_case *test, const struct link *link,
                         const double *value, const double *input,
                         double *result) {
  const struct tensor *shape = &test->operand[TG_RESULT];
  int64_t position[TG_MAX_RANK] = {0}, at = 0;
  if (tensor_elements(shape) == 0)
    return;
  do {
    int64_t offset = 0;
    for (int d = 0; d < link->input.rank; ++d)
      offset = offset * link->input.extent[d] +
               (link->dimension[d] < 0 ? 0 : position[link->dimension[d]]);
    result[at] = apply_link(link->kind, value[at], input[offset]);
    ++at;
  } while (advance(shape->rank, shape->extent, position));
}

void compute_reference(const struct test_case *test,
                       const struct tg_kernel *kernel,
                       const double *const *arguments,
                       double *values[MAX_VALUES], double *largest) {
  int64_t count = tensor_elements(&test->operand[TG_RESULT]);
  for (int v = 0; v <= test->link_count; ++v)
    values[v] = calloc((size_t)count, sizeof(double));
  for (int64_t i = 0; i < count && !test->zero_init; ++i)
    values[0][i] = arguments[TG_RESULT][i];
  compute_kernel(kernel, arguments[TG_LHS], arguments[TG_RHS], values[0]);
  for (int i = 0; i < test->link_count; ++i) {
    const struct link *link = &test->link[i];
    compute_link(test, link, values[i],
                 link->argument >= 0 ? arguments[link->argument]
                                     : values[link->value],
                 values[i + 1]);
  }
  for (int v = 0; v <= test->link_count; ++v) {
    largest[v] = v ? largest[v - 1] : 1e-30;
    for (int64_t i = 0; i < count; ++i)
      if (fabs(values[v][i]) > largest[v])
        largest[v] = fabs(values[v][i]);
  }
}
