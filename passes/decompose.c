/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Upstream's own decompositions do the work where there is one: the operations
 * are marked, and a transform script takes the marked ones apart. tensor.gather
 * has none and becomes the generic that says the same.
 */
#include "passes/decompose.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/Dialect/Transform/Interpreter.h>
#include <stdlib.h>

#include "model/kernel.h"
#include "passes/build.h"
#include "passes/inspect.h"

#define MARK "tgraph.decompose"

static const char script[] =
    "module attributes {transform.with_named_sequence} {\n"
    "  transform.named_sequence @__transform_main(\n"
    "      %root: !transform.any_op {transform.readonly}) {\n"
    "    %packs = transform.structured.match ops{[\"linalg.pack\"]}\n"
    "      attributes{" MARK "} in %root\n"
    "      : (!transform.any_op) -> !transform.op<\"linalg.pack\">\n"
    "    %0:3 = transform.structured.lower_pack %packs\n"
    "      : (!transform.op<\"linalg.pack\">)\n"
    "      -> (!transform.op<\"tensor.pad\">,\n"
    "          !transform.op<\"tensor.expand_shape\">,\n"
    "          !transform.op<\"linalg.transpose\">)\n"
    "    %unpacks = transform.structured.match ops{[\"linalg.unpack\"]}\n"
    "      attributes{" MARK "} in %root\n"
    "      : (!transform.any_op) -> !transform.op<\"linalg.unpack\">\n"
    "    %1:4 = transform.structured.lower_unpack %unpacks\n"
    "      : (!transform.op<\"linalg.unpack\">)\n"
    "      -> (!transform.op<\"tensor.empty\">,\n"
    "          !transform.op<\"linalg.transpose\">,\n"
    "          !transform.op<\"tensor.collapse_shape\">,\n"
    "          !transform.op<\"tensor.extract_slice\">)\n"
    "    %softmax = transform.structured.match ops{[\"linalg.softmax\"]}\n"
    "      attributes{" MARK "} in %root\n"
    "      : (!transform.any_op) -> !transform.any_op\n"
    "    %2 = transform.structured.decompose_interface %softmax\n"
    "      : (!transform.any_op) -> !transform.any_op\n"
    "    %winograd = transform.structured.match\n"
    "      ops{[\"linalg.winograd_filter_transform\",\n"
    "           \"linalg.winograd_input_transform\",\n"
    "           \"linalg.winograd_output_transform\"]}\n"
    "      attributes{" MARK "} in %root\n"
    "      : (!transform.any_op) -> !transform.any_op\n"
    "    %3 = transform.structured.decompose_winograd_op %winograd\n"
    "      : (!transform.any_op) -> !transform.any_op\n"
    "    transform.yield\n"
    "  }\n"
    "}\n";

/* What the script takes apart. */
static const struct {
  const char *name;
  bool for_choice;
} scripted[] = {
    {"linalg.pack", false},
    {"linalg.unpack", false},
    {"linalg.softmax", true},
    {"linalg.winograd_filter_transform", false},
    {"linalg.winograd_input_transform", false},
    {"linalg.winograd_output_transform", false},
};

struct decompose {
  enum tg_decompose what;
  bool marked;
};

static bool is_left(MlirOperation op, enum tg_decompose what) {
  return mlirOperationGetNumResults(op) != 1 ||
         (what == TG_DECOMPOSE_FOR_CHOICE && tg_op_is_skipped(op));
}

/*===-- tensor.gather -----------------------------------------------------===*/

struct gather {
  MlirOperation op;
  MlirValue source, indices, result;
  MlirType type;
  intptr_t source_rank, batch_rank, result_rank, coordinates;
  intptr_t coordinate_of[TG_MAX_RANK]; /* of a dimension of source, or -1 */
  intptr_t result_of[TG_MAX_RANK];     /* dimension that walks it, or -1 */
  bool reduced; /* the gathered dimensions are not in the result */
};

static bool read_gather(MlirOperation op, struct gather *gather) {
  *gather = (struct gather){.op = op,
                            .source = mlirOperationGetOperand(op, 0),
                            .indices = mlirOperationGetOperand(op, 1),
                            .result = mlirOperationGetResult(op, 0)};
  gather->type = mlirValueGetType(gather->result);
  MlirType source = mlirValueGetType(gather->source);
  MlirType indices = mlirValueGetType(gather->indices);
  MlirAttribute dims =
      mlirOperationGetAttributeByName(op, tg_ref("gather_dims"));
  if (!mlirTypeIsARankedTensor(source) || !mlirTypeIsARankedTensor(indices) ||
      mlirAttributeIsNull(dims) || !mlirAttributeIsADenseI64Array(dims))
    return false;
  gather->source_rank = mlirShapedTypeGetRank(source);
  gather->batch_rank = mlirShapedTypeGetRank(indices) - 1;
  gather->result_rank = mlirShapedTypeGetRank(gather->type);
  gather->coordinates = mlirDenseArrayGetNumElements(dims);
  if (gather->source_rank > TG_MAX_RANK || gather->result_rank > TG_MAX_RANK ||
      gather->batch_rank < 0)
    return false;
  for (intptr_t d = 0; d < gather->source_rank; ++d)
    gather->coordinate_of[d] = -1;
  for (intptr_t i = 0; i < gather->coordinates; ++i)
    gather->coordinate_of[mlirDenseI64ArrayGetElement(dims, i)] = i;
  gather->reduced = gather->result_rank == gather->batch_rank +
                                               gather->source_rank -
                                               gather->coordinates;
  intptr_t next = gather->batch_rank;
  for (intptr_t d = 0; d < gather->source_rank; ++d) {
    bool gathered = gather->coordinate_of[d] >= 0;
    gather->result_of[d] = gathered ? -1 : next;
    next += !gathered || !gather->reduced;
  }
  return next == gather->result_rank;
}

static MlirValue build_empty(struct tg_builder *builder,
                             const struct gather *gather) {
  MlirValue sizes[TG_MAX_RANK];
  int count = 0;
  for (intptr_t r = 0; r < gather->result_rank; ++r) {
    if (!mlirShapedTypeIsDynamicDim(gather->type, r))
      continue;
    MlirValue operands[2] = {gather->indices, tg_index(builder, r)};
    for (intptr_t d = 0; d < gather->source_rank; ++d)
      if (r >= gather->batch_rank && gather->result_of[d] == r) {
        operands[0] = gather->source;
        operands[1] = tg_index(builder, d);
      }
    sizes[count++] =
        tg_build_1(builder, "tensor.dim", 2, operands, builder->index);
  }
  return tg_build_1(builder, "tensor.empty", count, sizes, gather->type);
}

static MlirValue build_linalg_index(struct tg_builder *builder, intptr_t loop) {
  MlirNamedAttribute dim = tg_named(
      builder->context, "dim",
      mlirIntegerAttrGet(mlirIntegerTypeGet(builder->context, 64), loop));
  return mlirOperationGetResult(
      tg_build(builder, "linalg.index", 0, NULL, 1, &builder->index, 1, &dim),
      0);
}

/* indices[batch..., coordinate] as an index. */
static MlirValue build_coordinate(struct tg_builder *builder,
                                  const struct gather *gather,
                                  intptr_t coordinate) {
  MlirType element =
      mlirShapedTypeGetElementType(mlirValueGetType(gather->indices));
  MlirValue operands[TG_MAX_RANK + 2] = {gather->indices};
  intptr_t count = 1;
  for (intptr_t b = 0; b < gather->batch_rank; ++b)
    operands[count++] = build_linalg_index(builder, b);
  operands[count++] = tg_index(builder, coordinate);
  MlirValue place =
      tg_build_1(builder, "tensor.extract", (int)count, operands, element);
  return mlirTypeIsAIndex(element) ? place
                                   : tg_build_1(builder, "arith.index_cast", 1,
                                                &place, builder->index);
}

static MlirBlock build_body(const struct gather *gather) {
  MlirLocation location = mlirOperationGetLocation(gather->op);
  MlirType element = mlirShapedTypeGetElementType(gather->type);
  MlirBlock body = mlirBlockCreate(1, &element, &location);
  struct tg_builder builder;
  tg_builder_init(&builder, body, location, element, 1);
  MlirValue operands[TG_MAX_RANK + 1] = {gather->source};
  for (intptr_t d = 0; d < gather->source_rank; ++d)
    operands[1 + d] =
        gather->coordinate_of[d] >= 0
            ? build_coordinate(&builder, gather, gather->coordinate_of[d])
            : build_linalg_index(&builder, gather->result_of[d]);
  MlirValue value = tg_build_1(&builder, "tensor.extract",
                               (int)gather->source_rank + 1, operands, element);
  tg_build(&builder, "linalg.yield", 1, &value, 0, NULL, 0, NULL);
  return body;
}

static MlirOperation build_generic(const struct gather *gather,
                                   MlirValue empty) {
  MlirContext context = mlirOperationGetContext(gather->op);
  MlirAttribute map = mlirAffineMapAttrGet(
      mlirAffineMapMultiDimIdentityGet(context, gather->result_rank));
  MlirAttribute kinds[TG_MAX_RANK];
  for (intptr_t r = 0; r < gather->result_rank; ++r)
    kinds[r] = tg_iterator_kind(context, false);
  int32_t segments[2] = {0, 1};
  MlirNamedAttribute attributes[] = {
      tg_named(context, "indexing_maps", mlirArrayAttrGet(context, 1, &map)),
      tg_named(context, "iterator_types",
               mlirArrayAttrGet(context, gather->result_rank, kinds)),
      tg_named(context, "operandSegmentSizes",
               mlirDenseI32ArrayGet(context, 2, segments))};
  MlirRegion region = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(region, build_body(gather));
  MlirOperationState state = mlirOperationStateGet(
      tg_ref("linalg.generic"), mlirOperationGetLocation(gather->op));
  mlirOperationStateAddOperands(&state, 1, &empty);
  mlirOperationStateAddResults(&state, 1, &gather->type);
  mlirOperationStateAddAttributes(
      &state, sizeof(attributes) / sizeof(attributes[0]), attributes);
  mlirOperationStateAddOwnedRegions(&state, 1, &region);
  return mlirOperationCreate(&state);
}

static MlirWalkResult expand_gather(MlirOperation op, void *data) {
  const struct decompose *decompose = data;
  struct gather gather;
  if (!tg_op_is(op, "tensor.gather") || is_left(op, decompose->what) ||
      !read_gather(op, &gather))
    return MlirWalkResultAdvance;
  MlirLocation location = mlirOperationGetLocation(op);
  MlirBlock block = mlirBlockCreate(0, NULL, NULL);
  struct tg_builder builder;
  tg_builder_init(&builder, block, location,
                  mlirShapedTypeGetElementType(gather.type), 1);
  MlirOperation generic =
      build_generic(&gather, build_empty(&builder, &gather));
  mlirBlockAppendOwnedOperation(block, generic);
  tg_move_before(block, op);
  mlirBlockDestroy(block);
  mlirValueReplaceAllUsesOfWith(gather.result,
                                mlirOperationGetResult(generic, 0));
  mlirOperationDestroy(op);
  return MlirWalkResultSkip;
}

/*===-- The script --------------------------------------------------------===*/

static MlirWalkResult mark(MlirOperation op, void *data) {
  struct decompose *decompose = data;
  for (size_t i = 0; i < sizeof(scripted) / sizeof(scripted[0]); ++i) {
    if (!tg_op_is(op, scripted[i].name) || is_left(op, decompose->what) ||
        (decompose->what == TG_DECOMPOSE_FOR_CHOICE && !scripted[i].for_choice))
      continue;
    mlirOperationSetDiscardableAttributeByName(
        op, tg_ref(MARK), mlirUnitAttrGet(mlirOperationGetContext(op)));
    decompose->marked = true;
  }
  return MlirWalkResultAdvance;
}

static MlirLogicalResult run_script(MlirOperation module) {
  MlirContext context = mlirOperationGetContext(module);
  mlirContextGetOrLoadDialect(context, tg_ref("transform"));
  mlirContextGetOrLoadDialect(context, tg_ref("tensor"));
  MlirModule schedule = mlirModuleCreateParse(context, tg_ref(script));
  if (mlirModuleIsNull(schedule))
    return mlirLogicalResultFailure();
  MlirOperation sequence =
      mlirBlockGetFirstOperation(mlirModuleGetBody(schedule));
  MlirTransformOptions options = mlirTransformOptionsCreate();
  MlirLogicalResult result = mlirTransformApplyNamedSequence(
      module, sequence, mlirModuleGetOperation(schedule), options);
  mlirTransformOptionsDestroy(options);
  mlirModuleDestroy(schedule);
  return result;
}

MlirLogicalResult tg_decompose(MlirOperation module, enum tg_decompose what) {
  struct decompose decompose = {what, false};
  mlirOperationWalk(module, expand_gather, &decompose, MlirWalkPostOrder);
  mlirOperationWalk(module, mark, &decompose, MlirWalkPreOrder);
  return decompose.marked ? run_script(module) : mlirLogicalResultSuccess();
}
