// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Remarks of the C passes, handed to MLIR's remark engine: category `tgraph`,
/// named after the pass. They are seen with
///   --remarks-filter-analyse=tgraph   why a choice was made
///   --remarks-filter-passed=tgraph    what was done
///   --remarks-filter-missed=tgraph    what was left alone, and why
///   --remarks-filter=tgraph           all of them
/// together with `--remark-format=emitRemark` (or yaml, for a file).
#include "plugin/Passes.h"

#include "mlir/CAPI/IR.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;

static void emitRemark(void *user, MlirLocation location, const char *kind,
                       const char *message) {
  auto options = remark::RemarkOpts::name(static_cast<const char *>(user))
                     .category("tgraph");
  Location loc = unwrap(location);
  StringRef kindName(kind);
  if (kindName == "passed")
    remark::passed(loc, options) << StringRef(message);
  else if (kindName == "missed")
    remark::missed(loc, options) << StringRef(message);
  else
    remark::analysis(loc, options) << StringRef(message);
}

tg_remark_sink tgraph::makeRemarkSink(const char *passName) {
  return {emitRemark, const_cast<char *>(passName)};
}
