/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* tgraph: finds the command in the table and runs it. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "tools/options.h"
#include "tools/timing.h"

#define COMMAND(name, times_code, summary)                                     \
  int tg_command_##name(int argc, char **argv);
#include "tools/commands.def"

static const struct {
  const char *name;
  bool times_code;
  const char *summary;
  int (*run)(int argc, char **argv);
} commands[] = {
#define COMMAND(name, times_code, summary)                                     \
  {#name, times_code, summary, tg_command_##name},
#include "tools/commands.def"
};

static void print_help(FILE *file) {
  fputs("usage: tgraph COMMAND [options] ...\n\n"
        "Measures and checks what TGraph chooses for linalg programs.\n\n"
        "commands:\n",
        file);
  for (int i = 0; i < TG_COUNT(commands); i++)
    fprintf(file, "  %-10s %s\n", commands[i].name, commands[i].summary);
  fputs("\n'tgraph COMMAND --help' explains a command and its options.\n",
        file);
}

int main(int argc, char **argv) {
  if (argc < 2) {
    print_help(stderr);
    return TG_EXIT_BAD_INPUT;
  }
  if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") ||
      !strcmp(argv[1], "help")) {
    print_help(stdout);
    return TG_EXIT_GOOD;
  }
  for (int i = 0; i < TG_COUNT(commands); i++)
    if (!strcmp(argv[1], commands[i].name)) {
      if (commands[i].times_code)
        tg_disable_randomisation(argv);
      return commands[i].run(argc - 1, argv + 1);
    }
  return tg_complain("unknown command '%s' (see 'tgraph --help')", argv[1]);
}
