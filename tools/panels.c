/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Panels belong to the object that they were made in. When they are made anew,
 * the old ones are freed first: each once, since results of one function may
 * share memory, and none that is a constant of the program.
 */
#include "tools/panels.h"

#include <llvm-c/Core.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/Linker.h>
#include <string.h>

/* A descriptor's first field is what was allocated; for memory that nobody
 * allocated MLIR puts 0xdeadbeef there. What comes again later is freed
 * then. */
static const char release_text[] =
    "declare void @free(ptr)\n"
    "define void @tg_release(ptr %panels, i64 %count) {\n"
    "entry:\n"
    "  br label %next\n"
    "next:\n"
    "  %i = phi i64 [ 0, %entry ], [ %after, %done ]\n"
    "  %more = icmp ult i64 %i, %count\n"
    "  br i1 %more, label %load, label %end\n"
    "load:\n"
    "  %place = getelementptr ptr, ptr %panels, i64 %i\n"
    "  %panel = load ptr, ptr %place\n"
    "  %memory = load ptr, ptr %panel\n"
    "  %after = add i64 %i, 1\n"
    "  br label %compare\n"
    "compare:\n"
    "  %k = phi i64 [ %after, %load ], [ %k1, %other ]\n"
    "  %last = icmp uge i64 %k, %count\n"
    "  br i1 %last, label %check, label %other\n"
    "other:\n"
    "  %other.place = getelementptr ptr, ptr %panels, i64 %k\n"
    "  %other.panel = load ptr, ptr %other.place\n"
    "  %other.memory = load ptr, ptr %other.panel\n"
    "  %same = icmp eq ptr %other.memory, %memory\n"
    "  %k1 = add i64 %k, 1\n"
    "  br i1 %same, label %done, label %compare\n"
    "check:\n"
    "  %number = ptrtoint ptr %memory to i64\n"
    "  %constant = icmp eq i64 %number, 3735928559\n"
    "  br i1 %constant, label %done, label %free\n"
    "free:\n"
    "  call void @free(ptr %memory)\n"
    "  br label %done\n"
    "done:\n"
    "  br label %next\n"
    "end:\n"
    "  ret void\n"
    "}\n";

static enum tg_status link_release(LLVMModuleRef module,
                                   struct tg_error *error) {
  LLVMMemoryBufferRef text = LLVMCreateMemoryBufferWithMemoryRange(
      release_text, sizeof release_text - 1, "release", 1);
  LLVMModuleRef parsed = NULL;
  char *message = NULL;
  if (LLVMParseIRInContext(LLVMGetModuleContext(module), text, &parsed,
                           &message)) {
    tg_fail(error, "LLVM: %s", message);
    LLVMDisposeMessage(message);
    return TG_BAD_INPUT;
  }
  LLVMSetDataLayout(parsed, LLVMGetDataLayoutStr(module));
  LLVMSetTarget(parsed, LLVMGetTarget(module));
  return LLVMLinkModules2(module, parsed)
             ? tg_fail(error, "LLVM: the code that frees panels was refused")
             : TG_OK;
}

/* A constant array of the panels' addresses. */
static LLVMValueRef add_table(LLVMModuleRef module, LLVMValueRef *panels,
                              unsigned count) {
  LLVMTypeRef pointer =
      LLVMPointerTypeInContext(LLVMGetModuleContext(module), 0);
  LLVMValueRef table =
      LLVMAddGlobal(module, LLVMArrayType2(pointer, count), "tg_panel_table");
  LLVMSetInitializer(table, LLVMConstArray2(pointer, panels, count));
  LLVMSetLinkage(table, LLVMInternalLinkage);
  LLVMSetGlobalConstant(table, 1);
  return table;
}

enum tg_status tg_release_panels_first(LLVMValueRef prepack,
                                       LLVMValueRef *panels, unsigned count,
                                       struct tg_error *error) {
  LLVMModuleRef module = LLVMGetGlobalParent(prepack);
  LLVMContextRef context = LLVMGetModuleContext(module);
  if (link_release(module, error) != TG_OK)
    return TG_BAD_INPUT;
  LLVMValueRef release = LLVMGetNamedFunction(module, "tg_release");
  LLVMValueRef arguments[] = {
      add_table(module, panels, count),
      LLVMConstInt(LLVMInt64TypeInContext(context), count, 0)};
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
  LLVMPositionBuilderBefore(
      builder, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(prepack)));
  LLVMBuildCall2(builder, LLVMGlobalGetValueType(release), release, arguments,
                 2, "");
  LLVMDisposeBuilder(builder);
  return TG_OK;
}
