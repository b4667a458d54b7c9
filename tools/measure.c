/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* tgraph measure: the command and its main loop; see measure.h. */
#include "tools/measure.h"

#include <math.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "model/decide.h"
#include "tools/build.h"
#include "tools/choices.h"
#include "tools/options.h"
#include "tools/progress.h"

int tg_command_measure(int argc, char **argv);

struct measure_options {
  struct tg_measure_settings settings;
  const char *pattern, *hash;
  double limit_minutes, again_percent, max_gflop;
  int64_t seed;
  bool list, graphs, again, refresh, json;
};

/* What the main loop keeps. */
struct run {
  const struct measure_options *options;
  struct tg_kernel_list kernels;
  struct tg_timer timer;
  struct tg_measure_job jobs[2]; /* one is built while the other is timed */
  double start_s;
  int finished, skipped, planned, failed_kernels;
  int candidates, failed_candidates, timed_candidates;
};

static void show_progress(struct run *run, const struct tg_measure_job *job) {
  double minutes = (tg_clock_seconds() - run->start_s) / 60;
  int left = run->planned - run->finished - run->failed_kernels;
  int done = run->finished + run->failed_kernels;
  char eta[32] = "?";
  if (done > 0)
    snprintf(eta, sizeof eta, "%.0f min", minutes / done * left);
  tg_progress("%d/%d kernels, building %d/%d of %.60s%s, %.0f candidates/min, "
              "%d failed, %s left",
              done, run->planned, job->built, job->count, job->entry->name,
              run->timer.job ? ", timing" : "",
              run->timed_candidates / fmax(minutes, 0.01),
              run->failed_candidates, eta);
}

static void report_json(const struct tg_measure_job *job, int good,
                        double best_ratio) {
  struct tg_json_writer json = {stdout, 0, false, true};
  tg_json_begin(&json, NULL, '{');
  tg_json_put_text(&json, "kernel", job->entry->name);
  tg_json_put_number(&json, "candidates", job->count);
  tg_json_put_number(&json, "good", good);
  tg_json_put_number(&json, "default_us", job->default_ns * 1e-3);
  tg_json_put_number(&json, "gflops",
                     job->entry->gflop * 1e9 / job->default_ns);
  tg_json_put_number(&json, "best_ratio", best_ratio);
  tg_json_put_number(&json, "rounds", job->rounds);
  tg_json_put_number(&json, "rejected_rounds", job->rejected_rounds);
  tg_json_end(&json, '}');
}

static void report_kernel(const struct run *run,
                          const struct tg_measure_job *job, int good) {
  int best = -1;
  for (int i = 0; i < job->count; i++)
    if (job->candidates[i].object.data && !job->candidates[i].status[0] &&
        (best < 0 || job->candidates[i].ratio < job->candidates[best].ratio))
      best = i;
  double ratio = best < 0 ? (double)NAN : exp(job->candidates[best].ratio);
  tg_progress_end();
  if (run->options->json)
    report_json(job, good, ratio);
  else
    printf("%-64.64s %3d/%d good  default %10.1f us  %6.1f GFLOP/s  best %.3f  "
           "rounds %d (%d rejected)\n",
           job->entry->name, good, job->count, job->default_ns * 1e-3,
           job->entry->gflop * 1e9 / job->default_ns, ratio, job->rounds,
           job->rejected_rounds);
  fflush(stdout);
}

/* The timer is done with its job: store it and free it. */
static void finish_job(struct run *run, struct tg_measure_job *job) {
  int good = 0;
  struct tg_error error;
  for (int i = 0; i < job->count; i++) {
    const struct tg_candidate *c = &job->candidates[i];
    if (tg_candidate_is_good(c))
      good++;
    else {
      run->failed_candidates++;
      tg_store_failure(job, c);
    }
  }
  run->candidates += job->count;
  run->timed_candidates += good;
  if (good < 2 || !(job->default_ns > 0)) {
    tg_progress_end();
    fprintf(stderr, "tgraph: %s: nothing to store, %d of %d candidates work\n",
            job->entry->name, good, job->count);
    run->failed_kernels++;
  } else if ((job->entry->path ? tg_store_graph
                               : tg_store_write)(job, &error) != TG_OK) {
    tg_complain("%s", error.message);
    run->failed_kernels++;
  } else {
    report_kernel(run, job, good);
    run->finished++;
  }
  tg_job_destroy(job);
}

static void poll_timer(void *user) {
  struct run *run = user;
  struct tg_measure_job *job = run->timer.job;
  if (job && tg_timer_poll(&run->timer))
    finish_job(run, job);
}

static void drain_timer(struct run *run) {
  while (run->timer.job) {
    poll_timer(run);
    struct timespec pause = {0, 5000000};
    nanosleep(&pause, NULL);
  }
}

static bool time_is_up(const struct run *run) {
  double limit = run->options->limit_minutes;
  return limit > 0 && tg_clock_seconds() - run->start_s > limit * 60;
}

static void note_failed_kernel(struct run *run,
                               const struct tg_kernel_entry *entry,
                               const char *message) {
  tg_progress_end();
  fprintf(stderr, "tgraph: %s: skipped: %s\n", entry->name, message);
  run->failed_kernels++;
}

/* Builds a kernel's candidates while the one before is timed, then hands it
 * to the timer. */
static void measure_kernel(struct run *run, struct tg_kernel_entry *entry) {
  struct tg_error error;
  struct tg_measure_job *job =
      run->timer.job == &run->jobs[0] ? &run->jobs[1] : &run->jobs[0];
  if (tg_job_create(job, &run->options->settings, entry, &error) != TG_OK) {
    note_failed_kernel(run, entry, error.message);
    return;
  }
  while (job->built < job->count) {
    show_progress(run, job);
    tg_job_build_next(job, poll_timer, run);
  }
  tg_job_finish_build(job);
  drain_timer(run);
  if (job->reference_config < 0) {
    finish_job(run, job); /* nothing works: the failures are recorded */
    return;
  }
  if (tg_timer_start(&run->timer, job, &error) != TG_OK) {
    note_failed_kernel(run, entry, error.message);
    tg_job_destroy(job);
  }
}

static bool is_done(const struct run *run,
                    const struct tg_kernel_entry *entry) {
  char path[4096];
  tg_store_path(&run->options->settings, entry, path, sizeof path);
  return access(path, R_OK) == 0;
}

static void print_list_json(const struct run *run) {
  struct tg_json_writer json = {stdout, 0, false, false};
  tg_json_begin(&json, NULL, '[');
  for (int i = 0; i < run->kernels.count; i++) {
    const struct tg_kernel_entry *e = &run->kernels.entries[i];
    char hash[24];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)e->hash);
    tg_json_begin(&json, NULL, '{');
    tg_json_put_text(&json, "kernel", e->name);
    tg_json_put_text(&json, "hash", hash);
    tg_json_put_text(&json, "family", e->family);
    tg_json_put_number(&json, "gflop", e->gflop);
    tg_json_put_number(&json, "uses", e->occurrences);
    tg_json_put_bool(&json, "done",
                     run->options->settings.folder && is_done(run, e));
    tg_json_put_text(&json, "programs", e->sources);
    tg_json_put_text(&json, "mlir", e->text);
    tg_json_end(&json, '}');
  }
  tg_json_end(&json, ']');
}

static void print_list(const struct run *run) {
  printf("%-64s %10s %4s %-5s %s\n", "kernel", "GFLOP", "uses", "done",
         "programs");
  for (int i = 0; i < run->kernels.count; i++) {
    const struct tg_kernel_entry *e = &run->kernels.entries[i];
    printf("%-64s %10.4f %4d %-5s %s\n", e->name, e->gflop, e->occurrences,
           run->options->settings.folder && is_done(run, e) ? "yes" : "no",
           e->sources);
  }
}

/* Drops the kernels that the options leave out; `hash`: NULL = any. */
static void filter_kernels(struct run *run, const regex_t *pattern,
                           const uint64_t *hash) {
  int kept = 0;
  for (int i = 0; i < run->kernels.count; i++) {
    struct tg_kernel_entry *e = &run->kernels.entries[i];
    if ((pattern && regexec(pattern, e->name, 0, NULL, 0)) ||
        (hash && e->hash != *hash) || e->gflop > run->options->max_gflop) {
      free(e->text);
      free(e->path);
      continue;
    }
    run->kernels.entries[kept++] = *e;
  }
  run->kernels.count = kept;
}

/* Sixteen digits, as the list and the files' names have them. */
static bool parse_hash(const char *text, uint64_t *hash) {
  char *end;
  *hash = strtoull(text, &end, 16);
  return strlen(text) == 16 && strspn(text, "0123456789abcdef") == 16 && !*end;
}

static int collect_kernels(struct run *run, char **paths, int count) {
  struct tg_error error;
  regex_t pattern;
  uint64_t hash;
  const char *text = run->options->pattern, *only = run->options->hash;
  if (only && !parse_hash(only, &hash))
    return tg_complain("measure: option --hash: '%s' is not of 16 hexadecimal "
                       "digits",
                       only);
  if (text && regcomp(&pattern, text, REG_EXTENDED | REG_NOSUB))
    return tg_complain("measure: option --kernels: '%s' is no regular "
                       "expression",
                       text);
  int status = TG_EXIT_GOOD;
  for (int i = 0; i < count && status == TG_EXIT_GOOD; i++) {
    tg_progress("reading %s", paths[i]);
    if ((run->options->graphs ? tg_kernels_add_graph : tg_kernels_add_file)(
            &run->kernels, paths[i], &error) != TG_OK)
      status = tg_complain("%s", error.message);
  }
  tg_progress_end();
  filter_kernels(run, text ? &pattern : NULL, only ? &hash : NULL);
  tg_kernels_interleave(&run->kernels);
  if (text)
    regfree(&pattern);
  if (status == TG_EXIT_GOOD && only && !run->kernels.count)
    return tg_complain("measure: option --hash: no kernel has the hash %s",
                       only);
  return status;
}

static void print_sums(const struct run *run, int left, double minutes) {
  if (!run->options->json) {
    printf("%d kernels measured, %d without result, %d left; %d candidates "
           "timed, %d failed, %.1f minutes (%.0f a minute)\n",
           run->finished, run->failed_kernels, left, run->timed_candidates,
           run->failed_candidates, minutes,
           run->timed_candidates / fmax(minutes, 1e-3));
    return;
  }
  struct tg_json_writer json = {stdout, 0, false, true};
  tg_json_begin(&json, NULL, '{');
  tg_json_put_number(&json, "kernels_measured", run->finished);
  tg_json_put_number(&json, "kernels_without_result", run->failed_kernels);
  tg_json_put_number(&json, "kernels_left", left);
  tg_json_put_number(&json, "kernels_done_before", run->skipped);
  tg_json_put_number(&json, "candidates_timed", run->timed_candidates);
  tg_json_put_number(&json, "candidates_failed", run->failed_candidates);
  tg_json_put_number(&json, "minutes", minutes);
  tg_json_end(&json, '}');
}

static int measure_all(struct run *run) {
  run->start_s = tg_clock_seconds();
  for (int i = 0; i < run->kernels.count; i++)
    run->planned += !is_done(run, &run->kernels.entries[i]);
  run->skipped = run->kernels.count - run->planned;
  if (!run->options->json)
    printf("%d kernels, %d already measured, up to %lld candidates each\n",
           run->kernels.count, run->skipped,
           (long long)run->options->settings.config_count);
  fflush(stdout);
  for (int i = 0; i < run->kernels.count && !time_is_up(run); i++)
    if (!is_done(run, &run->kernels.entries[i]))
      measure_kernel(run, &run->kernels.entries[i]);
  drain_timer(run);
  double minutes = (tg_clock_seconds() - run->start_s) / 60;
  print_sums(run, run->planned - run->finished - run->failed_kernels, minutes);
  return run->failed_kernels ? TG_EXIT_FAILED : TG_EXIT_GOOD;
}

static bool read_options(int argc, char **argv, struct measure_options *o,
                         int *count, int *status) {
  const struct tg_option options[] = {
      {"o", TG_OPTION_TEXT, &o->settings.folder, 0, 0, "DIR",
       "folder of the data; created, and continued where it exists"},
      {"configs", TG_OPTION_INT, &o->settings.config_count, 2,
       TG_CANDIDATE_LIMIT, "N", "candidates of each kernel (default 64)"},
      {"kernels", TG_OPTION_TEXT, &o->pattern, 0, 0, "REGEX",
       "only kernels whose name contains a match"},
      {"hash", TG_OPTION_TEXT, &o->hash, 0, 0, "HASH",
       "only the kernel with this hash, as --list --json has it;\nnames may "
       "be those of several kernels"},
      {"max-gflop", TG_OPTION_REAL, &o->max_gflop, 0, 1e9, "X",
       "leave out kernels with more work than this (default 4)"},
      {"seed", TG_OPTION_INT, &o->seed, 0, 1e15, "N",
       "seed of the candidates, the data and the orders (default 0)"},
      {"core", TG_OPTION_INT, &o->settings.core, 0, 4095, "N",
       "core to time on (default: the last); the first other\none compiles"},
      {"target", TG_OPTION_TEXT, &o->settings.target_text, 0, 0, "TARGET",
       "as the option of tgraph-select-layouts (default host)"},
      {"model", TG_OPTION_TEXT, &o->settings.model, 0, 0, "MODEL",
       "measure its choice as well, as the option of\ntgraph-select-layouts; "
       "tgraph eval then compares it with the rest"},
      {"limit-minutes", TG_OPTION_REAL, &o->limit_minutes, 0, 1e6, "M",
       "start no kernel after this time"},
      {"list", TG_OPTION_BOOL, &o->list, 0, 0, NULL, "only list the kernels"},
      {"graphs", TG_OPTION_BOOL, &o->graphs, 0, 0, NULL,
       "measure the programs as wholes: orders of tensors and\nconfigurations "
       "chosen for each kernel in them"},
      {"again", TG_OPTION_BOOL, &o->again, 0, 0, NULL,
       "measure some of the finished kernels in DIR a second time;\nof graphs "
       "with --graphs, which takes the programs once more"},
      {"percent", TG_OPTION_REAL, &o->again_percent, 0, 100, "P",
       "how many of the kernels for --again (default 5, at least 3)"},
      {"refresh", TG_OPTION_BOOL, &o->refresh, 0, 0, NULL,
       "compute graph and features in DIR anew, measure nothing"},
      {"json", TG_OPTION_BOOL, &o->json, 0, 0, NULL,
       "print JSON: an object a line for each kernel and one of the\nsums, "
       "or the list"},
  };
  const struct tg_command_line line = {
      .name = "measure",
      .operands = "IN.mlir[.gz]... -o DIR",
      .about =
          "Takes every distinct matmul, contraction and convolution out of "
          "the programs, and times\nconfigurations of each on this machine. "
          "A candidate is compiled, run once and compared\nwith the stock "
          "lowering in a process of its own; those that are right are timed "
          "in\nrandom rounds against the analytic rule's choice, until the "
          "interval of the ratio is\nwithin 1 % or the candidate is clearly "
          "1.3 times slower. Each kernel becomes a file\n"
          "DIR/kernel-HASH.npz in the TpuGraphs form, failures are listed in "
          "DIR/failures.jsonl.\nWith --graphs each program becomes a "
          "file DIR/graph-HASH.npz instead, timed as a whole.\nThe work can be "
          "stopped at any time; the "
          "same command goes on with what is left.\n",
      .examples = "  tgraph measure --list net.mlir\n"
                  "  tgraph measure nets/*.mlir.gz -o data --configs 64\n"
                  "  tgraph measure --graphs nets/*.mlir.gz -o data "
                  "--max-gflop 20\n"
                  "  tgraph measure -o data --again\n",
      .options = options,
      .option_count = TG_COUNT(options),
  };
  return tg_parse_options(&line, argc, argv, count, status);
}

/* Weights that can't be read are told before the first kernel. */
static enum tg_status check_model(const struct tg_measure_settings *s,
                                  struct tg_error *error) {
  struct tg_decider decider = {0};
  struct tg_arena *arena = tg_arena_create();
  if (!arena)
    return tg_fail_memory(error, s->model);
  enum tg_status status = tg_decider_init(&decider, s->model, &s->target,
                                          TG_SEARCH_AUTO, 2, 0, arena, error);
  tg_decider_release(&decider);
  tg_arena_destroy(arena);
  return status;
}

static int check_options(struct measure_options *o, int count) {
  struct tg_measure_settings *s = &o->settings;
  struct tg_error error;
  if (count < 1 && (o->graphs || !o->again) && !o->refresh)
    return tg_complain("measure: no program given (see 'tgraph measure "
                       "--help')");
  if (!s->folder && !o->list)
    return tg_complain("measure: option -o is missing: where do the data go?");
  if (s->core >= tg_core_count())
    return tg_complain("measure: option --core: this machine has the cores 0 "
                       "to %d",
                       tg_core_count() - 1);
  if (tg_compile_options_create(s->target_text, "main", &s->target, &s->compile,
                                &error) != TG_OK)
    return tg_complain("measure: option --target: %s", error.message);
  if (s->model[0] && check_model(s, &error) != TG_OK)
    return tg_complain("measure: option --model: %s", error.message);
  if (s->folder && !o->list && tg_make_folder(s->folder, &error) != TG_OK)
    return tg_complain("measure: option -o: %s", error.message);
  s->seed = (uint64_t)o->seed;
  s->build_core = s->core == 0 && tg_core_count() > 1 ? 1 : 0;
  return TG_EXIT_GOOD;
}

int tg_command_measure(int argc, char **argv) {
  static struct run run;
  static struct measure_options options = {
      .settings = {.config_count = 64, .target_text = "host", .model = ""},
      .again_percent = 5,
      .max_gflop = 4,
  };
  options.settings.core = tg_core_count() - 1;
  int count, status;
  if (!read_options(argc, argv, &options, &count, &status))
    return status;
  status = check_options(&options, count);
  if (status != TG_EXIT_GOOD)
    return status;
  run.options = &options;
  if (!options.list) {
    tg_keep_pages();
    tg_pin_to_core((int)options.settings.build_core);
  }
  if (options.refresh)
    return tg_measure_refresh(&options.settings);
  double share = options.again_percent / 100;
  if (options.again && !options.graphs)
    return tg_measure_again(&options.settings, share);
  status = collect_kernels(&run, argv + 1, count);
  if (status == TG_EXIT_GOOD && options.again)
    status = tg_measure_graphs_again(&options.settings, &run.kernels, share);
  else if (status == TG_EXIT_GOOD && options.list)
    options.json ? print_list_json(&run) : print_list(&run);
  else if (status == TG_EXIT_GOOD)
    status = measure_all(&run);
  tg_kernels_destroy(&run.kernels);
  return status;
}
