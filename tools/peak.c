/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The core's measured peak: independent fused multiply-adds in registers, kept
 * from the optimizer by empty asm statements. */
#include "tools/timing.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define DECLARE_LOOP(NAME, FEATURES, VECTOR, SET, FMA_OP, CONSTRAINT)          \
  __attribute__((target(FEATURES), noinline)) static void NAME(long n) {       \
    VECTOR b = SET(1.0001f), c = SET(0.999f), acc[12];                         \
    for (int i = 0; i < 12; i++)                                               \
      acc[i] = SET((float)i);                                                  \
    for (long i = 0; i < n; i++)                                               \
      for (int k = 0; k < 12; k++) {                                           \
        acc[k] = FMA_OP(b, c, acc[k]);                                         \
        __asm__ volatile("" : "+" CONSTRAINT(acc[k]));                         \
      }                                                                        \
  }

/* Unrolled by the compiler: 12 chains hide a latency of 4 on 2 or 3 units. */
#pragma GCC push_options
#pragma GCC optimize("O3,unroll-loops")
DECLARE_LOOP(fma_512, "avx512f", __m512, _mm512_set1_ps, _mm512_fmadd_ps, "v")
DECLARE_LOOP(fma_256, "avx2,fma", __m256, _mm256_set1_ps, _mm256_fmadd_ps, "x")
#pragma GCC pop_options

int tg_host_vector_bits(void) {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f"))
    return 512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return 256;
  return 128;
}
#else
int tg_host_vector_bits(void) { return 128; }
#endif

typedef float vector_128 __attribute__((vector_size(16)));

__attribute__((noinline)) static void fma_128(long n) {
  vector_128 b = {1.0001f, 1, 1, 1}, c = {0.999f, 1, 1, 1}, acc[12] = {{0}};
  for (long i = 0; i < n; i++)
    for (int k = 0; k < 12; k++) {
      acc[k] += b * c;
      __asm__ volatile("" : "+m"(acc[k]));
    }
}

double tg_measure_peak_gflops(int vector_bits) {
  int host = tg_host_vector_bits();
  int bits = vector_bits < host ? vector_bits : host;
  void (*loop)(long) = fma_128;
#if defined(__x86_64__)
  if (bits >= 512)
    loop = fma_512;
  else if (bits >= 256)
    loop = fma_256;
#endif
  double flops_per_turn = 12 * 2 * (bits / 32.0), best = 0;
  long n = 100000;
  for (int round = 0; round < 8; round++) {
    double start = tg_thread_seconds();
    loop(n);
    double rate =
        (double)n * flops_per_turn / (tg_thread_seconds() - start) * 1e-9;
    best = rate > best ? rate : best;
  }
  return best;
}
