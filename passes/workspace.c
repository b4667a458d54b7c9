/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Lifetimes are read from the entry block: from the first use of a buffer, or
 * of a view of it, to the last. Deallocation stands at the block's end, so it
 * tells nothing but that the buffer doesn't escape.
 */
#include "passes/workspace.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdlib.h>
#include <string.h>

#include "model/placement.h"
#include "passes/build.h"
#include "passes/inspect.h"
#include "passes/outline.h"

enum { ALIGNMENT = 64 };

/* Buffers beyond this many bytes are none that a sane program has. */
static const int64_t max_nbytes = INT64_C(1) << 40;

struct owned {
  MlirOperation alloc, dealloc;
};

struct share {
  MlirBlock block;
  struct tg_arena *arena;
  struct owned *owned;
  struct tg_buffer *buffers;
  size_t count, owned_capacity, buffer_capacity;
  bool failed;
};

/*===-- Steps -------------------------------------------------------------===*/

struct placed_op {
  MlirOperation op;
  int64_t step;
};

static int compare_ops(const void *a, const void *b) {
  uintptr_t x = (uintptr_t)((const struct placed_op *)a)->op.ptr;
  uintptr_t y = (uintptr_t)((const struct placed_op *)b)->op.ptr;
  return (x > y) - (x < y);
}

/* All operations of the block, ordered by address. NULL: out of memory. */
static struct placed_op *number_ops(MlirBlock block, struct tg_arena *arena,
                                    size_t *count) {
  struct placed_op *ops = NULL;
  size_t capacity = 0;
  *count = 0;
  for (MlirOperation op = mlirBlockGetFirstOperation(block);
       !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
    struct placed_op *grown =
        tg_arena_grow(arena, ops, *count, &capacity, sizeof(*grown));
    if (!grown)
      return NULL;
    ops = grown;
    ops[*count] = (struct placed_op){op, (int64_t)*count};
    ++*count;
  }
  if (*count)
    qsort(ops, *count, sizeof(*ops), compare_ops);
  return ops;
}

/*===-- Lifetimes ---------------------------------------------------------===*/

struct life {
  MlirBlock block;
  const struct placed_op *ops;
  size_t op_count;
  int64_t first, last;
  MlirOperation dealloc;
  bool escapes;
};

/* The place of the operation, or of the one of the block that it is in. */
static int64_t step_of(const struct life *life, MlirOperation op) {
  while (!mlirOperationIsNull(op) &&
         !mlirBlockEqual(mlirOperationGetBlock(op), life->block))
    op = mlirOperationGetParentOperation(op);
  const struct placed_op key = {.op = op};
  const struct placed_op *found =
      mlirOperationIsNull(op)
          ? NULL
          : bsearch(&key, life->ops, life->op_count, sizeof(key), compare_ops);
  return found ? found->step : -1;
}

static bool is_terminator(MlirOperation op) {
  return mlirOperationIsNull(mlirOperationGetNextInBlock(op)) &&
         mlirOperationEqual(mlirBlockGetTerminator(mlirOperationGetBlock(op)),
                            op);
}

static bool is_view(MlirOperation op) {
  static const char *const names[] = {
      "memref.expand_shape",     "memref.collapse_shape",
      "memref.subview",          "memref.cast",
      "memref.reshape",          "memref.view",
      "memref.reinterpret_cast", "memref.transpose"};
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i)
    if (tg_op_is(op, names[i]))
      return true;
  return false;
}

/* Reads and writes that keep no address. */
static bool only_uses(MlirOperation op) {
  return tg_op_name_starts_with(op, "memref.") ||
         tg_op_name_starts_with(op, "vector.") ||
         tg_op_name_starts_with(op, "linalg.") || tg_op_is(op, "func.call") ||
         tg_op_is(op, "tensor.dim");
}

static void follow(struct life *life, MlirValue value, bool whole) {
  for (MlirOpOperand use = mlirValueGetFirstUse(value);
       !mlirOpOperandIsNull(use) && !life->escapes;
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    int64_t step = step_of(life, user);
    if (whole && tg_op_is(user, "memref.dealloc") &&
        mlirBlockEqual(mlirOperationGetBlock(user), life->block) &&
        mlirOperationIsNull(life->dealloc)) {
      life->dealloc = user;
      continue;
    }
    bool view = is_view(user);
    if (step < 0 || is_terminator(user) || (!view && !only_uses(user)) ||
        tg_op_is(user, "memref.dealloc") ||
        tg_op_is(user, "memref.extract_aligned_pointer_as_index") ||
        tg_op_is(user, "memref.extract_strided_metadata")) {
      life->escapes = true;
      return;
    }
    /* What a call returns may be what it was given. */
    for (intptr_t r = 0; r < mlirOperationGetNumResults(user); ++r)
      if (mlirTypeIsAMemRef(
              mlirValueGetType(mlirOperationGetResult(user, r)))) {
        if (!view) {
          life->escapes = true;
          return;
        }
        follow(life, mlirOperationGetResult(user, r), false);
      }
    life->first = life->first < step ? life->first : step;
    life->last = life->last > step ? life->last : step;
  }
}

static int64_t element_nbytes(MlirType type) {
  if (mlirTypeIsAF64(type) || mlirTypeIsAIndex(type))
    return 8;
  if (mlirTypeIsAF32(type))
    return 4;
  if (mlirTypeIsAF16(type) || mlirTypeIsABF16(type))
    return 2;
  if (mlirTypeIsAInteger(type)) {
    unsigned width = mlirIntegerTypeGetWidth(type);
    return width <= 8                                  ? 1
           : width == 16 || width == 32 || width == 64 ? width / 8
                                                       : 0;
  }
  return 0;
}

/* Of a row-major buffer of known shape; 0 where it is another one. */
static int64_t buffer_nbytes(MlirOperation alloc) {
  MlirType type = mlirValueGetType(mlirOperationGetResult(alloc, 0));
  MlirAttribute layout = mlirMemRefTypeGetLayout(type);
  if (mlirOperationGetNumOperands(alloc) != 0 ||
      !mlirShapedTypeHasStaticShape(type) ||
      !mlirAttributeIsNull(mlirMemRefTypeGetMemorySpace(type)) ||
      !mlirAttributeIsAAffineMap(layout) ||
      !mlirAffineMapIsIdentity(mlirAffineMapAttrGetValue(layout)))
    return 0;
  int64_t nbytes = element_nbytes(mlirShapedTypeGetElementType(type));
  for (intptr_t d = 0; d < mlirShapedTypeGetRank(type); ++d)
    if (__builtin_mul_overflow(nbytes, mlirShapedTypeGetDimSize(type, d),
                               &nbytes) ||
        nbytes > max_nbytes)
      return 0;
  return nbytes;
}

static void consider(struct share *share, const struct placed_op *ops,
                     size_t op_count, MlirOperation alloc) {
  struct life life = {.block = share->block,
                      .ops = ops,
                      .op_count = op_count,
                      .first = INT64_MAX,
                      .last = -1};
  int64_t nbytes = buffer_nbytes(alloc);
  if (nbytes == 0)
    return;
  follow(&life, mlirOperationGetResult(alloc, 0), true);
  if (life.escapes || mlirOperationIsNull(life.dealloc) || life.last < 0)
    return;
  struct owned *owned = tg_arena_grow(share->arena, share->owned, share->count,
                                      &share->owned_capacity, sizeof(*owned));
  struct tg_buffer *buffers =
      tg_arena_grow(share->arena, share->buffers, share->count,
                    &share->buffer_capacity, sizeof(*buffers));
  share->failed |= !owned || !buffers;
  if (share->failed)
    return;
  share->owned = owned;
  share->buffers = buffers;
  owned[share->count] = (struct owned){alloc, life.dealloc};
  buffers[share->count++] = (struct tg_buffer){
      .nbytes = nbytes, .first = life.first, .last = life.last};
}

/*===-- One allocation ----------------------------------------------------===*/

static MlirValue insert_index(MlirOperation before, int64_t value) {
  MlirContext context = mlirOperationGetContext(before);
  MlirType index = mlirIndexTypeGet(context);
  MlirNamedAttribute attribute =
      tg_named(context, "value", mlirIntegerAttrGet(index, value));
  return mlirOperationGetResult(tg_insert_before(before, "arith.constant", 0,
                                                 NULL, 1, &index, &attribute),
                                0);
}

static MlirValue insert_workspace(MlirOperation before, int64_t nbytes) {
  MlirContext context = mlirOperationGetContext(before);
  MlirType type = mlirMemRefTypeContiguousGet(mlirIntegerTypeGet(context, 8), 1,
                                              &nbytes, mlirAttributeGetNull());
  MlirNamedAttribute alignment =
      tg_named(context, "alignment",
               mlirIntegerAttrGet(mlirIntegerTypeGet(context, 64), ALIGNMENT));
  return mlirOperationGetResult(
      tg_insert_before(before, "memref.alloc", 0, NULL, 1, &type, &alignment),
      0);
}

static void set_number(MlirOperation op, const char *name, int64_t value) {
  mlirOperationSetDiscardableAttributeByName(
      op, tg_ref(name),
      mlirIntegerAttrGet(mlirIntegerTypeGet(mlirOperationGetContext(op), 64),
                         value));
}

static void replace_buffers(struct share *share, int64_t nbytes) {
  MlirOperation first = share->owned[0].alloc;
  MlirOperation end = mlirBlockGetTerminator(share->block);
  MlirValue workspace = insert_workspace(first, nbytes);
  for (size_t i = 0; i < share->count; ++i) {
    MlirOperation alloc = share->owned[i].alloc;
    MlirValue old = mlirOperationGetResult(alloc, 0);
    MlirType type = mlirValueGetType(old);
    MlirValue operands[2] = {workspace,
                             insert_index(alloc, share->buffers[i].offset)};
    MlirOperation view =
        tg_insert_before(alloc, "memref.view", 2, operands, 1, &type, NULL);
    mlirOperationDestroy(share->owned[i].dealloc);
    mlirValueReplaceAllUsesOfWith(old, mlirOperationGetResult(view, 0));
    mlirOperationDestroy(alloc);
  }
  tg_insert_before(end, "memref.dealloc", 1, &workspace, 0, NULL, NULL);
}

/* A single buffer is as it should be. */
static bool share_in(MlirOperation function, struct tg_arena *arena) {
  struct share share = {
      .block = mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0)),
      .arena = arena};
  if (mlirBlockIsNull(share.block))
    return true;
  size_t op_count;
  struct placed_op *ops = number_ops(share.block, arena, &op_count);
  if (!ops)
    return false;
  for (MlirOperation op = mlirBlockGetFirstOperation(share.block);
       !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op))
    if (tg_op_is(op, "memref.alloc"))
      consider(&share, ops, op_count, op);
  if (share.failed)
    return false;
  if (share.count < 2)
    return true;
  int64_t nbytes =
      tg_place_buffers(share.count, share.buffers, ALIGNMENT, arena);
  int64_t live = tg_live_nbytes(share.count, share.buffers, arena);
  if (nbytes < 0 || live < 0)
    return false;
  replace_buffers(&share, nbytes);
  set_number(function, TG_WORKSPACE_ATTRIBUTE, nbytes);
  set_number(function, TG_LIVE_ATTRIBUTE, live);
  return true;
}

bool tg_share_workspace(MlirOperation module, struct tg_arena *arena) {
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(module, 0));
  for (MlirOperation op = mlirBlockGetFirstOperation(body);
       !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op))
    if (tg_op_is(op, "func.func") && !share_in(op, arena))
      return false;
  return true;
}
