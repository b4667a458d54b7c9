/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Building the sides of a race; see build.h. */
#include "tools/build.h"

#include <mlir-c/BuiltinAttributes.h>
#include <stdlib.h>
#include <string.h>

#include "model/file.h"
#include "passes/passes.h"
#include "passes/stock.h"
#include "tools/call.h"
#include "tools/choices.h"
#include "tools/timing.h"
#include "tools/versions.h"
#include "tools/weights.h"

const char *const tg_side_names[TG_SIDE_COUNT] = {
#define SIDE(id, name, doc) name,
#include "tools/sides.def"
};

struct tg_build_options tg_build_options_default(void) {
  struct tg_select_options select = tg_select_options_default();
  struct tg_build_options options = {
      .target = select.target,
      .model = select.model,
      .search = select.search,
      .budget = select.budget,
      .seed = select.seed,
      .weights = "",
      .cache = NULL,
      .limits = {.seconds = 1800, .memory_nbytes = 0, .core = -1},
  };
  return options;
}

enum tg_status tg_compile_options_create(const char *target,
                                         const char *function,
                                         struct tg_target *storage,
                                         struct tg_compile_options *options,
                                         struct tg_error *error) {
  bool host = !strcmp(target, "host") || !strcmp(target, "dlti");
  enum tg_status status =
      tg_target_parse(host ? "host" : target, storage, error);
  options->function = function;
  options->split = NULL;
  options->cpu = host ? "" : storage->cpu;
  options->features = host ? "" : storage->features;
  return status;
}

/* What the child sends: this, the choices, the object. */
struct parcel {
  double select_s, lower_s, compile_s;
  int choice_count, missed_count;
  uint64_t hash;
  size_t choices_nbytes, object_nbytes;
};

struct build_job {
  struct tg_program *program;
  enum tg_side side;
  const struct tg_build_options *options;
};

static struct tg_select_options
select_options(const struct tg_build_options *options) {
  struct tg_select_options select = tg_select_options_default();
  select.target = options->target;
  select.model = options->model;
  select.search = options->search;
  select.budget = options->budget;
  select.seed = options->seed;
  select.reassociate = options->reassociate;
  select.fold_batchnorm = options->fold_batchnorm;
  select.prepack = options->prepack;
  select.weights = options->weights;
  if (options->layouts)
    select.layouts = options->layouts;
  if (options->attention)
    select.attention = options->attention;
  return select;
}

enum tg_status tg_build_check(const struct tg_program *program,
                              const struct tg_build_options *options,
                              struct tg_error *error) {
  struct tg_select_options select = select_options(options);
  MlirOperation copy = mlirOperationClone(program->module);
  struct tg_diagnostics diagnostics;
  tg_diagnostics_attach(&diagnostics, program, error);
  tg_load_dialects(program->context);
  if (options->prepack &&
      tg_weights_mark(program, copy, options->weights, error) != TG_OK) {
    tg_diagnostics_detach(&diagnostics);
    mlirOperationDestroy(copy);
    return TG_BAD_INPUT;
  }
  bool good =
      mlirLogicalResultIsSuccess(tg_select_layouts(copy, &select, NULL));
  tg_diagnostics_detach(&diagnostics);
  mlirOperationDestroy(copy);
  if (!good && !diagnostics.seen)
    tg_fail(error, "%s: select failed without a reason", program->path);
  return good ? TG_OK : TG_BAD_INPUT;
}

static enum tg_status lower_ours(const struct build_job *job,
                                 struct tg_choices *choices,
                                 struct parcel *parcel,
                                 struct tg_split_signature *split,
                                 struct tg_error *error) {
  MlirOperation module = job->program->module;
  struct tg_select_options select = select_options(job->options);
  if (job->side == TG_SIDE_ANALYTIC) {
    select.model = "analytic";
    select.reassociate = select.fold_batchnorm = false;
    select.layouts = "given";
    select.attention = "whole";
  }
  tg_load_dialects(job->program->context);
  if (select.prepack &&
      tg_weights_mark(job->program, module, select.weights, error) != TG_OK)
    return TG_BAD_INPUT;
  struct tg_remark_sink sink = tg_choices_sink(choices);
  double start = tg_clock_seconds();
  if (mlirLogicalResultIsFailure(tg_select_layouts(module, &select, &sink)))
    return TG_BAD_INPUT;
  double selected = tg_clock_seconds();
  parcel->select_s = selected - start;
  tg_choices_collect(choices, module);
  if (mlirLogicalResultIsFailure(tg_apply_layouts(module, &sink)))
    return TG_BAD_INPUT;
  if (select.prepack &&
      tg_weights_find(job->program, module, split, error) != TG_OK)
    return TG_BAD_INPUT;
  if (mlirLogicalResultIsFailure(tg_lower(module, &sink)))
    return TG_BAD_INPUT;
  parcel->lower_s = tg_clock_seconds() - selected;
  return TG_OK;
}

static enum tg_status lower_side(const struct build_job *job,
                                 struct tg_choices *choices,
                                 struct parcel *parcel,
                                 struct tg_split_signature *split,
                                 struct tg_error *error) {
  struct tg_diagnostics diagnostics;
  tg_diagnostics_attach(&diagnostics, job->program, error);
  enum tg_status status;
  if (job->side == TG_SIDE_STOCK) {
    double start = tg_clock_seconds();
    status = mlirLogicalResultIsSuccess(tg_stock_lower(job->program->module))
                 ? TG_OK
                 : TG_BAD_INPUT;
    parcel->lower_s = tg_clock_seconds() - start;
  } else {
    status = lower_ours(job, choices, parcel, split, error);
  }
  tg_diagnostics_detach(&diagnostics);
  if (status != TG_OK && !diagnostics.seen && !error->message[0])
    tg_fail(error, "%s: the lowering of side '%s' failed without a reason",
            job->program->path, tg_side_names[job->side]);
  return status;
}

/* A user's transform script stays in the program but is no code. */
static void erase_transform_scripts(MlirOperation module) {
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(module, 0));
  MlirOperation next = mlirBlockGetFirstOperation(body);
  while (!mlirOperationIsNull(next)) {
    MlirOperation op = next;
    next = mlirOperationGetNextInBlock(op);
    MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
    bool script =
        (name.length > 10 && !memcmp(name.data, "transform.", 10)) ||
        !mlirAttributeIsNull(mlirOperationGetDiscardableAttributeByName(
            op,
            mlirStringRefCreateFromCString("transform.with_named_sequence")));
    if (script)
      mlirOperationDestroy(op);
  }
}

static enum tg_status build_work(void *user, FILE *out,
                                 struct tg_error *error) {
  const struct build_job *job = user;
  struct parcel parcel = {0};
  struct tg_choices choices = {0};
  struct tg_target target;
  struct tg_compile_options compile;
  enum tg_status status = tg_compile_options_create(
      job->options->target, job->program->function, &target, &compile, error);
  struct tg_split_signature split = {0};
  if (status == TG_OK)
    status = lower_side(job, &choices, &parcel, &split, error);
  compile.split = &split;
  if (status != TG_OK)
    return status;
  struct tg_object object;
  double start = tg_clock_seconds();
  erase_transform_scripts(job->program->module);
  status = tg_compile(job->program->module, &compile, &object, error);
  if (status != TG_OK)
    return status;
  parcel.compile_s = tg_clock_seconds() - start;
  parcel.choice_count = choices.count;
  parcel.missed_count = choices.missed;
  parcel.hash = object.hash;
  parcel.choices_nbytes = choices.text.length;
  parcel.object_nbytes = object.nbytes;
  fwrite(&parcel, sizeof parcel, 1, out);
  if (choices.text.length)
    fwrite(choices.text.data, 1, choices.text.length, out);
  fwrite(object.data, 1, object.nbytes, out);
  return ferror(out) ? tg_fail(error, "the object could not be handed over")
                     : TG_OK;
}

static void unpack_parcel(const struct tg_blob *blob, struct tg_build *build) {
  struct parcel parcel;
  memcpy(&parcel, blob->data, sizeof parcel);
  const char *at = (const char *)blob->data + sizeof parcel;
  build->select_s = parcel.select_s;
  build->lower_s = parcel.lower_s;
  build->compile_s = parcel.compile_s;
  build->choice_count = parcel.choice_count;
  build->missed_count = parcel.missed_count;
  build->choices = calloc(parcel.choices_nbytes + 1, 1);
  build->object.data = malloc(parcel.object_nbytes);
  if (!build->choices || !build->object.data) {
    build->outcome = TG_OUTCOME_FAILED;
    tg_fail(&build->error, "out of memory");
    return;
  }
  memcpy(build->choices, at, parcel.choices_nbytes);
  memcpy(build->object.data, at + parcel.choices_nbytes, parcel.object_nbytes);
  build->object.nbytes = parcel.object_nbytes;
  build->object.hash = parcel.hash;
}

/* The cache's file for the stock object of a program, or false. */
static bool cache_path(const struct build_job *job, char *path, size_t room) {
  if (!job->options->cache || job->side != TG_SIDE_STOCK)
    return false;
  uint64_t hash = job->program->hash;
  const char *parts[] = {tg_stock_pipeline(), job->options->target,
                         job->program->function, tg_llvm_version(),
                         tg_host_description()};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    hash = tg_hash_bytes(hash, parts[i], strlen(parts[i]) + 1);
  int length = snprintf(path, room, "%s/stock-%016llx.o", job->options->cache,
                        (unsigned long long)hash);
  return length > 0 && (size_t)length < room;
}

static bool read_cache(const char *path, struct tg_object *object) {
  struct tg_error ignored;
  char *text;
  if (tg_read_text(path, &text, &object->nbytes, &ignored) != TG_OK)
    return false;
  object->data = (unsigned char *)text;
  object->hash = tg_hash_bytes(0, object->data, object->nbytes);
  return true;
}

void tg_build_side(struct tg_program *program, enum tg_side side,
                   const struct tg_build_options *options,
                   struct tg_build *build) {
  struct build_job job = {program, side, options};
  char path[4096];
  memset(build, 0, sizeof *build);
  bool may_cache = cache_path(&job, path, sizeof path);
  if (may_cache && read_cache(path, &build->object)) {
    build->cached = true;
    return;
  }
  struct tg_blob blob;
  build->outcome =
      tg_child_run(&options->limits, build_work, &job, &blob, &build->error);
  if (build->outcome == TG_OUTCOME_OK)
    unpack_parcel(&blob, build);
  tg_blob_destroy(&blob);
  struct tg_error ignored; /* a cache that can't be written is only slower */
  if (may_cache && build->outcome == TG_OUTCOME_OK &&
      tg_make_folder(options->cache, &ignored) == TG_OK)
    tg_file_write(path, build->object.data, build->object.nbytes, &ignored);
}

void tg_build_destroy(struct tg_build *build) {
  free(build->choices);
  tg_object_destroy(&build->object);
  memset(build, 0, sizeof *build);
}

struct capture_job {
  const struct tg_program *program;
  const struct tg_object *object;
  uint64_t seed;
};

static enum tg_status capture_work(void *user, FILE *out,
                                   struct tg_error *error) {
  const struct capture_job *job = user;
  struct tg_code code;
  struct tg_call call;
  tg_keep_pages();
  enum tg_status status = tg_code_create(&code, job->object, true, error);
  if (status == TG_OK)
    status = tg_call_create(&call, job->program, error);
  if (status != TG_OK)
    return status;
  tg_call_fill(&call, job->seed);
  tg_call_prepack(&call, &code);
  tg_code_reset_peak();
  int64_t peak[2] = {0, 0};
  fwrite(peak, sizeof peak, 1, out);
  if (!tg_call_capture(&call, &code, out))
    return tg_fail(error, "the results could not be written");
  peak[0] = tg_code_peak_nbytes();
  rewind(out);
  fwrite(peak, sizeof peak, 1, out);
  return ferror(out) ? tg_fail(error, "the results could not be written")
                     : TG_OK;
}

enum tg_outcome tg_capture_run(const struct tg_program *program,
                               const struct tg_object *object, uint64_t seed,
                               const struct tg_limits *limits,
                               struct tg_blob *blob, int64_t *peak_nbytes,
                               struct tg_error *error) {
  struct capture_job job = {program, object, seed};
  enum tg_outcome outcome =
      tg_child_run(limits, capture_work, &job, blob, error);
  if (outcome == TG_OUTCOME_OK && peak_nbytes)
    memcpy(peak_nbytes, blob->data, sizeof *peak_nbytes);
  return outcome;
}
