/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The machine that code is generated for. The description decides, never an
 * #ifdef: the same input and target give the same output on every machine.
 */
#ifndef TGRAPH_MODEL_TARGET_H
#define TGRAPH_MODEL_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include "model/error.h"

enum tg_target_column {
#define TARGET(name, unit, low, high, powers, doc, probe) TG_TARGET_##name,
#include "model/target.def"
  TG_TARGET_COLUMN_COUNT
};

enum {
  TG_TARGET_NAME_NBYTES = 64,
  TG_TARGET_FEATURES_NBYTES = 1024,
  TG_TARGET_TEXT_NBYTES = TG_TARGET_FEATURES_NBYTES + 1024 /* as printed */
};

struct tg_target {
  char name[TG_TARGET_NAME_NBYTES]; /* "avx2", "avx512", "generic", "host" */
  char cpu[TG_TARGET_NAME_NBYTES];  /* LLVM CPU name, e.g. "x86-64-v3" */
  char features[TG_TARGET_FEATURES_NBYTES]; /* LLVM features, "+avx2,+fma" */
#define TARGET(name, unit, low, high, powers, doc, probe) int64_t name;
#include "model/target.def"
};

/* The names of the columns, in order. */
extern const char *const tg_target_column_names[TG_TARGET_COLUMN_COUNT];

int64_t tg_target_get(const struct tg_target *target,
                      enum tg_target_column column);
/* May the column hold the value? */
enum tg_status tg_target_check(enum tg_target_column column, int64_t value,
                               struct tg_error *error);
/* Unchecked: the value must be one that tg_target_parse would take. */
void tg_target_set_column(struct tg_target *target,
                          enum tg_target_column column, int64_t value);

/*
 * Reads what the option `target` may hold:
 *   "host"               this machine, as probed
 *   "avx2" "avx512" "generic"   fixed descriptions from a table in target.c
 *   "avx2,l2_nbytes=1048576,..."  a name and columns that replace its own;
 *                        also cpu=NAME, and features= with ';' between them
 */
enum tg_status tg_target_parse(const char *text, struct tg_target *target,
                               struct tg_error *error);

/* Reads a printed dlti.target_system_spec attribute ("CPU" device); columns
 * that it does not give come from `fallback`. */
enum tg_status tg_target_parse_dlti(const char *text,
                                    const struct tg_target *fallback,
                                    struct tg_target *target,
                                    struct tg_error *error);

/* Has the machine fused multiply-add? Without it vector.fma would become a
 * call of libm for every lane. */
bool tg_target_has_fma(const struct tg_target *target);
/* Has it an instruction that rounds f32 to bf16? */
bool tg_target_has_bf16(const struct tg_target *target);

/* Writes the canonical description that tg_target_parse reads back:
 * "avx2,cpu=x86-64-v3,vector_bits=256,...". Returns the length that was needed.
 */
int tg_target_print(const struct tg_target *target, char *text,
                    int text_nbytes);

#endif
