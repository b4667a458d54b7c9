/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Kernels for tests, from words: one letter a dimension, naming the loop that
 * walks it. '1' is x * stride + X, '2' is y * stride + Y.
 */
#ifndef TGRAPH_TEST_MAKE_KERNEL_H
#define TGRAPH_TEST_MAKE_KERNEL_H

#include <stdio.h>
#include <string.h>

#include "model/kernel.h"

/* loops: "m10 n36 k52", in order; a loop that the result lacks is a
 * reduction. */
static inline struct tg_kernel
make_kernel(const char *loops, const char *const words[3], int stride) {
  struct tg_kernel kernel;
  char letter[TG_MAX_LOOPS + 1] = {0};
  int used, extent;
  memset(&kernel, 0, sizeof(kernel));
  kernel.init_is_zero = true;
  while (sscanf(loops, " %c%d%n", &letter[kernel.loop_count], &extent, &used) >=
         2) {
    kernel.extent[kernel.loop_count++] = extent;
    loops += used;
  }
  for (int o = 0; o < TG_OPERAND_COUNT; ++o)
    for (const char *c = words[o]; *c; ++c) {
      struct tg_access *access = &kernel.operand[o];
      int d = access->rank++;
      if (*c == '1' || *c == '2') {
        int out = (int)(strchr(letter, *c == '1' ? 'x' : 'y') - letter);
        int filter = (int)(strchr(letter, *c == '1' ? 'X' : 'Y') - letter);
        access->coefficient[d][out] = stride;
        access->coefficient[d][filter] = 1;
        access->extent[d] =
            (kernel.extent[out] - 1) * stride + kernel.extent[filter];
      } else {
        int l = (int)(strchr(letter, *c) - letter);
        access->coefficient[d][l] = 1;
        access->extent[d] = kernel.extent[l];
      }
    }
  for (int l = 0; l < kernel.loop_count; ++l)
    kernel.reduction[l] = !strchr(words[TG_RESULT], letter[l]);
  return kernel;
}

static inline struct tg_kernel make_matmul(int m, int n, int k) {
  char loops[64];
  snprintf(loops, sizeof(loops), "m%d n%d k%d", m, n, k);
  return make_kernel(loops, (const char *const[]){"mk", "kn", "mn"}, 1);
}

/* conv_2d_nchw_fchw */
static inline struct tg_kernel make_conv(int f, int c, int size, int filter,
                                         int stride) {
  char loops[96];
  snprintf(loops, sizeof(loops), "n1 f%d x%d y%d c%d X%d Y%d", f, size, size, c,
           filter, filter);
  return make_kernel(loops, (const char *const[]){"nc12", "fcXY", "nfxy"},
                     stride);
}

#endif
