/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * One kernel, one choice: candidates from the space, scores from the model,
 * and the rule that says when the model may overrule the analytic one.
 */
#ifndef TGRAPH_MODEL_DECIDE_H
#define TGRAPH_MODEL_DECIDE_H

#include <stddef.h>

#include "model/infer.h"
#include "model/space.h"

enum tg_search {
#define SEARCH(identifier, name) TG_SEARCH_##identifier,
#include "model/search.def"
  TG_SEARCH_COUNT
};
/* False: no search has the name. */
bool tg_search_parse(const char *text, enum tg_search *search);

enum tg_model_kind { TG_MODEL_NETWORK, TG_MODEL_ANALYTIC, TG_MODEL_NONE };

struct tg_decider {
  enum tg_model_kind kind;
  const struct tg_model *model; /* TG_MODEL_NETWORK */
  struct tg_model *owned;       /* from a file, else NULL */
  const char *name;             /* as the option says it */
  const struct tg_target *target;
  enum tg_search search;
  size_t budget;
  uint64_t seed;
  bool reassociate; /* may the rounding of sums change? Set it after init */
};

/* model: "embedded", "analytic", "none", or the path of a .tgw file. */
enum tg_status tg_decider_init(struct tg_decider *decider, const char *model,
                               const struct tg_target *target,
                               enum tg_search search, size_t budget,
                               uint64_t seed, struct tg_arena *arena,
                               struct tg_error *error);
void tg_decider_release(struct tg_decider *decider);
/* "embedded, schema 0123456789abcdef" */
void tg_decider_describe(const struct tg_decider *decider, char *text,
                         size_t text_nbytes);

enum tg_reason {
#define REASON(name, text) TG_REASON_##name,
#include "model/reason.def"
  TG_REASON_COUNT
};
/* A sentence for each. */
extern const char *const tg_reason_text[TG_REASON_COUNT];
extern const char *const tg_reason_names[TG_REASON_COUNT];

struct tg_decision {
  uint64_t kernel_hash;
  struct tg_config config;
  enum tg_reason reason;
  size_t space_count; /* configurations that exist */
  size_t scored;      /* of them looked at */
  /* Of the choice and of the analytic rule's configuration in the same set;
   * 0 where no network was asked. */
  float score, analytic_score, spread;
};

enum tg_status tg_decide(const struct tg_decider *decider,
                         const struct tg_kernel *kernel,
                         struct tg_decision *decision, struct tg_error *error);

/* One line: what was chosen, from how many, and why. */
void tg_decision_explain(const struct tg_decision *decision,
                         const struct tg_kernel *kernel,
                         const struct tg_target *target, char *text,
                         size_t text_nbytes);

#endif
