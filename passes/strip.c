/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * tgraph-strip: takes away every tgraph.* attribute that the other passes left
 * or that the user wrote for them, on operations and on the arguments and
 * results of functions and calls. Transform scripts are the user's programs
 * and are left as they are, with all that is inside them.
 */
#include "passes/passes.h"

#include <mlir-c/BuiltinAttributes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "passes/inspect.h"

static bool is_ours(MlirNamedAttribute attribute) {
  static const char prefix[] = "tgraph.";
  MlirStringRef name = mlirIdentifierStr(attribute.name);
  return name.length >= sizeof(prefix) - 1 &&
         memcmp(name.data, prefix, sizeof(prefix) - 1) == 0;
}

/* Returns the number of attributes removed. */
static size_t strip_discardable(MlirOperation op) {
  size_t removed = 0;
  intptr_t position = mlirOperationGetNumDiscardableAttributes(op);
  while (position-- > 0) {
    MlirNamedAttribute attribute =
        mlirOperationGetDiscardableAttribute(op, position);
    if (!is_ours(attribute))
      continue;
    mlirOperationRemoveDiscardableAttributeByName(
        op, mlirIdentifierStr(attribute.name));
    ++removed;
  }
  return removed;
}

/* The dictionary without our attributes; a null attribute when out of memory.
 * Adds to *removed. */
static MlirAttribute strip_dictionary(MlirAttribute dictionary,
                                      size_t *removed) {
  intptr_t count = mlirDictionaryAttrGetNumElements(dictionary);
  MlirNamedAttribute *kept = malloc((size_t)(count + 1) * sizeof(*kept));
  if (!kept)
    return mlirAttributeGetNull();
  intptr_t kept_count = 0;
  for (intptr_t i = 0; i < count; ++i) {
    MlirNamedAttribute attribute = mlirDictionaryAttrGetElement(dictionary, i);
    if (!is_ours(attribute))
      kept[kept_count++] = attribute;
  }
  *removed += (size_t)(count - kept_count);
  MlirAttribute result = mlirDictionaryAttrGet(
      mlirAttributeGetContext(dictionary), kept_count, kept);
  free(kept);
  return result;
}

/* An array of dictionaries, one per argument or result. False when out of
 * memory; adds to *removed. */
static bool strip_dictionaries(MlirOperation op, const char *name,
                               size_t *removed) {
  if (!mlirOperationHasInherentAttributeByName(op, tg_ref(name)))
    return true;
  MlirAttribute array =
      mlirOperationGetInherentAttributeByName(op, tg_ref(name));
  if (mlirAttributeIsNull(array) || !mlirAttributeIsAArray(array))
    return true;
  intptr_t count = mlirArrayAttrGetNumElements(array);
  MlirAttribute *elements = malloc((size_t)(count + 1) * sizeof(*elements));
  if (!elements)
    return false;
  size_t found = 0;
  bool empty = true, good = true;
  for (intptr_t i = 0; i < count; ++i) {
    elements[i] = mlirArrayAttrGetElement(array, i);
    if (!mlirAttributeIsADictionary(elements[i])) {
      empty = false;
      continue;
    }
    elements[i] = strip_dictionary(elements[i], &found);
    good = good && !mlirAttributeIsNull(elements[i]);
    empty = empty && good && mlirDictionaryAttrGetNumElements(elements[i]) == 0;
  }
  if (good && found) {
    /* No attributes at all are written as no array, not as empty ones. */
    MlirAttribute stripped =
        empty
            ? mlirAttributeGetNull()
            : mlirArrayAttrGet(mlirAttributeGetContext(array), count, elements);
    mlirOperationSetInherentAttributeByName(op, tg_ref(name), stripped);
    *removed += found;
  }
  free(elements);
  return good;
}

struct strip_state {
  size_t removed;
  bool out_of_memory;
};

static MlirWalkResult strip_operation(MlirOperation op, void *user) {
  struct strip_state *state = user;
  if (tg_op_name_starts_with(op, "transform."))
    return MlirWalkResultSkip;
  state->removed += strip_discardable(op);
  if (!strip_dictionaries(op, "arg_attrs", &state->removed) ||
      !strip_dictionaries(op, "res_attrs", &state->removed)) {
    state->out_of_memory = true;
    return MlirWalkResultInterrupt;
  }
  return MlirWalkResultAdvance;
}

MlirLogicalResult tg_strip(MlirOperation module,
                           const struct tg_remark_sink *remarks) {
  struct strip_state state = {0, false};
  mlirOperationWalk(module, strip_operation, &state, MlirWalkPreOrder);
  MlirLocation location = mlirOperationGetLocation(module);
  if (state.out_of_memory)
    return tg_fail_at(module, "tgraph-strip", "out of memory");
  if (state.removed) {
    char message[64];
    snprintf(message, sizeof(message), "removed %zu tgraph attribute%s",
             state.removed, state.removed == 1 ? "" : "s");
    tg_remark(remarks, location, TG_REMARK_PASSED, message);
  }
  return mlirLogicalResultSuccess();
}
