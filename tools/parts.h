/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Compiled functions, kept by content: programs that differ in a few kernels
 * share all others, so that another one costs what is new in it.
 */
#ifndef TGRAPH_TOOLS_PARTS_H
#define TGRAPH_TOOLS_PARTS_H

#include <stdbool.h>

#include "tools/compile.h"

struct tg_part {
  uint64_t hash;       /* of the function's text */
  unsigned char *data; /* an ELF object, malloc'ed */
  size_t nbytes;
};

/* Zero to start. Parts stay where they are until the end. */
struct tg_parts {
  struct tg_part **items;
  int count, capacity;
};

/* NULL: not there. */
const struct tg_part *tg_parts_find(const struct tg_parts *parts,
                                    uint64_t hash);
/* Takes the data over, even where it fails (NULL: out of memory). */
const struct tg_part *tg_parts_add(struct tg_parts *parts, uint64_t hash,
                                   unsigned char *data, size_t nbytes);
void tg_parts_destroy(struct tg_parts *parts);

/*
 * Compiles a module that tg_lower_to_buffers has lowered. Private functions
 * that refer to no symbol become parts, named after their content; those that
 * are not in `parts` are compiled and added. The object refers to all it needs.
 * What MLIR itself refuses is in its diagnostics, not in the error.
 */
enum tg_status tg_compile_in_parts(MlirOperation module,
                                   const struct tg_compile_options *options,
                                   struct tg_parts *parts,
                                   struct tg_object *object,
                                   struct tg_error *error);

#endif
