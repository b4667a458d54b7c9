/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Running compiled code: loads an object, builds the arguments of a program
 * with sensible random data, calls, and takes the results apart.
 */
#ifndef TGRAPH_TOOLS_CALL_H
#define TGRAPH_TOOLS_CALL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "tools/compile.h"
#include "tools/program.h"

struct tg_code {
  void *jit; /* LLVMOrcLLJITRef */
  void (*call)(void **slots);
  void (*prepack)(void **slots); /* NULL: no weights come packed */
};
/* count_memory: the code's allocations are counted (and slower). */
enum tg_status tg_code_create(struct tg_code *code,
                              const struct tg_object *object, bool count_memory,
                              struct tg_error *error);
void tg_code_destroy(struct tg_code *code);
/* Bytes that counted code had allocated at once, at most, since the reset. */
int64_t tg_code_peak_nbytes(void);
void tg_code_reset_peak(void);

/* The memory of one call: argument buffers (64-byte aligned) and the
 * descriptors and slots that tg_call takes. */
struct tg_call {
  const struct tg_program *program; /* borrowed */
  void **buffers;         /* (argument_count) tensor data or the scalar */
  int64_t *buffer_nbytes; /* (argument_count) */
  unsigned char *results; /* what the code writes its results to */
  size_t *result_offsets; /* (result_count) into results */
  void **slots;
  void *descriptors; /* of the arguments, one block */
};
enum tg_status tg_call_create(struct tg_call *call,
                              const struct tg_program *program,
                              struct tg_error *error);
void tg_call_destroy(struct tg_call *call);
/* Fills every argument anew; the same seed gives the same bytes. */
void tg_call_fill(struct tg_call *call, uint64_t seed);
/* Packs the weights that come packed: once, before the first call. */
void tg_call_prepack(struct tg_call *call, const struct tg_code *code);
/* Calls and frees what the results own. */
void tg_call_run(struct tg_call *call, const struct tg_code *code);
/* Calls and writes the results to the file (see tg_capture). */
bool tg_call_capture(struct tg_call *call, const struct tg_code *code,
                     FILE *file);

/* Memory behaviour that is the same for every side of a race: freed blocks
 * stay with the process, so that no run pays for fresh pages. */
void tg_keep_pages(void);

/* The comparison of two captured runs. */
struct tg_difference {
  double max_rel_error; /* largest |a-b| / largest |reference|, over results */
  double stock_error;   /* the same of the stock lowering where the reference
                           is another program, else NaN */
  bool equal;           /* within each result's tolerance */
  bool bad_reference;   /* NaN, Inf or constant: proves nothing */
  char note[256];       /* what is wrong, "" when equal */
};
/* Both captures are whole files as written by tg_call_capture. */
void tg_compare_captures(const void *reference, size_t reference_nbytes,
                         const void *other, size_t other_nbytes,
                         struct tg_difference *difference);
/* Where rounding is coarse, the stock lowering is no reference but a measure:
 * `exact` holds the results of the same program in wider types, and others are
 * good that are hardly further from it. Integers are compared with stock. */
void tg_judge_captures(const void *exact, size_t exact_nbytes,
                       const void *stock, size_t stock_nbytes,
                       const void *other, size_t other_nbytes,
                       struct tg_difference *difference);

#endif
