/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reading whole files, and replacing them in one step. */
#include "model/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
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
  *data = tg_arena_alloc_raw(arena, size + 1, 1);
  if (!*data) {
    fclose(file);
    return tg_fail_memory(error, path);
  }
  (*data)[size] = 0;
  *nbytes = fread(*data, 1, size, file);
  bool failed = ferror(file);
  fclose(file);
  if (failed || *nbytes != size)
    return tg_fail(error, "%s: read %zu of %zu bytes", path, *nbytes, size);
  return TG_OK;
}

/* 0 or the errno of the first thing that failed. */
static int tg_file_fill(int descriptor, const unsigned char *data,
                        size_t nbytes) {
  while (nbytes) {
    ssize_t written = write(descriptor, data, nbytes);
    if (written < 0 && errno != EINTR)
      return errno;
    if (written > 0) {
      data += written;
      nbytes -= (size_t)written;
    }
  }
  return 0;
}

/* A device or a pipe is written to, never replaced by a file. */
static int tg_file_write_special(const char *path, const void *data,
                                 size_t nbytes) {
  int descriptor = open(path, O_WRONLY | O_CLOEXEC);
  if (descriptor < 0)
    return errno;
  int fault = tg_file_fill(descriptor, data, nbytes);
  return close(descriptor) && !fault ? errno : fault;
}

/* Opens a new file beside `path`. The number tells threads apart, and steps
 * over what a killed process has left. */
static int tg_file_open_beside(const char *path, char *name,
                               size_t name_nbytes) {
  static atomic_uint number;
  for (int attempt = 0; attempt < 100; attempt++) {
    snprintf(name, name_nbytes, "%s.%ld.%u.tmp", path, (long)getpid(),
             atomic_fetch_add(&number, 1));
    int descriptor = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0 || errno != EEXIST)
      return descriptor;
  }
  return -1;
}

static int tg_file_replace(const char *path, char *temporary,
                           size_t temporary_nbytes, const void *data,
                           size_t nbytes) {
  int descriptor = tg_file_open_beside(path, temporary, temporary_nbytes);
  if (descriptor < 0)
    return errno;
  int fault = tg_file_fill(descriptor, data, nbytes);
  if (!fault && fsync(descriptor))
    fault = errno;
  if (close(descriptor) && !fault)
    fault = errno;
  if (!fault && rename(temporary, path))
    fault = errno;
  if (fault)
    unlink(temporary);
  return fault;
}

enum tg_status tg_file_write(const char *path, const void *data, size_t nbytes,
                             struct tg_error *error) {
  struct stat info;
  bool special = !stat(path, &info) && !S_ISREG(info.st_mode);
  size_t name_nbytes = strlen(path) + 48;
  char *name = malloc(name_nbytes);
  if (!name)
    return tg_fail_memory(error, path);
  int fault = special ? tg_file_write_special(path, data, nbytes)
                      : tg_file_replace(path, name, name_nbytes, data, nbytes);
  free(name);
  return fault ? tg_fail(error, "%s: can't write: %s", path, strerror(fault))
               : TG_OK;
}
