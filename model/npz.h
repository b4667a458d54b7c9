/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * NumPy's .npz: a zip of .npy arrays. Every length, offset, checksum, shape
 * and type is checked against the file; an error names file, key and fault.
 * Read: stored and deflated entries, npy versions 1 and 2, little-endian
 * integers of 1 to 8 bytes, f4, f8, bool, fixed-width unicode, either order.
 */
#ifndef TGRAPH_MODEL_NPZ_H
#define TGRAPH_MODEL_NPZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/arena.h"
#include "model/error.h"

enum { TG_NPZ_MAX_RANK = 6, TG_NPZ_ANY = -1 };

enum tg_npz_kind {
  TG_NPZ_BOOL = 'b',
  TG_NPZ_INT = 'i',
  TG_NPZ_UINT = 'u',
  TG_NPZ_FLOAT = 'f',
  TG_NPZ_TEXT = 'U' /* UTF-32, item_nbytes = 4 x the longest text */
};

struct tg_npz_array {
  const char *name; /* without ".npy" */
  enum tg_npz_kind kind;
  int64_t item_nbytes;
  int rank;
  int64_t shape[TG_NPZ_MAX_RANK];
  int64_t count;             /* product of the shape */
  const unsigned char *data; /* count items, row-major, little-endian */
};

struct tg_npz {
  const char *path;
  int64_t array_count;
  struct tg_npz_array *arrays;
};

/* Everything lives in the arena. */
enum tg_status tg_npz_read(const char *path, struct tg_arena *arena,
                           struct tg_npz **npz, struct tg_error *error);
/* The same from memory; `path` only names it in messages. */
enum tg_status tg_npz_read_memory(const char *path, const unsigned char *data,
                                  size_t nbytes, struct tg_arena *arena,
                                  struct tg_npz **npz, struct tg_error *error);
/* NULL when there is no such key. */
const struct tg_npz_array *tg_npz_find(const struct tg_npz *npz,
                                       const char *key);

/*
 * The array of a key that must exist, converted. shape: (rank), in and out; an
 * entry TG_NPZ_ANY accepts any extent and receives it, another one must match.
 * An integer that the type asked for can't hold is an error; so is a float
 * where an integer is asked for. NaN and infinity pass: who reads decides.
 * Values that need no conversion are the array's own memory, not a copy.
 */
enum tg_status tg_npz_get_f32(const struct tg_npz *npz, const char *key,
                              int rank, int64_t *shape, struct tg_arena *arena,
                              float **values, struct tg_error *error);
enum tg_status tg_npz_get_f64(const struct tg_npz *npz, const char *key,
                              int rank, int64_t *shape, struct tg_arena *arena,
                              double **values, struct tg_error *error);
enum tg_status tg_npz_get_i64(const struct tg_npz *npz, const char *key,
                              int rank, int64_t *shape, struct tg_arena *arena,
                              int64_t **values, struct tg_error *error);
/* Integers within low..high, checked one by one. */
enum tg_status tg_npz_get_i32(const struct tg_npz *npz, const char *key,
                              int rank, int64_t *shape, int32_t low,
                              int32_t high, struct tg_arena *arena,
                              int32_t **values, struct tg_error *error);
enum tg_status tg_npz_get_i8(const struct tg_npz *npz, const char *key,
                             int rank, int64_t *shape, int8_t low, int8_t high,
                             struct tg_arena *arena, int8_t **values,
                             struct tg_error *error);
enum tg_status tg_npz_get_u64(const struct tg_npz *npz, const char *key,
                              int rank, int64_t *shape, struct tg_arena *arena,
                              uint64_t **values, struct tg_error *error);
/* UTF-8 texts: (shape[0]) with rank 1, one with rank 0. */
enum tg_status tg_npz_get_text(const struct tg_npz *npz, const char *key,
                               int rank, int64_t *shape, struct tg_arena *arena,
                               const char ***texts, struct tg_error *error);

/*
 * Writing: add arrays, then finish once. An add that fails (memory, a key
 * twice) is remembered and reported by finish, so calls need no checks.
 */
struct tg_npz_writer;
struct tg_npz_writer *tg_npz_writer_create(void); /* NULL: out of memory */
void tg_npz_writer_destroy(struct tg_npz_writer *writer); /* NULL is allowed */
/* data: row-major, copied (compressed) at once. */
void tg_npz_writer_add(struct tg_npz_writer *writer, const char *key,
                       enum tg_npz_kind kind, int64_t item_nbytes, int rank,
                       const int64_t *shape, const void *data);
/* Was the key added? */
bool tg_npz_writer_has(const struct tg_npz_writer *writer, const char *key);
/* Texts as fixed-width unicode of shape (count). */
void tg_npz_writer_add_texts(struct tg_npz_writer *writer, const char *key,
                             int64_t count, const char *const *texts);
/* One text, of shape (). */
void tg_npz_writer_add_text(struct tg_npz_writer *writer, const char *key,
                            const char *text);
/* Writes the file beside `path` and renames it. */
enum tg_status tg_npz_writer_finish(struct tg_npz_writer *writer,
                                    const char *path, struct tg_error *error);

#endif
