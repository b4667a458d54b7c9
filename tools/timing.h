/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Clocks, cores, and the statistics of timing. */
#ifndef TGRAPH_TOOLS_TIMING_H
#define TGRAPH_TOOLS_TIMING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

double tg_clock_seconds(void);  /* wall clock, monotonic */
double tg_thread_seconds(void); /* CPU time of this thread */

int tg_core_count(void);
bool tg_pin_to_core(int core); /* false where the system refuses */
/* Waits until no other process times on the core, as far as they ask too, and
 * holds it until this one ends. Where the system has no place for the lock,
 * nothing is held. */
void tg_hold_core(int core);
/* Takes the core only if it is free; -1, or what gives it back. */
int tg_borrow_core(int core);
void tg_return_core(int borrowed);
/* Starts the program again with address randomisation off, unless it already
 * is or the system refuses; argv is main's. */
void tg_disable_randomisation(char **argv);

/*
 * Signs that something else ran on the core: involuntary context switches of
 * this thread, and time that the hypervisor took from the core. Kernel threads
 * that tick all the time are the machine's background: a sample is disturbed
 * when it has clearly more switches than the median of the samples before.
 */
enum { TG_BACKGROUND_COUNT = 31 };
struct tg_interference {
  int core;
  long switches; /* at the start of the sample */
  long long steal_ticks;
  long recent[TG_BACKGROUND_COUNT];
  int recent_count; /* samples so far */
};
void tg_interference_begin(struct tg_interference *state, int core);
/* Ends the sample; true when it was disturbed. */
bool tg_interference_end(struct tg_interference *state);

/* GFLOP/s of fused multiply-adds in registers, f32, in the widest vectors the
 * machine has up to vector_bits (128, 256 or 512); about 20 ms. */
double tg_measure_peak_gflops(int vector_bits);
int tg_host_vector_bits(void);

/* Sorts in place. */
double tg_median(double *values, int count);
struct tg_interval {
  double median, low, high;
  double coverage; /* of low..high, from order statistics; 0 below n = 2 */
};
/* The narrowest symmetric interval of order statistics that covers the median
 * with 95 %, or all values where n is too small for that. Sorts in place. */
struct tg_interval tg_median_interval(double *values, int count);

/* A random order of 0..count-1. */
void tg_shuffle(int *order, int count, uint64_t *state);

#endif
