/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Finds the operations that have a space of configurations and describes each
 * as a kernel. What an operation is, is read from its maps and its body alone,
 * so a named operation and the generic that says the same are one kernel.
 */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <string.h>

#include "passes/inspect.h"
#include "passes/lanes.h"
#include "passes/nest.h"
#include "passes/passes.h"
#include "passes/stored.h"

/* Elements of one operand, so that no address of any element overflows. */
static const int64_t max_elements = INT64_C(1) << 40;

/* A dense tensor whose static dimensions are positive. */
static bool is_supported_shape(MlirType type) {
  if (!mlirTypeIsARankedTensor(type) ||
      !mlirAttributeIsNull(mlirRankedTensorTypeGetEncoding(type)))
    return false;
  int64_t elements = 1;
  for (intptr_t d = 0; d < mlirShapedTypeGetRank(type); ++d) {
    if (mlirShapedTypeIsDynamicDim(type, d))
      continue;
    int64_t extent = mlirShapedTypeGetDimSize(type, d);
    if (extent < 1 || extent > max_elements / elements)
      return false;
    elements *= extent;
  }
  return true;
}

static bool is_signless(MlirType type, unsigned width) {
  return mlirTypeIsAInteger(type) && mlirIntegerTypeIsSignless(type) &&
         mlirIntegerTypeGetWidth(type) == width;
}

/* What a sum of that type is computed in. */
static bool read_element(MlirType type, enum tg_element *element) {
  if (mlirTypeIsAF32(type))
    *element = TG_F32;
  else if (mlirTypeIsAF64(type))
    *element = TG_F64;
  else if (is_signless(type, 32))
    *element = TG_I32;
  else
    return false;
  return true;
}

/* An input's type: the sum's own, or one that the body extends to it, in bytes
 * of its own. */
static bool is_supported_input(MlirType type, MlirType sum,
                               enum tg_extension extension) {
  if (extension == TG_EXTENSION_NONE)
    return mlirTypeEqual(type, sum);
  if (extension == TG_EXTENSION_FLOAT)
    return mlirTypeIsAF16(type) || mlirTypeIsABF16(type) ||
           mlirTypeIsAF32(type);
  return is_signless(type, 8) || is_signless(type, 16);
}

static MlirType element_of_operand(MlirOperation op, int operand) {
  return mlirShapedTypeGetElementType(
      mlirValueGetType(mlirOperationGetOperand(op, operand)));
}

/* Fills loops and operands; false where a type or a map is not served. */
static bool read_operands(MlirOperation op, struct tg_kernel *kernel) {
  if (mlirOperationGetNumOperands(op) != TG_OPERAND_COUNT ||
      mlirOperationGetNumResults(op) != 1)
    return false;
  for (int o = 0; o < TG_OPERAND_COUNT; ++o)
    if (!is_supported_shape(mlirValueGetType(mlirOperationGetOperand(op, o))))
      return false;
  MlirType sum = element_of_operand(op, TG_RESULT);
  if (!read_element(sum, &kernel->element) ||
      !tg_op_is_multiply_add(op, kernel->extension))
    return false;
  for (int o = 0; o < TG_RESULT; ++o)
    if (!is_supported_input(element_of_operand(op, o), sum,
                            kernel->extension[o]))
      return false;
  return tg_op_read_accesses(op, kernel);
}

/* The loops of one subscript: how many, and the last one. */
static int count_loops(const struct tg_access *access, int dimension,
                       int loop_count, int *last) {
  int count = 0;
  for (int l = 0; l < loop_count; ++l)
    if (access->coefficient[dimension][l] != 0) {
      *last = l;
      ++count;
    }
  return count;
}

/* Each loop steps at most one dimension of the operand: no diagonals. */
static bool has_no_diagonal(const struct tg_access *access, int loop_count) {
  for (int l = 0; l < loop_count; ++l) {
    int uses = 0;
    for (int d = 0; d < access->rank; ++d)
      uses += access->coefficient[d][l] != 0;
    if (uses > 1)
      return false;
  }
  return true;
}

/* Each dimension is one loop, or the constant 0 of a dimension of one. */
static bool is_plain_access(const struct tg_access *access, int loop_count) {
  for (int d = 0; d < access->rank; ++d) {
    int l = 0;
    int count = count_loops(access, d, loop_count, &l);
    if (count > 1 || (count == 1 && access->coefficient[d][l] != 1) ||
        (count == 0 && access->extent[d] != 1))
      return false;
  }
  return true;
}

/*
 * As above, and a dimension may be a window: a parallel loop times the stride
 * plus a reduction loop of the filter times the dilation. A parallel loop
 * alone may have a stride.
 */
static bool is_image_access(const struct tg_kernel *kernel) {
  const struct tg_access *image = &kernel->operand[TG_LHS];
  for (int d = 0; d < image->rank; ++d) {
    int last = 0;
    int count = count_loops(image, d, kernel->loop_count, &last);
    if (count > 2 || (count == 0 && image->extent[d] != 1) ||
        (count == 1 && kernel->reduction[last] &&
         image->coefficient[d][last] != 1))
      return false;
    if (count != 2)
      continue;
    int first = 0;
    while (image->coefficient[d][first] == 0)
      ++first;
    int filter = kernel->reduction[first] ? first : last;
    if (kernel->reduction[first] == kernel->reduction[last] ||
        !tg_kernel_uses(kernel, TG_RHS, filter))
      return false;
  }
  return true;
}

/* Do the loops have the kinds that the maps imply? A named operation has no
 * iterator_types: its maps define them. */
static bool are_iterators_as_implied(MlirOperation op,
                                     const struct tg_kernel *kernel) {
  MlirAttribute kinds =
      mlirOperationGetAttributeByName(op, tg_ref("iterator_types"));
  if (mlirAttributeIsNull(kinds))
    return true;
  if (!mlirAttributeIsAArray(kinds) ||
      mlirArrayAttrGetNumElements(kinds) != kernel->loop_count)
    return false;
  MlirContext context = mlirOperationGetContext(op);
  MlirAttribute expected[2] = {tg_iterator_kind(context, false),
                               tg_iterator_kind(context, true)};
  for (int l = 0; l < kernel->loop_count; ++l)
    if (!mlirAttributeEqual(mlirArrayAttrGetElement(kinds, l),
                            expected[kernel->reduction[l]]))
      return false;
  return true;
}

/* At least one loop of each kind, each operand walked in a way we can tile. */
static bool are_loops_supported(const struct tg_kernel *kernel) {
  int reductions = 0;
  for (int l = 0; l < kernel->loop_count; ++l)
    reductions += kernel->reduction[l];
  if (reductions == 0 || reductions == kernel->loop_count)
    return false;
  for (int o = 0; o < TG_OPERAND_COUNT; ++o)
    if (!has_no_diagonal(&kernel->operand[o], kernel->loop_count))
      return false;
  return is_plain_access(&kernel->operand[TG_RESULT], kernel->loop_count) &&
         is_plain_access(&kernel->operand[TG_RHS], kernel->loop_count) &&
         is_image_access(kernel);
}

/*===-- Extents that are not known ----------------------------------------===*/

/* What a loop that ends at a bound is assumed to run to when its blocks are
 * chosen: enough that they are those of a large operation, little enough that
 * scratch memory of that size may be had for a small one. Few rows don't make
 * a copy of the other input worth its time; where its rows are of unknown
 * length as well, they may be far apart in memory, and it is. */
enum {
  ASSUMED_ROWS = 128,
  ASSUMED_ROWS_OF_UNKNOWN_LENGTH = 512,
  ASSUMED_VECTOR = 512,
  ASSUMED_IMAGE = 32,
  ASSUMED_REDUCTION = 512
};

/* The dimension of the operand that is the loop itself; -1: there is none. */
static int plain_dimension(const struct tg_kernel *kernel, int operand,
                           int loop) {
  const struct tg_access *access = &kernel->operand[operand];
  int last;
  for (int d = 0; d < access->rank; ++d)
    if (access->coefficient[d][loop] == 1 &&
        count_loops(access, d, kernel->loop_count, &last) == 1)
      return d;
  return -1;
}

bool tg_kernel_find_dimension(const struct tg_kernel *kernel, int loop,
                              int *operand, int *dimension) {
  /* The first input last: it may be longer than its window reaches. */
  for (int o = TG_RESULT; o >= TG_LHS; --o) {
    *operand = o;
    *dimension = plain_dimension(kernel, o, loop);
    if (*dimension >= 0)
      return true;
  }
  return false;
}

/* Is the loop a dimension of its own wherever it is used? */
static bool is_alone(const struct tg_kernel *kernel, int loop) {
  for (int o = 0; o < TG_OPERAND_COUNT; ++o)
    if (tg_kernel_uses(kernel, o, loop) && plain_dimension(kernel, o, loop) < 0)
      return false;
  return true;
}

static bool have_same_users(const struct tg_kernel *kernel, int a, int b) {
  for (int o = 0; o < TG_OPERAND_COUNT; ++o)
    if (tg_kernel_uses(kernel, o, a) != tg_kernel_uses(kernel, o, b))
      return false;
  return true;
}

static bool is_window(const struct tg_kernel *kernel, int loop) {
  const struct tg_access *image = &kernel->operand[TG_LHS];
  int last;
  for (int d = 0; d < image->rank; ++d)
    if (image->coefficient[d][loop] &&
        count_loops(image, d, kernel->loop_count, &last) > 1)
      return true;
  return false;
}

/*
 * Loops that cost nothing to take one iteration at a time: batches, and the
 * images of a convolution, whose pixels are enough for a kernel. What remains
 * inside is then as if the dimension weren't there.
 */
static bool is_sliced(const struct tg_kernel *kernel, int loop) {
  const struct tg_access *result = &kernel->operand[TG_RESULT];
  if (kernel->reduction[loop] || !is_alone(kernel, loop) ||
      plain_dimension(kernel, TG_RESULT, loop) == result->rank - 1)
    return false;
  if (tg_kernel_uses(kernel, TG_LHS, loop) &&
      tg_kernel_uses(kernel, TG_RHS, loop))
    return true;
  for (int l = 0; l < kernel->loop_count; ++l)
    if (l != loop && is_window(kernel, l) && have_same_users(kernel, l, loop))
      return true;
  return false;
}

static int64_t assumed_extent(const struct tg_kernel *kernel, int loop) {
  if (kernel->dynamic[loop] == TG_SLICED)
    return 1;
  if (kernel->reduction[loop])
    return ASSUMED_REDUCTION;
  if (is_window(kernel, loop))
    return ASSUMED_IMAGE;
  const struct tg_access *result = &kernel->operand[TG_RESULT];
  int last = result->rank - 1;
  if (plain_dimension(kernel, TG_RESULT, loop) == last)
    return ASSUMED_VECTOR;
  return result->extent[last] == 0 ? ASSUMED_ROWS_OF_UNKNOWN_LENGTH
                                   : ASSUMED_ROWS;
}

/* How far the loops reach in the dimension; 0: beyond what we serve. */
static int64_t walked_extent(const struct tg_kernel *kernel, int operand,
                             int dimension) {
  int64_t extent = 1, part;
  for (int l = 0; l < kernel->loop_count; ++l) {
    int64_t step = kernel->operand[operand].coefficient[dimension][l];
    if (__builtin_mul_overflow(step, kernel->extent[l] - 1, &part) ||
        part > max_elements)
      return 0;
    extent += part;
  }
  return extent;
}

/* Extents of 0 are unknown ones. Decides how their loops are carried out, and
 * leaves the kernel with positive extents throughout. */
static bool settle_extents(struct tg_kernel *kernel) {
  int unknown_reductions = 0;
  for (int l = 0; l < kernel->loop_count; ++l) {
    int operand, dimension;
    if (kernel->extent[l] != 0)
      continue;
    if (!tg_kernel_find_dimension(kernel, l, &operand, &dimension))
      return false;
    kernel->dynamic[l] = is_sliced(kernel, l) ? TG_SLICED : TG_BOUNDED;
    kernel->extent[l] = assumed_extent(kernel, l);
    unknown_reductions += kernel->reduction[l];
  }
  for (int o = 0; o < TG_OPERAND_COUNT; ++o) {
    struct tg_access *access = &kernel->operand[o];
    int64_t elements = 1;
    for (int d = 0; d < access->rank; ++d) {
      if (access->extent[d] == 0)
        access->extent[d] = walked_extent(kernel, o, d);
      if (access->extent[d] < 1 || access->extent[d] > max_elements / elements)
        return false;
      elements *= access->extent[d];
    }
  }
  return unknown_reductions <= 1;
}

/*===-- The whole operation -----------------------------------------------===*/

/* The inputs as they were before a transposition: what code will read. */
static void look_through_transposes(MlirOperation op,
                                    struct tg_kernel *kernel) {
  for (int o = 0; o < TG_RESULT; ++o) {
    int dimension[TG_MAX_RANK];
    MlirValue source = tg_op_get_source(op, o, dimension);
    struct tg_access operand = kernel->operand[o];
    for (int d = 0; d < operand.rank; ++d) {
      int to = dimension[d];
      kernel->operand[o].extent[to] = operand.extent[d];
      memcpy(kernel->operand[o].coefficient[to], operand.coefficient[d],
             sizeof operand.coefficient[d]);
    }
    kernel->weight[o] = tg_value_is_weight(source);
  }
}

bool tg_kernel_from_op(MlirOperation op, struct tg_kernel *kernel) {
  memset(kernel, 0, sizeof *kernel);
  if (!tg_op_name_starts_with(op, "linalg.") || tg_layouts_check(op) ||
      !read_operands(op, kernel) || !settle_extents(kernel) ||
      !are_loops_supported(kernel) || !are_iterators_as_implied(op, kernel))
    return false;
  look_through_transposes(op, kernel);
  for (int o = 0; o < TG_OPERAND_COUNT && tg_op_has_layouts(op); ++o) {
    struct tg_stored stored;
    tg_layouts_get(op, o, &stored);
    tg_access_permute(&kernel->operand[o], &stored);
  }
  kernel->init_is_zero =
      tg_value_is_zero_fill(mlirOperationGetOperand(op, TG_RESULT));
  return true;
}

/* What is wrong with the operand, if it is its type. */
static const char *type_reason(MlirType type) {
  if (mlirTypeIsAMemRef(type) || mlirTypeIsAUnrankedMemRef(type))
    return "operands in memory";
  if (!mlirTypeIsARankedTensor(type))
    return "an operand that is no ranked tensor";
  for (intptr_t d = 0; d < mlirShapedTypeGetRank(type); ++d)
    if (!mlirShapedTypeIsDynamicDim(type, d) &&
        mlirShapedTypeGetDimSize(type, d) == 0)
      return "a dimension of zero elements";
  MlirType element = mlirShapedTypeGetElementType(type);
  if (!tg_lanes_hold(element))
    return "elements of a type that no schedule serves";
  return is_supported_shape(type) ? NULL : "a huge or encoded tensor";
}

static bool has_unknown_extents(MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    if (!mlirShapedTypeHasStaticShape(
            mlirValueGetType(mlirOperationGetOperand(op, i))))
      return true;
  return false;
}

const char *tg_left_reason(MlirOperation op) {
  struct tg_kernel kernel;
  struct tg_nest nest;
  MlirAffineMap maps[TG_OPERAND_COUNT];
  bool skipped = tg_op_is_skipped(op);
  if (!tg_op_name_starts_with(op, "linalg.") ||
      mlirOperationGetNumRegions(op) != 1 ||
      (!skipped &&
       (tg_kernel_from_op(op, &kernel) || tg_nest_from_op(op, &nest))))
    return NULL;
  if (skipped)
    return "tgraph.skip";
  int count = tg_op_get_maps(op, TG_OPERAND_COUNT, maps);
  if (count > 0 && mlirAffineMapGetNumDims(maps[0]) == 0)
    return "no loops to tile";
  const char *reason = NULL;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op) && !reason; ++i)
    reason = type_reason(mlirValueGetType(mlirOperationGetOperand(op, i)));
  enum tg_extension unused[TG_RESULT];
  if (count != TG_OPERAND_COUNT ||
      (!reason && !tg_op_is_multiply_add(op, unused)))
    return "not a sum of products";
  if (!reason && has_unknown_extents(op))
    return "dynamic dimensions that no schedule serves";
  return reason ? reason : "loops or accesses that no schedule serves";
}

struct site_list {
  struct tg_arena *arena;
  struct tg_site *sites;
  size_t count;
  size_t capacity;
};

static bool append_site(struct site_list *list, MlirOperation op,
                        const struct tg_kernel *kernel) {
  struct tg_site *sites = tg_arena_grow(list->arena, list->sites, list->count,
                                        &list->capacity, sizeof *sites);
  if (!sites)
    return false;
  list->sites = sites;
  list->sites[list->count].op = op;
  list->sites[list->count].kernel = *kernel;
  ++list->count;
  return true;
}

/* Scalar code in the body of a structured or tensor operation is no place
 * for a site, and what a nested module or a schedule holds isn't ours. */
static bool is_closed(MlirOperation op) {
  return tg_op_name_starts_with(op, "linalg.") ||
         tg_op_name_starts_with(op, "tensor.") ||
         tg_op_name_starts_with(op, "transform.") ||
         tg_op_is(op, "builtin.module");
}

static bool collect_op(MlirOperation op, struct site_list *list);

static bool collect_regions(MlirOperation op, struct site_list *list) {
  for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); ++r)
    for (MlirBlock block =
             mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r));
         !mlirBlockIsNull(block); block = mlirBlockGetNextInRegion(block))
      for (MlirOperation inner = mlirBlockGetFirstOperation(block);
           !mlirOperationIsNull(inner);
           inner = mlirOperationGetNextInBlock(inner))
        if (!collect_op(inner, list))
          return false;
  return true;
}

static bool collect_op(MlirOperation op, struct site_list *list) {
  struct tg_kernel kernel;
  if (tg_op_has_attribute(op, "tgraph.skip"))
    return true;
  if (tg_kernel_from_op(op, &kernel))
    return append_site(list, op, &kernel);
  return is_closed(op) || collect_regions(op, list);
}

static bool collect_function(MlirOperation op, struct site_list *list) {
  if (!tg_op_is(op, "func.func") || tg_op_has_attribute(op, "tgraph.skip"))
    return true;
  return collect_regions(op, list);
}

bool tg_collect_sites(MlirOperation module, struct tg_arena *arena,
                      struct tg_site **sites, size_t *count) {
  struct site_list list = {arena, NULL, 0, 0};
  bool fits = true;
  if (tg_op_is(module, "func.func")) {
    fits = collect_function(module, &list);
  } else if (!tg_op_has_attribute(module, "tgraph.skip")) {
    MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(module, 0));
    for (MlirOperation op = mlirBlockGetFirstOperation(body);
         fits && !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op))
      fits = collect_function(op, &list);
  }
  *sites = list.sites;
  *count = list.count;
  return fits;
}
