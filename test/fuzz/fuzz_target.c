/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Descriptions of machines, as the option `target` and as printed dlti: an
 * accepted one prints to a text that reads back to the same. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "model/target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_round_trip(const struct tg_target *target) {
  char first[4096], second[4096];
  struct tg_target again;
  struct tg_error error;
  int length = tg_target_print(target, first, sizeof(first));
  assert(length >= 0 && length < (int)sizeof(first));
  assert(tg_target_parse(first, &again, &error) == TG_OK);
  tg_target_print(&again, second, sizeof(second));
  assert(!strcmp(first, second));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct tg_error error;
  struct tg_target target, fallback;
  char *text = malloc(size + 1);
  if (!text)
    return 0;
  if (size)
    memcpy(text, data, size);
  text[size] = 0;
  if (tg_target_parse(text, &target, &error) == TG_OK)
    check_round_trip(&target);
  if (tg_target_parse("avx2", &fallback, &error) == TG_OK &&
      tg_target_parse_dlti(text, &fallback, &target, &error) == TG_OK)
    check_round_trip(&target);
  free(text);
  return 0;
}
