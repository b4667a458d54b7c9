/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A bump allocator: one arena per unit of work (a module, a file), freed or
 * reset at once. Memory is zeroed and aligned to TG_ARENA_ALIGN bytes.
 */
#ifndef TGRAPH_MODEL_ARENA_H
#define TGRAPH_MODEL_ARENA_H

#include <stddef.h>

enum { TG_ARENA_ALIGN = 64 };

struct tg_arena;

struct tg_arena *tg_arena_create(void);        /* NULL when out of memory */
void tg_arena_destroy(struct tg_arena *arena); /* NULL is allowed */
/* Forgets all allocations, keeps the blocks for the next unit of work. */
void tg_arena_reset(struct tg_arena *arena);
/* count * size bytes, zeroed; NULL on overflow or when out of memory. */
void *tg_arena_alloc(struct tg_arena *arena, size_t count, size_t size);
/* The same, not zeroed: for what is filled at once. */
void *tg_arena_alloc_raw(struct tg_arena *arena, size_t count, size_t size);
/*
 * Room for element number `count` of an array in the arena: the array itself
 * or, where *capacity is used up, a copy with room for twice as many. NULL when
 * out of memory; the array then is as it was.
 */
void *tg_arena_grow(struct tg_arena *arena, void *elements, size_t count,
                    size_t *capacity, size_t size);
/* A copy of the string in the arena. */
char *tg_arena_strdup(struct tg_arena *arena, const char *text);
size_t tg_arena_nbytes(const struct tg_arena *arena); /* handed out so far */

#endif
