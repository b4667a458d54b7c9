/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Facts about a program's arguments; see side.h. */
#include "tools/side.h"

#include <mlir-c/BuiltinAttributes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "passes/inspect.h"

static bool strip_suffix(char *text, const char *suffix) {
  size_t length = strlen(text), cut = strlen(suffix);
  if (length < cut || strcmp(text + length - cut, suffix))
    return false;
  text[length - cut] = 0;
  return true;
}

/* The side file that lies beside the program, or NULL. */
static const char *find_beside(struct tg_program *program) {
  size_t room = strlen(program->path) + 16;
  char *path = tg_arena_alloc(program->arena, room, 1);
  if (!path)
    return NULL;
  strcpy(path, program->path);
  strip_suffix(path, ".gz");
  if (!strip_suffix(path, ".mlir"))
    return NULL;
  size_t length = strlen(path);
  static const char *const suffixes[] = {".json", ".json.gz"};
  for (int i = 0; i < 2; i++) {
    strcpy(path + length, suffixes[i]);
    if (access(path, R_OK) == 0)
      return path;
  }
  return NULL;
}

static const char *string_of(const struct tg_json *value) {
  return value && value->kind == TG_JSON_STRING ? value->string : "";
}

static enum tg_status read_shape(const char *path, int index,
                                 const struct tg_json *shape,
                                 struct tg_value_type *type,
                                 struct tg_error *error) {
  int rank = 0;
  if (!shape)
    return TG_OK;
  for (const struct tg_json *d = shape->first; d; d = d->next, rank++) {
    if (rank >= type->rank || d->kind != TG_JSON_NUMBER || d->number < 0 ||
        d->number > 1e12)
      return tg_fail(error,
                     "%s: shape of argument %d does not fit the "
                     "program's",
                     path, index);
    if (type->shape[rank] < 0)
      type->shape[rank] = (int64_t)d->number;
    else if ((double)type->shape[rank] != d->number)
      return tg_fail(error,
                     "%s: dimension %d of argument %d is %.15g, the program "
                     "says %lld",
                     path, rank, index, d->number,
                     (long long)type->shape[rank]);
  }
  if (rank != type->rank)
    return tg_fail(error,
                   "%s: argument %d has %d dimensions, the program "
                   "says %d",
                   path, index, rank, type->rank);
  return TG_OK;
}

static enum tg_status read_arguments(struct tg_program *program,
                                     const char *path,
                                     const struct tg_json *args,
                                     struct tg_error *error) {
  int index = 0;
  for (const struct tg_json *a = args->first; a; a = a->next, index++) {
    if (index >= program->argument_count)
      break;
    struct tg_argument_info *info = &program->arguments[index];
    enum tg_status status =
        read_shape(path, index, tg_json_get(a, "shape"), &info->type, error);
    if (status != TG_OK)
      return status;
    if (!info->kind[0])
      info->kind = string_of(tg_json_get(a, "kind"));
    if (!info->name[0])
      info->name = string_of(tg_json_get(a, "name"));
    const struct tg_json *below = tg_json_get(a, "below");
    if (below && (below->kind != TG_JSON_NUMBER || below->number < 1 ||
                  below->number > 1e15))
      return tg_fail(error, "%s: 'below' of argument %d is no number from 1",
                     path, index);
    if (below && !info->below)
      info->below = (int64_t)below->number;
  }
  if (index != program->argument_count)
    return tg_fail(error,
                   "%s: describes another number of arguments than "
                   "the %d of @%s",
                   path, program->argument_count, program->function);
  return TG_OK;
}

enum tg_status tg_side_read(struct tg_program *program, const char *side_path,
                            struct tg_error *error) {
  const char *path = side_path ? side_path : find_beside(program);
  if (!path)
    return TG_OK;
  char *text;
  size_t nbytes;
  enum tg_status status = tg_read_text(path, &text, &nbytes, error);
  if (status != TG_OK)
    return status;
  struct tg_json *root;
  status = tg_json_parse(path, text, program->arena, &root, error);
  free(text);
  if (status != TG_OK)
    return status;
  const struct tg_json *args =
      root->kind == TG_JSON_ARRAY ? root : tg_json_get(root, "args");
  if (!args || args->kind != TG_JSON_ARRAY)
    return tg_fail(error, "%s: has no list 'args'", path);
  return read_arguments(program, path, args, error);
}

static MlirAttribute get_member(MlirAttribute dictionary, const char *name) {
  return mlirDictionaryAttrGetElementByName(
      dictionary, mlirStringRefCreateFromCString(name));
}

void tg_side_read_attributes(struct tg_program *program,
                             MlirOperation function) {
  MlirAttribute all = mlirOperationGetAttributeByName(
      function, mlirStringRefCreateFromCString("arg_attrs"));
  if (mlirAttributeIsNull(all) || !mlirAttributeIsAArray(all))
    return;
  for (int i = 0;
       i < program->argument_count && i < (int)mlirArrayAttrGetNumElements(all);
       i++) {
    MlirAttribute one = mlirArrayAttrGetElement(all, i);
    if (!mlirAttributeIsADictionary(one))
      continue;
    MlirAttribute kind = get_member(one, "tgraph.kind");
    if (!mlirAttributeIsNull(kind) && mlirAttributeIsAString(kind)) {
      MlirStringRef text = mlirStringAttrGetValue(kind);
      char *copy = tg_arena_alloc(program->arena, text.length + 1, 1);
      if (copy)
        program->arguments[i].kind = memcpy(copy, text.data, text.length);
    }
    MlirAttribute below = get_member(one, "tgraph.below");
    tg_attribute_integer(below, &program->arguments[i].below);
  }
}
