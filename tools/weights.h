/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Programs whose weights are packed beforehand: which arguments are weights,
 * and what the functions take that tgraph-apply-layouts makes for them.
 */
#ifndef TGRAPH_TOOLS_WEIGHTS_H
#define TGRAPH_TOOLS_WEIGHTS_H

#include "tools/compile.h"
#include "tools/program.h"

/* Marks what the program or its side file calls a parameter or a buffer, and
 * numbers the arguments for tg_weights_find. An error where list is empty and
 * no argument is known to be a weight. */
enum tg_status tg_weights_mark(const struct tg_program *program,
                               MlirOperation module, const char *list,
                               struct tg_error *error);
/* After tgraph-apply-layouts: the signatures of @f_prepack and @f_packed, in
 * the program's arena; neither where nothing is packed. */
enum tg_status tg_weights_find(const struct tg_program *program,
                               MlirOperation module,
                               struct tg_split_signature *split,
                               struct tg_error *error);

#endif
