/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Machine code: a module in the LLVM dialect goes through LLVM's -O3 pipeline
 * to an object file in memory. Stock code and ours take the same way, without
 * fast-math, so that a comparison compares the lowering alone.
 */
#ifndef TGRAPH_TOOLS_COMPILE_H
#define TGRAPH_TOOLS_COMPILE_H

#include <mlir-c/IR.h>
#include <stddef.h>
#include <stdint.h>

#include "model/error.h"

/* The symbol of the entry point that tg_compile adds:
 * void tg_call(void **slots). */
#define TG_CALL_SYMBOL "tg_call"
/* The symbol of the one that packs the weights, where they are packed
 * beforehand: void tg_prepack(void **slots), with the slots of tg_call. The
 * panels stay with the code; tg_call reads them and not the weights. */
#define TG_PREPACK_SYMBOL "tg_prepack"

/* What @f_prepack and @f_packed take of the arguments of @f, by number. */
struct tg_split_signature {
  bool found; /* are there such functions? */
  int *weights, weight_count;
  int *others, other_count;
};

struct tg_compile_options {
  /* The function to call, without _mlir_ciface_; NULL: there are no entry
   * points, and what is public stays so. */
  const char *function;
  const struct tg_split_signature *split; /* NULL: the function is whole */
  const char *cpu;      /* LLVM's name; NULL or "" = this machine */
  const char *features; /* LLVM's form; used when cpu is given */
};

struct tg_part;
struct tg_object {
  unsigned char *data; /* an ELF object, malloc'ed, owned by the holder */
  size_t nbytes;
  uint64_t hash; /* of the bytes: equal code has equal hashes */
  /* Objects that define what this one leaves undefined (tools/parts.h): the
   * array is the holder's, the parts aren't. */
  const struct tg_part **parts;
  int part_count;
};

/*
 * The module must be in the LLVM dialect and the function must have been
 * lowered with llvm.emit_c_interface. slots of tg_call, in the order of the C
 * interface: a descriptor's address for each memref, the address of a scalar
 * for each scalar; a result in memory comes first (address of the structure),
 * a scalar result last.
 */
enum tg_status tg_compile(MlirOperation module,
                          const struct tg_compile_options *options,
                          struct tg_object *object, struct tg_error *error);
void tg_object_destroy(struct tg_object *object);
/* FNV-1a over the bytes, in 64 bits, continued from `hash` (0 to start). */
uint64_t tg_hash_bytes(uint64_t hash, const void *data, size_t nbytes);

#endif
