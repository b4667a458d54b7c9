/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Random programs of structured operations that are no sums of products, and
 * how far their results may be from those of the stock lowering.
 */
#ifndef TGRAPH_TEST_NESTS_H
#define TGRAPH_TEST_NESTS_H

#include "test/schedules/batch.h"
#include "test/schedules/schedules.h"

enum {
  MAX_NEST_ARGUMENTS = 8, /* what jit_call passes */
  MAX_NEST_RESULTS = 6,
  NEST_TEXT_NBYTES = 24576
};

enum element {
  E_F32,
  E_F64,
  E_F16,
  E_BF16,
  E_I1,
  E_I8,
  E_I16,
  E_I32,
  E_I64,
  E_INDEX,
  ELEMENT_COUNT
};
extern const char *const element_text[ELEMENT_COUNT];
static inline bool is_float(enum element element) { return element <= E_BF16; }
/* Bits that hold whole numbers. */
int whole_bits(enum element element);

/* What is known of a float: the largest magnitude, how far two ways to compute
 * it may be apart, and whether it is a whole number. All for finite inputs. */
struct range {
  double magnitude, error;
  bool whole;
};

/*===-- Text --------------------------------------------------------------===*/

struct nest_text {
  char *text;
  size_t room, used;
};
void put_text(struct nest_text *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/*===-- Bodies (scalar.c) -------------------------------------------------===*/

enum { MAX_SCALARS = 96 };

struct scalar {
  char name[24];
  enum element element;
  struct range range;
};

/* Statements of a body, and the scalars that they may use. */
struct body {
  struct nest_text *out;
  struct random *random;
  bool specials; /* infinities and NaNs come up */
  int next;      /* number of the next name */
  int count;
  struct scalar scalar[MAX_SCALARS];
};
void add_scalar(struct body *body, const char *name, enum element element,
                struct range range);
/* A statement on random scalars. */
void put_statement(struct body *body);
struct scalar put_constant(struct body *body, enum element element,
                           double value);
/* The scalar as another type. */
struct scalar put_conversion(struct body *body, struct scalar from,
                             enum element element);
/* 0 .. limit - 1 as an index; limit: a power of two. */
struct scalar put_masked_index(struct body *body, struct scalar from,
                               int limit);
struct scalar put_comparison(struct body *body, const char *predicate,
                             struct scalar a, struct scalar b);
struct scalar put_select(struct body *body, struct scalar condition,
                         struct scalar a, struct scalar b);
/* `before` combined with `value`, of one type, `times` times; takes care of
 * the result's range. */
struct scalar put_combination(struct body *body, struct scalar before,
                              struct scalar value, double times, bool any_order,
                              double start);

/*===-- Programs (generate.c) ---------------------------------------------===*/

struct nest_case {
  uint64_t seed;
  int argument_count;
  bool whole[MAX_NEST_ARGUMENTS]; /* else any number of -2 .. 2 */
  bool specials;
  int result_count;
  struct range result[MAX_NEST_RESULTS];
  char text[NEST_TEXT_NBYTES]; /* the function, named f%d by `index` */
};
void generate_nest_case(uint64_t seed, int index, struct nest_case *test);

/*===-- Runs (run.c) ------------------------------------------------------===*/

int run_nests(const char *target, int level, const uint64_t *seeds, int count,
              struct report *report);
/* A module with one function @f0: whole numbers, compared relatively. */
int run_nest_text(const char *target, int level, const char *text,
                  struct report *report);

enum nest_tally {
  TALLY_NESTS,
  TALLY_LEFT, /* structured operations that are none */
  TALLY_GROUPS,
  TALLY_GROUPED, /* nests that share a group */
  TALLY_REDUCTION_VECTOR,
  TALLY_STOCK,
  TALLY_RESULTS
};

#endif
