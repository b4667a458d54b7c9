/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* From a program to an object, one side of a race at a time, each in a child
 * process. */
#ifndef TGRAPH_TOOLS_BUILD_H
#define TGRAPH_TOOLS_BUILD_H

#include "model/target.h"
#include "tools/child.h"
#include "tools/compile.h"
#include "tools/program.h"

enum tg_side {
#define SIDE(id, name, doc) TG_SIDE_##id,
#include "tools/sides.def"
  TG_SIDE_COUNT
};
extern const char *const tg_side_names[TG_SIDE_COUNT];

/* The options of select that commands pass on, and the limits. */
struct tg_build_options {
  const char *target; /* as the option of tgraph-select-layouts */
  const char *model;
  const char *search;
  int64_t budget, seed;
  bool reassociate;    /* of our side alone: the rule's shows what it brings */
  bool fold_batchnorm; /* likewise */
  bool prepack;        /* weights are packed beforehand */
  const char *weights; /* as the option of select; "" = as is known of them */
  const char *layouts; /* likewise, the rule keeps the given; NULL: default */
  const char *attention; /* likewise, the rule does all heads at a time */
  const char *cache;     /* folder of stock objects; NULL = none */
  struct tg_limits limits;
};
struct tg_build_options tg_build_options_default(void);

struct tg_build {
  enum tg_outcome outcome;
  struct tg_error error; /* unless the outcome is OK */
  struct tg_object object;
  bool cached;
  double select_s, lower_s, compile_s;
  char *choices; /* a line per choice: place, kernel, configuration */
  int choice_count, missed_count; /* operations with and without a schedule */
};
/* Does select take the program and the options? Tried on a copy: what is bad
 * input is told from what fails later. */
enum tg_status tg_build_check(const struct tg_program *program,
                              const struct tg_build_options *options,
                              struct tg_error *error);
void tg_build_side(struct tg_program *program, enum tg_side side,
                   const struct tg_build_options *options,
                   struct tg_build *build);
void tg_build_destroy(struct tg_build *build);

/* Reads the target option; "host" leaves LLVM's name of the CPU empty, which
 * tg_compile takes as this machine. */
enum tg_status tg_compile_options_create(const char *target,
                                         const char *function,
                                         struct tg_target *storage,
                                         struct tg_compile_options *options,
                                         struct tg_error *error);

/* Runs the object once on the seed's data; the blob holds the capture and
 * *peak_nbytes (may be NULL) what the code had allocated at once. */
enum tg_outcome tg_capture_run(const struct tg_program *program,
                               const struct tg_object *object, uint64_t seed,
                               const struct tg_limits *limits,
                               struct tg_blob *blob, int64_t *peak_nbytes,
                               struct tg_error *error);

#endif
