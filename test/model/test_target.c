/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "model/target.h"

static struct tg_target parse(const char *text) {
  struct tg_target target;
  struct tg_error error;
  if (tg_target_parse(text, &target, &error))
    fail_msg("%s", error.message);
  return target;
}

static void assert_refused(const char *text, const char *message) {
  struct tg_target target;
  struct tg_error error;
  assert_int_equal(tg_target_parse(text, &target, &error), TG_BAD_INPUT);
  assert_string_equal(error.message, message);
}

static void fixed_descriptions(void **state) {
  (void)state;
  assert_int_equal(parse("avx2").vector_registers, 16);
  assert_int_equal(parse("avx512").vector_bits, 512);
  assert_int_equal(parse("generic").fma_per_cycle, 1);
  assert_string_equal(parse("avx512").cpu, "x86-64-v4");
}

static void host_is_plausible(void **state) {
  (void)state;
  struct tg_target host = parse("host");
  assert_string_equal(host.name, "host");
  assert_true(host.vector_bits >= 128 && host.vector_bits <= 512);
  assert_true(host.l1_nbytes <= host.l2_nbytes);
  assert_true(host.l2_nbytes <= host.l3_nbytes);
}

static void columns_replace_the_names_own(void **state) {
  (void)state;
  struct tg_target target =
      parse("avx2,l2_nbytes=1048576,cpu=znver3,features=+avx2;+fma");
  assert_int_equal(target.l2_nbytes, 1 << 20);
  assert_int_equal(target.l1_nbytes, 32 << 10);
  assert_string_equal(target.cpu, "znver3");
  assert_string_equal(target.features, "+avx2,+fma");
}

static void print_reads_back(void **state) {
  (void)state;
  static const char *const texts[] = {
      "host", "avx2", "avx512,fma_per_cycle=1,features=+avx512f;-sse4a"};
  for (int i = 0; i < 3; i++) {
    char first[2048], second[2048];
    struct tg_target target = parse(texts[i]);
    int length = tg_target_print(&target, first, sizeof first);
    assert_int_equal(length, strlen(first));
    target = parse(first);
    tg_target_print(&target, second, sizeof second);
    assert_string_equal(first, second);
  }
}

static void print_needs_no_room(void **state) {
  (void)state;
  char text[8];
  struct tg_target target = parse("avx2");
  int length = tg_target_print(&target, text, sizeof text);
  assert_true(length > 60);
  assert_string_equal(text, "avx2,cp");
  assert_int_equal(tg_target_print(&target, NULL, 0), length);
}

static void bad_descriptions_are_refused(void **state) {
  (void)state;
  assert_refused("", "target: unknown name '' (known: host, avx2, avx512, "
                     "generic)");
  assert_refused("avx2,l2=1", "target: unknown column 'l2'");
  assert_refused("avx2,", "target: '' is not COLUMN=VALUE");
  assert_refused("avx2,cores=-1", "target: cores: '-1' is not a number");
  assert_refused("avx2,cores=1x", "target: cores: '1x' is not a number");
  assert_refused("avx2,cores=0", "target: cores: 0 is outside of 1..65536");
  assert_refused("avx2,vector_bits=300",
                 "target: vector_bits: 300 is not a power of two");
  assert_refused("avx2,cpu=a b", "target: cpu: unexpected character ' '");
}

static void dlti_columns_and_fallback(void **state) {
  (void)state;
  struct tg_target fallback = parse("avx512"), target;
  struct tg_error error;
  const char *text =
      "#dlti.target_system_spec<\"GPU\" = #dlti.target_device_spec<"
      "\"L1_cache_size_in_bytes\" = 1 : i32>, \"CPU\" = "
      "#dlti.target_device_spec<\"note\" = \"a > b, c\", "
      "\"L1_cache_size_in_bytes\" = 49152 : ui32, \"map\" = affine_map<(d0) -> "
      "(d0)>, \"max_vector_op_width\" = 256 : i64>>";
  assert_int_equal(tg_target_parse_dlti(text, &fallback, &target, &error),
                   TG_OK);
  assert_int_equal(target.l1_nbytes, 49152);
  assert_int_equal(target.vector_bits, 256);
  assert_int_equal(target.l2_nbytes, fallback.l2_nbytes);
}

static void bad_dlti_is_refused(void **state) {
  (void)state;
  static const char *const texts[] = {
      "",
      "#dlti.dl_spec<>",
      "#dlti.target_system_spec<",
      "#dlti.target_system_spec<>",
      "#dlti.target_system_spec<\"CPU\" = 3>",
      "#dlti.target_system_spec<\"CPU\" = #dlti.target_device_spec<",
      "#dlti.target_system_spec<\"CPU\" = #dlti.target_device_spec<"
      "\"num_threads\" = \"many\">>",
      "#dlti.target_system_spec<\"CPU\" = #dlti.target_device_spec<"
      "\"num_threads\" = 0 : i32>>"};
  struct tg_target fallback = parse("avx2"), target;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    struct tg_error error = {""};
    assert_int_equal(tg_target_parse_dlti(texts[i], &fallback, &target, &error),
                     TG_BAD_INPUT);
    assert_true(strlen(error.message) > 10);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fixed_descriptions),
      cmocka_unit_test(host_is_plausible),
      cmocka_unit_test(columns_replace_the_names_own),
      cmocka_unit_test(print_reads_back),
      cmocka_unit_test(print_needs_no_room),
      cmocka_unit_test(bad_descriptions_are_refused),
      cmocka_unit_test(dlti_columns_and_fallback),
      cmocka_unit_test(bad_dlti_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
