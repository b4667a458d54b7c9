/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Arrays of an .npz as the types that the program works with. */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "model/npz_internal.h"

static const char *tg_npz_kind_name(enum tg_npz_kind kind) {
  switch (kind) {
  case TG_NPZ_BOOL:
    return "bool";
  case TG_NPZ_INT:
  case TG_NPZ_UINT:
    return "integer";
  case TG_NPZ_FLOAT:
    return "float";
  case TG_NPZ_TEXT:
    return "unicode";
  }
  return "unknown";
}

static enum tg_status tg_npz_match(const struct tg_npz *npz, const char *key,
                                   int rank, int64_t *shape,
                                   const struct tg_npz_array **array,
                                   struct tg_error *error) {
  const struct tg_npz_array *found = tg_npz_find(npz, key);
  if (!found)
    return tg_fail(error, "%s: %s: missing", npz->path, key);
  if (found->rank != rank)
    return tg_fail(error, "%s: %s: has %d dimensions, expected %d", npz->path,
                   key, found->rank, rank);
  for (int d = 0; d < rank; d++) {
    if (shape[d] != TG_NPZ_ANY && shape[d] != found->shape[d])
      return tg_fail(error,
                     "%s: %s: dimension %d is %" PRId64 ", expected %" PRId64,
                     npz->path, key, d, found->shape[d], shape[d]);
  }
  for (int d = 0; d < rank; d++)
    shape[d] = found->shape[d];
  *array = found;
  return TG_OK;
}

/* The bits of item i, sign-extended for signed integers. */
static uint64_t tg_npz_item(const struct tg_npz_array *array, int64_t i) {
  const unsigned char *p = array->data + i * array->item_nbytes;
  bool is_signed = array->kind == TG_NPZ_INT;
  uint64_t value = 0;
  switch (array->item_nbytes) {
  case 1:
    return is_signed ? (uint64_t)(int8_t)p[0] : p[0];
  case 2:
    value = (uint64_t)p[0] | (uint64_t)p[1] << 8;
    return is_signed ? (uint64_t)(int16_t)value : value;
  case 4:
    for (int b = 0; b < 4; b++)
      value |= (uint64_t)p[b] << (8 * b);
    return is_signed ? (uint64_t)(int32_t)value : value;
  default:
    for (int b = 0; b < 8; b++)
      value |= (uint64_t)p[b] << (8 * b);
    return value;
  }
}

/* The items where they lie, if they are already as the caller wants them;
 * else NULL. */
static void *tg_npz_in_place(const struct tg_npz_array *array,
                             enum tg_npz_kind kind, size_t item_nbytes) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  uintptr_t address = (uintptr_t)array->data;
  if (array->kind == kind && (size_t)array->item_nbytes == item_nbytes &&
      address % item_nbytes == 0)
    return (void *)address;
#else
  (void)array, (void)kind, (void)item_nbytes;
#endif
  return NULL;
}

static double tg_npz_item_f64(const struct tg_npz_array *array, int64_t i) {
  uint64_t bits = tg_npz_item(array, i);
  if (array->kind == TG_NPZ_FLOAT && array->item_nbytes == 8) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
  }
  if (array->kind == TG_NPZ_FLOAT) {
    uint32_t low = (uint32_t)bits;
    float value;
    memcpy(&value, &low, sizeof value);
    return (double)value;
  }
  return array->kind == TG_NPZ_INT ? (double)(int64_t)bits : (double)bits;
}

static enum tg_status tg_npz_allocate(const struct tg_npz *npz, const char *key,
                                      int64_t count, size_t size,
                                      struct tg_arena *arena, void **values,
                                      struct tg_error *error) {
  *values = tg_arena_alloc(arena, (size_t)count, size);
  return *values ? TG_OK : tg_npz_no_memory(npz->path, key, error);
}

static enum tg_status tg_npz_wrong_kind(const struct tg_npz *npz,
                                        const struct tg_npz_array *array,
                                        const char *expected,
                                        struct tg_error *error) {
  return tg_fail(error, "%s: %s: holds %s items, expected %s", npz->path,
                 array->name, tg_npz_kind_name(array->kind), expected);
}

enum tg_status tg_npz_get_f64(const struct tg_npz *npz, const char *key,
                              int rank, int64_t *shape, struct tg_arena *arena,
                              double **values, struct tg_error *error) {
  const struct tg_npz_array *array;
  enum tg_status status = tg_npz_match(npz, key, rank, shape, &array, error);
  if (status)
    return status;
  if (array->kind == TG_NPZ_TEXT)
    return tg_npz_wrong_kind(npz, array, "numbers", error);
  *values = tg_npz_in_place(array, TG_NPZ_FLOAT, sizeof **values);
  if (*values)
    return TG_OK;
  status = tg_npz_allocate(npz, key, array->count, sizeof **values, arena,
                           (void **)values, error);
  for (int64_t i = 0; !status && i < array->count; i++)
    (*values)[i] = tg_npz_item_f64(array, i);
  return status;
}

enum tg_status tg_npz_get_f32(const struct tg_npz *npz, const char *key,
                              int rank, int64_t *shape, struct tg_arena *arena,
                              float **values, struct tg_error *error) {
  const struct tg_npz_array *array;
  enum tg_status status = tg_npz_match(npz, key, rank, shape, &array, error);
  if (status)
    return status;
  if (array->kind == TG_NPZ_TEXT)
    return tg_npz_wrong_kind(npz, array, "numbers", error);
  *values = tg_npz_in_place(array, TG_NPZ_FLOAT, sizeof **values);
  if (*values)
    return TG_OK;
  status = tg_npz_allocate(npz, key, array->count, sizeof **values, arena,
                           (void **)values, error);
  for (int64_t i = 0; !status && i < array->count; i++)
    (*values)[i] = (float)tg_npz_item_f64(array, i);
  return status;
}

/* Do all items lie in low..high? Loops over one type, which a compiler turns
 * into vector instructions: data files are mostly small integers. */
#define TG_NPZ_LIES_IN(type)                                                   \
  {                                                                            \
    type least = 0, most = 0;                                                  \
    for (int64_t i = 0; i < array->count; i++) {                               \
      type item;                                                               \
      memcpy(&item, array->data + (size_t)i * sizeof item, sizeof item);       \
      least = i == 0 || item < least ? item : least;                           \
      most = i == 0 || item > most ? item : most;                              \
    }                                                                          \
    return array->count == 0 || (least >= low && most <= high);                \
  }

static bool tg_npz_lies_in(const struct tg_npz_array *array, int64_t low,
                           int64_t high) {
  bool is_signed = array->kind == TG_NPZ_INT;
  switch (array->item_nbytes) {
  case 1:
    if (is_signed)
      TG_NPZ_LIES_IN(int8_t)
    TG_NPZ_LIES_IN(uint8_t)
  case 2:
    if (is_signed)
      TG_NPZ_LIES_IN(int16_t)
    TG_NPZ_LIES_IN(uint16_t)
  case 4:
    if (is_signed)
      TG_NPZ_LIES_IN(int32_t)
    TG_NPZ_LIES_IN(uint32_t)
  default:
    if (is_signed)
      TG_NPZ_LIES_IN(int64_t)
    return false; /* uint64_t: one by one */
  }
}

/* An integer array whose items lie in low..high. */
static enum tg_status tg_npz_match_integers(const struct tg_npz *npz,
                                            const char *key, int rank,
                                            int64_t *shape, int64_t low,
                                            int64_t high,
                                            const struct tg_npz_array **array,
                                            struct tg_error *error) {
  enum tg_status status = tg_npz_match(npz, key, rank, shape, array, error);
  if (status)
    return status;
  if ((*array)->kind != TG_NPZ_INT && (*array)->kind != TG_NPZ_UINT &&
      (*array)->kind != TG_NPZ_BOOL)
    return tg_npz_wrong_kind(npz, *array, "integers", error);
  if (tg_npz_lies_in(*array, low, high))
    return TG_OK;
  for (int64_t i = 0; i < (*array)->count; i++) {
    uint64_t bits = tg_npz_item(*array, i);
    int64_t value = (int64_t)bits;
    bool too_large = (*array)->kind != TG_NPZ_INT && bits > INT64_MAX;
    if (too_large || value < low || value > high)
      return tg_fail(error,
                     "%s: %s: item %" PRId64 " is %s%" PRIu64
                     ", outside of %" PRId64 "..%" PRId64,
                     npz->path, key, i, value < 0 && !too_large ? "-" : "",
                     value < 0 && !too_large ? 0 - bits : bits, low, high);
  }
  return TG_OK;
}

enum tg_status tg_npz_get_i64(const struct tg_npz *npz, const char *key,
                              int rank, int64_t *shape, struct tg_arena *arena,
                              int64_t **values, struct tg_error *error) {
  const struct tg_npz_array *array;
  enum tg_status status = tg_npz_match_integers(
      npz, key, rank, shape, INT64_MIN, INT64_MAX, &array, error);
  if (status || (*values = tg_npz_in_place(array, TG_NPZ_INT, sizeof **values)))
    return status;
  status = tg_npz_allocate(npz, key, array->count, sizeof **values, arena,
                           (void **)values, error);
  for (int64_t i = 0; !status && i < array->count; i++)
    (*values)[i] = (int64_t)tg_npz_item(array, i);
  return status;
}

enum tg_status tg_npz_get_i32(const struct tg_npz *npz, const char *key,
                              int rank, int64_t *shape, int32_t low,
                              int32_t high, struct tg_arena *arena,
                              int32_t **values, struct tg_error *error) {
  const struct tg_npz_array *array;
  enum tg_status status =
      tg_npz_match_integers(npz, key, rank, shape, low, high, &array, error);
  if (status || (*values = tg_npz_in_place(array, TG_NPZ_INT, sizeof **values)))
    return status;
  status = tg_npz_allocate(npz, key, array->count, sizeof **values, arena,
                           (void **)values, error);
  for (int64_t i = 0; !status && i < array->count; i++)
    (*values)[i] = (int32_t)tg_npz_item(array, i);
  return status;
}

enum tg_status tg_npz_get_i8(const struct tg_npz *npz, const char *key,
                             int rank, int64_t *shape, int8_t low, int8_t high,
                             struct tg_arena *arena, int8_t **values,
                             struct tg_error *error) {
  const struct tg_npz_array *array;
  enum tg_status status =
      tg_npz_match_integers(npz, key, rank, shape, low, high, &array, error);
  if (status || (*values = tg_npz_in_place(array, TG_NPZ_INT, sizeof **values)))
    return status;
  status = tg_npz_allocate(npz, key, array->count, sizeof **values, arena,
                           (void **)values, error);
  for (int64_t i = 0; !status && i < array->count; i++)
    (*values)[i] = (int8_t)tg_npz_item(array, i);
  return status;
}

enum tg_status tg_npz_get_u64(const struct tg_npz *npz, const char *key,
                              int rank, int64_t *shape, struct tg_arena *arena,
                              uint64_t **values, struct tg_error *error) {
  const struct tg_npz_array *array;
  enum tg_status status = tg_npz_match(npz, key, rank, shape, &array, error);
  if (status)
    return status;
  if (array->kind != TG_NPZ_UINT)
    return tg_npz_wrong_kind(npz, array, "unsigned integers", error);
  if (status ||
      (*values = tg_npz_in_place(array, TG_NPZ_UINT, sizeof **values)))
    return status;
  status = tg_npz_allocate(npz, key, array->count, sizeof **values, arena,
                           (void **)values, error);
  for (int64_t i = 0; !status && i < array->count; i++)
    (*values)[i] = tg_npz_item(array, i);
  return status;
}

/* UTF-8 of a code point; 0 when it is none. */
static int tg_utf8_encode(uint32_t code, char *out) {
  if (code < 0x80) {
    out[0] = (char)code;
    return 1;
  }
  if (code < 0x800) {
    out[0] = (char)(0xc0 | code >> 6);
    out[1] = (char)(0x80 | (code & 63));
    return 2;
  }
  if (code >= 0xd800 && code < 0xe000)
    return 0;
  if (code < 0x10000) {
    out[0] = (char)(0xe0 | code >> 12);
    out[1] = (char)(0x80 | (code >> 6 & 63));
    out[2] = (char)(0x80 | (code & 63));
    return 3;
  }
  if (code >= 0x110000)
    return 0;
  out[0] = (char)(0xf0 | code >> 18);
  out[1] = (char)(0x80 | (code >> 12 & 63));
  out[2] = (char)(0x80 | (code >> 6 & 63));
  out[3] = (char)(0x80 | (code & 63));
  return 4;
}

/* Item i without the NULs that pad it; false when it isn't text. */
static bool tg_npz_decode(const struct tg_npz_array *array, int64_t i,
                          char *out) {
  const unsigned char *p = array->data + i * array->item_nbytes;
  int64_t length = array->item_nbytes / 4;
  while (length && !(p[4 * length - 4] | p[4 * length - 3] | p[4 * length - 2] |
                     p[4 * length - 1]))
    length--;
  for (int64_t c = 0; c < length; c++) {
    uint32_t code = (uint32_t)p[4 * c] | (uint32_t)p[4 * c + 1] << 8 |
                    (uint32_t)p[4 * c + 2] << 16 | (uint32_t)p[4 * c + 3] << 24;
    int nbytes = code ? tg_utf8_encode(code, out) : 0;
    if (!nbytes)
      return false;
    out += nbytes;
  }
  return true;
}

enum tg_status tg_npz_get_text(const struct tg_npz *npz, const char *key,
                               int rank, int64_t *shape, struct tg_arena *arena,
                               const char ***texts, struct tg_error *error) {
  const struct tg_npz_array *array;
  enum tg_status status = tg_npz_match(npz, key, rank, shape, &array, error);
  if (status)
    return status;
  if (array->kind != TG_NPZ_TEXT)
    return tg_npz_wrong_kind(npz, array, "unicode", error);
  status = tg_npz_allocate(npz, key, array->count, sizeof **texts, arena,
                           (void **)texts, error);
  /* A code point is at most as long in UTF-8 as in UTF-32. */
  for (int64_t i = 0; !status && i < array->count; i++) {
    char *text = tg_arena_alloc(arena, (size_t)array->item_nbytes + 1, 1);
    if (!text)
      return tg_npz_no_memory(npz->path, key, error);
    if (!tg_npz_decode(array, i, text))
      return tg_fail(error, "%s: %s: item %" PRId64 " is not text", npz->path,
                     key, i);
    (*texts)[i] = text;
  }
  return status;
}
