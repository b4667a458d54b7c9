/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A bench report as a table and as JSON; see bench.h. */
#include <math.h>
#include <string.h>

#include "tools/bench.h"
#include "tools/versions.h"

static bool has_time(const struct tg_bench_report *r, int i) {
  return r->place[i] >= 0 && r->race.rounds > 0;
}

static double median_seconds(const struct tg_bench_report *r, int i) {
  return has_time(r, i) ? tg_race_time(&r->race, r->place[i]).median
                        : (double)NAN;
}

/* Which contestant the speed-up of the others is told against. */
static int base_of(const struct tg_bench_report *r) {
  if (has_time(r, TG_SIDE_STOCK))
    return TG_SIDE_STOCK;
  return has_time(r, TG_BENCH_BLAS) ? TG_BENCH_BLAS : -1;
}

static void format_seconds(double seconds, char *text, size_t room) {
  if (seconds >= 1)
    snprintf(text, room, "%.3f s", seconds);
  else if (seconds >= 1e-3)
    snprintf(text, room, "%.3f ms", seconds * 1e3);
  else
    snprintf(text, room, "%.2f us", seconds * 1e6);
}

static void print_row(const struct tg_bench_report *r, int i) {
  int base = base_of(r);
  char time[32];
  struct tg_interval t = tg_race_time(&r->race, r->place[i]);
  double gflops = r->flops / t.median * 1e-9;
  format_seconds(t.median, time, sizeof time);
  printf("  %-9s %12s", tg_bench_names[i], time);
  if (r->flops > 0)
    printf(" %9.2f %7.3f", gflops, gflops / r->race.peak_gflops);
  else
    printf(" %9s %7s", "-", "-");
  if (base >= 0 && base != i) {
    int n;
    struct tg_interval ratio =
        tg_race_ratio(&r->race, r->place[base], r->place[i], &n);
    printf("  %8.3f [%.3f, %.3f] n=%d", ratio.median, ratio.low, ratio.high, n);
  }
  if (i != r->reference && r->reference >= 0)
    printf("  %.1e", r->differences[i].max_rel_error);
  if (i < TG_SIDE_COUNT && r->same_as[i] != i)
    printf("  (same code as %s)", tg_bench_names[r->same_as[i]]);
  putchar('\n');
}

static void print_builds(const struct tg_bench_report *r) {
  for (int i = 0; i < TG_SIDE_COUNT; i++) {
    const struct tg_build *b = &r->builds[i];
    if (b->outcome != TG_OUTCOME_OK || !b->object.data)
      continue;
    if (b->cached)
      printf("  %-9s object from the cache", tg_bench_names[i]);
    else
      printf("  %-9s select %.0f ms, lower %.0f ms, LLVM %.0f ms",
             tg_bench_names[i], b->select_s * 1e3, b->lower_s * 1e3,
             b->compile_s * 1e3);
    printf(", code %zu KiB", b->object.nbytes / 1024);
    if (r->scratch_nbytes[i])
      printf(", memory %.1f MiB", (double)r->scratch_nbytes[i] / 0x1p20);
    if (i != TG_SIDE_STOCK)
      printf(", %d choices, %d left alone", b->choice_count, b->missed_count);
    putchar('\n');
  }
}

void tg_bench_print_table(const struct tg_bench_report *r, bool choices) {
  printf("%s: %d kernels, %.3f GFLOP\n", r->name, r->kernel_count,
         r->flops * 1e-9);
  const char *lines = r->builds[TG_SIDE_OURS].choices;
  if (choices && lines && lines[0]) // first: a network has a screen of them
    printf("  choices:\n%s", lines);
  if (r->race.rounds > 0) {
    int base = base_of(r);
    printf("  %-9s %12s %9s %7s  speed-up over %s [95 %% interval]  max "
           "error\n",
           "", "time", "GFLOP/s", "of peak",
           base < 0 ? "none" : tg_bench_names[base]);
    for (int i = 0; i < TG_BENCH_COUNT; i++)
      if (has_time(r, i))
        print_row(r, i);
    printf("  measured peak %.1f GFLOP/s, %d rounds, %d samples disturbed",
           r->race.peak_gflops, r->race.rounds, r->race.disturbed);
    if (has_time(r, TG_BENCH_BLAS))
      printf(", OpenBLAS core %s", tg_openblas_core());
    putchar('\n');
  }
  print_builds(r);
  for (int i = 0; i < TG_BENCH_COUNT; i++)
    if (r->problems[i].message[0])
      printf("  %s FAILED: %s\n", tg_bench_names[i], r->problems[i].message);
  fflush(stdout);
}

static void put_us(struct tg_json_writer *json, const char *key,
                   double seconds) {
  tg_json_put_number(json, key, seconds * 1e6);
}

static void put_sides(const struct tg_bench_report *r,
                      struct tg_json_writer *json) {
  tg_json_begin(json, "sides", '{');
  for (int i = 0; i < TG_BENCH_COUNT; i++) {
    if (!has_time(r, i) && !r->problems[i].message[0])
      continue;
    double median = median_seconds(r, i);
    tg_json_begin(json, tg_bench_names[i], '{');
    put_us(json, "us", median);
    if (has_time(r, i)) {
      struct tg_interval t = tg_race_time(&r->race, r->place[i]);
      put_us(json, "us_low", t.low);
      put_us(json, "us_high", t.high);
      tg_json_put_number(json, "rounds", r->race.entry_rounds[r->place[i]]);
    }
    tg_json_put_number(json, "gflops", r->flops / median * 1e-9);
    tg_json_put_number(json, "max_rel_error", r->differences[i].max_rel_error);
    tg_json_put_text(json, "same_code_as", tg_bench_names[r->same_as[i]]);
    if (i < TG_SIDE_COUNT) {
      const struct tg_build *b = &r->builds[i];
      tg_json_put_bool(json, "cached", b->cached);
      tg_json_put_number(json, "select_ms", b->select_s * 1e3);
      tg_json_put_number(json, "lower_ms", b->lower_s * 1e3);
      tg_json_put_number(json, "compile_ms", b->compile_s * 1e3);
      tg_json_put_number(json, "code_bytes", (double)b->object.nbytes);
      tg_json_put_number(json, "scratch_bytes", (double)r->scratch_nbytes[i]);
    }
    tg_json_put_text(json, "problem", r->problems[i].message);
    tg_json_end(json, '}');
  }
  tg_json_end(json, '}');
}

static void put_ratio(const struct tg_bench_report *r,
                      struct tg_json_writer *json, const char *name, int of,
                      int to) {
  char key[48];
  int n = 0;
  struct tg_interval ratio = {NAN, NAN, NAN, 0};
  if (has_time(r, of) && has_time(r, to))
    ratio = tg_race_ratio(&r->race, r->place[of], r->place[to], &n);
  tg_json_put_number(json, name, ratio.median);
  snprintf(key, sizeof key, "%s_low", name);
  tg_json_put_number(json, key, ratio.low);
  snprintf(key, sizeof key, "%s_high", name);
  tg_json_put_number(json, key, ratio.high);
  snprintf(key, sizeof key, "%s_rounds", name);
  tg_json_put_number(json, key, n);
}

static void put_choices(const struct tg_bench_report *r,
                        struct tg_json_writer *json) {
  const char *at = r->builds[TG_SIDE_OURS].choices;
  tg_json_begin(json, "choices", '[');
  while (at && *at) {
    size_t length = strcspn(at, "\n");
    char line[2048];
    snprintf(line, sizeof line, "%.*s", (int)length, at);
    tg_json_put_text(json, NULL, line);
    at += length + (at[length] != 0);
  }
  tg_json_end(json, ']');
}

void tg_bench_print_json(const struct tg_bench_report *r,
                         struct tg_json_writer *json) {
  double best = NAN;
  for (int i = 0; i < TG_SIDE_COUNT; i++)
    best = fmin(best, median_seconds(r, i)); /* fmin skips NaN */
  double ours = median_seconds(r, TG_SIDE_OURS);
  tg_json_begin(json, NULL, '{');
  tg_json_put_text(json, "program", r->name);
  put_us(json, "stock_us", median_seconds(r, TG_SIDE_STOCK));
  put_us(json, "ours_us", ours);
  put_us(json, "analytic_us", median_seconds(r, TG_SIDE_ANALYTIC));
  put_us(json, "best_us", best);
  put_ratio(r, json, "speedup", TG_SIDE_STOCK, TG_SIDE_OURS);
  put_ratio(r, json, "speedup_over_analytic", TG_SIDE_ANALYTIC, TG_SIDE_OURS);
  if (has_time(r, TG_BENCH_BLAS)) {
    put_us(json, "openblas_us", median_seconds(r, TG_BENCH_BLAS));
    put_ratio(r, json, "speedup_over_openblas", TG_BENCH_BLAS, TG_SIDE_OURS);
    tg_json_put_text(json, "openblas_core", tg_openblas_core());
  }
  tg_json_put_number(json, "gflop", r->flops * 1e-9);
  tg_json_put_number(json, "gflops", r->flops / ours * 1e-9);
  tg_json_put_number(json, "peak_gflops", r->race.peak_gflops);
  tg_json_put_number(json, "share_of_peak",
                     r->flops / ours * 1e-9 / r->race.peak_gflops);
  tg_json_put_number(json, "max_rel_error",
                     r->differences[TG_SIDE_OURS].max_rel_error);
  tg_json_put_bool(json, "equal", r->differences[TG_SIDE_OURS].equal);
  tg_json_put_number(json, "select_ms", r->builds[TG_SIDE_OURS].select_s * 1e3);
  tg_json_put_number(json, "scratch_bytes",
                     (double)r->scratch_nbytes[TG_SIDE_OURS]);
  tg_json_put_number(json, "rounds", r->race.rounds);
  tg_json_put_number(json, "disturbed_samples", r->race.disturbed);
  tg_json_put_number(json, "kernels", r->kernel_count);
  tg_json_put_text(json, "cpu", tg_cpu_model());
  tg_json_put_text(json, "llvm", tg_llvm_version());
  put_sides(r, json);
  put_choices(r, json);
  tg_json_end(json, '}');
}
