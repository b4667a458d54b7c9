/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Command lines; see options.h. */
#include "tools/options.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int tg_complain(const char *format, ...) {
  va_list list;
  va_start(list, format);
  fflush(stdout);
  fputs("tgraph: error: ", stderr);
  vfprintf(stderr, format, list);
  fputc('\n', stderr);
  va_end(list);
  return TG_EXIT_BAD_INPUT;
}

static const char *dashes(const struct tg_option *option) {
  return option->name[1] ? "--" : "-";
}

static void print_help(const struct tg_command_line *line) {
  printf("usage: tgraph %s [options]%s%s\n\n%s\noptions:\n", line->name,
         line->operands[0] ? " " : "", line->operands, line->about);
  for (int i = 0; i < line->option_count; i++) {
    const struct tg_option *option = &line->options[i];
    char left[64];
    snprintf(left, sizeof left, "%s%s%s%s", dashes(option), option->name,
             option->meta ? " " : "", option->meta ? option->meta : "");
    printf("  %-22s ", left);
    for (const char *c = option->doc; *c; c++)
      if (*c == '\n')
        printf("\n%25s", "");
      else
        putchar(*c);
    putchar('\n');
  }
  printf("  %-22s %s\n", "--help", "show this text");
  printf("\nexit status: 0 good, 1 a comparison or check failed, 2 bad "
         "input\n");
  if (line->examples)
    printf("\nexamples:\n%s", line->examples);
}

static const struct tg_option *find_option(const struct tg_command_line *line,
                                           const char *text,
                                           const char **value) {
  if (text[0] != '-' || !text[1])
    return NULL;
  bool is_long = text[1] == '-';
  const char *name = text + (is_long ? 2 : 1);
  size_t length = strcspn(name, "=");
  *value = name[length] ? name + length + 1 : NULL;
  for (int i = 0; i < line->option_count; i++) {
    const char *own = line->options[i].name;
    if (strlen(own) == length && !strncmp(own, name, length) &&
        is_long == (own[1] != 0))
      return &line->options[i];
  }
  return NULL;
}

static bool read_number(const char *command, const struct tg_option *option,
                        const char *text, double *number) {
  char *end;
  errno = 0;
  bool whole = option->kind != TG_OPTION_REAL;
  *number = whole ? (double)strtoll(text, &end, 10) : strtod(text, &end);
  if (end == text || *end || errno || !isfinite(*number) ||
      *number < option->low || *number > option->high) {
    tg_complain("%s: option %s%s takes a %s from %.15g to %.15g, not '%s'",
                command, dashes(option), option->name,
                whole ? "whole number" : "number", option->low, option->high,
                text);
    return false;
  }
  return true;
}

/* Consumes the option's values from argv[at]...; returns how many, or -1. */
static int read_values(const char *command, const struct tg_option *option,
                       const char *attached, char **rest, int rest_count) {
  if (option->kind == TG_OPTION_BOOL) {
    if (attached) {
      tg_complain("%s: option --%s takes no value", command, option->name);
      return -1;
    }
    *(bool *)option->out = true;
    return 0;
  }
  int wanted = option->kind == TG_OPTION_TRIPLE ? 3 : 1;
  int from_rest = wanted - (attached ? 1 : 0);
  if (from_rest > rest_count) {
    tg_complain("%s: option %s%s needs %s", command, dashes(option),
                option->name, option->meta);
    return -1;
  }
  for (int i = 0; i < wanted; i++) {
    const char *text = attached ? (i ? rest[i - 1] : attached) : rest[i];
    double number;
    if (option->kind == TG_OPTION_TEXT) {
      *(const char **)option->out = text;
      continue;
    }
    if (!read_number(command, option, text, &number))
      return -1;
    if (option->kind == TG_OPTION_REAL)
      *(double *)option->out = number;
    else
      ((int64_t *)option->out)[i] = (int64_t)number;
  }
  return from_rest;
}

bool tg_parse_options(const struct tg_command_line *line, int argc, char **argv,
                      int *operand_count, int *status) {
  int kept = 1;
  bool only_operands = false;
  *status = TG_EXIT_BAD_INPUT;
  for (int i = 1; i < argc; i++) {
    if (only_operands || argv[i][0] != '-' || !argv[i][1]) {
      argv[kept++] = argv[i];
      continue;
    }
    if (!strcmp(argv[i], "--")) {
      only_operands = true;
      continue;
    }
    if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
      print_help(line);
      *status = TG_EXIT_GOOD;
      return false;
    }
    const char *attached;
    const struct tg_option *option = find_option(line, argv[i], &attached);
    if (!option) {
      tg_complain("%s: unknown option '%s' (see 'tgraph %s --help')",
                  line->name, argv[i], line->name);
      return false;
    }
    int used =
        read_values(line->name, option, attached, argv + i + 1, argc - i - 1);
    if (used < 0)
      return false;
    i += used;
  }
  *operand_count = kept - 1;
  return true;
}
