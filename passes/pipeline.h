/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A pipeline of registered passes, written as text, run on a module.
 */
#ifndef TGRAPH_PASSES_PIPELINE_H
#define TGRAPH_PASSES_PIPELINE_H

#include <mlir-c/IR.h>

/* Failure comes with a diagnostic: from the pass that failed, or one at the
 * module that names the pass that isn't registered. */
MlirLogicalResult tg_run_pipeline(MlirOperation module, const char *pipeline);

#endif
