/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Candidates of a kernel: sampled, then applied, compiled, run once and
 * compared, each in a child of its own.
 */
#include <mlir-c/BuiltinAttributes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "model/decide.h"
#include "passes/attribute.h"
#include "passes/inspect.h"
#include "passes/passes.h"
#include "tools/build.h"
#include "tools/measure.h"

/* Of the processor's time. */
enum { RUN_LIMIT_S = 10, BUILD_LIMIT_S = 60, STOCK_LIMIT_S = 300 };
enum { CAPTURE_HEAD_NBYTES = 16 }; /* of tg_capture_run */

/* The model's choice among the candidates: a new one, if it isn't there. */
static enum tg_status add_choice(struct tg_measure_job *job,
                                 struct tg_error *error) {
  const struct tg_measure_settings *s = job->settings;
  job->chosen_config = -1;
  if (!s->model[0])
    return TG_OK;
  struct tg_decider decider;
  struct tg_decision decision;
  struct tg_select_options options = tg_select_options_default();
  enum tg_status status = tg_decider_init(
      &decider, s->model, &s->target, TG_SEARCH_AUTO, (size_t)options.budget,
      (uint64_t)options.seed, job->program.arena, error);
  if (status == TG_OK)
    status = tg_decide(&decider, &job->entry->kernel, &decision, error);
  tg_decider_release(&decider);
  if (status != TG_OK)
    return status;
  int i = 0;
  while (i < job->count && memcmp(&job->candidates[i].config, &decision.config,
                                  sizeof decision.config))
    i++;
  if (i == job->count) {
    job->candidates[job->count].config = decision.config;
    job->candidates[job->count++].name = "chosen";
  }
  job->chosen_config = i;
  return TG_OK;
}

static enum tg_status sample_space(struct tg_measure_job *job,
                                   struct tg_error *error) {
  const struct tg_measure_settings *s = job->settings;
  struct tg_space space;
  if (!tg_space_sample(&job->entry->kernel, &s->target,
                       s->seed ^ job->entry->hash, (size_t)s->config_count,
                       job->program.arena, &space))
    return tg_fail_memory(error, job->entry->name);
  if (space.count < 2)
    return tg_fail(error, "has no configuration but the stock one");
  job->count = (int)space.count;
  job->candidates = calloc(space.count + 1, sizeof *job->candidates);
  if (!job->candidates)
    return tg_fail_memory(error, job->entry->name);
  for (int i = 0; i < job->count; i++) {
    job->candidates[i].config = space.configs[i];
    job->candidates[i].name =
        i < TG_CONFIG_NAMED_COUNT ? tg_config_names[i] : "";
  }
  return add_choice(job, error);
}

static enum tg_status run_stock(struct tg_measure_job *job,
                                struct tg_error *error) {
  struct tg_build_options options = tg_build_options_default();
  options.target = job->settings->target_text;
  options.limits.seconds = 0;
  options.limits.cpu_seconds = STOCK_LIMIT_S;
  struct tg_build build;
  tg_build_side(&job->program, TG_SIDE_STOCK, &options, &build);
  enum tg_outcome outcome = build.outcome;
  if (outcome != TG_OUTCOME_OK)
    *error = build.error;
  else
    outcome = tg_capture_run(&job->program, &build.object, job->settings->seed,
                             &options.limits, &job->reference, NULL, error);
  tg_build_destroy(&build);
  if (outcome != TG_OUTCOME_OK) {
    struct tg_error cause = *error;
    return tg_fail(error, "stock: %.400s", cause.message);
  }
  return TG_OK;
}

enum tg_status tg_job_prepare(struct tg_measure_job *job,
                              struct tg_error *error) {
  enum tg_status status = run_stock(job, error);
  if (status == TG_OK)
    status = tg_call_create(&job->call, &job->program, error);
  if (status == TG_OK)
    tg_call_fill(&job->call, job->settings->seed);
  for (int i = 0; i < job->count; i++)
    job->candidates[i].same_as = i;
  return status;
}

/* Select may split an operation into several: candidates are assignments to
 * what it leaves, so that is the program from here on. */
static enum tg_status settle_program(struct tg_measure_job *job,
                                     struct tg_error *error) {
  struct tg_program *program = &job->program;
  struct tg_select_options options = tg_select_options_default();
  options.target = job->settings->target_text;
  options.model = "analytic";
  options.attention = "whole";
  struct tg_diagnostics diagnostics;
  tg_diagnostics_attach(&diagnostics, program, error);
  tg_load_dialects(program->context);
  bool good = mlirLogicalResultIsSuccess(
                  tg_select_layouts(program->module, &options, NULL)) &&
              mlirLogicalResultIsSuccess(tg_strip(program->module, NULL));
  tg_diagnostics_detach(&diagnostics);
  if (!good && !diagnostics.seen)
    tg_fail(error, "%s: select failed without a reason", program->path);
  return good ? TG_OK : TG_BAD_INPUT;
}

/* A graph's candidates are made last: they need the settled program. */
static enum tg_status create_graph(struct tg_measure_job *job,
                                   struct tg_error *error) {
  enum tg_status status = tg_job_prepare(job, error);
  if (status == TG_OK)
    status = settle_program(job, error);
  if (status == TG_OK)
    status = tg_graph_candidates(job, error);
  for (int i = 0; i < job->count; i++)
    job->candidates[i].same_as = i;
  return status;
}

static enum tg_status create_kernel(struct tg_measure_job *job,
                                    struct tg_error *error) {
  enum tg_status status = sample_space(job, error);
  return status == TG_OK ? tg_job_prepare(job, error) : status;
}

enum tg_status tg_job_create(struct tg_measure_job *job,
                             const struct tg_measure_settings *settings,
                             const struct tg_kernel_entry *entry,
                             struct tg_error *error) {
  memset(job, 0, sizeof *job);
  job->settings = settings;
  job->entry = entry;
  job->reference_config = -1;
  enum tg_status status =
      entry->path
          ? tg_program_create(&job->program, entry->path, NULL, NULL, error)
          : tg_program_create_from_text(&job->program, entry->name, entry->text,
                                        strlen(entry->text), "main", error);
  if (status != TG_OK)
    return status;
  status = entry->path ? create_graph(job, error) : create_kernel(job, error);
  if (status != TG_OK)
    tg_job_destroy(job);
  return status;
}

void tg_job_destroy(struct tg_measure_job *job) {
  for (int i = 0; i < job->count; i++) {
    tg_object_destroy(&job->candidates[i].object);
    tg_assignment_destroy(&job->candidates[i].assignment);
  }
  free(job->candidates);
  tg_parts_destroy(&job->parts);
  if (job->call.program)
    tg_call_destroy(&job->call);
  tg_blob_destroy(&job->reference);
  if (job->program.arena)
    tg_program_destroy(&job->program);
  memset(job, 0, sizeof *job);
}

/* What a building child works on, and where it is, in shared memory. */
struct candidate_work {
  struct tg_measure_job *job;
  const struct tg_candidate *candidate;
  const char **stage; /* shared: static strings are at the same address */
};

struct reasons {
  char text[TG_STATUS_NBYTES];
};

static void keep_reason(void *user, MlirLocation location,
                        enum tg_remark_kind kind, const char *message) {
  struct reasons *reasons = user;
  (void)location;
  if (kind == TG_REMARK_MISSED && !reasons->text[0])
    snprintf(reasons->text, sizeof reasons->text, "%s", message);
}

/* Writes a kernel's configuration onto it. */
static enum tg_status assign_config(const struct candidate_work *work,
                                    struct tg_error *error) {
  MlirOperation op;
  struct tg_kernel kernel;
  if (!tg_kernels_find_site(work->job->program.module, &op, &kernel))
    return tg_fail(error, "the kernel is not recognised on its own");
  tg_set_config(op, &kernel, &work->candidate->config);
  return TG_OK;
}

static void assign_graph(const struct candidate_work *work) {
  MlirOperation module = work->job->program.module;
  const char *name = work->candidate->name;
  tg_assignment_write(module, &work->candidate->assignment);
  if (!strcmp(name, "stock")) /* pads have a schedule without being chosen */
    mlirOperationSetDiscardableAttributeByName(
        module, tg_ref(TG_MODEL_ATTRIBUTE),
        mlirStringAttrGet(work->job->program.context, tg_ref("none")));
}

/* Down to buffers. */
static enum tg_status lower_candidate(const struct candidate_work *work,
                                      struct tg_error *error) {
  struct tg_program *program = &work->job->program;
  bool is_graph = work->job->entry->path != NULL;
  struct reasons reasons = {""};
  struct tg_remark_sink sink = {keep_reason, &reasons};
  *work->stage = "apply";
  tg_load_dialects(program->context);
  tg_set_target(program->module, &work->job->settings->target);
  if (is_graph)
    assign_graph(work);
  else if (assign_config(work, error) != TG_OK)
    return TG_BAD_INPUT;
  struct tg_diagnostics diagnostics;
  tg_diagnostics_attach(&diagnostics, program, error);
  bool good =
      mlirLogicalResultIsSuccess(tg_apply_layouts(program->module, &sink));
  if (good && !is_graph && work->candidate->config.knob[TG_KNOB_tiled] &&
      reasons.text[0])
    return tg_fail(error, "left alone: %s", reasons.text);
  if (good) {
    *work->stage = "lower";
    good =
        mlirLogicalResultIsSuccess(tg_lower_to_buffers(program->module, &sink));
  }
  tg_diagnostics_detach(&diagnostics);
  if (!good && !diagnostics.seen)
    tg_fail(error, "failed without a reason");
  return good ? TG_OK : TG_BAD_INPUT;
}

/* Equal kernels of a graph's candidates are compiled once; a kernel alone is
 * compiled with what calls it. */
static enum tg_status compile_candidate(const struct candidate_work *work,
                                        struct tg_object *object,
                                        struct tg_error *error) {
  struct tg_measure_job *job = work->job;
  struct tg_compile_options options = job->settings->compile;
  options.function = job->program.function;
  *work->stage = "compile";
  struct tg_diagnostics diagnostics;
  tg_diagnostics_attach(&diagnostics, &job->program, error);
  enum tg_status status = TG_BAD_INPUT;
  if (job->entry->path)
    status = tg_compile_in_parts(job->program.module, &options, &job->parts,
                                 object, error);
  else if (mlirLogicalResultIsSuccess(tg_lower_to_llvm(job->program.module)))
    status = tg_compile(job->program.module, &options, object, error);
  tg_diagnostics_detach(&diagnostics);
  if (status != TG_OK && !error->message[0])
    tg_fail(error, "failed without a reason");
  return status;
}

static enum tg_status check_candidate(const struct candidate_work *work,
                                      const struct tg_object *object,
                                      struct tg_error *error) {
  struct tg_measure_job *job = work->job;
  struct tg_code code;
  char *results = NULL;
  size_t results_nbytes = 0;
  *work->stage = "load";
  enum tg_status status = tg_code_create(&code, object, false, error);
  if (status != TG_OK)
    return status;
  FILE *memory = open_memstream(&results, &results_nbytes);
  if (!memory)
    return TG_OUT_OF_MEMORY;
  *work->stage = "run";
  tg_child_limit_cpu(RUN_LIMIT_S);
  bool good = tg_call_capture(&job->call, &code, memory);
  tg_child_limit_cpu(0);
  if (fclose(memory) || !good)
    return tg_fail(error, "the results do not fit into memory");
  *work->stage = "compare";
  struct tg_difference difference;
  tg_compare_captures((char *)job->reference.data + CAPTURE_HEAD_NBYTES,
                      job->reference.nbytes - CAPTURE_HEAD_NBYTES, results,
                      results_nbytes, &difference);
  free(results);
  return difference.equal ? TG_OK : tg_fail(error, "%s", difference.note);
}

/* What a child hands over: this, the new parts, all parts' hashes, the rest. */
struct parcel {
  uint64_t hash;
  int new_parts, parts;
};
struct part_head {
  uint64_t hash;
  size_t nbytes;
};

static void write_parcel(const struct tg_parts *parts, int known,
                         const struct tg_object *object, FILE *out) {
  struct parcel parcel = {object->hash, parts->count - known,
                          object->part_count};
  fwrite(&parcel, sizeof parcel, 1, out);
  for (int i = known; i < parts->count; i++) {
    struct part_head head = {parts->items[i]->hash, parts->items[i]->nbytes};
    fwrite(&head, sizeof head, 1, out);
    fwrite(parts->items[i]->data, 1, head.nbytes, out);
  }
  for (int i = 0; i < object->part_count; i++)
    fwrite(&object->parts[i]->hash, sizeof object->parts[i]->hash, 1, out);
  fwrite(object->data, 1, object->nbytes, out);
}

static enum tg_status build_candidate(void *user, FILE *out,
                                      struct tg_error *error) {
  const struct candidate_work *work = user;
  struct tg_object object;
  int known = work->job->parts.count;
  enum tg_status status = lower_candidate(work, error);
  if (status == TG_OK)
    status = compile_candidate(work, &object, error);
  if (status == TG_OK)
    status = check_candidate(work, &object, error);
  if (status != TG_OK)
    return status;
  write_parcel(&work->job->parts, known, &object, out);
  return ferror(out) ? tg_fail(error, "the object could not be handed over")
                     : TG_OK;
}

static void *copy_bytes(const unsigned char **at, size_t nbytes) {
  void *copy = malloc(nbytes + 1);
  if (copy)
    memcpy(copy, *at, nbytes);
  *at += nbytes;
  return copy;
}

static bool take_new_parts(struct tg_parts *parts, int count,
                           const unsigned char **at) {
  for (int i = 0; i < count; i++) {
    struct part_head head;
    memcpy(&head, *at, sizeof head);
    *at += sizeof head;
    unsigned char *data = copy_bytes(at, head.nbytes);
    if (!data || !tg_parts_add(parts, head.hash, data, head.nbytes))
      return false;
  }
  return true;
}

static bool take_object(struct tg_measure_job *job, struct tg_object *object,
                        const struct tg_blob *blob) {
  const unsigned char *at = blob->data, *end = at + blob->nbytes;
  struct parcel parcel;
  memcpy(&parcel, at, sizeof parcel);
  at += sizeof parcel;
  object->hash = parcel.hash;
  object->part_count = parcel.parts;
  object->parts = calloc((size_t)parcel.parts + 1, sizeof *object->parts);
  if (!object->parts || !take_new_parts(&job->parts, parcel.new_parts, &at))
    return false;
  for (int i = 0; i < parcel.parts; i++) {
    uint64_t hash;
    memcpy(&hash, at, sizeof hash);
    at += sizeof hash;
    object->parts[i] = tg_parts_find(&job->parts, hash);
    if (!object->parts[i])
      return false;
  }
  object->nbytes = (size_t)(end - at);
  object->data = copy_bytes(&at, object->nbytes);
  return object->data != NULL;
}

void tg_job_build_next(struct tg_measure_job *job, void (*idle)(void *user),
                       void *user) {
  struct tg_candidate *candidate = &job->candidates[job->built++];
  const char **stage = mmap(NULL, sizeof *stage, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (stage == MAP_FAILED) {
    snprintf(candidate->status, sizeof candidate->status, "out of memory");
    return;
  }
  *stage = "start";
  struct candidate_work work = {job, candidate, stage};
  const struct tg_measure_settings *settings = job->settings;
  /* The core for timing is often idle. Every second candidate leaves it alone,
   * so that who waits for it gets it. */
  int borrowed = job->built % 2 ? tg_borrow_core((int)settings->core) : -1;
  struct tg_limits limits = {
      .cpu_seconds = BUILD_LIMIT_S,
      .core = (int)(borrowed >= 0 ? settings->core : settings->build_core)};
  struct tg_child child;
  struct tg_error error;
  struct tg_blob blob = {0};
  enum tg_outcome outcome = TG_OUTCOME_FAILED;
  if (tg_child_start(&child, &limits, build_candidate, &work, &error) == TG_OK)
    while (!tg_child_poll(&child, &outcome, &blob, &error)) {
      idle(user);
      struct timespec pause = {0, 1000000};
      nanosleep(&pause, NULL);
    }
  if (outcome == TG_OUTCOME_OK && blob.nbytes) {
    if (!take_object(job, &candidate->object, &blob))
      snprintf(candidate->status, sizeof candidate->status, "out of memory");
  } else
    snprintf(candidate->status, sizeof candidate->status, "%s: %.200s", *stage,
             error.message);
  tg_return_core(borrowed);
  tg_blob_destroy(&blob);
  munmap(stage, sizeof *stage);
}

void tg_job_finish_build(struct tg_measure_job *job) {
  job->reference_config = -1;
  for (int i = 0; i < job->count; i++) {
    struct tg_candidate *c = &job->candidates[i];
    c->same_as = i;
    for (int j = 0; c->object.data && j < i; j++)
      if (job->candidates[j].object.data &&
          job->candidates[j].object.hash == c->object.hash) {
        c->same_as = job->candidates[j].same_as;
        break;
      }
    if (c->object.data && !strcmp(c->name, "analytic"))
      job->reference_config = c->same_as;
  }
  /* without the rule's choice the first that works is the measure */
  for (int i = 0; i < job->count && job->reference_config < 0; i++)
    if (job->candidates[i].object.data &&
        strcmp(job->candidates[i].name, "stock"))
      job->reference_config = i;
}
