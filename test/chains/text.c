/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "test/chains/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const chain_type_text[CHAIN_TYPES] = {"f32", "f64", "f16", "bf16"};

void put(struct chain *chain, const char *format, ...) {
  struct chain_case *test = chain->test;
  size_t room = sizeof(test->text) - chain->used;
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(test->text + chain->used, room, format, arguments);
  va_end(arguments);
  if (length < 0 || (size_t)length >= room)
    test->overflowed = true;
  else
    chain->used += (size_t)length;
}

struct tensor shape(int rank, const int64_t *extent) {
  struct tensor tensor = {.rank = rank};
  for (int d = 0; d < rank; ++d)
    tensor.extent[d] = extent[d];
  return tensor;
}

/*===-- Values ------------------------------------------------------------===*/

void remember(struct chain *chain, struct value value) {
  if (chain->value_count < MAX_CHAIN_VALUES)
    chain->value[chain->value_count++] = value;
}

bool add_argument(struct chain *chain, struct tensor tensor, double limit,
                  struct value *value) {
  struct chain_case *test = chain->test;
  if (test->argument_count == MAX_ARGUMENTS)
    return false;
  snprintf(value->name, sizeof(value->name), "%%a%d", test->argument_count);
  value->tensor = tensor;
  test->argument[test->argument_count++] =
      (struct chain_argument){tensor, limit};
  return true;
}

struct value new_value(struct chain *chain, struct tensor tensor) {
  struct value value = {.tensor = tensor};
  snprintf(value.name, sizeof(value.name), "%%v%d", chain->next++);
  return value;
}

void put_type(struct chain *chain, const struct tensor *tensor, char element) {
  put(chain, "tensor<");
  for (int d = 0; d < tensor->rank; ++d)
    put(chain, "%lldx", (long long)tensor->extent[d]);
  put(chain, "%c>", element);
}

struct value put_empty(struct chain *chain, struct tensor tensor,
                       char element) {
  struct value empty = new_value(chain, tensor);
  put(chain, "  %s = tensor.empty() : ", empty.name);
  put_type(chain, &tensor, element);
  put(chain, "\n");
  return empty;
}

struct value put_fill(struct chain *chain, struct tensor tensor, char element,
                      double number) {
  struct value empty = put_empty(chain, tensor, element);
  struct value filled = new_value(chain, tensor);
  put(chain,
      "  %s_c = arith.constant %f : %c\n  %s = linalg.fill ins(%s_c : %c) "
      "outs(%s : ",
      filled.name, number, element, filled.name, filled.name, element,
      empty.name);
  put_type(chain, &tensor, element);
  put(chain, ") -> ");
  put_type(chain, &tensor, element);
  put(chain, "\n");
  return filled;
}

/*===-- Generics ----------------------------------------------------------===*/

struct input whole_input(struct value value) {
  struct input input = {.value = value};
  for (int d = 0; d < value.tensor.rank; ++d)
    input.dimension[d] = d;
  return input;
}

static void put_map(struct chain *chain, int loops, int rank,
                    const int *dimension) {
  put(chain, "affine_map<(");
  for (int l = 0; l < loops; ++l)
    put(chain, "%sd%d", l ? ", " : "", l);
  put(chain, ") -> (");
  for (int d = 0; d < rank; ++d)
    put(chain, "%sd%d", d ? ", " : "", dimension[d]);
  put(chain, ")>");
}

struct value put_elementwise(struct chain *chain, struct tensor result,
                             int count, const struct input *inputs,
                             const char *body) {
  struct value out = put_empty(chain, result, '$');
  struct value value = new_value(chain, result);
  put(chain, "  %s = linalg.generic {indexing_maps = [", value.name);
  for (int i = 0; i < count; ++i) {
    put_map(chain, result.rank, inputs[i].value.tensor.rank,
            inputs[i].dimension);
    put(chain, ", ");
  }
  put_map(chain, result.rank, result.rank, whole_input(out).dimension);
  put(chain, "], iterator_types = [");
  for (int d = 0; d < result.rank; ++d)
    put(chain, "%s\"parallel\"", d ? ", " : "");
  put(chain, "]}%s", count ? " ins(" : "");
  for (int i = 0; i < count; ++i)
    put(chain, "%s%s", i ? ", " : "", inputs[i].value.name);
  for (int i = 0; i < count; ++i) {
    put(chain, "%s", i ? ", " : " : ");
    put_type(chain, &inputs[i].value.tensor, '$');
  }
  put(chain, "%s outs(%s : ", count ? ")" : "", out.name);
  put_type(chain, &result, '$');
  put(chain, ") {\n  ^bb0(");
  for (int i = 0; i < count; ++i)
    put(chain, "%%x%d: $, ", i);
  put(chain, "%%o: $):\n%s    linalg.yield %%y : $\n  } -> ", body);
  put_type(chain, &result, '$');
  put(chain, "\n");
  return value;
}

struct value put_reduction(struct chain *chain, struct value from, double start,
                           const char *body) {
  struct tensor result = from.tensor;
  result.rank--;
  struct value out = put_fill(chain, result, '$', start);
  struct value value = new_value(chain, result);
  struct input all = whole_input(from);
  put(chain, "  %s = linalg.generic {indexing_maps = [", value.name);
  put_map(chain, from.tensor.rank, from.tensor.rank, all.dimension);
  put(chain, ", ");
  put_map(chain, from.tensor.rank, result.rank, all.dimension);
  put(chain, "], iterator_types = [");
  for (int d = 0; d < result.rank; ++d)
    put(chain, "\"parallel\", ");
  put(chain, "\"reduction\"]} ins(%s : ", from.name);
  put_type(chain, &from.tensor, '$');
  put(chain, ") outs(%s : ", out.name);
  put_type(chain, &result, '$');
  put(chain,
      ") {\n  ^bb0(%%x: $, %%o: $):\n%s    linalg.yield %%y : $\n  } -> ",
      body);
  put_type(chain, &result, '$');
  put(chain, "\n");
  return value;
}

/*===-- Shapes ------------------------------------------------------------===*/

struct value put_transpose(struct chain *chain, struct value value,
                           const int *from) {
  struct tensor result = value.tensor;
  for (int d = 0; d < result.rank; ++d)
    result.extent[d] = value.tensor.extent[from[d]];
  struct value out = put_empty(chain, result, '$');
  struct value moved = new_value(chain, result);
  put(chain, "  %s = linalg.transpose ins(%s : ", moved.name, value.name);
  put_type(chain, &value.tensor, '$');
  put(chain, ") outs(%s : ", out.name);
  put_type(chain, &result, '$');
  put(chain, ") permutation = [");
  for (int d = 0; d < result.rank; ++d)
    put(chain, "%s%d", d ? ", " : "", from[d]);
  put(chain, "]\n");
  return moved;
}

static void put_groups(struct chain *chain, int count, const int *sizes) {
  put(chain, " [");
  for (int g = 0, d = 0; g < count; ++g) {
    put(chain, "%s[", g ? ", " : "");
    for (int i = 0; i < sizes[g]; ++i, ++d)
      put(chain, "%s%d", i ? ", " : "", d);
    put(chain, "]");
  }
  put(chain, "]");
}

struct value put_collapse(struct chain *chain, struct value value, int count,
                          const int *sizes) {
  struct tensor result = {.rank = count};
  for (int g = 0, d = 0; g < count; ++g) {
    result.extent[g] = 1;
    for (int i = 0; i < sizes[g]; ++i, ++d)
      result.extent[g] *= value.tensor.extent[d];
  }
  struct value collapsed = new_value(chain, result);
  put(chain, "  %s = tensor.collapse_shape %s", collapsed.name, value.name);
  put_groups(chain, count, sizes);
  put(chain, " : ");
  put_type(chain, &value.tensor, '$');
  put(chain, " into ");
  put_type(chain, &result, '$');
  put(chain, "\n");
  return collapsed;
}

struct value put_expand(struct chain *chain, struct value value,
                        struct tensor result, int count, const int *sizes) {
  struct value expanded = new_value(chain, result);
  put(chain, "  %s = tensor.expand_shape %s", expanded.name, value.name);
  put_groups(chain, count, sizes);
  put(chain, " output_shape [");
  for (int d = 0; d < result.rank; ++d)
    put(chain, "%s%lld", d ? ", " : "", (long long)result.extent[d]);
  put(chain, "] : ");
  put_type(chain, &value.tensor, '$');
  put(chain, " into ");
  put_type(chain, &result, '$');
  put(chain, "\n");
  return expanded;
}

/*===-- One type ----------------------------------------------------------===*/

char *chain_text(const struct chain_case *test, enum chain_type type) {
  bool narrow = type == CHAIN_F16 || type == CHAIN_BF16;
  const char *element = chain_type_text[type];
  const char *sum = narrow ? "f32" : element;
  char *text = calloc(2, sizeof(test->text));
  char *out = text;
  for (const char *c = test->text; text && *c; ++c)
    if (*c == '$')
      out += sprintf(out, "%s", element);
    else if (*c == '@' && c[1] != 'f')
      out += sprintf(out, "%s", sum);
    else if (*c == '~')
      out += narrow ? sprintf(out,
                              "    %%y = arith.truncf %%x : f32 to %s\n"
                              "    linalg.yield %%y : %s\n",
                              element, element)
                    : sprintf(out, "    linalg.yield %%x : %s\n", element);
    else
      *out++ = *c;
  return text;
}
