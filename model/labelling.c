/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The minimum cut: Dinic's algorithm on whole cycles, so that it ends. Label 1
 * is the sink's side.
 */
#include "model/labelling.h"

#include <math.h>
#include <string.h>

/* Edge e and its opposite e ^ 1. */
struct edge {
  int32_t to;
  int32_t next; /* of the same node; -1: the last */
  int64_t capacity;
};

struct cut {
  int32_t node_count, source, sink;
  int32_t *first, *current; /* (node_count) edges */
  int32_t *level;           /* (node_count) */
  int32_t *queue;           /* (node_count) nodes */
  int32_t *path;            /* (node_count) edges */
  struct edge *edges;
  int32_t edge_count;
};

static int64_t whole(double cycles) {
  return cycles < 4 * TG_LABEL_FORBIDDEN ? llround(cycles)
                                         : llround(4 * TG_LABEL_FORBIDDEN);
}

static void add_edge(struct cut *cut, int32_t from, int32_t to,
                     int64_t capacity) {
  const int32_t ends[2] = {from, to};
  for (int side = 0; side < 2; ++side) {
    struct edge *edge = &cut->edges[cut->edge_count];
    edge->to = ends[1 - side];
    edge->next = cut->first[ends[side]];
    edge->capacity = side ? 0 : capacity;
    cut->first[ends[side]] = cut->edge_count++;
  }
}

/* Levels from the source along edges with capacity left; is the sink there? */
static bool find_levels(struct cut *cut) {
  memset(cut->level, -1, (size_t)cut->node_count * sizeof(*cut->level));
  int32_t head = 0, tail = 0;
  cut->level[cut->source] = 0;
  cut->queue[tail++] = cut->source;
  while (head < tail) {
    int32_t node = cut->queue[head++];
    for (int32_t e = cut->first[node]; e >= 0; e = cut->edges[e].next) {
      int32_t to = cut->edges[e].to;
      if (cut->edges[e].capacity == 0 || cut->level[to] >= 0)
        continue;
      cut->level[to] = cut->level[node] + 1;
      cut->queue[tail++] = to;
    }
  }
  return cut->level[cut->sink] >= 0;
}

/* Lets as much as possible flow along the path of `length` edges. */
static void augment(struct cut *cut, int32_t length) {
  int64_t flow = INT64_MAX;
  for (int32_t i = 0; i < length; ++i)
    if (cut->edges[cut->path[i]].capacity < flow)
      flow = cut->edges[cut->path[i]].capacity;
  for (int32_t i = 0; i < length; ++i) {
    cut->edges[cut->path[i]].capacity -= flow;
    cut->edges[cut->path[i] ^ 1].capacity += flow;
  }
}

/* All that can flow from level to level. No recursion: paths are as long as
 * the program is deep. */
static void block_flow(struct cut *cut) {
  memcpy(cut->current, cut->first,
         (size_t)cut->node_count * sizeof(*cut->first));
  int32_t length = 0, node = cut->source;
  for (;;) {
    int32_t e = cut->current[node];
    if (node == cut->sink) {
      augment(cut, length);
      length = 0;
      node = cut->source;
    } else if (e < 0) {
      if (node == cut->source)
        return;
      cut->level[node] = -1; /* nothing gets on from here */
      --length;
      node = cut->edges[cut->path[length] ^ 1].to;
      cut->current[node] = cut->edges[cut->current[node]].next;
    } else if (cut->edges[e].capacity > 0 &&
               cut->level[cut->edges[e].to] == cut->level[node] + 1) {
      cut->path[length++] = e;
      node = cut->edges[e].to;
    } else {
      cut->current[node] = cut->edges[e].next;
    }
  }
}

/* Label 1: what still reaches the sink. */
static void read_labels(struct cut *cut, int32_t count, uint8_t *label) {
  memset(label, 0, (size_t)count);
  int32_t head = 0, tail = 0;
  cut->queue[tail++] = cut->sink;
  while (head < tail) {
    int32_t node = cut->queue[head++];
    for (int32_t e = cut->first[node]; e >= 0; e = cut->edges[e].next) {
      int32_t from = cut->edges[e].to;
      if (cut->edges[e ^ 1].capacity == 0 || from >= count || label[from])
        continue;
      label[from] = 1;
      cut->queue[tail++] = from;
    }
  }
}

static bool allocate(struct cut *cut, int32_t count, size_t pair_count,
                     struct tg_arena *arena) {
  size_t nodes = (size_t)count + 2, edges = 2 * (nodes + pair_count);
  cut->node_count = (int32_t)nodes;
  cut->source = count;
  cut->sink = count + 1;
  int32_t **const tables[] = {&cut->first, &cut->current, &cut->level,
                              &cut->queue, &cut->path};
  for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); ++i) {
    *tables[i] = tg_arena_alloc(arena, nodes, sizeof(int32_t));
    if (!*tables[i])
      return false;
  }
  cut->edges = tg_arena_alloc(arena, edges, sizeof(*cut->edges));
  return cut->edges && edges < INT32_MAX;
}

bool tg_label(int32_t count, const double *cost, size_t pair_count,
              const struct tg_label_pair *pairs, struct tg_arena *arena,
              uint8_t *label) {
  struct cut cut = {0};
  int64_t *more = tg_arena_alloc(arena, (size_t)count + 1, sizeof(*more));
  if (!more || !allocate(&cut, count, pair_count, arena))
    return false;
  memset(cut.first, -1, (size_t)cut.node_count * sizeof(*cut.first));
  for (int32_t v = 0; v < count; ++v)
    more[v] = whole(cost[2 * v + 1]) - whole(cost[2 * v]);
  for (size_t i = 0; i < pair_count; ++i) {
    const struct tg_label_pair *pair = &pairs[i];
    int64_t c00 = whole(pair->cost[0][0]), c01 = whole(pair->cost[0][1]);
    int64_t c10 = whole(pair->cost[1][0]), c11 = whole(pair->cost[1][1]);
    int64_t between = c01 + c10 - c00 - c11;
    int64_t charge = between < 0 ? (1 - between) / 2 : 0;
    more[pair->a] += c10 + charge - c00;
    more[pair->b] += c11 - c10 - charge;
    add_edge(&cut, pair->a, pair->b, between + 2 * charge);
  }
  for (int32_t v = 0; v < count; ++v)
    if (more[v] > 0)
      add_edge(&cut, cut.source, v, more[v]);
    else
      add_edge(&cut, v, cut.sink, -more[v]);
  while (find_levels(&cut))
    block_flow(&cut);
  read_labels(&cut, count, label);
  return true;
}

double tg_label_cost(int32_t count, const double *cost, size_t pair_count,
                     const struct tg_label_pair *pairs, const uint8_t *label) {
  double sum = 0;
  for (int32_t v = 0; v < count; ++v)
    sum += cost[2 * v + label[v]];
  for (size_t i = 0; i < pair_count; ++i)
    sum += pairs[i].cost[label[pairs[i].a]][label[pairs[i].b]];
  return sum;
}
