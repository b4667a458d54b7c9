/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Random programs of several kernels with what networks have between them:
 * pads, biases, activations, residual sums, normalisations, softmax, reshapes
 * and transpositions. In f32, f64, f16 and bf16.
 */
#ifndef TGRAPH_TEST_CHAINS_H
#define TGRAPH_TEST_CHAINS_H

#include "test/schedules/batch.h"
#include "test/schedules/schedules.h"

enum { MAX_CHAIN_RESULTS = 3, CHAIN_TEXT_NBYTES = 65536 };

enum chain_type { CHAIN_F32, CHAIN_F64, CHAIN_F16, CHAIN_BF16, CHAIN_TYPES };
extern const char *const chain_type_text[CHAIN_TYPES];

struct chain_argument {
  struct tensor tensor;
  double limit; /* of its random values */
};

struct chain_case {
  uint64_t seed;
  enum chain_type type;
  bool overflowed; /* the text has no room: not a case */
  int argument_count, result_count;
  struct chain_argument argument[MAX_ARGUMENTS];
  struct tensor result[MAX_CHAIN_RESULTS];
  /* The function @f0. '$' stands for the type; '@' for the accumulator's, f32
   * at least; '~' for a body that rounds %x of the latter to the former. */
  char text[CHAIN_TEXT_NBYTES];
};
/* The same seed, the same case. */
void generate_chain(uint64_t seed, struct chain_case *test);
/* The module in one type, malloc'ed. */
char *chain_text(const struct chain_case *test, enum chain_type type);

/* Against the stock lowering, both measured against that of f64. */
int run_chain(const char *target, int level, uint64_t seed,
              struct report *report);

enum chain_tally {
  CHAIN_TALLY_TYPES, /* cases, by type */
  CHAIN_TALLY_KERNELS = CHAIN_TALLY_TYPES + CHAIN_TYPES,
  CHAIN_TALLY_DRAWN,  /* kernels with a random configuration */
  CHAIN_TALLY_STORED, /* operations with another order of tensors */
  CHAIN_TALLY_LEFT,   /* structured operations without a choice */
  CHAIN_TALLY_COUNT
};

#endif
