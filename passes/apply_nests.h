/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Carries out the choices of nests: groups of them become calls.
 */
#ifndef TGRAPH_PASSES_APPLY_NESTS_H
#define TGRAPH_PASSES_APPLY_NESTS_H

#include "passes/nest_group.h"
#include "passes/outline.h"
#include "passes/passes.h"

/* choices: in program order; those that are taken are left alone. Returns how
 * many operations became part of a call. */
size_t tg_apply_nests(struct tg_outliner *outliner,
                      const struct tg_target *target,
                      const struct tg_remark_sink *remarks,
                      struct tg_nest_choice *choices, size_t count);

#endif
