/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What is known of a program's arguments beyond their types. From a side file
 * (JSON: {"args": [{"kind", "name", "shape", "dtype", "below"}, ...]} in the
 * order of the arguments, only those keys are read) and from attributes of
 * the arguments, which win: tgraph.kind = "variance", tgraph.below = 100.
 */
#ifndef TGRAPH_TOOLS_SIDE_H
#define TGRAPH_TOOLS_SIDE_H

#include <mlir-c/IR.h>

#include "tools/program.h"

/* side_path: NULL = beside the program, if there is one. */
enum tg_status tg_side_read(struct tg_program *program, const char *side_path,
                            struct tg_error *error);
void tg_side_read_attributes(struct tg_program *program,
                             MlirOperation function);

#endif
