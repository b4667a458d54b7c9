/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LLVM dialect -> LLVM IR -> -O3 -> object file; see compile.h. */
#include "tools/compile.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <mlir-c/Target/LLVMIR.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t tg_hash_bytes(uint64_t hash, const void *data, size_t nbytes) {
  const unsigned char *bytes = data;
  if (hash == 0)
    hash = UINT64_C(14695981039346656037);
  for (size_t i = 0; i < nbytes; i++)
    hash = (hash ^ bytes[i]) * UINT64_C(1099511628211);
  return hash;
}

void tg_object_destroy(struct tg_object *object) {
  free(object->data);
  memset(object, 0, sizeof *object);
}

static LLVMTargetMachineRef create_machine(const char *triple,
                                           const struct tg_compile_options *o,
                                           struct tg_error *error) {
  char *message = NULL;
  LLVMTargetRef target;
  LLVMInitializeNativeTarget();
  LLVMInitializeNativeAsmPrinter();
  if (LLVMGetTargetFromTriple(triple, &target, &message)) {
    tg_fail(error, "LLVM has no target %s: %s", triple, message);
    LLVMDisposeMessage(message);
    return NULL;
  }
  bool given = o->cpu && o->cpu[0];
  char *host_cpu = LLVMGetHostCPUName();
  char *host_features = LLVMGetHostCPUFeatures();
  LLVMTargetMachineRef machine = LLVMCreateTargetMachine(
      target, triple, given ? o->cpu : host_cpu,
      given ? (o->features ? o->features : "") : host_features,
      LLVMCodeGenLevelAggressive, LLVMRelocPIC, LLVMCodeModelDefault);
  LLVMDisposeMessage(host_cpu);
  LLVMDisposeMessage(host_features);
  if (!machine)
    tg_fail(error, "LLVM cannot generate code for %s", triple);
  return machine;
}

/* Adds void tg_call(void **slots), which unpacks the slots and calls the C
 * wrapper: the tool needs one C type of function for every program. */
static enum tg_status add_trampoline(LLVMModuleRef module, const char *function,
                                     struct tg_error *error) {
  char name[256];
  snprintf(name, sizeof name, "_mlir_ciface_%s", function);
  LLVMValueRef callee = LLVMGetNamedFunction(module, name);
  if (!callee || LLVMIsDeclaration(callee))
    return tg_fail(error, "lowering lost the function @%s", function);
  LLVMContextRef context = LLVMGetModuleContext(module);
  LLVMTypeRef type = LLVMGlobalGetValueType(callee);
  LLVMTypeRef pointer = LLVMPointerTypeInContext(context, 0);
  LLVMTypeRef void_type = LLVMVoidTypeInContext(context);
  unsigned count = LLVMCountParamTypes(type);
  LLVMTypeRef *types = calloc(count + 1, sizeof(LLVMTypeRef));
  LLVMValueRef *values = calloc(count + 1, sizeof(LLVMValueRef));
  if (!types || !values) {
    free(types);
    free(values);
    return TG_OUT_OF_MEMORY;
  }
  LLVMGetParamTypes(type, types);
  LLVMValueRef call = LLVMAddFunction(
      module, TG_CALL_SYMBOL, LLVMFunctionType(void_type, &pointer, 1, 0));
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
  LLVMPositionBuilderAtEnd(
      builder, LLVMAppendBasicBlockInContext(context, call, "entry"));
  LLVMTypeRef index = LLVMInt64TypeInContext(context);
  for (unsigned i = 0; i <= count; i++) {
    LLVMValueRef at = LLVMConstInt(index, i, 0);
    LLVMValueRef slot =
        LLVMBuildGEP2(builder, pointer, LLVMGetParam(call, 0), &at, 1, "slot");
    if (i == count) { /* a scalar result has the slot after the last */
      LLVMValueRef result =
          LLVMBuildCall2(builder, type, callee, values, count, "");
      if (LLVMGetTypeKind(LLVMGetReturnType(type)) != LLVMVoidTypeKind)
        LLVMBuildStore(builder, result,
                       LLVMBuildLoad2(builder, pointer, slot, "result"));
      break;
    }
    LLVMValueRef value = LLVMBuildLoad2(builder, pointer, slot, "value");
    if (LLVMGetTypeKind(types[i]) != LLVMPointerTypeKind)
      value = LLVMBuildLoad2(builder, types[i], value, "scalar");
    values[i] = value;
  }
  LLVMBuildRetVoid(builder);
  LLVMDisposeBuilder(builder);
  free(types);
  free(values);
  return TG_OK;
}

/* Everything but the entry point becomes internal, so that LLVM compiles the
 * function once and not once more for each name it can be called by. */
static void internalize(LLVMModuleRef module) {
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f;
       f = LLVMGetNextFunction(f))
    if (!LLVMIsDeclaration(f) && strcmp(LLVMGetValueName(f), TG_CALL_SYMBOL))
      LLVMSetLinkage(f, LLVMInternalLinkage);
}

static enum tg_status run_pipeline(LLVMModuleRef module,
                                   LLVMTargetMachineRef machine,
                                   struct tg_error *error) {
  LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
  /* as `opt -O3` sets them */
  LLVMPassBuilderOptionsSetLoopInterleaving(options, 1);
  LLVMPassBuilderOptionsSetLoopVectorization(options, 1);
  LLVMPassBuilderOptionsSetSLPVectorization(options, 1);
  LLVMPassBuilderOptionsSetLoopUnrolling(options, 1);
  LLVMErrorRef failure = LLVMRunPasses(module, "default<O3>", machine, options);
  LLVMDisposePassBuilderOptions(options);
  if (!failure)
    return TG_OK;
  char *message = LLVMGetErrorMessage(failure);
  tg_fail(error, "LLVM: %s", message);
  LLVMDisposeErrorMessage(message);
  return TG_BAD_INPUT;
}

static enum tg_status emit_object(LLVMModuleRef module,
                                  LLVMTargetMachineRef machine,
                                  struct tg_object *object,
                                  struct tg_error *error) {
  char *message = NULL;
  LLVMMemoryBufferRef buffer = NULL;
  if (LLVMTargetMachineEmitToMemoryBuffer(machine, module, LLVMObjectFile,
                                          &message, &buffer)) {
    tg_fail(error, "LLVM: %s", message);
    LLVMDisposeMessage(message);
    return TG_BAD_INPUT;
  }
  object->nbytes = LLVMGetBufferSize(buffer);
  object->data = malloc(object->nbytes);
  if (object->data) {
    memcpy(object->data, LLVMGetBufferStart(buffer), object->nbytes);
    object->hash = tg_hash_bytes(0, object->data, object->nbytes);
  }
  LLVMDisposeMemoryBuffer(buffer);
  return object->data ? TG_OK : TG_OUT_OF_MEMORY;
}

static enum tg_status compile_module(LLVMModuleRef module,
                                     const struct tg_compile_options *options,
                                     struct tg_object *object,
                                     struct tg_error *error) {
  char *triple = LLVMGetDefaultTargetTriple();
  LLVMTargetMachineRef machine = create_machine(triple, options, error);
  enum tg_status status = machine ? TG_OK : TG_BAD_INPUT;
  if (status == TG_OK) {
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine);
    LLVMSetTarget(module, triple);
    LLVMSetModuleDataLayout(module, layout);
    LLVMDisposeTargetData(layout);
    status = add_trampoline(module, options->function, error);
  }
  if (status == TG_OK) {
    internalize(module);
    status = run_pipeline(module, machine, error);
  }
  if (status == TG_OK)
    status = emit_object(module, machine, object, error);
  if (machine)
    LLVMDisposeTargetMachine(machine);
  LLVMDisposeMessage(triple);
  return status;
}

enum tg_status tg_compile(MlirOperation module,
                          const struct tg_compile_options *options,
                          struct tg_object *object, struct tg_error *error) {
  memset(object, 0, sizeof *object);
  LLVMContextRef context = LLVMContextCreate();
  LLVMModuleRef llvm = mlirTranslateModuleToLLVMIR(module, context);
  enum tg_status status;
  if (!llvm)
    status = tg_fail(error, "the module cannot be translated to LLVM IR");
  else
    status = compile_module(llvm, options, object, error);
  if (llvm)
    LLVMDisposeModule(llvm);
  LLVMContextDispose(context);
  return status;
}
