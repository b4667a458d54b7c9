/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reading whole files, and replacing them in one step. */
#include "model/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum tg_status tg_file_read(const char *path, struct tg_arena *arena,
                            unsigned char **data, size_t *nbytes,
                            struct tg_error *error) {
  struct stat info;
  FILE *file = fopen(path, "re");
  if (!file)
    return tg_fail(error, "%s: %s", path, strerror(errno));
  if (fstat(fileno(file), &info) || !S_ISREG(info.st_mode)) {
    fclose(file);
    return tg_fail(error, "%s: not a regular file", path);
  }
  size_t size = (size_t)info.st_size;
  *data = tg_arena_alloc(arena, size + 1, 1);
  if (!*data) {
    fclose(file);
    tg_fail(error, "%s: out of memory (%zu bytes)", path, size);
    return TG_OUT_OF_MEMORY;
  }
  *nbytes = fread(*data, 1, size, file);
  bool failed = ferror(file);
  fclose(file);
  if (failed || *nbytes != size)
    return tg_fail(error, "%s: read %zu of %zu bytes", path, *nbytes, size);
  return TG_OK;
}

static bool tg_file_fill(const char *path, const void *data, size_t nbytes) {
  FILE *file = fopen(path, "wxe");
  if (!file)
    return false;
  bool good = fwrite(data, 1, nbytes, file) == nbytes;
  good = !fflush(file) && good;
  good = !fsync(fileno(file)) && good;
  return !fclose(file) && good;
}

enum tg_status tg_file_write(const char *path, const void *data, size_t nbytes,
                             struct tg_error *error) {
  size_t name_nbytes = strlen(path) + 32;
  char *name = malloc(name_nbytes);
  if (!name) {
    tg_fail(error, "%s: out of memory", path);
    return TG_OUT_OF_MEMORY;
  }
  snprintf(name, name_nbytes, "%s.%ld.tmp", path, (long)getpid());
  enum tg_status status = TG_OK;
  if (!tg_file_fill(name, data, nbytes) || rename(name, path)) {
    status = tg_fail(error, "%s: can't write: %s", path, strerror(errno));
    unlink(name);
  }
  free(name);
  return status;
}
