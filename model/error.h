/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Errors of bad input. A function that reads something from outside returns
 * enum tg_status and writes one line that names file, place and cause into the
 * caller's struct tg_error, whatever the status is unless it is TG_OK. Faults
 * of our own assert instead.
 */
#ifndef TGRAPH_MODEL_ERROR_H
#define TGRAPH_MODEL_ERROR_H

enum tg_status {
  TG_OK = 0,
  TG_BAD_INPUT,    /* the message says what, where and why */
  TG_OUT_OF_MEMORY /* allocation failed or a stated limit was exceeded */
};

enum { TG_ERROR_NBYTES = 512 };

struct tg_error {
  char message[TG_ERROR_NBYTES]; /* one line, no trailing newline */
};

/* Formats the message (cut at TG_ERROR_NBYTES) and returns TG_BAD_INPUT. */
enum tg_status tg_fail(struct tg_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The same for memory: "WHERE: out of memory"; returns TG_OUT_OF_MEMORY. */
enum tg_status tg_fail_memory(struct tg_error *error, const char *where);

#endif
