/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * How much of a batch is done at a time. Where what two products read and
 * write doesn't fit into the second-level cache, parts that take half of it.
 */
#include "passes/attention.h"

#include <mlir-c/BuiltinTypes.h>
#include <stdlib.h>
#include <string.h>

#include "passes/attention_chain.h"
#include "passes/inspect.h"
#include "passes/passes.h"

bool tg_attention_parse(const char *text, int64_t *parts) {
  *parts = !strcmp(text, "whole") ? TG_ATTENTION_WHOLE : TG_ATTENTION_AUTO;
  if (*parts == TG_ATTENTION_WHOLE || !strcmp(text, "auto"))
    return true;
  size_t digits = strspn(text, "0123456789");
  *parts = digits <= 9 ? strtoll(text, NULL, 10) : 0;
  return digits > 0 && !text[digits] && *parts > 0;
}

/* Bytes of a tensor; 0 for a scalar. */
static int64_t value_nbytes(MlirValue value) {
  MlirType type = mlirValueGetType(value);
  if (!mlirTypeIsAShaped(type))
    return 0;
  MlirType element = mlirShapedTypeGetElementType(type);
  int64_t nbytes = mlirTypeIsAF64(element)                               ? 8
                   : mlirTypeIsAF16(element) || mlirTypeIsABF16(element) ? 2
                                                                         : 4;
  for (intptr_t d = 0; d < mlirShapedTypeGetRank(type); ++d)
    nbytes *= mlirShapedTypeGetDimSize(type, d);
  return nbytes;
}

/* What both products read and write, for one head. */
static int64_t head_nbytes(const struct tg_chain *chain) {
  int64_t nbytes = 0;
  for (int i = 0; i < chain->count; i += chain->count - 1)
    for (int o = 0; o < TG_OPERAND_COUNT; ++o)
      nbytes += value_nbytes(mlirOperationGetOperand(chain->ops[i].op, o));
  return nbytes / chain->batch;
}

/* The most heads at a time that are wished for; the batch: all. */
static int64_t most_heads(const struct tg_chain *chain,
                          const struct tg_target *target, int64_t parts) {
  int64_t nbytes = head_nbytes(chain);
  if (parts > 0)
    return parts;
  if (nbytes <= target->l2_nbytes / chain->batch)
    return chain->batch;
  return nbytes > target->l2_nbytes / 2 ? 1 : target->l2_nbytes / 2 / nbytes;
}

/* As many or fewer, so that they divide the batch. False: all at once. */
static bool choose_part(struct tg_chain *chain, const struct tg_target *target,
                        int64_t parts) {
  int64_t part = most_heads(chain, target, parts);
  if (part >= chain->batch)
    return false;
  while (part > 1 && !tg_chain_set_part(chain, part))
    --part;
  return tg_chain_set_part(chain, part);
}

bool tg_split_attention(MlirOperation module, const struct tg_target *target,
                        int64_t parts, struct tg_arena *arena) {
  struct tg_site *sites;
  size_t count;
  if (parts == TG_ATTENTION_WHOLE)
    return true;
  if (!tg_collect_sites(module, arena, &sites, &count))
    return false;
  mlirContextGetOrLoadDialect(mlirOperationGetContext(module),
                              tg_ref("tensor"));
  mlirContextGetOrLoadDialect(mlirOperationGetContext(module), tg_ref("scf"));
  struct tg_chain *chain = tg_arena_alloc(arena, 1, sizeof(*chain));
  if (!chain)
    return false;
  for (size_t i = 0; i < count; ++i) {
    if (mlirOperationIsNull(sites[i].op) ||
        !tg_chain_find(sites[i].op, chain) ||
        !choose_part(chain, target, parts))
      continue;
    /* The last product is gone afterwards. */
    for (size_t j = i + 1; j < count; ++j)
      if (mlirOperationEqual(sites[j].op, chain->ops[chain->count - 1].op))
        sites[j].op = (MlirOperation){NULL};
    tg_chain_build(chain);
  }
  return true;
}
