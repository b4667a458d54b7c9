/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Random chains. A program is about images, (n, c, h, w) or (n, h, w, c), or
 * about rows, (m, k) or (b, m, k); images may become rows. Weights are as large
 * as networks have them, so that values stay near 1 in every type.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "test/chains/text.h"

static int below(struct chain *chain, int count) {
  return random_below(&chain->random, count);
}
static bool percent(struct chain *chain, int chance) {
  return random_percent(&chain->random, chance);
}

static int draw_size(struct chain *chain, int most) {
  return percent(chain, 20) ? 1 + below(chain, 4) : 1 + below(chain, most);
}

/* Sums of `count` products of such numbers are about 1. */
static double weight_limit(int64_t count) { return sqrt(3.0 / (double)count); }

/*===-- Elementwise -------------------------------------------------------===*/

static struct value put_unary(struct chain *chain, struct value value) {
  static const char *const bodies[] = {
      "    %z = arith.constant 0.0 : $\n"
      "    %y = arith.maximumf %x0, %z : $\n",
      "    %z = arith.constant 0.0 : $\n    %s = arith.constant 6.0 : $\n"
      "    %c = arith.cmpf ult, %x0, %z : $\n"
      "    %l = arith.select %c, %z, %x0 : $\n"
      "    %d = arith.cmpf ugt, %l, %s : $\n"
      "    %y = arith.select %d, %s, %l : $\n",
      "    %h = arith.constant 0.5 : $\n    %i = arith.constant 1.0 : $\n"
      "    %r = arith.constant 0.70703125 : $\n"
      "    %m = arith.mulf %x0, %r : $\n    %e = math.erf %m : $\n"
      "    %p = arith.addf %e, %i : $\n    %q = arith.mulf %x0, %h : $\n"
      "    %y = arith.mulf %p, %q : $\n",
      "    %i = arith.constant 1.0 : $\n    %n = arith.negf %x0 : $\n"
      "    %e = math.exp %n : $\n    %s = arith.addf %e, %i : $\n"
      "    %y = arith.divf %x0, %s : $\n",
      "    %y = math.tanh %x0 : $\n",
      "    %c = arith.constant 0.375 : $\n"
      "    %y = arith.mulf %x0, %c : $\n",
      "    %y = arith.negf %x0 : $\n",
  };
  struct input input = whole_input(value);
  return put_elementwise(
      chain, value.tensor, 1, &input,
      bodies[below(chain, sizeof(bodies) / sizeof(bodies[0]))]);
}

/* With an argument of the channels' dimension. */
static struct value put_bias(struct chain *chain, struct value value,
                             int channel) {
  static const char *const bodies[] = {
      "    %y = arith.addf %x0, %x1 : $\n",
      "    %y = arith.mulf %x0, %x1 : $\n",
      "    %z = arith.constant 0.0 : $\n"
      "    %s = arith.addf %x1, %x0 : $\n"
      "    %y = arith.maximumf %s, %z : $\n",
  };
  struct value bias;
  if (!add_argument(chain, shape(1, &value.tensor.extent[channel]), 1, &bias))
    return value;
  struct input inputs[2] = {whole_input(value), {.value = bias}};
  inputs[1].dimension[0] = channel;
  return put_elementwise(chain, value.tensor, 2, inputs,
                         bodies[below(chain, 3)]);
}

static bool same_extents(const struct tensor *a, const struct tensor *b) {
  return a->rank == b->rank &&
         !memcmp(a->extent, b->extent, (size_t)a->rank * sizeof(a->extent[0]));
}

/* With an earlier value, or itself. */
static struct value put_residual(struct chain *chain, struct value value) {
  static const char *const bodies[] = {
      "    %y = arith.addf %x0, %x1 : $\n",
      "    %y = arith.subf %x1, %x0 : $\n",
      "    %y = arith.addf %x1, %x0 : $\n",
  };
  struct value other = value;
  for (int i = 0; i < chain->value_count; ++i)
    if (same_extents(&chain->value[i].tensor, &value.tensor) &&
        percent(chain, 60))
      other = chain->value[i];
  struct input inputs[2] = {whole_input(value), whole_input(other)};
  bool itself = !strcmp(other.name, value.name);
  return put_elementwise(chain, value.tensor, 2, inputs,
                         bodies[itself ? 0 : below(chain, 3)]);
}

static struct value put_some_elementwise(struct chain *chain,
                                         struct value value, int channel) {
  for (int count = below(chain, 4); count > 0; --count) {
    int kind = below(chain, 10);
    value = kind < 4   ? put_bias(chain, value, channel)
            : kind < 7 ? put_unary(chain, value)
                       : put_residual(chain, value);
    if (percent(chain, 40))
      remember(chain, value);
  }
  return value;
}

/*===-- Kernels -----------------------------------------------------------===*/

/* What a sum starts from: zeros, or the broadcast of an argument. */
static struct value put_start(struct chain *chain, struct tensor result,
                              int channel, char element) {
  struct value bias;
  if (element == '$' && percent(chain, 30) &&
      add_argument(chain, shape(1, &result.extent[channel]), 1, &bias)) {
    struct input input = {.value = bias};
    input.dimension[0] = channel;
    return put_elementwise(chain, result, 1, &input,
                           "    %y = arith.addf %x0, %x0 : $\n");
  }
  return put_fill(chain, result, element, 0);
}

/* `text` in front of the operands, `result` made of the two. */
static struct value put_kernel(struct chain *chain, const char *name,
                               const char *attributes, struct value lhs,
                               struct value rhs, struct tensor result,
                               int channel) {
  char element = percent(chain, 25) ? '@' : '$';
  struct value start = put_start(chain, result, channel, element);
  struct value sum = new_value(chain, result);
  put(chain, "  %s = linalg.%s%s ins(%s, %s : ", sum.name, name, attributes,
      lhs.name, rhs.name);
  put_type(chain, &lhs.tensor, '$');
  put(chain, ", ");
  put_type(chain, &rhs.tensor, '$');
  put(chain, ") outs(%s : ", start.name);
  put_type(chain, &result, element);
  put(chain, ") -> ");
  put_type(chain, &result, element);
  put(chain, "\n");
  if (element == '$')
    return sum;
  /* Rounded, where that is narrower. */
  struct value out = put_empty(chain, result, '$');
  struct value rounded = new_value(chain, result);
  static const char *const dims[] = {"", "d0", "d0, d1", "d0, d1, d2",
                                     "d0, d1, d2, d3"};
  const char *list = dims[result.rank];
  put(chain,
      "  %s = linalg.generic {indexing_maps = [affine_map<(%s) -> (%s)>, "
      "affine_map<(%s) -> (%s)>], iterator_types = [",
      rounded.name, list, list, list, list);
  for (int d = 0; d < result.rank; ++d)
    put(chain, "%s\"parallel\"", d ? ", " : "");
  put(chain, "]} ins(%s : ", sum.name);
  put_type(chain, &result, '@');
  put(chain, ") outs(%s : ", out.name);
  put_type(chain, &result, '$');
  put(chain, ") {\n  ^bb0(%%x: @, %%o: $):\n~  } -> ");
  put_type(chain, &result, '$');
  put(chain, "\n");
  return rounded;
}

/*===-- Images ------------------------------------------------------------===*/

/* The dimensions of an image in one of the two orders. */
struct order {
  bool channels_first;
  int c, h, w;
};

static struct order order_of(bool channels_first) {
  return channels_first ? (struct order){true, 1, 2, 3}
                        : (struct order){false, 3, 1, 2};
}

static struct value put_pad(struct chain *chain, struct order o,
                            struct value image, int low, int high) {
  struct tensor result = image.tensor;
  int before[4] = {0}, after[4] = {0};
  before[o.h] = before[o.w] = low;
  after[o.h] = after[o.w] = high;
  result.extent[o.h] += low + high;
  result.extent[o.w] += low + high;
  struct value padded = new_value(chain, result);
  put(chain,
      "  %s_c = arith.constant 0.0 : $\n  %s = tensor.pad %s low[%d, %d, %d, "
      "%d] high[%d, %d, %d, %d] {\n  ^bb0(%%i: index, %%j: index, %%k: index, "
      "%%l: index):\n    tensor.yield %s_c : $\n  } : ",
      padded.name, padded.name, image.name, before[0], before[1], before[2],
      before[3], after[0], after[1], after[2], after[3], padded.name);
  put_type(chain, &image.tensor, '$');
  put(chain, " to ");
  put_type(chain, &result, '$');
  put(chain, "\n");
  return padded;
}

static struct value put_convolution(struct chain *chain, struct order o,
                                    struct value image) {
  bool depthwise = percent(chain, 25);
  int size = percent(chain, 60) ? 3 : 1 + below(chain, 3);
  int stride = percent(chain, 70) ? 1 : 2;
  if (size > 1 && percent(chain, 75))
    image = put_pad(chain, o, image, size / 2, below(chain, 2) + size / 2);
  int64_t h = image.tensor.extent[o.h], w = image.tensor.extent[o.w];
  if (h < size || w < size)
    size = 1;
  int64_t c = image.tensor.extent[o.c];
  int64_t f = depthwise ? c : draw_size(chain, 36);
  const int64_t first[4] = {f, c, size, size}, last[4] = {size, size, c, f};
  struct tensor filter = depthwise
                             ? shape(3, o.channels_first ? first + 1 : last)
                             : shape(4, o.channels_first ? first : last);
  struct value weight;
  if (!add_argument(chain, filter,
                    weight_limit(size * size * (depthwise ? 1 : c)), &weight))
    return image;
  struct tensor result = image.tensor;
  result.extent[o.c] = f;
  result.extent[o.h] = (h - size) / stride + 1;
  result.extent[o.w] = (w - size) / stride + 1;
  const char *name =
      depthwise
          ? (o.channels_first ? "depthwise_conv_2d_nchw_chw"
                              : "depthwise_conv_2d_nhwc_hwc")
          : (o.channels_first ? "conv_2d_nchw_fchw" : "conv_2d_nhwc_hwcf");
  return put_kernel(chain, name,
                    stride == 1 ? " {dilations = dense<1> : tensor<2xi64>, "
                                  "strides = dense<1> : tensor<2xi64>}"
                                : " {dilations = dense<1> : tensor<2xi64>, "
                                  "strides = dense<2> : tensor<2xi64>}",
                    image, weight, result, o.c);
}

static struct value put_pooling(struct chain *chain, struct order o,
                                struct value image) {
  if (image.tensor.extent[o.h] < 2 || image.tensor.extent[o.w] < 2)
    return image;
  bool largest = percent(chain, 60);
  struct tensor result = image.tensor;
  result.extent[o.h] /= 2;
  result.extent[o.w] /= 2;
  const int64_t sides[2] = {2, 2};
  struct value window = put_empty(chain, shape(2, sides), '$');
  struct value start = put_fill(chain, result, '$', largest ? -1000 : 0);
  struct value pooled = new_value(chain, result);
  put(chain,
      "  %s = linalg.pooling_%s_%s {dilations = dense<1> : tensor<2xi64>, "
      "strides = dense<2> : tensor<2xi64>} ins(%s, %s : ",
      pooled.name, o.channels_first ? "nchw" : "nhwc", largest ? "max" : "sum",
      image.name, window.name);
  put_type(chain, &image.tensor, '$');
  put(chain, ", ");
  put_type(chain, &window.tensor, '$');
  put(chain, ") outs(%s : ", start.name);
  put_type(chain, &result, '$');
  put(chain, ") -> ");
  put_type(chain, &result, '$');
  put(chain, "\n");
  return pooled;
}

/* (n, pixels, channels), or (n, all of them). */
static struct value put_rows_of_image(struct chain *chain, struct order o,
                                      struct value image) {
  if (percent(chain, 30))
    return put_collapse(chain, image, 2, (const int[]){1, 3});
  if (o.channels_first) {
    struct value rows = put_collapse(chain, image, 3, (const int[]){1, 1, 2});
    return put_transpose(chain, rows, (const int[]){0, 2, 1});
  }
  return put_collapse(chain, image, 3, (const int[]){1, 2, 1});
}

static struct value put_images(struct chain *chain, struct order o,
                               struct value image, int kernels) {
  for (int i = 0; i < kernels; ++i) {
    image = put_convolution(chain, o, image);
    image = put_some_elementwise(chain, image, o.c);
    if (percent(chain, 15))
      image = put_pooling(chain, o, image);
    if (percent(chain, 15)) {
      /* A change of the order in the middle of the program. */
      static const int to_last[4] = {0, 2, 3, 1}, to_first[4] = {0, 3, 1, 2};
      image =
          put_transpose(chain, image, o.channels_first ? to_last : to_first);
      o = order_of(!o.channels_first);
    }
    if (percent(chain, 50))
      remember(chain, image);
  }
  return percent(chain, 30) ? put_rows_of_image(chain, o, image) : image;
}

/*===-- Rows --------------------------------------------------------------===*/

static struct value put_dense(struct chain *chain, struct value x) {
  int last = x.tensor.rank - 1;
  int64_t k = x.tensor.extent[last], n = draw_size(chain, 70);
  bool batched = x.tensor.rank == 3, transposed = percent(chain, 40);
  int64_t b = batched ? x.tensor.extent[0] : 1;
  const int64_t plain[3] = {b, k, n}, turned[3] = {b, n, k};
  bool flat = batched && percent(chain, 50);
  bool own = batched && !flat; /* weights of each batch */
  struct value weight;
  const int64_t *extent = transposed ? turned : plain;
  if (!add_argument(chain, own ? shape(3, extent) : shape(2, extent + 1),
                    weight_limit(k), &weight))
    return x;
  if (transposed)
    weight = put_transpose(chain, weight,
                           own ? (const int[]){0, 2, 1} : (const int[]){1, 0});
  struct tensor result = x.tensor;
  result.extent[last] = n;
  if (!flat)
    return put_kernel(chain, batched ? "batch_matmul" : "matmul", "", x, weight,
                      result, last);
  struct value rows = put_collapse(chain, x, 2, (const int[]){2, 1});
  const int64_t product[2] = {rows.tensor.extent[0], n};
  rows = put_kernel(chain, "matmul", "", rows, weight, shape(2, product), 1);
  return put_expand(chain, rows, result, 2, (const int[]){2, 1});
}

static struct value put_softmax(struct chain *chain, struct value x) {
  int last = x.tensor.rank - 1;
  if (percent(chain, 40)) {
    struct value out = put_empty(chain, x.tensor, '$');
    struct value result = new_value(chain, x.tensor);
    put(chain, "  %s = linalg.softmax dimension(%d) ins(%s : ", result.name,
        last, x.name);
    put_type(chain, &x.tensor, '$');
    put(chain, ") outs(%s : ", out.name);
    put_type(chain, &x.tensor, '$');
    put(chain, ") -> ");
    put_type(chain, &x.tensor, '$');
    put(chain, "\n");
    return result;
  }
  struct input inputs[2] = {whole_input(x), {.value = x}};
  inputs[1] = whole_input(
      put_reduction(chain, x, -1000, "    %y = arith.maximumf %x, %o : $\n"));
  struct value e = put_elementwise(chain, x.tensor, 2, inputs,
                                   "    %d = arith.subf %x0, %x1 : $\n"
                                   "    %y = math.exp %d : $\n");
  inputs[0] = whole_input(e);
  inputs[1] = whole_input(
      put_reduction(chain, e, 0, "    %y = arith.addf %x, %o : $\n"));
  return put_elementwise(chain, x.tensor, 2, inputs,
                         "    %y = arith.divf %x0, %x1 : $\n");
}

/* softmax(x x^T / 4) x */
static struct value put_attention(struct chain *chain, struct value x) {
  bool batched = x.tensor.rank == 3;
  const char *name = batched ? "batch_matmul" : "matmul";
  int last = x.tensor.rank - 1;
  struct value turned = put_transpose(
      chain, x, batched ? (const int[]){0, 2, 1} : (const int[]){1, 0});
  struct tensor square = x.tensor;
  square.extent[last] = x.tensor.extent[last - 1];
  struct value scores = put_kernel(chain, name, "", x, turned, square, last);
  struct input input = whole_input(scores);
  if (percent(chain, 80))
    scores = put_elementwise(chain, square, 1, &input,
                             "    %c = arith.constant 0.25 : $\n"
                             "    %y = arith.mulf %x0, %c : $\n");
  scores = put_softmax(chain, scores);
  return put_kernel(chain, name, "", scores, x, x.tensor, last);
}

/* (x - mean) / sqrt(variance + small) */
static struct value put_norm(struct chain *chain, struct value x) {
  int64_t k = x.tensor.extent[x.tensor.rank - 1];
  /* Of one number, the deviation is 0 but for rounding. */
  if (k < 8)
    return x;
  char scale[160];
  snprintf(scale, sizeof(scale),
           "    %%c = arith.constant %.9f : $\n"
           "    %%y = arith.mulf %%x0, %%c : $\n",
           ldexp(rint(ldexp(1.0 / (double)k, 14)), -14));
  struct value sum =
      put_reduction(chain, x, 0, "    %y = arith.addf %x, %o : $\n");
  struct input input = whole_input(sum);
  struct input pair[2] = {
      whole_input(x),
      whole_input(put_elementwise(chain, sum.tensor, 1, &input, scale))};
  struct value d = put_elementwise(chain, x.tensor, 2, pair,
                                   "    %y = arith.subf %x0, %x1 : $\n");
  struct value square = put_reduction(chain, d, 0,
                                      "    %s = arith.mulf %x, %x : $\n"
                                      "    %y = arith.addf %s, %o : $\n");
  input = whole_input(square);
  struct value variance = put_elementwise(chain, sum.tensor, 1, &input, scale);
  pair[0] = whole_input(d);
  pair[1] = whole_input(variance);
  return put_elementwise(chain, x.tensor, 2, pair,
                         "    %c = arith.constant 0.0625 : $\n"
                         "    %s = arith.addf %x1, %c : $\n"
                         "    %r = math.rsqrt %s : $\n"
                         "    %y = arith.mulf %x0, %r : $\n");
}

/* (m, heads * d) -> (heads, m, d), or back. */
static struct value put_heads(struct chain *chain, struct value x) {
  static const int split[] = {1, 2}, joined[] = {1, 2};
  if (x.tensor.rank == 3) {
    struct value turned = put_transpose(chain, x, (const int[]){1, 0, 2});
    return put_collapse(chain, turned, 2, joined);
  }
  int64_t k = x.tensor.extent[1], heads = 2 + below(chain, 3);
  if (k % heads)
    return x;
  const int64_t extent[3] = {x.tensor.extent[0], heads, k / heads};
  struct value parts = put_expand(chain, x, shape(3, extent), 2, split);
  return put_transpose(chain, parts, (const int[]){1, 0, 2});
}

static struct value put_rows(struct chain *chain, struct value x, int kernels) {
  for (int i = 0; i < kernels; ++i) {
    int last = x.tensor.rank - 1;
    bool small = x.tensor.extent[last - 1] <= 64;
    x = small && percent(chain, 30) ? put_attention(chain, x)
                                    : put_dense(chain, x);
    x = put_some_elementwise(chain, x, last);
    if (percent(chain, 20))
      x = put_norm(chain, x);
    if (percent(chain, 20))
      x = put_heads(chain, x);
    if (percent(chain, 50))
      remember(chain, x);
  }
  return x;
}

/*===-- Programs ----------------------------------------------------------===*/

static struct value put_program(struct chain *chain) {
  struct value x = {.name = ""};
  if (percent(chain, 50)) {
    struct order o = order_of(percent(chain, 60));
    int64_t extent[4] = {percent(chain, 70) ? 1 : 2};
    extent[o.c] = draw_size(chain, 20);
    extent[o.h] = 1 + below(chain, 14);
    extent[o.w] = 1 + below(chain, 20);
    add_argument(chain, shape(4, extent), 1, &x);
    remember(chain, x);
    x = put_images(chain, o, x, 1 + below(chain, 3));
    return x.tensor.rank < 4 && x.tensor.extent[x.tensor.rank - 1] < 2000
               ? put_rows(chain, x, below(chain, 2))
               : x;
  }
  const int64_t extent[3] = {1 + below(chain, 4), draw_size(chain, 40),
                             draw_size(chain, 70)};
  bool batched = percent(chain, 50);
  add_argument(chain, batched ? shape(3, extent) : shape(2, extent + 1), 1, &x);
  remember(chain, x);
  return put_rows(chain, x, 1 + below(chain, 4));
}

/* What the operations need is known when they are written: the signature goes
 * in front. */
static void put_signature(struct chain *chain) {
  struct chain_case *test = chain->test;
  put(chain, "func.func @f0(");
  for (int i = 0; i < test->argument_count; ++i) {
    put(chain, "%s%%a%d: ", i ? ", " : "", i);
    put_type(chain, &test->argument[i].tensor, '$');
  }
  put(chain, ") -> (");
  for (int i = 0; i < test->result_count; ++i) {
    put(chain, "%s", i ? ", " : "");
    put_type(chain, &test->result[i], '$');
  }
  put(chain, ") attributes {llvm.emit_c_interface} {\n");
}

static void put_return(struct chain *chain, const struct value *results) {
  struct chain_case *test = chain->test;
  put(chain, "  return ");
  for (int i = 0; i < test->result_count; ++i)
    put(chain, "%s%s", i ? ", " : "", results[i].name);
  put(chain, " : ");
  for (int i = 0; i < test->result_count; ++i) {
    put(chain, "%s", i ? ", " : "");
    put_type(chain, &test->result[i], '$');
  }
  put(chain, "\n}\n");
}

void generate_chain(uint64_t seed, struct chain_case *test) {
  static char body[CHAIN_TEXT_NBYTES];
  struct chain chain = {.random = {seed}, .test = test};
  memset(test, 0, sizeof(*test));
  test->seed = seed;
  int type = below(&chain, 10);
  test->type = type < 3   ? CHAIN_F32
               : type < 4 ? CHAIN_F64
               : type < 7 ? CHAIN_F16
                          : CHAIN_BF16;
  struct value results[MAX_CHAIN_RESULTS];
  results[0] = put_program(&chain);
  test->result[test->result_count++] = results[0].tensor;
  /* Values that something else reads, too. */
  for (int i = 1; i < chain.value_count; ++i)
    if (test->result_count < MAX_CHAIN_RESULTS && percent(&chain, 10)) {
      results[test->result_count] = chain.value[i];
      test->result[test->result_count++] = chain.value[i].tensor;
    }
  put_return(&chain, results);
  memcpy(body, test->text, sizeof(body));
  chain.used = 0;
  put_signature(&chain);
  put(&chain, "%s", body);
}
