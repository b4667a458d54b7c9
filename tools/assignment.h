/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What tgraph-select-layouts decides of a whole program, apart from the
 * program: the attributes of each operation, to be written onto a copy.
 */
#ifndef TGRAPH_TOOLS_ASSIGNMENT_H
#define TGRAPH_TOOLS_ASSIGNMENT_H

#include <mlir-c/IR.h>
#include <stdbool.h>

enum tg_assigned_attribute {
  TG_ASSIGNED_LAYOUTS, /* tgraph.layouts */
  TG_ASSIGNED_CONFIG,  /* tgraph.config */
  TG_ASSIGNED_COUNT
};
extern const char *const tg_assigned_names[TG_ASSIGNED_COUNT];

struct tg_assigned {
  int op; /* its number in a walk of the module, parents first */
  MlirAttribute attribute[TG_ASSIGNED_COUNT]; /* of the context, or null */
};
struct tg_assignment {
  int count;
  struct tg_assigned *items; /* malloc'ed, in the order of the walk */
};

/* Reads all attributes of the module. False: out of memory. */
bool tg_assignment_read(MlirOperation module, struct tg_assignment *assignment);
/* Adds an item; op must be larger than those before. */
bool tg_assignment_push(struct tg_assignment *assignment,
                        const struct tg_assigned *item);
/* Writes them onto a module of the same operations. */
void tg_assignment_write(MlirOperation module,
                         const struct tg_assignment *assignment);
void tg_assignment_destroy(struct tg_assignment *assignment);

#endif
