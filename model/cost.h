/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The project's own derived columns: what an engineer would compute about a
 * configuration before running it. One row of features.def is one column.
 */
#ifndef TGRAPH_MODEL_COST_H
#define TGRAPH_MODEL_COST_H

#include "model/plan.h"

enum tg_feature {
#define FEATURE(name, unit, doc, expression) TG_FEATURE_##name,
#include "model/features.def"
  TG_FEATURE_COUNT
};

extern const char *const tg_feature_names[TG_FEATURE_COUNT];

/* The text from which a column's version hash is made: name and formula. */
extern const char *const tg_feature_formulas[TG_FEATURE_COUNT];

/* row: (TG_FEATURE_COUNT), always finite. The configuration must be legal for
 * the kernel and the target, or the stock one. */
void tg_config_features(const struct tg_kernel *kernel,
                        const struct tg_config *config,
                        const struct tg_target *target, float *row);

#endif
