/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Files as text and JSON out; the reader of JSON is json.c. See text.h. */
#include "tools/text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include "model/text.h"

enum { TEXT_LIMIT_NBYTES = 1 << 30 };

static enum tg_status read_stream(gzFile file, const char *path, char **text,
                                  size_t *nbytes, struct tg_error *error) {
  size_t capacity = 1 << 16, used = 0;
  char *data = malloc(capacity);
  while (data) {
    int got = gzread(file, data + used, (unsigned)(capacity - used - 1));
    if (got < 0) {
      int code;
      const char *why = gzerror(file, &code);
      tg_fail(error, "%s: cannot be read: %s", path,
              code == Z_ERRNO ? strerror(errno) : why);
      free(data);
      return TG_BAD_INPUT;
    }
    used += (size_t)got;
    if (got == 0)
      break;
    if (used + 1 == capacity) {
      char *grown =
          capacity < TEXT_LIMIT_NBYTES ? realloc(data, capacity * 2) : NULL;
      if (!grown)
        free(data);
      data = grown;
      capacity *= 2;
    }
  }
  if (!data) {
    tg_fail(error, "%s: too large to read", path);
    return TG_OUT_OF_MEMORY;
  }
  data[used] = 0;
  *text = data;
  *nbytes = used;
  return TG_OK;
}

enum tg_status tg_read_text(const char *path, char **text, size_t *nbytes,
                            struct tg_error *error) {
  struct stat info;
  if (stat(path, &info))
    return tg_fail(error, "%s: %s", path, strerror(errno));
  if (S_ISDIR(info.st_mode))
    return tg_fail(error, "%s: is a folder, not a file", path);
  gzFile file = gzopen(path, "rb");
  if (!file)
    return tg_fail(error, "%s: %s", path, strerror(errno));
  enum tg_status status = read_stream(file, path, text, nbytes, error);
  int closed = gzclose_r(file);
  if (status == TG_OK && closed != Z_OK) {
    free(*text);
    return tg_fail(error, "%s: the compressed file is cut short", path);
  }
  return status;
}

enum tg_status tg_make_folder(const char *path, struct tg_error *error) {
  char part[4096];
  if (!path[0] || strlen(path) >= sizeof part)
    return tg_fail(error, "'%s' is no name of a folder", path);
  strcpy(part, path);
  for (char *c = part + 1;; c++) {
    if (*c && *c != '/')
      continue;
    char kept = *c;
    *c = 0;
    struct stat info;
    if (mkdir(part, 0777) && errno != EEXIST)
      return tg_fail(error, "%s: %s", part, strerror(errno));
    if (stat(part, &info) || !S_ISDIR(info.st_mode))
      return tg_fail(error, "%s: is not a folder", part);
    *c = kept;
    if (!kept)
      return TG_OK;
  }
}

static void write_string(FILE *file, const char *string) {
  struct tg_text text = {0};
  tg_text_append_json(&text, string, strlen(string));
  if (text.data && !text.failed)
    fwrite(text.data, 1, text.length, file);
  else
    fputs("null", file);
  tg_text_destroy(&text);
}

static void write_key(struct tg_json_writer *w, const char *key) {
  if (w->comma)
    fputc(',', w->file);
  if (w->depth && !w->compact)
    fprintf(w->file, "\n%*s", 2 * w->depth, "");
  if (key) {
    write_string(w->file, key);
    fputs(": ", w->file);
  }
  w->comma = true;
}

void tg_json_begin(struct tg_json_writer *w, const char *key, char bracket) {
  write_key(w, key);
  fputc(bracket, w->file);
  w->depth++;
  w->comma = false;
}

void tg_json_end(struct tg_json_writer *w, char bracket) {
  w->depth--;
  if (w->comma && !w->compact)
    fprintf(w->file, "\n%*s", 2 * w->depth, "");
  fputc(bracket, w->file);
  w->comma = w->depth > 0; /* documents follow each other without a comma */
  if (w->depth == 0)
    fputc('\n', w->file);
}

void tg_json_put_number(struct tg_json_writer *w, const char *key,
                        double value) {
  write_key(w, key);
  if (isfinite(value))
    fprintf(w->file, "%.9g", value);
  else
    fputs("null", w->file);
}

void tg_json_put_text(struct tg_json_writer *w, const char *key,
                      const char *value) {
  write_key(w, key);
  write_string(w->file, value);
}

void tg_json_put_bool(struct tg_json_writer *w, const char *key, bool value) {
  write_key(w, key);
  fputs(value ? "true" : "false", w->file);
}
