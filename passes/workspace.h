/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * One allocation for the buffers that a function makes and frees itself, each
 * in a place that is its own only while it is used. What is not used at the
 * same time shares its place, so that a call touches few pages; and as the
 * allocator gets one piece back, of the size that it gave, it can keep it for
 * the next call.
 */
#ifndef TGRAPH_PASSES_WORKSPACE_H
#define TGRAPH_PASSES_WORKSPACE_H

#include <mlir-c/IR.h>

#include "model/arena.h"

/* On a function: the bytes of that allocation, and the most of them that are
 * in use at a time. */
#define TG_WORKSPACE_ATTRIBUTE "tgraph.workspace_bytes"
#define TG_LIVE_ATTRIBUTE "tgraph.live_bytes"

/* For every function of the module, after bufferization and deallocation.
 * False: out of memory. */
bool tg_share_workspace(MlirOperation module, struct tg_arena *arena);

#endif
