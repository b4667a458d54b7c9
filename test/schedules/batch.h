/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef TGRAPH_TEST_BATCH_H
#define TGRAPH_TEST_BATCH_H

#include <mlir-c/IR.h>
#include <stdint.h>

#include "model/target.h"
#include "passes/passes.h"
#include "test/schedules/schedules.h"

enum { MAX_BATCH = 16, MAX_KINDS = 21, REPORT_NBYTES = 1 << 18 };

/* Written by the child, read by the parent, whatever becomes of the child. */
struct report {
  int ran, skipped, wrong;
  int tally[MAX_KINDS]; /* what came up, see batch_kinds */
  char stage[160];
  char fault[512];
  char text[REPORT_NBYTES]; /* the module with its configurations */
};
extern const char *const batch_kinds[MAX_KINDS];

/* What every batch needs and a child inherits: call once, before the first. */
void batch_prepare(void);
/* Cases of these seeds in one module for one target. Returns 0, or fills the
 * report's fault and returns 1. Meant for a child process: leaks what it
 * allocates. */
int run_batch(const char *target, int level, const uint64_t *seeds, int count,
              struct report *report);

/* A module's function @f, whose operations carry their configurations, against
 * the stock lowering of the same text. */
int run_text(const char *target, int level, const char *text,
             struct report *report);

/* The steps that both share. Each returns 0, or 1 with a fault. */
struct batch {
  struct report *report;
  MlirContext context;
  MlirModule module;
  struct tg_target target;
  int count;
  struct test_case *cases;
  struct tg_site *sites; /* (count) */
};
int batch_fault(struct report *report, const char *what);
int batch_start(struct batch *batch, const char *target, const char *text,
                struct report *report);
int batch_lower(struct batch *batch);

#endif
