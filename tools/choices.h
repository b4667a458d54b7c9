/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The choices that select made, and what the passes left alone, as text. */
#ifndef TGRAPH_TOOLS_CHOICES_H
#define TGRAPH_TOOLS_CHOICES_H

#include "model/text.h"
#include "passes/passes.h"

struct tg_choices {
  struct tg_text text; /* "place: operation kernel: configuration" lines */
  int count;           /* operations with a configuration */
  int missed;          /* remarks about operations that were left alone */
};

/* A sink that counts and keeps the remarks on what was left alone. */
struct tg_remark_sink tg_choices_sink(struct tg_choices *choices);
/* Adds a line for every operation that has a configuration. */
void tg_choices_collect(struct tg_choices *choices, MlirOperation module);
void tg_choices_destroy(struct tg_choices *choices);

/* The kernel in a few words: "f32 128x768x3072 (reduces 3072)". */
void tg_describe_kernel(const struct tg_kernel *kernel, char *text,
                        size_t room);
/* Sum over the module's kernels of their floating-point operations; 0 where an
 * extent of any of them is not known. */
double tg_module_flops(MlirOperation module, int *kernel_count);

#endif
