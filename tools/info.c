/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* tgraph info: what code is made for, and with what. */
#include <stdio.h>
#include <string.h>

#include "model/infer.h"
#include "model/target.h"
#include "tools/info_npz.h"
#include "tools/options.h"
#include "tools/text.h"
#include "tools/timing.h"
#include "tools/versions.h"

int tg_command_info(int argc, char **argv);

struct facts {
  struct tg_target target;
  double peak_gflops;
  char description[2048];
  const struct tg_model *model;
};

static void print_json(const struct facts *f) {
  struct tg_json_writer json = {stdout, 0, false, false};
  tg_json_begin(&json, NULL, '{');
  tg_json_put_text(&json, "version", tg_tool_version());
  tg_json_put_text(&json, "llvm", tg_llvm_version());
  tg_json_put_text(&json, "openblas_core", tg_openblas_core());
  tg_json_put_text(&json, "cpu", tg_cpu_model());
  tg_json_put_number(&json, "cores", tg_core_count());
  tg_json_put_number(&json, "peak_gflops", f->peak_gflops);
  tg_json_begin(&json, "target", '{');
  tg_json_put_text(&json, "description", f->description);
  tg_json_put_text(&json, "cpu", f->target.cpu);
  for (int i = 0; i < TG_TARGET_COLUMN_COUNT; i++)
    tg_json_put_number(
        &json, tg_target_column_names[i],
        (double)tg_target_get(&f->target, (enum tg_target_column)i));
  tg_json_end(&json, '}');
  tg_json_begin(&json, "model", '{');
  tg_json_put_bool(&json, "embedded", f->model != NULL);
  if (f->model) {
    char hash[24];
    snprintf(hash, sizeof hash, "%016llx",
             (unsigned long long)tg_model_schema_hash(f->model));
    tg_json_put_text(&json, "schema_hash", hash);
    tg_json_put_text(&json, "card", tg_model_get_card(f->model));
  }
  tg_json_end(&json, '}');
  tg_json_end(&json, '}');
}

static void print_table(const struct facts *f) {
  static const char *const docs[] = {
#define TARGET(name, unit, low, high, powers, doc, probe) doc " (" unit ")",
#include "model/target.def"
  };
  printf("tgraph %s, LLVM %s, OpenBLAS core %s\n", tg_tool_version(),
         tg_llvm_version(), tg_openblas_core());
  printf("machine: %s, %d cores, measured peak %.1f GFLOP/s on one\n",
         tg_cpu_model(), tg_core_count(), f->peak_gflops);
  printf("target: %s\n", f->description);
  for (int i = 0; i < TG_TARGET_COLUMN_COUNT; i++)
    printf("  %-18s %12lld  %s\n", tg_target_column_names[i],
           (long long)tg_target_get(&f->target, (enum tg_target_column)i),
           docs[i]);
  if (!f->model) {
    printf("model: this build embeds no weights\n");
    return;
  }
  printf("model: embedded, schema %016llx\n%s\n",
         (unsigned long long)tg_model_schema_hash(f->model),
         tg_model_get_card(f->model));
}

int tg_command_info(int argc, char **argv) {
  const char *target = "host";
  bool as_json = false;
  const struct tg_option options[] = {
      {"target", TG_OPTION_TEXT, &target, 0, 0, "TARGET",
       "describe this target instead of the host"},
      {"json", TG_OPTION_BOOL, &as_json, 0, 0, NULL,
       "print JSON instead of a table"},
  };
  const struct tg_command_line line = {
      .name = "info",
      .operands = "[DATA.npz...]",
      .about = "Shows the machine and its measured peak, the target "
               "description that choices are\nmade for, the embedded model's "
               "card and the versions. Of data files it shows what is in\n"
               "them, after checking all of it; --json prints an object a "
               "line then.\n",
      .examples = "  tgraph info\n  tgraph info --json --target avx2\n"
                  "  tgraph info data/kernel-*.npz\n",
      .options = options,
      .option_count = TG_COUNT(options),
  };
  int count, status;
  if (!tg_parse_options(&line, argc, argv, &count, &status))
    return status;
  if (count > 0)
    return tg_info_npz(argv + 1, count, as_json);
  struct facts facts = {0};
  struct tg_error error;
  if (tg_target_parse(target, &facts.target, &error) != TG_OK)
    return tg_complain("info: option --target: %s", error.message);
  tg_target_print(&facts.target, facts.description, sizeof facts.description);
  facts.peak_gflops = tg_measure_peak_gflops((int)facts.target.vector_bits);
  facts.model = tg_model_get_embedded();
  if (as_json)
    print_json(&facts);
  else
    print_table(&facts);
  return TG_EXIT_GOOD;
}
