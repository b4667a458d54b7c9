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

static void emitRemark(void *user, MlirLocation location, tg_remark_kind kind,
                       const char *message) {
  auto options = remark::RemarkOpts::name(static_cast<const char *>(user))
                     .category("tgraph");
  Location loc = unwrap(location);
  StringRef text(message);
  switch (kind) {
  case TG_REMARK_ANALYSIS:
    remark::analysis(loc, options) << text;
    break;
  case TG_REMARK_PASSED:
    remark::passed(loc, options) << text;
    break;
  case TG_REMARK_MISSED:
    remark::missed(loc, options) << text;
    break;
  }
}

tg_remark_sink tgraph::makeRemarkSink(const char *passName) {
  return {emitRemark, const_cast<char *>(passName)};
}
