/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the files of the .npz reader share; nobody else includes it. */
#ifndef TGRAPH_MODEL_NPZ_INTERNAL_H
#define TGRAPH_MODEL_NPZ_INTERNAL_H

#include "model/npz.h"

/* Reads the header of an .npy in memory into everything of `array` but its
 * name, which is given. Data of column-major order is rearranged. */
enum tg_status tg_npy_parse(const char *path, const unsigned char *data,
                            size_t nbytes, struct tg_arena *arena,
                            struct tg_npz_array *array, struct tg_error *error);

enum tg_status tg_npz_no_memory(const char *path, const char *what,
                                struct tg_error *error);

#endif
