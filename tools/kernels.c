/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Kernels out of programs; see kernels.h. */
#include "tools/kernels.h"

#include <ctype.h>
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdlib.h>
#include <string.h>

#include "model/text.h"
#include "passes/inspect.h"
#include "passes/passes.h"
#include "tools/compile.h"

static void append(struct tg_text *t, const char *piece) {
  tg_text_append(t, piece, strlen(piece));
}

/* "dir/resnet18.linalg.mlir.gz" -> program "resnet18.linalg" or, with only the
 * family wanted, "resnet": variants of a network are one family. */
static void name_program(const char *path, bool family, char *name,
                         size_t room) {
  const char *slash = strrchr(path, '/');
  snprintf(name, room, "%s", slash ? slash + 1 : path);
  char *suffix = strstr(name, ".mlir");
  if (suffix)
    *suffix = 0;
  if (!family)
    return;
  size_t stem = strcspn(name, ".");
  name[stem] = 0;
  size_t part = strcspn(name, "_");
  bool whole = name[part] == 0;
  name[part] = 0;
  while (whole && part > 1 && isdigit((unsigned char)name[part - 1]))
    name[--part] = 0;
}

static void name_kernel(struct tg_kernel_entry *entry, MlirOperation op) {
  MlirStringRef op_name = mlirIdentifierStr(mlirOperationGetName(op));
  size_t used =
      (size_t)snprintf(entry->name, sizeof entry->name, "%s.%.*s.",
                       entry->family, (int)op_name.length, op_name.data);
  char *dialect = strstr(entry->name, "linalg.");
  if (dialect) {
    memmove(dialect, dialect + 7, strlen(dialect + 7) + 1);
    used -= 7;
  }
  for (int reduction = 0; reduction < 2; reduction++)
    for (int i = 0, first = 1; i < entry->kernel.loop_count; i++) {
      if (entry->kernel.reduction[i] != (reduction == 1) ||
          used >= sizeof entry->name)
        continue;
      used += (size_t)snprintf(entry->name + used, sizeof entry->name - used,
                               "%s%lld", first ? (reduction ? "_" : "") : "x",
                               (long long)entry->kernel.extent[i]);
      first = 0;
    }
}

static void drop_foreign_attributes(MlirOperation op) {
  for (intptr_t i = mlirOperationGetNumDiscardableAttributes(op); i-- > 0;) {
    MlirNamedAttribute a = mlirOperationGetDiscardableAttribute(op, i);
    mlirOperationRemoveDiscardableAttributeByName(op,
                                                  mlirIdentifierStr(a.name));
  }
}

/* "%name : type" parts of the text below. */
static void append_type(struct tg_text *t, const char *before, MlirType type) {
  append(t, before);
  mlirTypePrint(type, tg_append_ref, t);
}

/* The input as the operation takes it: transposed, where the program has it
 * the other way round. */
static void write_input(struct tg_text *t, MlirOperation op, int operand,
                        const char *name) {
  int dimension[TG_MAX_RANK];
  MlirValue source = tg_op_get_source(op, operand, dimension);
  MlirValue value = mlirOperationGetOperand(op, operand);
  if (mlirValueEqual(source, value))
    return;
  MlirType type = mlirValueGetType(value);
  char line[64];
  snprintf(line, sizeof line, "%%%s_empty = tensor.empty() : ", name);
  append_type(t, line, type);
  snprintf(line, sizeof line, "\n%%%s_in = linalg.transpose ins(%%%s : ", name,
           name);
  append_type(t, line, mlirValueGetType(source));
  snprintf(line, sizeof line, ") outs(%%%s_empty : ", name);
  append_type(t, line, type);
  append(t, ") permutation = [");
  for (intptr_t d = 0; d < mlirShapedTypeGetRank(type); d++) {
    snprintf(line, sizeof line, "%s%d", d ? ", " : "", dimension[d]);
    append(t, line);
  }
  append(t, "]\n");
}

static const char *input_name(MlirOperation op, int operand) {
  static const char *const plain[] = {"%a", "%b"};
  static const char *const transposed[] = {"%a_in", "%b_in"};
  int dimension[TG_MAX_RANK];
  MlirValue source = tg_op_get_source(op, operand, dimension);
  bool same = mlirValueEqual(source, mlirOperationGetOperand(op, operand));
  return same ? plain[operand] : transposed[operand];
}

static MlirType source_type(MlirOperation op, int operand) {
  int dimension[TG_MAX_RANK];
  return mlirValueGetType(tg_op_get_source(op, operand, dimension));
}

static void write_zeros(struct tg_text *t, MlirType type) {
  MlirType element = mlirShapedTypeGetElementType(type);
  append_type(t, "%zero = arith.constant 0.0 : ", element);
  append_type(t, "\n%empty = tensor.empty() : ", type);
  append_type(t, "\n%c = linalg.fill ins(%zero : ", element);
  append_type(t, ") outs(%empty : ", type);
  append_type(t, ") -> ", type);
}

/* A function that takes the operands, with a cast in place of the operation:
 * the result starts from zeros where the operation's does. */
static void write_skeleton(struct tg_text *t, MlirOperation op, bool zero) {
  MlirType result = mlirValueGetType(mlirOperationGetResult(op, 0));
  append_type(t, "func.func @main(%a: ", source_type(op, TG_LHS));
  append_type(t, ", %b: ", source_type(op, TG_RHS));
  if (!zero)
    append_type(t, ", %c: ", result);
  append_type(t, ") -> ", result);
  append(t, " {\n");
  write_input(t, op, TG_LHS, "a");
  write_input(t, op, TG_RHS, "b");
  if (zero)
    write_zeros(t, result);
  append(t, "\n%r = builtin.unrealized_conversion_cast ");
  append(t, input_name(op, TG_LHS));
  append(t, ", ");
  append(t, input_name(op, TG_RHS));
  append(t, ", %c : ");
  for (int i = 0; i < TG_OPERAND_COUNT; i++)
    append_type(t, i ? ", " : "",
                mlirValueGetType(mlirOperationGetOperand(op, i)));
  append_type(t, " to ", result);
  append_type(t, "\nreturn %r : ", result);
  append(t, "\n}\n");
}

static MlirWalkResult find_cast(MlirOperation op, void *user) {
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  if (!mlirStringRefEqual(name, mlirStringRefCreateFromCString(
                                    "builtin.unrealized_conversion_cast")))
    return MlirWalkResultAdvance;
  *(MlirOperation *)user = op;
  return MlirWalkResultInterrupt;
}

/* The program around one operation, as malloc'ed text; NULL when out of
 * memory. */
static char *extract(MlirContext context, MlirOperation op, bool zero) {
  struct tg_text skeleton = {0}, result = {0};
  write_skeleton(&skeleton, op, zero);
  MlirModule module = {NULL};
  if (!skeleton.failed)
    module = mlirModuleCreateParse(
        context, mlirStringRefCreate(skeleton.data, skeleton.length));
  tg_text_destroy(&skeleton);
  if (mlirModuleIsNull(module))
    return NULL;
  MlirOperation cast = {NULL};
  mlirOperationWalk(mlirModuleGetOperation(module), find_cast, &cast,
                    MlirWalkPreOrder);
  MlirOperation copy = mlirOperationClone(op);
  drop_foreign_attributes(copy);
  for (int i = 0; i < TG_OPERAND_COUNT; i++)
    mlirOperationSetOperand(copy, i, mlirOperationGetOperand(cast, i));
  MlirOperation end = mlirOperationGetNextInBlock(cast);
  mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(cast), cast, copy);
  mlirOperationSetOperand(end, 0, mlirOperationGetResult(copy, 0));
  mlirOperationDestroy(cast);
  mlirOperationPrint(mlirModuleGetOperation(module), tg_append_ref, &result);
  mlirModuleDestroy(module);
  if (result.failed)
    tg_text_destroy(&result);
  return result.data;
}

static void add_source(struct tg_kernel_entry *entry, const char *source) {
  size_t length = strlen(source);
  for (const char *at = entry->sources; *at;) {
    size_t part = strcspn(at, ",");
    if (part == length && !strncmp(at, source, length))
      return;
    at += part + (at[part] != 0);
  }
  size_t used = strlen(entry->sources);
  snprintf(entry->sources + used, sizeof entry->sources - used, "%s%s",
           used ? "," : "", source);
}

static struct tg_kernel_entry *add_entry(struct tg_kernel_list *list) {
  struct tg_kernel_entry *grown =
      realloc(list->entries, sizeof *grown * ((size_t)list->count + 1));
  if (!grown)
    return NULL;
  list->entries = grown;
  return memset(&grown[list->count], 0, sizeof *grown);
}

static enum tg_status add_site(struct tg_kernel_list *list,
                               struct tg_program *program,
                               const struct tg_site *site) {
  uint64_t hash = tg_kernel_hash(&site->kernel);
  char source[64];
  name_program(program->path, false, source, sizeof source);
  for (int i = 0; i < list->count; i++)
    if (list->entries[i].hash == hash) {
      list->entries[i].occurrences++;
      add_source(&list->entries[i], source);
      return TG_OK;
    }
  struct tg_kernel_entry *entry = add_entry(list);
  if (!entry)
    return TG_OUT_OF_MEMORY;
  entry->hash = hash;
  entry->kernel = site->kernel;
  entry->gflop = tg_kernel_flops(&site->kernel) * 1e-9;
  entry->occurrences = 1;
  name_program(program->path, true, entry->family, sizeof entry->family);
  name_kernel(entry, site->op);
  add_source(entry, source);
  entry->text = extract(program->context, site->op, site->kernel.init_is_zero);
  if (!entry->text)
    return TG_OUT_OF_MEMORY;
  entry->text_hash = tg_hash_bytes(0, entry->text, strlen(entry->text));
  list->count++;
  return TG_OK;
}

/* An operation whose extents come with the call can't be measured alone. */
static bool has_static_shapes(MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    if (!mlirShapedTypeHasStaticShape(
            mlirValueGetType(mlirOperationGetOperand(op, i))))
      return false;
  return true;
}

enum tg_status tg_kernels_add_file(struct tg_kernel_list *list,
                                   const char *path, struct tg_error *error) {
  struct tg_program program;
  char *text;
  size_t nbytes;
  enum tg_status status = tg_read_text(path, &text, &nbytes, error);
  if (status != TG_OK)
    return status;
  status = tg_program_parse(&program, path, text, nbytes, error);
  free(text);
  if (status != TG_OK)
    return status;
  struct tg_site *sites;
  size_t count;
  if (!tg_collect_sites(program.module, program.arena, &sites, &count))
    status = TG_OUT_OF_MEMORY;
  for (size_t i = 0; status == TG_OK && i < count; i++)
    if (has_static_shapes(sites[i].op))
      status = add_site(list, &program, &sites[i]);
  if (status == TG_OUT_OF_MEMORY)
    tg_fail(error, "%s: out of memory", path);
  tg_program_destroy(&program);
  return status;
}

/* The work of the program's kernels; negative when out of memory. */
static double count_gflop(const struct tg_program *program) {
  struct tg_site *sites;
  size_t count;
  if (!tg_collect_sites(program->module, program->arena, &sites, &count))
    return -1;
  double gflop = 0;
  for (size_t i = 0; i < count; i++)
    gflop += tg_kernel_flops(&sites[i].kernel) * 1e-9;
  return gflop;
}

static enum tg_status add_graph(struct tg_kernel_list *list, const char *path,
                                char *text, double gflop,
                                struct tg_error *error) {
  uint64_t hash = tg_hash_bytes(0, text, strlen(text));
  char source[64];
  name_program(path, false, source, sizeof source);
  for (int i = 0; i < list->count; i++)
    if (list->entries[i].hash == hash) {
      list->entries[i].occurrences++;
      add_source(&list->entries[i], source);
      free(text);
      return TG_OK;
    }
  struct tg_kernel_entry *entry = add_entry(list);
  char *own_path = strdup(path);
  if (!entry || !own_path || gflop < 0) {
    free(own_path);
    free(text);
    return tg_fail_memory(error, path);
  }
  entry->hash = entry->text_hash = hash;
  entry->gflop = gflop;
  entry->occurrences = 1;
  entry->text = text;
  entry->path = own_path;
  name_program(path, true, entry->family, sizeof entry->family);
  snprintf(entry->name, sizeof entry->name, "%s", source);
  add_source(entry, source);
  list->count++;
  return TG_OK;
}

enum tg_status tg_kernels_add_graph(struct tg_kernel_list *list,
                                    const char *path, struct tg_error *error) {
  struct tg_program program;
  char *text;
  size_t nbytes;
  enum tg_status status = tg_read_text(path, &text, &nbytes, error);
  if (status != TG_OK)
    return status;
  status = tg_program_parse(&program, path, text, nbytes, error);
  if (status != TG_OK) {
    free(text);
    return status;
  }
  double gflop = count_gflop(&program);
  tg_program_destroy(&program);
  return add_graph(list, path, text, gflop, error);
}

void tg_kernels_interleave(struct tg_kernel_list *list) {
  struct tg_kernel_entry *ordered =
      malloc(sizeof *ordered * ((size_t)list->count + 1));
  bool *taken = calloc((size_t)list->count + 1, 1);
  if (!ordered || !taken) { /* the order is a courtesy */
    free(ordered);
    free(taken);
    return;
  }
  int count = 0;
  while (count < list->count) {
    int turn = count; /* families that had their turn stand from here on */
    for (int i = 0; i < list->count; i++) {
      bool had = taken[i];
      for (int j = turn; j < count && !had; j++)
        had = !strcmp(ordered[j].family, list->entries[i].family);
      if (had)
        continue;
      taken[i] = true;
      ordered[count++] = list->entries[i];
    }
  }
  free(list->entries);
  free(taken);
  list->entries = ordered;
}

void tg_kernels_destroy(struct tg_kernel_list *list) {
  for (int i = 0; i < list->count; i++) {
    free(list->entries[i].text);
    free(list->entries[i].path);
  }
  free(list->entries);
  memset(list, 0, sizeof *list);
}

bool tg_kernels_find_site(MlirOperation module, MlirOperation *op,
                          struct tg_kernel *kernel) {
  struct tg_arena *arena = tg_arena_create();
  struct tg_site *sites;
  size_t count;
  bool found =
      arena && tg_collect_sites(module, arena, &sites, &count) && count == 1;
  if (found) {
    *op = sites[0].op;
    *kernel = sites[0].kernel;
  }
  tg_arena_destroy(arena);
  return found;
}
