// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// mlir-opt collects its pass flags before it loads plugins, so a plugin's pass
/// is known to `--pass-pipeline` but not as `--name`. The option that holds the
/// flags can still take further ones while the command line is being read: it
/// is found through a flag that every MLIR program has, `--canonicalize`.
///
/// Its type is private to MLIR (mlir/lib/Pass/PassRegistry.cpp); the types here
/// have the same members in the same order. That is checked as far as it can
/// be: the libraries in this process are of the very version this was compiled
/// for, and the entry for `canonicalize`, read through these types, is the one
/// in MLIR's registry. If anything differs no flag is added.
#include "plugin/Passes.h"

#include "mlir/Pass/PassRegistry.h"
#include "llvm-c/Core.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CommandLine.h"

using namespace mlir;

namespace {
struct FlagValue {
  FlagValue() = default;
  FlagValue(const PassRegistryEntry *entry) : entry(entry) {}
  const PassRegistryEntry *entry = nullptr;
  StringRef options;
};
} // namespace

template <>
struct llvm::cl::OptionValue<FlagValue> final
    : llvm::cl::OptionValueBase<FlagValue, /*isClass=*/true> {
  OptionValue() = default;
  OptionValue(const FlagValue &value) : value(value) {}
  void anchor() override {}
  bool hasValue() const { return true; }
  const FlagValue &getValue() const { return value; }
  void setValue(const FlagValue &newValue) { value = newValue; }
  FlagValue value;
};

namespace {
/// The parser of MLIR's option. Objects of it are never made here, so its own
/// functions are never called.
struct FlagParser : llvm::cl::parser<FlagValue> {
  using llvm::cl::parser<FlagValue>::parser;
  void initialize() {}
  bool passNamesOnly = false;

  const PassRegistryEntry *getEntry(unsigned position) const {
    return Values[position].V.getValue().entry;
  }
};
using FlagList = llvm::cl::list<FlagValue, bool, FlagParser>;

constexpr StringRef knownPass = "canonicalize";
} // namespace

static const PassRegistryEntry *lookup(StringRef name) {
  if (const PassRegistryEntry *pipeline = PassPipelineInfo::lookup(name))
    return pipeline;
  return PassInfo::lookup(name);
}

static bool isLibraryOfThisBuild() {
  unsigned major = 0, minor = 0, patch = 0;
  LLVMGetVersion(&major, &minor, &patch);
  return major == LLVM_VERSION_MAJOR && minor == LLVM_VERSION_MINOR;
}

/// Adds our flags to the option, if it is the one it is taken for.
static void extend(llvm::cl::Option *option, bool namesOnly) {
  FlagParser &parser = static_cast<FlagList *>(option)->getParser();
  unsigned known = parser.findOption(knownPass);
  if (known == parser.getNumOptions() ||
      parser.getEntry(known) != PassInfo::lookup(knownPass) ||
      parser.passNamesOnly != namesOnly)
    return;
  for (unsigned i = 0; i < tgraph::entryCount; ++i) {
    const PassRegistryEntry *entry = lookup(tgraph::entryNames[i]);
    if (!entry || (namesOnly && !PassInfo::lookup(tgraph::entryNames[i])))
      continue;
    StringRef name = entry->getPassArgument();
    if (parser.findOption(name) == parser.getNumOptions())
      parser.addLiteralOption(name, entry, entry->getPassDescription());
  }
}

void tgraph::registerCommandLineFlags() {
  if (!isLibraryOfThisBuild() || !PassInfo::lookup(knownPass))
    return;
  auto &options = llvm::cl::getRegisteredOptions();
  // The flags themselves: an option without a name of its own.
  auto flags = options.find(knownPass);
  if (flags != options.end() && !flags->second->hasArgStr())
    extend(flags->second, /*namesOnly=*/false);
  // --mlir-print-ir-before=PASS and its like hold lists of the same type.
  for (const char *name : {"mlir-print-ir-before", "mlir-print-ir-after"}) {
    auto printing = options.find(name);
    if (printing != options.end() && printing->second->ArgStr == name)
      extend(printing->second, /*namesOnly=*/true);
  }
}
