/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Windows, dimension numbers and groups, read from how the operands of a
 * convolution or a pooling are addressed: the same for NCHW, NHWC, a named
 * operation or a generic.
 */
#include "model/node.h"

/* One dimension of the image: the loop that moves the window and the loop
 * inside it; -1 where there is none. */
struct image_dimension {
  int parallel;
  int reduction;
};

static struct image_dimension
get_image_dimension(const struct tg_kernel *kernel, int dimension) {
  struct image_dimension loops = {-1, -1};
  for (int l = 0; l < kernel->loop_count; ++l) {
    if (kernel->operand[TG_LHS].coefficient[dimension][l] == 0)
      continue;
    if (kernel->reduction[l])
      loops.reduction = l;
    else
      loops.parallel = l;
  }
  return loops;
}

static bool is_window(const struct tg_kernel *kernel, int dimension,
                      struct image_dimension loops) {
  return loops.parallel >= 0 &&
         (loops.reduction >= 0 ||
          kernel->operand[TG_LHS].coefficient[dimension][loops.parallel] > 1);
}

bool tg_kernel_has_window(const struct tg_kernel *kernel) {
  for (int d = 0; d < kernel->operand[TG_LHS].rank; ++d)
    if (is_window(kernel, d, get_image_dimension(kernel, d)))
      return true;
  return false;
}

/* The window along one dimension of the image; a dimension without a loop of
 * its own has a window of one. */
static void push_window(struct tg_node_facts *node,
                        const struct tg_kernel *kernel, int dimension,
                        struct image_dimension loops, int64_t low,
                        int64_t high) {
  const int32_t *coefficient = kernel->operand[TG_LHS].coefficient[dimension];
  bool inside = loops.reduction >= 0;
  bool moves = loops.parallel >= 0;
  tg_dims_push(&node->window_size,
               inside ? kernel->extent[loops.reduction] : 1);
  tg_dims_push(&node->window_stride, moves ? coefficient[loops.parallel] : 1);
  tg_dims_push(&node->window_dilation,
               inside ? coefficient[loops.reduction] : 1);
  tg_dims_push(&node->window_base_dilation, 1);
  tg_dims_push(&node->window_reversal, 0);
  tg_dims_push(&node->window_padding_low, low);
  tg_dims_push(&node->window_padding_high, high);
}

/* Dimension numbers of the dimensions that a single loop steps. */
static void number_loop(struct tg_node_facts *node,
                        const struct tg_kernel *kernel, int loop) {
  int image = tg_access_dimension(&kernel->operand[TG_LHS], loop);
  int filter = tg_access_dimension(&kernel->operand[TG_RHS], loop);
  int result = tg_access_dimension(&kernel->operand[TG_RESULT], loop);
  if (image >= 0 &&
      is_window(kernel, image, get_image_dimension(kernel, image)))
    return;
  if (image >= 0 && filter >= 0 && result >= 0) {
    /* A group: its channels are features of the input and of the result,
     * unless the group has channels of its own. */
    node->feature_group_count *= kernel->extent[loop];
    if (node->conv.input_feature == 0)
      node->conv.input_feature = image;
    if (node->conv.kernel_output_feature == 0)
      node->conv.kernel_output_feature = filter;
    if (node->conv.output_feature == 0)
      node->conv.output_feature = result;
  } else if (image >= 0 && filter >= 0) {
    node->conv.input_feature = image;
    node->conv.kernel_input_feature = filter;
  } else if (filter >= 0 && result >= 0) {
    node->conv.kernel_output_feature = filter;
    node->conv.output_feature = result;
  } else if (image >= 0 && result >= 0) {
    node->conv.input_batch = image;
    node->conv.output_batch = result;
  }
}

void tg_node_set_convolution(struct tg_node_facts *node,
                             const struct tg_kernel *kernel,
                             const int64_t *padding_low,
                             const int64_t *padding_high) {
  node->feature_group_count = 1;
  node->batch_group_count = 1;
  for (int d = 0; d < kernel->operand[TG_LHS].rank; ++d) {
    struct image_dimension loops = get_image_dimension(kernel, d);
    if (!is_window(kernel, d, loops))
      continue;
    push_window(node, kernel, d, loops, padding_low ? padding_low[d] : 0,
                padding_high ? padding_high[d] : 0);
    tg_dims_push(&node->conv.input_spatial, d);
    int filter =
        loops.reduction >= 0
            ? tg_access_dimension(&kernel->operand[TG_RHS], loops.reduction)
            : -1;
    if (filter >= 0)
      tg_dims_push(&node->conv.kernel_spatial, filter);
  }
  /* Groups last: what they number is what nothing else has numbered. */
  for (int pass = 0; pass < 2; ++pass)
    for (int l = 0; l < kernel->loop_count; ++l) {
      bool group = tg_kernel_uses(kernel, TG_LHS, l) &&
                   tg_kernel_uses(kernel, TG_RHS, l) &&
                   tg_kernel_uses(kernel, TG_RESULT, l);
      if (group == (pass == 1))
        number_loop(node, kernel, l);
    }
}

void tg_node_set_pooling(struct tg_node_facts *node,
                         const struct tg_kernel *kernel,
                         const int64_t *padding_low,
                         const int64_t *padding_high) {
  for (int d = 0; d < kernel->operand[TG_LHS].rank; ++d)
    push_window(node, kernel, d, get_image_dimension(kernel, d),
                padding_low ? padding_low[d] : 0,
                padding_high ? padding_high[d] : 0);
}
