/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The report of tgraph-select-layouts: one JSON object a site.
 */
#ifndef TGRAPH_PASSES_REPORT_H
#define TGRAPH_PASSES_REPORT_H

#include "model/decide.h"
#include "passes/passes.h"
#include "passes/select_nests.h"

/* Whole file or nothing. The structured operations of the module's functions
 * that are no sites are listed with the reason. */
enum tg_status tg_report_write(const char *path, MlirOperation module,
                               const struct tg_decider *decider,
                               const struct tg_site *sites,
                               const struct tg_decision *decisions,
                               size_t count, const struct tg_nest_sites *nests,
                               struct tg_error *error);

#endif
