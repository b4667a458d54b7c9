/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reading a program; see program.h. The side file is read by side.c. */
#include "tools/program.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/RegisterEverything.h>
#include <stdlib.h>
#include <string.h>

#include "passes/passes.h"
#include "tools/compile.h"
#include "tools/side.h"

MlirContext tg_create_context(void) {
  static bool registered;
  if (!registered)
    mlirRegisterAllPasses();
  registered = true;
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  mlirRegisterAllDialects(registry);
  MlirContext context = mlirContextCreateWithRegistry(registry, false);
  mlirDialectRegistryDestroy(registry);
  mlirRegisterAllLLVMTranslations(context);
  /* a program's own attributes of other tools are none of our business */
  mlirContextSetAllowUnregisteredDialects(context, true);
  return context;
}

static void append_text(MlirStringRef text, void *user) {
  char *message = user;
  size_t used = strlen(message);
  size_t room = TG_ERROR_NBYTES - 1 - used;
  size_t length = text.length < room ? text.length : room;
  memcpy(message + used, text.data, length);
  message[used + length] = 0;
}

/* loc("a.mlir":3:5) -> a.mlir:3:5, in place; other locations stay. */
static void unwrap_location(char *text) {
  if (strncmp(text, "loc(\"", 5))
    return;
  char *out = text;
  for (char *c = text + 5; *c && *c != ')'; c++)
    if (*c != '"')
      *out++ = *c;
  *out = 0;
  char *nowhere = strstr(text, ":0:0"); /* the file as a whole */
  if (nowhere && !nowhere[4])
    *nowhere = 0;
}

static MlirLogicalResult on_diagnostic(MlirDiagnostic diagnostic, void *user) {
  struct tg_diagnostics *d = user;
  if (mlirDiagnosticGetSeverity(diagnostic) != MlirDiagnosticError)
    return mlirLogicalResultSuccess();
  if (!d->seen && d->error) {
    d->seen = true;
    char place[TG_ERROR_NBYTES] = "", text[TG_ERROR_NBYTES] = "";
    mlirLocationPrint(mlirDiagnosticGetLocation(diagnostic), append_text,
                      place);
    unwrap_location(place);
    mlirDiagnosticPrint(diagnostic, append_text, text);
    for (char *c = text; *c; c++)
      if (*c == '\n')
        *c = ' ';
    bool nameless = place[0] == '-' && (place[1] == ':' || !place[1]);
    tg_fail(d->error, "%.200s%.100s: %.200s", nameless ? d->path : "",
            nameless ? place + 1 : place, text);
  }
  return mlirLogicalResultSuccess();
}

void tg_diagnostics_attach(struct tg_diagnostics *d,
                           const struct tg_program *program,
                           struct tg_error *error) {
  MlirContext context = program->context;
  d->context = context;
  d->path = program->path;
  d->error = error;
  d->seen = false;
  d->id = mlirContextAttachDiagnosticHandler(context, on_diagnostic, d, NULL);
}

void tg_diagnostics_detach(struct tg_diagnostics *d) {
  mlirContextDetachDiagnosticHandler(d->context, d->id);
}

static bool text_is(MlirStringRef text, const char *other) {
  return mlirStringRefEqual(text, mlirStringRefCreateFromCString(other));
}

static bool has_body(MlirOperation op) {
  return mlirOperationGetNumRegions(op) == 1 &&
         !mlirBlockIsNull(
             mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0)));
}

static MlirStringRef get_text(MlirOperation op, const char *name) {
  MlirAttribute a =
      mlirOperationGetAttributeByName(op, mlirStringRefCreateFromCString(name));
  if (mlirAttributeIsNull(a) || !mlirAttributeIsAString(a))
    return mlirStringRefCreateFromCString("");
  return mlirStringAttrGetValue(a);
}

/* The named function, or @main, or the only public one; null if none. */
static MlirOperation find_function(MlirOperation module, const char *wanted,
                                   int *candidates) {
  MlirOperation found = {NULL}, only = {NULL};
  *candidates = 0;
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(module, 0));
  for (MlirOperation op = mlirBlockGetFirstOperation(body);
       !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
    if (!text_is(mlirIdentifierStr(mlirOperationGetName(op)), "func.func") ||
        !has_body(op))
      continue;
    if (text_is(get_text(op, "sym_name"), wanted ? wanted : "main"))
      found = op;
    if (!text_is(get_text(op, "sym_visibility"), "private")) {
      ++*candidates;
      only = op;
    }
  }
  if (mlirOperationIsNull(found) && !wanted && *candidates == 1)
    found = only;
  return found;
}

static bool read_dtype(MlirType type, enum tg_dtype *dtype) {
  char text[TG_ERROR_NBYTES] = "";
  mlirTypePrint(type, append_text, text);
  for (int i = 0; i < TG_DTYPE_COUNT; i++)
    if (!strcmp(text, tg_dtype_infos[i].mlir)) {
      *dtype = (enum tg_dtype)i;
      return true;
    }
  return false;
}

static enum tg_status read_type(struct tg_program *p, MlirType type,
                                const char *what, int index,
                                struct tg_value_type *out,
                                struct tg_error *error) {
  MlirType element = type;
  out->is_tensor = mlirTypeIsARankedTensor(type);
  if (out->is_tensor) {
    element = mlirShapedTypeGetElementType(type);
    int64_t rank = mlirShapedTypeGetRank(type);
    if (rank > TG_VALUE_RANK_LIMIT)
      return tg_fail(error,
                     "%s: %s %d of @%s has %lld dimensions, at most %d "
                     "are supported",
                     p->path, what, index, p->function, (long long)rank,
                     TG_VALUE_RANK_LIMIT);
    out->rank = (int)rank;
    for (int i = 0; i < out->rank; i++)
      out->shape[i] = mlirShapedTypeIsDynamicDim(type, i)
                          ? -1
                          : mlirShapedTypeGetDimSize(type, i);
  }
  if (read_dtype(element, &out->dtype))
    return TG_OK;
  char text[TG_ERROR_NBYTES] = "";
  mlirTypePrint(type, append_text, text);
  return tg_fail(error,
                 "%s: %s %d of @%s has the type %.100s; ranked tensors "
                 "and scalars of floats and whole-byte integers can be run",
                 p->path, what, index, p->function, text);
}

static enum tg_status read_signature(struct tg_program *p,
                                     MlirOperation function,
                                     struct tg_error *error) {
  MlirType type = mlirTypeAttrGetValue(mlirOperationGetAttributeByName(
      function, mlirStringRefCreateFromCString("function_type")));
  p->argument_count = (int)mlirFunctionTypeGetNumInputs(type);
  p->result_count = (int)mlirFunctionTypeGetNumResults(type);
  p->arguments = tg_arena_alloc(p->arena, (size_t)p->argument_count + 1,
                                sizeof *p->arguments);
  p->results =
      tg_arena_alloc(p->arena, (size_t)p->result_count + 1, sizeof *p->results);
  if (!p->arguments || !p->results)
    return tg_fail_memory(error, p->path);
  enum tg_status status = TG_OK;
  for (int i = 0; i < p->argument_count && status == TG_OK; i++) {
    p->arguments[i].kind = p->arguments[i].name = "";
    status = read_type(p, mlirFunctionTypeGetInput(type, i), "argument", i,
                       &p->arguments[i].type, error);
    p->arguments[i].given = p->arguments[i].type.dtype;
  }
  for (int i = 0; i < p->result_count && status == TG_OK; i++)
    status = read_type(p, mlirFunctionTypeGetResult(type, i), "result", i,
                       &p->results[i], error);
  if (status == TG_OK && p->result_count == 0)
    status = tg_fail(error, "%s: @%s has no result to compare", p->path,
                     p->function);
  return status;
}

static enum tg_status choose_function(struct tg_program *p, const char *wanted,
                                      struct tg_error *error) {
  int candidates;
  MlirOperation function = find_function(p->module, wanted, &candidates);
  if (mlirOperationIsNull(function)) {
    if (wanted)
      return tg_fail(error, "%s: has no function @%s with a body", p->path,
                     wanted);
    return tg_fail(error,
                   "%s: has no @main and %d public functions with a body; "
                   "name one with --function",
                   p->path, candidates);
  }
  MlirStringRef name = get_text(function, "sym_name");
  char *copy = tg_arena_alloc(p->arena, name.length + 1, 1);
  if (!copy)
    return tg_fail_memory(error, p->path);
  memcpy(copy, name.data, name.length);
  p->function = copy;
  mlirOperationSetAttributeByName(
      function, mlirStringRefCreateFromCString("llvm.emit_c_interface"),
      mlirUnitAttrGet(p->context));
  enum tg_status status = read_signature(p, function, error);
  if (status == TG_OK)
    tg_side_read_attributes(p, function);
  return status;
}

static enum tg_status parse_module(struct tg_program *p, const char *text,
                                   size_t nbytes, struct tg_error *error) {
  struct tg_diagnostics diagnostics;
  tg_diagnostics_attach(&diagnostics, p, error);
  MlirModule module =
      mlirModuleCreateParse(p->context, mlirStringRefCreate(text, nbytes));
  tg_diagnostics_detach(&diagnostics);
  if (mlirModuleIsNull(module)) {
    if (!diagnostics.seen)
      tg_fail(error, "%s: holds no MLIR module", p->path);
    return TG_BAD_INPUT;
  }
  p->module = mlirModuleGetOperation(module);
  return TG_OK;
}

enum tg_status tg_program_parse(struct tg_program *p, const char *path,
                                const char *text, size_t nbytes,
                                struct tg_error *error) {
  memset(p, 0, sizeof *p);
  p->path = path;
  p->arena = tg_arena_create();
  if (!p->arena)
    return tg_fail_memory(error, path);
  p->context = tg_create_context();
  p->hash = tg_hash_bytes(0, text, nbytes);
  bool blank = strspn(text, " \t\r\n") == nbytes;
  enum tg_status status = blank ? tg_fail(error, "%s: is empty", path)
                                : parse_module(p, text, nbytes, error);
  if (status != TG_OK)
    tg_program_destroy(p);
  return status;
}

enum tg_status tg_program_create_from_text(struct tg_program *p,
                                           const char *path, const char *text,
                                           size_t nbytes, const char *function,
                                           struct tg_error *error) {
  enum tg_status status = tg_program_parse(p, path, text, nbytes, error);
  if (status != TG_OK)
    return status;
  status = choose_function(p, function, error);
  if (status != TG_OK)
    tg_program_destroy(p);
  return status;
}

static enum tg_status require_static(const struct tg_program *p,
                                     struct tg_error *error) {
  for (int i = 0; i < p->argument_count; i++)
    for (int d = 0; d < p->arguments[i].type.rank; d++)
      if (p->arguments[i].type.shape[d] < 0)
        return tg_fail(error,
                       "%s: dimension %d of argument %d of @%s is "
                       "dynamic; give its shape in a side file (--data)",
                       p->path, d, i, p->function);
  return TG_OK;
}

enum tg_status tg_program_create(struct tg_program *program, const char *path,
                                 const char *function, const char *side_path,
                                 struct tg_error *error) {
  char *text;
  size_t nbytes;
  enum tg_status status = tg_read_text(path, &text, &nbytes, error);
  if (status != TG_OK)
    return status;
  status =
      tg_program_create_from_text(program, path, text, nbytes, function, error);
  free(text);
  if (status != TG_OK)
    return status;
  status = tg_side_read(program, side_path, error);
  if (status == TG_OK)
    status = require_static(program, error);
  if (status != TG_OK)
    tg_program_destroy(program);
  return status;
}

void tg_program_destroy(struct tg_program *program) {
  if (program->module.ptr)
    mlirOperationDestroy(program->module);
  if (program->context.ptr)
    mlirContextDestroy(program->context);
  tg_arena_destroy(program->arena);
  memset(program, 0, sizeof *program);
}
