/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The canonical form of a kernel. Two rewrites until nothing changes: a loop
 * of one iteration is dropped, and two loops that every operand walks as the
 * two digits of one number become one loop.
 */
#include "model/canonical.h"

#include <assert.h>
#include <string.h>

/* Is dimension d of the operand addressed by `loop` alone, step 1, over a
 * known extent? */
static bool is_plain(const struct tg_kernel *kernel, int operand, int d,
                     int loop) {
  const struct tg_access *access = &kernel->operand[operand];
  if (kernel->dynamic[loop] == TG_BOUNDED)
    return false;
  for (int l = 0; l < kernel->loop_count; ++l)
    if (access->coefficient[d][l] != (l == loop))
      return false;
  return access->extent[d] == kernel->extent[loop];
}

/* The dimension d where d, d+1 are addressed by `outer` and `inner` alone;
 * -1: there is none. */
static int find_digit_pair(const struct tg_kernel *kernel, int operand,
                           int outer, int inner) {
  const struct tg_access *access = &kernel->operand[operand];
  for (int d = 0; d + 1 < access->rank; ++d)
    if (is_plain(kernel, operand, d, outer) &&
        is_plain(kernel, operand, d + 1, inner))
      return d;
  return -1;
}

static void remove_dimension(struct tg_canonical *canonical, int operand,
                             int dimension) {
  struct tg_access *access = &canonical->kernel.operand[operand];
  for (int d = dimension; d + 1 < access->rank; ++d) {
    access->extent[d] = access->extent[d + 1];
    memcpy(access->coefficient[d], access->coefficient[d + 1],
           sizeof(access->coefficient[d]));
  }
  access->rank--;
}

static void remove_loop(struct tg_canonical *canonical, int loop) {
  struct tg_kernel *kernel = &canonical->kernel;
  for (int o = 0; o < TG_OPERAND_COUNT; ++o)
    for (int d = 0; d < kernel->operand[o].rank; ++d) {
      int32_t *row = kernel->operand[o].coefficient[d];
      for (int l = loop; l + 1 < kernel->loop_count; ++l)
        row[l] = row[l + 1];
      row[kernel->loop_count - 1] = 0;
    }
  for (int l = loop; l + 1 < kernel->loop_count; ++l) {
    kernel->extent[l] = kernel->extent[l + 1];
    kernel->reduction[l] = kernel->reduction[l + 1];
    kernel->dynamic[l] = kernel->dynamic[l + 1];
    canonical->loop_first[l] = canonical->loop_first[l + 1];
    canonical->loop_size[l] = canonical->loop_size[l + 1];
  }
  kernel->loop_count--;
}

/* Joins dimension d + 1 of the operand to dimension d. */
static void join_dimensions(struct tg_canonical *canonical, int operand,
                            int d) {
  struct tg_access *access = &canonical->kernel.operand[operand];
  access->extent[d] *= access->extent[d + 1];
  remove_dimension(canonical, operand, d + 1);
  for (int s = 0; s < canonical->source_rank[operand]; ++s)
    if (canonical->group[operand][s] > d)
      canonical->group[operand][s]--;
}

/* The own loops of `inner` come to stand right behind those of `outer`. */
static void join_loop_lists(struct tg_canonical *canonical, int outer,
                            int inner) {
  int joined[TG_MAX_LOOPS], count = 0, first[TG_MAX_LOOPS];
  for (int l = 0; l < canonical->kernel.loop_count; ++l) {
    first[l] = count;
    for (int i = 0; i < canonical->loop_size[l] && l != inner; ++i)
      joined[count++] = canonical->loop_of[canonical->loop_first[l] + i];
    for (int i = 0; i < canonical->loop_size[inner] && l == outer; ++i)
      joined[count++] = canonical->loop_of[canonical->loop_first[inner] + i];
  }
  canonical->loop_size[outer] += canonical->loop_size[inner];
  memcpy(canonical->loop_of, joined, (size_t)count * sizeof(int));
  memcpy(canonical->loop_first, first,
         (size_t)canonical->kernel.loop_count * sizeof(int));
}

static bool can_merge(const struct tg_kernel *kernel, int outer, int inner) {
  if (kernel->reduction[outer] != kernel->reduction[inner])
    return false;
  for (int o = 0; o < TG_OPERAND_COUNT; ++o) {
    bool used =
        tg_kernel_uses(kernel, o, outer) || tg_kernel_uses(kernel, o, inner);
    if (used && find_digit_pair(kernel, o, outer, inner) < 0)
      return false;
  }
  return true;
}

static void merge(struct tg_canonical *canonical, int outer, int inner) {
  struct tg_kernel *kernel = &canonical->kernel;
  for (int o = 0; o < TG_OPERAND_COUNT; ++o) {
    int d = find_digit_pair(kernel, o, outer, inner);
    if (d >= 0)
      join_dimensions(canonical, o, d);
  }
  kernel->extent[outer] *= kernel->extent[inner];
  join_loop_lists(canonical, outer, inner);
  remove_loop(canonical, inner);
}

static void drop_unit_loops(struct tg_canonical *canonical) {
  for (int l = canonical->kernel.loop_count - 1; l >= 0; --l)
    if (canonical->kernel.extent[l] == 1)
      remove_loop(canonical, l);
}

/* A dimension of extent 1 joins a neighbour; the last one left stays. */
static void drop_unit_dimensions(struct tg_canonical *canonical, int operand) {
  struct tg_access *access = &canonical->kernel.operand[operand];
  for (int d = access->rank - 1; d >= 0 && access->rank > 1; --d) {
    if (access->extent[d] != 1)
      continue;
    if (d > 0) {
      join_dimensions(canonical, operand, d - 1);
      continue;
    }
    /* The first one: its neighbour's subscript is the one to keep. */
    memset(access->coefficient[0], 0, sizeof(access->coefficient[0]));
    memcpy(access->coefficient[0], access->coefficient[1],
           sizeof(access->coefficient[0]));
    join_dimensions(canonical, operand, 0);
  }
}

static void swap_loops(struct tg_canonical *canonical, int a, int b) {
  struct tg_kernel *kernel = &canonical->kernel;
#define SWAP(type, array)                                                      \
  do {                                                                         \
    type kept = (array)[a];                                                    \
    (array)[a] = (array)[b];                                                   \
    (array)[b] = kept;                                                         \
  } while (0)
  for (int o = 0; o < TG_OPERAND_COUNT; ++o)
    for (int d = 0; d < kernel->operand[o].rank; ++d)
      SWAP(int32_t, kernel->operand[o].coefficient[d]);
  SWAP(int64_t, kernel->extent);
  SWAP(bool, kernel->reduction);
  SWAP(enum tg_dynamic, kernel->dynamic);
  SWAP(int, canonical->loop_first);
  SWAP(int, canonical->loop_size);
#undef SWAP
}

/* A reduction of unknown extent becomes the outermost one, which is done in
 * blocks: the depth of a panel is known then. */
static void put_bounded_reduction_first(struct tg_canonical *canonical) {
  const struct tg_kernel *kernel = &canonical->kernel;
  int last = -1;
  for (int l = 0; l < kernel->loop_count; ++l)
    if (kernel->reduction[l] && kernel->dynamic[l] == TG_BOUNDED)
      last = l;
  for (int l = last - 1; l >= 0; --l)
    if (kernel->reduction[l]) {
      swap_loops(canonical, l, last);
      last = l;
    }
}

void tg_canonicalize(const struct tg_kernel *kernel,
                     struct tg_canonical *canonical) {
  memset(canonical, 0, sizeof(*canonical));
  canonical->kernel = *kernel;
  for (int l = 0; l < kernel->loop_count; ++l) {
    canonical->loop_of[l] = canonical->loop_first[l] = l;
    canonical->loop_size[l] = 1;
  }
  for (int o = 0; o < TG_OPERAND_COUNT; ++o) {
    canonical->source_rank[o] = kernel->operand[o].rank;
    for (int d = 0; d < kernel->operand[o].rank; ++d)
      canonical->group[o][d] = d;
  }
  drop_unit_loops(canonical);
  for (int o = 0; o < TG_OPERAND_COUNT; ++o)
    drop_unit_dimensions(canonical, o);
  bool changed = true;
  while (changed) {
    changed = false;
    for (int a = 0; a < canonical->kernel.loop_count && !changed; ++a)
      for (int b = 0; b < canonical->kernel.loop_count && !changed; ++b)
        if (a != b && can_merge(&canonical->kernel, a, b)) {
          merge(canonical, a, b);
          changed = true;
        }
  }
  put_bounded_reduction_first(canonical);
}

int tg_canonical_outer(const struct tg_canonical *canonical, int inner) {
  const struct tg_kernel *kernel = &canonical->kernel;
  const struct tg_access *result = &kernel->operand[TG_RESULT];
  for (int l = 0; l < kernel->loop_count && result->rank >= 2; ++l)
    if (l != inner && result->coefficient[result->rank - 2][l] == 1)
      return l;
  return -1;
}

bool tg_canonical_flatten(struct tg_canonical *canonical, int outer, int inner,
                          bool collapsed[TG_OPERAND_COUNT]) {
  struct tg_kernel *kernel = &canonical->kernel;
  if (find_digit_pair(kernel, TG_RESULT, outer, inner) < 0)
    return false;
  for (int o = 0; o < TG_OPERAND_COUNT; ++o) {
    bool used =
        tg_kernel_uses(kernel, o, outer) || tg_kernel_uses(kernel, o, inner);
    collapsed[o] = !used || find_digit_pair(kernel, o, outer, inner) >= 0;
  }
  assert(collapsed[TG_RESULT]);
  /* Operands that stay apart keep the outer loop's coefficients under the
   * merged loop; the caller gathers by the strides it took beforehand. */
  merge(canonical, outer, inner);
  return true;
}
