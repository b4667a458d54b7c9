/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Code for a group of nests, on tensors.
 */
#ifndef TGRAPH_PASSES_NEST_EMIT_H
#define TGRAPH_PASSES_NEST_EMIT_H

#include "passes/build.h"
#include "passes/nest_group.h"

enum { TG_MAX_GROUP_ARGUMENTS = TG_MAX_GROUP_TENSORS + TG_MAX_GROUP_CAPTURES };

/*
 * arguments: the tensors that are only read, then one for each result to be
 * written into, both in the group's order, then the captures. Fills results[]
 * with the tensors that are returned, in the group's order of results, and
 * returns their number. The builder's lanes are the group's.
 */
int tg_emit_group(struct tg_builder *builder, const struct tg_group *group,
                  const MlirValue *arguments,
                  MlirValue results[TG_MAX_GROUP_TENSORS]);

#endif
