/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The part of tgraph-select-layouts that looks at the program as a whole: which
 * tensors between operations are stored in another order of their dimensions.
 */
#ifndef TGRAPH_PASSES_SELECT_RELAYOUT_H
#define TGRAPH_PASSES_SELECT_RELAYOUT_H

#include <mlir-c/IR.h>

#include "model/arena.h"
#include "model/decide.h"

enum tg_relayout_mode {
#define RELAYOUT_MODE(id, name) TG_RELAYOUT_##id,
#include "passes/relayout_mode.def"
  TG_RELAYOUT_MODE_COUNT
};
/* False: no mode has the name. */
bool tg_relayout_mode_parse(const char *text, enum tg_relayout_mode *mode);

/* What was decided; cycles are estimates of all that has a choice. */
struct tg_relayout_choice {
  int32_t tensors; /* that could be stored in another order */
  int32_t stored;  /* of them that are */
  double cycles_before, cycles;
};

/*
 * Writes tgraph.layouts on operations whose configuration is still to be
 * chosen. Before the sites are collected, as kernels and nests are described
 * with the attribute in mind. `prepack`: weights come packed. False: out of
 * memory.
 */
bool tg_choose_relayout(MlirOperation module, const struct tg_decider *decider,
                        enum tg_relayout_mode mode, bool prepack,
                        bool overwrite, struct tg_arena *arena,
                        struct tg_relayout_choice *choice);

#endif
