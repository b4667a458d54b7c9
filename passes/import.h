/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * MLIR to graph. Nodes stand in program order, so that whatever a node
 * consumes stands before it:
 * - the arguments of a function, then its operations; a function a split;
 * - an operation with regions after what its regions hold, and it consumes
 *   their terminators; the arguments of their blocks are parameters;
 * - a linalg or tensor operation is one node, its body is not entered, but it
 *   consumes the values that its body captures.
 * An operation that the tables don't know is a node with code 0.
 */
#ifndef TGRAPH_PASSES_IMPORT_H
#define TGRAPH_PASSES_IMPORT_H

#include <mlir-c/IR.h>
#include <stdbool.h>
#include <stdint.h>

#include "model/graph.h"
#include "model/node.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tg_import {
  struct tg_graph graph;
  MlirOperation *node_op; /* (node_count); null for an argument */
};

/*
 * root: a builtin.module (every func.func directly in it, but not what nested
 * modules and transform sequences hold) or a func.func. All arrays live in the
 * arena. False: out of memory, or more nodes or edges than 2^31.
 */
bool tg_import(MlirOperation root, struct tg_arena *arena,
               struct tg_import *import);

/* The node of the operation; -1 where it has none. */
int64_t tg_import_find(const struct tg_import *import, MlirOperation op);

/* The operation alone with its operands as parameters (the graph of its
 * kernel). False: not an operation that we configure, or out of memory. */
bool tg_import_kernel(MlirOperation op, struct tg_arena *arena,
                      struct tg_graph *graph);

/* The code of the operation: the row of ops.def, else what its body says. */
enum tg_opcode tg_opcode_of_op(MlirOperation op);

/* What is known of the operation's result; is_root is left to the caller. */
void tg_node_facts_from_op(MlirOperation op, enum tg_opcode opcode,
                           struct tg_node_facts *node);
void tg_node_facts_from_argument(MlirValue argument,
                                 struct tg_node_facts *node);

/* May the import enter the operation's regions? */
bool tg_op_is_opaque_body(MlirOperation op);

#ifdef __cplusplus
}
#endif
#endif
