/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What is known of an operation's result: type, shape, window, slice, padding.
 * Anything that an operation does not say, or says only at run time, is 0.
 */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <string.h>

#include "passes/import.h"
#include "passes/inspect.h"

enum { MAX_NUMBERS = 64, INDEX_NBITS = 64 };

/* Widths without a column of their own count as the next larger one; the size
 * in bits stays exact. */
static void set_integer(MlirType type, struct tg_node_facts *node) {
  unsigned nbits = mlirIntegerTypeGetWidth(type);
  bool is_unsigned = mlirIntegerTypeIsUnsigned(type);
  int step = nbits <= 8 ? 0 : nbits <= 16 ? 1 : nbits <= 32 ? 2 : 3;
  node->element_nbits = nbits;
  if (nbits == 1)
    node->element_type = TG_ELEMENT_PRED;
  else if (nbits > 64)
    node->element_type = TG_ELEMENT_OPAQUE;
  else
    node->element_type = (enum tg_element_type)(
        (int)(is_unsigned ? TG_ELEMENT_U8 : TG_ELEMENT_S8) + step);
}

static void set_float(MlirType type, struct tg_node_facts *node) {
  node->element_nbits = mlirFloatTypeGetWidth(type);
  node->element_type = mlirTypeIsAF32(type)    ? TG_ELEMENT_F32
                       : mlirTypeIsAF64(type)  ? TG_ELEMENT_F64
                       : mlirTypeIsAF16(type)  ? TG_ELEMENT_F16
                       : mlirTypeIsABF16(type) ? TG_ELEMENT_BF16
                                               : TG_ELEMENT_OPAQUE;
}

static void set_complex(MlirType type, struct tg_node_facts *node) {
  MlirType part = mlirComplexTypeGetElementType(type);
  node->element_type = mlirTypeIsAF32(part)   ? TG_ELEMENT_C64
                       : mlirTypeIsAF64(part) ? TG_ELEMENT_C128
                                              : TG_ELEMENT_OPAQUE;
  if (mlirTypeIsAFloat(part))
    node->element_nbits = 2 * (int64_t)mlirFloatTypeGetWidth(part);
  else if (mlirTypeIsAInteger(part))
    node->element_nbits = 2 * (int64_t)mlirIntegerTypeGetWidth(part);
}

static void set_element(MlirType type, struct tg_node_facts *node) {
  if (mlirTypeIsAInteger(type)) {
    set_integer(type, node);
  } else if (mlirTypeIsAFloat(type)) {
    set_float(type, node);
  } else if (mlirTypeIsAComplex(type)) {
    set_complex(type, node);
  } else if (mlirTypeIsAIndex(type)) {
    node->element_type = TG_ELEMENT_S64;
    node->element_nbits = INDEX_NBITS;
  } else {
    node->element_type = TG_ELEMENT_OPAQUE;
  }
}

static void set_type(MlirType type, struct tg_node_facts *node) {
  if (mlirTypeIsATuple(type)) {
    node->element_type = TG_ELEMENT_TUPLE;
    node->tuple_size = mlirTupleTypeGetNumTypes(type);
    return;
  }
  if (!mlirTypeIsAShaped(type)) {
    set_element(type, node);
    return;
  }
  set_element(mlirShapedTypeGetElementType(type), node);
  if (!mlirShapedTypeHasRank(type))
    return;
  int64_t rank = mlirShapedTypeGetRank(type);
  for (int64_t d = 0; d < rank; ++d) {
    int64_t extent = mlirShapedTypeGetDimSize(type, d);
    tg_dims_push(&node->shape,
                 mlirShapedTypeIsDynamicSize(extent) ? 0 : extent);
    tg_dims_push(&node->layout, rank - 1 - d);
  }
}

/* The result's type; for a return or a yield what it passes on. */
static void set_result(MlirOperation op, struct tg_node_facts *node) {
  intptr_t results = mlirOperationGetNumResults(op);
  bool passes_on = results == 0 &&
                   (tg_op_is(op, "func.return") || tg_op_is(op, "scf.yield"));
  intptr_t count = passes_on ? mlirOperationGetNumOperands(op) : results;
  if (count == 1) {
    set_type(mlirValueGetType(passes_on ? mlirOperationGetOperand(op, 0)
                                        : mlirOperationGetResult(op, 0)),
             node);
  } else if (count == 0 && !passes_on) {
    node->element_type = TG_ELEMENT_TOKEN;
  } else {
    node->element_type = TG_ELEMENT_TUPLE;
    node->tuple_size = count;
  }
}

/* The numbers of a static_* attribute; a dynamic one is 0. Returns how many
 * there are, 0 without the attribute, at most MAX_NUMBERS. */
static int read_numbers(MlirOperation op, const char *name, int64_t *numbers) {
  MlirAttribute list = mlirOperationGetAttributeByName(op, tg_ref(name));
  if (mlirAttributeIsNull(list) || !mlirAttributeIsADenseI64Array(list))
    return 0;
  intptr_t count = mlirDenseArrayGetNumElements(list);
  if (count > MAX_NUMBERS)
    count = MAX_NUMBERS;
  for (intptr_t i = 0; i < count; ++i) {
    numbers[i] = mlirDenseI64ArrayGetElement(list, i);
    if (mlirShapedTypeIsDynamicSize(numbers[i]))
      numbers[i] = 0;
  }
  return (int)count;
}

static void push_numbers(struct tg_dims *dims, const int64_t *numbers,
                         int count) {
  for (int i = 0; i < count; ++i)
    tg_dims_push(dims, numbers[i]);
}

static bool has_dynamic_offset(MlirOperation op) {
  MlirAttribute list =
      mlirOperationGetAttributeByName(op, tg_ref("static_offsets"));
  for (intptr_t i = 0; i < mlirDenseArrayGetNumElements(list); ++i)
    if (mlirShapedTypeIsDynamicSize(mlirDenseI64ArrayGetElement(list, i)))
      return true;
  return false;
}

/* limit = one past the last element taken. */
static void set_slice(MlirOperation op, struct tg_node_facts *node) {
  int64_t start[MAX_NUMBERS], size[MAX_NUMBERS], stride[MAX_NUMBERS];
  int count = read_numbers(op, "static_offsets", start);
  if (read_numbers(op, "static_sizes", size) != count ||
      read_numbers(op, "static_strides", stride) != count)
    return;
  push_numbers(&node->slice_start, start, count);
  push_numbers(&node->slice_stride, stride, count);
  if (count > 0 && has_dynamic_offset(op))
    push_numbers(&node->dynamic_slice_sizes, size, count);
  for (int d = 0; d < count; ++d) {
    int64_t reach, limit;
    bool fits = size[d] > 0 &&
                !__builtin_mul_overflow(size[d] - 1, stride[d], &reach) &&
                !__builtin_add_overflow(start[d], reach, &limit) &&
                !__builtin_add_overflow(limit, 1, &limit);
    tg_dims_push(&node->slice_limit, fits ? limit : 0);
  }
}

static void set_padding(MlirOperation op, struct tg_node_facts *node) {
  int64_t numbers[MAX_NUMBERS];
  push_numbers(&node->padding_low, numbers,
               read_numbers(op, "static_low", numbers));
  push_numbers(&node->padding_high, numbers,
               read_numbers(op, "static_high", numbers));
}

static void set_window(MlirOperation op, enum tg_opcode opcode,
                       struct tg_node_facts *node) {
  struct tg_kernel kernel;
  memset(&kernel, 0, sizeof kernel);
  if (!tg_op_read_accesses(op, &kernel))
    return;
  int64_t low[MAX_NUMBERS], high[MAX_NUMBERS];
  MlirOperation pad = tg_value_producer(mlirOperationGetOperand(op, 0));
  int rank = kernel.operand[TG_LHS].rank;
  bool padded = tg_op_is(pad, "tensor.pad") &&
                read_numbers(pad, "static_low", low) == rank &&
                read_numbers(pad, "static_high", high) == rank;
  if (opcode == TG_OPCODE_convolution)
    tg_node_set_convolution(node, &kernel, padded ? low : NULL,
                            padded ? high : NULL);
  else
    tg_node_set_pooling(node, &kernel, padded ? low : NULL,
                        padded ? high : NULL);
}

/*
 * XLA's `dimensions`: of a transpose, the input's dimension for each of the
 * result; of a broadcast, the result's for each of the input; of a reduce, the
 * input's that disappear.
 */
static void set_dimensions(MlirOperation op, enum tg_opcode opcode,
                           struct tg_node_facts *node) {
  MlirAffineMap maps[2];
  struct tg_access access[2];
  if (tg_op_get_maps(op, 2, maps) != 2)
    return;
  for (int o = 0; o < 2; ++o)
    if (!tg_access_from_map(maps[o],
                            mlirValueGetType(mlirOperationGetOperand(op, o)),
                            &access[o]))
      return;
  const struct tg_access *from = &access[opcode == TG_OPCODE_transpose];
  const struct tg_access *to = &access[opcode != TG_OPCODE_transpose];
  int loop_count = (int)mlirAffineMapGetNumDims(maps[0]);
  for (int d = 0; d < from->rank; ++d)
    for (int l = 0; l < loop_count; ++l) {
      if (from->coefficient[d][l] == 0)
        continue;
      int other = tg_access_dimension(to, l);
      if (opcode == TG_OPCODE_reduce ? other < 0 : other >= 0)
        tg_dims_push(&node->dimensions, opcode == TG_OPCODE_reduce ? d : other);
    }
}

static void set_concat_dimension(MlirOperation op, struct tg_node_facts *node) {
  MlirAttribute dim = mlirOperationGetAttributeByName(op, tg_ref("dim"));
  if (!mlirAttributeIsNull(dim) && mlirAttributeIsAInteger(dim))
    tg_dims_push(&node->dimensions, mlirIntegerAttrGetValueInt(dim));
}

void tg_node_facts_from_op(MlirOperation op, enum tg_opcode opcode,
                           struct tg_node_facts *node) {
  tg_node_facts_init(node);
  set_result(op, node);
  switch (opcode) {
  case TG_OPCODE_convolution:
  case TG_OPCODE_reduce_window:
    set_window(op, opcode, node);
    break;
  case TG_OPCODE_broadcast:
  case TG_OPCODE_transpose:
  case TG_OPCODE_reduce:
    set_dimensions(op, opcode, node);
    break;
  case TG_OPCODE_concatenate:
    set_concat_dimension(op, node);
    break;
  case TG_OPCODE_slice:
  case TG_OPCODE_dynamic_update_slice:
    set_slice(op, node);
    break;
  case TG_OPCODE_pad:
    set_padding(op, node);
    break;
  default:
    break;
  }
}

void tg_node_facts_from_argument(MlirValue argument,
                                 struct tg_node_facts *node) {
  tg_node_facts_init(node);
  set_type(mlirValueGetType(argument), node);
  node->parameter_number = mlirBlockArgumentGetArgNumber(argument);
}
