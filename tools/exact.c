/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The stock lowering of a copy of the program; see exact.h. */
#include "tools/exact.h"

#include <string.h>

#include "tools/retype.h"

enum { HEAD_NBYTES = 16 }; /* of a capture, about memory */

/* Module, arguments and results are the copy's own, the rest is borrowed. */
static bool copy_program(const struct tg_program *program,
                         struct tg_program *copy) {
  size_t arguments = (size_t)program->argument_count;
  size_t results = (size_t)program->result_count;
  *copy = *program;
  copy->arguments =
      tg_arena_alloc(program->arena, arguments + 1, sizeof *copy->arguments);
  copy->results =
      tg_arena_alloc(program->arena, results + 1, sizeof *copy->results);
  if (!copy->arguments || !copy->results)
    return false;
  memcpy(copy->arguments, program->arguments,
         arguments * sizeof *copy->arguments);
  memcpy(copy->results, program->results, results * sizeof *copy->results);
  copy->module = mlirOperationClone(program->module);
  return true;
}

static enum tg_outcome run_stock(struct tg_program *program,
                                 const struct tg_build_options *options,
                                 uint64_t seed, struct tg_blob *capture,
                                 struct tg_error *error) {
  struct tg_build build;
  tg_build_side(program, TG_SIDE_STOCK, options, &build);
  enum tg_outcome outcome = build.outcome;
  if (outcome == TG_OUTCOME_OK)
    outcome = tg_capture_run(program, &build.object, seed, &options->limits,
                             capture, NULL, error);
  else
    *error = build.error;
  tg_build_destroy(&build);
  return outcome;
}

enum tg_outcome tg_exact_create(struct tg_exact *exact,
                                const struct tg_program *program,
                                const struct tg_build_options *options,
                                uint64_t seed, struct tg_error *error) {
  struct tg_program wide;
  memset(exact, 0, sizeof *exact);
  if (!tg_has_halves(program))
    return TG_OUTCOME_OK;
  if (!copy_program(program, &wide)) {
    tg_fail_memory(error, program->path);
    return TG_OUTCOME_FAILED;
  }
  enum tg_outcome outcome = TG_OUTCOME_FAILED;
  if (tg_retype_halves(&wide, error) == TG_OK)
    outcome = run_stock(&wide, options, seed, &exact->capture, error);
  mlirOperationDestroy(wide.module);
  return outcome;
}

void tg_exact_destroy(struct tg_exact *exact) {
  tg_blob_destroy(&exact->capture);
}

void tg_exact_compare(const struct tg_exact *exact, const struct tg_blob *stock,
                      const struct tg_blob *other,
                      struct tg_difference *difference) {
  const char *data[3] = {exact->capture.data, stock->data, other->data};
  size_t stock_nbytes = stock->nbytes - HEAD_NBYTES;
  size_t other_nbytes = other->nbytes - HEAD_NBYTES;
  if (!data[0])
    tg_compare_captures(data[1] + HEAD_NBYTES, stock_nbytes,
                        data[2] + HEAD_NBYTES, other_nbytes, difference);
  else
    tg_judge_captures(data[0] + HEAD_NBYTES,
                      exact->capture.nbytes - HEAD_NBYTES,
                      data[1] + HEAD_NBYTES, stock_nbytes,
                      data[2] + HEAD_NBYTES, other_nbytes, difference);
}
