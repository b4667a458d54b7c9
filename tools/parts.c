/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Taking functions out of a module and compiling each once; see parts.h. */
#include "tools/parts.h"

#include <inttypes.h>
#include <mlir-c/BuiltinAttributes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/text.h"
#include "passes/inspect.h"
#include "passes/passes.h"

const struct tg_part *tg_parts_find(const struct tg_parts *parts,
                                    uint64_t hash) {
  for (int i = 0; i < parts->count; i++)
    if (parts->items[i]->hash == hash)
      return parts->items[i];
  return NULL;
}

const struct tg_part *tg_parts_add(struct tg_parts *parts, uint64_t hash,
                                   unsigned char *data, size_t nbytes) {
  if (parts->count == parts->capacity) {
    int capacity = parts->capacity ? 2 * parts->capacity : 64;
    struct tg_part **grown =
        realloc(parts->items, (size_t)capacity * sizeof *grown);
    if (!grown) {
      free(data);
      return NULL;
    }
    parts->items = grown;
    parts->capacity = capacity;
  }
  struct tg_part *part = malloc(sizeof *part);
  if (!part) {
    free(data);
    return NULL;
  }
  *part = (struct tg_part){hash, data, nbytes};
  parts->items[parts->count++] = part;
  return part;
}

void tg_parts_destroy(struct tg_parts *parts) {
  for (int i = 0; i < parts->count; i++) {
    free(parts->items[i]->data);
    free(parts->items[i]);
  }
  free(parts->items);
  memset(parts, 0, sizeof *parts);
}

static MlirWalkResult find_reference(MlirOperation op, void *user) {
  if (!tg_op_is(op, "func.call") && !tg_op_is(op, "func.constant") &&
      !tg_op_is(op, "memref.get_global"))
    return MlirWalkResultAdvance;
  *(bool *)user = true;
  return MlirWalkResultInterrupt;
}

/* Can the function stand alone? */
static bool is_part(MlirOperation function) {
  if (!tg_op_is(function, "func.func"))
    return false;
  MlirAttribute visibility = mlirOperationGetAttributeByName(
      function, mlirSymbolTableGetVisibilityAttributeName());
  MlirBlock entry =
      mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0));
  if (mlirAttributeIsNull(visibility) ||
      !mlirStringRefEqual(mlirStringAttrGetValue(visibility),
                          tg_ref("private")) ||
      mlirBlockIsNull(entry) ||
      !mlirBlockIsNull(mlirBlockGetNextInRegion(entry)))
    return false;
  bool refers = false;
  mlirOperationWalk(function, find_reference, &refers, MlirWalkPreOrder);
  return !refers;
}

/* A function that is called from another object is no longer internal. */
static void publish(MlirOperation function) {
  mlirOperationRemoveAttributeByName(function, tg_ref("llvm.linkage"));
}

static void set_name(MlirOperation function, const char *name) {
  mlirOperationSetAttributeByName(
      function, mlirSymbolTableGetSymbolAttributeName(),
      mlirStringAttrGet(mlirOperationGetContext(function), tg_ref(name)));
}

/* Names the function after its content; `twin`: another one has that name, and
 * this one is no longer used. False: out of memory. */
static bool rename_by_content(MlirOperation module, MlirOperation function,
                              uint64_t *hash, bool *twin) {
  MlirStringRef before = mlirStringAttrGetValue(mlirOperationGetAttributeByName(
      function, mlirSymbolTableGetSymbolAttributeName()));
  struct tg_text old = {0}, text = {0};
  tg_text_append(&old, before.data, before.length);
  set_name(function, "part");
  mlirOperationPrint(function, tg_append_ref, &text);
  bool good = !old.failed && !text.failed;
  if (good) {
    char name[40];
    *hash = tg_hash_bytes(0, text.data, text.length);
    snprintf(name, sizeof name, "tg_part_%016" PRIx64, *hash);
    set_name(function, old.data);
    *twin = tg_symbol_exists(module, name);
    good = mlirLogicalResultIsSuccess(mlirSymbolTableReplaceAllSymbolUses(
        tg_ref(old.data), tg_ref(name), module));
    if (!*twin)
      set_name(function, name);
  }
  tg_text_destroy(&old);
  tg_text_destroy(&text);
  return good;
}

/* A module like the given one that holds a public copy of the function. */
static MlirModule isolate(MlirOperation module, MlirOperation function) {
  MlirModule alone = mlirModuleCreateEmpty(mlirOperationGetLocation(function));
  MlirOperation op = mlirModuleGetOperation(alone);
  for (intptr_t i = mlirOperationGetNumDiscardableAttributes(module);
       i-- > 0;) {
    MlirNamedAttribute a = mlirOperationGetDiscardableAttribute(module, i);
    mlirOperationSetDiscardableAttributeByName(op, mlirIdentifierStr(a.name),
                                               a.attribute);
  }
  MlirOperation copy = mlirOperationClone(function);
  mlirOperationRemoveAttributeByName(
      copy, mlirSymbolTableGetVisibilityAttributeName());
  publish(copy);
  mlirBlockAppendOwnedOperation(mlirModuleGetBody(alone), copy);
  return alone;
}

static enum tg_status compile_part(MlirOperation module, MlirOperation function,
                                   const struct tg_compile_options *options,
                                   struct tg_object *object,
                                   struct tg_error *error) {
  struct tg_compile_options alone = *options;
  alone.function = NULL;
  MlirModule copy = isolate(module, function);
  MlirOperation op = mlirModuleGetOperation(copy);
  enum tg_status status = TG_BAD_INPUT;
  if (mlirLogicalResultIsSuccess(tg_lower_to_llvm(op)))
    status = tg_compile(op, &alone, object, error);
  mlirModuleDestroy(copy);
  return status;
}

/* The part of the function, from the store or compiled now; leaves a
 * declaration behind, and nothing and no part for a twin. */
static enum tg_status take_part(MlirOperation module, MlirOperation function,
                                const struct tg_compile_options *options,
                                struct tg_parts *parts,
                                const struct tg_part **part,
                                struct tg_error *error) {
  uint64_t hash;
  bool twin;
  *part = NULL;
  if (!rename_by_content(module, function, &hash, &twin))
    return tg_fail_memory(error, "a kernel");
  if (twin) {
    mlirOperationDestroy(function);
    return TG_OK;
  }
  *part = tg_parts_find(parts, hash);
  if (!*part) {
    struct tg_object object;
    enum tg_status status =
        compile_part(module, function, options, &object, error);
    if (status != TG_OK)
      return status;
    *part = tg_parts_add(parts, hash, object.data, object.nbytes);
    if (!*part)
      return tg_fail_memory(error, "a kernel");
  }
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0));
  mlirBlockDetach(body);
  mlirBlockDestroy(body);
  publish(function);
  return TG_OK;
}

static bool push(struct tg_object *object, const struct tg_part *part) {
  size_t count = (size_t)object->part_count + 1;
  const struct tg_part **grown =
      realloc(object->parts, count * sizeof *object->parts);
  if (!grown)
    return false;
  grown[object->part_count++] = part;
  object->parts = grown;
  return true;
}

static enum tg_status take_parts(MlirOperation module,
                                 const struct tg_compile_options *options,
                                 struct tg_parts *parts,
                                 struct tg_object *object,
                                 struct tg_error *error) {
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(module, 0));
  MlirOperation next = mlirBlockGetFirstOperation(body);
  while (!mlirOperationIsNull(next)) {
    MlirOperation op = next;
    next = mlirOperationGetNextInBlock(op);
    if (!is_part(op))
      continue;
    const struct tg_part *part;
    enum tg_status status = take_part(module, op, options, parts, &part, error);
    if (status != TG_OK)
      return status;
    if (part && !push(object, part))
      return tg_fail_memory(error, "a program");
  }
  return TG_OK;
}

enum tg_status tg_compile_in_parts(MlirOperation module,
                                   const struct tg_compile_options *options,
                                   struct tg_parts *parts,
                                   struct tg_object *object,
                                   struct tg_error *error) {
  struct tg_object taken = {0};
  memset(object, 0, sizeof *object);
  enum tg_status status = take_parts(module, options, parts, &taken, error);
  if (status == TG_OK && mlirLogicalResultIsFailure(tg_lower_to_llvm(module)))
    status = TG_BAD_INPUT;
  if (status == TG_OK)
    status = tg_compile(module, options, object, error);
  if (status != TG_OK) {
    tg_object_destroy(&taken);
    return status;
  }
  object->parts = taken.parts;
  object->part_count = taken.part_count;
  for (int i = 0; i < taken.part_count; i++)
    object->hash = tg_hash_bytes(object->hash, &taken.parts[i]->hash,
                                 sizeof taken.parts[i]->hash);
  return TG_OK;
}
