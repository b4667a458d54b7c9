/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* tgraph verify: the stock lowering and ours on the same random data. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/build.h"
#include "tools/call.h"
#include "tools/exact.h"
#include "tools/options.h"
#include "tools/retype.h"
#include "tools/timing.h"

int tg_command_verify(int argc, char **argv);

struct verify_settings {
  const char *function, *data, *types;
  int64_t seed;
  double seconds, memory_gib;
  bool json;
  struct tg_build_options build;
};

struct verify_report {
  enum tg_outcome outcome;
  const char *stage; /* which step failed, "" when none */
  struct tg_error error;
  struct tg_difference difference;
  int choice_count;
};

/* One side: build and run; false with stage and error filled. */
static bool run_side(struct tg_program *program, enum tg_side side,
                     const struct verify_settings *s, struct tg_blob *capture,
                     struct verify_report *report) {
  struct tg_build build;
  tg_build_side(program, side, &s->build, &build);
  report->outcome = build.outcome;
  if (side == TG_SIDE_OURS)
    report->choice_count = build.choice_count;
  if (build.outcome != TG_OUTCOME_OK) {
    report->error = build.error;
    report->stage = side == TG_SIDE_STOCK ? "building stock" : "building ours";
  } else {
    report->outcome =
        tg_capture_run(program, &build.object, (uint64_t)s->seed,
                       &s->build.limits, capture, NULL, &report->error);
    if (report->outcome != TG_OUTCOME_OK)
      report->stage = side == TG_SIDE_STOCK ? "running stock" : "running ours";
  }
  tg_build_destroy(&build);
  return report->outcome == TG_OUTCOME_OK;
}

static void verify_program(struct tg_program *program,
                           const struct verify_settings *s,
                           struct verify_report *report) {
  struct tg_blob captures[2] = {{0}, {0}};
  struct tg_exact exact;
  report->outcome = tg_exact_create(&exact, program, &s->build,
                                    (uint64_t)s->seed, &report->error);
  if (report->outcome != TG_OUTCOME_OK)
    report->stage = "the reference in f32";
  else if (run_side(program, TG_SIDE_STOCK, s, &captures[0], report) &&
           run_side(program, TG_SIDE_OURS, s, &captures[1], report))
    tg_exact_compare(&exact, &captures[0], &captures[1], &report->difference);
  tg_exact_destroy(&exact);
  tg_blob_destroy(&captures[0]);
  tg_blob_destroy(&captures[1]);
}

static bool print_report(const char *path, const struct verify_report *r,
                         struct tg_json_writer *json) {
  bool equal = !r->stage[0] && r->difference.equal;
  char note[sizeof r->error.message + 64] = "";
  if (r->stage[0])
    snprintf(note, sizeof note, "%s: %s", r->stage, r->error.message);
  else
    snprintf(note, sizeof note, "%s", r->difference.note);
  double error = r->stage[0] ? NAN : r->difference.max_rel_error;
  double stock = r->stage[0] ? NAN : r->difference.stock_error;
  char beside[48] = "";
  if (!isnan(stock))
    snprintf(beside, sizeof beside, " (stock %.2e)", stock);
  if (json) {
    tg_json_begin(json, NULL, '{');
    tg_json_put_text(json, "program", path);
    tg_json_put_bool(json, "equal", equal);
    tg_json_put_number(json, "max_rel_error", error);
    if (!isnan(stock))
      tg_json_put_number(json, "stock_error", stock);
    tg_json_put_number(json, "choices", r->choice_count);
    tg_json_put_text(json, "note", note);
    tg_json_end(json, '}');
  } else {
    printf("%-44s %-9s max error %.2e%s  %3d choices%s%s\n", path,
           equal ? "equal" : "DIFFERENT", error, beside, r->choice_count,
           note[0] ? "\n  " : "", note);
    fflush(stdout);
  }
  return equal;
}

static bool read_settings(int argc, char **argv, struct verify_settings *s,
                          int *count, int *status) {
  const struct tg_option options[] = {
      {"function", TG_OPTION_TEXT, &s->function, 0, 0, "NAME",
       "function to call (default: main, or the only public one)"},
      {"data", TG_OPTION_TEXT, &s->data, 0, 0, "FILE",
       "JSON about the arguments (default: IN.json or IN.json.gz)"},
      {"types", TG_OPTION_TEXT, &s->types, 0, 0, "TYPE",
       "f64, f16 or bf16 in place of the program's f32, in all of\nit"},
      {"seed", TG_OPTION_INT, &s->seed, 0, 1e15, "N",
       "seed of the random data (default 0)"},
      {"model", TG_OPTION_TEXT, &s->build.model, 0, 0, "MODEL",
       "as the option of tgraph-select-layouts"},
      {"target", TG_OPTION_TEXT, &s->build.target, 0, 0, "TARGET",
       "as the option of tgraph-select-layouts (default host)"},
      {"layouts", TG_OPTION_TEXT, &s->build.layouts, 0, 0, "HOW",
       "as the option of tgraph-select-layouts, for our side\nalone"},
      {"attention", TG_OPTION_TEXT, &s->build.attention, 0, 0, "HOW",
       "as the option of tgraph-select-layouts, for our side\nalone"},
      {"reassociate", TG_OPTION_BOOL, &s->build.reassociate, 0, 0, NULL,
       "as the option of tgraph-select-layouts"},
      {"fold-batchnorm", TG_OPTION_BOOL, &s->build.fold_batchnorm, 0, 0, NULL,
       "as the option of tgraph-select-layouts"},
      {"prepack", TG_OPTION_BOOL, &s->build.prepack, 0, 0, NULL,
       "weights are packed once, before the calls"},
      {"weights", TG_OPTION_TEXT, &s->build.weights, 0, 0, "LIST",
       "with --prepack: the arguments that are weights, as in\n0,2-7 (default: "
       "the "
       "parameters and buffers of the side file)"},
      {"cache", TG_OPTION_TEXT, &s->build.cache, 0, 0, "DIR",
       "keep compiled stock objects in this folder"},
      {"seconds", TG_OPTION_REAL, &s->seconds, 0.1, 1e6, "S",
       "time limit of each step (default 1800)"},
      {"memory", TG_OPTION_REAL, &s->memory_gib, 0.25, 4096, "GIB",
       "memory limit of each step (default: none)"},
      {"json", TG_OPTION_BOOL, &s->json, 0, 0, NULL,
       "print a JSON object for each program"},
  };
  const struct tg_command_line line = {
      .name = "verify",
      .operands = "IN.mlir[.gz]...",
      .about =
          "Compiles each program twice, with the stock lowering and with "
          "TGraph's choices,\nruns both on the same random data and compares "
          "the results. They are equal when\nthey differ by at most 1e-4 of "
          "the largest value (f32, f64), 1e-2 (bf16),\n5e-3 (f16); integers "
          "must be the same. A reference with NaN, Inf or only one\nvalue "
          "proves nothing and counts as a failure. Each step runs in a "
          "process of its\nown, so a crash is reported too.\n",
      .examples = "  tgraph verify net.mlir\n"
                  "  tgraph verify --json --cache /tmp/stock *.mlir.gz\n",
      .options = options,
      .option_count = TG_COUNT(options),
  };
  return tg_parse_options(&line, argc, argv, count, status);
}

int tg_command_verify(int argc, char **argv) {
  struct verify_settings s = {.seconds = 1800,
                              .build = tg_build_options_default()};
  int count, status;
  if (!read_settings(argc, argv, &s, &count, &status))
    return status;
  if (count < 1)
    return tg_complain("verify: no program given (see 'tgraph verify "
                       "--help')");
  s.build.limits.seconds = s.seconds;
  s.build.limits.memory_nbytes = (int64_t)(s.memory_gib * 0x1p30);
  struct tg_json_writer json = {stdout, 0, false, false};
  struct tg_error error;
  struct tg_target target;
  struct tg_compile_options compile;
  if (tg_compile_options_create(s.build.target, "", &target, &compile,
                                &error) != TG_OK)
    return tg_complain("verify: option --target: %s", error.message);
  status = TG_EXIT_GOOD;
  for (int i = 1; i <= count; i++) {
    struct tg_program program;
    struct verify_report report = {.stage = ""};
    if (tg_program_create(&program, argv[i], s.function, s.data, &error) !=
        TG_OK) {
      status = tg_complain("%s", error.message);
      continue;
    }
    if (tg_retype(&program, s.types, &error) != TG_OK ||
        tg_build_check(&program, &s.build, &error) != TG_OK) {
      status = tg_complain("%s", error.message);
      tg_program_destroy(&program);
      continue;
    }
    verify_program(&program, &s, &report);
    bool equal = print_report(argv[i], &report, s.json ? &json : NULL);
    if (!equal && status == TG_EXIT_GOOD)
      status = TG_EXIT_FAILED;
    tg_program_destroy(&program);
  }
  return status;
}
