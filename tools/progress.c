/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Progress lines; see progress.h. */
#include "tools/progress.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "tools/timing.h"

static bool shown;

void tg_progress(const char *format, ...) {
  static double last = -1e9;
  bool terminal = isatty(STDERR_FILENO);
  double now = tg_clock_seconds();
  if (!terminal && now - last < 10)
    return;
  last = now;
  char text[200];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  fprintf(stderr, terminal ? "\r\033[K%.100s" : "%s\n", text);
  fflush(stderr);
  shown = terminal;
}

void tg_progress_end(void) {
  if (shown)
    fputs("\r\033[K", stderr);
  shown = false;
}
