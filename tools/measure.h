/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Measuring the configurations of kernels, or of whole programs, which are then
 * called graphs. Two processes share the work: this
 * one compiles and checks the candidates of the next kernel on one core, a
 * child times those of the current kernel on another. A kernel's file is
 * written when it is done; what is not finished starts again next time.
 */
#ifndef TGRAPH_TOOLS_MEASURE_H
#define TGRAPH_TOOLS_MEASURE_H

#include "model/dataset.h"
#include "model/plan.h"
#include "tools/assignment.h"
#include "tools/call.h"
#include "tools/child.h"
#include "tools/kernels.h"
#include "tools/parts.h"
#include "tools/timing.h"

enum {
  TG_ROUND_LIMIT = 25, /* samples of a candidate at most */
  TG_CANDIDATE_LIMIT = 512,
  TG_STATUS_NBYTES = 240
};

struct tg_candidate {
  struct tg_config config;         /* of a kernel */
  struct tg_assignment assignment; /* of a graph */
  const char *name;        /* "stock", "analytic", "" ...; static lifetime */
  struct tg_object object; /* no data when it failed */
  char status[TG_STATUS_NBYTES]; /* "" = good, else stage and reason */
  int same_as; /* the first candidate with this code, or itself */
  /* Of the timing; copied from same_as where that is another one. */
  int sample_count;
  float samples[TG_ROUND_LIMIT]; /* log(candidate / the round's default) */
  double ratio;                  /* median, in log units */
  double ci;                     /* half width of its 95 % interval */
};

struct tg_measure_settings {
  const char *folder;
  int64_t config_count, core, build_core;
  const char *model; /* whose choice is a candidate too; "" = none */
  uint64_t seed;
  struct tg_target target;
  const char *target_text; /* as given */
  struct tg_compile_options compile;
};

/* One kernel or graph on its way. */
struct tg_measure_job {
  const struct tg_measure_settings *settings;
  const struct tg_kernel_entry *entry;
  struct tg_program program;
  struct tg_call call;      /* filled; children inherit it */
  struct tg_blob reference; /* captured results of the stock lowering */
  struct tg_parts parts;    /* of a graph's objects */
  struct tg_candidate *candidates;
  int count;
  int built;            /* candidates that were built or failed so far */
  int chosen_config;    /* the model's choice, -1 = none was asked */
  int reference_config; /* the default: the analytic rule's, -1 = none */
  double default_ns, peak_gflops;
  int rounds, rejected_rounds, disturbed;
};

/* measure_build.c: prepare samples the space and runs the stock lowering. */
enum tg_status tg_job_create(struct tg_measure_job *job,
                             const struct tg_measure_settings *settings,
                             const struct tg_kernel_entry *entry,
                             struct tg_error *error);
/* The same for given configurations (already in job->candidates). */
enum tg_status tg_job_prepare(struct tg_measure_job *job,
                              struct tg_error *error);
void tg_job_destroy(struct tg_measure_job *job);
/* graph_candidates.c: fills candidates and count for a job whose program is
 * what select makes of it, without its attributes. */
enum tg_status tg_graph_candidates(struct tg_measure_job *job,
                                   struct tg_error *error);
/* Builds and checks the next candidate in a child; `idle` is called often
 * while it runs. */
void tg_job_build_next(struct tg_measure_job *job, void (*idle)(void *user),
                       void *user);
/* Finds candidates with equal code and the default. */
void tg_job_finish_build(struct tg_measure_job *job);

/* measure_time.c: the timing child. */
struct tg_timer {
  struct tg_measure_job *job; /* NULL = free */
  struct tg_child child;
  struct tg_timing_shared *shared;
  size_t shared_nbytes;
};
enum tg_status tg_timer_start(struct tg_timer *timer,
                              struct tg_measure_job *job,
                              struct tg_error *error);
/* True when the job is done (its results are filled, or all its candidates
 * failed); the timer is then free. Restarts after a crash by itself. */
bool tg_timer_poll(struct tg_timer *timer);
void tg_timer_stop(struct tg_timer *timer);

/* measure_store.c */
/* DIR/kernel-<hash>.npz or DIR/graph-<hash>.npz */
void tg_store_path(const struct tg_measure_settings *settings,
                   const struct tg_kernel_entry *entry, char *path,
                   size_t room);
bool tg_candidate_is_good(const struct tg_candidate *candidate);
/* Adds the keys that only measuring knows: samples of the good candidates,
 * reasons of the others, circumstances. */
void tg_store_measuring(struct tg_npz_writer *writer,
                        const struct tg_measure_job *job,
                        struct tg_arena *arena);
enum tg_status tg_store_write(const struct tg_measure_job *job,
                              struct tg_error *error);
/* Appends a line to DIR/failures.jsonl. */
void tg_store_failure(const struct tg_measure_job *job,
                      const struct tg_candidate *candidate);

/* Writes the file that was read with the writer's arrays in place of those of
 * the same names, and destroys the writer. */
enum tg_status tg_store_rewrite(struct tg_npz_writer *writer,
                                const struct tg_npz *npz,
                                struct tg_error *error);

/* measure_graph_store.c */
enum tg_status tg_store_graph(const struct tg_measure_job *job,
                              struct tg_error *error);

/* measure_again.c: other work on finished files. */
int tg_measure_again(const struct tg_measure_settings *settings, double share);
int tg_measure_refresh(const struct tg_measure_settings *settings);
/* How many of the files are to be measured again. */
int tg_again_count(double share, int count);
/* Builds and times all candidates of a job, nothing beside it. */
enum tg_status tg_job_run(struct tg_measure_job *job, struct tg_error *error);

/* measure_graph_again.c: a second measurement of some of the listed graphs that
 * have files. */
int tg_measure_graphs_again(const struct tg_measure_settings *settings,
                            const struct tg_kernel_list *list, double share);

#endif
