/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Reads structured operations as nests.
 */
#include "passes/nest.h"

#include <float.h>
#include <math.h>
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <string.h>

#include "model/text.h"
#include "passes/inspect.h"
#include "passes/lanes.h"
#include "passes/stored.h"

/* Elements of one operand, so that no address of any element overflows. */
static const int64_t max_elements = INT64_C(1) << 40;

MlirBlock tg_nest_body(MlirOperation op) {
  return mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
}

MlirValue tg_nest_yielded(MlirOperation op, int result) {
  MlirOperation yield = mlirBlockGetTerminator(tg_nest_body(op));
  return mlirOperationGetOperand(yield, result);
}

static bool has_uses(MlirValue value) {
  return !mlirOpOperandIsNull(mlirValueGetFirstUse(value));
}

/*===-- Operands ----------------------------------------------------------===*/

static bool is_static_tensor(MlirType type) {
  if (!mlirTypeIsARankedTensor(type) || !mlirShapedTypeHasStaticShape(type) ||
      !mlirAttributeIsNull(mlirRankedTensorTypeGetEncoding(type)) ||
      !tg_lanes_hold(mlirShapedTypeGetElementType(type)))
    return false;
  int64_t elements = 1;
  for (intptr_t d = 0; d < mlirShapedTypeGetRank(type); ++d) {
    int64_t extent = mlirShapedTypeGetDimSize(type, d);
    if (extent < 1 || extent > max_elements / elements)
      return false;
    elements *= extent;
  }
  return true;
}

static int element_nbytes(MlirType type) {
  if (mlirTypeIsAShaped(type))
    type = mlirShapedTypeGetElementType(type);
  if (mlirTypeIsAIndex(type) || mlirTypeIsAF64(type))
    return 8;
  if (mlirTypeIsAInteger(type))
    return ((int)mlirIntegerTypeGetWidth(type) + 7) / 8;
  return mlirTypeIsAF32(type) ? 4 : 2;
}

static bool read_operand(MlirOperation op, int o, MlirAffineMap map,
                         struct tg_nest *nest) {
  MlirType type = mlirValueGetType(mlirOperationGetOperand(op, o));
  bool scalar = !mlirTypeIsAShaped(type);
  if (scalar ? (o >= nest->input_count || !tg_lanes_hold(type) ||
                mlirAffineMapGetNumResults(map) != 0)
             : !is_static_tensor(type))
    return false;
  nest->element_nbytes[o] = element_nbytes(type);
  nest->read[o] = has_uses(mlirBlockGetArgument(tg_nest_body(op), o));
  return tg_access_from_map(map, type, &nest->operand[o]);
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

static bool uses_loop(const struct tg_access *access, int loop) {
  for (int d = 0; d < access->rank; ++d)
    if (access->coefficient[d][loop])
      return true;
  return false;
}

/* Extents come from dimensions that a loop steps alone. What the results do
 * not use is a reduction; all of them have to agree, and store each element
 * in one place. */
static bool read_loops(MlirOperation op, struct tg_nest *nest) {
  for (int o = 0; o < nest->operand_count; ++o)
    for (int d = 0; d < nest->operand[o].rank; ++d) {
      int l = plain_loop(&nest->operand[o], d, nest->loop_count);
      if (l >= 0)
        nest->extent[l] = nest->operand[o].extent[d];
      else if (o >= nest->input_count && nest->operand[o].extent[d] != 1)
        return false;
    }
  MlirAttribute kinds =
      mlirOperationGetAttributeByName(op, tg_ref("iterator_types"));
  MlirContext context = mlirOperationGetContext(op);
  for (int l = 0; l < nest->loop_count; ++l) {
    if (nest->extent[l] < 1)
      return false;
    nest->reduction[l] = !uses_loop(&nest->operand[nest->input_count], l);
    for (int o = nest->input_count; o < nest->operand_count; ++o)
      if (uses_loop(&nest->operand[o], l) == nest->reduction[l])
        return false;
    if (!mlirAttributeIsNull(kinds) && mlirAttributeIsAArray(kinds) &&
        !mlirAttributeEqual(mlirArrayAttrGetElement(kinds, l),
                            tg_iterator_kind(context, nest->reduction[l])))
      return false;
  }
  return true;
}

/*===-- Reductions in any order -------------------------------------------===*/

enum identity {
  ZERO,
  ONE,
  ALL_BITS,
  NEGATIVE_ZERO,
  NEGATIVE_INFINITY,
  POSITIVE_INFINITY,
  NOT_A_NUMBER,
  LEAST_SIGNED,
  GREATEST_SIGNED
};

static bool find_identity(MlirOperation op, enum identity *identity) {
  static const struct {
    const char *name;
    enum identity identity;
  } rows[] = {
#define COMBINER(name, identity) {name, identity},
#include "passes/combiner.def"
  };
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i)
    if (tg_op_is(op, rows[i].name)) {
      *identity = rows[i].identity;
      return true;
    }
  return false;
}

/* Is the flag, or all of them, among the operation's fastmath flags? */
static bool has_flag(MlirOperation op, const char *flag) {
  MlirAttribute flags = mlirOperationGetAttributeByName(op, tg_ref("fastmath"));
  if (mlirAttributeIsNull(flags))
    return false;
  struct tg_text text = {0};
  mlirAttributePrint(flags, tg_append_ref, &text);
  bool found =
      text.data && (strstr(text.data, flag) || strstr(text.data, "<fast>"));
  tg_text_destroy(&text);
  return found;
}

static double greatest_finite(MlirType type) {
  return mlirTypeIsAF16(type)    ? 0x1.ffcp15
         : mlirTypeIsABF16(type) ? 0x1.fep127
         : mlirTypeIsAF32(type)  ? (double)FLT_MAX
                                 : DBL_MAX;
}

/* What the flags exclude would be poison: next to no NaN an infinity changes
 * nothing, next to no infinity the greatest finite number. */
static double float_identity(MlirOperation combiner, enum identity identity) {
  bool maximum = identity == NEGATIVE_INFINITY;
  if (identity == NOT_A_NUMBER) {
    if (!has_flag(combiner, "nnan"))
      return (double)NAN;
    maximum = tg_op_is(combiner, "arith.maxnumf");
  } else if (identity != NEGATIVE_INFINITY && identity != POSITIVE_INFINITY) {
    return identity == ONE ? 1 : identity == NEGATIVE_ZERO ? -0.0 : 0;
  }
  double most = has_flag(combiner, "ninf")
                    ? greatest_finite(
                          mlirValueGetType(mlirOperationGetResult(combiner, 0)))
                    : HUGE_VAL;
  return maximum ? -most : most;
}

MlirAttribute tg_combiner_identity(MlirOperation combiner) {
  enum identity identity;
  if (!find_identity(combiner, &identity))
    return mlirAttributeGetNull();
  MlirType type = mlirValueGetType(mlirOperationGetResult(combiner, 0));
  MlirContext context = mlirOperationGetContext(combiner);
  if (mlirTypeIsAInteger(type) || mlirTypeIsAIndex(type)) {
    unsigned width =
        mlirTypeIsAIndex(type) ? 64 : mlirIntegerTypeGetWidth(type);
    int64_t least = (int64_t)(UINT64_MAX << (width - 1));
    int64_t value = identity == ONE               ? 1
                    : identity == ALL_BITS        ? -1
                    : identity == LEAST_SIGNED    ? least
                    : identity == GREATEST_SIGNED ? -(least + 1)
                                                  : 0;
    return mlirIntegerAttrGet(type, value);
  }
  return mlirFloatAttrDoubleGet(context, type,
                                float_identity(combiner, identity));
}

static bool is_initial_value(MlirOperation op, MlirValue value) {
  int first =
      (int)(mlirOperationGetNumOperands(op) - mlirOperationGetNumResults(op));
  MlirBlock body = tg_nest_body(op);
  return mlirValueIsABlockArgument(value) &&
         mlirBlockEqual(mlirBlockArgumentGetOwner(value), body) &&
         mlirBlockArgumentGetArgNumber(value) >= first;
}

/* Does the value depend on what any result was before? Bodies are small. */
static bool depends_on_initial(MlirOperation op, MlirValue value, int depth) {
  if (is_initial_value(op, value) || depth > 64)
    return true;
  MlirOperation producer = tg_value_producer(value);
  if (mlirOperationIsNull(producer) ||
      !mlirBlockEqual(mlirOperationGetBlock(producer), tg_nest_body(op)))
    return false;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(producer); ++i)
    if (depends_on_initial(op, mlirOperationGetOperand(producer, i), depth + 1))
      return true;
  return false;
}

/* A sum that says that it doesn't overflow says so of its own order. */
static bool has_overflow_flags(MlirOperation op) {
  MlirAttribute flags =
      mlirOperationGetAttributeByName(op, tg_ref("overflowFlags"));
  return !mlirAttributeIsNull(flags) &&
         !mlirAttributeEqual(
             flags, mlirAttributeParseGet(mlirOperationGetContext(op),
                                          tg_ref("#arith.overflow<none>")));
}

MlirOperation tg_nest_combiner(MlirOperation op, int result) {
  const MlirOperation none = {NULL};
  MlirOperation combiner = tg_value_producer(tg_nest_yielded(op, result));
  enum identity unused;
  if (mlirOperationIsNull(combiner) || !find_identity(combiner, &unused) ||
      !mlirBlockEqual(mlirOperationGetBlock(combiner), tg_nest_body(op)))
    return none;
  int input_count =
      (int)(mlirOperationGetNumOperands(op) - mlirOperationGetNumResults(op));
  if (has_overflow_flags(combiner))
    return none;
  MlirValue before =
      mlirBlockGetArgument(tg_nest_body(op), input_count + result);
  MlirValue a = mlirOperationGetOperand(combiner, 0);
  MlirValue b = mlirOperationGetOperand(combiner, 1);
  MlirValue other = mlirValueEqual(a, before) ? b : a;
  if (!mlirValueEqual(a, before) && !mlirValueEqual(b, before))
    return none;
  return depends_on_initial(op, other, 0) ? none : combiner;
}

/*===-- Loops that may be vectors -----------------------------------------===*/

static bool accept_capture(MlirValue value, void *data) {
  (void)data;
  MlirType type = mlirValueGetType(value);
  return is_static_tensor(type) || tg_lanes_hold(type);
}

static bool is_vectorizable(MlirOperation op, const struct tg_nest *nest,
                            int loop) {
  bool varying[TG_MAX_NEST_OPERANDS];
  for (int o = 0; o < nest->operand_count; ++o)
    varying[o] = uses_loop(&nest->operand[o], loop) || o >= nest->input_count;
  if (!tg_lanes_can(tg_nest_body(op), varying, loop, accept_capture, NULL))
    return false;
  if (!nest->reduction[loop])
    return true;
  for (int r = 0; r < nest->operand_count - nest->input_count; ++r)
    if (has_uses(mlirOperationGetResult(op, r)) &&
        mlirOperationIsNull(tg_nest_combiner(op, r)))
      return false;
  return true;
}

static int count_body_ops(MlirOperation op) {
  int count = 0;
  for (MlirOperation inner = mlirBlockGetFirstOperation(tg_nest_body(op));
       !mlirOperationIsNull(inner); inner = mlirOperationGetNextInBlock(inner))
    count += tg_op_name_starts_with(inner, "math.") ? 16 : 1;
  return count - 1;
}

struct captures {
  MlirValue *values;
  int count, capacity;
};

static bool collect_capture(MlirValue value, void *data) {
  struct captures *captures = data;
  for (int i = 0; i < captures->count; ++i)
    if (mlirValueEqual(captures->values[i], value))
      return true;
  if (captures->count == captures->capacity)
    return false;
  captures->values[captures->count++] = value;
  return true;
}

int tg_nest_captures(MlirOperation op, int capacity, MlirValue *values) {
  bool varying[TG_MAX_NEST_OPERANDS] = {false};
  struct captures captures = {values, 0, capacity};
  return tg_lanes_can(tg_nest_body(op), varying, -1, collect_capture, &captures)
             ? captures.count
             : -1;
}

/* A result without uses has no tensor; what it starts from must be a fill. */
static bool has_lost_start(MlirOperation op, const struct tg_nest *nest) {
  for (int o = nest->input_count; o < nest->operand_count; ++o)
    if (nest->read[o] &&
        !has_uses(mlirOperationGetResult(op, o - nest->input_count)) &&
        !tg_op_is(tg_value_producer(mlirOperationGetOperand(op, o)),
                  "linalg.fill"))
      return true;
  return false;
}

static bool has_one_block(MlirOperation op) {
  if (mlirOperationGetNumRegions(op) != 1)
    return false;
  MlirBlock body = tg_nest_body(op);
  return !mlirBlockIsNull(body) &&
         mlirBlockIsNull(mlirBlockGetNextInRegion(body)) &&
         mlirBlockGetNumArguments(body) == mlirOperationGetNumOperands(op);
}

bool tg_nest_from_op(MlirOperation op, struct tg_nest *nest) {
  memset(nest, 0, sizeof(*nest));
  MlirAffineMap maps[TG_MAX_NEST_OPERANDS];
  if (!tg_op_name_starts_with(op, "linalg.") || tg_op_is(op, "linalg.fill") ||
      tg_op_is(op, "linalg.fill_rng_2d") || !has_one_block(op))
    return false;
  int count = tg_op_get_maps(op, TG_MAX_NEST_OPERANDS, maps);
  int results = (int)mlirOperationGetNumResults(op);
  if (count < 1 || results < 1 || results > count ||
      mlirAffineMapGetNumDims(maps[0]) > TG_MAX_LOOPS ||
      mlirAffineMapGetNumDims(maps[0]) < 1)
    return false;
  nest->loop_count = (int)mlirAffineMapGetNumDims(maps[0]);
  nest->operand_count = count;
  nest->input_count = count - results;
  for (int o = 0; o < count; ++o)
    if (!read_operand(op, o, maps[o], nest))
      return false;
  if (tg_layouts_check(op) || !read_loops(op, nest))
    return false;
  for (int o = 0; o < count && tg_op_has_layouts(op); ++o) {
    struct tg_stored stored;
    tg_layouts_get(op, o, &stored);
    tg_access_permute(&nest->operand[o], &stored);
  }
  MlirValue captures[TG_MAX_NEST_CAPTURES];
  if (tg_nest_captures(op, TG_MAX_NEST_CAPTURES, captures) < 0 ||
      has_lost_start(op, nest))
    return false;
  nest->body_ops = count_body_ops(op);
  bool any = false;
  for (int l = 0; l < nest->loop_count; ++l) {
    nest->vectorizable[l] = is_vectorizable(op, nest, l);
    any |= nest->vectorizable[l];
  }
  return any;
}
