// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// The passes of passes/passes.h as MLIR passes.
#ifndef TGRAPH_PLUGIN_PASSES_H
#define TGRAPH_PLUGIN_PASSES_H

#include "passes/passes.h"

#include "llvm/ADT/StringRef.h"

namespace tgraph {

/// Registers the passes and the pipeline with MLIR. Does nothing when they are
/// registered already, be it by this library or by another copy of it.
void registerPasses();

/// Makes the passes known as flags (`--tgraph-select-layouts`) of the program
/// that is reading its command line. Does nothing where that isn't possible;
/// `--pass-pipeline` works in any case.
void registerCommandLineFlags();

/// A sink into MLIR's remark engine: category "tgraph", the name is the pass's.
/// `passName` must outlive the sink.
struct tg_remark_sink makeRemarkSink(const char *passName);

/// Every pass and pipeline, in the order of `--help`.
extern const char *const entryNames[];
extern const unsigned entryCount;

} // namespace tgraph

#endif // TGRAPH_PLUGIN_PASSES_H
