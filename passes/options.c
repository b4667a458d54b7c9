/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The defaults of the options of tgraph-select-layouts, from their table. */
#include "passes/passes.h"

struct tg_select_options tg_select_options_default(void) {
  const struct tg_select_options options = {
#define OPTION(type, name, flag, default_value, doc) .name = default_value,
#include "passes/options.def"
  };
  return options;
}
