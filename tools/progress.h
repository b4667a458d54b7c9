/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What long work is doing, on the error stream. On a terminal a line replaces
 * the one before; elsewhere lines appear at most every ten seconds. */
#ifndef TGRAPH_TOOLS_PROGRESS_H
#define TGRAPH_TOOLS_PROGRESS_H

void tg_progress(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Clears the line before other output. */
void tg_progress_end(void);

#endif
