/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* tgraph object: one side of a race as an object file, for other harnesses. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/file.h"
#include "tools/build.h"
#include "tools/options.h"
#include "tools/retype.h"

int tg_command_object(int argc, char **argv);

struct object_settings {
  const char *function, *side, *path, *types;
  bool json;
  struct tg_build_options build;
};

static bool read_settings(int argc, char **argv, struct object_settings *s,
                          int *count, int *status) {
  const struct tg_option options[] = {
      {"o", TG_OPTION_TEXT, &s->path, 0, 0, "FILE", "object file to write"},
      {"side", TG_OPTION_TEXT, &s->side, 0, 0, "SIDE",
       "ours (default), stock or analytic, as in tgraph bench"},
      {"function", TG_OPTION_TEXT, &s->function, 0, 0, "NAME",
       "function to call (default: main, or the only public one)"},
      {"types", TG_OPTION_TEXT, &s->types, 0, 0, "TYPE",
       "f64, f16 or bf16 in place of the program's f32, in all of\nit"},
      {"target", TG_OPTION_TEXT, &s->build.target, 0, 0, "TARGET",
       "as the option of tgraph-select-layouts (default host)"},
      {"model", TG_OPTION_TEXT, &s->build.model, 0, 0, "MODEL",
       "as the option of tgraph-select-layouts"},
      {"json", TG_OPTION_BOOL, &s->json, 0, 0, NULL,
       "print JSON instead of lines"},
      {"layouts", TG_OPTION_TEXT, &s->build.layouts, 0, 0, "HOW",
       "as the option of tgraph-select-layouts, for our side\nalone"},
      {"attention", TG_OPTION_TEXT, &s->build.attention, 0, 0, "HOW",
       "as the option of tgraph-select-layouts, for our side\nalone"},
      {"reassociate", TG_OPTION_BOOL, &s->build.reassociate, 0, 0, NULL,
       "as the option of tgraph-select-layouts"},
      {"fold-batchnorm", TG_OPTION_BOOL, &s->build.fold_batchnorm, 0, 0, NULL,
       "as the option of tgraph-select-layouts"},
      {"prepack", TG_OPTION_BOOL, &s->build.prepack, 0, 0, NULL,
       "weights are packed once, before the calls that use\nthem: the object "
       "has also void tg_prepack(void **slots)"},
      {"weights", TG_OPTION_TEXT, &s->build.weights, 0, 0, "LIST",
       "with --prepack: the arguments that are weights, as in\n0,2-7 (default: "
       "the "
       "parameters and buffers of the side file)"},
  };
  const struct tg_command_line line = {
      .name = "object",
      .operands = "IN.mlir[.gz] -o FILE",
      .about =
          "Compiles a program to an object file whose only symbol is\n"
          "  void tg_call(void **slots)\n"
          "with a slot for each parameter of the C interface, in order: the "
          "address of the\nresults' descriptors first (none for a scalar "
          "result, whose address comes last),\nthen that of each tensor's "
          "descriptor or of each scalar. The caller frees what the\nresults "
          "own. The code calls malloc, free, memcpy, libm and, for some "
          "programs,\nmemrefCopy of libmlir_c_runner_utils.\n",
      .examples = "  tgraph object net.mlir -o net.o\n"
                  "  tgraph object --side stock net.mlir -o stock.o\n",
      .options = options,
      .option_count = TG_COUNT(options),
  };
  return tg_parse_options(&line, argc, argv, count, status);
}

/* The side of that name, or TG_SIDE_COUNT. */
static enum tg_side find_side(const char *name) {
  int side = 0;
  while (side < TG_SIDE_COUNT && strcmp(name, tg_side_names[side]) != 0)
    side++;
  return (enum tg_side)side;
}

/* {"dtype": "f32", "shape": [2, -1]}, -1 being an extent that is known at run
 * time; a scalar has no shape. */
static void print_type(struct tg_json_writer *json,
                       const struct tg_value_type *type) {
  tg_json_begin(json, NULL, '{');
  tg_json_put_text(json, "dtype", tg_dtype_infos[type->dtype].mlir);
  if (type->is_tensor) {
    tg_json_begin(json, "shape", '[');
    for (int i = 0; i < type->rank; i++)
      tg_json_put_number(json, NULL, (double)type->shape[i]);
    tg_json_end(json, ']');
  }
  tg_json_end(json, '}');
}

/* What a caller has to know to fill the slots. */
static void print_signature(struct tg_json_writer *json,
                            const struct tg_program *program) {
  tg_json_begin(json, "arguments", '[');
  for (int i = 0; i < program->argument_count; i++)
    print_type(json, &program->arguments[i].type);
  tg_json_end(json, ']');
  tg_json_begin(json, "results", '[');
  for (int i = 0; i < program->result_count; i++)
    print_type(json, &program->results[i]);
  tg_json_end(json, ']');
}

static void print_report(const struct tg_program *program,
                         const struct tg_build *build, bool as_json) {
  if (as_json) {
    struct tg_json_writer json = {stdout, 0, false, false};
    char hash[24];
    snprintf(hash, sizeof hash, "%016llx",
             (unsigned long long)build->object.hash);
    tg_json_begin(&json, NULL, '{');
    tg_json_put_text(&json, "hash", hash);
    tg_json_put_number(&json, "nbytes", (double)build->object.nbytes);
    tg_json_put_number(&json, "choices", build->choice_count);
    tg_json_put_number(&json, "left_alone", build->missed_count);
    tg_json_put_number(&json, "select_ms", 1e3 * build->select_s);
    tg_json_put_number(&json, "lower_ms", 1e3 * build->lower_s);
    tg_json_put_number(&json, "compile_ms", 1e3 * build->compile_s);
    print_signature(&json, program);
    tg_json_end(&json, '}');
    return;
  }
  if (build->choices)
    fputs(build->choices, stdout);
  printf("%zu bytes; chosen in %.3f s, lowered in %.3f s, compiled in %.3f s\n",
         build->object.nbytes, build->select_s, build->lower_s,
         build->compile_s);
}

static int write_object(struct tg_program *program, enum tg_side side,
                        const struct object_settings *s) {
  struct tg_error error;
  if (tg_retype(program, s->types, &error) != TG_OK ||
      tg_build_check(program, &s->build, &error) != TG_OK)
    return tg_complain("%s", error.message);
  struct tg_build build;
  tg_build_side(program, side, &s->build, &build);
  int status = TG_EXIT_GOOD;
  if (build.outcome != TG_OUTCOME_OK) {
    fprintf(stderr, "tgraph: %s: building %s: %s\n", program->path, s->side,
            build.error.message);
    status = TG_EXIT_FAILED;
  } else if (tg_file_write(s->path, build.object.data, build.object.nbytes,
                           &error) != TG_OK) {
    status = tg_complain("%s", error.message);
  } else {
    print_report(program, &build, s->json);
  }
  tg_build_destroy(&build);
  return status;
}

int tg_command_object(int argc, char **argv) {
  struct object_settings s = {.side = "ours",
                              .build = tg_build_options_default()};
  int count, status;
  if (!read_settings(argc, argv, &s, &count, &status))
    return status;
  if (count != 1)
    return tg_complain("object: takes one program, but got %d", count);
  if (!s.path)
    return tg_complain("object: option -o FILE is missing");
  enum tg_side side = find_side(s.side);
  if (side == TG_SIDE_COUNT)
    return tg_complain("object: option --side: there is no '%s'", s.side);
  struct tg_program program;
  struct tg_target target;
  struct tg_compile_options compile;
  struct tg_error error;
  if (tg_compile_options_create(s.build.target, "", &target, &compile,
                                &error) != TG_OK)
    return tg_complain("object: option --target: %s", error.message);
  if (tg_program_create(&program, argv[1], s.function, NULL, &error) != TG_OK)
    return tg_complain("%s", error.message);
  status = write_object(&program, side, &s);
  tg_program_destroy(&program);
  return status;
}
