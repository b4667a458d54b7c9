/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The part of tgraph-select-layouts that is about nests: their space is small
 * and the analytic rule chooses.
 */
#ifndef TGRAPH_PASSES_SELECT_NESTS_H
#define TGRAPH_PASSES_SELECT_NESTS_H

#include "model/decide.h"
#include "passes/nest.h"
#include "passes/passes.h"

struct tg_nest_site {
  MlirOperation op;
  struct tg_nest nest;
  struct tg_config config;
  int space_count;
  enum tg_reason reason;
};

struct tg_nest_sites {
  size_t count, capacity;
  struct tg_nest_site *sites; /* in program order, in the arena */
};

/*
 * Finds all nests of the module's functions and chooses for each; what stands
 * already is checked and kept unless `overwrite`. `stock`: keep the stock
 * lowering. Reports failures at the operation.
 */
MlirLogicalResult tg_choose_nests(MlirOperation module,
                                  const struct tg_target *target, bool stock,
                                  bool overwrite, struct tg_arena *arena,
                                  struct tg_nest_sites *nests);
void tg_explain_nests(const struct tg_nest_sites *nests,
                      const struct tg_target *target,
                      const struct tg_remark_sink *remarks);
/* Writes the attributes; returns how many choices are new. */
size_t tg_write_nests(const struct tg_nest_sites *nests);

#endif
