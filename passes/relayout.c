/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * In program order, each operation reads its operands as they are stored and
 * gives its results back in the program's own order by a transposition. One
 * that follows takes what that transposition was made from; in the end those
 * that nobody reads are dropped. Pads let them through.
 */
#include "passes/relayout.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

#include "passes/attribute.h"
#include "passes/build.h"
#include "passes/inspect.h"
#include "passes/nest.h"
#include "passes/outline.h"
#include "passes/pad.h"
#include "passes/stored.h"

enum { MAX_OPERANDS = TG_MAX_NEST_OPERANDS };

/* A transposition that we made; of a result, from `stored` to its own order. */
struct made {
  MlirOperation op;
  struct tg_stored stored;
  bool back;
};

struct relayout {
  MlirOperation module;
  struct tg_arena *arena;
  MlirOperation *ops; /* with the attribute, and pads, in program order */
  size_t count, capacity;
  struct made *made;
  size_t made_count, made_capacity;
  bool failed;
};

/*===-- Generics ----------------------------------------------------------===*/

struct generic {
  int input_count, operand_count;
  MlirValue operands[MAX_OPERANDS];
  MlirAttribute maps[MAX_OPERANDS];
  int loop_count;
  bool reduction[TG_MAX_LOOPS];
};

/* The operation before `op`; takes the region over. */
static MlirOperation insert_generic(MlirOperation op,
                                    const struct generic *generic,
                                    MlirRegion region) {
  MlirContext context = mlirOperationGetContext(op);
  MlirAttribute kinds[TG_MAX_LOOPS];
  for (int l = 0; l < generic->loop_count; ++l)
    kinds[l] = tg_iterator_kind(context, generic->reduction[l]);
  MlirType results[MAX_OPERANDS];
  int count = generic->operand_count - generic->input_count;
  for (int r = 0; r < count; ++r)
    results[r] = mlirValueGetType(generic->operands[generic->input_count + r]);
  const int32_t segments[2] = {generic->input_count, count};
  MlirNamedAttribute attributes[] = {
      tg_named(
          context, "indexing_maps",
          mlirArrayAttrGet(context, generic->operand_count, generic->maps)),
      tg_named(context, "iterator_types",
               mlirArrayAttrGet(context, generic->loop_count, kinds)),
      tg_named(context, "operandSegmentSizes",
               mlirDenseI32ArrayGet(context, 2, segments))};
  MlirOperationState state = mlirOperationStateGet(
      tg_ref("linalg.generic"), mlirOperationGetLocation(op));
  mlirOperationStateAddOperands(&state, generic->operand_count,
                                generic->operands);
  mlirOperationStateAddResults(&state, count, results);
  mlirOperationStateAddAttributes(
      &state, sizeof(attributes) / sizeof(attributes[0]), attributes);
  mlirOperationStateAddOwnedRegions(&state, 1, &region);
  MlirOperation created = mlirOperationCreate(&state);
  mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(op), op, created);
  return created;
}

/* A body that passes its first argument on. */
static MlirRegion copying_body(MlirLocation location, MlirType element) {
  const MlirType types[2] = {element, element};
  const MlirLocation locations[2] = {location, location};
  MlirBlock body = mlirBlockCreate(2, types, locations);
  struct tg_builder builder;
  tg_builder_init(&builder, body, location, element, 1);
  MlirValue value = mlirBlockGetArgument(body, 0);
  tg_build(&builder, "linalg.yield", 1, &value, 0, NULL, 0, NULL);
  MlirRegion region = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(region, body);
  return region;
}

static MlirValue insert_empty(MlirOperation op, MlirType type) {
  return mlirOperationGetResult(
      tg_insert_before(op, "tensor.empty", 0, NULL, 1, &type, NULL), 0);
}

static void remember(struct relayout *relayout, const struct made *made) {
  struct made *grown =
      tg_arena_grow(relayout->arena, relayout->made, relayout->made_count,
                    &relayout->made_capacity, sizeof(*grown));
  relayout->failed |= !grown;
  if (!grown)
    return;
  relayout->made = grown;
  relayout->made[relayout->made_count++] = *made;
}

/* Before `op`: the value in the order in which it is stored, or back. */
static MlirValue insert_transposition(struct relayout *relayout,
                                      MlirOperation op, MlirValue value,
                                      MlirType type,
                                      const struct tg_stored *stored,
                                      bool back) {
  MlirContext context = mlirOperationGetContext(op);
  MlirAffineExpr results[TG_MAX_RANK];
  for (int i = 0; i < stored->rank; ++i)
    if (back)
      results[i] = mlirAffineDimExprGet(context, stored->dimension[i]);
    else
      results[stored->dimension[i]] = mlirAffineDimExprGet(context, i);
  struct generic generic = {
      .input_count = 1,
      .operand_count = 2,
      .operands = {value, insert_empty(op, type)},
      .maps = {mlirAffineMapAttrGet(mlirAffineMapGet(context, stored->rank, 0,
                                                     stored->rank, results)),
               mlirAffineMapAttrGet(
                   mlirAffineMapMultiDimIdentityGet(context, stored->rank))},
      .loop_count = stored->rank};
  MlirOperation created =
      insert_generic(op, &generic,
                     copying_body(mlirOperationGetLocation(op),
                                  mlirShapedTypeGetElementType(type)));
  const struct made made = {created, *stored, back};
  remember(relayout, &made);
  return mlirOperationGetResult(created, 0);
}

/*===-- Operands ----------------------------------------------------------===*/

static bool same_order(const struct tg_stored *a, const struct tg_stored *b) {
  if (a->rank != b->rank)
    return false;
  for (int i = 0; i < a->rank; ++i)
    if (a->dimension[i] != b->dimension[i])
      return false;
  return true;
}

/* The transposition that gave the value its own order back; NULL for none. */
static const struct made *find_back(const struct relayout *relayout,
                                    MlirValue value) {
  MlirOperation producer = tg_value_producer(value);
  for (size_t i = relayout->made_count;
       i-- > 0 && !mlirOperationIsNull(producer);)
    if (relayout->made[i].back &&
        mlirOperationEqual(relayout->made[i].op, producer))
      return &relayout->made[i];
  return NULL;
}

/* The same content in a tensor of the stored type, where it is no work. */
static bool remake(MlirOperation op, MlirValue value, MlirType type,
                   MlirValue *remade) {
  MlirOperation producer = tg_value_producer(value);
  if (tg_op_is(producer, "tensor.empty")) {
    *remade = insert_empty(op, type);
    return true;
  }
  if (!tg_op_is(producer, "linalg.fill") ||
      !tg_op_is(tg_value_producer(mlirOperationGetOperand(producer, 1)),
                "tensor.empty"))
    return false;
  MlirOperation fill = mlirOperationClone(producer);
  mlirOperationSetOperand(fill, 1, insert_empty(op, type));
  mlirValueSetType(mlirOperationGetResult(fill, 0), type);
  mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(op), op, fill);
  *remade = mlirOperationGetResult(fill, 0);
  return true;
}

static MlirValue as_stored(struct relayout *relayout, MlirOperation op,
                           MlirValue value, const struct tg_stored *stored) {
  if (stored->rank == 0)
    return value;
  const struct made *back = find_back(relayout, value);
  if (back && same_order(&back->stored, stored))
    return mlirOperationGetOperand(back->op, 0);
  MlirType type = tg_stored_type(mlirValueGetType(value), stored);
  MlirValue remade;
  if (remake(op, value, type, &remade))
    return remade;
  return insert_transposition(relayout, op, value, type, stored, false);
}

/* An initial value that nobody reads any more would still be written. */
static void drop_unused(MlirOperation op) {
  while (tg_op_is(op, "linalg.fill") || tg_op_is(op, "tensor.empty")) {
    if (!mlirOpOperandIsNull(
            mlirValueGetFirstUse(mlirOperationGetResult(op, 0))))
      return;
    MlirOperation before = {NULL};
    if (tg_op_is(op, "linalg.fill"))
      before = tg_value_producer(mlirOperationGetOperand(op, 1));
    mlirOperationDestroy(op);
    op = before;
  }
}

/*===-- Operations --------------------------------------------------------===*/

static bool read_loops(MlirOperation op, struct generic *generic) {
  struct tg_kernel kernel;
  struct tg_nest nest;
  if (tg_kernel_from_op(op, &kernel)) {
    generic->loop_count = kernel.loop_count;
    for (int l = 0; l < kernel.loop_count; ++l)
      generic->reduction[l] = kernel.reduction[l];
    return true;
  }
  if (!tg_nest_from_op(op, &nest))
    return false;
  generic->loop_count = nest.loop_count;
  for (int l = 0; l < nest.loop_count; ++l)
    generic->reduction[l] = nest.reduction[l];
  return true;
}

static MlirAttribute permute_map(MlirAffineMap map,
                                 const struct tg_stored *stored) {
  MlirAffineExpr results[TG_MAX_RANK];
  if (stored->rank == 0)
    return mlirAffineMapAttrGet(map);
  for (int i = 0; i < stored->rank; ++i)
    results[i] = mlirAffineMapGetResult(map, stored->dimension[i]);
  return mlirAffineMapAttrGet(mlirAffineMapGet(mlirAffineMapGetContext(map),
                                               mlirAffineMapGetNumDims(map), 0,
                                               stored->rank, results));
}

static void copy_attributes(MlirOperation from, MlirOperation to) {
  if (!tg_op_is(from, "linalg.generic"))
    mlirOperationSetDiscardableAttributeByName(
        to, tg_ref(TG_WAS_ATTRIBUTE),
        mlirStringAttrGet(mlirOperationGetContext(from), tg_op_name(from)));
  for (intptr_t i = 0; i < mlirOperationGetNumDiscardableAttributes(from);
       ++i) {
    MlirNamedAttribute named = mlirOperationGetDiscardableAttribute(from, i);
    MlirStringRef name = mlirIdentifierStr(named.name);
    if (!mlirStringRefEqual(name, tg_ref(TG_LAYOUTS_ATTRIBUTE)))
      mlirOperationSetDiscardableAttributeByName(to, name, named.attribute);
  }
}

/*
 * Loops in the order of the first result's dimensions: what is done element by
 * element, and is so read and written everywhere, has identity maps again, as
 * epilogues ask for. old_loop[i]: what was to become loop i. False where a
 * dimension isn't a loop, or some loop is none of its dimensions.
 */
static bool order_loops(const struct generic *generic, int *old_loop) {
  MlirAffineMap map =
      mlirAffineMapAttrGetValue(generic->maps[generic->input_count]);
  if (mlirAffineMapGetNumResults(map) != generic->loop_count ||
      !mlirAffineMapIsPermutation(map))
    return false;
  for (int i = 0; i < generic->loop_count; ++i)
    old_loop[i] =
        (int)mlirAffineDimExprGetPosition(mlirAffineMapGetResult(map, i));
  return true;
}

static MlirWalkResult renumber_index(MlirOperation op, void *data) {
  const int *new_loop = data;
  int64_t loop;
  if (tg_op_is(op, "linalg.index") &&
      tg_attribute_integer(
          mlirOperationGetInherentAttributeByName(op, tg_ref("dim")), &loop))
    mlirOperationSetInherentAttributeByName(
        op, tg_ref("dim"),
        mlirIntegerAttrGet(mlirIntegerTypeGet(mlirOperationGetContext(op), 64),
                           new_loop[loop]));
  return MlirWalkResultAdvance;
}

/* The operation is a nest without reductions; its configuration, which names a
 * loop, is rewritten. */
static void renumber_loops(MlirOperation op, const struct tg_nest *nest,
                           struct generic *generic) {
  MlirContext context = mlirOperationGetContext(op);
  int old_loop[TG_MAX_LOOPS], new_loop[TG_MAX_LOOPS];
  if (!order_loops(generic, old_loop))
    return;
  MlirAffineExpr expressions[TG_MAX_LOOPS];
  for (int i = 0; i < generic->loop_count; ++i)
    new_loop[old_loop[i]] = i;
  for (int l = 0; l < generic->loop_count; ++l)
    expressions[l] = mlirAffineDimExprGet(context, new_loop[l]);
  for (int o = 0; o < generic->operand_count; ++o) {
    MlirAffineMap map = mlirAffineMapAttrGetValue(generic->maps[o]);
    MlirAffineExpr results[TG_MAX_RANK];
    intptr_t rank = mlirAffineMapGetNumResults(map);
    for (intptr_t d = 0; d < rank; ++d)
      results[d] = mlirAffineExprCompose(
          mlirAffineMapGetResult(map, d),
          mlirAffineMapGet(context, generic->loop_count, 0, generic->loop_count,
                           expressions));
    generic->maps[o] = mlirAffineMapAttrGet(
        mlirAffineMapGet(context, generic->loop_count, 0, rank, results));
  }
  mlirOperationWalk(op, renumber_index, new_loop, MlirWalkPreOrder);
  MlirAttribute attribute =
      mlirOperationGetAttributeByName(op, tg_ref(TG_CONFIG_ATTRIBUTE));
  struct tg_config config;
  struct tg_error error;
  if (mlirAttributeIsNull(attribute) ||
      tg_nest_config_from_attribute(attribute, nest, &config, &error) ||
      !config.knob[TG_KNOB_tiled])
    return;
  config.knob[TG_KNOB_vector_loop] = new_loop[config.knob[TG_KNOB_vector_loop]];
  mlirOperationSetDiscardableAttributeByName(
      op, tg_ref(TG_CONFIG_ATTRIBUTE),
      tg_nest_config_to_attribute(context, &config));
}

static void replace(struct relayout *relayout, MlirOperation op) {
  struct generic generic = {.operand_count =
                                (int)mlirOperationGetNumOperands(op)};
  MlirAffineMap maps[MAX_OPERANDS];
  if (tg_op_get_maps(op, MAX_OPERANDS, maps) < 0 || !read_loops(op, &generic))
    return;
  int results = (int)mlirOperationGetNumResults(op);
  generic.input_count = generic.operand_count - results;
  struct tg_stored stored[MAX_OPERANDS];
  MlirOperation initial[MAX_OPERANDS];
  for (int o = 0; o < generic.operand_count; ++o) {
    MlirValue value = mlirOperationGetOperand(op, o);
    tg_layouts_get(op, o, &stored[o]);
    generic.operands[o] = as_stored(relayout, op, value, &stored[o]);
    generic.maps[o] = permute_map(maps[o], &stored[o]);
    initial[o] = tg_value_producer(value);
  }
  struct tg_kernel kernel;
  struct tg_nest nest;
  if (!tg_kernel_from_op(op, &kernel) && tg_nest_from_op(op, &nest))
    renumber_loops(op, &nest, &generic);
  MlirRegion region = mlirRegionCreate();
  mlirRegionTakeBody(region, mlirOperationGetRegion(op, 0));
  MlirOperation created = insert_generic(op, &generic, region);
  copy_attributes(op, created);
  for (int r = 0; r < results; ++r) {
    MlirValue old = mlirOperationGetResult(op, r);
    MlirValue value = mlirOperationGetResult(created, r);
    if (stored[generic.input_count + r].rank)
      value = insert_transposition(relayout, op, value, mlirValueGetType(old),
                                   &stored[generic.input_count + r], true);
    mlirValueReplaceAllUsesOfWith(old, value);
  }
  mlirOperationDestroy(op);
  for (int o = generic.input_count; o < generic.operand_count; ++o) {
    bool again = false;
    for (int p = generic.input_count; p < o; ++p)
      again |= mlirOperationEqual(initial[o], initial[p]);
    if (!again && stored[o].rank)
      drop_unused(initial[o]);
  }
}

/* The pad on the stored tensor, and back. */
static void move_behind_pad(struct relayout *relayout, MlirOperation op) {
  const struct made *found =
      find_back(relayout, mlirOperationGetOperand(op, 0));
  if (!found)
    return;
  const struct made back = *found;
  static const char *const names[2] = {"static_low", "static_high"};
  MlirContext context = mlirOperationGetContext(op);
  MlirOperation pad = mlirOperationClone(op);
  mlirOperationSetOperand(pad, 0, mlirOperationGetOperand(back.op, 0));
  for (int side = 0; side < 2; ++side) {
    MlirAttribute given =
        mlirOperationGetInherentAttributeByName(op, tg_ref(names[side]));
    int64_t widths[TG_MAX_RANK];
    for (int i = 0; i < back.stored.rank; ++i)
      widths[i] = mlirDenseI64ArrayGetElement(given, back.stored.dimension[i]);
    mlirOperationSetInherentAttributeByName(
        pad, tg_ref(names[side]),
        mlirDenseI64ArrayGet(context, back.stored.rank, widths));
  }
  MlirValue old = mlirOperationGetResult(op, 0);
  MlirType type = mlirValueGetType(old);
  mlirValueSetType(mlirOperationGetResult(pad, 0),
                   tg_stored_type(type, &back.stored));
  mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(op), op, pad);
  mlirValueReplaceAllUsesOfWith(
      old, insert_transposition(relayout, op, mlirOperationGetResult(pad, 0),
                                type, &back.stored, true));
  mlirOperationDestroy(op);
}

/*===-- The module --------------------------------------------------------===*/

static MlirWalkResult collect(MlirOperation op, void *data) {
  struct relayout *relayout = data;
  struct tg_pad pad;
  if (tg_op_is_skipped(op) || (tg_op_is(op, "builtin.module") &&
                               !mlirOperationEqual(op, relayout->module)))
    return MlirWalkResultSkip;
  bool moves = tg_op_is(op, "tensor.pad") &&
               mlirOperationGetNumOperands(op) == 1 && tg_pad_from_op(op, &pad);
  if (!moves && !tg_op_has_layouts(op))
    return MlirWalkResultAdvance;
  MlirOperation *grown =
      tg_arena_grow(relayout->arena, relayout->ops, relayout->count,
                    &relayout->capacity, sizeof(*grown));
  relayout->failed |= !grown;
  if (!grown)
    return MlirWalkResultInterrupt;
  relayout->ops = grown;
  relayout->ops[relayout->count++] = op;
  return MlirWalkResultAdvance;
}

/* What nobody reads goes, from the end; what is left is vectorised. */
static void settle_transpositions(const struct relayout *relayout,
                                  const struct tg_target *target) {
  for (size_t i = relayout->made_count; i-- > 0;) {
    MlirOperation op = relayout->made[i].op;
    struct tg_nest nest;
    struct tg_config config;
    if (mlirOpOperandIsNull(
            mlirValueGetFirstUse(mlirOperationGetResult(op, 0)))) {
      MlirOperation empty = tg_value_producer(mlirOperationGetOperand(op, 1));
      mlirOperationDestroy(op);
      drop_unused(empty);
    } else if (tg_nest_from_op(op, &nest) &&
               tg_nest_choose(&nest, target, &config)) {
      mlirOperationSetDiscardableAttributeByName(
          op, tg_ref(TG_CONFIG_ATTRIBUTE),
          tg_nest_config_to_attribute(mlirOperationGetContext(op), &config));
    }
  }
}

bool tg_relayout(MlirOperation module, const struct tg_target *target,
                 struct tg_arena *arena) {
  struct relayout relayout = {.module = module, .arena = arena};
  mlirOperationWalk(module, collect, &relayout, MlirWalkPreOrder);
  for (size_t i = 0; i < relayout.count && !relayout.failed; ++i)
    if (tg_op_has_layouts(relayout.ops[i]))
      replace(&relayout, relayout.ops[i]);
    else
      move_behind_pad(&relayout, relayout.ops[i]);
  settle_transpositions(&relayout, target);
  return !relayout.failed;
}
