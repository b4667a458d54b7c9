/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A chain of blocks, the newest first. A reset keeps the blocks and walks them
 * again from the oldest, so a second unit of work of the same size reaches
 * malloc never.
 */
#include "model/arena.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { TG_ARENA_BLOCK_NBYTES = 1 << 18, TG_ARENA_LARGE_PAGE = 1 << 21 };

struct tg_arena_block {
  struct tg_arena_block *next; /* filled after this one */
  size_t nbytes;               /* of `data` */
  size_t used_nbytes;
  unsigned char *data;
};

struct tg_arena {
  struct tg_arena_block *first;
  struct tg_arena_block *current;
  size_t nbytes;
};

static size_t tg_arena_round_up(size_t nbytes) {
  return (nbytes + TG_ARENA_ALIGN - 1) / TG_ARENA_ALIGN * TG_ARENA_ALIGN;
}

/* A large block is touched once from end to end: on large pages that takes a
 * fraction of the page faults. */
static unsigned char *tg_arena_block_data(size_t nbytes) {
  void *data = NULL;
  bool large = nbytes >= 2 * (size_t)TG_ARENA_LARGE_PAGE;
  if (posix_memalign(&data, large ? TG_ARENA_LARGE_PAGE : TG_ARENA_ALIGN,
                     nbytes))
    return NULL;
  if (large) /* where that is refused, small pages do */
    (void)madvise(data, nbytes, MADV_HUGEPAGE);
  return data;
}

static struct tg_arena_block *tg_arena_block_create(size_t nbytes) {
  struct tg_arena_block *block = malloc(sizeof *block);
  if (!block)
    return NULL;
  block->data = tg_arena_block_data(nbytes);
  if (!block->data) {
    free(block);
    return NULL;
  }
  block->next = NULL;
  block->nbytes = nbytes;
  block->used_nbytes = 0;
  return block;
}

struct tg_arena *tg_arena_create(void) {
  struct tg_arena *arena = calloc(1, sizeof *arena);
  if (!arena)
    return NULL;
  arena->first = arena->current = tg_arena_block_create(TG_ARENA_BLOCK_NBYTES);
  if (!arena->first) {
    free(arena);
    return NULL;
  }
  return arena;
}

void tg_arena_destroy(struct tg_arena *arena) {
  if (!arena)
    return;
  for (struct tg_arena_block *block = arena->first, *next; block;
       block = next) {
    next = block->next;
    free(block->data);
    free(block);
  }
  free(arena);
}

void tg_arena_reset(struct tg_arena *arena) {
  for (struct tg_arena_block *block = arena->first; block; block = block->next)
    block->used_nbytes = 0;
  arena->current = arena->first;
  arena->nbytes = 0;
}

/* Makes `current` a block with room: a kept one, or a new one behind it. */
static struct tg_arena_block *tg_arena_find_room(struct tg_arena *arena,
                                                 size_t nbytes) {
  struct tg_arena_block *block = arena->current;
  while (block->nbytes - block->used_nbytes < nbytes) {
    if (!block->next) {
      size_t wanted =
          nbytes > TG_ARENA_BLOCK_NBYTES ? nbytes : TG_ARENA_BLOCK_NBYTES;
      block->next = tg_arena_block_create(wanted);
      if (!block->next)
        return NULL;
    }
    block = block->next;
    arena->current = block;
  }
  return block;
}

void *tg_arena_alloc_raw(struct tg_arena *arena, size_t count, size_t size) {
  if (size && count > (SIZE_MAX / 2) / size)
    return NULL;
  size_t nbytes = tg_arena_round_up(count && size ? count * size : 1);
  struct tg_arena_block *block = tg_arena_find_room(arena, nbytes);
  if (!block)
    return NULL;
  void *memory = block->data + block->used_nbytes;
  block->used_nbytes += nbytes;
  arena->nbytes += nbytes;
  return memory;
}

void *tg_arena_alloc(struct tg_arena *arena, size_t count, size_t size) {
  void *memory = tg_arena_alloc_raw(arena, count, size);
  if (memory)
    memset(memory, 0, count && size ? count * size : 1);
  return memory;
}

void *tg_arena_grow(struct tg_arena *arena, void *elements, size_t count,
                    size_t *capacity, size_t size) {
  if (count < *capacity)
    return elements;
  size_t larger = *capacity ? 2 * *capacity : 32;
  void *moved = tg_arena_alloc(arena, larger, size);
  if (!moved)
    return NULL;
  if (count)
    memcpy(moved, elements, count * size);
  *capacity = larger;
  return moved;
}

char *tg_arena_strdup(struct tg_arena *arena, const char *text) {
  size_t nbytes = strlen(text) + 1;
  char *copy = tg_arena_alloc(arena, nbytes, 1);
  return copy ? memcpy(copy, text, nbytes) : NULL;
}

size_t tg_arena_nbytes(const struct tg_arena *arena) { return arena->nbytes; }
