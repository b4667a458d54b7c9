/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The tensors of a program that may be stored in another order of their
 * dimensions, and the operations that make and read them.
 */
#ifndef TGRAPH_PASSES_RELAYOUT_GRAPH_H
#define TGRAPH_PASSES_RELAYOUT_GRAPH_H

#include <mlir-c/IR.h>

#include "model/arena.h"
#include "model/nest.h"
#include "passes/stored.h"

enum tg_relayout_kind {
  TG_RELAYOUT_KERNEL,
  TG_RELAYOUT_NEST,
  TG_RELAYOUT_PAD /* one input, one result, dimension by dimension */
};

struct tg_relayout_node {
  MlirOperation op;
  enum tg_relayout_kind kind;
  struct tg_kernel *kernel; /* in the arena, or NULL */
  struct tg_nest *nest;     /* in the arena, or NULL */
  int input_count, operand_count;
  /* The tensor of each operand (of a result: that result), or -1. */
  int32_t tensor[TG_MAX_NEST_OPERANDS];
};

struct tg_relayout_tensor {
  MlirValue value;
  struct tg_stored other; /* rank 0: there is no other order */
  bool read_elsewhere;    /* as it is, by what is no node */
};

struct tg_relayout_graph {
  struct tg_relayout_node *nodes; /* in program order */
  size_t node_count, node_capacity;
  struct tg_relayout_tensor *tensors;
  size_t tensor_count, tensor_capacity;
  struct tg_arena *arena;
};

/* `overwrite`: choices that stand are no obstacle. False: out of memory. */
bool tg_relayout_graph_build(MlirOperation module, bool overwrite,
                             struct tg_arena *arena,
                             struct tg_relayout_graph *graph);

/* The tensor that the value is, or -1. */
int32_t tg_relayout_find(const struct tg_relayout_graph *graph,
                         MlirValue value);

#endif
