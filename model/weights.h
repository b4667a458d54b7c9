/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Trained weights, the .tgw format (little-endian):
 *
 *   0  8  magic "\x89TGW\r\n\x1a\n"
 *   8  4  version, 1
 *  12  4  card_nbytes
 *  16  4  table_nbytes
 *  20  4  0
 *  24  8  packed_nbytes
 *  32  8  data_nbytes, before compression
 *  40  8  schema hash: FNV-1a over the table's column lines
 *  48     card: JSON text for people
 *         table: lines "set NAME NUMBER", "column SCOPE NAME VERSION" (16 hex
 *           digits), "tensor NAME EXTENT..." in the order of the data
 *         data: f32 values of all tensors, one zlib stream
 *   end 4 CRC-32 of all before
 *
 * A version is the hash of a column's formula (tg_hash_text), 0 = none known.
 */
#ifndef TGRAPH_MODEL_WEIGHTS_H
#define TGRAPH_MODEL_WEIGHTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/arena.h"
#include "model/error.h"

enum { TG_TENSOR_MAX_RANK = 4 };

struct tg_tensor {
  const char *name;
  int rank;
  int64_t shape[TG_TENSOR_MAX_RANK];
  int64_t count;
  const float *data; /* row-major, finite */
};

struct tg_column {
  const char *scope; /* "tile.config", "tile.node", "layout.node", ... */
  const char *name;
  uint64_t version;
};

struct tg_setting {
  const char *name;
  double value;
};

struct tg_weights {
  const char *path;
  const char *card;
  uint64_t schema_hash;
  int64_t tensor_count, column_count, setting_count;
  struct tg_tensor *tensors;
  struct tg_column *columns;
  struct tg_setting *settings;
};

/* Everything but `data` is copied into the arena; `path` names it in messages.
 */
enum tg_status tg_weights_parse(const char *path, const unsigned char *data,
                                size_t nbytes, struct tg_arena *arena,
                                struct tg_weights **weights,
                                struct tg_error *error);

/* NULL when there is none. */
const struct tg_tensor *tg_weights_find_tensor(const struct tg_weights *weights,
                                               const char *name);
/* Sets *value when the setting is there. */
bool tg_weights_get_setting(const struct tg_weights *weights, const char *name,
                            double *value);
/* The columns of a scope stand together: the first one, and their number. */
const struct tg_column *tg_weights_get_columns(const struct tg_weights *weights,
                                               const char *scope,
                                               int64_t *count);

/* FNV-1a, 64 bits. Start with TG_HASH_START; a version is the hash of a
 * formula's text. */
#define TG_HASH_START UINT64_C(14695981039346656037)
uint64_t tg_hash_text(uint64_t hash, const char *text);

/* The .tgw file that the build embeds. */
extern const unsigned char tg_embedded_weights[];
extern const size_t tg_embedded_weights_nbytes;

#endif
