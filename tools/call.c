/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Arguments, calls and results; see call.h. */
#include "tools/call.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A ranked memref as the C interface passes it: allocated, aligned, offset,
 * sizes[rank], strides[rank]. */
struct descriptor {
  void *allocated;
  char *aligned;
  int64_t offset;
  int64_t sizes_and_strides[2 * TG_VALUE_RANK_LIMIT];
};

static size_t descriptor_nbytes(int rank) { return 24 + 16 * (size_t)rank; }

static int64_t element_count(const struct tg_value_type *type) {
  int64_t count = 1;
  for (int i = 0; i < type->rank; i++)
    if (__builtin_mul_overflow(count, type->shape[i], &count))
      return -1;
  return count;
}

static enum tg_status create_argument(struct tg_call *call, int index,
                                      struct tg_error *error) {
  const struct tg_value_type *type = &call->program->arguments[index].type;
  struct descriptor *d = (struct descriptor *)call->descriptors + index;
  int64_t count = element_count(type);
  int64_t nbytes = tg_dtype_infos[type->dtype].nbytes;
  if (count < 0 || __builtin_mul_overflow(nbytes, count, &nbytes) ||
      nbytes > INT64_C(1) << 40)
    return tg_fail(error, "%s: argument %d is too large", call->program->path,
                   index);
  size_t padded = ((size_t)nbytes + 127) / 64 * 64;
  void *buffer = aligned_alloc(64, padded);
  if (!buffer)
    return tg_fail(error, "%s: no memory for argument %d (%lld bytes)",
                   call->program->path, index, (long long)nbytes);
  memset(buffer, 0, padded);
  call->buffers[index] = buffer;
  call->buffer_nbytes[index] = nbytes;
  d->allocated = d->aligned = buffer;
  int64_t stride = 1;
  for (int i = type->rank - 1; i >= 0; i--) {
    d->sizes_and_strides[i] = type->shape[i];
    d->sizes_and_strides[type->rank + i] = stride;
    stride *= type->shape[i];
  }
  return TG_OK;
}

/* The offsets of the results in the structure that holds them, as C lays it
 * out: every descriptor is aligned to 8, a scalar to its own size. */
static size_t place_results(struct tg_call *call) {
  const struct tg_program *p = call->program;
  size_t offset = 0;
  for (int i = 0; i < p->result_count; i++) {
    const struct tg_value_type *type = &p->results[i];
    size_t scalar = (size_t)tg_dtype_infos[type->dtype].nbytes;
    size_t align = type->is_tensor ? 8 : scalar;
    offset = (offset + align - 1) / align * align;
    call->result_offsets[i] = offset;
    offset += type->is_tensor ? descriptor_nbytes(type->rank) : scalar;
  }
  return offset;
}

enum tg_status tg_call_create(struct tg_call *call,
                              const struct tg_program *program,
                              struct tg_error *error) {
  memset(call, 0, sizeof *call);
  call->program = program;
  size_t arguments = (size_t)program->argument_count + 1;
  size_t results = (size_t)program->result_count + 1;
  call->buffers = calloc(arguments, sizeof(void *));
  call->buffer_nbytes = calloc(arguments, sizeof(int64_t));
  call->descriptors = calloc(arguments, sizeof(struct descriptor));
  call->slots = calloc(arguments + 1, sizeof(void *));
  call->result_offsets = calloc(results, sizeof(size_t));
  call->results = calloc(results, descriptor_nbytes(TG_VALUE_RANK_LIMIT));
  enum tg_status status = TG_OK;
  if (!call->buffers || !call->buffer_nbytes || !call->descriptors ||
      !call->slots || !call->result_offsets || !call->results)
    status = tg_fail_memory(error, program->path);
  for (int i = 0; i < program->argument_count && status == TG_OK; i++)
    status = create_argument(call, i, error);
  if (status != TG_OK) {
    tg_call_destroy(call);
    return status;
  }
  place_results(call);
  bool scalar = program->result_count == 1 && !program->results[0].is_tensor;
  int at = 0;
  if (!scalar)
    call->slots[at++] = call->results;
  for (int i = 0; i < program->argument_count; i++)
    call->slots[at++] = program->arguments[i].type.is_tensor
                            ? (struct descriptor *)call->descriptors + i
                            : call->buffers[i];
  if (scalar)
    call->slots[at] = call->results;
  return TG_OK;
}

void tg_call_destroy(struct tg_call *call) {
  for (int i = 0; call->buffers && i < call->program->argument_count; i++)
    free(call->buffers[i]);
  free(call->buffers);
  free(call->buffer_nbytes);
  free(call->descriptors);
  free(call->slots);
  free(call->result_offsets);
  free(call->results);
  memset(call, 0, sizeof *call);
}

/* A result may be an argument, share its memory with another result, or be a
 * global constant, whose descriptors carry this mark as allocated pointer. */
static void free_results(struct tg_call *call) {
  static const uintptr_t global_mark = 0xdeadbeef;
  const struct tg_program *p = call->program;
  for (int i = 0; i < p->result_count; i++) {
    if (!p->results[i].is_tensor)
      continue;
    void **at = (void **)(void *)(call->results + call->result_offsets[i]);
    void *block = *at;
    bool owned = block && (uintptr_t)block != global_mark;
    for (int j = 0; j < p->argument_count; j++)
      owned = owned && block != call->buffers[j];
    for (int j = 0; j < i; j++)
      if (p->results[j].is_tensor)
        owned = owned && memcmp(call->results + call->result_offsets[j], &block,
                                sizeof block) != 0;
    if (owned)
      free(block);
  }
}

void tg_call_prepack(struct tg_call *call, const struct tg_code *code) {
  if (code->prepack)
    code->prepack(call->slots);
}

void tg_call_run(struct tg_call *call, const struct tg_code *code) {
  code->call(call->slots);
  free_results(call);
}

/* A capture: per result int64 dtype, int64 count, count elements row-major,
 * padded to 8 bytes. */
static bool write_header(FILE *file, int64_t dtype, int64_t count) {
  int64_t header[2] = {dtype, count};
  return fwrite(header, sizeof header, 1, file) == 1;
}

static bool write_strided(FILE *file, const struct descriptor *d, int rank,
                          int depth, int64_t offset, int64_t nbytes) {
  if (depth == rank)
    return fwrite(d->aligned + offset * nbytes, (size_t)nbytes, 1, file) == 1;
  int64_t size = d->sizes_and_strides[depth];
  int64_t stride = d->sizes_and_strides[rank + depth];
  if (depth == rank - 1 && stride == 1)
    return fwrite(d->aligned + offset * nbytes, (size_t)nbytes, (size_t)size,
                  file) == (size_t)size;
  for (int64_t i = 0; i < size; i++)
    if (!write_strided(file, d, rank, depth + 1, offset + i * stride, nbytes))
      return false;
  return true;
}

static bool write_result(struct tg_call *call, int index, FILE *file) {
  const struct tg_value_type *type = &call->program->results[index];
  const unsigned char *at = call->results + call->result_offsets[index];
  int64_t nbytes = tg_dtype_infos[type->dtype].nbytes, count = 1;
  bool good;
  if (!type->is_tensor) {
    good = write_header(file, type->dtype, 1) &&
           fwrite(at, (size_t)nbytes, 1, file) == 1;
  } else {
    struct descriptor d;
    memcpy(&d, at, descriptor_nbytes(type->rank));
    for (int i = 0; i < type->rank; i++)
      count *= d.sizes_and_strides[i];
    good = write_header(file, type->dtype, count) &&
           (count == 0 ||
            write_strided(file, &d, type->rank, 0, d.offset, nbytes));
  }
  static const char zeros[8];
  size_t rest = (size_t)(-(nbytes * count) & 7);
  return good && fwrite(zeros, 1, rest, file) == rest;
}

bool tg_call_capture(struct tg_call *call, const struct tg_code *code,
                     FILE *file) {
  code->call(call->slots);
  bool good = true;
  for (int i = 0; i < call->program->result_count && good; i++)
    good = write_result(call, i, file);
  free_results(call);
  return good;
}
