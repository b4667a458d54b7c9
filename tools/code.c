/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Loads object files into the process. What generated code may call: the C
 * library, libm, and the few helpers of MLIR's runtime, which are defined
 * here.
 */
#include <llvm-c/Core.h>
#include <llvm-c/Error.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Orc.h>
#include <llvm-c/Target.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "tools/call.h"
#include "tools/parts.h"

static int64_t live_nbytes, peak_nbytes;

static void *count(void *block) {
  live_nbytes += (int64_t)malloc_usable_size(block);
  if (live_nbytes > peak_nbytes)
    peak_nbytes = live_nbytes;
  return block;
}
static void *counted_malloc(size_t nbytes) { return count(malloc(nbytes)); }
static void *counted_aligned_alloc(size_t alignment, size_t nbytes) {
  return count(aligned_alloc(alignment, nbytes));
}
static void counted_free(void *block) {
  live_nbytes -= (int64_t)malloc_usable_size(block);
  free(block);
}
int64_t tg_code_peak_nbytes(void) { return peak_nbytes; }
void tg_code_reset_peak(void) { live_nbytes = peak_nbytes = 0; }

/* MLIR's unranked memref: rank and a descriptor {allocated, aligned, offset,
 * sizes[rank], strides[rank]}. */
struct unranked {
  int64_t rank;
  void *descriptor;
};
struct described {
  char *allocated, *aligned;
  int64_t offset;
  int64_t sizes_and_strides[];
};

static void copy_dimension(int64_t rank, int64_t nbytes, char *from, char *to,
                           const int64_t *sizes, const int64_t *from_strides,
                           const int64_t *to_strides) {
  if (rank == 0) {
    memcpy(to, from, (size_t)nbytes);
    return;
  }
  if (rank == 1 && from_strides[0] == 1 && to_strides[0] == 1) {
    memcpy(to, from, (size_t)(nbytes * sizes[0]));
    return;
  }
  for (int64_t i = 0; i < sizes[0]; i++)
    copy_dimension(rank - 1, nbytes, from + i * from_strides[0] * nbytes,
                   to + i * to_strides[0] * nbytes, sizes + 1, from_strides + 1,
                   to_strides + 1);
}

/* memref.copy of views that are not contiguous is lowered to this call. */
static void memref_copy(int64_t element_nbytes, struct unranked *from,
                        struct unranked *to) {
  struct described *source = from->descriptor, *target = to->descriptor;
  copy_dimension(from->rank, element_nbytes,
                 source->aligned + source->offset * element_nbytes,
                 target->aligned + target->offset * element_nbytes,
                 source->sizes_and_strides,
                 source->sizes_and_strides + from->rank,
                 target->sizes_and_strides + to->rank);
}

/* bf16 travels in the low half of a vector register, as a float's bits do;
 * the rounding is to nearest, ties to even. libgcc has these from 13 on. */
static float bits_to_float(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
static float float_to_bf16(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  if ((bits & 0x7fffffff) > 0x7f800000)
    return bits_to_float((bits >> 16 | 0x40) & 0xffff);
  return bits_to_float((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
static float double_to_bf16(double value) {
  float rounded = (float)value;
  uint32_t bits;
  memcpy(&bits, &rounded, sizeof bits);
  /* round to odd first, so that rounding twice is rounding once */
  if ((double)rounded != value && value == value && !(bits & 1)) {
    bool up = (value > 0) ? rounded < value : rounded > value;
    bits = up ? bits | 1 : bits - 1;
  }
  return float_to_bf16(bits_to_float(bits));
}

static enum tg_status take_failure(LLVMErrorRef failure,
                                   struct tg_error *error) {
  char *message = LLVMGetErrorMessage(failure);
  tg_fail(error, "the code cannot be loaded: %s", message);
  LLVMDisposeErrorMessage(message);
  return TG_BAD_INPUT;
}

typedef void (*function_pointer)(void);
struct symbol {
  const char *name;
  function_pointer address;
  bool counts; /* only in code whose memory is counted */
};
static const struct symbol symbols[] = {
    {"memrefCopy", (function_pointer)memref_copy, false},
    {"__truncsfbf2", (function_pointer)float_to_bf16, false},
    {"__truncdfbf2", (function_pointer)double_to_bf16, false},
    {"malloc", (function_pointer)counted_malloc, true},
    {"aligned_alloc", (function_pointer)counted_aligned_alloc, true},
    {"free", (function_pointer)counted_free, true},
};

static LLVMErrorRef define_symbols(LLVMOrcLLJITRef jit, bool count_memory) {
  enum { SYMBOL_COUNT = sizeof symbols / sizeof *symbols };
  LLVMOrcCSymbolMapPair pairs[SYMBOL_COUNT];
  size_t used = 0;
  for (int i = 0; i < SYMBOL_COUNT; i++) {
    if (symbols[i].counts && !count_memory)
      continue;
    pairs[used].Name = LLVMOrcLLJITMangleAndIntern(jit, symbols[i].name);
    pairs[used].Sym.Address = (LLVMOrcExecutorAddress)symbols[i].address;
    pairs[used].Sym.Flags.GenericFlags =
        LLVMJITSymbolGenericFlagsExported | LLVMJITSymbolGenericFlagsCallable;
    pairs[used].Sym.Flags.TargetFlags = 0;
    used++;
  }
  return LLVMOrcJITDylibDefine(LLVMOrcLLJITGetMainJITDylib(jit),
                               LLVMOrcAbsoluteSymbols(pairs, used));
}

static LLVMErrorRef add_object(LLVMOrcLLJITRef jit, const unsigned char *data,
                               size_t nbytes) {
  return LLVMOrcLLJITAddObjectFile(jit, LLVMOrcLLJITGetMainJITDylib(jit),
                                   LLVMCreateMemoryBufferWithMemoryRangeCopy(
                                       (const char *)data, nbytes, "tgraph"));
}

static LLVMErrorRef load(LLVMOrcLLJITRef jit, const struct tg_object *object,
                         bool count_memory, LLVMOrcExecutorAddress *address) {
  LLVMErrorRef failure = define_symbols(jit, count_memory);
  if (failure)
    return failure;
  LLVMOrcDefinitionGeneratorRef generator;
  failure = LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(
      &generator, LLVMOrcLLJITGetGlobalPrefix(jit), NULL, NULL);
  if (failure)
    return failure;
  LLVMOrcJITDylibAddGenerator(LLVMOrcLLJITGetMainJITDylib(jit), generator);
  failure = add_object(jit, object->data, object->nbytes);
  for (int i = 0; i < object->part_count && !failure; i++)
    failure = add_object(jit, object->parts[i]->data, object->parts[i]->nbytes);
  if (failure)
    return failure;
  return LLVMOrcLLJITLookup(jit, address, TG_CALL_SYMBOL);
}

enum tg_status tg_code_create(struct tg_code *code,
                              const struct tg_object *object, bool count_memory,
                              struct tg_error *error) {
  memset(code, 0, sizeof *code);
  LLVMInitializeNativeTarget();
  LLVMInitializeNativeAsmPrinter();
  LLVMOrcLLJITRef jit;
  LLVMErrorRef failure = LLVMOrcCreateLLJIT(&jit, NULL);
  if (failure)
    return take_failure(failure, error);
  code->jit = jit;
  LLVMOrcExecutorAddress address = 0;
  failure = load(jit, object, count_memory, &address);
  if (failure) {
    tg_code_destroy(code);
    return take_failure(failure, error);
  }
  memcpy(&code->call, &(uintptr_t){(uintptr_t)address}, sizeof code->call);
  failure = LLVMOrcLLJITLookup(jit, &address, TG_PREPACK_SYMBOL);
  if (failure)
    LLVMConsumeError(failure); /* nothing is packed beforehand */
  else
    memcpy(&code->prepack, &(uintptr_t){(uintptr_t)address},
           sizeof code->prepack);
  return TG_OK;
}

void tg_code_destroy(struct tg_code *code) {
  if (code->jit) {
    LLVMErrorRef failure = LLVMOrcDisposeLLJIT(code->jit);
    if (failure)
      LLVMConsumeError(failure);
  }
  memset(code, 0, sizeof *code);
}

void tg_keep_pages(void) {
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 2047 << 20);
  mallopt(M_TOP_PAD, 64 << 20);
}
