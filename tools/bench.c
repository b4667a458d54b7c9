/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* tgraph bench: the command; the work is in bench_run.c. */
#include "tools/bench.h"

#include <stdlib.h>
#include <string.h>

#include "tools/options.h"
#include "tools/retype.h"

int tg_command_bench(int argc, char **argv);

static bool read_settings(int argc, char **argv, struct tg_bench_settings *s,
                          int *count, int *status) {
  const struct tg_option options[] = {
      {"function", TG_OPTION_TEXT, &s->function, 0, 0, "NAME",
       "function to call (default: main, or the only public one)"},
      {"data", TG_OPTION_TEXT, &s->data, 0, 0, "FILE",
       "JSON about the arguments (default: IN.json or IN.json.gz)"},
      {"types", TG_OPTION_TEXT, &s->types, 0, 0, "TYPE",
       "f64, f16 or bf16 in place of the program's f32, in all of\nit"},
      {"gemm", TG_OPTION_TRIPLE, s->gemm, 1, 1 << 20, "M N K",
       "race a matmul of this size against OpenBLAS's sgemm"},
      {"rounds", TG_OPTION_INT, &s->rounds, 1, TG_RACE_ROUND_LIMIT, "N",
       "rounds of the race (default 9)"},
      {"core", TG_OPTION_INT, &s->core, 0, 4095, "N",
       "core to time on (default: the last)"},
      {"slow", TG_OPTION_REAL, &s->entry_s, 0, 1e6, "S",
       "a contestant that needs longer than this for all its\nrounds takes "
       "part in fewer, at least 3 (default 30)"},
      {"seed", TG_OPTION_INT, &s->seed, 0, 1e15, "N",
       "seed of the data and the orders (default 0)"},
      {"model", TG_OPTION_TEXT, &s->build.model, 0, 0, "MODEL",
       "as the option of tgraph-select-layouts"},
      {"target", TG_OPTION_TEXT, &s->build.target, 0, 0, "TARGET",
       "as the option of tgraph-select-layouts (default host)"},
      {"search", TG_OPTION_TEXT, &s->build.search, 0, 0, "HOW",
       "as the option of tgraph-select-layouts"},
      {"budget", TG_OPTION_INT, &s->build.budget, 1, 1e9, "N",
       "as the option of tgraph-select-layouts"},
      {"layouts", TG_OPTION_TEXT, &s->build.layouts, 0, 0, "HOW",
       "as the option of tgraph-select-layouts, for our side\nalone"},
      {"attention", TG_OPTION_TEXT, &s->build.attention, 0, 0, "HOW",
       "as the option of tgraph-select-layouts, for our side\nalone"},
      {"reassociate", TG_OPTION_BOOL, &s->build.reassociate, 0, 0, NULL,
       "as the option of tgraph-select-layouts, for our side\nalone"},
      {"fold-batchnorm", TG_OPTION_BOOL, &s->build.fold_batchnorm, 0, 0, NULL,
       "as the option of tgraph-select-layouts, for our side\nalone"},
      {"prepack", TG_OPTION_BOOL, &s->build.prepack, 0, 0, NULL,
       "weights are packed once, before the calls that are\ntimed"},
      {"weights", TG_OPTION_TEXT, &s->build.weights, 0, 0, "LIST",
       "with --prepack: the arguments that are weights, as in\n0,2-7 (default: "
       "the "
       "parameters and buffers of the side file)"},
      {"no-stock", TG_OPTION_BOOL, &s->skip_stock, 0, 0, NULL,
       "leave the stock lowering out (and the check against it)"},
      {"no-analytic", TG_OPTION_BOOL, &s->skip_analytic, 0, 0, NULL,
       "leave the analytic rule out"},
      {"cache", TG_OPTION_TEXT, &s->build.cache, 0, 0, "DIR",
       "keep compiled stock objects in this folder"},
      {"seconds", TG_OPTION_REAL, &s->seconds, 0.1, 1e6, "S",
       "time limit of each step (default 1800)"},
      {"choices", TG_OPTION_BOOL, &s->choices, 0, 0, NULL,
       "list what was chosen for every operation"},
      {"json", TG_OPTION_BOOL, &s->json, 0, 0, NULL,
       "print a JSON object for each program"},
  };
  const struct tg_command_line line = {
      .name = "bench",
      .operands = "IN.mlir[.gz]...",
      .about =
          "Compiles each program with the stock lowering, with TGraph's "
          "choices and with the\nanalytic rule's, checks the results against "
          "stock, and races them on one core:\nevery round runs each once, "
          "in a new random order. Times are medians over the\nrounds, "
          "speed-ups are medians of the ratios within a round, with the "
          "interval that\ncovers the true median with 95 %. GFLOP/s count "
          "matmuls and convolutions; the peak\nis measured in the same run. "
          "Contestants with the same machine code are timed\nonce.\n",
      .examples = "  tgraph bench --choices net.mlir\n"
                  "  tgraph bench --json --cache /tmp/stock net.mlir.gz\n"
                  "  tgraph bench --gemm 512 512 512\n",
      .options = options,
      .option_count = TG_COUNT(options),
  };
  return tg_parse_options(&line, argc, argv, count, status);
}

static int bench_one(struct tg_program *program,
                     const struct tg_bench_settings *s) {
  struct tg_error error;
  if (tg_retype(program, s->types, &error) != TG_OK ||
      tg_build_check(program, &s->build, &error) != TG_OK)
    return tg_complain("%s", error.message);
  struct tg_bench_report *report = malloc(sizeof *report);
  if (!report)
    return tg_complain("out of memory");
  bool good = tg_bench_program(program, s, report);
  if (s->json) {
    struct tg_json_writer json = {stdout, 0, false, false};
    tg_bench_print_json(report, &json);
    fflush(stdout);
  } else {
    tg_bench_print_table(report, s->choices);
  }
  tg_bench_destroy(report);
  free(report);
  return good ? TG_EXIT_GOOD : TG_EXIT_FAILED;
}

static int bench_gemm(const struct tg_bench_settings *s) {
  char name[96];
  snprintf(name, sizeof name, "matmul %lldx%lldx%lld", (long long)s->gemm[0],
           (long long)s->gemm[1], (long long)s->gemm[2]);
  char *text = tg_gemm_text(s->gemm);
  struct tg_program program;
  struct tg_error error;
  if (!text || tg_program_create_from_text(&program, name, text, strlen(text),
                                           NULL, &error) != TG_OK) {
    free(text);
    return tg_complain("%s", text ? error.message : "out of memory");
  }
  free(text);
  int status = bench_one(&program, s);
  tg_program_destroy(&program);
  return status;
}

static int bench_file(const char *path, const struct tg_bench_settings *s) {
  struct tg_bench_settings own = *s;
  memset(own.gemm, 0, sizeof own.gemm);
  struct tg_program program;
  struct tg_error error;
  if (tg_program_create(&program, path, s->function, s->data, &error) != TG_OK)
    return tg_complain("%s", error.message);
  int status = bench_one(&program, &own);
  tg_program_destroy(&program);
  return status;
}

int tg_command_bench(int argc, char **argv) {
  struct tg_bench_settings s = {.rounds = 9,
                                .core = tg_core_count() - 1,
                                .seconds = 1800,
                                .entry_s = 30,
                                .build = tg_build_options_default()};
  int count, status;
  if (!read_settings(argc, argv, &s, &count, &status))
    return status;
  if (count < 1 && !s.gemm[0])
    return tg_complain("bench: no program given (see 'tgraph bench --help')");
  if (s.core >= tg_core_count())
    return tg_complain("bench: option --core: this machine has the cores 0 "
                       "to %d",
                       tg_core_count() - 1);
  if (s.gemm[0] && s.types && s.types[0])
    return tg_complain("bench: options --gemm and --types don't go together: "
                       "OpenBLAS's sgemm is f32");
  s.build.limits.seconds = s.seconds;
  struct tg_target target;
  struct tg_compile_options compile;
  struct tg_error error;
  if (tg_compile_options_create(s.build.target, "", &target, &compile,
                                &error) != TG_OK)
    return tg_complain("bench: option --target: %s", error.message);
  s.vector_bits = (int)target.vector_bits;
  status = TG_EXIT_GOOD;
  if (s.gemm[0])
    status = bench_gemm(&s);
  for (int i = 1; i <= count; i++) {
    int one = bench_file(argv[i], &s);
    status = one > status ? one : status;
  }
  return status;
}
