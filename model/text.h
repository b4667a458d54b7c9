/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Text that grows as it is written. Writing needs no checks: the first failure
 * is remembered, and what follows is dropped.
 */
#ifndef TGRAPH_MODEL_TEXT_H
#define TGRAPH_MODEL_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Starts as {0}; tg_text_destroy releases it. */
struct tg_text {
  char *data; /* NUL-terminated; NULL while nothing was written */
  size_t length, capacity;
  bool failed; /* out of memory: the text is cut */
};

void tg_text_append(struct tg_text *text, const char *data, size_t length);
void tg_text_print(struct tg_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* A JSON string: in quotes, with escapes. */
void tg_text_append_json(struct tg_text *text, const char *data, size_t length);
void tg_text_destroy(struct tg_text *text);

#endif
