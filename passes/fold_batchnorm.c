/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Everything is built where the last operation of the chain stood: there all
 * that the chain reads is known.
 */
#include "passes/fold_batchnorm.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdio.h>

#include "passes/attribute.h"
#include "passes/build.h"
#include "passes/channel_chain.h"
#include "passes/from_weights.h"
#include "passes/generic.h"
#include "passes/inspect.h"
#include "passes/stored.h"

struct fold {
  MlirOperation op; /* the sum of products */
  struct tg_kernel kernel;
  struct tg_channel_chain chain;
  int filter;         /* its operand */
  MlirValue source;   /* the filter under its transpositions */
  int dimension;      /* of the source: its channels */
  bool from_zero;     /* the sum starts from it already */
  MlirOperation rest; /* goes on from `cut` in its body; or null */
  intptr_t rest_operand;
  MlirValue cut;
};

/*===-- Finding -----------------------------------------------------------===*/

static bool is_free(MlirOperation op, bool overwrite) {
  return !tg_op_is_skipped(op) &&
         (overwrite || (!tg_op_has_attribute(op, TG_CONFIG_ATTRIBUTE) &&
                        !tg_op_has_layouts(op)));
}

/* The sum starts from 0, or from a number for each channel. */
static bool read_start(struct fold *fold) {
  MlirValue init = mlirOperationGetOperand(fold->op, TG_RESULT);
  MlirOperation maker = tg_value_producer(init);
  fold->from_zero = tg_value_is_zero_fill(init);
  return fold->from_zero ||
         (!mlirOperationIsNull(maker) &&
          mlirShapedTypeHasStaticShape(mlirValueGetType(init)) &&
          tg_op_name_starts_with(maker, "linalg.") &&
          tg_channel_chain_start(&fold->chain, maker));
}

/* The value's only use; null where it has none or several. */
static MlirOpOperand only_use(MlirValue value) {
  MlirOpOperand use = mlirValueGetFirstUse(value);
  if (mlirOpOperandIsNull(use) ||
      !mlirOpOperandIsNull(mlirOpOperandGetNextUse(use)))
    return (MlirOpOperand){NULL};
  return use;
}

static void read_chain(struct fold *fold, bool overwrite) {
  MlirBlock block = mlirOperationGetBlock(fold->op);
  MlirOpOperand use = only_use(mlirOperationGetResult(fold->op, 0));
  while (!mlirOpOperandIsNull(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    intptr_t operand = mlirOpOperandGetOperandNumber(use);
    if (!tg_op_is(user, "linalg.generic") || !is_free(user, overwrite) ||
        !mlirBlockEqual(mlirOperationGetBlock(user), block))
      return;
    if (!tg_channel_chain_add(&fold->chain, user, operand)) {
      if (tg_channel_chain_cut(&fold->chain, user, operand, &fold->cut)) {
        fold->rest = user;
        fold->rest_operand = operand;
      }
      return;
    }
    use = only_use(mlirOperationGetResult(user, 0));
  }
}

/* Has the function arguments that are known to be weights? Then all others
 * aren't. */
static bool has_marked_arguments(MlirOperation op) {
  while (!mlirOperationIsNull(op) && !tg_op_is(op, "func.func"))
    op = mlirOperationGetParentOperation(op);
  if (mlirOperationIsNull(op))
    return false;
  MlirBlock entry = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(entry); ++i)
    if (tg_value_is_weight_argument(mlirBlockGetArgument(entry, i)))
      return true;
  return false;
}

/* The dimension of the operand that the loop walks alone, in steps of one; -1
 * where there is none. */
static int find_dimension(const struct tg_access *access, int loop_count,
                          int loop) {
  int found = -1;
  for (int d = 0; d < access->rank; ++d) {
    if (access->coefficient[d][loop] == 0)
      continue;
    for (int l = 0; l < loop_count; ++l)
      if (access->coefficient[d][l] != (l == loop))
        return -1;
    if (found >= 0)
      return -1;
    found = d;
  }
  return found;
}

/* Can the operand take the scale of the loop? */
static bool read_filter(struct fold *fold, int operand, int loop) {
  int unused[TG_MAX_RANK];
  /* The kernel reads the source. */
  int d = find_dimension(&fold->kernel.operand[operand],
                         fold->kernel.loop_count, loop);
  if (d < 0 || fold->kernel.extension[operand] != TG_EXTENSION_NONE)
    return false;
  fold->filter = operand;
  fold->source = tg_op_get_source(fold->op, operand, unused);
  fold->dimension = d;
  return mlirShapedTypeHasStaticShape(mlirValueGetType(fold->source)) &&
         (tg_value_is_from_weights(fold->source) ||
          (!has_marked_arguments(fold->op) &&
           tg_value_is_weight(fold->source)));
}

/* The second operand is the filter where both could be. */
static bool find_filter(struct fold *fold) {
  const struct tg_access *result = &fold->kernel.operand[TG_RESULT];
  for (int l = 0; l < fold->kernel.loop_count; ++l)
    if (find_dimension(result, fold->kernel.loop_count, l) ==
        fold->chain.channel)
      return read_filter(fold, TG_RHS, l) || read_filter(fold, TG_LHS, l);
  return false;
}

static bool find_fold(MlirOperation op, bool overwrite, struct fold *fold) {
  fold->op = op;
  fold->rest = (MlirOperation){NULL};
  if (!tg_kernel_from_op(op, &fold->kernel) || !is_free(op, overwrite))
    return false;
  MlirType type = mlirValueGetType(mlirOperationGetResult(op, 0));
  if (!mlirTypeIsAFloat(mlirShapedTypeGetElementType(type)))
    return false;
  tg_channel_chain_init(&fold->chain, type);
  if (!read_start(fold))
    return false;
  read_chain(fold, overwrite);
  /* Adding alone has nothing to fold. */
  return fold->chain.scale != TG_NO_TERM &&
         fold->chain.channel != TG_NO_CHANNEL &&
         !mlirShapedTypeIsDynamicDim(type, fold->chain.channel) &&
         find_filter(fold);
}

/*===-- Building ----------------------------------------------------------===*/

/* tensor OP channels, which go along the dimension; into `init`. */
static MlirValue build_with_channels(struct tg_builder *builder,
                                     const char *name, MlirValue tensor,
                                     const struct tg_channel_input *channels,
                                     int dimension, MlirValue init) {
  MlirContext context = builder->context;
  intptr_t rank = mlirShapedTypeGetRank(mlirValueGetType(tensor));
  MlirAffineMap identity = mlirAffineMapMultiDimIdentityGet(context, rank);
  struct tg_generic generic = {.loop_count = (int)rank};
  tg_generic_add_operand(&generic, tensor, identity);
  tg_generic_add_operand(
      &generic, channels->value,
      tg_channel_input_map(context, channels, rank, dimension));
  tg_generic_add_operand(&generic, init, identity);
  tg_generic_begin(&generic, builder->location);
  MlirValue operands[2] = {tg_generic_argument(&generic, 0),
                           tg_generic_argument(&generic, 1)};
  MlirValue value =
      tg_build_1(&generic.builder, name, 2, operands, generic.builder.element);
  return mlirOperationGetResult(tg_generic_end(builder, &generic, value), 0);
}

/* The operand as it was made of the source, made of another one. */
static MlirValue transpose_again(struct tg_builder *builder, MlirValue operand,
                                 MlirValue source, MlirValue other) {
  if (mlirValueEqual(operand, source))
    return other;
  MlirOperation op = tg_value_producer(operand);
  MlirValue below =
      transpose_again(builder, mlirOperationGetOperand(op, 0), source, other);
  MlirOperation clone = mlirOperationClone(op);
  mlirOperationSetOperand(clone, 0, below);
  mlirBlockAppendOwnedOperation(builder->block, clone);
  return mlirOperationGetResult(clone, 0);
}

static MlirValue build_filter(struct tg_builder *builder,
                              const struct fold *fold) {
  struct tg_channel_input scale =
      tg_channel_chain_build(&fold->chain, builder, fold->chain.scale);
  MlirValue empty = tg_build_1(builder, "tensor.empty", 0, NULL,
                               mlirValueGetType(fold->source));
  MlirValue scaled = build_with_channels(builder, "arith.mulf", fold->source,
                                         &scale, fold->dimension, empty);
  return transpose_again(builder,
                         mlirOperationGetOperand(fold->op, fold->filter),
                         fold->source, scaled);
}

static MlirValue build_start(struct tg_builder *builder,
                             const struct fold *fold) {
  MlirValue init = mlirOperationGetOperand(fold->op, TG_RESULT);
  if (fold->from_zero)
    return init;
  MlirType type = mlirValueGetType(init);
  MlirType element = mlirShapedTypeGetElementType(type);
  int64_t shape[TG_MAX_RANK];
  intptr_t rank = mlirShapedTypeGetRank(type);
  for (intptr_t d = 0; d < rank; ++d)
    shape[d] = mlirShapedTypeGetDimSize(type, d);
  MlirValue zero = tg_constant(builder, element, tg_zero_attribute(element));
  return tg_build_fill(builder, zero, rank, shape);
}

/* Where everything that the chain reads is known. */
static MlirOperation end_of_chain(const struct fold *fold) {
  return mlirOperationIsNull(fold->rest)
             ? fold->chain.links[fold->chain.length - 1]
             : fold->rest;
}

/* What the chain computed, in front of its end. */
static MlirValue build_folded(struct tg_builder *builder,
                              const struct fold *fold) {
  const struct tg_channel_chain *chain = &fold->chain;
  MlirOperation last = end_of_chain(fold);
  MlirOperation sum = mlirOperationClone(fold->op);
  mlirOperationSetOperand(sum, fold->filter, build_filter(builder, fold));
  mlirOperationSetOperand(sum, TG_RESULT, build_start(builder, fold));
  mlirBlockAppendOwnedOperation(builder->block, sum);
  MlirValue value = mlirOperationGetResult(sum, 0);
  if (chain->shift == TG_NO_TERM)
    return value;
  struct tg_channel_input shift =
      tg_channel_chain_build(chain, builder, chain->shift);
  MlirValue init =
      mlirOperationGetOperand(last, mlirOperationGetNumOperands(last) - 1);
  return build_with_channels(builder, "arith.addf", value, &shift,
                             chain->channel, init);
}

/* Destroys what made the value, if nothing reads it any more. */
static void drop_unread(MlirValue value) {
  MlirOperation maker = tg_value_producer(value);
  if (!mlirOperationIsNull(maker) && mlirOperationGetNumResults(maker) == 1 &&
      mlirOpOperandIsNull(mlirValueGetFirstUse(value)) && tg_op_is_pure(maker))
    mlirOperationDestroy(maker);
}

static void destroy_folded(const struct fold *fold) {
  MlirValue init = mlirOperationGetOperand(fold->op, TG_RESULT);
  MlirValue filter = mlirOperationGetOperand(fold->op, fold->filter);
  for (int i = fold->chain.length - 1; i >= 0; --i)
    mlirOperationDestroy(fold->chain.links[i]);
  mlirOperationDestroy(fold->op);
  drop_unread(init);
  while (!mlirValueEqual(filter, fold->source)) {
    MlirValue below = mlirOperationGetOperand(tg_value_producer(filter), 0);
    if (!mlirOpOperandIsNull(mlirValueGetFirstUse(filter)))
      return;
    drop_unread(filter);
    filter = below;
  }
}

/*===-- What goes on behind the chain ------------------------------------===*/

/* Operations of the body that nothing reads any more. */
static void drop_unread_body(MlirBlock body) {
  bool dropped = true;
  while (dropped) {
    dropped = false;
    for (MlirOperation op = mlirBlockGetFirstOperation(body), next;
         !mlirOperationIsNull(op); op = next) {
      next = mlirOperationGetNextInBlock(op);
      if (mlirOperationGetNumResults(op) != 1 ||
          !mlirOpOperandIsNull(
              mlirValueGetFirstUse(mlirOperationGetResult(op, 0))))
        continue;
      mlirOperationDestroy(op);
      dropped = true;
    }
  }
}

/* The generic without the inputs that its body doesn't read. */
static void drop_unread_inputs(MlirOperation op) {
  MlirContext context = mlirOperationGetContext(op);
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  MlirAttribute old =
      mlirOperationGetAttributeByName(op, tg_ref("indexing_maps"));
  MlirAttribute maps[TG_MAX_CHANNEL_INPUTS + 1];
  MlirValue operands[TG_MAX_CHANNEL_INPUTS + 1];
  intptr_t count = 0, all = mlirOperationGetNumOperands(op);
  for (intptr_t i = 0; i < all; ++i) {
    MlirValue argument = mlirBlockGetArgument(body, count);
    if (i < all - 1 && mlirOpOperandIsNull(mlirValueGetFirstUse(argument))) {
      mlirBlockEraseArgument(body, (unsigned)count);
      continue;
    }
    maps[count] = mlirArrayAttrGetElement(old, i);
    operands[count++] = mlirOperationGetOperand(op, i);
  }
  int32_t segments[2] = {(int32_t)count - 1, 1};
  mlirOperationSetOperands(op, count, operands);
  mlirOperationSetAttributeByName(op, tg_ref("indexing_maps"),
                                  mlirArrayAttrGet(context, count, maps));
  mlirOperationSetAttributeByName(op, tg_ref("operandSegmentSizes"),
                                  mlirDenseI32ArrayGet(context, 2, segments));
}

/* What it computed up to the cut is the operand now. */
static void shorten_rest(const struct fold *fold, MlirValue value) {
  MlirBlock body =
      mlirRegionGetFirstBlock(mlirOperationGetRegion(fold->rest, 0));
  mlirOperationSetOperand(fold->rest, fold->rest_operand, value);
  mlirValueReplaceAllUsesOfWith(fold->cut,
                                mlirBlockGetArgument(body, fold->rest_operand));
  drop_unread_body(body);
  drop_unread_inputs(fold->rest);
}

static void apply_fold(const struct fold *fold,
                       const struct tg_remark_sink *remarks) {
  const struct tg_channel_chain *chain = &fold->chain;
  MlirOperation last = end_of_chain(fold);
  MlirLocation location = mlirOperationGetLocation(last);
  MlirBlock block = mlirBlockCreate(0, NULL, NULL);
  struct tg_builder builder;
  tg_builder_init(&builder, block, location,
                  mlirShapedTypeGetElementType(chain->type), 1);
  MlirValue value = build_folded(&builder, fold);
  tg_move_before(block, last);
  mlirBlockDestroy(block);
  if (mlirOperationIsNull(fold->rest))
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(last, 0), value);
  else
    shorten_rest(fold, value);
  char message[96];
  snprintf(message, sizeof(message),
           "%d elementwise operations behind it are folded into its weights",
           chain->length + !mlirOperationIsNull(fold->rest));
  tg_remark(remarks, mlirOperationGetLocation(fold->op), TG_REMARK_PASSED,
            message);
  destroy_folded(fold);
}

/*===-- The stage ---------------------------------------------------------===*/

struct sums {
  MlirOperation module;
  struct tg_arena *arena;
  MlirOperation *ops;
  size_t count, capacity;
  bool failed;
};

static MlirWalkResult add_sum(MlirOperation op, void *data) {
  struct sums *sums = data;
  struct tg_kernel kernel;
  if ((tg_op_is(op, "builtin.module") &&
       !mlirOperationEqual(op, sums->module)) ||
      tg_op_is(op, "transform.named_sequence"))
    return MlirWalkResultSkip;
  if (!tg_kernel_from_op(op, &kernel))
    return MlirWalkResultAdvance;
  MlirOperation *grown = tg_arena_grow(sums->arena, sums->ops, sums->count,
                                       &sums->capacity, sizeof(*grown));
  if (!grown) {
    sums->failed = true;
    return MlirWalkResultInterrupt;
  }
  sums->ops = grown;
  sums->ops[sums->count++] = op;
  return MlirWalkResultSkip;
}

bool tg_fold_batchnorm(MlirOperation module, bool overwrite,
                       struct tg_arena *arena,
                       const struct tg_remark_sink *remarks) {
  struct sums sums = {.module = module, .arena = arena};
  struct fold *fold = tg_arena_alloc(arena, 1, sizeof(*fold));
  mlirContextGetOrLoadDialect(mlirOperationGetContext(module),
                              tg_ref("tensor"));
  mlirOperationWalk(module, add_sum, &sums, MlirWalkPreOrder);
  if (sums.failed || !fold)
    return false;
  for (size_t i = 0; i < sums.count; ++i)
    if (find_fold(sums.ops[i], overwrite, fold))
      apply_fold(fold, remarks);
  return true;
}
