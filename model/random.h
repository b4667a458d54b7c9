/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Numbers that look random and are the same everywhere. */
#ifndef TGRAPH_MODEL_RANDOM_H
#define TGRAPH_MODEL_RANDOM_H

#include <stdint.h>

/* SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
 * generators", 2014); any state is a seed. */
static inline uint64_t tg_random_next(uint64_t *state) {
  uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

#endif
