/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Questions that are asked of a kernel: strides, work, identity.
 */
#include "model/kernel.h"

#include <assert.h>

const char *const tg_element_names[TG_ELEMENT_COUNT] = {
#define ELEMENT(id, name, nbytes) name,
#include "model/element.def"
};

int tg_access_dimension(const struct tg_access *access, int loop) {
  for (int d = 0; d < access->rank; ++d)
    if (access->coefficient[d][loop] != 0)
      return d;
  return -1;
}

bool tg_kernel_uses(const struct tg_kernel *kernel, int operand, int loop) {
  assert(loop >= 0 && loop < kernel->loop_count);
  const struct tg_access *access = &kernel->operand[operand];
  for (int d = 0; d < access->rank; ++d)
    if (access->coefficient[d][loop] != 0)
      return true;
  return false;
}

int64_t tg_kernel_stride(const struct tg_kernel *kernel, int operand,
                         int loop) {
  assert(loop >= 0 && loop < kernel->loop_count);
  const struct tg_access *access = &kernel->operand[operand];
  int64_t stride = 0;
  int64_t dimension_stride = 1;
  for (int d = access->rank - 1; d >= 0; --d) {
    stride += access->coefficient[d][loop] * dimension_stride;
    dimension_stride *= access->extent[d];
  }
  return stride;
}

int64_t tg_kernel_element_nbytes(const struct tg_kernel *kernel) {
  static const int64_t nbytes[] = {
#define ELEMENT(id, name, nbytes) nbytes,
#include "model/element.def"
  };
  return nbytes[kernel->element];
}

bool tg_kernel_is_plain(const struct tg_kernel *kernel) {
  return kernel->element != TG_I32 &&
         kernel->extension[TG_LHS] == TG_EXTENSION_NONE &&
         kernel->extension[TG_RHS] == TG_EXTENSION_NONE;
}

double tg_kernel_flops(const struct tg_kernel *kernel) {
  double flops = 2.0;
  for (int l = 0; l < kernel->loop_count; ++l)
    flops *= (double)kernel->extent[l];
  return flops;
}

bool tg_kernel_is_dynamic(const struct tg_kernel *kernel) {
  return tg_kernel_has(kernel, TG_SLICED) || tg_kernel_has(kernel, TG_BOUNDED);
}

bool tg_kernel_has(const struct tg_kernel *kernel, enum tg_dynamic kind) {
  for (int l = 0; l < kernel->loop_count; ++l)
    if (kernel->dynamic[l] == kind)
      return true;
  return false;
}

bool tg_kernel_comes_packed(const struct tg_kernel *kernel, int operand) {
  return kernel->prepacked[operand] && !tg_kernel_has(kernel, TG_BOUNDED) &&
         !tg_kernel_has(kernel, TG_SLICED);
}

/* FNV-1a over the eight bytes of the value, low byte first: the same on
 * machines of either byte order, so hashes may be stored. */
static uint64_t hash_value(uint64_t hash, uint64_t value) {
  for (int byte = 0; byte < 8; ++byte) {
    hash ^= (value >> (8 * byte)) & 0xff;
    hash *= UINT64_C(0x100000001b3);
  }
  return hash;
}

static uint64_t hash_access(uint64_t hash, const struct tg_access *access,
                            int loop_count) {
  hash = hash_value(hash, (uint64_t)access->rank);
  for (int d = 0; d < access->rank; ++d) {
    hash = hash_value(hash, (uint64_t)access->extent[d]);
    for (int l = 0; l < loop_count; ++l)
      hash = hash_value(hash, (uint64_t)(int64_t)access->coefficient[d][l]);
  }
  return hash;
}

uint64_t tg_kernel_hash(const struct tg_kernel *kernel) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  hash = hash_value(hash, (uint64_t)kernel->loop_count);
  for (int l = 0; l < kernel->loop_count; ++l) {
    hash = hash_value(hash, (uint64_t)kernel->extent[l]);
    hash = hash_value(hash, kernel->reduction[l]);
  }
  hash = hash_value(hash, (uint64_t)kernel->element);
  for (int o = 0; o < TG_OPERAND_COUNT; ++o)
    hash = hash_access(hash, &kernel->operand[o], kernel->loop_count);
  /* Static kernels keep the hashes that measurements are stored under. */
  for (int l = 0; l < kernel->loop_count; ++l)
    if (kernel->dynamic[l] == TG_BOUNDED)
      hash = hash_value(hash, UINT64_C(0x100) + (uint64_t)l);
  for (int o = 0; o < TG_OPERAND_COUNT; ++o)
    if (kernel->extension[o] != TG_EXTENSION_NONE)
      hash = hash_value(hash, UINT64_C(0x300) + (uint64_t)kernel->extension[o] +
                                  UINT64_C(16) * (uint64_t)o);
  for (int o = 0; o < TG_OPERAND_COUNT; ++o)
    if (kernel->prepacked[o])
      hash = hash_value(hash, UINT64_C(0x200) + (uint64_t)o);
  return hash_value(hash, kernel->init_is_zero);
}
