/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Layouts that a configuration gives to the operands: the operand's dimensions
 * from the most minor to the most major one, a blocked dimension listed twice,
 * its inner part first.
 */
#ifndef TGRAPH_MODEL_LAYOUT_H
#define TGRAPH_MODEL_LAYOUT_H

#include "model/plan.h"

enum { TG_MAX_LAYOUT = 2 * TG_MAX_RANK };

struct tg_layout {
  int count;
  int dimension[TG_MAX_LAYOUT];
};

/* Row-major for the stock configuration and for what isn't packed. */
void tg_config_layout(const struct tg_kernel *kernel,
                      const struct tg_config *config, int operand,
                      struct tg_layout *layout);

#endif
