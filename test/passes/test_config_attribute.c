/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * tgraph.config: every configuration survives being written and read, and no
 * text that MLIR can parse does more harm than an error.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/Diagnostics.h>
#include <mlir-c/RegisterEverything.h>

#include "model/layout.h"
#include "model/space.h"
#include "passes/attribute.h"
#include "test/model/make_kernel.h"

enum { TEXT_NBYTES = 4096, KERNEL_COUNT = 8 };

struct fixture {
  MlirContext context;
  struct tg_arena *arena;
  struct tg_target target;
};

static MlirLogicalResult ignore(MlirDiagnostic diagnostic, void *data) {
  (void)diagnostic;
  (void)data;
  return mlirLogicalResultSuccess();
}

static struct fixture start(const char *target) {
  struct fixture f;
  struct tg_error error;
  f.context = mlirContextCreateWithThreading(false);
  f.arena = tg_arena_create();
  mlirContextAttachDiagnosticHandler(f.context, ignore, NULL, NULL);
  assert_int_equal(tg_target_parse(target, &f.target, &error), TG_OK);
  return f;
}

static void stop(struct fixture *f) {
  tg_arena_destroy(f->arena);
  mlirContextDestroy(f->context);
}

static struct tg_kernel kernel_number(int i) {
  struct tg_kernel kernels[KERNEL_COUNT] = {
      make_matmul(64, 96, 300),
      make_matmul(1, 48, 7),
      make_conv(24, 8, 14, 3, 1),
      make_conv(24, 8, 14, 3, 2),
      make_conv(16, 8, 7, 1, 1),
      make_kernel("b3 m20 n17 k9", (const char *const[]){"bmk", "bnk", "bmn"},
                  1),
      make_kernel("q3 p4 n24 k7", (const char *const[]){"pqk", "kn", "npq"}, 1),
      make_kernel("g8 x14 y14 X3 Y3",
                  (const char *const[]){"g12", "gXY", "gxy"}, 2),
  };
  return kernels[i];
}

struct text {
  char data[TEXT_NBYTES];
  size_t length;
};

static void append(MlirStringRef part, void *data) {
  struct text *text = data;
  assert_true(text->length + part.length < TEXT_NBYTES);
  memcpy(text->data + text->length, part.data, part.length);
  text->length += part.length;
  text->data[text->length] = 0;
}

static struct text print_config(struct fixture *f,
                                const struct tg_kernel *kernel,
                                const struct tg_config *config) {
  struct text text = {{0}, 0};
  mlirAttributePrint(tg_config_to_attribute(f->context, kernel, config), append,
                     &text);
  return text;
}

static MlirAttribute parse(struct fixture *f, const char *text) {
  return mlirAttributeParseGet(f->context,
                               mlirStringRefCreateFromCString(text));
}

static void round_trip(struct fixture *f, const struct tg_kernel *kernel,
                       const struct tg_config *config) {
  struct text text = print_config(f, kernel, config);
  MlirAttribute attribute = parse(f, text.data);
  struct tg_config read;
  struct tg_error error;
  assert_false(mlirAttributeIsNull(attribute));
  if (tg_config_from_attribute(attribute, kernel, &read, &error))
    fail_msg("%s\n%s", error.message, text.data);
  if (memcmp(&read, config, sizeof(read)) != 0)
    fail_msg("reads as something else: %s", text.data);
}

static void test_round_trip(void **state) {
  (void)state;
  static const char *const targets[] = {"avx2", "avx512"};
  for (int t = 0; t < 2; ++t) {
    struct fixture f = start(targets[t]);
    for (int i = 0; i < KERNEL_COUNT; ++i) {
      struct tg_kernel kernel = kernel_number(i);
      struct tg_space space;
      assert_true(tg_space_enumerate(&kernel, &f.target, f.arena, &space));
      /* All of a small space, an even part of a large one. */
      size_t step = 1 + space.count / 700;
      for (size_t c = 0; c < space.count; c += step)
        round_trip(&f, &kernel, &space.configs[c]);
    }
    stop(&f);
  }
}

/*===-- Harm --------------------------------------------------------------===*/

/* Reads; what is accepted has to be usable by all who use it. */
static bool try_text(struct fixture *f, const struct tg_kernel *kernel,
                     const char *text) {
  MlirAttribute attribute = parse(f, text);
  struct tg_config config;
  struct tg_error error = {{0}};
  struct tg_plan plan;
  if (mlirAttributeIsNull(attribute))
    return false;
  if (tg_config_from_attribute(attribute, kernel, &config, &error)) {
    assert_non_null(strstr(error.message, "tgraph.config"));
    return false;
  }
  for (int o = 0; o < TG_OPERAND_COUNT; ++o) {
    struct tg_layout layout;
    tg_config_layout(kernel, &config, o, &layout);
    assert_in_range(layout.count, 1, TG_MAX_LAYOUT);
  }
  round_trip(f, kernel, &config);
  return !tg_plan_make(kernel, &config, &f->target, &plan);
}

static uint64_t next_random(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

static const char *const tokens[] = {
    "0",
    "1",
    "-1",
    "2147483647",
    "2147483648",
    "9",
    "[]",
    "[0]",
    "[0, 0]",
    "[1, 0]",
    "[9]",
    "[-1]",
    "[[1]]",
    "{}",
    "\"\"",
    "\"rhs\"",
    "\"result\"",
    "[\"lhs\", \"rhs\", \"result\"]",
    "[\"lhs\"]",
    "unit",
    "1 : i1",
    "-1 : i128",
    "3 : ui8",
    "4 : index",
    "1.5",
    "i32",
    "dense<1> : tensor<2xi64>",
    "\"stock\"",
    "\"tiled\"",
    "\"rows\"",
    "\"vectors\"",
    "array<i64: 1>",
    "18446744073709551615 : i64",
    "true",
    "false",
};
enum { TOKEN_COUNT = sizeof(tokens) / sizeof(tokens[0]) };

/* The value of one entry becomes another, whatever its kind. */
static void swap_value(struct text *text, uint64_t *random) {
  char *equals[64];
  int count = 0;
  for (char *at = text->data; (at = strstr(at, " = ")) && count < 64; at += 3)
    equals[count++] = at + 3;
  if (!count)
    return;
  char *start = equals[next_random(random) % (uint64_t)count], *end = start;
  int depth = 0;
  for (; *end && !(depth == 0 && (*end == ',' || *end == '}')); ++end)
    depth += (*end == '[' || *end == '{' || *end == '<') -
             (*end == ']' || *end == '}' || *end == '>');
  struct text changed = {{0}, 0};
  snprintf(changed.data, TEXT_NBYTES, "%.*s%s%s", (int)(start - text->data),
           text->data, tokens[next_random(random) % TOKEN_COUNT], end);
  changed.length = strlen(changed.data);
  *text = changed;
}

static void change_bytes(struct text *text, uint64_t *random) {
  static const char bytes[] = "0123456789-[]{},=\" abtlvw";
  size_t at = next_random(random) % text->length;
  switch (next_random(random) % 3) {
  case 0:
    text->data[at] = bytes[next_random(random) % (sizeof(bytes) - 1)];
    break;
  case 1: /* one byte less */
    memmove(text->data + at, text->data + at + 1, text->length - at);
    text->length--;
    break;
  default: { /* an entry less */
    char *comma = strchr(text->data + at, ',');
    char *next = comma ? strchr(comma + 1, ',') : NULL;
    if (next)
      memmove(comma, next, strlen(next) + 1);
    text->length = strlen(text->data);
  }
  }
}

static void test_mutations(void **state) {
  (void)state;
  struct fixture f = start("avx2");
  uint64_t random = 88172645463325252u;
  const char *cases = getenv("TG_CASES");
  long total = cases ? strtol(cases, NULL, 10) : 6000, legal = 0;
  for (int i = 0; i < KERNEL_COUNT; ++i) {
    struct tg_kernel kernel = kernel_number(i);
    struct tg_space space;
    assert_true(tg_space_enumerate(&kernel, &f.target, f.arena, &space));
    for (long n = 0; n < total / KERNEL_COUNT; ++n) {
      struct text text = print_config(
          &f, &kernel, &space.configs[next_random(&random) % space.count]);
      /* Layouts follow from the rest: leave them out half of the time. */
      char *layouts = strstr(text.data, "layouts = {");
      char *behind = layouts ? strstr(layouts, "}, ") : NULL;
      if (behind && next_random(&random) % 2) {
        memmove(layouts, behind + 3, strlen(behind + 3) + 1);
        text.length = strlen(text.data);
      }
      for (uint64_t m = next_random(&random) % 3 + 1; m && text.length; --m)
        if (next_random(&random) % 4)
          swap_value(&text, &random);
        else
          change_bytes(&text, &random);
      legal += try_text(&f, &kernel, text.data);
    }
  }
  assert_true(legal > 0); /* else the mutations reach nothing */
  stop(&f);
}

/* A packed operand that would follow a row loop that isn't there. */
static void test_packed_without_rows(void **state) {
  (void)state;
  struct fixture f = start("avx2");
  struct tg_kernel kernel = make_matmul(64, 96, 300);
  assert_false(try_text(
      &f, &kernel,
      "{version = 1, schedule = \"tiled\", vector_loops = [1], row_loops = [], "
      "register_rows = 1, register_vectors = 1, unroll = 1, cache_vector = 0, "
      "cache_rows = 0, cache_reduction = 0, innermost = \"rows\", "
      "pack = [\"lhs\", \"result\"]}"));
  stop(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_round_trip),
      cmocka_unit_test(test_mutations),
      cmocka_unit_test(test_packed_without_rows),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
