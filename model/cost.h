/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What an engineer would compute about a plan before running it: work, reuse,
 * footprints, copies, and from these an estimate of the cycles. The estimate
 * is the analytic rule; the facts are the model's derived columns, one row of
 * features.def each.
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

/* The text from which a column's version hash is made: its formula. */
extern const char *const tg_feature_formulas[TG_FEATURE_COUNT];

/* Cycles of one core, by part; all estimates from the plan alone. */
struct tg_cost {
  double flops;
  double vectors_total; /* iterations: product of all that follow vectors */
  double rows_total;    /* product of row loops */
  double batches;
  double depth;       /* reduction steps */
  double block_depth; /* of them in one cache block */
  double tiles;       /* register tiles, all blocks of the reduction */
  double lane_use;    /* useful share of the lanes, 0..1 */
  double row_use;     /* share of the rows that full tiles cover, 0..1 */
  double accumulators;
  double loads_per_fma;
  double panel_nbytes;      /* vector operand's slice under one tile */
  double row_panel_nbytes;  /* the other operand's slice under one tile */
  double block_nbytes;      /* vector operand's part in one cache block */
  double row_block_nbytes;  /* the other operand's part in one row block */
  double source_nbytes;     /* where the vector operand's slices come from */
  double row_source_nbytes; /* where the other operand's slices come from */
  double result_nbytes;
  double vector_stride_nbytes; /* between reduction steps, unpacked, else 0 */
  double vector_step;          /* elements between lanes, unpacked, else 1 */
  double row_stride_nbytes;    /* between rows, unpacked, else 0 */
  double packed_elements[TG_OPERAND_COUNT]; /* copied in all */
  double scratch_nbytes;
  double compute_cycles; /* multiplications alone */
  double memory_cycles;  /* operands from the caches they fit in */
  double result_cycles;  /* loading and storing accumulators */
  double pack_cycles;
};

void tg_plan_cost(const struct tg_plan *plan, const struct tg_target *target,
                  struct tg_cost *cost);
/* The estimate of the whole operation, in cycles of a core. */
double tg_plan_cycles(const struct tg_plan *plan,
                      const struct tg_target *target);

/* row: (TG_FEATURE_COUNT), always finite. The configuration must be legal for
 * the kernel and the target, or the stock one. */
void tg_config_features(const struct tg_kernel *kernel,
                        const struct tg_config *config,
                        const struct tg_target *target, float *row);

#endif
