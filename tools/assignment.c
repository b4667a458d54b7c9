/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "tools/assignment.h"

#include <stdlib.h>
#include <string.h>

#include "passes/attribute.h"
#include "passes/inspect.h"
#include "passes/stored.h"

const char *const tg_assigned_names[TG_ASSIGNED_COUNT] = {TG_LAYOUTS_ATTRIBUTE,
                                                          TG_CONFIG_ATTRIBUTE};

struct walk {
  int op, at; /* the next operation's number; the next item */
  struct tg_assignment *read;
  const struct tg_assignment *write;
  bool failed;
};

bool tg_assignment_push(struct tg_assignment *assignment,
                        const struct tg_assigned *item) {
  struct tg_assigned *grown = assignment->items;
  /* a power of two is full */
  if ((assignment->count & (assignment->count - 1)) == 0)
    grown = realloc(assignment->items,
                    sizeof *grown * 2 * ((size_t)assignment->count + 1));
  if (!grown)
    return false;
  grown[assignment->count++] = *item;
  assignment->items = grown;
  return true;
}

static MlirWalkResult read_op(MlirOperation op, void *user) {
  struct walk *walk = user;
  struct tg_assigned item = {walk->op++, {{NULL}, {NULL}}};
  bool any = false;
  for (int a = 0; a < TG_ASSIGNED_COUNT; a++) {
    item.attribute[a] = mlirOperationGetDiscardableAttributeByName(
        op, tg_ref(tg_assigned_names[a]));
    any |= !mlirAttributeIsNull(item.attribute[a]);
  }
  if (any && !tg_assignment_push(walk->read, &item))
    walk->failed = true;
  return walk->failed ? MlirWalkResultInterrupt : MlirWalkResultAdvance;
}

bool tg_assignment_read(MlirOperation module,
                        struct tg_assignment *assignment) {
  struct walk walk = {.read = assignment};
  memset(assignment, 0, sizeof *assignment);
  mlirOperationWalk(module, read_op, &walk, MlirWalkPreOrder);
  if (walk.failed)
    tg_assignment_destroy(assignment);
  return !walk.failed;
}

static MlirWalkResult write_op(MlirOperation op, void *user) {
  struct walk *walk = user;
  int number = walk->op++;
  if (walk->at == walk->write->count)
    return MlirWalkResultInterrupt;
  const struct tg_assigned *item = &walk->write->items[walk->at];
  if (item->op != number)
    return MlirWalkResultAdvance;
  walk->at++;
  for (int a = 0; a < TG_ASSIGNED_COUNT; a++)
    if (!mlirAttributeIsNull(item->attribute[a]))
      mlirOperationSetDiscardableAttributeByName(
          op, tg_ref(tg_assigned_names[a]), item->attribute[a]);
  return MlirWalkResultAdvance;
}

void tg_assignment_write(MlirOperation module,
                         const struct tg_assignment *assignment) {
  struct walk walk = {.write = assignment};
  mlirOperationWalk(module, write_op, &walk, MlirWalkPreOrder);
}

void tg_assignment_destroy(struct tg_assignment *assignment) {
  free(assignment->items);
  memset(assignment, 0, sizeof *assignment);
}
