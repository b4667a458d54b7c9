/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Growing text; see text.h. */
#include "model/text.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room for `length` bytes and a NUL; false, and remembered, where there is
 * none. */
static bool reserve(struct tg_text *text, size_t length) {
  if (!text->failed && length < text->capacity - text->length)
    return true;
  char *grown = NULL;
  size_t capacity = 0;
  if (!text->failed && length < SIZE_MAX / 4 - text->length) {
    capacity = 2 * (text->length + length + 128);
    grown = realloc(text->data, capacity);
  }
  if (!grown) {
    text->failed = true;
    return false;
  }
  text->data = grown;
  text->capacity = capacity;
  return true;
}

void tg_text_append(struct tg_text *text, const char *data, size_t length) {
  if (!reserve(text, length))
    return;
  if (length)
    memcpy(text->data + text->length, data, length);
  text->length += length;
  text->data[text->length] = 0;
}

void tg_text_print(struct tg_text *text, const char *format, ...) {
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  int length = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  if (length >= 0 && reserve(text, (size_t)length)) {
    vsnprintf(text->data + text->length, (size_t)length + 1, format, again);
    text->length += (size_t)length;
  }
  va_end(again);
}

void tg_text_append_json(struct tg_text *text, const char *data,
                         size_t length) {
  tg_text_append(text, "\"", 1);
  for (size_t i = 0; i < length; i++) {
    unsigned char c = (unsigned char)data[i];
    if (c == '"' || c == '\\')
      tg_text_print(text, "\\%c", c);
    else if (c < 0x20)
      tg_text_print(text, "\\u%04x", c);
    else
      tg_text_append(text, data + i, 1);
  }
  tg_text_append(text, "\"", 1);
}

void tg_text_destroy(struct tg_text *text) {
  free(text->data);
  *text = (struct tg_text){0};
}
