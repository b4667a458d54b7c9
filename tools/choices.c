/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Choices as text; see choices.h. */
#include "tools/choices.h"

#include <mlir-c/BuiltinAttributes.h>
#include <stdio.h>
#include <string.h>

#include "passes/attribute.h"
#include "passes/inspect.h"
#include "passes/widen.h"

static void append_string(struct tg_choices *choices, const char *text) {
  tg_text_append(&choices->text, text, strlen(text));
}

static void emit_remark(void *user, MlirLocation location,
                        enum tg_remark_kind kind, const char *message) {
  struct tg_choices *choices = user;
  if (kind != TG_REMARK_MISSED)
    return;
  choices->missed++;
  mlirLocationPrint(location, tg_append_ref, &choices->text);
  append_string(choices, ": left alone: ");
  append_string(choices, message);
  append_string(choices, "\n");
}

struct tg_remark_sink tg_choices_sink(struct tg_choices *choices) {
  struct tg_remark_sink sink = {emit_remark, choices};
  return sink;
}

static void print_extents(const struct tg_kernel *kernel, bool reduction,
                          char *text, size_t room) {
  size_t used = 0;
  text[0] = 0;
  for (int i = 0; i < kernel->loop_count; i++) {
    if (kernel->reduction[i] != reduction || used >= room)
      continue;
    char extent[24] = "?";
    if (kernel->dynamic[i] == TG_STATIC)
      snprintf(extent, sizeof extent, "%lld", (long long)kernel->extent[i]);
    used += (size_t)snprintf(text + used, room - used, "%s%s", used ? "x" : "",
                             extent);
  }
}

void tg_describe_kernel(const struct tg_kernel *kernel, char *text,
                        size_t room) {
  char parallel[128], reduced[128];
  print_extents(kernel, false, parallel, sizeof parallel);
  print_extents(kernel, true, reduced, sizeof reduced);
  snprintf(text, room, "%s %s reducing %s", tg_element_names[kernel->element],
           parallel[0] ? parallel : "1", reduced[0] ? reduced : "1");
}

void tg_choices_collect(struct tg_choices *choices, MlirOperation module) {
  struct tg_arena *arena = tg_arena_create();
  struct tg_site *sites;
  size_t count;
  if (!arena || !tg_collect_sites(module, arena, &sites, &count))
    count = 0;
  for (size_t i = 0; i < count; i++) {
    MlirAttribute config = mlirOperationGetAttributeByName(
        sites[i].op, tg_ref(TG_CONFIG_ATTRIBUTE));
    if (mlirAttributeIsNull(config))
      continue;
    char kernel[320];
    tg_describe_kernel(&sites[i].kernel, kernel, sizeof kernel);
    choices->count++;
    mlirLocationPrint(mlirOperationGetLocation(sites[i].op), tg_append_ref,
                      &choices->text);
    append_string(choices, ": ");
    tg_append_ref(tg_op_name(sites[i].op), &choices->text);
    append_string(choices, " ");
    append_string(choices, kernel);
    append_string(choices, ": ");
    mlirAttributePrint(config, tg_append_ref, &choices->text);
    append_string(choices, "\n");
  }
  tg_arena_destroy(arena);
}

void tg_choices_destroy(struct tg_choices *choices) {
  tg_text_destroy(&choices->text);
  memset(choices, 0, sizeof *choices);
}

double tg_module_flops(MlirOperation module, int *kernel_count) {
  struct tg_arena *arena = tg_arena_create();
  struct tg_site *sites;
  size_t count;
  double flops = 0;
  *kernel_count = 0;
  /* As they will be when choices are made. */
  MlirOperation copy = mlirOperationClone(module);
  tg_widen_sums(copy, true);
  if (arena && tg_collect_sites(copy, arena, &sites, &count)) {
    *kernel_count = (int)count;
    bool known = true;
    for (size_t i = 0; i < count; i++) {
      flops += tg_kernel_flops(&sites[i].kernel);
      known &= !tg_kernel_is_dynamic(&sites[i].kernel);
    }
    if (!known)
      flops = 0;
  }
  mlirOperationDestroy(copy);
  tg_arena_destroy(arena);
  return flops;
}
