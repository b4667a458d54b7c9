/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Read-only questions about operations that several passes ask.
 */
#ifndef TGRAPH_PASSES_INSPECT_H
#define TGRAPH_PASSES_INSPECT_H

#include <mlir-c/AffineMap.h>
#include <mlir-c/IR.h>
#include <stdbool.h>

#include "model/kernel.h"
#include "passes/passes.h"

#ifdef __cplusplus
extern "C" {
#endif

static inline MlirStringRef tg_ref(const char *text) {
  return mlirStringRefCreateFromCString(text);
}
/* An MlirStringCallback that appends to a struct tg_text. */
void tg_append_ref(MlirStringRef part, void *text);

/* Without a sink (NULL, or one without a function) nothing happens. */
void tg_remark(const struct tg_remark_sink *sink, MlirLocation location,
               enum tg_remark_kind kind, const char *message);

/* An error at the operation, "PASS: REASON"; returns failure. */
MlirLogicalResult tg_fail_at(MlirOperation op, const char *pass,
                             const char *reason);

/* The operation's full name, "linalg.matmul"; lives as long as the context. */
MlirStringRef tg_op_name(MlirOperation op);
bool tg_op_is(MlirOperation op, const char *name);
bool tg_op_name_starts_with(MlirOperation op, const char *prefix);
/* The operation that made the value; a null operation for an argument. */
MlirOperation tg_value_producer(MlirValue value);
bool tg_op_has_attribute(MlirOperation op, const char *name);
/* The block's own operations, its terminator included. */
int tg_block_count_ops(MlirBlock block);
/* Has the module an operation of that symbol name? */
bool tg_symbol_exists(MlirOperation module, const char *name);
/* Does the operation or one that it is in say tgraph.skip? */
bool tg_op_is_skipped(MlirOperation op);
/* The value of an integer attribute of at most 64 bits without a sign in its
 * type; false where it is none. */
bool tg_attribute_integer(MlirAttribute attribute, int64_t *value);

/* The element of iterator_types that stands for a loop of the kind. */
MlirAttribute tg_iterator_kind(MlirContext context, bool reduction);

/* The indexing maps of a structured linalg operation, one per operand.
 * Returns their number, or -1 when it has none or more than `capacity`. */
int tg_op_get_maps(MlirOperation op, int capacity, MlirAffineMap *maps);

/*
 * How the map addresses an operand of the type. False unless every result is a
 * sum of loops times positive factors without an offset (a constant 0 is the
 * empty sum), and the counts fit. A dynamic dimension has extent 0; a scalar
 * has rank 0.
 */
bool tg_access_from_map(MlirAffineMap map, MlirType type,
                        struct tg_access *access);

/*
 * Loops and accesses of a structured operation with two inputs at least: the
 * first two operands and the last. A loop that the result does not use is a
 * reduction; a loop's extent is that of a dimension that it steps by one, a
 * static one where there is any, or 0. False where tg_access_from_map is. Looks
 * at no type and leaves the other fields alone.
 */
bool tg_op_read_accesses(MlirOperation op, struct tg_kernel *kernel);

/*
 * Is the operation's only block "yield(add(mul(in0, in1), out))", operands in
 * any order, on floats or on integers? An input may be extended before it is
 * multiplied: extension[TG_LHS] and [TG_RHS] say how.
 */
bool tg_op_is_multiply_add(MlirOperation op,
                           enum tg_extension extension[TG_RESULT]);

/*
 * Where an input really comes from: the value under any linalg.transpose that
 * made it. dimension[d]: the source's dimension that dimension d of the operand
 * is. A schedule reads the source, so that no transposed copy is made.
 */
MlirValue tg_op_get_source(MlirOperation op, int operand,
                           int dimension[TG_MAX_RANK]);

/* Is the value a constant, or an argument of the function that it is in,
 * maybe reshaped by tensor.expand_shape or tensor.collapse_shape? */
bool tg_value_is_weight(MlirValue value);
/* What tensor.expand_shape and tensor.collapse_shape made the value from. */
MlirValue tg_value_get_unshaped(MlirValue value);
/* The function's arg_attrs[i] has the attribute. */
bool tg_argument_has_attribute(MlirOperation function, intptr_t argument,
                               const char *name);
/* Is the value +0.0 everywhere: a linalg.fill of a tensor.empty? */
bool tg_value_is_zero_fill(MlirValue value);

#ifdef __cplusplus
}
#endif
#endif
