/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A hash map from the address of an MLIR object to a number.
 */
#ifndef TGRAPH_PASSES_POINTER_MAP_H
#define TGRAPH_PASSES_POINTER_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/arena.h"

struct tg_pointer_map {
  struct tg_arena *arena; /* where the table lives */
  const void **keys;      /* (capacity), NULL = free */
  int32_t *values;        /* (capacity) */
  size_t capacity;        /* a power of two, or 0 */
  size_t count;
};

/* Adds the key or replaces its value; false: out of memory. */
bool tg_pointer_map_set(struct tg_pointer_map *map, const void *key,
                        int32_t value);
/* -1 where the key is not in the map. */
int32_t tg_pointer_map_get(const struct tg_pointer_map *map, const void *key);

#endif
