/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Random operations as MLIR text.
 *
 * An operand is a word, one letter a dimension, naming the loop that walks it.
 * '1' '2' '3' are the windows of a convolution: the loops x, y, z of the
 * result times a stride plus the loops X, Y, Z of the filter times a dilation.
 * '0' is the constant 0 of a dimension of one. Capital letters and k, c are
 * reductions: what the result doesn't have.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "test/schedules/schedules.h"

uint64_t random_next(struct random *random) {
  /* splitmix64 (Steele, Lea, Flood 2014) */
  uint64_t z = (random->state += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

int random_below(struct random *random, int count) {
  return (int)(random_next(random) % (uint64_t)count);
}

bool random_percent(struct random *random, int percent) {
  return random_below(random, 100) < percent;
}

double random_unit(struct random *random) {
  return (double)(random_next(random) >> 11) / 4503599627370496.0 - 1.0;
}

int64_t tensor_elements(const struct tensor *tensor) {
  int64_t count = 1;
  for (int d = 0; d < tensor->rank; ++d)
    count *= tensor->extent[d];
  return count;
}

/*===-- Shapes ------------------------------------------------------------===*/

enum { MAX_WORD = TG_MAX_RANK + 1, MAX_WORK = 60000 };

struct shape {
  const char *name; /* NULL: written as linalg.generic */
  bool has_window_attributes;
  char word[TG_OPERAND_COUNT][MAX_WORD];
  char loops[TG_MAX_LOOPS + 1]; /* every letter once */
  int64_t extent[128];
  int64_t stride[3], dilation[3], slack[3];
  bool dynamic[128]; /* loops whose extent types don't tell */
};

struct named {
  const char *name, *lhs, *rhs, *result;
  bool window_attributes;
};

static const struct named named_ops[] = {
    {"matmul", "mk", "kn", "mn", false},
    {"batch_matmul", "bmk", "bkn", "bmn", false},
    {"matvec", "mk", "k", "m", false},
    {"vecmat", "k", "kn", "n", false},
    {"batch_matvec", "bmk", "bk", "bm", false},
    {"batch_vecmat", "bk", "bkn", "bn", false},
    {"mmt4d", "mkpq", "nkrq", "mnpr", false},
    {"batch_mmt4d", "bmkpq", "bnkrq", "bmnpr", false},
    {"batch_reduce_matmul", "bmk", "bkn", "mn", false},
    {"conv_1d", "1", "X", "x", false},
    {"conv_2d", "12", "XY", "xy", false},
    {"conv_3d", "123", "XYZ", "xyz", false},
    {"conv_1d_ncw_fcw", "nc1", "fcX", "nfx", true},
    {"conv_1d_nwc_wcf", "n1c", "Xcf", "nxf", true},
    {"conv_2d_nchw_fchw", "nc12", "fcXY", "nfxy", true},
    {"conv_2d_nhwc_hwcf", "n12c", "XYcf", "nxyf", true},
    {"conv_2d_nhwc_fhwc", "n12c", "fXYc", "nxyf", true},
    {"conv_2d_ngchw_fgchw", "ngc12", "fgcXY", "ngfxy", true},
    {"conv_2d_ngchw_gfchw", "ngc12", "gfcXY", "ngfxy", true},
    {"conv_2d_nhwgc_gfhwc", "n12gc", "gfXYc", "nxygf", true},
    {"depthwise_conv_1d_nwc_wc", "n1g", "Xg", "nxg", true},
    {"depthwise_conv_1d_ncw_cw", "ng1", "gX", "ngx", true},
    {"depthwise_conv_1d_nwc_wcm", "n1g", "Xgm", "nxgm", true},
    {"depthwise_conv_2d_nchw_chw", "ng12", "gXY", "ngxy", true},
    {"depthwise_conv_2d_nhwc_hwc", "n12g", "XYg", "nxyg", true},
    {"depthwise_conv_2d_nhwc_hwcm", "n12g", "XYgm", "nxygm", true},
    {"conv_3d_ncdhw_fcdhw", "nc123", "fcXYZ", "nfxyz", true},
    {"conv_3d_ndhwc_dhwcf", "n123c", "XYZcf", "nxyzf", true},
    {"depthwise_conv_3d_ncdhw_cdhw", "ng123", "gXYZ", "ngxyz", true},
    {"depthwise_conv_3d_ndhwc_dhwc", "n123g", "XYZg", "nxyzg", true},
    {"depthwise_conv_3d_ndhwc_dhwcm", "n123g", "XYZgm", "nxyzgm", true},
};
enum { NAMED_COUNT = sizeof(named_ops) / sizeof(named_ops[0]) };

static void shuffle(struct random *random, char *word) {
  for (int i = (int)strlen(word) - 1; i > 0; --i) {
    int j = random_below(random, i + 1);
    char letter = word[i];
    word[i] = word[j];
    word[j] = letter;
  }
}

static void add_letter(char *word, char letter) {
  size_t length = strlen(word);
  word[length] = letter;
  word[length + 1] = 0;
}

static void remove_letter(char *word, int at) {
  memmove(word + at, word + at + 1, strlen(word + at));
}

/* Which loops go with which operands: batch, rows, columns, reduction. */
static void draw_contraction(struct random *random, struct shape *shape) {
  static const char letters[4][4] = {"ab", "mp", "nq", "kr"};
  static const int most[4] = {3, 3, 3, 2};
  int count[4];
  do
    for (int kind = 0; kind < 4; ++kind)
      count[kind] = random_below(random, most[kind]) + (kind == 3);
  while (count[0] + count[1] + count[2] == 0);
  for (int kind = 0; kind < 4; ++kind)
    for (int i = 0; i < count[kind]; ++i) {
      char letter = letters[kind][i];
      if (kind != 2)
        add_letter(shape->word[TG_LHS], letter);
      if (kind != 1)
        add_letter(shape->word[TG_RHS], letter);
      if (kind != 3)
        add_letter(shape->word[TG_RESULT], letter);
    }
  /* Broadcast along one of its loops. */
  int operand = random_below(random, 2);
  char *word = shape->word[operand];
  if (random_percent(random, 20) && word[0]) {
    int at = random_below(random, (int)strlen(word));
    bool elsewhere = strchr(shape->word[1 - operand], word[at]) ||
                     strchr(shape->word[TG_RESULT], word[at]);
    if (elsewhere)
      remove_letter(word, at);
  }
}

static void collect_loops(struct shape *shape) {
  shape->loops[0] = 0;
  static const int order[] = {TG_RESULT, TG_LHS, TG_RHS};
  for (int o = 0; o < TG_OPERAND_COUNT; ++o)
    for (const char *c = shape->word[order[o]]; *c; ++c)
      if (isalpha((unsigned char)*c) && !strchr(shape->loops, *c))
        add_letter(shape->loops, *c);
}

static double work(const struct shape *shape) {
  double product = 1;
  for (const char *c = shape->loops; *c; ++c)
    product *= (double)shape->extent[(int)*c];
  return product;
}

static void draw_extents(struct random *random, struct shape *shape) {
  static const int sizes[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  11, 12, 13,
                              15, 16, 17, 19, 20, 23, 24, 28, 31, 32, 33, 35,
                              40, 48, 49, 56, 61, 64, 65, 80, 97, 130};
  enum { SIZE_COUNT = sizeof(sizes) / sizeof(sizes[0]) };
  int limit = SIZE_COUNT;
  do {
    for (const char *c = shape->loops; *c; ++c) {
      bool window = strchr("XYZ", *c) != NULL;
      shape->extent[(int)*c] =
          window ? 1 + random_below(random, 4)
                 : sizes[random_below(random, random_percent(random, 30)
                                                  ? (limit < 8 ? limit : 8)
                                                  : limit)];
      if (random_percent(random, 6))
        shape->extent[(int)*c] = 1;
    }
    limit = limit > 4 ? limit - 1 : limit;
  } while (work(shape) > MAX_WORK);
  bool plain = shape->name && !shape->has_window_attributes;
  for (int i = 0; i < 3; ++i) {
    shape->stride[i] = plain ? 1 : 1 + random_below(random, 3);
    shape->dilation[i] =
        plain || random_percent(random, 60) ? 1 : 1 + random_below(random, 3);
    shape->slack[i] = random_percent(random, 25) ? random_below(random, 3) : 0;
  }
}

/* Windows of 3x3 without gaps in most two-dimensional convolutions: what
 * Winograd's algorithm serves. */
static void prefer_windows(struct random *random, struct shape *shape) {
  bool planar =
      strchr(shape->word[TG_LHS], '2') && !strchr(shape->word[TG_LHS], '3');
  if (!planar || random_percent(random, 30))
    return;
  struct shape changed = *shape;
  for (int i = 0; i < 2; ++i) {
    changed.extent['X' + i] = 3;
    changed.stride[i] = changed.dilation[i] = 1;
    if (changed.extent['x' + i] == 1)
      changed.extent['x' + i] = 2 + random_below(random, 9);
  }
  while (work(&changed) > 4 * MAX_WORK)
    for (const char *c = shape->loops; *c; ++c)
      if (!strchr("XY", *c) && changed.extent[(int)*c] > 2)
        changed.extent[(int)*c] -= changed.extent[(int)*c] / 3;
  *shape = changed;
}

static void draw_shape(struct random *random, struct shape *shape) {
  memset(shape, 0, sizeof(*shape));
  if (random_percent(random, 45)) {
    draw_contraction(random, shape);
  } else {
    const struct named *named = &named_ops[random_below(random, NAMED_COUNT)];
    strcpy(shape->word[TG_LHS], named->lhs);
    strcpy(shape->word[TG_RHS], named->rhs);
    strcpy(shape->word[TG_RESULT], named->result);
    shape->name = random_percent(random, 60) ? named->name : NULL;
    shape->has_window_attributes = named->window_attributes;
  }
  collect_loops(shape);
  if (!shape->name) {
    shuffle(random, shape->loops);
    for (int o = 0; o < TG_OPERAND_COUNT; ++o) {
      char *word = shape->word[o];
      if (random_percent(random, 50))
        shuffle(random, word);
      if (strlen(word) < 6 && random_percent(random, 8)) {
        int at = random_below(random, (int)strlen(word) + 1);
        memmove(word + at + 1, word + at, strlen(word + at) + 1);
        word[at] = '0';
      }
    }
  }
  draw_extents(random, shape);
  prefer_windows(random, shape);
}

/* Some loops of one case in three, of the reductions at most one; now and then
 * one of them is empty. */
static void draw_dynamic(struct random *random, struct shape *shape) {
  bool reduced = false;
  if (!random_percent(random, 33))
    return;
  for (const char *c = shape->loops; *c; ++c) {
    bool reduction = !strchr(shape->word[TG_RESULT], *c);
    bool chosen = random_percent(random, 55) && !(reduction && reduced);
    shape->dynamic[(int)*c] = chosen;
    reduced |= chosen && reduction;
    if (chosen && islower((unsigned char)*c) && !strchr("xyz", *c) &&
        random_percent(random, 3))
      shape->extent[(int)*c] = 0;
  }
}

static struct tensor operand_tensor(const struct shape *shape, int operand) {
  struct tensor tensor = {0, {0}, {false}};
  for (const char *c = shape->word[operand]; *c; ++c) {
    int64_t extent = *c == '0' ? 1 : shape->extent[(int)*c];
    bool dynamic = shape->dynamic[(int)*c];
    if (*c >= '1' && *c <= '3') {
      int w = *c - '1';
      extent = shape->stride[w] * (shape->extent['x' + w] - 1) +
               shape->dilation[w] * (shape->extent['X' + w] - 1) + 1 +
               shape->slack[w];
      dynamic = shape->dynamic['x' + w] || shape->dynamic['X' + w];
    }
    tensor.dynamic[tensor.rank] = dynamic;
    tensor.extent[tensor.rank++] = extent;
  }
  return tensor;
}

/*===-- Text --------------------------------------------------------------===*/

struct out {
  char *text;
  size_t room, used;
};

static void put(struct out *out, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(out->text + out->used, out->room - out->used, format,
                         arguments);
  va_end(arguments);
  if (length > 0 && out->used + (size_t)length < out->room)
    out->used += (size_t)length;
}

static const char *element_name(const struct test_case *test) {
  return test->element == TG_F64 ? "f64" : "f32";
}

static void put_type(struct out *out, const struct test_case *test,
                     const struct tensor *tensor) {
  put(out, "tensor<");
  for (int d = 0; d < tensor->rank; ++d)
    if (tensor->dynamic[d])
      put(out, "?x");
    else
      put(out, "%lldx", (long long)tensor->extent[d]);
  put(out, "%s>", element_name(test));
}

/* An empty tensor of the result's type, with extents as put_function names
 * them. */
static void put_empty(struct out *out, const struct test_case *test,
                      const char *name, int index) {
  const struct tensor *result = &test->operand[TG_RESULT];
  bool first = true;
  put(out, "  %%%s%d = tensor.empty(", name, index);
  for (int d = 0; d < result->rank; ++d)
    if (result->dynamic[d]) {
      put(out, "%s%%n%d", first ? "" : ", ", d);
      first = false;
    }
  put(out, ") : ");
  put_type(out, test, result);
  put(out, "\n");
}

static void put_dims(struct out *out, int count) {
  put(out, "(");
  for (int i = 0; i < count; ++i)
    put(out, "%sd%d", i ? ", " : "", i);
  put(out, ")");
}

static void put_map(struct out *out, const struct shape *shape, int operand) {
  put(out, "affine_map<");
  put_dims(out, (int)strlen(shape->loops));
  put(out, " -> (");
  for (const char *c = shape->word[operand]; *c; ++c) {
    put(out, "%s", c == shape->word[operand] ? "" : ", ");
    if (*c == '0') {
      put(out, "0");
    } else if (*c >= '1' && *c <= '3') {
      int w = *c - '1';
      put(out, "d%d * %lld + d%d * %lld",
          (int)(strchr(shape->loops, 'x' + w) - shape->loops),
          (long long)shape->stride[w],
          (int)(strchr(shape->loops, 'X' + w) - shape->loops),
          (long long)shape->dilation[w]);
    } else {
      put(out, "d%d", (int)(strchr(shape->loops, *c) - shape->loops));
    }
  }
  put(out, ")>");
}

static void put_window(struct out *out, const struct shape *shape,
                       const char *name, const int64_t *values) {
  int count = strchr(shape->word[TG_LHS], '3')   ? 3
              : strchr(shape->word[TG_LHS], '2') ? 2
                                                 : 1;
  put(out, "%s = dense<[", name);
  for (int i = 0; i < count; ++i)
    put(out, "%s%lld", i ? ", " : "", (long long)values[i]);
  put(out, "]> : tensor<%dxi64>", count);
}

static void put_operands(struct out *out, const struct test_case *test) {
  put(out, " ins(%%a0, %%a1 : ");
  put_type(out, test, &test->operand[TG_LHS]);
  put(out, ", ");
  put_type(out, test, &test->operand[TG_RHS]);
  put(out, ") outs(%%init : ");
  put_type(out, test, &test->operand[TG_RESULT]);
  put(out, ")");
}

static void put_kernel(struct out *out, struct random *random,
                       const struct test_case *test,
                       const struct shape *shape) {
  const char *element = element_name(test);
  if (shape->name) {
    put(out, "  %%v0 = linalg.%s", shape->name);
    if (shape->has_window_attributes) {
      put(out, " {");
      put_window(out, shape, "strides", shape->stride);
      put(out, ", ");
      put_window(out, shape, "dilations", shape->dilation);
      put(out, "}");
    }
    put_operands(out, test);
  } else {
    put(out, "  %%v0 = linalg.generic {indexing_maps = [");
    for (int o = 0; o < TG_OPERAND_COUNT; ++o) {
      put(out, "%s", o ? ", " : "");
      put_map(out, shape, o);
    }
    put(out, "], iterator_types = [");
    for (const char *c = shape->loops; *c; ++c)
      put(out, "%s\"%s\"", c == shape->loops ? "" : ", ",
          strchr(shape->word[TG_RESULT], *c) ? "parallel" : "reduction");
    put(out, "]}");
    put_operands(out, test);
    bool swap = random_percent(random, 50), last = random_percent(random, 50);
    put(out,
        " {\n  ^bb0(%%x: %s, %%y: %s, %%z: %s):\n"
        "    %%m = arith.mulf %s : %s\n    %%s = arith.addf %s : %s\n"
        "    linalg.yield %%s : %s\n  }",
        element, element, element, swap ? "%y, %x" : "%x, %y", element,
        last ? "%m, %z" : "%z, %m", element, element);
  }
  put(out, " -> ");
  put_type(out, test, &test->operand[TG_RESULT]);
  put(out, "\n");
}

static void put_body(struct out *out, const struct test_case *test,
                     const struct link *link) {
  const char *e = element_name(test);
  switch (link->kind) {
  case LINK_ADD:
    put(out, "    %%r = arith.addf %%x, %%y : %s\n", e);
    break;
  case LINK_SUBTRACT:
    put(out, "    %%r = arith.subf %%y, %%x : %s\n", e);
    break;
  case LINK_MULTIPLY:
    put(out, "    %%r = arith.mulf %%y, %%x : %s\n", e);
    break;
  case LINK_RELU:
    put(out, "    %%r = arith.maximumf %%x, %%zero : %s\n", e);
    break;
  case LINK_SELECT:
    put(out,
        "    %%c = arith.cmpf ogt, %%x, %%y : %s\n"
        "    %%r = arith.select %%c, %%x, %%y : %s\n",
        e, e);
    break;
  case LINK_SHIFT:
    put(out,
        "    %%h = arith.constant 0.5 : %s\n"
        "    %%r = arith.addf %%h, %%x : %s\n",
        e, e);
    break;
  case LINK_NEGATE:
    put(out, "    %%r = arith.negf %%x : %s\n", e);
    break;
  case LINK_FMA:
    put(out, "    %%r = math.fma %%x, %%y, %%x : %s\n", e);
    break;
  case LINK_EXP:
    put(out,
        "    %%n = math.absf %%x : %s\n    %%o = arith.negf %%n : %s\n"
        "    %%r = math.exp %%o : %s\n",
        e, e, e);
    break;
  default:
    break;
  }
  put(out, "    linalg.yield %%%s : %s\n",
      link->kind == LINK_REPLACE ? "y" : "r", e);
}

static void put_link_maps(struct out *out, const struct test_case *test,
                          const struct link *link) {
  int rank = test->operand[TG_RESULT].rank;
  for (int i = 0; i < 3; ++i) {
    put(out, "%saffine_map<", i ? ", " : "");
    put_dims(out, rank);
    put(out, " -> ");
    if (i == (link->input_first ? 0 : 1)) {
      put(out, "(");
      for (int d = 0; d < link->input.rank; ++d)
        if (link->dimension[d] < 0)
          put(out, "%s0", d ? ", " : "");
        else
          put(out, "%sd%d", d ? ", " : "", link->dimension[d]);
      put(out, ")");
    } else {
      put_dims(out, rank);
    }
    put(out, ">");
  }
}

static void put_link(struct out *out, const struct test_case *test, int i,
                     bool fresh) {
  const struct link *link = &test->link[i];
  const struct tensor *result = &test->operand[TG_RESULT];
  const char *e = element_name(test);
  char input[16];
  snprintf(input, sizeof(input), "%%%c%d", link->argument >= 0 ? 'a' : 'v',
           link->argument >= 0 ? link->argument : link->value);
  if (fresh)
    put_empty(out, test, "e", i);
  put(out, "  %%v%d = linalg.generic {indexing_maps = [", i + 1);
  put_link_maps(out, test, link);
  put(out, "], iterator_types = [");
  for (int d = 0; d < result->rank; ++d)
    put(out, "%s\"parallel\"", d ? ", " : "");
  put(out, "]} ins(");
  for (int k = 0; k < 2; ++k)
    if ((k == 0) == link->input_first)
      put(out, "%s%s", k ? ", " : "", input);
    else
      put(out, "%s%%v%d", k ? ", " : "", i);
  put(out, " : ");
  for (int k = 0; k < 2; ++k) {
    put(out, "%s", k ? ", " : "");
    put_type(out, test, (k == 0) == link->input_first ? &link->input : result);
  }
  if (fresh)
    put(out, ") outs(%%e%d : ", i);
  else
    put(out, ") outs(%%init : ");
  put_type(out, test, result);
  put(out, ") {\n  ^bb0(%s: %s, %s: %s, %%old: %s):\n",
      link->input_first ? "%y" : "%x", e, link->input_first ? "%x" : "%y", e,
      e);
  put_body(out, test, link);
  put(out, "  } -> ");
  put_type(out, test, result);
  put(out, "\n");
}

static void put_function(struct out *out, struct random *random, int index,
                         const struct test_case *test,
                         const struct shape *shape) {
  put(out, "func.func @f%d(", index);
  for (int i = 0; i < test->argument_count; ++i) {
    put(out, "%s%%a%d: ", i ? ", " : "", i);
    put_type(out, test, &test->argument[i]);
  }
  put(out, ") -> (");
  for (int i = 0; i < test->result_count; ++i) {
    put(out, "%s", i ? ", " : "");
    put_type(out, test, &test->operand[TG_RESULT]);
  }
  put(out,
      ") attributes {llvm.emit_c_interface} {\n"
      "  %%zero = arith.constant 0.0 : %s\n",
      element_name(test));
  for (int d = 0; d < test->operand[TG_RESULT].rank; ++d)
    put(out, "  %%n%d = arith.constant %lld : index\n", d,
        (long long)test->operand[TG_RESULT].extent[d]);
  if (test->zero_init) {
    put_empty(out, test, "empty", 0);
    put(out, "  %%init = linalg.fill ins(%%zero : %s) outs(%%empty0 : ",
        element_name(test));
    put_type(out, test, &test->operand[TG_RESULT]);
    put(out, ") -> ");
    put_type(out, test, &test->operand[TG_RESULT]);
    put(out, "\n");
  }
  char *start = out->text + out->used;
  put_kernel(out, random, test, shape);
  for (int i = 0; i < test->link_count; ++i)
    put_link(out, test, i, random_percent(random, 85));
  put(out, "  return ");
  for (int i = 0; i < test->result_count; ++i)
    put(out, "%s%%v%d", i ? ", " : "", test->result[i]);
  put(out, " : ");
  for (int i = 0; i < test->result_count; ++i) {
    put(out, "%s", i ? ", " : "");
    put_type(out, test, &test->operand[TG_RESULT]);
  }
  put(out, "\n}\n");
  /* Without a fill the initial value is an argument. */
  if (!test->zero_init)
    for (char *at = start; (at = strstr(at, "%init"));)
      memcpy(at, "%a2  ", 5);
}

/*===-- Epilogues ---------------------------------------------------------===*/

static void set_identity(struct link *link, const struct tensor *result) {
  link->input = *result;
  for (int d = 0; d < result->rank; ++d)
    link->dimension[d] = d;
}

/* A subset of the result's dimensions, mostly in order. */
static void draw_broadcast(struct random *random, const struct tensor *result,
                           struct link *link) {
  link->input.rank = 0;
  int percent = random_percent(random, 30) ? 85 : 45;
  for (int d = 0; d < result->rank; ++d) {
    bool kept = random_percent(random, percent);
    if (!kept && !random_percent(random, 25))
      continue;
    int at = link->input.rank++;
    link->dimension[at] = kept ? d : -1;
    if (kept && random_percent(random, 5)) /* maybe a diagonal */
      link->dimension[at] = random_below(random, result->rank);
  }
  if (link->input.rank > 1 && random_percent(random, 15)) {
    int a = random_below(random, link->input.rank);
    int b = random_below(random, link->input.rank), kept = link->dimension[a];
    link->dimension[a] = link->dimension[b];
    link->dimension[b] = kept;
  }
  for (int d = 0; d < link->input.rank; ++d) {
    int from = link->dimension[d];
    link->input.extent[d] = from < 0 ? 1 : result->extent[from];
    link->input.dynamic[d] = from >= 0 && result->dynamic[from];
  }
}

static bool same_shape(const struct tensor *a, const struct tensor *b) {
  bool same = a->rank == b->rank;
  for (int d = 0; same && d < a->rank; ++d)
    same = a->extent[d] == b->extent[d] && a->dynamic[d] == b->dynamic[d];
  return same;
}

static void draw_link(struct random *random, struct test_case *test) {
  const struct tensor *result = &test->operand[TG_RESULT];
  int index = test->link_count++;
  struct link *link = &test->link[index];
  memset(link, 0, sizeof(*link));
  link->kind = random_percent(random, 4)
                   ? LINK_EXP
                   : (enum link_kind)random_below(random, LINK_EXP);
  link->input_first = random_percent(random, 40);
  link->argument = -1;
  set_identity(link, result);
  if (random_percent(random, 8)) { /* a second user of an earlier value */
    link->value = random_below(random, index + 1);
    return;
  }
  if (random_percent(random, 20)) { /* an argument that is used already */
    int argument = random_below(random, test->argument_count);
    if (same_shape(&test->argument[argument], result)) {
      link->argument = argument;
      return;
    }
  }
  if (random_percent(random, 75))
    draw_broadcast(random, result, link);
  link->argument = test->argument_count;
  test->argument[test->argument_count++] = link->input;
}

void generate_case(uint64_t seed, int index, struct test_case *test) {
  struct random random = {seed};
  struct shape shape;
  memset(test, 0, sizeof(*test));
  test->seed = seed;
  test->element = random_percent(&random, 25) ? TG_F64 : TG_F32;
  draw_shape(&random, &shape);
  /* A stream of its own: seeds name the same static cases as ever. */
  struct random dynamic = {seed ^ UINT64_C(0xd1a)};
  draw_dynamic(&dynamic, &shape);
  for (int o = 0; o < TG_OPERAND_COUNT; ++o)
    test->operand[o] = operand_tensor(&shape, o);
  /* An input may know what the others don't say. */
  for (int o = 0; o < TG_RESULT; ++o)
    for (int d = 0; d < test->operand[o].rank; ++d)
      test->operand[o].dynamic[d] &= !random_percent(&dynamic, 8);
  test->zero_init = random_percent(&random, 60);
  for (int o = 0; o < TG_OPERAND_COUNT - test->zero_init; ++o)
    test->argument[test->argument_count++] = test->operand[o];
  int links =
      random_percent(&random, 40) ? 0 : 1 + random_below(&random, MAX_LINKS);
  for (int i = 0; i < links; ++i)
    draw_link(&random, test);
  for (int v = 0; v <= links; ++v)
    if (v == links || random_percent(&random, 6))
      test->result[test->result_count++] = v;
  struct out out = {test->text, sizeof(test->text), 0};
  put_function(&out, &random, index, test, &shape);
}
