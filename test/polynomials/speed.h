/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef TGRAPH_TEST_POLYNOMIALS_SPEED_H
#define TGRAPH_TEST_POLYNOMIALS_SPEED_H

/* Prints how much faster polynomials of f32 are than calls of libm, element by
 * element; medians of interleaved runs. Returns 0, or 1 where code can't be
 * made. */
int run_speed(void);

#endif
