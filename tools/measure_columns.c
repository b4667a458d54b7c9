/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Tile columns in the TpuGraphs form; see measure_columns.h. */
#include "tools/measure_columns.h"

enum { BOUND_COUNT = 6 };

/* How many iterations of each canonical loop one cache block covers. */
static void block_extents(const struct tg_plan *plan,
                          int64_t block[TG_MAX_LOOPS]) {
  const struct tg_kernel *kernel = &plan->canonical.kernel;
  for (int l = 0; l < kernel->loop_count; l++)
    block[l] = kernel->reduction[l] ? kernel->extent[l] : 1;
  if (plan->column_loop != TG_NO_LOOP)
    block[plan->column_loop] = plan->block_vector;
  if (plan->row_loop != TG_NO_LOOP)
    block[plan->row_loop] = plan->block_rows;
  if (plan->reduction_count > 0)
    block[plan->reduction[0]] = plan->block_reduction;
}

static void put_bounds(const struct tg_access *access, const int64_t *block,
                       int loop_count, float *row) {
  double sum = 0, product = 1;
  for (int d = 0; d < access->rank; d++) {
    int64_t extent = access->extent[d];
    if (block) {
      int64_t touched = 1;
      for (int l = 0; l < loop_count; l++)
        touched += access->coefficient[d][l] * (block[l] - 1);
      extent = touched < extent ? touched : extent;
    }
    if (d < BOUND_COUNT)
      row[d] = (float)extent;
    sum += (double)extent;
    product *= (double)extent;
  }
  row[BOUND_COUNT] = (float)sum;
  row[BOUND_COUNT + 1] = (float)product;
}

void tg_tile_columns(const struct tg_kernel *kernel,
                     const struct tg_config *config,
                     const struct tg_target *target, float *row) {
  static const int operands[] = {TG_RHS, TG_RESULT, TG_LHS};
  struct tg_plan plan;
  int64_t block[TG_MAX_LOOPS];
  bool tiled = !tg_plan_make(kernel, config, target, &plan);
  if (tiled)
    block_extents(&plan, block);
  else
    tg_canonicalize(kernel, &plan.canonical);
  for (int i = 0; i < TG_TILE_FEATURE_COUNT; i++)
    row[i] = 0;
  for (int i = 0; i < TG_OPERAND_COUNT; i++)
    put_bounds(&plan.canonical.kernel.operand[operands[i]],
               tiled ? block : NULL, plan.canonical.kernel.loop_count,
               row + i * (BOUND_COUNT + 2));
}
