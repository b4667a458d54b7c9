/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A harness that proves schedules right: random operations with random
 * configurations are compiled, run next to pages that may not be touched, and
 * compared with sums computed from the kernel's accesses alone.
 */
#ifndef TGRAPH_TEST_SCHEDULES_H
#define TGRAPH_TEST_SCHEDULES_H

#include <mlir-c/IR.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/kernel.h"
#include "model/target.h"

enum { MAX_LINKS = 4, MAX_VALUES = MAX_LINKS + 1, MAX_ARGUMENTS = 8 };

/*===-- Random numbers ----------------------------------------------------===*/

struct random {
  uint64_t state;
};
uint64_t random_next(struct random *random);
/* 0 .. count - 1 */
int random_below(struct random *random, int count);
bool random_percent(struct random *random, int percent);
/* -1 .. 1 */
double random_unit(struct random *random);

/*===-- Cases (generate.c) ------------------------------------------------===*/

struct tensor {
  int rank;
  int64_t extent[TG_MAX_RANK];
  bool dynamic[TG_MAX_RANK]; /* the type doesn't tell the extent */
};
int64_t tensor_elements(const struct tensor *tensor);

enum link_kind {
  LINK_ADD,
  LINK_SUBTRACT, /* input - value */
  LINK_MULTIPLY,
  LINK_RELU,   /* with a constant from outside of the body */
  LINK_SELECT, /* the larger of value and input, by cmpf and select */
  LINK_SHIFT,  /* value + 0.5, the constant inside of the body */
  LINK_NEGATE,
  LINK_FMA,     /* value * input + value */
  LINK_REPLACE, /* the input; the value is not used */
  LINK_EXP,     /* not vectorizable: ends the chain */
  LINK_KIND_COUNT
};

/* An elementwise operation behind the kernel. */
struct link {
  enum link_kind kind;
  bool input_first;
  int argument; /* of the function, -1: an earlier value */
  int value;    /* that earlier value */
  /* dimension[d]: the result's dimension that dimension d of the input goes
   * with; -1: the constant 0. */
  struct tensor input;
  int dimension[TG_MAX_RANK];
};

struct test_case {
  uint64_t seed;
  enum tg_element element;
  struct tensor operand[TG_OPERAND_COUNT];
  bool zero_init; /* a fill of zero; else an argument */
  int argument_count;
  struct tensor argument[MAX_ARGUMENTS]; /* lhs, rhs, maybe init, inputs */
  int link_count;
  struct link link[MAX_LINKS];
  /* returned: values[0] is the kernel's result, values[i] that of link i. */
  int result_count, result[MAX_VALUES];
  char text[16384]; /* the function, named f%d by `index` */
};
/* The same seed, the same case. */
void generate_case(uint64_t seed, int index, struct test_case *test);

/*===-- Reference (reference.c) -------------------------------------------===*/

/* All values of the case, each of the result's size, freed by the caller;
 * largest[i] is the largest magnitude in them up to i. */
void compute_reference(const struct test_case *test,
                       const struct tg_kernel *kernel,
                       const double *const *arguments,
                       double *values[MAX_VALUES], double *largest);

/*===-- Code (jit.c) ------------------------------------------------------===*/

struct jit; /* a loaded module */
/* The module is in the LLVM dialect. level: of optimisation, 0 to 3. NULL and
 * a message in `fault` where it can't be done. */
struct jit *jit_create(MlirOperation module, int level, char *fault,
                       size_t fault_nbytes);
/* The C interface of the function; NULL: not there. */
void *jit_lookup(struct jit *jit, const char *function);
void jit_destroy(struct jit *jit);

/* A ranked memref as the C interface passes it. */
struct memref {
  void *allocated;
  char *aligned;
  int64_t offset;
  int64_t sizes_and_strides[2 * TG_MAX_RANK];
};
size_t memref_nbytes(int rank);
void memref_set(struct memref *memref, void *data, const struct tensor *tensor);
/* Calls with a structure of results and `count` memrefs. */
void jit_call(void *function, void *results, int count,
              struct memref *arguments);

/* Memory whose first or last byte lies beside a page that can't be touched,
 * filled with NaNs. Never given back: the process is short. */
enum guard { GUARD_END, GUARD_START };
void *guarded_alloc(size_t nbytes, size_t alignment, enum guard guard);
/* Where the memory that generated code allocates is guarded. */
void set_code_guard(enum guard guard);
/* Were bytes written between an allocation's end and its guard? */
bool is_slack_intact(void);

#endif
