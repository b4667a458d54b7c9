/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A program to run: an MLIR file, the function in it that is called, the types
 * of its arguments and results, and what the side file says of the arguments.
 */
#ifndef TGRAPH_TOOLS_PROGRAM_H
#define TGRAPH_TOOLS_PROGRAM_H

#include <mlir-c/Diagnostics.h>
#include <mlir-c/IR.h>
#include <stdbool.h>
#include <stdint.h>

#include "model/arena.h"
#include "model/error.h"
#include "tools/text.h"

enum tg_dtype {
#define DTYPE(id, mlir, nbytes, tolerance, rounding) TG_DTYPE_##id,
#include "tools/dtypes.def"
  TG_DTYPE_COUNT
};
struct tg_dtype_info {
  const char *mlir;
  int nbytes;
  double tolerance, rounding;
};
extern const struct tg_dtype_info tg_dtype_infos[TG_DTYPE_COUNT];

enum { TG_VALUE_RANK_LIMIT = 16 };

struct tg_value_type {
  bool is_tensor;
  int rank;
  int64_t shape[TG_VALUE_RANK_LIMIT]; /* of a result: -1 where dynamic */
  enum tg_dtype dtype;
};

struct tg_argument_info {
  struct tg_value_type type;
  enum tg_dtype given; /* random values are those that this type holds */
  const char *kind;    /* "parameter", "buffer", "input", or "" when unknown */
  const char *name;    /* or "" */
  int64_t below;       /* integers lie in 0..below-1; 0 = unknown */
};

struct tg_program {
  const char *path;
  struct tg_arena *arena;
  MlirContext context;
  MlirOperation module; /* null once the program is destroyed */
  const char *function; /* name of the function that is called */
  uint64_t hash;        /* of the text */
  int argument_count, result_count;
  struct tg_argument_info *arguments;
  struct tg_value_type *results;
};

/* A context with everything registered, without threads: the tool forks. */
MlirContext tg_create_context(void);

/*
 * Reads and verifies the file. function: NULL = @main, or the only public
 * function with a body. side_path: NULL = the file's name with .json or
 * .json.gz in place of .mlir or .mlir.gz, where there is one. The function is
 * marked for the C interface.
 */
enum tg_status tg_program_create(struct tg_program *program, const char *path,
                                 const char *function, const char *side_path,
                                 struct tg_error *error);
/* The same from text that is already at hand. */
enum tg_status tg_program_create_from_text(struct tg_program *program,
                                           const char *path, const char *text,
                                           size_t nbytes, const char *function,
                                           struct tg_error *error);
/* Only parses: no function is chosen, and there is no signature. */
enum tg_status tg_program_parse(struct tg_program *program, const char *path,
                                const char *text, size_t nbytes,
                                struct tg_error *error);
void tg_program_destroy(struct tg_program *program);

/* Collects the first error that MLIR reports, as "file:line:column: text".
 * path: what the parser's own name of the text, "-", stands for. */
struct tg_diagnostics {
  const char *path;
  MlirContext context;
  MlirDiagnosticHandlerID id;
  struct tg_error *error;
  bool seen;
};
void tg_diagnostics_attach(struct tg_diagnostics *d,
                           const struct tg_program *program,
                           struct tg_error *error);
void tg_diagnostics_detach(struct tg_diagnostics *d);

#endif
