/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Writing .npz: entries are compressed into one buffer as they come, the
 * directory follows, and the file appears at once under its name. No times or
 * other marks of the machine: equal data gives equal files.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "model/file.h"
#include "model/npz.h"

struct tg_buffer {
  unsigned char *data;
  size_t nbytes, capacity;
};

struct tg_npz_writer {
  struct tg_buffer body, directory, key_list; /* keys: NUL-terminated */
  unsigned entry_count;
  const char *fault; /* the first one */
  char fault_key[64];
};

static void tg_npz_writer_fault(struct tg_npz_writer *writer, const char *key,
                                const char *fault) {
  if (writer->fault)
    return;
  writer->fault = fault;
  snprintf(writer->fault_key, sizeof writer->fault_key, "%s", key);
}

static unsigned char *tg_buffer_grow(struct tg_buffer *buffer, size_t nbytes) {
  if (buffer->capacity - buffer->nbytes < nbytes) {
    size_t capacity = 2 * buffer->capacity + nbytes + 256;
    unsigned char *data = realloc(buffer->data, capacity);
    if (!data)
      return NULL;
    buffer->data = data;
    buffer->capacity = capacity;
  }
  unsigned char *start = buffer->data + buffer->nbytes;
  buffer->nbytes += nbytes;
  return start;
}

static void tg_put_u16(unsigned char *p, unsigned value) {
  p[0] = (unsigned char)value;
  p[1] = (unsigned char)(value >> 8);
}

static void tg_put_u32(unsigned char *p, uint32_t value) {
  tg_put_u16(p, value & 0xffff);
  tg_put_u16(p + 2, value >> 16);
}

struct tg_npz_writer *tg_npz_writer_create(void) {
  return calloc(1, sizeof(struct tg_npz_writer));
}

void tg_npz_writer_destroy(struct tg_npz_writer *writer) {
  if (!writer)
    return;
  free(writer->body.data);
  free(writer->directory.data);
  free(writer->key_list.data);
  free(writer);
}

/* The 20 bytes that local header and directory share. */
static void tg_zip_put_common(unsigned char *p, uint32_t crc,
                              size_t packed_nbytes, size_t nbytes,
                              size_t name_nbytes) {
  tg_put_u16(p, 20);         /* version needed */
  tg_put_u16(p + 2, 0);      /* flags */
  tg_put_u16(p + 4, 8);      /* deflate */
  tg_put_u16(p + 6, 0);      /* time */
  tg_put_u16(p + 8, 0x0021); /* 1980-01-01, the earliest date of a zip */
  tg_put_u32(p + 10, crc);
  tg_put_u32(p + 14, (uint32_t)packed_nbytes);
  tg_put_u32(p + 18, (uint32_t)nbytes);
  tg_put_u16(p + 22, (unsigned)name_nbytes);
  tg_put_u16(p + 24, 0); /* extra */
}

static bool tg_npz_writer_add_directory(struct tg_npz_writer *writer,
                                        const char *name, uint32_t crc,
                                        size_t packed_nbytes, size_t nbytes,
                                        size_t offset) {
  size_t name_nbytes = strlen(name);
  unsigned char *p = tg_buffer_grow(&writer->directory, 46 + name_nbytes);
  if (!p)
    return false;
  memset(p, 0, 46);
  tg_put_u32(p, 0x02014b50);
  tg_put_u16(p + 4, 20);
  tg_zip_put_common(p + 6, crc, packed_nbytes, nbytes, name_nbytes);
  tg_put_u32(p + 42, (uint32_t)offset);
  memcpy(p + 46, name, name_nbytes);
  return true;
}

/* Deflates two pieces, the header of an array and its data, as one stream. */
static size_t tg_deflate_pieces(unsigned char *out, size_t capacity,
                                const void *header, size_t header_nbytes,
                                const void *data, size_t nbytes) {
  z_stream stream;
  memset(&stream, 0, sizeof stream);
  if (deflateInit2(&stream, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) !=
      Z_OK)
    return 0;
  stream.next_out = out;
  stream.avail_out = (uInt)capacity;
  stream.next_in = (unsigned char *)header;
  stream.avail_in = (uInt)header_nbytes;
  int result = deflate(&stream, Z_NO_FLUSH);
  stream.next_in = (unsigned char *)data;
  stream.avail_in = (uInt)nbytes;
  if (result == Z_OK && !stream.avail_out)
    result = Z_BUF_ERROR;
  if (result == Z_OK)
    result = deflate(&stream, Z_FINISH);
  size_t written = stream.total_out;
  deflateEnd(&stream);
  return result == Z_STREAM_END ? written : 0;
}

static bool tg_npz_writer_put(struct tg_npz_writer *writer, const char *name,
                              const char *header, size_t header_nbytes,
                              const void *data, size_t nbytes) {
  size_t offset = writer->body.nbytes, name_nbytes = strlen(name);
  size_t total = header_nbytes + nbytes;
  size_t bound = compressBound(total) + 64;
  unsigned char *p = tg_buffer_grow(&writer->body, 30 + name_nbytes + bound);
  if (!p)
    return false;
  size_t packed = tg_deflate_pieces(p + 30 + name_nbytes, bound, header,
                                    header_nbytes, data, nbytes);
  if (!packed)
    return false;
  uint32_t crc =
      (uint32_t)crc32(0, (const unsigned char *)header, (uInt)header_nbytes);
  if (nbytes)
    crc = (uint32_t)crc32(crc, data, (uInt)nbytes);
  tg_put_u32(p, 0x04034b50);
  tg_zip_put_common(p + 4, crc, packed, total, name_nbytes);
  memcpy(p + 30, name, name_nbytes);
  writer->body.nbytes = offset + 30 + name_nbytes + packed;
  writer->entry_count++;
  return tg_npz_writer_add_directory(writer, name, crc, packed, total, offset);
}

/* The header, padded so that the data starts at a multiple of 64. */
static size_t tg_npy_format_header(char *header, size_t capacity,
                                   enum tg_npz_kind kind, int64_t item_nbytes,
                                   int rank, const int64_t *shape) {
  char text[256];
  int length = snprintf(
      text, sizeof text,
      "{'descr': '%c%c%lld', 'fortran_order': False, "
      "'shape': (",
      item_nbytes == 1 ? '|' : '<', (char)kind,
      (long long)(kind == TG_NPZ_TEXT ? item_nbytes / 4 : item_nbytes));
  for (int d = 0; d < rank; d++)
    length += snprintf(text + length, sizeof text - (size_t)length, "%lld%s",
                       (long long)shape[d],
                       rank == 1      ? ","
                       : d + 1 < rank ? ", "
                                      : "");
  length += snprintf(text + length, sizeof text - (size_t)length, "), }");
  size_t total = ((size_t)length + 10 + 1 + 63) / 64 * 64;
  if (total > capacity)
    return 0;
  memset(header, ' ', total);
  memcpy(header, "\x93NUMPY\x01\x00", 8);
  tg_put_u16((unsigned char *)header + 8, (unsigned)(total - 10));
  memcpy(header + 10, text, (size_t)length);
  header[total - 1] = '\n';
  return total;
}

bool tg_npz_writer_has(const struct tg_npz_writer *writer, const char *key) {
  const struct tg_buffer *list = &writer->key_list;
  for (size_t at = 0; at < list->nbytes;
       at += strlen((const char *)list->data + at) + 1)
    if (!strcmp((const char *)list->data + at, key))
      return true;
  return false;
}

static bool tg_npz_writer_take_key(struct tg_npz_writer *writer,
                                   const char *key) {
  if (tg_npz_writer_has(writer, key)) {
    tg_npz_writer_fault(writer, key, "key added twice");
    return false;
  }
  unsigned char *copy = tg_buffer_grow(&writer->key_list, strlen(key) + 1);
  if (copy)
    memcpy(copy, key, strlen(key) + 1);
  else
    tg_npz_writer_fault(writer, key, "out of memory");
  return copy;
}

void tg_npz_writer_add(struct tg_npz_writer *writer, const char *key,
                       enum tg_npz_kind kind, int64_t item_nbytes, int rank,
                       const int64_t *shape, const void *data) {
  char name[256], header[384];
  if (writer->fault || !tg_npz_writer_take_key(writer, key))
    return;
  size_t nbytes = (size_t)item_nbytes;
  for (int d = 0; d < rank; d++) {
    if (shape[d] && nbytes > (UINT32_C(1) << 31) / (size_t)shape[d]) {
      tg_npz_writer_fault(writer, key, "larger than 2 GiB");
      return;
    }
    nbytes *= (size_t)shape[d];
  }
  int length = snprintf(name, sizeof name, "%s.npy", key);
  size_t header_nbytes = tg_npy_format_header(header, sizeof header, kind,
                                              item_nbytes, rank, shape);
  if (length >= (int)sizeof name || !header_nbytes || rank > TG_NPZ_MAX_RANK)
    tg_npz_writer_fault(writer, key, "name or rank too large");
  else if (!tg_npz_writer_put(writer, name, header, header_nbytes, data,
                              nbytes))
    tg_npz_writer_fault(writer, key, "out of memory");
}

/* The next code point of UTF-8; a stray byte stands for itself (Latin-1). */
static uint32_t tg_utf8_decode(const unsigned char **text) {
  const unsigned char *p = *text;
  int more = *p >= 0xf0 ? 3 : *p >= 0xe0 ? 2 : *p >= 0xc0 ? 1 : 0;
  uint32_t code = more == 3   ? *p & 7u
                  : more == 2 ? *p & 15u
                  : more == 1 ? *p & 31u
                              : *p;
  for (int i = 1; i <= more; i++) {
    if ((p[i] & 0xc0) != 0x80) {
      *text = p + 1;
      return *p;
    }
    code = code << 6 | (p[i] & 63u);
  }
  *text = p + more + 1;
  return code;
}

static void tg_npz_writer_add_unicode(struct tg_npz_writer *writer,
                                      const char *key, int rank, int64_t count,
                                      const char *const *texts) {
  size_t longest = 1;
  for (int64_t i = 0; i < count; i++)
    longest = strlen(texts[i]) > longest ? strlen(texts[i]) : longest;
  unsigned char *items = calloc((size_t)count + 1, 4 * longest);
  if (!items) {
    tg_npz_writer_fault(writer, key, "out of memory");
    return;
  }
  for (int64_t i = 0; i < count; i++) {
    const unsigned char *text = (const unsigned char *)texts[i];
    for (unsigned char *out = items + (size_t)i * 4 * longest; *text; out += 4)
      tg_put_u32(out, tg_utf8_decode(&text));
  }
  tg_npz_writer_add(writer, key, TG_NPZ_TEXT, (int64_t)(4 * longest), rank,
                    &count, items);
  free(items);
}

void tg_npz_writer_add_texts(struct tg_npz_writer *writer, const char *key,
                             int64_t count, const char *const *texts) {
  tg_npz_writer_add_unicode(writer, key, 1, count, texts);
}

void tg_npz_writer_add_text(struct tg_npz_writer *writer, const char *key,
                            const char *text) {
  tg_npz_writer_add_unicode(writer, key, 0, 1, &text);
}

enum tg_status tg_npz_writer_finish(struct tg_npz_writer *writer,
                                    const char *path, struct tg_error *error) {
  size_t offset = writer->body.nbytes, nbytes = writer->directory.nbytes;
  if (!writer->fault && (offset >> 32 || writer->entry_count >= 0xffff))
    tg_npz_writer_fault(writer, "file", "too large for a zip");
  unsigned char *p =
      writer->fault ? NULL : tg_buffer_grow(&writer->body, nbytes + 22);
  if (!writer->fault && !p)
    tg_npz_writer_fault(writer, "directory", "out of memory");
  if (writer->fault) {
    tg_fail(error, "%s: %s: %s", path, writer->fault_key, writer->fault);
    return TG_OUT_OF_MEMORY;
  }
  if (nbytes)
    memcpy(p, writer->directory.data, nbytes);
  memset(p + nbytes, 0, 22);
  tg_put_u32(p + nbytes, 0x06054b50);
  tg_put_u16(p + nbytes + 8, writer->entry_count);
  tg_put_u16(p + nbytes + 10, writer->entry_count);
  tg_put_u32(p + nbytes + 12, (uint32_t)nbytes);
  tg_put_u32(p + nbytes + 16, (uint32_t)offset);
  return tg_file_write(path, writer->body.data, writer->body.nbytes, error);
}
