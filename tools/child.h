/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Work in a child process with limits: generated code may crash, hang or eat
 * memory, and the tool reports that instead of dying of it.
 */
#ifndef TGRAPH_TOOLS_CHILD_H
#define TGRAPH_TOOLS_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "model/error.h"

enum tg_outcome {
  TG_OUTCOME_OK,
  TG_OUTCOME_FAILED, /* the work itself reports an error */
  TG_OUTCOME_CRASHED,
  TG_OUTCOME_HUNG /* the time limit */
};

struct tg_limits {
  double seconds;        /* wall clock; 0 = none */
  double cpu_seconds;    /* whole seconds of the processor; 0 = none */
  int64_t memory_nbytes; /* address space; 0 = none */
  int core;              /* pinned to it; -1 = wherever */
};

/*
 * For code that may hang, inside a child: from now on it has so many seconds of
 * the processor's time, and many more on the clock, as the machine may be busy
 * with something else. 0 ends the limit. Past it the child ends as hung.
 */
void tg_child_limit_cpu(double seconds);

/* What a child gave back; tg_blob_destroy releases it. */
struct tg_blob {
  void *data; /* mapped */
  size_t nbytes;
};
void tg_blob_destroy(struct tg_blob *blob);

/* Runs in the child: writes its result to the file, returns TG_OK or fills
 * the error. */
typedef enum tg_status (*tg_work)(void *user, FILE *out,
                                  struct tg_error *error);

struct tg_child {
  pid_t pid; /* 0 = none */
  int output, log;
  struct tg_error *shared_error;
  double deadline; /* tg_clock_seconds; 0 = none */
};
/* Starts the work; memory at the time of the call is the child's copy. */
enum tg_status tg_child_start(struct tg_child *child,
                              const struct tg_limits *limits, tg_work work,
                              void *user, struct tg_error *error);
/* True once it has ended, or was stopped at its deadline; then the outcome,
 * its blob and, unless OK, the error are filled, and the child is released. */
bool tg_child_poll(struct tg_child *child, enum tg_outcome *outcome,
                   struct tg_blob *blob, struct tg_error *error);
/* Start, and poll until it ends. */
enum tg_outcome tg_child_run(const struct tg_limits *limits, tg_work work,
                             void *user, struct tg_blob *blob,
                             struct tg_error *error);
/* Kills and releases it. */
void tg_child_stop(struct tg_child *child);

#endif
