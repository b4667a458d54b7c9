/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The table of polynomials, and the arithmetic that they are written in.
 */
#include "passes/polynomial.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <string.h>

#include "passes/inspect.h"
#include "passes/narrow.h"
#include "passes/polynomial_emit.h"

/*===-- Arithmetic --------------------------------------------------------===*/

enum { OEQ = 1, OLT = 4, NE = 1 }; /* predicates of arith.cmpf and arith.cmpi */

static MlirValue constant(const struct tg_math *math, MlirType type,
                          MlirAttribute value) {
  if (mlirTypeIsAVector(type))
    value = mlirDenseElementsAttrSplatGet(type, value);
  MlirNamedAttribute attribute =
      tg_named(math->builder->context, "value", value);
  return mlirOperationGetResult(tg_build(math->builder, "arith.constant", 0,
                                         NULL, 1, &type, 1, &attribute),
                                0);
}

static MlirType element_of(MlirType type) {
  return mlirTypeIsAVector(type) ? mlirShapedTypeGetElementType(type) : type;
}

MlirValue tg_math_number(const struct tg_math *math, double value) {
  return constant(math, math->real,
                  mlirFloatAttrDoubleGet(math->builder->context,
                                         element_of(math->real), value));
}

MlirValue tg_math_integer(const struct tg_math *math, int64_t value) {
  return constant(math, math->integer,
                  mlirIntegerAttrGet(element_of(math->integer), value));
}

static MlirValue binary(const struct tg_math *math, const char *name,
                        MlirValue a, MlirValue b) {
  MlirValue operands[2] = {a, b};
  return tg_build_1(math->builder, name, 2, operands, math->real);
}

MlirValue tg_math_add(const struct tg_math *math, MlirValue a, MlirValue b) {
  return binary(math, "arith.addf", a, b);
}

MlirValue tg_math_sub(const struct tg_math *math, MlirValue a, MlirValue b) {
  return binary(math, "arith.subf", a, b);
}

MlirValue tg_math_mul(const struct tg_math *math, MlirValue a, MlirValue b) {
  return binary(math, "arith.mulf", a, b);
}

MlirValue tg_math_div(const struct tg_math *math, MlirValue a, MlirValue b) {
  return binary(math, "arith.divf", a, b);
}

MlirValue tg_math_fma(const struct tg_math *math, MlirValue a, MlirValue b,
                      MlirValue c) {
  if (!math->builder->fused)
    return tg_math_add(math, tg_math_mul(math, a, b), c);
  MlirValue operands[3] = {a, b, c};
  return tg_build_1(math->builder, "math.fma", 3, operands, math->real);
}

MlirValue tg_math_series(const struct tg_math *math, MlirValue x,
                         const struct tg_table *table) {
  int i = table->count - 1;
  MlirValue sum = tg_math_number(math, table->coefficient[i]);
  while (i-- > 0)
    sum =
        tg_math_fma(math, sum, x, tg_math_number(math, table->coefficient[i]));
  return sum;
}

MlirValue tg_math_abs(const struct tg_math *math, MlirValue x) {
  return tg_build_1(math->builder, "math.absf", 1, &x, math->real);
}

MlirValue tg_math_sqrt(const struct tg_math *math, MlirValue x) {
  return tg_build_1(math->builder, "math.sqrt", 1, &x, math->real);
}

MlirValue tg_math_copysign(const struct tg_math *math, MlirValue x,
                           MlirValue y) {
  return binary(math, "math.copysign", x, y);
}

/*===-- Comparisons -------------------------------------------------------===*/

static MlirValue compare(const struct tg_math *math, const char *name,
                         int64_t predicate, MlirValue a, MlirValue b) {
  MlirValue operands[2] = {a, b};
  MlirContext context = math->builder->context;
  MlirNamedAttribute attribute =
      tg_named(context, "predicate",
               mlirIntegerAttrGet(mlirIntegerTypeGet(context, 64), predicate));
  return mlirOperationGetResult(tg_build(math->builder, name, 2, operands, 1,
                                         &math->boolean, 1, &attribute),
                                0);
}

MlirValue tg_math_less(const struct tg_math *math, MlirValue a, MlirValue b) {
  return compare(math, "arith.cmpf", OLT, a, b);
}

MlirValue tg_math_equal(const struct tg_math *math, MlirValue a, MlirValue b) {
  return compare(math, "arith.cmpf", OEQ, a, b);
}

MlirValue tg_math_select(const struct tg_math *math, MlirValue condition,
                         MlirValue yes, MlirValue no) {
  MlirValue operands[3] = {condition, yes, no};
  return tg_build_1(math->builder, "arith.select", 3, operands,
                    mlirValueGetType(yes));
}

MlirValue tg_math_at_least(const struct tg_math *math, MlirValue x,
                           double bound) {
  MlirValue least = tg_math_number(math, bound);
  return tg_math_select(math, tg_math_less(math, x, least), least, x);
}

MlirValue tg_math_at_most(const struct tg_math *math, MlirValue x,
                          double bound) {
  MlirValue most = tg_math_number(math, bound);
  return tg_math_select(math, tg_math_less(math, most, x), most, x);
}

/*===-- Bits --------------------------------------------------------------===*/

MlirValue tg_math_bits(const struct tg_math *math, MlirValue real) {
  return tg_build_1(math->builder, "arith.bitcast", 1, &real, math->integer);
}

MlirValue tg_math_from_bits(const struct tg_math *math, MlirValue integer) {
  return tg_build_1(math->builder, "arith.bitcast", 1, &integer, math->real);
}

MlirValue tg_math_op(const struct tg_math *math, const char *name, MlirValue a,
                     MlirValue b) {
  MlirValue operands[2] = {a, b};
  return tg_build_1(math->builder, name, 2, operands, math->integer);
}

MlirValue tg_math_both(const struct tg_math *math, MlirValue a, MlirValue b) {
  MlirValue operands[2] = {a, b};
  return tg_build_1(math->builder, "arith.andi", 2, operands, math->boolean);
}

MlirValue tg_math_any_bit(const struct tg_math *math, MlirValue integer) {
  return compare(math, "arith.cmpi", NE, integer, tg_math_integer(math, 0));
}

MlirValue tg_math_rounder(const struct tg_math *math, int64_t offset) {
  double one_and_a_half = TG_PICK(math, 0x1.8p23, 0x1.8p52);
  return tg_math_number(math, one_and_a_half + (double)offset);
}

MlirValue tg_math_power(const struct tg_math *math, MlirValue sum) {
  return tg_math_from_bits(
      math, tg_math_op(math, "arith.shli", tg_math_bits(math, sum),
                       tg_math_integer(math, math->mantissa_bits)));
}

/*===-- Types -------------------------------------------------------------===*/

enum { MAX_VECTOR_RANK = 8, MAX_OPERANDS = 2 };

/* The type of the same shape with another element. */
static MlirType reshape(MlirType shape, MlirType element) {
  if (!mlirTypeIsAVector(shape))
    return element;
  int64_t extents[MAX_VECTOR_RANK];
  intptr_t rank = mlirShapedTypeGetRank(shape);
  for (intptr_t d = 0; d < rank; ++d)
    extents[d] = mlirShapedTypeGetDimSize(shape, d);
  return mlirVectorTypeGet(rank, extents, element);
}

static struct tg_math make_math(struct tg_builder *builder, MlirType type,
                                bool wide) {
  MlirContext context = builder->context;
  return (struct tg_math){
      .builder = builder,
      .real = type,
      .integer = reshape(type, mlirIntegerTypeGet(context, wide ? 64 : 32)),
      .boolean = reshape(type, mlirIntegerTypeGet(context, 1)),
      .wide = wide,
      .mantissa_bits = wide ? 52 : 23,
      .bias = wide ? 1023 : 127,
  };
}

struct tg_math tg_math_widen(const struct tg_math *math) {
  MlirType wide = mlirF64TypeGet(math->builder->context);
  return make_math(math->builder, reshape(math->real, wide), true);
}

/*===-- The table ---------------------------------------------------------===*/

static const struct row {
  const char *name;
  int operand_count;
  int widest;
  MlirValue (*emit)(const struct tg_math *math, const MlirValue *operand);
} rows[] = {
#define POLYNOMIAL(name, operands, widest, emit) {name, operands, widest, emit},
#include "passes/polynomial.def"
};

static bool is_half(MlirType element) {
  return mlirTypeIsAF16(element) || mlirTypeIsABF16(element);
}

static const struct row *find_row(MlirStringRef name, MlirType element) {
  if (!mlirTypeIsAF32(element) && !mlirTypeIsAF64(element) && !is_half(element))
    return NULL;
  int width = mlirTypeIsAF64(element) ? 64 : 32;
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i)
    if (strlen(rows[i].name) == name.length &&
        !memcmp(rows[i].name, name.data, name.length))
      return width <= rows[i].widest ? &rows[i] : NULL;
  return NULL;
}

bool tg_polynomial_has(MlirStringRef name, MlirType element) {
  return find_row(name, element) != NULL;
}

static bool is_supported_shape(MlirType type) {
  return !mlirTypeIsAVector(type) ||
         (!mlirVectorTypeIsScalable(type) &&
          mlirShapedTypeGetRank(type) <= MAX_VECTOR_RANK);
}

/* On operands of one type, f32 or f64. */
static MlirValue emit_row(struct tg_builder *builder, const struct row *row,
                          const MlirValue *operands) {
  MlirType type = mlirValueGetType(operands[0]);
  struct tg_math math =
      make_math(builder, type, mlirTypeIsAF64(element_of(type)));
  return row->emit(&math, operands);
}

/* f16 and bf16 are computed in f32 and rounded once. */
static MlirValue emit_half(struct tg_builder *builder, const struct row *row,
                           const MlirValue *operands) {
  MlirType type = mlirValueGetType(operands[0]);
  MlirType wide = reshape(type, mlirF32TypeGet(builder->context));
  MlirValue extended[MAX_OPERANDS];
  for (int i = 0; i < row->operand_count; ++i)
    extended[i] = tg_build_1(builder, "arith.extf", 1, &operands[i], wide);
  MlirValue result = emit_row(builder, row, extended);
  return tg_round(builder, result, type);
}

MlirValue tg_polynomial_emit(struct tg_builder *builder, MlirStringRef name,
                             int operand_count, const MlirValue *operands) {
  MlirValue none = {NULL};
  if (operand_count < 1)
    return none;
  MlirType type = mlirValueGetType(operands[0]);
  const struct row *row = find_row(name, element_of(type));
  if (!row || row->operand_count != operand_count || !is_supported_shape(type))
    return none;
  for (int i = 1; i < operand_count; ++i)
    if (!mlirTypeEqual(mlirValueGetType(operands[i]), type))
      return none;
  return is_half(element_of(type)) ? emit_half(builder, row, operands)
                                   : emit_row(builder, row, operands);
}
