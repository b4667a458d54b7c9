/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Files as text, and JSON both ways. */
#ifndef TGRAPH_TOOLS_TEXT_H
#define TGRAPH_TOOLS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "model/arena.h"
#include "model/error.h"

/* Reads a file, gzip-compressed or not, whole; the text ends in a NUL and is
 * malloc'ed for the caller. */
enum tg_status tg_read_text(const char *path, char **text, size_t *nbytes,
                            struct tg_error *error);
/* Creates the folder and its parents where they are missing. */
enum tg_status tg_make_folder(const char *path, struct tg_error *error);

/* A JSON value; children are linked in order. Lives in the arena. */
enum tg_json_kind {
  TG_JSON_NULL,
  TG_JSON_BOOL,
  TG_JSON_NUMBER,
  TG_JSON_STRING,
  TG_JSON_ARRAY,
  TG_JSON_OBJECT
};
struct tg_json {
  enum tg_json_kind kind;
  double number;      /* and 0 or 1 of a bool */
  const char *string; /* of a string */
  const char *key;    /* of a member of an object */
  struct tg_json *first, *next;
};
enum tg_status tg_json_parse(const char *path, const char *text,
                             struct tg_arena *arena, struct tg_json **value,
                             struct tg_error *error);
/* The member, or NULL when the value is no object or lacks it. */
const struct tg_json *tg_json_get(const struct tg_json *value, const char *key);

/* JSON out: begin/end nest, commas and escapes are taken care of. A value that
 * is not finite becomes null. */
struct tg_json_writer {
  FILE *file;
  int depth;
  bool comma;
  bool compact; /* on one line */
};
void tg_json_begin(struct tg_json_writer *w, const char *key, char bracket);
void tg_json_end(struct tg_json_writer *w, char bracket);
void tg_json_put_number(struct tg_json_writer *w, const char *key,
                        double value);
void tg_json_put_text(struct tg_json_writer *w, const char *key,
                      const char *value);
void tg_json_put_bool(struct tg_json_writer *w, const char *key, bool value);

#endif
