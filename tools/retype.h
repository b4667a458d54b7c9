/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A program in other float types: what a model's exporter would have written
 * had the model been cast before. */
#ifndef TGRAPH_TOOLS_RETYPE_H
#define TGRAPH_TOOLS_RETYPE_H

#include "tools/program.h"

/*
 * Writes f32 as the type that the name stands for: f64, f16 or bf16. NULL or ""
 * and f32 leave the program as it is. Arguments, results, constants and bodies
 * change alike; a finite constant that the type can't hold becomes its largest
 * value. Casts that have nothing to do any more go. Fails, with the place,
 * where the program would not be valid.
 */
enum tg_status tg_retype(struct tg_program *program, const char *types,
                         struct tg_error *error);

/* Has the program f16 or bf16 anywhere? */
bool tg_has_halves(const struct tg_program *program);
/* Writes f16 and bf16 as f32. The arguments' random values stay those that the
 * narrow types hold. */
enum tg_status tg_retype_halves(struct tg_program *program,
                                struct tg_error *error);

#endif
