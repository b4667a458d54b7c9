/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The passes as C functions over mlir-c. The shim in plugin/ wraps them as
 * MLIR passes, the tools call them directly. None of them prints: errors go
 * through MLIR's diagnostics at the location they belong to (the function then
 * returns failure), remarks through the callback.
 */
#ifndef TGRAPH_PASSES_PASSES_H
#define TGRAPH_PASSES_PASSES_H

#include <mlir-c/IR.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/arena.h"
#include "model/kernel.h"
#include "model/plan.h"
#include "model/target.h"

#ifdef __cplusplus
extern "C" {
#endif

enum tg_remark_kind {
  TG_REMARK_ANALYSIS, /* why a choice was made */
  TG_REMARK_PASSED,   /* what was done */
  TG_REMARK_MISSED    /* what was left alone, and why */
};
struct tg_remark_sink {
  void (*emit)(void *user, MlirLocation location, enum tg_remark_kind kind,
               const char *message);
  void *user;
};

struct tg_select_options {
#define TG_OPTION_STRING const char *
#define TG_OPTION_INTEGER int64_t
#define TG_OPTION_FLAG bool
#define OPTION(type, name, flag, default_value, doc) TG_OPTION_##type name;
#include "passes/options.def"
};
struct tg_select_options tg_select_options_default(void);

/* module: a builtin.module. `remarks` may be NULL. */
MlirLogicalResult tg_select_layouts(MlirOperation module,
                                    const struct tg_select_options *options,
                                    const struct tg_remark_sink *remarks);
MlirLogicalResult tg_apply_layouts(MlirOperation module,
                                   const struct tg_remark_sink *remarks);
MlirLogicalResult tg_lower(MlirOperation module,
                           const struct tg_remark_sink *remarks);
/* tg_lower in its two stages. Between them functions work on buffers, and any
 * that calls nothing may be taken to a module of its own. */
MlirLogicalResult tg_lower_to_buffers(MlirOperation module,
                                      const struct tg_remark_sink *remarks);
MlirLogicalResult tg_lower_to_llvm(MlirOperation module);
MlirLogicalResult tg_strip(MlirOperation module,
                           const struct tg_remark_sink *remarks);
/* The reference of every comparison: the stock lowering to the LLVM dialect. */
MlirLogicalResult tg_stock_lower(MlirOperation module);

/* Loads every dialect that the passes create operations of. */
void tg_load_dialects(MlirContext context);

/* An operation that has a space of configurations. */
struct tg_site {
  MlirOperation op;
  struct tg_kernel kernel;
};
/* All sites of the module in program order; the array lives in the arena. */
bool tg_collect_sites(MlirOperation module, struct tg_arena *arena,
                      struct tg_site **sites, size_t *count);
/* Why a structured operation is no site; NULL for a site, and for what is no
 * structured operation. */
const char *tg_left_reason(MlirOperation op);
/* Describes the operation; false where it is none that we configure. Does not
 * look at tgraph.skip. */
bool tg_kernel_from_op(MlirOperation op, struct tg_kernel *kernel);

/* An operand and a dimension of it that is the loop itself, so that the loop
 * runs as often as the dimension is long; false where there is none. */
bool tg_kernel_find_dimension(const struct tg_kernel *kernel, int loop,
                              int *operand, int *dimension);

/* Writes the choice as the attribute tgraph.config of the operation, and the
 * target's description on the module that holds it. */
void tg_set_config(MlirOperation op, const struct tg_kernel *kernel,
                   const struct tg_config *config);
void tg_set_target(MlirOperation module, const struct tg_target *target);

#ifdef __cplusplus
}
#endif
#endif
