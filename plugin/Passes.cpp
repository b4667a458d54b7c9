// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// The passes, their options (from passes/options.def) and the pipeline.
#include "plugin/Passes.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/DLTI/DLTI.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/X86Vector/X86VectorDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

namespace {

/// What the pass functions create operations of.
void insertDialects(DialectRegistry &registry) {
#define DIALECT(name, type) registry.insert<type>();
#include "passes/dialects.def"
}

/// One line that names the pass, the cause and what would be right, from what
/// MLIR's parser of options says. Where it says nothing, it has written its
/// own line about a value.
std::string explainOptionError(StringRef pass, StringRef message,
                               StringRef known) {
  message = message.trim();
  message.consume_front("<Pass-Options-Parser>: ");
  if (message.empty())
    message = "the value of an option could not be read";
  std::string line = (pass + ": " + message).str();
  if (known.empty())
    return line + " (the pass has no options)";
  return line + " (options: " + known.rtrim().str() + ")";
}

/// A pass on builtin.module around a C function. Derived gives `argument`,
/// `description` and `run`, and `optionNames` where it has options.
template <typename Derived>
struct ModulePass : PassWrapper<Derived, OperationPass<ModuleOp>> {
  static constexpr const char *optionNames = "";

  ModulePass() = default;
  ModulePass(const ModulePass &other)
      : PassWrapper<Derived, OperationPass<ModuleOp>>(other) {}

  StringRef getArgument() const final { return Derived::argument; }
  StringRef getDescription() const final { return Derived::description; }
  /// What error messages of the pass manager call the pass.
  StringRef getName() const final { return Derived::argument; }
  void getDependentDialects(DialectRegistry &registry) const final {
    insertDialects(registry);
  }

  LogicalResult initializeOptions(
      StringRef options,
      function_ref<LogicalResult(const Twine &)> errorHandler) final {
    return Pass::initializeOptions(options, [&](const Twine &message) {
      return errorHandler(explainOptionError(Derived::argument, message.str(),
                                             Derived::optionNames));
    });
  }

  void runOnOperation() final {
    tg_remark_sink remarks = tgraph::makeRemarkSink(Derived::argument);
    MlirOperation module = wrap(this->getOperation().getOperation());
    if (mlirLogicalResultIsFailure(
            static_cast<Derived *>(this)->run(module, &remarks)))
      this->signalPassFailure();
  }
};

const char *toC(const std::string &value) { return value.c_str(); }
int64_t toC(int64_t value) { return value; }
bool toC(bool value) { return value; }

#define OPTION_STRING std::string
#define OPTION_INTEGER int64_t
#define OPTION_FLAG bool

struct SelectLayouts : ModulePass<SelectLayouts> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SelectLayouts)
  static constexpr const char *argument = "tgraph-select-layouts";
  static constexpr const char *description =
      "Choose layouts, tiling and loop order of tensor operations with the "
      "TGraph model, and write the choices as tgraph.config attributes";

  static constexpr const char *optionNames =
#define OPTION(type, name, flag, default_value, doc) flag " "
#include "passes/options.def"
      ;

  SelectLayouts() = default;
  SelectLayouts(const SelectLayouts &other) : ModulePass(other) {}

#define OPTION(type, name, flag, default_value, doc)                           \
  Option<OPTION_##type> name{*this, flag, llvm::cl::desc(doc),                 \
                             llvm::cl::init(OPTION_##type(default_value))};
#include "passes/options.def"

  MlirLogicalResult run(MlirOperation module, const tg_remark_sink *remarks) {
    tg_select_options options = tg_select_options_default();
#define OPTION(type, name, flag, default_value, doc)                           \
  options.name = toC(name.getValue());
#include "passes/options.def"
    return tg_select_layouts(module, &options, remarks);
  }
};

struct ApplyLayouts : ModulePass<ApplyLayouts> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ApplyLayouts)
  static constexpr const char *argument = "tgraph-apply-layouts";
  static constexpr const char *description =
      "Carry out the choices in the tgraph.config attributes: pack, tile, fuse "
      "and vectorise";

  MlirLogicalResult run(MlirOperation module, const tg_remark_sink *remarks) {
    return tg_apply_layouts(module, remarks);
  }
};

struct Lower : ModulePass<Lower> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Lower)
  static constexpr const char *argument = "tgraph-lower";
  static constexpr const char *description =
      "Lower a program on tensors to the LLVM dialect";

  MlirLogicalResult run(MlirOperation module, const tg_remark_sink *remarks) {
    return tg_lower(module, remarks);
  }
};

struct Strip : ModulePass<Strip> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Strip)
  static constexpr const char *argument = "tgraph-strip";
  static constexpr const char *description =
      "Remove every tgraph.* attribute; transform scripts are left alone";

  MlirLogicalResult run(MlirOperation module, const tg_remark_sink *remarks) {
    return tg_strip(module, remarks);
  }
};

constexpr const char *cpuPipeline = "tgraph-cpu";

/// The options of `tgraph-cpu` are those of its first pass, which reads them;
/// this is their description for `--help`.
struct CpuOptions : PassPipelineOptions<CpuOptions> {
#define OPTION(type, name, flag, default_value, doc)                           \
  Option<OPTION_##type> name{*this, flag, llvm::cl::desc(doc),                 \
                             llvm::cl::init(OPTION_##type(default_value))};
#include "passes/options.def"
};

LogicalResult
buildCpuPipeline(OpPassManager &manager, StringRef options,
                 function_ref<LogicalResult(const Twine &)> errorHandler) {
  auto select = std::make_unique<SelectLayouts>();
  if (failed(select->initializeOptions(options, errorHandler)))
    return failure();
  manager.addPass(std::move(select));
  manager.addPass(std::make_unique<ApplyLayouts>());
  manager.addPass(std::make_unique<Lower>());
  return success();
}

} // namespace

const char *const tgraph::entryNames[] = {
    SelectLayouts::argument, ApplyLayouts::argument, Lower::argument,
    Strip::argument, cpuPipeline};
const unsigned tgraph::entryCount =
    sizeof(tgraph::entryNames) / sizeof(tgraph::entryNames[0]);

void tgraph::registerPasses() {
  if (PassInfo::lookup(SelectLayouts::argument))
    return;
  PassRegistration<SelectLayouts>();
  PassRegistration<ApplyLayouts>();
  PassRegistration<Lower>();
  PassRegistration<Strip>();
  registerPassPipeline(
      cpuPipeline,
      "Machine code for a CPU: tgraph-select-layouts, tgraph-apply-layouts, "
      "tgraph-lower",
      buildCpuPipeline,
      [](function_ref<void(const detail::PassOptions &)> describe) {
        describe(CpuOptions());
      });
}
