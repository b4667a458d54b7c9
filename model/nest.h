/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A loop nest that is no sum of products (elementwise operations, reductions,
 * poolings, transpositions, gathers) as numbers, and which of its loops becomes
 * the vector. Its configuration is that loop and how many vectors a body holds.
 */
#ifndef TGRAPH_MODEL_NEST_H
#define TGRAPH_MODEL_NEST_H

#include "model/kernel.h"
#include "model/plan.h"

enum { TG_MAX_NEST_OPERANDS = 16 };

struct tg_nest {
  int loop_count;
  int64_t extent[TG_MAX_LOOPS]; /* at least 1 */
  bool reduction[TG_MAX_LOOPS];
  int input_count, operand_count; /* inputs first, then results */
  struct tg_access operand[TG_MAX_NEST_OPERANDS];
  int element_nbytes[TG_MAX_NEST_OPERANDS];
  /* Is the operand's element looked at? A result's: its initial value. */
  bool read[TG_MAX_NEST_OPERANDS];
  /* May neighbours of the loop share a vector? Says whether the body can be
   * done in lanes and, of a reduction, in any order. */
  bool vectorizable[TG_MAX_LOOPS];
  int body_ops; /* operations of the body */
};

/* How an operand is addressed by the lanes of a vector along a loop. */
enum tg_reach {
  TG_REACH_UNIFORM,    /* the same element for all */
  TG_REACH_CONTIGUOUS, /* neighbours in its last dimension */
  TG_REACH_STRIDED,    /* in its last dimension, up to TG_MAX_STEP apart */
  TG_REACH_SCATTERED   /* anything else: lane by lane, or transposed */
};
enum tg_reach tg_access_reach(const struct tg_access *access, int loop);

/* Lanes of a vector: of 4-byte elements, or 8-byte ones if all are. */
int64_t tg_nest_lanes(const struct tg_nest *nest,
                      const struct tg_target *target);

/* NULL, or why the configuration can't be carried out (static lifetime). */
const char *tg_nest_check(const struct tg_nest *nest,
                          const struct tg_config *config);

/*
 * The configurations: [0] is the stock lowering, the others differ in
 * vector_loop and vectors. At most TG_NEST_MAX_CONFIGS; returns how many.
 */
enum { TG_NEST_MAX_CONFIGS = 1 + 3 * TG_MAX_LOOPS };
int tg_nest_enumerate(const struct tg_nest *nest,
                      struct tg_config configs[TG_NEST_MAX_CONFIGS]);

/* Expected cycles of a configuration that tg_nest_check accepts. */
double tg_nest_cycles(const struct tg_nest *nest,
                      const struct tg_config *config,
                      const struct tg_target *target);

/* The member of the space with the fewest expected cycles; false where only
 * the stock lowering is left. */
bool tg_nest_choose(const struct tg_nest *nest, const struct tg_target *target,
                    struct tg_config *config);

#endif
