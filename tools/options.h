/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Command lines from a table of options; help comes from the same table. */
#ifndef TGRAPH_TOOLS_OPTIONS_H
#define TGRAPH_TOOLS_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

enum { TG_EXIT_GOOD = 0, TG_EXIT_FAILED = 1, TG_EXIT_BAD_INPUT = 2 };

enum tg_option_kind {
  TG_OPTION_BOOL,   /* --name */
  TG_OPTION_INT,    /* --name N: an int64_t within low..high */
  TG_OPTION_REAL,   /* --name X: a double within low..high */
  TG_OPTION_TEXT,   /* --name TEXT: a const char * */
  TG_OPTION_TRIPLE, /* --name A B C: int64_t[3] within low..high */
};

struct tg_option {
  const char *name; /* without dashes; one letter = a short option */
  enum tg_option_kind kind;
  void *out;
  double low, high;
  const char *meta; /* shown for the value in the help */
  const char *doc;
};

struct tg_command_line {
  const char *name;     /* of the command */
  const char *operands; /* for the help, "IN.mlir..." */
  const char *about;    /* paragraphs before the options */
  const char *examples; /* lines after them */
  const struct tg_option *options;
  int option_count;
};

/*
 * Fills the options' variables, and moves the operands to argv[1]... Returns
 * true to go on. Otherwise *status is the exit status: --help was answered, or
 * an error was printed that names the option.
 */
bool tg_parse_options(const struct tg_command_line *line, int argc, char **argv,
                      int *operand_count, int *status);

#define TG_COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

/* Prints "tgraph: error: ..." and returns TG_EXIT_BAD_INPUT. */
int tg_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
