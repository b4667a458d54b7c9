/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The zip side of reading: the directory at the file's end, and the entries it
 * names. Sizes come from the directory; NumPy leaves those of the local headers
 * to a zip64 field.
 */
#include "model/npz.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "model/file.h"
#include "model/npz_internal.h"

enum {
  TG_ZIP_END_NBYTES = 22,
  TG_ZIP_ENTRY_NBYTES = 46,
  TG_ZIP_LOCAL_NBYTES = 30,
  TG_ZIP_MAX_COMMENT = 65535,
  /* Deflate never does better than 1032 to 1; more is a forged size. */
  TG_DEFLATE_MAX_RATIO = 1032
};

struct tg_zip {
  const char *path;
  const unsigned char *data;
  size_t nbytes;
  size_t directory_offset, directory_nbytes;
  unsigned entry_count;
};

struct tg_zip_entry {
  const char *name; /* in the arena */
  unsigned method, flags;
  uint32_t crc;
  size_t packed_nbytes, nbytes, local_offset;
  size_t data_offset; /* of the packed bytes */
};

static unsigned tg_read_u16(const unsigned char *p) {
  return (unsigned)p[0] | (unsigned)p[1] << 8;
}

static uint32_t tg_read_u32(const unsigned char *p) {
  return (uint32_t)tg_read_u16(p) | (uint32_t)tg_read_u16(p + 2) << 16;
}

static enum tg_status tg_zip_find_directory(struct tg_zip *zip,
                                            struct tg_error *error) {
  if (zip->nbytes < TG_ZIP_END_NBYTES)
    return tg_fail(error, "%s: not an .npz file (%zu bytes)", zip->path,
                   zip->nbytes);
  const unsigned char *end = NULL;
  size_t last = zip->nbytes - TG_ZIP_END_NBYTES;
  for (size_t back = 0; back <= last && back <= TG_ZIP_MAX_COMMENT; back++) {
    const unsigned char *p = zip->data + (last - back);
    if (tg_read_u32(p) == 0x06054b50 && tg_read_u16(p + 20) == back) {
      end = p;
      break;
    }
  }
  if (!end)
    return tg_fail(error,
                   "%s: not an .npz file, or a truncated one: no zip "
                   "directory at its end",
                   zip->path);
  zip->entry_count = tg_read_u16(end + 10);
  zip->directory_nbytes = tg_read_u32(end + 12);
  zip->directory_offset = tg_read_u32(end + 16);
  if (zip->entry_count == 0xffff || zip->directory_offset == 0xffffffff)
    return tg_fail(error, "%s: zip64 archives are not supported", zip->path);
  size_t end_offset = (size_t)(end - zip->data);
  if (zip->directory_offset > end_offset ||
      zip->directory_nbytes > end_offset - zip->directory_offset)
    return tg_fail(error, "%s: the zip directory lies outside of the file",
                   zip->path);
  return TG_OK;
}

/* Reads the directory's entry at *offset and moves behind it. */
static enum tg_status tg_zip_read_entry(const struct tg_zip *zip,
                                        size_t *offset, struct tg_arena *arena,
                                        struct tg_zip_entry *entry,
                                        struct tg_error *error) {
  size_t end = zip->directory_offset + zip->directory_nbytes;
  const unsigned char *p = zip->data + *offset;
  size_t left = end - *offset;
  if (left < TG_ZIP_ENTRY_NBYTES || tg_read_u32(p) != 0x02014b50)
    return tg_fail(error, "%s: the zip directory is broken", zip->path);
  size_t name_nbytes = tg_read_u16(p + 28);
  size_t nbytes = TG_ZIP_ENTRY_NBYTES + name_nbytes + tg_read_u16(p + 30) +
                  tg_read_u16(p + 32);
  if (nbytes > left)
    return tg_fail(error, "%s: the zip directory is broken", zip->path);
  char *name = tg_arena_alloc(arena, name_nbytes + 1, 1);
  if (!name)
    return tg_npz_no_memory(zip->path, "zip directory", error);
  memcpy(name, p + TG_ZIP_ENTRY_NBYTES, name_nbytes);
  if (strlen(name) != name_nbytes)
    return tg_fail(error, "%s: a name in the zip directory holds a NUL",
                   zip->path);
  entry->name = name;
  entry->flags = tg_read_u16(p + 8);
  entry->method = tg_read_u16(p + 10);
  entry->crc = tg_read_u32(p + 16);
  entry->packed_nbytes = tg_read_u32(p + 20);
  entry->nbytes = tg_read_u32(p + 24);
  entry->local_offset = tg_read_u32(p + 42);
  if (entry->packed_nbytes == 0xffffffff || entry->nbytes == 0xffffffff)
    return tg_fail(error, "%s: %s: zip64 entries are not supported", zip->path,
                   name);
  *offset += nbytes;
  return TG_OK;
}

static bool tg_zip_inflate(const unsigned char *packed, size_t packed_nbytes,
                           unsigned char *out, size_t nbytes) {
  z_stream stream;
  memset(&stream, 0, sizeof stream);
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
    return false;
  stream.next_in = (unsigned char *)packed;
  stream.avail_in = (uInt)packed_nbytes;
  stream.next_out = out;
  stream.avail_out = (uInt)nbytes;
  int result = inflate(&stream, Z_FINISH);
  bool complete = result == Z_STREAM_END && stream.total_out == nbytes &&
                  stream.avail_in == 0;
  inflateEnd(&stream);
  return complete;
}

/* Finds the packed bytes, which have a header of their own in front: it must
 * say what the directory says. */
static enum tg_status tg_zip_locate(const struct tg_zip *zip,
                                    struct tg_zip_entry *entry,
                                    struct tg_error *error) {
  const char *path = zip->path, *name = entry->name;
  if (entry->local_offset > zip->directory_offset ||
      zip->directory_offset - entry->local_offset < TG_ZIP_LOCAL_NBYTES)
    return tg_fail(error, "%s: %s: lies outside of the file", path, name);
  const unsigned char *p = zip->data + entry->local_offset;
  if (tg_read_u32(p) != 0x04034b50)
    return tg_fail(error, "%s: %s: no zip entry where the directory says", path,
                   name);
  size_t name_nbytes = tg_read_u16(p + 26);
  size_t start = entry->local_offset + TG_ZIP_LOCAL_NBYTES + name_nbytes +
                 tg_read_u16(p + 28);
  if (start > zip->directory_offset ||
      zip->directory_offset - start < entry->packed_nbytes)
    return tg_fail(error, "%s: %s: truncated", path, name);
  if (name_nbytes != strlen(name) ||
      memcmp(p + TG_ZIP_LOCAL_NBYTES, name, name_nbytes) != 0)
    return tg_fail(error,
                   "%s: %s: has another name in the directory than at "
                   "its place",
                   path, name);
  if (tg_read_u16(p + 8) != entry->method)
    return tg_fail(error,
                   "%s: %s: has another zip method in the directory "
                   "than at its place",
                   path, name);
  entry->data_offset = start;
  return TG_OK;
}

static enum tg_status tg_zip_unpack(const struct tg_zip *zip,
                                    const struct tg_zip_entry *entry,
                                    struct tg_arena *arena,
                                    unsigned char **data,
                                    struct tg_error *error) {
  const char *path = zip->path, *name = entry->name;
  if (entry->flags & 1)
    return tg_fail(error, "%s: %s: encrypted", path, name);
  if (entry->method != 0 && entry->method != 8)
    return tg_fail(error, "%s: %s: unknown zip method %u", path, name,
                   entry->method);
  const unsigned char *packed = zip->data + entry->data_offset;
  if (entry->method == 0
          ? entry->nbytes != entry->packed_nbytes
          : entry->nbytes / TG_DEFLATE_MAX_RATIO > entry->packed_nbytes)
    return tg_fail(error, "%s: %s: impossible size %zu", path, name,
                   entry->nbytes);
  *data = tg_arena_alloc_raw(arena, entry->nbytes + 1, 1);
  if (!*data)
    return tg_npz_no_memory(path, name, error);
  if (entry->method == 0)
    memcpy(*data, packed, entry->nbytes);
  else if (!tg_zip_inflate(packed, entry->packed_nbytes, *data, entry->nbytes))
    return tg_fail(error, "%s: %s: broken deflate data", path, name);
  if (crc32(0, *data, (uInt)entry->nbytes) != entry->crc)
    return tg_fail(error, "%s: %s: wrong checksum", path, name);
  return TG_OK;
}

static bool tg_ends_with_npy(const char *name) {
  size_t nbytes = strlen(name);
  return nbytes > 4 && !strcmp(name + nbytes - 4, ".npy");
}

static enum tg_status tg_npz_add_entry(const struct tg_zip *zip,
                                       const struct tg_zip_entry *entry,
                                       struct tg_arena *arena,
                                       struct tg_npz *npz,
                                       struct tg_error *error) {
  unsigned char *data = NULL;
  enum tg_status status = tg_zip_unpack(zip, entry, arena, &data, error);
  if (status)
    return status;
  char *key = tg_arena_strdup(arena, entry->name);
  if (!key)
    return tg_npz_no_memory(zip->path, entry->name, error);
  key[strlen(key) - 4] = 0;
  if (tg_npz_find(npz, key))
    return tg_fail(error, "%s: %s: key occurs twice", zip->path, key);
  struct tg_npz_array *array = &npz->arrays[npz->array_count];
  array->name = key;
  status = tg_npy_parse(zip->path, data, entry->nbytes, arena, array, error);
  if (!status)
    npz->array_count++;
  return status;
}

static int tg_zip_compare(const void *a, const void *b) {
  const struct tg_zip_entry *left = a, *right = b;
  return (left->local_offset > right->local_offset) -
         (left->local_offset < right->local_offset);
}

/* Entries that share bytes would make a small file a large one. Sorts them. */
static enum tg_status tg_zip_check_overlaps(const struct tg_zip *zip,
                                            struct tg_zip_entry *entries,
                                            struct tg_error *error) {
  if (zip->entry_count)
    qsort(entries, zip->entry_count, sizeof *entries, tg_zip_compare);
  for (unsigned i = 1; i < zip->entry_count; i++)
    if (entries[i].local_offset <
        entries[i - 1].data_offset + entries[i - 1].packed_nbytes)
      return tg_fail(error, "%s: %s: shares bytes with %s", zip->path,
                     entries[i].name, entries[i - 1].name);
  return TG_OK;
}

/* The whole directory, in the order of the entries' places. */
static enum tg_status tg_zip_read_directory(const struct tg_zip *zip,
                                            struct tg_arena *arena,
                                            struct tg_zip_entry **entries,
                                            struct tg_error *error) {
  *entries = tg_arena_alloc(arena, zip->entry_count, sizeof **entries);
  if (!*entries)
    return tg_npz_no_memory(zip->path, "zip directory", error);
  size_t offset = zip->directory_offset;
  enum tg_status status = TG_OK;
  for (unsigned i = 0; !status && i < zip->entry_count; i++) {
    status = tg_zip_read_entry(zip, &offset, arena, &(*entries)[i], error);
    if (!status)
      status = tg_zip_locate(zip, &(*entries)[i], error);
  }
  if (!status && offset != zip->directory_offset + zip->directory_nbytes)
    status = tg_fail(error, "%s: the zip directory is broken", zip->path);
  return status ? status : tg_zip_check_overlaps(zip, *entries, error);
}

enum tg_status tg_npz_read_memory(const char *path, const unsigned char *data,
                                  size_t nbytes, struct tg_arena *arena,
                                  struct tg_npz **npz, struct tg_error *error) {
  struct tg_zip zip = {.path = path, .data = data, .nbytes = nbytes};
  struct tg_zip_entry *entries = NULL;
  enum tg_status status = tg_zip_find_directory(&zip, error);
  if (!status)
    status = tg_zip_read_directory(&zip, arena, &entries, error);
  if (status)
    return status;
  struct tg_npz *result = tg_arena_alloc(arena, 1, sizeof *result);
  if (!result)
    return tg_npz_no_memory(path, "zip directory", error);
  result->path = tg_arena_strdup(arena, path);
  result->arrays =
      tg_arena_alloc(arena, zip.entry_count, sizeof *result->arrays);
  if (!result->path || !result->arrays)
    return tg_npz_no_memory(path, "zip directory", error);
  for (unsigned i = 0; !status && i < zip.entry_count; i++)
    if (tg_ends_with_npy(entries[i].name))
      status = tg_npz_add_entry(&zip, &entries[i], arena, result, error);
  if (!status)
    *npz = result;
  return status;
}

/* The file's own bytes are given back once its arrays are unpacked. */
enum tg_status tg_npz_read(const char *path, struct tg_arena *arena,
                           struct tg_npz **npz, struct tg_error *error) {
  unsigned char *data = NULL;
  size_t nbytes = 0;
  struct tg_arena *packed = tg_arena_create();
  if (!packed)
    return tg_fail_memory(error, path);
  enum tg_status status = tg_file_read(path, packed, &data, &nbytes, error);
  if (!status)
    status = tg_npz_read_memory(path, data, nbytes, arena, npz, error);
  tg_arena_destroy(packed);
  return status;
}

const struct tg_npz_array *tg_npz_find(const struct tg_npz *npz,
                                       const char *key) {
  for (int64_t i = 0; i < npz->array_count; i++)
    if (!strcmp(npz->arrays[i].name, key))
      return &npz->arrays[i];
  return NULL;
}
