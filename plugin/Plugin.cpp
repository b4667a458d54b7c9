// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// The entry point that `mlir-opt --load-pass-plugin=./libtgraph.so` looks for.
#include "plugin/Passes.h"

#include "mlir/Tools/Plugins/PassPlugin.h"
#include "llvm/Config/llvm-config.h"

#if LLVM_VERSION_MAJOR != 22
#error "TGraph is written for MLIR 22"
#endif

static void registerEverything() {
  tgraph::registerPasses();
  tgraph::registerCommandLineFlags();
}

extern "C" mlir::PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "tgraph", LLVM_VERSION_STRING,
          registerEverything};
}
