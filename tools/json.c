/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A reader of JSON into a tree; see text.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/text.h"

enum { JSON_DEPTH_LIMIT = 64 };

struct reader {
  const char *path, *text, *at;
  struct tg_arena *arena;
  struct tg_error *error;
};

static enum tg_status complain(struct reader *r, const char *cause) {
  int line = 1;
  for (const char *c = r->text; c < r->at; c++)
    line += *c == '\n';
  return tg_fail(r->error, "%s:%d: not JSON: %s", r->path, line, cause);
}

static void skip_space(struct reader *r) { r->at += strspn(r->at, " \t\r\n"); }

static int hex4(const char *text) {
  int value = 0;
  for (int i = 0; i < 4; i++) {
    const char *digits = "0123456789abcdef";
    const char *found = text[i] ? strchr(digits, text[i] | 0x20) : NULL;
    if (!found || !*found)
      return -1;
    value = value * 16 + (int)(found - digits);
  }
  return value;
}

/* Writes the code point in UTF-8; returns the bytes used. A surrogate half is
 * written as it stands: names here are only compared, never shown. */
static int put_utf8(char *out, int code) {
  if (code < 0x80) {
    out[0] = (char)code;
    return 1;
  }
  if (code < 0x800) {
    out[0] = (char)(0xC0 | code >> 6);
    out[1] = (char)(0x80 | (code & 63));
    return 2;
  }
  out[0] = (char)(0xE0 | code >> 12);
  out[1] = (char)(0x80 | (code >> 6 & 63));
  out[2] = (char)(0x80 | (code & 63));
  return 3;
}

static enum tg_status read_string(struct reader *r, const char **string) {
  if (*r->at != '"')
    return complain(r, "a string was expected");
  const char *end = ++r->at;
  while (*end && *end != '"')
    end += *end == '\\' && end[1] ? 2 : 1;
  if (!*end)
    return complain(r, "a string does not end");
  char *out = tg_arena_alloc(r->arena, (size_t)(end - r->at) + 1, 1);
  if (!out)
    return tg_fail_memory(r->error, r->path);
  *string = out;
  while (r->at < end) {
    if (*r->at != '\\') {
      *out++ = *r->at++;
      continue;
    }
    static const char names[] = "\"\\/bfnrt", codes[] = "\"\\/\b\f\n\r\t";
    const char *found = strchr(names, r->at[1]);
    int code = r->at[1] == 'u' && end - r->at >= 6 ? hex4(r->at + 2) : -1;
    if (found) {
      *out++ = codes[found - names];
      r->at += 2;
    } else if (code > 0) {
      out += put_utf8(out, code);
      r->at += 6;
    } else {
      return complain(r, "an unknown escape in a string");
    }
  }
  r->at = end + 1;
  return TG_OK;
}

static enum tg_status read_value(struct reader *r, int depth,
                                 struct tg_json **value);

static enum tg_status read_children(struct reader *r, int depth,
                                    struct tg_json *parent) {
  char close = parent->kind == TG_JSON_OBJECT ? '}' : ']';
  struct tg_json **link = &parent->first;
  r->at++;
  skip_space(r);
  if (*r->at == close) {
    r->at++;
    return TG_OK;
  }
  for (;;) {
    const char *key = NULL;
    skip_space(r);
    if (parent->kind == TG_JSON_OBJECT) {
      enum tg_status status = read_string(r, &key);
      if (status != TG_OK)
        return status;
      skip_space(r);
      if (*r->at++ != ':')
        return complain(r, "a ':' was expected");
    }
    enum tg_status status = read_value(r, depth + 1, link);
    if (status != TG_OK)
      return status;
    (*link)->key = key;
    link = &(*link)->next;
    skip_space(r);
    if (*r->at == close) {
      r->at++;
      return TG_OK;
    }
    if (*r->at != ',')
      return complain(r, "a ',' or the closing bracket was expected");
    r->at++;
  }
}

static enum tg_status read_word(struct reader *r, struct tg_json *v) {
  static const struct {
    const char *word;
    enum tg_json_kind kind;
    double number;
  } words[] = {{"true", TG_JSON_BOOL, 1},
               {"false", TG_JSON_BOOL, 0},
               {"null", TG_JSON_NULL, 0}};
  for (int i = 0; i < 3; i++) {
    size_t length = strlen(words[i].word);
    if (!strncmp(r->at, words[i].word, length)) {
      v->kind = words[i].kind;
      v->number = words[i].number;
      r->at += length;
      return TG_OK;
    }
  }
  char *end;
  v->kind = TG_JSON_NUMBER;
  v->number = strtod(r->at, &end);
  if (end == r->at || !strchr("-0123456789", *r->at) || !isfinite(v->number))
    return complain(r, "a value was expected");
  r->at = end;
  return TG_OK;
}

static enum tg_status read_value(struct reader *r, int depth,
                                 struct tg_json **value) {
  if (depth > JSON_DEPTH_LIMIT)
    return complain(r, "nested too deeply");
  struct tg_json *v = tg_arena_alloc(r->arena, 1, sizeof *v);
  if (!v)
    return tg_fail_memory(r->error, r->path);
  *value = v;
  skip_space(r);
  if (*r->at == '{' || *r->at == '[') {
    v->kind = *r->at == '{' ? TG_JSON_OBJECT : TG_JSON_ARRAY;
    return read_children(r, depth, v);
  }
  if (*r->at == '"') {
    v->kind = TG_JSON_STRING;
    return read_string(r, &v->string);
  }
  return read_word(r, v);
}

enum tg_status tg_json_parse(const char *path, const char *text,
                             struct tg_arena *arena, struct tg_json **value,
                             struct tg_error *error) {
  struct reader r = {path, text, text, arena, error};
  enum tg_status status = read_value(&r, 0, value);
  if (status != TG_OK)
    return status;
  skip_space(&r);
  return *r.at ? complain(&r, "text follows the value") : TG_OK;
}

const struct tg_json *tg_json_get(const struct tg_json *value,
                                  const char *key) {
  if (!value || value->kind != TG_JSON_OBJECT)
    return NULL;
  for (const struct tg_json *c = value->first; c; c = c->next)
    if (!strcmp(c->key, key))
      return c;
  return NULL;
}
