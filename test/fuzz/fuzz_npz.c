/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Any bytes as an .npz, and as the one array of an .npz (whose checksum, a
 * zip's, would stop most changes before the header is read). What is accepted
 * is then asked for everything a data set asks for.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "model/dataset.h"
#include "model/npz_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void touch(const struct tg_npz *npz, struct tg_arena *arena) {
  struct tg_error error;
  for (int64_t i = 0; i < npz->array_count; i++) {
    const struct tg_npz_array *array = &npz->arrays[i];
    int64_t shape[TG_NPZ_MAX_RANK];
    double *numbers;
    int64_t *integers;
    const char **texts;
    memcpy(shape, array->shape, sizeof shape);
    if (array->kind == TG_NPZ_TEXT)
      (void)tg_npz_get_text(npz, array->name, array->rank, shape, arena, &texts,
                            &error);
    else
      assert(tg_npz_get_f64(npz, array->name, array->rank, shape, arena,
                            &numbers, &error) == TG_OK);
    (void)tg_npz_get_i64(npz, array->name, array->rank, shape, arena, &integers,
                         &error);
  }
}

static void read_as_npz(const uint8_t *data, size_t size,
                        struct tg_arena *arena) {
  struct tg_error error = {""};
  struct tg_npz *npz;
  struct tg_tile_data tile;
  struct tg_layout_data layout;
  if (tg_npz_read_memory("fuzz", data, size, arena, &npz, &error)) {
    assert(error.message[0]);
    return;
  }
  touch(npz, arena);
  if (tg_dataset_is_layout(npz))
    (void)tg_layout_data_read(npz, arena, &layout, &error);
  else
    (void)tg_tile_data_read(npz, arena, &tile, &error);
}

static void read_as_npy(const uint8_t *data, size_t size,
                        struct tg_arena *arena) {
  struct tg_error error = {""};
  struct tg_npz_array array = {.name = "array"};
  if (tg_npy_parse("fuzz", data, size, arena, &array, &error)) {
    assert(error.message[0]);
    return;
  }
  struct tg_npz npz = {"fuzz", 1, &array};
  touch(&npz, arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static struct tg_arena *arena;
  if (!arena && !(arena = tg_arena_create()))
    abort();
  tg_arena_reset(arena);
  read_as_npz(data, size, arena);
  read_as_npy(data, size, arena);
  return 0;
}
