/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * sum((a - za) * (b - zb)) over n steps is
 *   sum(a * b) + (n * za * zb - zb * sum(a)) + (-za * sum(b)),
 * also where integers wrap around. The first sum is a kernel, the brackets are
 * tensors of the loops of one input each, which are added to it like a bias. A
 * zero point that is the constant 0 leaves its bracket out.
 */
#include "passes/zero_points.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <string.h>

#include "model/kernel.h"
#include "passes/attribute.h"
#include "passes/build.h"
#include "passes/generic.h"
#include "passes/inspect.h"
#include "passes/passes.h"
#include "passes/stored.h"

enum { MAX_OPERANDS = 8 };

/* One of the two factors: ext(input) - zero. */
struct factor {
  const char *extension; /* the operation's name; NULL: the sum's own type */
  MlirValue
      zero; /* null: there is none, or it is the constant 0. Until the
               sums are built maybe of a type that zero_extension widens */
  const char *zero_extension;
};

struct quantized {
  MlirOperation op;
  struct tg_kernel kernel; /* loops and accesses alone */
  MlirType sum;
  MlirAffineMap maps[MAX_OPERANDS];
  int operand_count;
  struct factor factor[TG_RESULT];
};

/*===-- Reading -----------------------------------------------------------===*/

/* The value under an extension, and the extension's name. */
static MlirValue read_extension(MlirValue value, const char **name) {
  MlirOperation op = tg_value_producer(value);
  *name = tg_op_is(op, "arith.extsi")   ? "arith.extsi"
          : tg_op_is(op, "arith.extui") ? "arith.extui"
                                        : NULL;
  return *name ? mlirOperationGetOperand(op, 0) : value;
}

static bool is_constant_zero(MlirValue value) {
  MlirOperation op = tg_value_producer(value);
  int64_t integer;
  return tg_op_is(op, "arith.constant") &&
         tg_attribute_integer(
             mlirOperationGetAttributeByName(op, tg_ref("value")), &integer) &&
         integer == 0;
}

/* Number of the body's argument that the value is, or -1. */
static intptr_t argument_number(MlirBlock body, MlirValue value) {
  return mlirValueIsABlockArgument(value) &&
                 mlirBlockEqual(mlirBlockArgumentGetOwner(value), body)
             ? mlirBlockArgumentGetArgNumber(value)
             : -1;
}

/* A zero point is a scalar operand or a value from outside of the body. */
static bool read_zero(const struct quantized *q, MlirBlock body,
                      MlirValue value, struct factor *factor) {
  value = read_extension(value, &factor->zero_extension);
  intptr_t argument = argument_number(body, value);
  if (argument >= 0) {
    if (argument < TG_RESULT || argument >= q->operand_count - 1)
      return false;
    value = mlirOperationGetOperand(q->op, argument);
  } else if (mlirValueIsAOpResult(value)) {
    MlirBlock block = mlirOperationGetBlock(mlirOpResultGetOwner(value));
    /* The extension itself may be outside: then it is the value. */
    if (mlirBlockEqual(block, body))
      return false;
  }
  if (!mlirTypeIsAInteger(mlirValueGetType(value)))
    return false;
  if (!is_constant_zero(value))
    factor->zero = value;
  return true;
}

/* ext(argument) or ext(argument) - zero: the argument's number, or -1. */
static intptr_t read_factor(const struct quantized *q, MlirBlock body,
                            MlirValue value, struct factor *factor,
                            int *op_count) {
  *factor = (struct factor){0};
  MlirOperation op = tg_value_producer(value);
  if (tg_op_is(op, "arith.subi")) {
    if (!mlirBlockEqual(mlirOperationGetBlock(op), body) ||
        !read_zero(q, body, mlirOperationGetOperand(op, 1), factor))
      return -1;
    MlirOperation zero = tg_value_producer(mlirOperationGetOperand(op, 1));
    *op_count += 1 + (!mlirOperationIsNull(zero) &&
                      mlirBlockEqual(mlirOperationGetBlock(zero), body));
    value = mlirOperationGetOperand(op, 0);
  }
  value = read_extension(value, &factor->extension);
  *op_count += factor->extension != NULL;
  return argument_number(body, value);
}

/* yield(out + factor * factor) and nothing else, with a subtraction. */
static bool read_body(struct quantized *q) {
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(q->op, 0));
  if (mlirBlockIsNull(body) ||
      mlirBlockGetNumArguments(body) != q->operand_count)
    return false;
  MlirOperation yield = mlirBlockGetTerminator(body);
  if (!tg_op_is(yield, "linalg.yield") ||
      mlirOperationGetNumOperands(yield) != 1)
    return false;
  MlirOperation add = tg_value_producer(mlirOperationGetOperand(yield, 0));
  if (!tg_op_is(add, "arith.addi"))
    return false;
  MlirValue out = mlirBlockGetArgument(body, q->operand_count - 1);
  bool swapped = mlirValueEqual(mlirOperationGetOperand(add, 1), out);
  MlirOperation mul =
      tg_value_producer(mlirOperationGetOperand(add, swapped ? 0 : 1));
  if (!mlirValueEqual(mlirOperationGetOperand(add, swapped ? 1 : 0), out) ||
      !tg_op_is(mul, "arith.muli"))
    return false;
  int op_count = 3;
  intptr_t argument[TG_RESULT];
  struct factor factor[TG_RESULT];
  for (int i = 0; i < TG_RESULT; ++i) {
    argument[i] = read_factor(q, body, mlirOperationGetOperand(mul, i),
                              &factor[i], &op_count);
    if (argument[i] < 0 || argument[i] >= TG_RESULT)
      return false;
    q->factor[argument[i]] = factor[i];
  }
  /* A plain product has configurations as it is. */
  return argument[0] != argument[1] && op_count == tg_block_count_ops(body) &&
         op_count >
             3 + (factor[0].extension != NULL) + (factor[1].extension != NULL);
}

/* Known extents, a result whose dimensions are loops, and both inputs in each
 * reduction: n steps of it are n elements of either. */
static bool read_loops(struct quantized *q) {
  if (!tg_op_read_accesses(q->op, &q->kernel))
    return false;
  const struct tg_kernel *kernel = &q->kernel;
  MlirAffineMap result = q->maps[q->operand_count - 1];
  for (intptr_t d = 0; d < mlirAffineMapGetNumResults(result); ++d)
    if (!mlirAffineExprIsADim(mlirAffineMapGetResult(result, d)))
      return false;
  for (int l = 0; l < kernel->loop_count; ++l)
    if (kernel->extent[l] == 0 ||
        (kernel->reduction[l] && (!tg_kernel_uses(kernel, TG_LHS, l) ||
                                  !tg_kernel_uses(kernel, TG_RHS, l))))
      return false;
  for (int o = 0; o < TG_OPERAND_COUNT; ++o)
    for (int d = 0; d < kernel->operand[o].rank; ++d)
      if (kernel->operand[o].extent[d] == 0)
        return false;
  return true;
}

static bool read_quantized(MlirOperation op, struct quantized *q) {
  *q = (struct quantized){.op = op};
  if (!tg_op_name_starts_with(op, "linalg.") ||
      mlirOperationGetNumRegions(op) != 1 ||
      mlirOperationGetNumResults(op) != 1 || tg_op_is_skipped(op) ||
      tg_op_has_attribute(op, TG_CONFIG_ATTRIBUTE))
    return false;
  q->operand_count = tg_op_get_maps(op, MAX_OPERANDS, q->maps);
  if (q->operand_count < TG_OPERAND_COUNT)
    return false;
  MlirType type = mlirValueGetType(mlirOperationGetResult(op, 0));
  if (!mlirTypeIsARankedTensor(type))
    return false;
  q->sum = mlirShapedTypeGetElementType(type);
  return mlirTypeIsAInteger(q->sum) && read_body(q) && read_loops(q);
}

/*===-- Building ----------------------------------------------------------===*/

static MlirValue combine(struct tg_builder *builder, const char *name,
                         MlirValue a, MlirValue b) {
  MlirValue operands[2] = {a, b};
  return tg_build_1(builder, name, 2, operands, mlirValueGetType(a));
}

static MlirValue extend(struct tg_builder *builder, MlirValue value,
                        const char *extension, MlirType type) {
  return extension ? tg_build_1(builder, extension, 1, &value, type) : value;
}

/* sum(a * b), onto what the operation started from. */
static MlirOperation build_kernel(struct tg_builder *outside,
                                  const struct quantized *q) {
  struct tg_generic generic = {.loop_count = q->kernel.loop_count};
  memcpy(generic.reduction, q->kernel.reduction, sizeof(generic.reduction));
  const int operands[TG_OPERAND_COUNT] = {0, 1, q->operand_count - 1};
  for (int o = 0; o < TG_OPERAND_COUNT; ++o)
    tg_generic_add_operand(&generic,
                           mlirOperationGetOperand(q->op, operands[o]),
                           q->maps[operands[o]]);
  tg_generic_begin(&generic, outside->location);
  MlirValue factor[TG_RESULT];
  for (int o = 0; o < TG_RESULT; ++o)
    factor[o] = extend(&generic.builder, tg_generic_argument(&generic, o),
                       q->factor[o].extension, q->sum);
  MlirValue product =
      combine(&generic.builder, "arith.muli", factor[0], factor[1]);
  return tg_generic_end(outside, &generic,
                        combine(&generic.builder, "arith.addi",
                                tg_generic_argument(&generic, TG_RESULT),
                                product));
}

/* The loops that one input's bracket has: the input's own, in their order. */
struct bracket {
  int loop_count;
  int loop[TG_MAX_LOOPS];   /* the operation's */
  int number[TG_MAX_LOOPS]; /* the other way round; -1: not there */
};

static struct bracket make_bracket(const struct quantized *q, int input) {
  struct bracket bracket = {0};
  for (int l = 0; l < q->kernel.loop_count; ++l) {
    bool used = tg_kernel_uses(&q->kernel, input, l);
    bracket.number[l] = used ? bracket.loop_count : -1;
    if (used)
      bracket.loop[bracket.loop_count++] = l;
  }
  return bracket;
}

/* A map of the operation's loops as one of the bracket's. */
static MlirAffineMap renumber(MlirContext context, MlirAffineMap map,
                              const struct bracket *bracket) {
  MlirAffineExpr dims[TG_MAX_LOOPS], results[TG_MAX_RANK];
  intptr_t loop_count = mlirAffineMapGetNumDims(map);
  intptr_t rank = mlirAffineMapGetNumResults(map);
  for (intptr_t l = 0; l < loop_count; ++l)
    dims[l] = bracket->number[l] < 0
                  ? mlirAffineConstantExprGet(context, 0)
                  : mlirAffineDimExprGet(context, bracket->number[l]);
  MlirAffineMap numbers =
      mlirAffineMapGet(context, bracket->loop_count, 0, loop_count, dims);
  for (intptr_t r = 0; r < rank; ++r)
    results[r] = mlirAffineExprCompose(mlirAffineMapGetResult(map, r), numbers);
  return mlirAffineMapGet(context, bracket->loop_count, 0, rank, results);
}

/* The bracket's loops of one kind as a tensor's dimensions. */
static MlirAffineMap bracket_map(MlirContext context, const struct quantized *q,
                                 const struct bracket *bracket, bool reduction,
                                 int64_t *shape) {
  MlirAffineExpr results[TG_MAX_LOOPS];
  intptr_t rank = 0;
  for (int b = 0; b < bracket->loop_count; ++b) {
    int l = bracket->loop[b];
    if (q->kernel.reduction[l] != reduction)
      continue;
    shape[rank] = q->kernel.extent[l];
    results[rank++] = mlirAffineDimExprGet(context, b);
  }
  return mlirAffineMapGet(context, bracket->loop_count, 0, rank, results);
}

/* start - zero * sum(input), of the parallel loops of the input. */
static MlirValue build_bracket(struct tg_builder *outside,
                               const struct quantized *q, int input,
                               MlirValue zero, MlirValue start) {
  MlirContext context = outside->context;
  struct bracket bracket = make_bracket(q, input);
  struct tg_generic generic = {.loop_count = bracket.loop_count};
  for (int b = 0; b < bracket.loop_count; ++b)
    generic.reduction[b] = q->kernel.reduction[bracket.loop[b]];
  tg_generic_add_operand(&generic, mlirOperationGetOperand(q->op, input),
                         renumber(context, q->maps[input], &bracket));
  /* The extents of a window are no dimension of the image: an empty tensor
   * has them, as in a pooling. */
  int64_t shape[TG_MAX_LOOPS];
  MlirAffineMap window = bracket_map(context, q, &bracket, true, shape);
  MlirAttribute no_encoding = {NULL};
  MlirType window_type = mlirRankedTensorTypeGet(
      mlirAffineMapGetNumResults(window), shape, q->sum, no_encoding);
  if (!mlirAffineMapIsProjectedPermutation(generic.maps[0]))
    tg_generic_add_operand(
        &generic, tg_build_1(outside, "tensor.empty", 0, NULL, window_type),
        window);
  MlirAffineMap result = bracket_map(context, q, &bracket, false, shape);
  MlirValue minus_zero =
      combine(outside, "arith.subi", tg_build_number(outside, q->sum, 0), zero);
  tg_generic_add_operand(
      &generic,
      tg_build_fill(outside, start, mlirAffineMapGetNumResults(result), shape),
      result);
  tg_generic_begin(&generic, outside->location);
  MlirValue factor = extend(&generic.builder, tg_generic_argument(&generic, 0),
                            q->factor[input].extension, q->sum);
  MlirValue product =
      combine(&generic.builder, "arith.muli", factor, minus_zero);
  MlirValue before = tg_generic_argument(&generic, generic.operand_count - 1);
  return mlirOperationGetResult(
      tg_generic_end(outside, &generic,
                     combine(&generic.builder, "arith.addi", before, product)),
      0);
}

/* The bracket's dimensions among those of the result. */
static MlirAffineMap correction_map(MlirContext context,
                                    const struct quantized *q, int input) {
  MlirAffineMap result = q->maps[q->operand_count - 1];
  intptr_t rank = mlirAffineMapGetNumResults(result), count = 0;
  MlirAffineExpr results[TG_MAX_LOOPS];
  for (int l = 0; l < q->kernel.loop_count; ++l)
    for (intptr_t r = 0; r < rank; ++r)
      if (tg_kernel_uses(&q->kernel, input, l) &&
          mlirAffineDimExprGetPosition(mlirAffineMapGetResult(result, r)) == l)
        results[count++] = mlirAffineDimExprGet(context, r);
  return mlirAffineMapGet(context, rank, 0, count, results);
}

/* kernel + brackets, elementwise. */
static MlirValue build_correction(struct tg_builder *outside,
                                  const struct quantized *q, MlirValue kernel,
                                  const MlirValue brackets[TG_RESULT]) {
  MlirContext context = outside->context;
  MlirType type = mlirValueGetType(kernel);
  intptr_t rank = mlirShapedTypeGetRank(type);
  MlirAffineMap identity = mlirAffineMapMultiDimIdentityGet(context, rank);
  struct tg_generic generic = {.loop_count = (int)rank};
  tg_generic_add_operand(&generic, kernel, identity);
  for (int o = 0; o < TG_RESULT; ++o)
    if (!mlirValueIsNull(brackets[o]))
      tg_generic_add_operand(&generic, brackets[o],
                             correction_map(context, q, o));
  tg_generic_add_operand(
      &generic, tg_build_1(outside, "tensor.empty", 0, NULL, type), identity);
  tg_generic_begin(&generic, outside->location);
  MlirValue value = tg_generic_argument(&generic, 0);
  for (int o = 1; o < generic.operand_count - 1; ++o)
    value = combine(&generic.builder, "arith.addi", value,
                    tg_generic_argument(&generic, o));
  return mlirOperationGetResult(tg_generic_end(outside, &generic, value), 0);
}

/* n * za * zb */
static MlirValue build_start(struct tg_builder *outside,
                             const struct quantized *q,
                             const MlirValue zero[TG_RESULT]) {
  uint64_t steps = 1; /* wraps around like the rest */
  for (int l = 0; l < q->kernel.loop_count; ++l)
    if (q->kernel.reduction[l])
      steps *= (uint64_t)q->kernel.extent[l];
  MlirValue product =
      combine(outside, "arith.muli", zero[TG_LHS], zero[TG_RHS]);
  return combine(outside, "arith.muli", product,
                 tg_build_number(outside, q->sum, (int32_t)(uint32_t)steps));
}

static MlirValue build_sums(struct tg_builder *outside,
                            const struct quantized *q, MlirValue kernel) {
  MlirValue zero[TG_RESULT] = {0}, brackets[TG_RESULT] = {0};
  for (int o = 0; o < TG_RESULT; ++o)
    if (!mlirValueIsNull(q->factor[o].zero))
      zero[o] = extend(outside, q->factor[o].zero, q->factor[o].zero_extension,
                       q->sum);
  bool left = !mlirValueIsNull(zero[TG_LHS]);
  bool right = !mlirValueIsNull(zero[TG_RHS]);
  if (!left && !right)
    return kernel;
  if (right) /* the left input's sums, times the right one's zero point */
    brackets[TG_LHS] =
        build_bracket(outside, q, TG_LHS, zero[TG_RHS],
                      left ? build_start(outside, q, zero)
                           : tg_build_number(outside, q->sum, 0));
  if (left)
    brackets[TG_RHS] = build_bracket(outside, q, TG_RHS, zero[TG_LHS],
                                     tg_build_number(outside, q->sum, 0));
  return build_correction(outside, q, kernel, brackets);
}

/*===-- The stage ---------------------------------------------------------===*/

static MlirWalkResult expand(MlirOperation op, void *data) {
  (void)data;
  struct quantized q;
  if (!read_quantized(op, &q))
    return MlirWalkResultAdvance;
  MlirLocation location = mlirOperationGetLocation(op);
  MlirBlock block = mlirBlockCreate(0, NULL, NULL);
  struct tg_builder outside;
  tg_builder_init(&outside, block, location, q.sum, 1);
  MlirOperation product = build_kernel(&outside, &q);
  struct tg_kernel kernel;
  bool served = tg_kernel_from_op(product, &kernel);
  if (served) {
    if (!tg_op_is(op, "linalg.generic"))
      mlirOperationSetDiscardableAttributeByName(
          product, tg_ref(TG_WAS_ATTRIBUTE),
          mlirStringAttrGet(outside.context, tg_op_name(op)));
    MlirValue sum =
        build_sums(&outside, &q, mlirOperationGetResult(product, 0));
    tg_move_before(block, op);
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0), sum);
    mlirOperationDestroy(op);
  }
  mlirBlockDestroy(block);
  return served ? MlirWalkResultSkip : MlirWalkResultAdvance;
}

void tg_expand_zero_points(MlirOperation module) {
  mlirContextGetOrLoadDialect(mlirOperationGetContext(module),
                              tg_ref("tensor"));
  mlirOperationWalk(module, expand, NULL, MlirWalkPostOrder);
}
