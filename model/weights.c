/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reading .tgw: nothing in the file is believed before it is checked. */
#include "model/weights.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum {
  TG_TGW_HEADER_NBYTES = 48,
  TG_TGW_VERSION = 1,
  TG_TGW_MAX_TEXT_NBYTES = 1 << 24
};
static const uint64_t tg_tgw_max_data_nbytes = UINT64_C(1) << 30;

struct tg_tgw_header {
  size_t card_nbytes, table_nbytes, packed_nbytes, data_nbytes;
};

uint64_t tg_hash_text(uint64_t hash, const char *text) {
  for (; *text; text++)
    hash = (hash ^ (unsigned char)*text) * UINT64_C(1099511628211);
  return hash;
}

static uint32_t tg_tgw_u32(const unsigned char *p) {
  return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
         (uint32_t)p[3] << 24;
}

static uint64_t tg_tgw_u64(const unsigned char *p) {
  return (uint64_t)tg_tgw_u32(p) | (uint64_t)tg_tgw_u32(p + 4) << 32;
}

static enum tg_status
tg_tgw_read_header(const char *path, const unsigned char *data, size_t nbytes,
                   struct tg_tgw_header *header, struct tg_error *error) {
  if (nbytes < 8 || memcmp(data, "\x89TGW\r\n\x1a\n", 8) != 0)
    return tg_fail(error, "%s: not a .tgw file", path);
  if (nbytes < TG_TGW_HEADER_NBYTES + 4)
    return tg_fail(error, "%s: truncated (%zu bytes)", path, nbytes);
  if (tg_tgw_u32(data + 8) != TG_TGW_VERSION)
    return tg_fail(error, "%s: format version %u, this program reads %d", path,
                   (unsigned)tg_tgw_u32(data + 8), TG_TGW_VERSION);
  uint64_t packed = tg_tgw_u64(data + 24), raw = tg_tgw_u64(data + 32);
  header->card_nbytes = tg_tgw_u32(data + 12);
  header->table_nbytes = tg_tgw_u32(data + 16);
  if (header->card_nbytes > TG_TGW_MAX_TEXT_NBYTES ||
      header->table_nbytes > TG_TGW_MAX_TEXT_NBYTES || packed > nbytes)
    return tg_fail(error, "%s: truncated, or a broken header", path);
  size_t total = TG_TGW_HEADER_NBYTES + header->card_nbytes +
                 header->table_nbytes + (size_t)packed + 4;
  if (total != nbytes)
    return tg_fail(error, "%s: %zu bytes, but its header describes %zu", path,
                   nbytes, total);
  /* Deflate never does better than 1032 to 1; more is a forged size. */
  if (raw > tg_tgw_max_data_nbytes || raw % 4 || raw / 1032 > packed)
    return tg_fail(error, "%s: impossible data size %llu", path,
                   (unsigned long long)raw);
  if (crc32(0, data, (uInt)(nbytes - 4)) != tg_tgw_u32(data + nbytes - 4))
    return tg_fail(error, "%s: wrong checksum", path);
  header->packed_nbytes = (size_t)packed;
  header->data_nbytes = (size_t)raw;
  return TG_OK;
}

static enum tg_status tg_tgw_copy_text(const char *path,
                                       const unsigned char *data, size_t nbytes,
                                       const char *what, struct tg_arena *arena,
                                       char **text, struct tg_error *error) {
  *text = tg_arena_alloc(arena, nbytes + 1, 1);
  if (!*text)
    return tg_fail_memory(error, path);
  memcpy(*text, data, nbytes);
  if (strlen(*text) != nbytes)
    return tg_fail(error, "%s: the %s holds a NUL", path, what);
  return TG_OK;
}

/* Cuts the next word off the line; NULL at the line's end. */
static char *tg_tgw_next_word(char **line) {
  char *word = *line;
  if (!word || !*word)
    return NULL;
  char *space = strchr(word, ' ');
  if (space)
    *space++ = 0;
  *line = space;
  return word;
}

static bool tg_tgw_read_setting(char *line, struct tg_setting *setting) {
  char *name = tg_tgw_next_word(&line), *end = NULL;
  char *number = tg_tgw_next_word(&line);
  if (!name || !number || line)
    return false;
  setting->name = name;
  setting->value = strtod(number, &end);
  return end != number && !*end && isfinite(setting->value);
}

static bool tg_tgw_read_column(char *line, struct tg_column *column) {
  char *scope = tg_tgw_next_word(&line);
  char *name = tg_tgw_next_word(&line);
  char *version = tg_tgw_next_word(&line);
  if (!scope || !name || !version || line || strlen(version) != 16 ||
      strspn(version, "0123456789abcdef") != 16)
    return false;
  column->scope = scope;
  column->name = name;
  column->version = strtoull(version, NULL, 16);
  return true;
}

static bool tg_tgw_read_tensor(char *line, struct tg_tensor *tensor) {
  tensor->name = tg_tgw_next_word(&line);
  tensor->rank = 0;
  tensor->count = 1;
  if (!tensor->name)
    return false;
  for (char *word; (word = tg_tgw_next_word(&line));) {
    size_t length = strlen(word);
    if (tensor->rank == TG_TENSOR_MAX_RANK || !length || length > 9 ||
        strspn(word, "0123456789") != length)
      return false;
    int64_t extent = strtoll(word, NULL, 10);
    if (extent < 1 || tensor->count > (INT64_C(1) << 28) / extent)
      return false;
    tensor->shape[tensor->rank++] = extent;
    tensor->count *= extent;
  }
  return true;
}

static int64_t tg_tgw_count_lines(const char *table) {
  int64_t lines = 0;
  for (const char *c = table; *c; c++)
    lines += *c == '\n';
  return lines;
}

/* Reads one line (without its end) behind its first word. */
static bool tg_tgw_read_line(struct tg_weights *weights, char *line) {
  char *kind = tg_tgw_next_word(&line);
  if (!kind)
    return false;
  if (!strcmp(kind, "set"))
    return tg_tgw_read_setting(line,
                               &weights->settings[weights->setting_count++]);
  if (!strcmp(kind, "column"))
    return tg_tgw_read_column(line, &weights->columns[weights->column_count++]);
  if (!strcmp(kind, "tensor"))
    return tg_tgw_read_tensor(line, &weights->tensors[weights->tensor_count++]);
  return false;
}

static enum tg_status tg_tgw_read_table(struct tg_weights *weights, char *table,
                                        uint64_t expected_hash,
                                        struct tg_arena *arena,
                                        struct tg_error *error) {
  size_t lines = (size_t)tg_tgw_count_lines(table);
  weights->settings = tg_arena_alloc(arena, lines, sizeof *weights->settings);
  weights->columns = tg_arena_alloc(arena, lines, sizeof *weights->columns);
  weights->tensors = tg_arena_alloc(arena, lines, sizeof *weights->tensors);
  if (!weights->settings || !weights->columns || !weights->tensors)
    return tg_fail_memory(error, weights->path);
  weights->schema_hash = TG_HASH_START;
  int number = 1;
  for (char *end; (end = strchr(table, '\n')); table = end + 1, number++) {
    *end = 0;
    if (!strncmp(table, "column ", 7))
      weights->schema_hash =
          tg_hash_text(tg_hash_text(weights->schema_hash, table + 7), "\n");
    if (!tg_tgw_read_line(weights, table))
      return tg_fail(error, "%s: line %d of its table is broken", weights->path,
                     number);
  }
  if (*table)
    return tg_fail(error, "%s: the table doesn't end with a line end",
                   weights->path);
  if (weights->schema_hash != expected_hash)
    return tg_fail(error, "%s: the schema hash doesn't fit the columns",
                   weights->path);
  return TG_OK;
}

static enum tg_status tg_tgw_read_data(struct tg_weights *weights,
                                       const unsigned char *packed,
                                       const struct tg_tgw_header *header,
                                       struct tg_arena *arena,
                                       struct tg_error *error) {
  uint64_t expected = 0;
  for (int64_t i = 0; i < weights->tensor_count; i++)
    expected += (uint64_t)weights->tensors[i].count;
  if (expected * 4 != header->data_nbytes)
    return tg_fail(error, "%s: its tensors need %llu bytes, its data has %zu",
                   weights->path, (unsigned long long)(expected * 4),
                   header->data_nbytes);
  unsigned char *bytes = tg_arena_alloc(arena, header->data_nbytes + 1, 1);
  float *values = tg_arena_alloc(arena, (size_t)expected, sizeof *values);
  if (!bytes || !values)
    return tg_fail_memory(error, weights->path);
  uLongf length = header->data_nbytes;
  if (uncompress(bytes, &length, packed, header->packed_nbytes) != Z_OK ||
      length != header->data_nbytes)
    return tg_fail(error, "%s: its data is broken", weights->path);
  for (int64_t i = 0; i < weights->tensor_count; i++) {
    weights->tensors[i].data = values;
    for (int64_t k = 0; k < weights->tensors[i].count; k++, bytes += 4) {
      uint32_t bits = tg_tgw_u32(bytes);
      memcpy(values, &bits, sizeof bits);
      if (!isfinite(*values++))
        return tg_fail(error, "%s: tensor %s holds a value that isn't finite",
                       weights->path, weights->tensors[i].name);
    }
  }
  return TG_OK;
}

enum tg_status tg_weights_parse(const char *path, const unsigned char *data,
                                size_t nbytes, struct tg_arena *arena,
                                struct tg_weights **weights,
                                struct tg_error *error) {
  struct tg_tgw_header header = {0};
  enum tg_status status =
      tg_tgw_read_header(path, data, nbytes, &header, error);
  if (status)
    return status;
  struct tg_weights *result = tg_arena_alloc(arena, 1, sizeof *result);
  if (!result || !(result->path = tg_arena_strdup(arena, path)))
    return tg_fail_memory(error, path);
  const unsigned char *p = data + TG_TGW_HEADER_NBYTES;
  char *card = NULL, *table = NULL;
  status = tg_tgw_copy_text(path, p, header.card_nbytes, "card", arena, &card,
                            error);
  p += header.card_nbytes;
  if (!status)
    status = tg_tgw_copy_text(path, p, header.table_nbytes, "table", arena,
                              &table, error);
  p += header.table_nbytes;
  result->card = card;
  if (!status)
    status =
        tg_tgw_read_table(result, table, tg_tgw_u64(data + 40), arena, error);
  if (!status)
    status = tg_tgw_read_data(result, p, &header, arena, error);
  if (!status)
    *weights = result;
  return status;
}

const struct tg_tensor *tg_weights_find_tensor(const struct tg_weights *weights,
                                               const char *name) {
  for (int64_t i = 0; i < weights->tensor_count; i++)
    if (!strcmp(weights->tensors[i].name, name))
      return &weights->tensors[i];
  return NULL;
}

bool tg_weights_get_setting(const struct tg_weights *weights, const char *name,
                            double *value) {
  for (int64_t i = 0; i < weights->setting_count; i++)
    if (!strcmp(weights->settings[i].name, name)) {
      *value = weights->settings[i].value;
      return true;
    }
  return false;
}

const struct tg_column *tg_weights_get_columns(const struct tg_weights *weights,
                                               const char *scope,
                                               int64_t *count) {
  const struct tg_column *first = NULL;
  *count = 0;
  for (int64_t i = 0; i < weights->column_count; i++) {
    if (strcmp(weights->columns[i].scope, scope) != 0) {
      if (first)
        break;
      continue;
    }
    if (!first)
      first = &weights->columns[i];
    ++*count;
  }
  return first;
}
