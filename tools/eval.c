/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* tgraph eval: how well a model's scores order measured configurations. */
#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "model/dataset.h"
#include "model/infer.h"
#include "model/metrics.h"
#include "tools/options.h"
#include "tools/progress.h"
#include "tools/text.h"

int tg_command_eval(int argc, char **argv);

/* One data file's figures. */
struct graph_result {
  char *path;
  char kernel[160], family[64];
  int64_t config_count;
  struct tg_metrics metrics;
  double ceiling;            /* NaN without a second measurement */
  double chosen_slowdown1;   /* NaN where no choice was measured */
  double analytic_slowdown1; /* NaN where the rule's choice isn't known */
};

struct result_list {
  struct graph_result *items;
  int count;
};

static enum tg_status score_tiles(const struct tg_model *model,
                                  const struct tg_tile_data *data,
                                  struct tg_arena *arena, float *scores,
                                  struct tg_error *error) {
  float *spread =
      tg_arena_alloc(arena, (size_t)data->config_count + 1, sizeof *spread);
  if (!spread)
    return tg_fail_memory(error, "scoring");
  struct tg_target generic;
  enum tg_status status = tg_target_parse("generic", &generic, error);
  if (status != TG_OK)
    return status;
  struct tg_tile_batch batch = {
      .graph = &data->graph,
      .target = data->has_target ? &data->target : &generic,
      .config_count = data->config_count,
      .feature_count = data->feature_count,
      .feature_names = data->feature_names,
      .feature_versions = data->feature_versions,
      .config_feat = data->features,
  };
  return tg_model_score_tiles(model, &batch, arena, scores, spread, error);
}

static double *widen(const float *values, int64_t count,
                     struct tg_arena *arena) {
  double *out = tg_arena_alloc(arena, (size_t)count + 1, sizeof *out);
  for (int64_t i = 0; out && i < count; i++)
    out[i] = (double)values[i];
  return out;
}

/* Of one configuration against the best one; NaN where it isn't known. */
static double slowdown_of(int64_t count, const double *runtime_ns,
                          int64_t config) {
  if (config < 0)
    return NAN;
  double best = runtime_ns[0];
  for (int64_t i = 1; i < count; i++)
    best = fmin(best, runtime_ns[i]);
  return runtime_ns[config] / best - 1;
}

static enum tg_status eval_tiles(const struct tg_model *model,
                                 const struct tg_npz *npz,
                                 struct tg_arena *arena, struct graph_result *r,
                                 struct tg_error *error) {
  struct tg_tile_data data;
  enum tg_status status = tg_tile_data_read(npz, arena, &data, error);
  if (status != TG_OK)
    return status;
  if (!data.features)
    return tg_fail(error,
                   "%s: has no key 'features': it was not made by "
                   "tgraph measure",
                   npz->path);
  int64_t count = data.config_count;
  float *scores = tg_arena_alloc(arena, (size_t)count + 1, sizeof *scores);
  if (!scores)
    return tg_fail_memory(error, "scoring");
  status = score_tiles(model, &data, arena, scores, error);
  double *wide = widen(scores, count, arena);
  if (status != TG_OK || !wide)
    return status != TG_OK ? status : tg_fail_memory(error, "scoring");
  r->config_count = count;
  r->metrics =
      tg_metrics_compute(count, wide, data.runtime_ns, data.ratio_ci, arena);
  if (data.rerun_ns)
    r->ceiling = tg_tau_ceiling(count, data.runtime_ns, data.rerun_ns, arena);
  r->analytic_slowdown1 =
      slowdown_of(count, data.runtime_ns, data.analytic_config);
  r->chosen_slowdown1 = slowdown_of(count, data.runtime_ns, data.chosen_config);
  snprintf(r->kernel, sizeof r->kernel, "%s", data.kernel ? data.kernel : "");
  snprintf(r->family, sizeof r->family, "%s", data.family ? data.family : "");
  return TG_OK;
}

static enum tg_status eval_layouts(const struct tg_model *model,
                                   const struct tg_npz *npz,
                                   struct tg_arena *arena,
                                   struct graph_result *r,
                                   struct tg_error *error) {
  struct tg_layout_data data;
  enum tg_status status = tg_layout_data_read(npz, arena, &data, error);
  if (status != TG_OK)
    return status;
  int64_t count = data.config_count;
  float *scores = tg_arena_alloc(arena, (size_t)count + 1, sizeof *scores);
  if (!scores)
    return tg_fail_memory(error, "scoring");
  struct tg_layout_batch batch = {
      .graph = &data.graph,
      .config_count = count,
      .configurable_count = data.configurable_count,
      .node_config_ids = data.node_config_ids,
      .node_config_feat = data.node_config_feat,
  };
  status = tg_model_score_layouts(model, &batch, arena, scores, error);
  double *wide = widen(scores, count, arena);
  if (status != TG_OK || !wide)
    return status != TG_OK ? status : tg_fail_memory(error, "scoring");
  r->config_count = count;
  r->metrics =
      tg_metrics_compute(count, wide, data.runtime_ns, data.ratio_ci, arena);
  r->analytic_slowdown1 =
      slowdown_of(count, data.runtime_ns, data.analytic_config);
  r->chosen_slowdown1 = slowdown_of(count, data.runtime_ns, data.chosen_config);
  snprintf(r->kernel, sizeof r->kernel, "%s", data.name ? data.name : "");
  snprintf(r->family, sizeof r->family, "%s", data.family ? data.family : "");
  if (data.rerun_ns)
    r->ceiling = tg_tau_ceiling(count, data.runtime_ns, data.rerun_ns, arena);
  else if (data.run_count > 0)
    r->ceiling =
        tg_tau_ceiling_runs(count, data.run_count, data.run_config_index,
                            data.run_runtime_ns, arena);
  return TG_OK;
}

static enum tg_status eval_file(const struct tg_model *model, const char *path,
                                struct result_list *list,
                                struct tg_error *error) {
  struct graph_result *grown =
      realloc(list->items, sizeof *grown * ((size_t)list->count + 1));
  if (!grown)
    return tg_fail_memory(error, path);
  list->items = grown;
  struct graph_result *r = &grown[list->count];
  memset(r, 0, sizeof *r);
  r->ceiling = r->analytic_slowdown1 = r->chosen_slowdown1 = NAN;
  struct tg_arena *arena = tg_arena_create();
  struct tg_npz *npz;
  enum tg_status status = arena ? TG_OK : tg_fail_memory(error, path);
  if (status == TG_OK)
    status = tg_npz_read(path, arena, &npz, error);
  if (status == TG_OK)
    status = tg_dataset_is_layout(npz)
                 ? eval_layouts(model, npz, arena, r, error)
                 : eval_tiles(model, npz, arena, r, error);
  tg_arena_destroy(arena);
  if (status != TG_OK && strncmp(error->message, path, strlen(path))) {
    struct tg_error cause = *error; /* of the model: it doesn't know the file */
    tg_fail(error, "%.200s: %.300s", path, cause.message);
  }
  if (status == TG_OK) {
    r->path = strdup(path);
    list->count += r->path != NULL;
  }
  return status;
}

static int is_npz(const struct dirent *entry) {
  size_t length = strlen(entry->d_name);
  return length > 4 && !strcmp(entry->d_name + length - 4, ".npz");
}

static enum tg_status eval_path(const struct tg_model *model, const char *path,
                                struct result_list *list,
                                struct tg_error *error) {
  struct stat info;
  if (stat(path, &info) || !S_ISDIR(info.st_mode))
    return eval_file(model, path, list, error);
  struct dirent **names;
  int count = scandir(path, &names, is_npz, alphasort);
  if (count < 1)
    return tg_fail(error, "%s: the folder has no .npz files", path);
  enum tg_status status = TG_OK;
  for (int i = 0; i < count; i++) {
    char file[4096];
    snprintf(file, sizeof file, "%s/%s", path, names[i]->d_name);
    tg_progress("%d/%d %s", i, count, names[i]->d_name);
    if (status == TG_OK)
      status = eval_file(model, file, list, error);
    free(names[i]);
  }
  free(names);
  tg_progress_end();
  return status;
}

/* The mean over the graphs that have the figure. */
struct mean {
  double sum;
  int count;
};
static void add_to_mean(struct mean *mean, double value) {
  if (isfinite(value)) {
    mean->sum += value;
    mean->count++;
  }
}
static double mean_of(const struct mean *mean) {
  return mean->count ? mean->sum / mean->count : (double)NAN;
}

struct summary {
  struct mean tau, ceiling, top1, top5, top10, slowdown1, slowdown5, pairs;
  struct mean log_slowdown1, log_analytic, log_chosen;
};

static struct summary summarize(const struct result_list *list) {
  struct summary s = {0};
  for (int i = 0; i < list->count; i++) {
    const struct graph_result *r = &list->items[i];
    add_to_mean(&s.tau, r->metrics.tau);
    add_to_mean(&s.ceiling, r->ceiling);
    add_to_mean(&s.top1, r->metrics.top1);
    add_to_mean(&s.top5, r->metrics.top5);
    add_to_mean(&s.top10, r->metrics.top10);
    add_to_mean(&s.slowdown1, r->metrics.slowdown1);
    add_to_mean(&s.slowdown5, r->metrics.slowdown5);
    add_to_mean(&s.pairs, r->metrics.pair_accuracy);
    add_to_mean(&s.log_slowdown1, log1p(r->metrics.slowdown1));
    add_to_mean(&s.log_analytic, log1p(r->analytic_slowdown1));
    add_to_mean(&s.log_chosen, log1p(r->chosen_slowdown1));
  }
  return s;
}

static void put_metrics(struct tg_json_writer *json, const struct tg_metrics *m,
                        double ceiling) {
  tg_json_put_number(json, "tau", m->tau);
  tg_json_put_number(json, "tau_ceiling", ceiling);
  tg_json_put_number(json, "top1", m->top1);
  tg_json_put_number(json, "top5", m->top5);
  tg_json_put_number(json, "top10", m->top10);
  tg_json_put_number(json, "slowdown1", m->slowdown1);
  tg_json_put_number(json, "slowdown5", m->slowdown5);
  tg_json_put_number(json, "pair_accuracy", m->pair_accuracy);
}

static struct tg_metrics means(const struct summary *s) {
  struct tg_metrics m = {
      .tau = mean_of(&s->tau),
      .top1 = mean_of(&s->top1),
      .top5 = mean_of(&s->top5),
      .top10 = mean_of(&s->top10),
      .slowdown1 = mean_of(&s->slowdown1),
      .slowdown5 = mean_of(&s->slowdown5),
      .pair_accuracy = mean_of(&s->pairs),
  };
  return m;
}

static void print_json(const struct result_list *list) {
  struct tg_json_writer json = {stdout, 0, false, false};
  struct summary s = summarize(list);
  struct tg_metrics m = means(&s);
  tg_json_begin(&json, NULL, '{');
  put_metrics(&json, &m, mean_of(&s.ceiling));
  tg_json_put_number(&json, "slowdown1_geomean",
                     expm1(mean_of(&s.log_slowdown1)));
  tg_json_put_number(&json, "analytic_slowdown1_geomean",
                     expm1(mean_of(&s.log_analytic)));
  tg_json_put_number(&json, "chosen_slowdown1_geomean",
                     expm1(mean_of(&s.log_chosen)));
  tg_json_put_number(&json, "graph_count", list->count);
  tg_json_begin(&json, "graphs", '[');
  for (int i = 0; i < list->count; i++) {
    const struct graph_result *r = &list->items[i];
    tg_json_begin(&json, NULL, '{');
    tg_json_put_text(&json, "path", r->path);
    tg_json_put_text(&json, "kernel", r->kernel);
    tg_json_put_text(&json, "family", r->family);
    tg_json_put_number(&json, "configs", (double)r->config_count);
    put_metrics(&json, &r->metrics, r->ceiling);
    tg_json_put_number(&json, "analytic_slowdown1", r->analytic_slowdown1);
    tg_json_put_number(&json, "chosen_slowdown1", r->chosen_slowdown1);
    tg_json_end(&json, '}');
  }
  tg_json_end(&json, ']');
  tg_json_end(&json, '}');
}

static void print_figures(const struct tg_metrics *m, double ceiling,
                          double analytic, double chosen) {
  printf(" %7.3f %7.3f %6.3f %6.3f %6.3f %9.3f %9.3f %7.3f %9.3f %9.3f\n",
         m->tau, ceiling, m->top1, m->top5, m->top10, m->slowdown1,
         m->slowdown5, m->pair_accuracy, analytic, chosen);
}

static void print_table(const struct result_list *list) {
  printf("%-52s %7s %7s %7s %6s %6s %6s %9s %9s %7s %9s %9s\n", "graph",
         "configs", "tau", "ceiling", "top1", "top5", "top10", "slowdown1",
         "slowdown5", "pairs", "rule", "choice");
  for (int i = 0; i < list->count; i++) {
    const struct graph_result *r = &list->items[i];
    printf("%-52.52s %7lld", r->kernel[0] ? r->kernel : r->path,
           (long long)r->config_count);
    print_figures(&r->metrics, r->ceiling, r->analytic_slowdown1,
                  r->chosen_slowdown1);
  }
  struct summary s = summarize(list);
  struct tg_metrics m = means(&s);
  printf("%-52s %7d", "mean over graphs", list->count);
  print_figures(&m, mean_of(&s.ceiling), NAN, NAN);
  printf("geometric mean of the slowdown: model's first %.4f, analytic rule's "
         "%.4f, choice at\nmeasuring %.4f\n",
         expm1(mean_of(&s.log_slowdown1)), expm1(mean_of(&s.log_analytic)),
         expm1(mean_of(&s.log_chosen)));
}

static enum tg_status open_model(const char *text,
                                 const struct tg_model **model,
                                 struct tg_model **owned,
                                 struct tg_error *error) {
  *owned = NULL;
  if (!strcmp(text, "embedded")) {
    *model = tg_model_get_embedded();
    return *model ? TG_OK
                  : tg_fail(error, "this build embeds no weights; name a "
                                   ".tgw file with --model");
  }
  enum tg_status status = tg_model_create_from_file(text, owned, error);
  *model = *owned;
  return status;
}

int tg_command_eval(int argc, char **argv) {
  const char *model_text = "embedded";
  bool as_json = false;
  const struct tg_option options[] = {
      {"model", TG_OPTION_TEXT, &model_text, 0, 0, "MODEL",
       "embedded (default) or a .tgw file"},
      {"json", TG_OPTION_BOOL, &as_json, 0, 0, NULL,
       "print JSON instead of a table"},
  };
  const struct tg_command_line line = {
      .name = "eval",
      .operands = "DATA...",
      .about =
          "Scores the configurations in measured data (.npz files or folders "
          "of them) with a\nmodel and prints how well the scores order the "
          "runtimes, for each graph and as the\nmean over graphs: Kendall's "
          "tau-b and its ceiling (a second measurement against the\nfirst), "
          "best runtime over the best among the 1, 5, 10 best scores (1 is "
          "perfect), the\nslowdown of the choice (0 is perfect), the share of "
          "pairs in the right order, and the\nslowdown of the analytic rule's "
          "choice and of the choice that\n'tgraph measure --model' "
          "measured.\n",
      .examples = "  tgraph eval data/\n"
                  "  tgraph eval --json --model new.tgw data/kernel-*.npz\n",
      .options = options,
      .option_count = TG_COUNT(options),
  };
  int count, status;
  if (!tg_parse_options(&line, argc, argv, &count, &status))
    return status;
  if (count < 1)
    return tg_complain("eval: no data given (see 'tgraph eval --help')");
  const struct tg_model *model;
  struct tg_model *owned;
  struct tg_error error = {""};
  struct result_list list = {0};
  if (open_model(model_text, &model, &owned, &error) != TG_OK)
    return tg_complain("%s", error.message);
  status = TG_EXIT_GOOD;
  for (int i = 1; i <= count && status == TG_EXIT_GOOD; i++) {
    enum tg_status one = eval_path(model, argv[i], &list, &error);
    if (one != TG_OK)
      status = tg_complain("%s", error.message);
  }
  if (status == TG_EXIT_GOOD && as_json)
    print_json(&list);
  else if (status == TG_EXIT_GOOD)
    print_table(&list);
  for (int i = 0; i < list.count; i++)
    free(list.items[i].path);
  free(list.items);
  tg_model_destroy(owned);
  return status;
}
