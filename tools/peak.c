/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The core's measured peak: independent fused multiply-adds in registers, kept
 * from the optimizer by empty asm statements. */
#include "tools/timing.h"

#if defined(__x86_64__)
#include <immintrin.h>

/* Twelve named accumulators: an array of them would live in memory. */
#define TWELVE(DO)                                                             \
  DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11)
#define FMA_512(i)                                                             \
  a##i = _mm512_fmadd_ps(b, c, a##i);                                          \
  __asm__ volatile("" : "+v"(a##i));
#define FMA_256(i)                                                             \
  a##i = _mm256_fmadd_ps(b, c, a##i);                                          \
  __asm__ volatile("" : "+x"(a##i));
#define START_512(i) __m512 a##i = _mm512_set1_ps((float)(i));
#define START_256(i) __m256 a##i = _mm256_set1_ps((float)(i));

__attribute__((target("avx512f"), noinline)) static void fma_512(long n) {
  __m512 b = _mm512_set1_ps(1.0001f), c = _mm512_set1_ps(0.999f);
  TWELVE(START_512)
  for (long i = 0; i < n; i++) {
    TWELVE(FMA_512)
  }
}

__attribute__((target("avx2,fma"), noinline)) static void fma_256(long n) {
  __m256 b = _mm256_set1_ps(1.0001f), c = _mm256_set1_ps(0.999f);
  TWELVE(START_256)
  for (long i = 0; i < n; i++) {
    TWELVE(FMA_256)
  }
}

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
