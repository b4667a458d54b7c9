/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Placement by size.
 */
#include "model/placement.h"

#include <stdlib.h>
#include <string.h>

static int compare_sizes(const void *a, const void *b) {
  const struct tg_buffer *x = *(struct tg_buffer *const *)a;
  const struct tg_buffer *y = *(struct tg_buffer *const *)b;
  if (x->nbytes != y->nbytes)
    return (x->nbytes < y->nbytes) - (x->nbytes > y->nbytes);
  if (x->first != y->first)
    return (x->first > y->first) - (x->first < y->first);
  return (x > y) - (x < y);
}

static int64_t round_up(int64_t value, int64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

/* The start of the smallest gap that holds the buffer. placed: by offset. */
static int64_t find_gap(const struct tg_buffer *buffer, size_t count,
                        struct tg_buffer *const *placed, int64_t alignment) {
  int64_t end = 0, best = -1, best_nbytes = INT64_MAX;
  for (size_t i = 0; i < count; ++i) {
    const struct tg_buffer *other = placed[i];
    if (other->last < buffer->first || buffer->last < other->first)
      continue;
    int64_t gap = other->offset - end;
    if (gap >= buffer->nbytes && gap < best_nbytes) {
      best = end;
      best_nbytes = gap;
    }
    int64_t behind = round_up(other->offset + other->nbytes, alignment);
    end = behind > end ? behind : end;
  }
  return best >= 0 ? best : end;
}

int64_t tg_place_buffers(size_t count, struct tg_buffer *buffers,
                         int64_t alignment, struct tg_arena *arena) {
  struct tg_buffer **by_size =
      tg_arena_alloc(arena, count + 1, sizeof(struct tg_buffer *));
  struct tg_buffer **placed =
      tg_arena_alloc(arena, count + 1, sizeof(struct tg_buffer *));
  if (!by_size || !placed)
    return -1;
  for (size_t i = 0; i < count; ++i)
    by_size[i] = &buffers[i];
  if (count)
    qsort(by_size, count, sizeof(struct tg_buffer *), compare_sizes);
  int64_t total = 0;
  for (size_t i = 0; i < count; ++i) {
    struct tg_buffer *buffer = by_size[i];
    buffer->offset = find_gap(buffer, i, placed, alignment);
    size_t at = i;
    for (; at > 0 && placed[at - 1]->offset > buffer->offset; --at)
      placed[at] = placed[at - 1];
    placed[at] = buffer;
    if (buffer->offset + buffer->nbytes > total)
      total = buffer->offset + buffer->nbytes;
  }
  return total;
}

/* Begins and ends of lifetimes: what is in use changes only there. */
struct event {
  int64_t step, change;
};

/* An end is an event of the step behind it, and in a step ends come first. */
static int compare_events(const void *a, const void *b) {
  const struct event *x = a, *y = b;
  if (x->step != y->step)
    return (x->step > y->step) - (x->step < y->step);
  return (x->change > y->change) - (x->change < y->change);
}

int64_t tg_live_nbytes(size_t count, const struct tg_buffer *buffers,
                       struct tg_arena *arena) {
  struct event *events = tg_arena_alloc(arena, 2 * count + 1, sizeof(*events));
  if (!events)
    return -1;
  for (size_t i = 0; i < count; ++i) {
    events[2 * i] = (struct event){buffers[i].first, buffers[i].nbytes};
    events[2 * i + 1] = (struct event){buffers[i].last + 1, -buffers[i].nbytes};
  }
  if (count)
    qsort(events, 2 * count, sizeof(*events), compare_events);
  int64_t live = 0, most = 0;
  for (size_t i = 0; i < 2 * count; ++i) {
    live += events[i].change;
    most = live > most ? live : most;
  }
  return most;
}
