/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What tgraph bench collects about one program, and how it shows it. */
#ifndef TGRAPH_TOOLS_BENCH_H
#define TGRAPH_TOOLS_BENCH_H

#include "tools/build.h"
#include "tools/call.h"
#include "tools/race.h"

/* The contestants: the sides, and OpenBLAS in a race of matmuls. */
enum { TG_BENCH_BLAS = TG_SIDE_COUNT, TG_BENCH_COUNT };

struct tg_bench_settings {
  const char *function, *data, *types;
  int64_t seed, rounds, core;
  int64_t gemm[3]; /* M N K; 0 = no matmul */
  double seconds, entry_s;
  bool json, choices, skip_stock, skip_analytic;
  struct tg_build_options build;
  int vector_bits;
};

struct tg_bench_report {
  const char *name;
  double flops; /* of one run; 0 = no kernel was recognised */
  int kernel_count;
  struct tg_build builds[TG_SIDE_COUNT];
  int same_as[TG_BENCH_COUNT]; /* contestant with the same code, or itself */
  int place[TG_BENCH_COUNT];   /* in the race, -1 = not in it */
  struct tg_difference differences[TG_BENCH_COUNT];
  int reference; /* the contestant that results are compared with */
  int64_t scratch_nbytes[TG_SIDE_COUNT];
  struct tg_error problems[TG_BENCH_COUNT]; /* "" = none */
  struct tg_race_result race;
};

extern const char *const tg_bench_names[TG_BENCH_COUNT];

/* Builds, checks and races; false = some contestant failed or differed. */
bool tg_bench_program(struct tg_program *program,
                      const struct tg_bench_settings *settings,
                      struct tg_bench_report *report);
void tg_bench_destroy(struct tg_bench_report *report);

void tg_bench_print_table(const struct tg_bench_report *report, bool choices);
void tg_bench_print_json(const struct tg_bench_report *report,
                         struct tg_json_writer *json);

/* The sgemm of OpenBLAS on the arguments of a matmul program. */
struct tg_blas_user {
  int m, n, k;
  const struct tg_call *call;
  float *result;
};
void tg_blas_run(void *user);
/* A module with one matmul; malloc'ed text. */
char *tg_gemm_text(const int64_t gemm[3]);

#endif
