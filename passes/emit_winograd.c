/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The nest of Winograd's algorithm: groups [filter], images, blocks of rows of
 * tiles [image, product, result]. All of a block's scratch memory is used
 * again by the next block.
 */
#include "passes/emit_winograd.h"

#include <assert.h>
#include <string.h>

/*===-- Over the tiles of a block -----------------------------------------===*/

static void emit_part(struct tg_emit *emit, MlirValue position, int64_t size,
                      void *data) {
  struct tg_emit_winograd *e = data;
  struct tg_builder *b = &emit->builder;
  emit->position[e->winograd.column] = position;
  e->tile = tg_add(b, e->tile_row, tg_div(b, position, e->winograd.output));
  e->body(emit, position, size, e);
}

static void emit_row(struct tg_emit *emit, MlirValue position, int64_t rows,
                     void *data) {
  struct tg_emit_winograd *e = data;
  const struct tg_winograd *w = &e->winograd;
  struct tg_builder *b = &emit->builder;
  emit->position[w->row] = position;
  e->rows = rows;
  MlirValue row = tg_div(b, tg_sub(b, position, emit->row_origin), w->output);
  e->tile_row = tg_mul(b, row, w->tile_columns);
  tg_emit_split(emit, tg_index(b, 0), w->width, w->width, e->step, emit_part,
                e);
  emit->position[w->column] = tg_index(b, 0);
}

static void over_rows(struct tg_emit_winograd *e, MlirValue origin) {
  const struct tg_winograd *w = &e->winograd;
  tg_emit_split(&e->emit, origin, w->block_rows * w->output, w->height,
                w->output, emit_row, e);
  e->emit.position[w->row] = tg_index(&e->emit.builder, 0);
}

void tg_winograd_over_tiles(struct tg_emit_winograd *e, MlirValue origin,
                            tg_winograd_body body) {
  e->emit.row_origin = origin;
  e->body = body;
  e->step = e->winograd.output;
  over_rows(e, origin);
}

void tg_winograd_over_rows(struct tg_emit_winograd *e, MlirValue origin,
                           int loop, tg_winograd_body body) {
  struct tg_emit *emit = &e->emit;
  struct tg_builder *b = &emit->builder;
  emit->row_origin = origin;
  e->body = body;
  e->step = e->winograd.output * b->lanes;
  if (loop == TG_NO_LOOP) {
    over_rows(e, origin);
    return;
  }
  struct tg_for channels;
  tg_emit_loop_begin(emit, &channels, tg_index(b, 0),
                     tg_index(b, emit->kernel->extent[loop]), 1);
  emit->position[loop] = channels.iv;
  over_rows(e, origin);
  tg_emit_loop_end(emit, &channels);
}

/*===-- The product -------------------------------------------------------===*/

static void emit_product(struct tg_emit_winograd *e) {
  struct tg_emit *emit = &e->emit;
  MlirValue arguments[TG_OPERAND_COUNT];
  arguments[TG_LHS] = emit->state[TG_WINOGRAD_V];
  arguments[TG_RHS] = emit->state[TG_WINOGRAD_U];
  arguments[TG_RESULT] = emit->state[TG_WINOGRAD_M];
  struct tg_epilogue none;
  memset(&none, 0, sizeof(none));
  emit->state[TG_WINOGRAD_M] =
      tg_emit_kernel(&emit->builder, &e->winograd.product, &none, arguments);
}

/*===-- The nest ----------------------------------------------------------===*/

static void emit_block(struct tg_emit_winograd *e, MlirValue origin) {
  tg_winograd_emit_image(e, origin);
  emit_product(e);
  tg_winograd_emit_result(e, origin);
}

static void emit_image(struct tg_emit_winograd *e) {
  struct tg_builder *b = &e->emit.builder;
  const struct tg_winograd *w = &e->winograd;
  if (w->block_rows >= w->tile_rows) {
    emit_block(e, tg_index(b, 0));
    return;
  }
  struct tg_for loop;
  tg_emit_loop_begin(&e->emit, &loop, tg_index(b, 0), tg_index(b, w->height),
                     w->block_rows * w->output);
  emit_block(e, loop.iv);
  tg_emit_loop_end(&e->emit, &loop);
}

static void emit_group(struct tg_emit_winograd *e);

/* body for every iteration of the loops, from number `depth` on. */
static void emit_loops(struct tg_emit_winograd *e, const int *loops, int count,
                       void (*body)(struct tg_emit_winograd *)) {
  struct tg_emit *emit = &e->emit;
  struct tg_builder *b = &emit->builder;
  if (count == 0) {
    body(e);
    return;
  }
  struct tg_for loop;
  tg_emit_loop_begin(emit, &loop, tg_index(b, 0),
                     tg_index(b, emit->kernel->extent[loops[0]]), 1);
  emit->position[loops[0]] = loop.iv;
  emit_loops(e, loops + 1, count - 1, body);
  tg_emit_loop_end(emit, &loop);
  emit->position[loops[0]] = tg_index(b, 0);
}

static void emit_group(struct tg_emit_winograd *e) {
  if (!tg_plan_takes_panels(e->emit.plan, e->winograd.filter))
    tg_winograd_emit_filter(e);
  emit_loops(e, e->winograd.batch, e->winograd.batch_count, emit_image);
}

/*===-- Set-up ------------------------------------------------------------===*/

static void begin(struct tg_emit_winograd *e, const struct tg_builder *builder,
                  const struct tg_plan *plan) {
  struct tg_emit *emit = &e->emit;
  emit->builder = *builder;
  emit->plan = plan;
  emit->kernel = &plan->canonical.kernel;
  tg_winograd_describe(plan, &e->winograd);
  tg_winograd_get_matrices(e->winograd.output, &e->matrices);
  for (int l = 0; l < TG_MAX_LOOPS; ++l)
    emit->position[l] = tg_index(&emit->builder, 0);
}

static void take_source(struct tg_emit_winograd *e, int operand,
                        MlirValue argument) {
  static const int flat[TG_MAX_RANK] = {0};
  e->emit.source[operand] =
      tg_collapse(&e->emit.builder, argument,
                  e->emit.plan->canonical.source_rank[operand], flat);
}

/* operand: of the product. */
static void create_scratch(struct tg_emit_winograd *e, int slot, int operand) {
  const struct tg_access *access =
      &e->winograd.product.canonical.kernel.operand[operand];
  e->emit.state[slot] =
      tg_scratch(&e->emit.builder, access->rank, access->extent);
}

/* What the filter is transformed in, and to. */
static void create_filter(struct tg_emit_winograd *e) {
  int64_t lanes = e->emit.builder.lanes;
  int64_t windows[2] = {TG_WINOGRAD_WINDOW * TG_WINOGRAD_WINDOW * lanes, lanes};
  create_scratch(e, TG_WINOGRAD_U, TG_RHS);
  if (e->winograd.filter_way != TG_WINOGRAD_VECTORS)
    e->emit.state[TG_WINOGRAD_SCRATCH] =
        tg_scratch(&e->emit.builder, 2, windows);
}

MlirValue tg_emit_winograd_panels(struct tg_builder *builder,
                                  const struct tg_plan *plan,
                                  MlirValue filter) {
  struct tg_emit_winograd e = {.emit = {.epilogue = NULL}};
  begin(&e, builder, plan);
  take_source(&e, e.winograd.filter, filter);
  create_filter(&e);
  tg_winograd_emit_filter(&e);
  builder->block = e.emit.builder.block;
  return e.emit.state[TG_WINOGRAD_U];
}

MlirValue tg_emit_winograd(struct tg_builder *builder,
                           const struct tg_plan *plan,
                           struct tg_epilogue *epilogue,
                           const MlirValue *arguments) {
  const struct tg_canonical *canonical = &plan->canonical;
  struct tg_emit_winograd e = {.emit = {.epilogue = epilogue}};
  struct tg_emit *emit = &e.emit;
  struct tg_builder *b = &emit->builder;
  begin(&e, builder, plan);
  int filter = e.winograd.filter;
  bool given = tg_plan_takes_panels(plan, filter);
  take_source(&e, e.winograd.image, arguments[e.winograd.image]);
  if (!given)
    take_source(&e, filter, arguments[filter]);
  int rank = canonical->source_rank[TG_RESULT];
  const int *group = canonical->group[TG_RESULT];
  emit->state[TG_CARRIED_RESULT] =
      tg_collapse(b, arguments[TG_RESULT], rank, group);
  tg_epilogue_begin(b, epilogue, arguments + TG_OPERAND_COUNT);
  create_scratch(&e, TG_WINOGRAD_V, TG_LHS);
  create_scratch(&e, TG_WINOGRAD_M, TG_RESULT);
  if (given)
    emit->state[TG_WINOGRAD_U] = arguments[filter];
  else
    create_filter(&e);
  emit_loops(&e, e.winograd.group, e.winograd.group_count, emit_group);
  MlirValue result = tg_expand(b, emit->state[TG_CARRIED_RESULT], rank, group,
                               arguments[TG_RESULT]);
  builder->block = b->block;
  return result;
}
