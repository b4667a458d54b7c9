/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A hash map from the address of an MLIR object to a number: open addressing,
 * linear probing, at most half full, nothing is ever removed.
 */
#include "passes/pointer_map.h"

/* Where the key is, or the free place where it would go. */
static size_t find_slot(const struct tg_pointer_map *map, const void *key) {
  uint64_t hash = (uint64_t)(uintptr_t)key * UINT64_C(0x9e3779b97f4a7c15);
  size_t slot = (size_t)(hash >> 20) & (map->capacity - 1);
  while (map->keys[slot] && map->keys[slot] != key)
    slot = (slot + 1) & (map->capacity - 1);
  return slot;
}

static bool grow(struct tg_pointer_map *map) {
  struct tg_pointer_map larger = *map;
  larger.capacity = map->capacity ? 2 * map->capacity : 256;
  larger.keys = tg_arena_alloc(map->arena, larger.capacity, sizeof(void *));
  larger.values = tg_arena_alloc(map->arena, larger.capacity, sizeof(int32_t));
  if (!larger.keys || !larger.values)
    return false;
  for (size_t i = 0; i < map->capacity; ++i) {
    if (!map->keys[i])
      continue;
    size_t slot = find_slot(&larger, map->keys[i]);
    larger.keys[slot] = map->keys[i];
    larger.values[slot] = map->values[i];
  }
  *map = larger;
  return true;
}

bool tg_pointer_map_set(struct tg_pointer_map *map, const void *key,
                        int32_t value) {
  if (2 * (map->count + 1) > map->capacity && !grow(map))
    return false;
  size_t slot = find_slot(map, key);
  map->count += map->keys[slot] == NULL;
  map->keys[slot] = key;
  map->values[slot] = value;
  return true;
}

int32_t tg_pointer_map_get(const struct tg_pointer_map *map, const void *key) {
  if (map->capacity == 0)
    return -1;
  size_t slot = find_slot(map, key);
  return map->keys[slot] ? map->values[slot] : -1;
}
