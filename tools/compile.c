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

#include "tools/panels.h"

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
  free(object->parts);
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

/* Where a parameter comes from: the slot of that number, or an address. */
struct source {
  unsigned slot;
  LLVMValueRef address; /* NULL: the slot */
};

/* The C wrapper of the function with this suffix to its name. */
static LLVMValueRef find_wrapper(LLVMModuleRef module, const char *function,
                                 const char *suffix, struct tg_error *error) {
  char name[256];
  snprintf(name, sizeof name, "_mlir_ciface_%s%s", function, suffix);
  LLVMValueRef callee = LLVMGetNamedFunction(module, name);
  if (callee && !LLVMIsDeclaration(callee))
    return callee;
  tg_fail(error, "lowering lost the function @%s%s", function, suffix);
  return NULL;
}

static LLVMValueRef load_slot(LLVMBuilderRef builder, LLVMValueRef entry,
                              LLVMTypeRef pointer, unsigned slot) {
  LLVMContextRef context = LLVMGetTypeContext(pointer);
  LLVMValueRef at = LLVMConstInt(LLVMInt64TypeInContext(context), slot, 0);
  LLVMValueRef address =
      LLVMBuildGEP2(builder, pointer, LLVMGetParam(entry, 0), &at, 1, "slot");
  return LLVMBuildLoad2(builder, pointer, address, "value");
}

/* Adds void symbol(void **slots), which unpacks the slots and calls the C
 * wrapper: the tool needs one C type of function for every program. sources:
 * of each parameter. A scalar result goes to where the slot result_slot
 * says. */
static enum tg_status add_trampoline(LLVMModuleRef module, const char *symbol,
                                     LLVMValueRef callee,
                                     const struct source *sources,
                                     unsigned result_slot) {
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
  LLVMValueRef entry = LLVMAddFunction(
      module, symbol, LLVMFunctionType(void_type, &pointer, 1, 0));
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
  LLVMPositionBuilderAtEnd(
      builder, LLVMAppendBasicBlockInContext(context, entry, "entry"));
  for (unsigned i = 0; i < count; i++) {
    values[i] = sources[i].address
                    ? sources[i].address
                    : load_slot(builder, entry, pointer, sources[i].slot);
    if (LLVMGetTypeKind(types[i]) != LLVMPointerTypeKind)
      values[i] = LLVMBuildLoad2(builder, types[i], values[i], "scalar");
  }
  LLVMValueRef result =
      LLVMBuildCall2(builder, type, callee, values, count, "");
  if (LLVMGetTypeKind(LLVMGetReturnType(type)) != LLVMVoidTypeKind)
    LLVMBuildStore(builder, result,
                   load_slot(builder, entry, pointer, result_slot));
  LLVMBuildRetVoid(builder);
  LLVMDisposeBuilder(builder);
  free(types);
  free(values);
  return TG_OK;
}

/* The memory that @f_prepack fills with the panels' descriptors, and the
 * address of each. */
static LLVMValueRef add_panels(LLVMModuleRef module, LLVMTypeRef type,
                               LLVMValueRef *addresses, unsigned count) {
  LLVMTypeRef i32 = LLVMInt32TypeInContext(LLVMGetModuleContext(module));
  LLVMValueRef panels = LLVMAddGlobal(module, type, "tg_panels");
  LLVMSetInitializer(panels, LLVMConstNull(type));
  LLVMSetLinkage(panels, LLVMInternalLinkage);
  for (unsigned i = 0; i < count; i++) {
    LLVMValueRef at[] = {LLVMConstInt(i32, 0, 0), LLVMConstInt(i32, i, 0)};
    addresses[i] =
        count == 1 ? panels : LLVMConstInBoundsGEP2(type, panels, at, 2);
  }
  return panels;
}

/* void tg_prepack(void **slots), which may be called again. */
static enum tg_status add_prepack(LLVMModuleRef module, LLVMValueRef prepack,
                                  const struct source *sources,
                                  LLVMValueRef *panels, unsigned count,
                                  struct tg_error *error) {
  enum tg_status status =
      add_trampoline(module, TG_PREPACK_SYMBOL, prepack, sources, 0);
  return status == TG_OK ? tg_release_panels_first(
                               LLVMGetNamedFunction(module, TG_PREPACK_SYMBOL),
                               panels, count, error)
                         : status;
}

/* The entry points of a function whose weights come packed. lead: slots before
 * the arguments'. */
static enum tg_status add_split(LLVMModuleRef module,
                                const struct tg_compile_options *o,
                                unsigned lead, unsigned result_slot,
                                struct tg_error *error) {
  char name[256];
  snprintf(name, sizeof name, "%s_prepack", o->function);
  LLVMValueRef packs = LLVMGetNamedFunction(module, name);
  LLVMValueRef prepack = find_wrapper(module, o->function, "_prepack", error);
  LLVMValueRef packed = find_wrapper(module, o->function, "_packed", error);
  if (!packs || !prepack || !packed)
    return TG_BAD_INPUT;
  const struct tg_split_signature *split = o->split;
  unsigned before = lead + (unsigned)split->other_count;
  unsigned all = LLVMCountParamTypes(LLVMGlobalGetValueType(packed));
  LLVMTypeRef type = LLVMGetReturnType(LLVMGlobalGetValueType(packs));
  if (all <= before || LLVMCountParamTypes(LLVMGlobalGetValueType(prepack)) !=
                           1 + (unsigned)split->weight_count)
    return tg_fail(error, "@%s_packed has lost arguments", o->function);
  struct source *inputs =
      calloc((size_t)all + (size_t)split->weight_count + 1, sizeof *inputs);
  LLVMValueRef *panels = calloc(all, sizeof *panels);
  enum tg_status status = inputs && panels ? TG_OK : TG_OUT_OF_MEMORY;
  if (status == TG_OK) {
    for (int i = 0; i < split->other_count; i++)
      inputs[lead + (unsigned)i].slot = lead + (unsigned)split->others[i];
    LLVMValueRef memory = add_panels(module, type, panels, all - before);
    for (unsigned i = before; i < all; i++)
      inputs[i].address = panels[i - before];
    status =
        add_trampoline(module, TG_CALL_SYMBOL, packed, inputs, result_slot);
    inputs[0].address = memory;
    for (int i = 0; i < split->weight_count; i++)
      inputs[i + 1] = (struct source){lead + (unsigned)split->weights[i], NULL};
  }
  if (status == TG_OK)
    status = add_prepack(module, prepack, inputs, panels, all - before, error);
  free(inputs);
  free(panels);
  return status;
}

static enum tg_status add_entry_points(LLVMModuleRef module,
                                       const struct tg_compile_options *o,
                                       struct tg_error *error) {
  LLVMValueRef callee = find_wrapper(module, o->function, "", error);
  if (!callee)
    return TG_BAD_INPUT;
  LLVMTypeRef type = LLVMGlobalGetValueType(callee);
  unsigned count = LLVMCountParamTypes(type);
  unsigned lead =
      LLVMGetTypeKind(LLVMGetReturnType(type)) == LLVMVoidTypeKind ? 1 : 0;
  if (o->split && o->split->found)
    return add_split(module, o, lead, count, error);
  struct source *sources = calloc((size_t)count + 1, sizeof *sources);
  if (!sources)
    return TG_OUT_OF_MEMORY;
  for (unsigned i = 0; i < count; i++)
    sources[i].slot = i;
  enum tg_status status =
      add_trampoline(module, TG_CALL_SYMBOL, callee, sources, count);
  free(sources);
  return status;
}

/* Everything but the entry points becomes internal, so that LLVM compiles the
 * function once and not once more for each name it can be called by. */
static void internalize(LLVMModuleRef module) {
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f;
       f = LLVMGetNextFunction(f))
    if (!LLVMIsDeclaration(f) && strcmp(LLVMGetValueName(f), TG_CALL_SYMBOL) &&
        strcmp(LLVMGetValueName(f), TG_PREPACK_SYMBOL))
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
  }
  if (status == TG_OK && options->function) {
    status = add_entry_points(module, options, error);
    internalize(module);
  }
  if (status == TG_OK)
    status = run_pipeline(module, machine, error);
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
