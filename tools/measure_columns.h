/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The columns of a tile file that follow from kernel, knobs and target. */
#ifndef TGRAPH_TOOLS_MEASURE_COLUMNS_H
#define TGRAPH_TOOLS_MEASURE_COLUMNS_H

#include <mlir-c/IR.h>
#include <stdbool.h>

#include "model/dataset.h"
#include "model/plan.h"

struct tg_columns_input {
  MlirOperation op; /* the kernel's operation, for the graph */
  const struct tg_kernel *kernel;
  const struct tg_target *target;
  const struct tg_config *configs; /* (count) */
  int64_t count;
};
/* Fills graph, config_feat, features, knobs and target of the data, in the
 * arena. False: out of memory. */
bool tg_columns_fill(const struct tg_columns_input *input,
                     struct tg_arena *arena, struct tg_tile_data *data);

/* Names and versions of the features, and names of the knobs, in the arena.
 * False: out of memory. */
struct tg_column_names {
  const char **features, **knobs;
  uint64_t *feature_versions;
};
bool tg_columns_name(struct tg_arena *arena, struct tg_column_names *names);

/*
 * The TpuGraphs columns (24) of a configuration: the tile of the second input
 * ("kernel"), of the result and of the first input, each as six dimensions
 * from the most major, their sum and their product. The tile is the cache
 * block of the plan, in the dimensions of the canonical kernel; the stock
 * lowering's is the whole operand.
 */
void tg_tile_columns(const struct tg_kernel *kernel,
                     const struct tg_config *config,
                     const struct tg_target *target, float *row);

#endif
