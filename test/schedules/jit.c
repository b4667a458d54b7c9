/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Compiles a module and calls its functions. Whatever the code allocates ends
 * (or starts) beside a page that may not be touched and is full of NaNs.
 */
#include <llvm-c/Core.h>
#include <llvm-c/Error.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Orc.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <mlir-c/Target/LLVMIR.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "test/schedules/schedules.h"

/*===-- Guarded memory ----------------------------------------------------===*/

enum { PAGE = 4096, FILL = 0xff, MAX_BLOCKS = 4096 };

static enum guard code_guard;
static struct {
  unsigned char *slack;
  size_t nbytes;
} blocks[MAX_BLOCKS];
static int block_count;

void set_code_guard(enum guard guard) { code_guard = guard; }

void *guarded_alloc(size_t nbytes, size_t alignment, enum guard guard) {
  size_t inside = (nbytes + alignment + PAGE - 1) / PAGE * PAGE;
  unsigned char *pages = mmap(NULL, inside + 2 * PAGE, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED)
    abort();
  mprotect(pages, PAGE, PROT_NONE);
  mprotect(pages + PAGE + inside, PAGE, PROT_NONE);
  unsigned char *first = pages + PAGE, *end = first + inside;
  memset(first, FILL, inside);
  unsigned char *data = first;
  if (guard == GUARD_END)
    data += (inside - nbytes) / alignment * alignment;
  if (block_count < MAX_BLOCKS) {
    blocks[block_count].slack = data + nbytes;
    blocks[block_count++].nbytes = (size_t)(end - data) - nbytes;
  }
  return data;
}

bool is_slack_intact(void) {
  for (int i = 0; i < block_count; ++i)
    for (size_t b = 0; b < blocks[i].nbytes; ++b)
      if (blocks[i].slack[b] != FILL)
        return false;
  return true;
}

/* MLIR's malloc asks for more and aligns by hand; a block that starts behind
 * the boundary wastes least at its end. */
static void *code_malloc(size_t nbytes) {
  enum { ALIGNMENT = 64, BEHIND = 16 };
  if (code_guard == GUARD_START)
    return guarded_alloc(nbytes, ALIGNMENT, GUARD_START);
  return (char *)guarded_alloc(nbytes + BEHIND, ALIGNMENT, GUARD_END) + BEHIND;
}

static void *code_aligned_alloc(size_t alignment, size_t nbytes) {
  return guarded_alloc(nbytes, alignment, code_guard);
}

static void code_free(void *block) { (void)block; }

/* Older runtime libraries lack this one. A bf16 is the low half of the register
 * that a float is returned in. */
static float code_truncate(float value) {
  uint32_t bits, nan = 0x7fc0;
  memcpy(&bits, &value, sizeof(bits));
  uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  if ((bits & 0x7fffffff) > 0x7f800000)
    rounded = nan;
  memcpy(&value, &rounded, sizeof(value));
  return value;
}

static float code_truncate_double(double value) {
  /* Rounded to odd first, so that nothing is rounded twice. */
  float single = (float)value;
  uint32_t bits;
  memcpy(&bits, &single, sizeof(bits));
  if ((double)single != value && value == value && !(bits & 1)) {
    bits += ((double)single < value) == (single > 0) ? 1 : -1u;
    memcpy(&single, &bits, sizeof(single));
  }
  return code_truncate(single);
}

/* A copy between two tensors whose elements may lie apart: unranked memrefs,
 * of which the descriptor has sizes and then strides. */
struct unranked {
  int64_t rank;
  struct memref *descriptor;
};

static void copy_dimension(int64_t nbytes, int64_t rank, char *to,
                           const char *from, const int64_t *sizes,
                           const int64_t *to_strides,
                           const int64_t *from_strides) {
  if (rank == 0) {
    memcpy(to, from, (size_t)nbytes);
    return;
  }
  for (int64_t i = 0; i < sizes[0]; ++i)
    copy_dimension(nbytes, rank - 1, to + i * to_strides[0] * nbytes,
                   from + i * from_strides[0] * nbytes, sizes + 1,
                   to_strides + 1, from_strides + 1);
}

static void code_copy(int64_t nbytes, const struct unranked *from,
                      const struct unranked *to) {
  const struct memref *a = from->descriptor, *b = to->descriptor;
  copy_dimension(nbytes, from->rank, b->aligned + b->offset * nbytes,
                 a->aligned + a->offset * nbytes, a->sizes_and_strides,
                 b->sizes_and_strides + to->rank,
                 a->sizes_and_strides + from->rank);
}

/*===-- Compilation -------------------------------------------------------===*/

struct jit {
  LLVMOrcLLJITRef lljit;
};

static bool failed(LLVMErrorRef error, char *fault, size_t fault_nbytes) {
  if (!error)
    return false;
  char *message = LLVMGetErrorMessage(error);
  snprintf(fault, fault_nbytes, "LLVM: %s", message);
  LLVMDisposeErrorMessage(message);
  return true;
}

/* The functions name their CPU themselves. */
static LLVMTargetMachineRef create_machine(int level) {
  static const LLVMCodeGenOptLevel levels[] = {
      LLVMCodeGenLevelNone, LLVMCodeGenLevelLess, LLVMCodeGenLevelDefault,
      LLVMCodeGenLevelAggressive};
  LLVMInitializeNativeTarget();
  LLVMInitializeNativeAsmPrinter();
  char *triple = LLVMGetDefaultTargetTriple(), *message = NULL;
  LLVMTargetRef target;
  LLVMTargetMachineRef machine = NULL;
  if (!LLVMGetTargetFromTriple(triple, &target, &message))
    machine =
        LLVMCreateTargetMachine(target, triple, "x86-64", "", levels[level],
                                LLVMRelocPIC, LLVMCodeModelDefault);
  LLVMDisposeMessage(triple);
  return machine;
}

static LLVMMemoryBufferRef emit_object(LLVMModuleRef module, int level,
                                       char *fault, size_t fault_nbytes) {
  LLVMTargetMachineRef machine = create_machine(level);
  if (!machine) {
    snprintf(fault, fault_nbytes, "no code for this machine");
    return NULL;
  }
  LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine);
  char *triple = LLVMGetTargetMachineTriple(machine);
  LLVMSetTarget(module, triple);
  LLVMSetModuleDataLayout(module, layout);
  LLVMDisposeMessage(triple);
  LLVMDisposeTargetData(layout);
  char pipeline[16];
  snprintf(pipeline, sizeof(pipeline), "default<O%d>", level);
  LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
  bool bad = failed(LLVMRunPasses(module, pipeline, machine, options), fault,
                    fault_nbytes);
  LLVMDisposePassBuilderOptions(options);
  LLVMMemoryBufferRef buffer = NULL;
  char *message = NULL;
  if (!bad && LLVMTargetMachineEmitToMemoryBuffer(
                  machine, module, LLVMObjectFile, &message, &buffer)) {
    snprintf(fault, fault_nbytes, "LLVM: %s", message);
    LLVMDisposeMessage(message);
    buffer = NULL;
  }
  LLVMDisposeTargetMachine(machine);
  return buffer;
}

typedef void (*function_pointer)(void);
static const struct {
  const char *name;
  function_pointer address;
} symbols[] = {
    {"malloc", (function_pointer)code_malloc},
    {"aligned_alloc", (function_pointer)code_aligned_alloc},
    {"free", (function_pointer)code_free},
    {"memrefCopy", (function_pointer)code_copy},
    {"__truncsfbf2", (function_pointer)code_truncate},
    {"__truncdfbf2", (function_pointer)code_truncate_double},
};

static LLVMErrorRef load(LLVMOrcLLJITRef lljit, LLVMMemoryBufferRef object) {
  enum { COUNT = sizeof(symbols) / sizeof(symbols[0]) };
  LLVMOrcJITDylibRef library = LLVMOrcLLJITGetMainJITDylib(lljit);
  LLVMOrcCSymbolMapPair pairs[COUNT];
  for (int i = 0; i < COUNT; ++i) {
    pairs[i].Name = LLVMOrcLLJITMangleAndIntern(lljit, symbols[i].name);
    pairs[i].Sym.Address = (LLVMOrcExecutorAddress)symbols[i].address;
    pairs[i].Sym.Flags.GenericFlags =
        LLVMJITSymbolGenericFlagsExported | LLVMJITSymbolGenericFlagsCallable;
    pairs[i].Sym.Flags.TargetFlags = 0;
  }
  LLVMErrorRef error =
      LLVMOrcJITDylibDefine(library, LLVMOrcAbsoluteSymbols(pairs, COUNT));
  if (error)
    return error;
  LLVMOrcDefinitionGeneratorRef generator;
  error = LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(
      &generator, LLVMOrcLLJITGetGlobalPrefix(lljit), NULL, NULL);
  if (error)
    return error;
  LLVMOrcJITDylibAddGenerator(library, generator);
  return LLVMOrcLLJITAddObjectFile(lljit, library, object);
}

struct jit *jit_create(MlirOperation module, int level, char *fault,
                       size_t fault_nbytes) {
  LLVMContextRef context = LLVMContextCreate();
  LLVMModuleRef llvm = mlirTranslateModuleToLLVMIR(module, context);
  if (!llvm) {
    snprintf(fault, fault_nbytes, "the translation to LLVM IR fails");
    LLVMContextDispose(context);
    return NULL;
  }
  LLVMMemoryBufferRef object = emit_object(llvm, level, fault, fault_nbytes);
  LLVMDisposeModule(llvm);
  LLVMContextDispose(context);
  if (!object)
    return NULL;
  struct jit *jit = calloc(1, sizeof(*jit));
  if (!jit ||
      failed(LLVMOrcCreateLLJIT(&jit->lljit, NULL), fault, fault_nbytes)) {
    free(jit);
    return NULL;
  }
  if (failed(load(jit->lljit, object), fault, fault_nbytes)) {
    jit_destroy(jit);
    return NULL;
  }
  return jit;
}

void *jit_lookup(struct jit *jit, const char *function) {
  char name[128];
  snprintf(name, sizeof(name), "_mlir_ciface_%s", function);
  LLVMOrcExecutorAddress address = 0;
  LLVMErrorRef error = LLVMOrcLLJITLookup(jit->lljit, &address, name);
  if (error) {
    LLVMConsumeError(error);
    return NULL;
  }
  return (void *)(uintptr_t)address;
}

void jit_destroy(struct jit *jit) {
  LLVMErrorRef error = LLVMOrcDisposeLLJIT(jit->lljit);
  if (error)
    LLVMConsumeError(error);
  free(jit);
}

/*===-- Calls -------------------------------------------------------------===*/

size_t memref_nbytes(int rank) { return 24 + 16 * (size_t)rank; }

void memref_set(struct memref *memref, void *data,
                const struct tensor *tensor) {
  memset(memref, 0, sizeof(*memref));
  memref->allocated = memref->aligned = data;
  int64_t stride = 1;
  for (int d = tensor->rank - 1; d >= 0; --d) {
    memref->sizes_and_strides[d] = tensor->extent[d];
    memref->sizes_and_strides[tensor->rank + d] = stride;
    stride *= tensor->extent[d];
  }
}

void jit_call(void *function, void *results, int count,
              struct memref *arguments) {
  typedef void (*callee)(void *, void *, void *, void *, void *, void *, void *,
                         void *, void *);
  void *at[MAX_ARGUMENTS] = {NULL};
  for (int i = 0; i < count; ++i)
    at[i] = &arguments[i];
  /* More arguments than a function takes do no harm in the C convention. */
  callee call;
  memcpy(&call, &function, sizeof(call));
  call(results, at[0], at[1], at[2], at[3], at[4], at[5], at[6], at[7]);
}
