/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The header of an .npy array: a Python dictionary with the keys descr,
 * fortran_order and shape, in any order. Only what NumPy writes is accepted.
 */
#include <stdbool.h>
#include <string.h>

#include "model/npz_internal.h"

struct tg_npy_header {
  const char *text, *end;
  bool has_descr, has_order, has_shape, column_major;
};

enum tg_status tg_npz_no_memory(const char *path, const char *what,
                                struct tg_error *error) {
  tg_fail(error, "%s: %s: out of memory", path, what);
  return TG_OUT_OF_MEMORY;
}

static void tg_npy_skip_space(struct tg_npy_header *header) {
  while (header->text < header->end &&
         (*header->text == ' ' || *header->text == '\n'))
    header->text++;
}

static bool tg_npy_take(struct tg_npy_header *header, const char *token) {
  tg_npy_skip_space(header);
  size_t nbytes = strlen(token);
  if ((size_t)(header->end - header->text) < nbytes ||
      memcmp(header->text, token, nbytes) != 0)
    return false;
  header->text += nbytes;
  return true;
}

/* A non-negative integer below 2^40. */
static bool tg_npy_take_integer(struct tg_npy_header *header, int64_t *value) {
  tg_npy_skip_space(header);
  const char *start = header->text;
  *value = 0;
  while (header->text < header->end && *header->text >= '0' &&
         *header->text <= '9') {
    *value = *value * 10 + (*header->text++ - '0');
    if (*value >> 40)
      return false;
  }
  return header->text > start;
}

/* '<f4', '|u1', '<U12', ... */
static bool tg_npy_take_descr(struct tg_npy_header *header,
                              struct tg_npz_array *array) {
  int64_t size;
  tg_npy_skip_space(header);
  if (header->end - header->text < 5 || header->text[0] != '\'')
    return false;
  char order = header->text[1], kind = header->text[2];
  header->text += 3;
  if (!tg_npy_take_integer(header, &size) || !tg_npy_take(header, "'"))
    return false;
  if (order != '<' && !(order == '|' && size == 1))
    return false;
  array->kind = (enum tg_npz_kind)kind;
  array->item_nbytes = kind == 'U' ? 4 * size : size;
  switch (kind) {
  case TG_NPZ_BOOL:
    return size == 1;
  case TG_NPZ_INT:
  case TG_NPZ_UINT:
    return size == 1 || size == 2 || size == 4 || size == 8;
  case TG_NPZ_FLOAT:
    return size == 4 || size == 8;
  case TG_NPZ_TEXT: /* items of no bytes would fit a file in any number */
    return size >= 1 && size <= 1 << 20;
  default:
    return false;
  }
}

static bool tg_npy_take_shape(struct tg_npy_header *header,
                              struct tg_npz_array *array) {
  array->rank = 0;
  if (!tg_npy_take(header, "("))
    return false;
  while (!tg_npy_take(header, ")")) {
    if (array->rank == TG_NPZ_MAX_RANK ||
        !tg_npy_take_integer(header, &array->shape[array->rank++]))
      return false;
    if (!tg_npy_take(header, ",")) {
      if (array->rank < 2 || !tg_npy_take(header, ")"))
        return false;
      break;
    }
  }
  return true;
}

static bool tg_npy_take_item(struct tg_npy_header *header,
                             struct tg_npz_array *array) {
  if (tg_npy_take(header, "'descr':") && !header->has_descr)
    return header->has_descr = tg_npy_take_descr(header, array);
  if (tg_npy_take(header, "'shape':") && !header->has_shape)
    return header->has_shape = tg_npy_take_shape(header, array);
  if (!tg_npy_take(header, "'fortran_order':") || header->has_order)
    return false;
  header->column_major = tg_npy_take(header, "True");
  return header->has_order =
             header->column_major || tg_npy_take(header, "False");
}

static bool tg_npy_read_header(struct tg_npy_header *header,
                               struct tg_npz_array *array) {
  if (!tg_npy_take(header, "{"))
    return false;
  while (!tg_npy_take(header, "}")) {
    if (!tg_npy_take_item(header, array))
      return false;
    if (!tg_npy_take(header, ",")) {
      if (!tg_npy_take(header, "}"))
        return false;
      break;
    }
  }
  tg_npy_skip_space(header);
  return header->text == header->end && header->has_descr &&
         header->has_order && header->has_shape;
}

/* Copies column-major items into row-major order. */
static unsigned char *tg_npy_transpose(const struct tg_npz_array *array,
                                       struct tg_arena *arena) {
  size_t item = (size_t)array->item_nbytes;
  unsigned char *out = tg_arena_alloc(arena, (size_t)array->count, item);
  if (!out)
    return NULL;
  int64_t index[TG_NPZ_MAX_RANK] = {0};
  for (int64_t i = 0; i < array->count; i++) {
    int64_t from = 0;
    for (int d = array->rank - 1; d >= 0; d--)
      from = from * array->shape[d] + index[d];
    memcpy(out + (size_t)i * item, array->data + (size_t)from * item, item);
    for (int d = array->rank - 1; d >= 0 && ++index[d] == array->shape[d]; d--)
      index[d] = 0;
  }
  return out;
}

/* count = product of the shape, which must fill the data exactly. */
static enum tg_status tg_npy_check_size(const char *path, size_t nbytes,
                                        struct tg_npz_array *array,
                                        struct tg_error *error) {
  /* An extent of 0 anywhere makes the array empty, whatever the others say. */
  array->count = 1;
  for (int d = 0; d < array->rank; d++)
    if (!array->shape[d])
      array->count = 0;
  for (int d = 0; d < array->rank && array->count; d++) {
    if (array->shape[d] > (INT64_C(1) << 40) / array->count)
      return tg_fail(error, "%s: %s: the shape has too many elements", path,
                     array->name);
    array->count *= array->shape[d];
  }
  if ((uint64_t)array->count * (uint64_t)array->item_nbytes != nbytes)
    return tg_fail(error,
                   "%s: %s: the shape needs %lld items of %lld bytes, the file "
                   "has %zu bytes",
                   path, array->name, (long long)array->count,
                   (long long)array->item_nbytes, nbytes);
  return TG_OK;
}

/* NumPy takes any byte for a truth value; as numbers they would differ. */
static enum tg_status tg_npy_check_bools(const char *path,
                                         const struct tg_npz_array *array,
                                         struct tg_error *error) {
  for (int64_t i = 0; array->kind == TG_NPZ_BOOL && i < array->count; i++)
    if (array->data[i] > 1)
      return tg_fail(error, "%s: %s: item %lld is %d, expected 0 or 1", path,
                     array->name, (long long)i, array->data[i]);
  return TG_OK;
}

enum tg_status tg_npy_parse(const char *path, const unsigned char *data,
                            size_t nbytes, struct tg_arena *arena,
                            struct tg_npz_array *array,
                            struct tg_error *error) {
  if (nbytes < 12 || memcmp(data, "\x93NUMPY", 6) != 0 ||
      (data[6] != 1 && data[6] != 2) || data[7] != 0)
    return tg_fail(error, "%s: %s: not an .npy array of version 1 or 2", path,
                   array->name);
  size_t start = data[6] == 1 ? 10 : 12;
  size_t header_nbytes = (size_t)data[8] | (size_t)data[9] << 8;
  if (data[6] == 2)
    header_nbytes |= (size_t)data[10] << 16 | (size_t)data[11] << 24;
  if (header_nbytes > nbytes - start)
    return tg_fail(error, "%s: %s: the header is longer than the array", path,
                   array->name);
  struct tg_npy_header header = {.text = (const char *)data + start};
  header.end = header.text + header_nbytes;
  if (!tg_npy_read_header(&header, array))
    return tg_fail(error,
                   "%s: %s: unreadable header, or a type other than "
                   "little-endian bool, integer, f4, f8, unicode",
                   path, array->name);
  array->data = data + start + header_nbytes;
  enum tg_status status =
      tg_npy_check_size(path, nbytes - start - header_nbytes, array, error);
  if (!status)
    status = tg_npy_check_bools(path, array, error);
  if (status || !header.column_major || array->rank < 2)
    return status;
  array->data = tg_npy_transpose(array, arena);
  return array->data ? TG_OK : tg_npz_no_memory(path, array->name, error);
}
