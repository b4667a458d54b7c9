/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What programs are compared with. The stock lowering of f16 and bf16 rounds
 * after every step, so it is a poor reference: there, the same program with f32
 * in their place is run as well.
 */
#ifndef TGRAPH_TOOLS_EXACT_H
#define TGRAPH_TOOLS_EXACT_H

#include "tools/build.h"
#include "tools/call.h"

/* A program's results in wider types. */
struct tg_exact {
  struct tg_blob capture; /* none where the program has no f16 and bf16 */
};

/* Builds and runs the wider program where there is to be one. */
enum tg_outcome tg_exact_create(struct tg_exact *exact,
                                const struct tg_program *program,
                                const struct tg_build_options *options,
                                uint64_t seed, struct tg_error *error);
void tg_exact_destroy(struct tg_exact *exact);

/* Compares blobs of tg_capture_run. */
void tg_exact_compare(const struct tg_exact *exact, const struct tg_blob *stock,
                      const struct tg_blob *other,
                      struct tg_difference *difference);

#endif
