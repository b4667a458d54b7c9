/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A small builder over mlir-c for the operations that the schedules are made
 * of. An insertion block, a location, and one function per operation.
 */
#ifndef TGRAPH_PASSES_BUILD_H
#define TGRAPH_PASSES_BUILD_H

#include <mlir-c/IR.h>
#include <stdbool.h>
#include <stdint.h>

enum {
  TG_BUILD_MAX_CONSTANTS = 256,
  TG_BUILD_MAX_CARRIED = 64,
  TG_BUILD_MAX_REST = 16
};

/* For `valid` of the vectors below: as many lanes as vector v of a row has when
 * the row's length is known only at run time (rest_mask[v]). */
static inline int64_t tg_rest_lanes(int64_t v) { return -1 - v; }

struct tg_builder {
  MlirContext context;
  MlirLocation location;
  MlirBlock block; /* operations are appended here */
  MlirBlock entry; /* constants go to its front */
  MlirType index;
  MlirType element;
  MlirType vector; /* lanes x element */
  int64_t lanes;
  MlirValue rest_mask[TG_BUILD_MAX_REST];
  bool fused; /* multiply and add in one operation, with one rounding */
  bool rounds_to_bf16; /* the machine has an instruction for it */
  int constant_count;
  int64_t constant_key[TG_BUILD_MAX_CONSTANTS];
  MlirValue constant[TG_BUILD_MAX_CONSTANTS];
};

void tg_builder_init(struct tg_builder *builder, MlirBlock entry,
                     MlirLocation location, MlirType element, int64_t lanes);

/* Any operation: name, operands, result types, named attributes. */
MlirOperation tg_build(struct tg_builder *builder, const char *name,
                       int operand_count, const MlirValue *operands,
                       int result_count, const MlirType *results,
                       int attribute_count,
                       const MlirNamedAttribute *attributes);
MlirValue tg_build_1(struct tg_builder *builder, const char *name,
                     int operand_count, const MlirValue *operands,
                     MlirType result);
MlirNamedAttribute tg_named(MlirContext context, const char *name,
                            MlirAttribute attribute);

/* Moves what was built in a block of its own, which is empty then, in front of
 * the operation. */
void tg_move_before(MlirBlock block, MlirOperation op);

/* Numbers of type index; sums and products with constants fold. */
MlirValue tg_index(struct tg_builder *builder, int64_t value);
bool tg_index_constant(const struct tg_builder *builder, MlirValue value,
                       int64_t *constant);
MlirValue tg_add(struct tg_builder *builder, MlirValue a, MlirValue b);
MlirValue tg_sub(struct tg_builder *builder, MlirValue a, MlirValue b);
MlirValue tg_mul(struct tg_builder *builder, MlirValue a, int64_t factor);
MlirValue tg_div(struct tg_builder *builder, MlirValue a, int64_t divisor);
MlirValue tg_min(struct tg_builder *builder, MlirValue a, MlirValue b);
MlirValue tg_max(struct tg_builder *builder, MlirValue a, MlirValue b);

/* A loop whose carried values are results of the loop afterwards. */
struct tg_for {
  MlirOperation op; /* valid after tg_for_end */
  MlirBlock outside;
  MlirValue iv;
  MlirValue lower, upper, step;
  int count;
  MlirValue init[TG_BUILD_MAX_CARRIED];
  MlirValue carried[TG_BUILD_MAX_CARRIED]; /* inside the body; after
                                              tg_for_end: the results */
  MlirRegion region;
};
void tg_for_begin(struct tg_builder *builder, struct tg_for *loop,
                  MlirValue lower, MlirValue upper, int64_t step, int count,
                  const MlirValue *init);
void tg_for_end(struct tg_builder *builder, struct tg_for *loop,
                const MlirValue *yielded);

/* Tensors, of which a scratch one has no defined content; it is made in the
 * entry block, outside of all loops. The index lists have the rank of the
 * tensor. */
MlirValue tg_scratch(struct tg_builder *builder, int rank,
                     const int64_t *shape);
MlirValue tg_scratch_of(struct tg_builder *builder, MlirType element, int rank,
                        const int64_t *shape);
MlirValue tg_extract(struct tg_builder *builder, MlirValue tensor, int rank,
                     const MlirValue *indices);
MlirValue tg_insert(struct tg_builder *builder, MlirValue scalar,
                    MlirValue tensor, int rank, const MlirValue *indices);
MlirValue tg_dim(struct tg_builder *builder, MlirValue tensor, int dimension);
/* group[d] of source dimension d, increasing from 0. `like`: a tensor of the
 * shape that is to come. */
MlirValue tg_collapse(struct tg_builder *builder, MlirValue tensor,
                      int source_rank, const int *group);
MlirValue tg_expand(struct tg_builder *builder, MlirValue tensor,
                    int result_rank, const int *group, MlirValue like);

/* Do neighbours lie in bytes of their own, so that vectors can be read? */
bool tg_element_is_addressable(MlirType element);
/* lanes x element, where that isn't the builder's own element. */
MlirType tg_vector_of(const struct tg_builder *builder, MlirType element);
/* A number, or a dense attribute of a vector type. */
MlirValue tg_constant(struct tg_builder *builder, MlirType type,
                      MlirAttribute value);
MlirAttribute tg_zero_attribute(MlirType element);
/* i1 vector whose first `valid` lanes are set, or a mask of the rest. */
MlirValue tg_mask(struct tg_builder *builder, int64_t valid);

/* Vectors of `lanes` elements, of the tensor's element type; valid: lanes that
 * exist, lanes for all, or tg_rest_lanes. The rest is read as zero and not
 * written. */
MlirValue tg_zero_vector(struct tg_builder *builder);
MlirValue tg_read(struct tg_builder *builder, MlirValue tensor, int rank,
                  const MlirValue *indices, int64_t valid);
/* The same of elements that are `step` apart in the last dimension: as many
 * reads as it takes, put together by shuffles. Reads no further than the last
 * lane that exists. */
MlirValue tg_read_strided(struct tg_builder *builder, MlirValue tensor,
                          int rank, const MlirValue *indices, int64_t step,
                          int64_t valid);
MlirValue tg_write(struct tg_builder *builder, MlirValue vector,
                   MlirValue tensor, int rank, const MlirValue *indices,
                   int64_t valid);
MlirValue tg_broadcast(struct tg_builder *builder, MlirValue scalar);
/* a + b, of floats or integers */
MlirValue tg_add_elements(struct tg_builder *builder, MlirValue a, MlirValue b);
/* a * b + accumulator */
MlirValue tg_multiply_add(struct tg_builder *builder, MlirValue a, MlirValue b,
                          MlirValue accumulator);
/* Reads lanes at row-major offsets base + offsets[lane] of a rank 1 tensor. */
MlirValue tg_gather(struct tg_builder *builder, MlirValue tensor,
                    MlirValue base, MlirValue offsets);
/* Lane i of the result is lane order[i] of a and b together. */
MlirValue tg_permute(struct tg_builder *builder, MlirValue a, MlirValue b,
                     const int64_t *order);
/* In place: row i, lane j becomes row j, lane i; lanes x lanes. */
void tg_transpose(struct tg_builder *builder, MlirValue *rows);

#endif
