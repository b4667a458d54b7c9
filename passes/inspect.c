/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Read-only questions about operations that several passes ask.
 */
#include "passes/inspect.h"

#include <math.h>
#include <mlir-c/AffineExpr.h>
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/Diagnostics.h>
#include <mlir-c/Dialect/Linalg.h>
#include <string.h>

#include "model/text.h"

void tg_append_ref(MlirStringRef part, void *text) {
  tg_text_append(text, part.data, part.length);
}

void tg_remark(const struct tg_remark_sink *sink, MlirLocation location,
               enum tg_remark_kind kind, const char *message) {
  if (sink && sink->emit)
    sink->emit(sink->user, location, kind, message);
}

MlirLogicalResult tg_fail_at(MlirOperation op, const char *pass,
                             const char *reason) {
  struct tg_text text = {0};
  tg_text_print(&text, "%s: %s", pass, reason);
  mlirEmitError(mlirOperationGetLocation(op), text.failed ? reason : text.data);
  tg_text_destroy(&text);
  return mlirLogicalResultFailure();
}

MlirStringRef tg_op_name(MlirOperation op) {
  return mlirIdentifierStr(mlirOperationGetName(op));
}

bool tg_op_is(MlirOperation op, const char *name) {
  if (mlirOperationIsNull(op))
    return false;
  MlirStringRef own = tg_op_name(op);
  return own.length == strlen(name) && memcmp(own.data, name, own.length) == 0;
}

bool tg_op_name_starts_with(MlirOperation op, const char *prefix) {
  MlirStringRef own = tg_op_name(op);
  size_t length = strlen(prefix);
  return own.length >= length && memcmp(own.data, prefix, length) == 0;
}

MlirOperation tg_value_producer(MlirValue value) {
  if (mlirValueIsNull(value) || !mlirValueIsAOpResult(value))
    return (MlirOperation){NULL};
  return mlirOpResultGetOwner(value);
}

bool tg_op_has_attribute(MlirOperation op, const char *name) {
  return !mlirAttributeIsNull(
      mlirOperationGetAttributeByName(op, tg_ref(name)));
}

bool tg_symbol_exists(MlirOperation module, const char *name) {
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(module, 0));
  for (MlirOperation op = mlirBlockGetFirstOperation(block);
       !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
    MlirAttribute symbol =
        mlirOperationGetAttributeByName(op, tg_ref("sym_name"));
    if (!mlirAttributeIsNull(symbol) && mlirAttributeIsAString(symbol) &&
        mlirStringRefEqual(mlirStringAttrGetValue(symbol), tg_ref(name)))
      return true;
  }
  return false;
}

bool tg_op_is_skipped(MlirOperation op) {
  for (; !mlirOperationIsNull(op); op = mlirOperationGetParentOperation(op))
    if (tg_op_has_attribute(op, "tgraph.skip"))
      return true;
  return false;
}

bool tg_attribute_integer(MlirAttribute attribute, int64_t *value) {
  if (mlirAttributeIsNull(attribute) || !mlirAttributeIsAInteger(attribute))
    return false;
  MlirType type = mlirAttributeGetType(attribute);
  if (mlirTypeIsAInteger(type) &&
      (mlirIntegerTypeGetWidth(type) > 64 || !mlirIntegerTypeIsSignless(type)))
    return false;
  *value = mlirIntegerAttrGetValueInt(attribute);
  return true;
}

MlirAttribute tg_iterator_kind(MlirContext context, bool reduction) {
  return mlirAttributeParseGet(
      context, tg_ref(reduction ? "#linalg.iterator_type<reduction>"
                                : "#linalg.iterator_type<parallel>"));
}

int tg_op_get_maps(MlirOperation op, int capacity, MlirAffineMap *maps) {
  MlirAttribute attribute = mlirLinalgGetIndexingMapsAttribute(op);
  if (mlirAttributeIsNull(attribute) || !mlirAttributeIsAArray(attribute))
    return -1;
  intptr_t count = mlirArrayAttrGetNumElements(attribute);
  if (count > capacity || count != mlirOperationGetNumOperands(op))
    return -1;
  for (intptr_t i = 0; i < count; ++i) {
    MlirAttribute map = mlirArrayAttrGetElement(attribute, i);
    if (!mlirAttributeIsAAffineMap(map))
      return -1;
    maps[i] = mlirAffineMapAttrGetValue(map);
  }
  return (int)count;
}

/* Adds scale * expr to the factors of the loops and to the offset. */
static bool add_linear(MlirAffineExpr expr, int64_t scale, int64_t *factors,
                       int64_t *offset) {
  if (mlirAffineExprIsADim(expr)) {
    int64_t *factor = &factors[mlirAffineDimExprGetPosition(expr)];
    return !__builtin_add_overflow(*factor, scale, factor);
  }
  if (mlirAffineExprIsAConstant(expr)) {
    int64_t value = mlirAffineConstantExprGetValue(expr);
    return !__builtin_mul_overflow(value, scale, &value) &&
           !__builtin_add_overflow(*offset, value, offset);
  }
  if (!mlirAffineExprIsAAdd(expr) && !mlirAffineExprIsAMul(expr))
    return false;
  MlirAffineExpr lhs = mlirAffineBinaryOpExprGetLHS(expr);
  MlirAffineExpr rhs = mlirAffineBinaryOpExprGetRHS(expr);
  if (mlirAffineExprIsAAdd(expr))
    return add_linear(lhs, scale, factors, offset) &&
           add_linear(rhs, scale, factors, offset);
  if (mlirAffineExprIsAConstant(lhs)) {
    MlirAffineExpr swapped = lhs;
    lhs = rhs;
    rhs = swapped;
  }
  if (!mlirAffineExprIsAConstant(rhs))
    return false;
  int64_t factor = mlirAffineConstantExprGetValue(rhs);
  return !__builtin_mul_overflow(factor, scale, &factor) &&
         add_linear(lhs, factor, factors, offset);
}

static bool subscript_from_expr(MlirAffineExpr expr, int loop_count,
                                int32_t *coefficients) {
  int64_t factors[TG_MAX_LOOPS] = {0};
  int64_t offset = 0;
  if (!add_linear(expr, 1, factors, &offset) || offset != 0)
    return false;
  for (int l = 0; l < loop_count; ++l) {
    if (factors[l] < 0 || factors[l] > INT32_MAX)
      return false;
    coefficients[l] = (int32_t)factors[l];
  }
  return true;
}

static bool shape_of_type(MlirType type, struct tg_access *access) {
  access->rank = 0;
  if (!mlirTypeIsAShaped(type))
    return true;
  if (!mlirShapedTypeHasRank(type) || mlirShapedTypeGetRank(type) > TG_MAX_RANK)
    return false;
  access->rank = (int)mlirShapedTypeGetRank(type);
  for (int d = 0; d < access->rank; ++d) {
    int64_t extent = mlirShapedTypeGetDimSize(type, d);
    access->extent[d] = mlirShapedTypeIsDynamicSize(extent) ? 0 : extent;
  }
  return true;
}

bool tg_access_from_map(MlirAffineMap map, MlirType type,
                        struct tg_access *access) {
  memset(access, 0, sizeof *access);
  intptr_t loop_count = mlirAffineMapGetNumDims(map);
  if (!shape_of_type(type, access) || loop_count > TG_MAX_LOOPS ||
      mlirAffineMapGetNumSymbols(map) != 0 ||
      mlirAffineMapGetNumResults(map) != access->rank)
    return false;
  for (int d = 0; d < access->rank; ++d)
    if (!subscript_from_expr(mlirAffineMapGetResult(map, d), (int)loop_count,
                             access->coefficient[d]))
      return false;
  return true;
}

/* The loop that steps the dimension by one and alone; -1 where none does. */
static int plain_loop(const struct tg_access *access, int dimension,
                      int loop_count) {
  int loop = -1;
  for (int l = 0; l < loop_count; ++l) {
    int32_t coefficient = access->coefficient[dimension][l];
    if (coefficient == 0)
      continue;
    if (coefficient != 1 || loop >= 0)
      return -1;
    loop = l;
  }
  return loop;
}

enum { MAX_OPERANDS = 8 };

bool tg_op_read_accesses(MlirOperation op, struct tg_kernel *kernel) {
  MlirAffineMap maps[MAX_OPERANDS];
  int count = tg_op_get_maps(op, MAX_OPERANDS, maps);
  if (count < TG_OPERAND_COUNT)
    return false;
  const int operands[TG_OPERAND_COUNT] = {0, 1, count - 1};
  for (int o = 0; o < TG_OPERAND_COUNT; ++o)
    if (!tg_access_from_map(
            maps[operands[o]],
            mlirValueGetType(mlirOperationGetOperand(op, operands[o])),
            &kernel->operand[o]))
      return false;
  kernel->loop_count = (int)mlirAffineMapGetNumDims(maps[0]);
  for (int l = 0; l < kernel->loop_count; ++l) {
    kernel->extent[l] = 0;
    kernel->reduction[l] = !tg_kernel_uses(kernel, TG_RESULT, l);
  }
  for (int o = 0; o < TG_OPERAND_COUNT; ++o)
    for (int d = 0; d < kernel->operand[o].rank; ++d) {
      int l = plain_loop(&kernel->operand[o], d, kernel->loop_count);
      if (l >= 0 && kernel->extent[l] == 0)
        kernel->extent[l] = kernel->operand[o].extent[d];
    }
  return true;
}

/* Is the operation of that name, on two values of which one is `a`? Then the
 * other one is *b. */
static bool is_binary_with(MlirOperation op, const char *name, MlirValue a,
                           MlirValue *b) {
  if (!tg_op_is(op, name) || mlirOperationGetNumOperands(op) != 2)
    return false;
  MlirValue x = mlirOperationGetOperand(op, 0);
  MlirValue y = mlirOperationGetOperand(op, 1);
  *b = mlirValueEqual(x, a) ? y : x;
  return mlirValueEqual(x, a) || mlirValueEqual(y, a);
}

/* The value before it was extended, and how that was done. */
static MlirValue read_extension(MlirValue value, enum tg_extension *extension) {
  static const struct {
    const char *name;
    enum tg_extension extension;
  } rows[] = {{"arith.extf", TG_EXTENSION_FLOAT},
              {"arith.extsi", TG_EXTENSION_SIGNED},
              {"arith.extui", TG_EXTENSION_UNSIGNED}};
  MlirOperation op = tg_value_producer(value);
  *extension = TG_EXTENSION_NONE;
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i)
    if (tg_op_is(op, rows[i].name)) {
      *extension = rows[i].extension;
      return mlirOperationGetOperand(op, 0);
    }
  return value;
}

/* yield(sum), with sum = add(product, out) of the block's only add. */
static bool read_sum(MlirBlock block, bool *integer, MlirValue *product) {
  MlirOperation yield = mlirBlockGetTerminator(block);
  if (!tg_op_is(yield, "linalg.yield") ||
      mlirOperationGetNumOperands(yield) != 1)
    return false;
  MlirOperation sum = tg_value_producer(mlirOperationGetOperand(yield, 0));
  *integer = tg_op_is(sum, "arith.addi");
  return is_binary_with(sum, *integer ? "arith.addi" : "arith.addf",
                        mlirBlockGetArgument(block, 2), product);
}

int tg_block_count_ops(MlirBlock block) {
  int count = 0;
  for (MlirOperation op = mlirBlockGetFirstOperation(block);
       !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op))
    ++count;
  return count;
}

bool tg_op_is_multiply_add(MlirOperation op,
                           enum tg_extension extension[TG_RESULT]) {
  if (mlirOperationGetNumRegions(op) != 1)
    return false;
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  bool integer;
  MlirValue product;
  if (mlirBlockIsNull(block) || mlirBlockGetNumArguments(block) != 3 ||
      !mlirBlockIsNull(mlirBlockGetNextInRegion(block)) ||
      !read_sum(block, &integer, &product))
    return false;
  MlirOperation mul = tg_value_producer(product);
  if (!tg_op_is(mul, integer ? "arith.muli" : "arith.mulf") ||
      !mlirBlockEqual(mlirOperationGetBlock(mul), block))
    return false;
  enum tg_extension found[TG_RESULT];
  MlirValue source[TG_RESULT];
  for (int i = 0; i < TG_RESULT; ++i)
    source[i] = read_extension(mlirOperationGetOperand(mul, i), &found[i]);
  bool swapped = mlirValueEqual(source[1], mlirBlockGetArgument(block, 0));
  /* One operand twice would be a square: both sources have to be there. */
  if (!mlirValueEqual(source[swapped], mlirBlockGetArgument(block, 0)) ||
      !mlirValueEqual(source[!swapped], mlirBlockGetArgument(block, 1)))
    return false;
  extension[TG_LHS] = found[swapped];
  extension[TG_RHS] = found[!swapped];
  return tg_block_count_ops(block) ==
         3 + (found[0] != TG_EXTENSION_NONE) + (found[1] != TG_EXTENSION_NONE);
}

/* In blocks that nothing reaches, a chain of producers may be a circle: what
 * looks along one stops here. */
enum { MAX_PRODUCERS = 64 };

MlirValue tg_value_get_unshaped(MlirValue value) {
  MlirOperation producer = tg_value_producer(value);
  for (int i = 0;
       i < MAX_PRODUCERS && (tg_op_is(producer, "tensor.expand_shape") ||
                             tg_op_is(producer, "tensor.collapse_shape"));
       ++i) {
    value = mlirOperationGetOperand(producer, 0);
    producer = tg_value_producer(value);
  }
  return value;
}

/* The function that the value is an argument of; null where it is none. */
static MlirOperation function_of_argument(MlirValue value) {
  if (!mlirValueIsABlockArgument(value))
    return (MlirOperation){NULL};
  MlirBlock block = mlirBlockArgumentGetOwner(value);
  MlirOperation function = mlirBlockGetParentOperation(block);
  bool entry =
      tg_op_is(function, "func.func") &&
      mlirBlockEqual(block,
                     mlirRegionGetFirstBlock(mlirBlockGetParentRegion(block)));
  return entry ? function : (MlirOperation){NULL};
}

bool tg_value_is_weight(MlirValue value) {
  value = tg_value_get_unshaped(value);
  return tg_op_is(tg_value_producer(value), "arith.constant") ||
         !mlirOperationIsNull(function_of_argument(value));
}

bool tg_argument_has_attribute(MlirOperation function, intptr_t argument,
                               const char *name) {
  MlirAttribute all =
      mlirOperationGetAttributeByName(function, tg_ref("arg_attrs"));
  if (mlirAttributeIsNull(all) || !mlirAttributeIsAArray(all) ||
      argument >= mlirArrayAttrGetNumElements(all))
    return false;
  MlirAttribute own = mlirArrayAttrGetElement(all, argument);
  return mlirAttributeIsADictionary(own) &&
         !mlirAttributeIsNull(
             mlirDictionaryAttrGetElementByName(own, tg_ref(name)));
}

bool tg_value_is_zero_fill(MlirValue value) {
  MlirOperation fill = tg_value_producer(value);
  if (!tg_op_is(fill, "linalg.fill") || mlirOperationGetNumOperands(fill) != 2)
    return false;
  MlirOperation constant = tg_value_producer(mlirOperationGetOperand(fill, 0));
  MlirOperation empty = tg_value_producer(mlirOperationGetOperand(fill, 1));
  if (!tg_op_is(constant, "arith.constant") || !tg_op_is(empty, "tensor.empty"))
    return false;
  MlirAttribute number =
      mlirOperationGetAttributeByName(constant, tg_ref("value"));
  int64_t integer;
  if (tg_attribute_integer(number, &integer))
    return integer == 0;
  if (mlirAttributeIsNull(number) || !mlirAttributeIsAFloat(number))
    return false;
  double zero = mlirFloatAttrGetValueDouble(number);
  return zero == 0.0 && !signbit(zero);
}

MlirValue tg_op_get_source(MlirOperation op, int operand,
                           int dimension[TG_MAX_RANK]) {
  MlirValue value = mlirOperationGetOperand(op, operand);
  intptr_t rank = mlirShapedTypeGetRank(mlirValueGetType(value));
  for (intptr_t d = 0; d < rank && d < TG_MAX_RANK; ++d)
    dimension[d] = (int)d;
  for (int i = 0; i < MAX_PRODUCERS; ++i) {
    MlirOperation producer = tg_value_producer(value);
    if (!tg_op_is(producer, "linalg.transpose") || rank > TG_MAX_RANK ||
        mlirOperationGetNumResults(producer) != 1 ||
        tg_op_has_attribute(producer, "tgraph.skip"))
      return value;
    MlirAttribute permutation =
        mlirOperationGetAttributeByName(producer, tg_ref("permutation"));
    if (mlirAttributeIsNull(permutation) ||
        !mlirAttributeIsADenseI64Array(permutation) ||
        mlirDenseArrayGetNumElements(permutation) != rank)
      return value;
    for (intptr_t d = 0; d < rank; ++d)
      dimension[d] =
          (int)mlirDenseI64ArrayGetElement(permutation, dimension[d]);
    value = mlirOperationGetOperand(producer, 0);
  }
  return value;
}
