/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Values of a random program, and the operations that make them, as text. */
#ifndef TGRAPH_TEST_CHAINS_TEXT_H
#define TGRAPH_TEST_CHAINS_TEXT_H

#include "test/chains/chains.h"

enum { MAX_CHAIN_VALUES = 64 };

struct value {
  char name[16];
  struct tensor tensor;
};

struct chain {
  struct random random;
  struct chain_case *test;
  size_t used; /* of the text */
  int next;    /* number of the next name */
  int value_count;
  struct value value[MAX_CHAIN_VALUES]; /* that later operations may read */
};

void put(struct chain *chain, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
struct tensor shape(int rank, const int64_t *extent);

/* Later operations may read it. */
void remember(struct chain *chain, struct value value);
/* False where the function has as many arguments as it may. */
bool add_argument(struct chain *chain, struct tensor tensor, double limit,
                  struct value *value);
struct value new_value(struct chain *chain, struct tensor tensor);
/* " : tensor<...>" of elements '$' or '@'. */
void put_type(struct chain *chain, const struct tensor *tensor, char element);
struct value put_empty(struct chain *chain, struct tensor tensor, char element);
struct value put_fill(struct chain *chain, struct tensor tensor, char element,
                      double number);

/* An input of an elementwise operation: dimension[d] of the result goes with
 * the input's dimension d. */
struct input {
  struct value value;
  int dimension[TG_MAX_RANK];
};
struct input whole_input(struct value value);
/* body: on %x0, %x1, ...; yields %y. */
struct value put_elementwise(struct chain *chain, struct tensor result,
                             int count, const struct input *inputs,
                             const char *body);
/* Combines the last dimension away; body: on %x and %o; yields %y. */
struct value put_reduction(struct chain *chain, struct value value,
                           double start, const char *body);
struct value put_transpose(struct chain *chain, struct value value,
                           const int *from);
/* sizes[i] neighbouring dimensions become one; or one becomes those. */
struct value put_collapse(struct chain *chain, struct value value, int count,
                          const int *sizes);
struct value put_expand(struct chain *chain, struct value value,
                        struct tensor result, int count, const int *sizes);

#endif
