/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * From a configuration to the layouts of its operands.
 */
#include "model/layout.h"

#include <string.h>

static bool dimension_walks(const struct tg_kernel *kernel, int operand, int d,
                            const bool *loops) {
  for (int l = 0; l < kernel->loop_count; ++l)
    if (loops[l] && kernel->operand[operand].coefficient[d][l])
      return true;
  return false;
}

/* Appends, minor first, the dimensions that the loops walk. */
static void append(struct tg_layout *layout, const struct tg_kernel *kernel,
                   int operand, const bool *loops, const bool *not_in) {
  for (int d = kernel->operand[operand].rank - 1; d >= 0; --d)
    if (dimension_walks(kernel, operand, d, loops) &&
        !(not_in && dimension_walks(kernel, operand, d, not_in)) &&
        layout->count < TG_MAX_LAYOUT)
      layout->dimension[layout->count++] = d;
}

static void mark_own_loops(const struct tg_canonical *canonical, int loop,
                           bool *own) {
  if (loop == TG_NO_LOOP)
    return;
  for (int i = 0; i < canonical->loop_size[loop]; ++i)
    own[canonical->loop_of[canonical->loop_first[loop] + i]] = true;
}

void tg_config_layout(const struct tg_kernel *kernel,
                      const struct tg_config *config, int operand,
                      struct tg_layout *layout) {
  static const enum tg_knob pack_knob[TG_OPERAND_COUNT] = {
      TG_KNOB_pack_lhs, TG_KNOB_pack_rhs, TG_KNOB_pack_result};
  memset(layout, 0, sizeof(*layout));
  const int32_t *knob = config->knob;
  if (!knob[TG_KNOB_tiled] || !knob[pack_knob[operand]]) {
    for (int d = kernel->operand[operand].rank - 1; d >= 0; --d)
      layout->dimension[layout->count++] = d;
    return;
  }
  struct tg_canonical canonical;
  tg_canonicalize(kernel, &canonical);
  if (canonical.kernel.reduction[knob[TG_KNOB_vector_loop]]) {
    bool last[TG_MAX_LOOPS] = {false}, others[TG_MAX_LOOPS];
    mark_own_loops(&canonical, knob[TG_KNOB_vector_loop], last);
    for (int l = 0; l < kernel->loop_count; ++l)
      others[l] = !last[l];
    append(layout, kernel, operand, last, NULL);
    append(layout, kernel, operand, others, last);
    return;
  }
  bool panel[TG_MAX_LOOPS] = {false}, depth[TG_MAX_LOOPS] = {false};
  int vector = knob[TG_KNOB_vector_loop], row = knob[TG_KNOB_row_loop];
  int outer = knob[TG_KNOB_flatten] ? tg_canonical_outer(&canonical, vector)
                                    : TG_NO_LOOP;
  bool follows_vector = tg_kernel_uses(&canonical.kernel, operand, vector);
  if (outer != TG_NO_LOOP && follows_vector)
    mark_own_loops(&canonical, outer, panel);
  mark_own_loops(&canonical, follows_vector ? vector : row, panel);
  if (operand == TG_RESULT)
    mark_own_loops(&canonical, row, depth);
  for (int l = 0; l < kernel->loop_count && operand != TG_RESULT; ++l)
    depth[l] = kernel->reduction[l];
  append(layout, kernel, operand, panel, NULL);
  append(layout, kernel, operand, depth, NULL);
  append(layout, kernel, operand, panel, depth);
  bool taken[TG_MAX_LOOPS], rest[TG_MAX_LOOPS];
  for (int l = 0; l < kernel->loop_count; ++l) {
    taken[l] = panel[l] || depth[l];
    rest[l] = !taken[l];
  }
  append(layout, kernel, operand, rest, taken);
}
