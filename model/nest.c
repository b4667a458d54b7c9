/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The space of loop nests and its analytic rule.
 */
#include "model/nest.h"

#include <string.h>

enum tg_reach tg_access_reach(const struct tg_access *access, int loop) {
  enum tg_reach reach = TG_REACH_UNIFORM;
  for (int d = 0; d < access->rank; ++d) {
    int32_t step = access->coefficient[d][loop];
    if (step == 0)
      continue;
    bool last = true;
    for (int inner = d + 1; inner < access->rank; ++inner)
      last &= access->extent[inner] == 1;
    if (!last || step > TG_MAX_STEP || reach != TG_REACH_UNIFORM)
      return TG_REACH_SCATTERED;
    reach = step == 1 ? TG_REACH_CONTIGUOUS : TG_REACH_STRIDED;
  }
  return reach;
}

int64_t tg_nest_lanes(const struct tg_nest *nest,
                      const struct tg_target *target) {
  int nbytes = 8;
  for (int o = 0; o < nest->operand_count; ++o)
    if (nest->element_nbytes[o] < nbytes)
      nbytes = 4;
  int64_t lanes = target->vector_bits / (8 * nbytes);
  return lanes < 1 ? 1 : lanes;
}

/* Results are stored a vector at a time, or once for all lanes. */
static bool stores_vectors(const struct tg_nest *nest, int loop) {
  for (int o = nest->input_count; o < nest->operand_count; ++o) {
    enum tg_reach reach = tg_access_reach(&nest->operand[o], loop);
    if (reach !=
        (nest->reduction[loop] ? TG_REACH_UNIFORM : TG_REACH_CONTIGUOUS))
      return false;
  }
  return true;
}

const char *tg_nest_check(const struct tg_nest *nest,
                          const struct tg_config *config) {
  int loop = config->knob[TG_KNOB_vector_loop];
  int vectors = config->knob[TG_KNOB_vectors];
  if (!config->knob[TG_KNOB_tiled])
    return "the stock lowering has no plan";
  if (loop < 0 || loop >= nest->loop_count)
    return "the vector loop is none of the operation's loops";
  if (vectors < 1 || vectors > TG_MAX_TILE_VECTORS)
    return "a body holds between 1 and 16 vectors";
  if (!nest->vectorizable[loop])
    return "the body can't be done for neighbours of the vector loop at once";
  if (!stores_vectors(nest, loop))
    return "a result isn't contiguous along the vector loop";
  return NULL;
}

int tg_nest_enumerate(const struct tg_nest *nest,
                      struct tg_config configs[TG_NEST_MAX_CONFIGS]) {
  static const int vectors[] = {1, 2, 4};
  memset(&configs[0], 0, sizeof(configs[0]));
  int count = 1;
  for (int l = 0; l < nest->loop_count; ++l)
    for (size_t v = 0; v < sizeof(vectors) / sizeof(vectors[0]); ++v) {
      struct tg_config config = {{0}};
      config.knob[TG_KNOB_tiled] = 1;
      config.knob[TG_KNOB_vector_loop] = l;
      config.knob[TG_KNOB_row_loop] = TG_NO_LOOP;
      config.knob[TG_KNOB_vectors] = vectors[v];
      config.knob[TG_KNOB_rows] = config.knob[TG_KNOB_unroll] = 1;
      if (!tg_nest_check(nest, &config))
        configs[count++] = config;
    }
  return count;
}

/*===-- The analytic rule -------------------------------------------------===*/

/* Cycles to bring one vector of the operand into a register. A scattered one
 * is put together from single elements, or transposed with its neighbours:
 * log2(lanes) shuffles each, where another parallel loop walks it. */
static double load_cycles(const struct tg_nest *nest, int operand, int loop,
                          int64_t lanes) {
  const struct tg_access *access = &nest->operand[operand];
  switch (tg_access_reach(access, loop)) {
  case TG_REACH_UNIFORM:
    return 0.5;
  case TG_REACH_CONTIGUOUS:
    return 0.5;
  case TG_REACH_STRIDED:
    return 3;
  case TG_REACH_SCATTERED:
    break;
  }
  return 1.5 * (double)lanes;
}

double tg_nest_cycles(const struct tg_nest *nest,
                      const struct tg_config *config,
                      const struct tg_target *target) {
  int loop = config->knob[TG_KNOB_vector_loop];
  int64_t vectors = config->knob[TG_KNOB_vectors];
  int64_t lanes = tg_nest_lanes(nest, target);
  double others = 1;
  bool reduces = false;
  for (int l = 0; l < nest->loop_count; ++l) {
    others *= l == loop ? 1 : (double)nest->extent[l];
    reduces |= nest->reduction[l];
  }
  double pieces = (double)((nest->extent[loop] + lanes - 1) / lanes);
  double vector = nest->body_ops;
  for (int o = 0; o < nest->operand_count; ++o)
    if (nest->read[o])
      vector += load_cycles(nest, o, loop, lanes);
  /* A chain of dependent steps, about four cycles each, hidden by independent
   * accumulators; and the sums across the lanes at the end. */
  double chains = pieces < (double)vectors ? pieces : (double)vectors;
  double latency = reduces ? 4.0 / chains : 0;
  double cycles = others * pieces * (vector > latency ? vector : latency);
  if (nest->reduction[loop])
    cycles += others * (8 + (double)vectors);
  /* A body of several vectors is more code for the same work. */
  return cycles * (1 + 0.01 * (double)vectors);
}

bool tg_nest_choose(const struct tg_nest *nest, const struct tg_target *target,
                    struct tg_config *config) {
  struct tg_config configs[TG_NEST_MAX_CONFIGS];
  int count = tg_nest_enumerate(nest, configs);
  double best = 0;
  *config = configs[0];
  for (int i = 1; i < count; ++i) {
    double cycles = tg_nest_cycles(nest, &configs[i], target);
    if (i == 1 || cycles < best) {
      best = cycles;
      *config = configs[i];
    }
  }
  return count > 1;
}
