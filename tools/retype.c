/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Types are replaced in place: of results, of blocks' arguments, and in
 * attributes. Whether the outcome is a program is for the verifier to say. */
#include "tools/retype.h"

#include <math.h>
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/Diagnostics.h>
#include <stdlib.h>
#include <string.h>

#include "passes/inspect.h"
#include "tools/compile.h"
#include "tools/number.h"

enum { MAX_RANK = 32 };

struct retype {
  unsigned from; /* a bit for each type that is replaced */
  enum tg_dtype to;
  MlirContext context;
  MlirType element; /* `to` as a type */
  bool found, failed;
};

/*===-- Types -------------------------------------------------------------===*/

static enum tg_dtype float_dtype(MlirType type) {
  if (mlirTypeIsAF16(type))
    return TG_DTYPE_F16;
  if (mlirTypeIsABF16(type))
    return TG_DTYPE_BF16;
  if (mlirTypeIsAF32(type))
    return TG_DTYPE_F32;
  return mlirTypeIsAF64(type) ? TG_DTYPE_F64 : TG_DTYPE_COUNT;
}

static bool is_replaced(const struct retype *r, enum tg_dtype dtype) {
  return dtype != TG_DTYPE_COUNT && (r->from >> dtype & 1);
}

static MlirType map_type(struct retype *r, MlirType type);

static MlirType map_shaped(struct retype *r, MlirType type) {
  int64_t shape[MAX_RANK];
  MlirType element = map_type(r, mlirShapedTypeGetElementType(type));
  if (mlirTypeEqual(element, mlirShapedTypeGetElementType(type)))
    return type;
  if (mlirTypeIsAUnrankedTensor(type))
    return mlirUnrankedTensorTypeGet(element);
  intptr_t rank = mlirShapedTypeGetRank(type);
  if (rank > MAX_RANK)
    return type;
  for (intptr_t d = 0; d < rank; ++d)
    shape[d] = mlirShapedTypeGetDimSize(type, d);
  return mlirTypeIsAVector(type)
             ? mlirVectorTypeGet(rank, shape, element)
             : mlirRankedTensorTypeGet(rank, shape, element,
                                       mlirRankedTensorTypeGetEncoding(type));
}

static MlirType map_function(struct retype *r, MlirType type) {
  intptr_t inputs = mlirFunctionTypeGetNumInputs(type);
  intptr_t results = mlirFunctionTypeGetNumResults(type);
  MlirType *types = calloc((size_t)(inputs + results) + 1, sizeof *types);
  if (!types)
    return type;
  for (intptr_t i = 0; i < inputs; ++i)
    types[i] = map_type(r, mlirFunctionTypeGetInput(type, i));
  for (intptr_t i = 0; i < results; ++i)
    types[inputs + i] = map_type(r, mlirFunctionTypeGetResult(type, i));
  MlirType mapped =
      mlirFunctionTypeGet(r->context, inputs, types, results, types + inputs);
  free(types);
  return mapped;
}

/* Buffers and whatever else holds types stay: the verifier objects where they
 * meet what has changed. */
static MlirType map_type(struct retype *r, MlirType type) {
  if (is_replaced(r, float_dtype(type))) {
    r->found = true;
    return r->element;
  }
  if (mlirTypeIsARankedTensor(type) || mlirTypeIsAUnrankedTensor(type) ||
      (mlirTypeIsAVector(type) && !mlirVectorTypeIsScalable(type)))
    return map_shaped(r, type);
  return mlirTypeIsAFunction(type) ? map_function(r, type) : type;
}

/*===-- Attributes --------------------------------------------------------===*/

static double clamp(const struct retype *r, double value) {
  double largest = tg_number_largest(r->to);
  return isfinite(value) && fabs(value) > largest ? copysign(largest, value)
                                                  : value;
}

static MlirAttribute map_elements(struct retype *r, MlirOperation op,
                                  MlirAttribute attribute, MlirType type) {
  MlirType given = mlirAttributeGetType(attribute);
  enum tg_dtype from = float_dtype(mlirShapedTypeGetElementType(given));
  bool splat = mlirDenseElementsAttrIsSplat(attribute);
  int64_t count = splat ? 1 : mlirElementsAttrGetNumElements(attribute);
  const void *source = mlirDenseElementsAttrGetRawData(attribute);
  size_t nbytes = (size_t)tg_dtype_infos[r->to].nbytes;
  char *numbers = calloc((size_t)count + 1, nbytes);
  if (!numbers) {
    mlirEmitError(mlirOperationGetLocation(op), "out of memory");
    r->failed = true;
    return attribute;
  }
  for (int64_t i = 0; i < count; ++i)
    tg_number_store(r->to, numbers, i,
                    clamp(r, tg_number_load(from, source, i)));
  MlirAttribute mapped =
      mlirDenseElementsAttrRawBufferGet(type, (size_t)count * nbytes, numbers);
  free(numbers);
  return mapped;
}

static MlirAttribute map_attribute(struct retype *r, MlirOperation op,
                                   MlirAttribute attribute) {
  if (mlirAttributeIsAType(attribute))
    return mlirTypeAttrGet(map_type(r, mlirTypeAttrGetValue(attribute)));
  MlirType given = mlirAttributeGetType(attribute);
  if (mlirTypeIsNull(given))
    return attribute;
  MlirType type = map_type(r, given);
  if (mlirTypeEqual(type, given))
    return attribute;
  if (mlirAttributeIsAFloat(attribute))
    return mlirFloatAttrDoubleGet(
        r->context, type, clamp(r, mlirFloatAttrGetValueDouble(attribute)));
  if (mlirAttributeIsADenseElements(attribute))
    return map_elements(r, op, attribute, type);
  mlirEmitError(mlirOperationGetLocation(op),
                "a constant of this kind can't be given another type");
  r->failed = true;
  return attribute;
}

/*===-- Operations --------------------------------------------------------===*/

static MlirWalkResult replace_types(MlirOperation op, void *data) {
  struct retype *r = data;
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i) {
    MlirValue result = mlirOperationGetResult(op, i);
    mlirValueSetType(result, map_type(r, mlirValueGetType(result)));
  }
  for (intptr_t i = 0; i < mlirOperationGetNumRegions(op); ++i)
    for (MlirBlock block =
             mlirRegionGetFirstBlock(mlirOperationGetRegion(op, i));
         !mlirBlockIsNull(block); block = mlirBlockGetNextInRegion(block))
      for (intptr_t a = 0; a < mlirBlockGetNumArguments(block); ++a) {
        MlirValue argument = mlirBlockGetArgument(block, a);
        mlirValueSetType(argument, map_type(r, mlirValueGetType(argument)));
      }
  for (intptr_t i = 0; i < mlirOperationGetNumAttributes(op); ++i) {
    MlirNamedAttribute named = mlirOperationGetAttribute(op, i);
    MlirAttribute mapped = map_attribute(r, op, named.attribute);
    if (!mlirAttributeEqual(mapped, named.attribute))
      mlirOperationSetAttributeByName(op, mlirIdentifierStr(named.name),
                                      mapped);
  }
  return r->failed ? MlirWalkResultInterrupt : MlirWalkResultAdvance;
}

/* A cast whose two types have become one. */
static MlirWalkResult drop_cast(MlirOperation op, void *data) {
  (void)data;
  if (!tg_op_is(op, "arith.extf") && !tg_op_is(op, "arith.truncf"))
    return MlirWalkResultAdvance;
  MlirValue from = mlirOperationGetOperand(op, 0);
  MlirValue to = mlirOperationGetResult(op, 0);
  if (!mlirTypeEqual(mlirValueGetType(from), mlirValueGetType(to)))
    return MlirWalkResultAdvance;
  mlirValueReplaceAllUsesOfWith(to, from);
  mlirOperationDestroy(op);
  return MlirWalkResultSkip;
}

static void map_value(const struct retype *r, struct tg_value_type *type) {
  if (is_replaced(r, type->dtype))
    type->dtype = r->to;
}

static struct retype make_retype(const struct tg_program *program,
                                 unsigned from, enum tg_dtype to) {
  MlirContext context = program->context;
  return (struct retype){
      .from = from,
      .to = to,
      .context = context,
      .element = mlirTypeParseGet(context, tg_ref(tg_dtype_infos[to].mlir))};
}

static enum tg_status carry_out(struct tg_program *program, struct retype *r,
                                struct tg_error *error) {
  struct tg_diagnostics diagnostics;
  tg_diagnostics_attach(&diagnostics, program, error);
  mlirOperationWalk(program->module, replace_types, r, MlirWalkPreOrder);
  mlirOperationWalk(program->module, drop_cast, NULL, MlirWalkPostOrder);
  bool good = !r->failed && mlirOperationVerify(program->module);
  tg_diagnostics_detach(&diagnostics);
  for (int i = 0; i < program->argument_count; i++)
    map_value(r, &program->arguments[i].type);
  for (int i = 0; i < program->result_count; i++)
    map_value(r, &program->results[i]);
  const char *name = tg_dtype_infos[r->to].mlir;
  program->hash = tg_hash_bytes(program->hash, name, strlen(name) + 1);
  if (good)
    return TG_OK;
  struct tg_error reason = *error;
  return tg_fail(error, "%.400s (with %s in place of its floats)",
                 diagnostics.seen ? reason.message : program->path, name);
}

enum tg_status tg_retype(struct tg_program *program, const char *types,
                         struct tg_error *error) {
  static const enum tg_dtype known[] = {TG_DTYPE_F64, TG_DTYPE_F16,
                                        TG_DTYPE_BF16};
  if (!types || !types[0] || !strcmp(types, "f32"))
    return TG_OK;
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    if (strcmp(types, tg_dtype_infos[known[i]].mlir) != 0)
      continue;
    struct retype r = make_retype(program, 1u << TG_DTYPE_F32, known[i]);
    enum tg_status status = carry_out(program, &r, error);
    for (int a = 0; a < program->argument_count; a++)
      program->arguments[a].given = program->arguments[a].type.dtype;
    return status;
  }
  return tg_fail(error,
                 "option --types: there is no '%s'; f64, f32, f16 and bf16 "
                 "can be had",
                 types);
}

/*===-- Halves ------------------------------------------------------------===*/

static const unsigned halves = 1u << TG_DTYPE_F16 | 1u << TG_DTYPE_BF16;

static MlirWalkResult find_types(MlirOperation op, void *data) {
  struct retype *r = data;
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    map_type(r, mlirValueGetType(mlirOperationGetResult(op, i)));
  if (tg_op_is(op, "func.func"))
    map_type(r, mlirTypeAttrGetValue(mlirOperationGetAttributeByName(
                    op, tg_ref("function_type"))));
  return r->found ? MlirWalkResultInterrupt : MlirWalkResultAdvance;
}

bool tg_has_halves(const struct tg_program *program) {
  struct retype r = make_retype(program, halves, TG_DTYPE_F32);
  mlirOperationWalk(program->module, find_types, &r, MlirWalkPreOrder);
  return r.found;
}

enum tg_status tg_retype_halves(struct tg_program *program,
                                struct tg_error *error) {
  struct retype r = make_retype(program, halves, TG_DTYPE_F32);
  return carry_out(program, &r, error);
}
