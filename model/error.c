/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* One-line messages about bad input. */
#include "model/error.h"

#include <stdarg.h>
#include <stdio.h>

enum tg_status tg_fail(struct tg_error *error, const char *format, ...) {
  if (!error)
    return TG_BAD_INPUT;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(error->message, sizeof error->message, format, arguments);
  va_end(arguments);
  /* The text may quote a file: whatever it held, the message is one line. */
  for (char *c = error->message; *c; c++)
    if ((unsigned char)*c < ' ' || *c == 0x7f)
      *c = ' ';
  return TG_BAD_INPUT;
}

enum tg_status tg_fail_memory(struct tg_error *error, const char *where) {
  tg_fail(error, "%s: out of memory", where);
  return TG_OUT_OF_MEMORY;
}
