/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Whole files: read into an arena, written so that a reader never sees half. */
#ifndef TGRAPH_MODEL_FILE_H
#define TGRAPH_MODEL_FILE_H

#include <stddef.h>

#include "model/arena.h"
#include "model/error.h"

/* The file's bytes and a NUL behind them (not counted). */
enum tg_status tg_file_read(const char *path, struct tg_arena *arena,
                            unsigned char **data, size_t *nbytes,
                            struct tg_error *error);
/* Writes to a new file beside `path`, then renames it over `path`; a device or
 * a pipe at `path` is written to as it is. */
enum tg_status tg_file_write(const char *path, const void *data, size_t nbytes,
                             struct tg_error *error);

#endif
