/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Random arguments that keep a network's numbers in range: weights scaled by
 * 1/sqrt(fan-in), variances and scales in [0.5, 1.5], integers within what is
 * known of them. Where nothing is known of an argument, its shape decides.
 */
#include <math.h>
#include <string.h>

#include "model/random.h"
#include "tools/call.h"
#include "tools/number.h"

/* In [0, 1). */
static double next_unit(uint64_t *state) {
  return (double)(tg_random_next(state) >> 40) * 0x1p-24;
}

struct range {
  double low, high;
};

static bool contains(const char *text, const char *part) {
  return strstr(text, part) != NULL;
}

static struct range weight_range(const struct tg_value_type *type) {
  double fan_in = 1;
  for (int i = 1; i < type->rank; i++)
    fan_in *= (double)type->shape[i];
  double limit = fan_in > 0 ? sqrt(3 / fan_in) : 1;
  return (struct range){-limit, limit};
}

/* The range of a float argument; `many` arguments without a side file are
 * taken for a network's parameters, few for the operands of an operation. */
static struct range float_range(const struct tg_argument_info *info,
                                bool many) {
  const struct range scales = {0.5, 1.5}, offsets = {-0.1, 0.1}, data = {-1, 1};
  int rank = info->type.rank;
  if (contains(info->kind, "variance") || contains(info->name, "var"))
    return scales;
  if (contains(info->name, "mean") || contains(info->name, "bias"))
    return rank >= 2 ? weight_range(&info->type) : offsets;
  if (!strcmp(info->kind, "parameter") || !strcmp(info->kind, "weight"))
    return rank >= 2 ? weight_range(&info->type) : scales;
  if (!strcmp(info->kind, "input") || !many)
    return data;
  if (rank >= 2 && info->type.shape[0] != 1)
    return weight_range(&info->type);
  return rank == 1 ? scales : data;
}

/* given: the type that holds the values, as wide as dtype at most. */
static void fill_floats(void *buffer, enum tg_dtype dtype, enum tg_dtype given,
                        int64_t count, struct range range, uint64_t *state) {
  double scale = range.high - range.low;
  for (int64_t i = 0; i < count; i++) {
    double value = range.low + scale * next_unit(state);
    if (given != dtype) {
      uint64_t narrow;
      tg_number_store(given, &narrow, 0, value);
      value = tg_number_load(given, &narrow, 0);
    }
    tg_number_store(dtype, buffer, i, value);
  }
}

static void fill_integers(void *buffer, int nbytes, int64_t count,
                          int64_t below, uint64_t *state) {
  for (int64_t i = 0; i < count; i++) {
    int64_t value = (int64_t)(tg_random_next(state) % (uint64_t)below);
    /* little-endian: the low bytes come first */
    memcpy((char *)buffer + i * nbytes, &value, (size_t)nbytes);
  }
}

void tg_call_fill(struct tg_call *call, uint64_t seed) {
  const struct tg_program *p = call->program;
  for (int i = 0; i < p->argument_count; i++) {
    const struct tg_argument_info *info = &p->arguments[i];
    const struct tg_dtype_info *dtype = &tg_dtype_infos[info->type.dtype];
    int64_t count = call->buffer_nbytes[i] / dtype->nbytes;
    uint64_t state = seed * UINT64_C(0x2545f4914f6cdd1d) + (uint64_t)i;
    if (dtype->tolerance > 0)
      fill_floats(call->buffers[i], info->type.dtype, info->given, count,
                  float_range(info, p->argument_count > 4), &state);
    else /* 0 and 1 are valid indices of nearly everything */
      fill_integers(
          call->buffers[i], dtype->nbytes, count,
          info->type.dtype == TG_DTYPE_I1 || info->below < 1 ? 2 : info->below,
          &state);
  }
}
