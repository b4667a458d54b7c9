/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Random bodies. Steps (comparisons, roundings, conversions to integers) are
 * taken of floats without an error alone, so that no small difference becomes
 * a large one.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "test/nests/nests.h"

const char *const element_text[ELEMENT_COUNT] = {
    "f32", "f64", "f16", "bf16", "i1", "i8", "i16", "i32", "i64", "index"};

static const double epsilons[] = {0x1p-23, 0x1p-52, 0x1p-10, 0x1p-7};

int whole_bits(enum element element) {
  static const int bits[ELEMENT_COUNT] = {24, 53, 11, 8, 1, 8, 16, 32, 64, 64};
  return bits[element];
}

void put_text(struct nest_text *out, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(out->text + out->used, out->room - out->used, format,
                         arguments);
  va_end(arguments);
  if (length > 0 && out->used + (size_t)length < out->room)
    out->used += (size_t)length;
}

void add_scalar(struct body *body, const char *name, enum element element,
                struct range range) {
  if (body->count == MAX_SCALARS)
    return;
  struct scalar *scalar = &body->scalar[body->count++];
  snprintf(scalar->name, sizeof(scalar->name), "%s", name);
  scalar->element = element;
  scalar->range = range;
}

static struct scalar fresh(struct body *body, enum element element,
                           struct range range) {
  struct scalar scalar = {.element = element, .range = range};
  snprintf(scalar.name, sizeof(scalar.name), "%%s%d", body->next++);
  return scalar;
}

/* Rounded to the type: exact where it is a whole number that fits. */
static struct range rounded(enum element element, double magnitude,
                            double error, bool whole) {
  struct range range = {magnitude, error, whole};
  if (!is_float(element))
    return (struct range){0, 0, true};
  if (!whole || magnitude > ldexp(1, whole_bits(element))) {
    range.whole = false;
    range.error += epsilons[element] * magnitude;
  }
  return range;
}

static struct scalar put_op(struct body *body, const char *name,
                            const struct scalar *a, const struct scalar *b,
                            struct range range) {
  struct scalar result = fresh(body, a->element, range);
  put_text(body->out, "    %s = %s %s", result.name, name, a->name);
  if (b)
    put_text(body->out, ", %s", b->name);
  put_text(body->out, " : %s\n", element_text[a->element]);
  return result;
}

static void put_cast(struct body *body, const char *name, const char *from,
                     enum element source, const char *to,
                     enum element destination) {
  put_text(body->out, "    %s = %s %s : %s to %s\n", to, name, from,
           element_text[source], element_text[destination]);
}

struct scalar put_constant(struct body *body, enum element element,
                           double value) {
  struct scalar result =
      fresh(body, element, (struct range){fabs(value), 0, true});
  if (is_float(element))
    put_text(body->out, "    %s = arith.constant %.1f : %s\n", result.name,
             value, element_text[element]);
  else if (element == E_I1)
    put_text(body->out, "    %s = arith.constant %s\n", result.name,
             value != 0 ? "true" : "false");
  else
    put_text(body->out, "    %s = arith.constant %d : %s\n", result.name,
             (int)value, element_text[element]);
  return result;
}

/*===-- Conversions -------------------------------------------------------===*/

static struct scalar cast(struct body *body, const char *name,
                          struct scalar from, enum element element,
                          struct range range) {
  struct scalar result = fresh(body, element, range);
  put_cast(body, name, from.name, from.element, result.name, element);
  return result;
}

static struct scalar between_floats(struct body *body, struct scalar from,
                                    enum element element) {
  static const int widths[] = {32, 64, 16, 16};
  if (widths[element] == widths[from.element])
    from = between_floats(body, from, E_F32);
  bool wider = widths[element] > widths[from.element];
  struct range range = rounded(element, from.range.magnitude, from.range.error,
                               from.range.whole);
  return cast(body, wider ? "arith.extf" : "arith.truncf", from, element,
              wider ? from.range : range);
}

static struct scalar between_integers(struct body *body, struct scalar from,
                                      enum element element) {
  struct range none = {0, 0, true};
  if (from.element == E_INDEX)
    return element == E_I64 || element == E_I32
               ? cast(body, "arith.index_cast", from, element, none)
               : between_integers(
                     body, cast(body, "arith.index_cast", from, E_I64, none),
                     element);
  if (element == E_INDEX)
    return cast(
        body, from.element == E_I1 ? "arith.index_castui" : "arith.index_cast",
        from, element, none);
  if (whole_bits(element) < whole_bits(from.element))
    return cast(body, "arith.trunci", from, element, none);
  return cast(body, from.element == E_I1 ? "arith.extui" : "arith.extsi", from,
              element, none);
}

static struct scalar to_integer(struct body *body, struct scalar from,
                                enum element element) {
  if (from.range.error != 0 || from.range.magnitude > 100 || body->specials)
    return put_constant(body, element, 1);
  struct range none = {0, 0, true};
  if (element == E_I1)
    return put_comparison(body, "one", from,
                          put_constant(body, from.element, 0));
  if (element == E_INDEX)
    return between_integers(body, cast(body, "arith.fptosi", from, E_I64, none),
                            element);
  return cast(body, "arith.fptosi", from, element, none);
}

static struct scalar to_float(struct body *body, struct scalar from,
                              enum element element) {
  if (from.element == E_I1)
    return cast(body, "arith.uitofp", from, element,
                (struct range){1, 0, true});
  if (from.element == E_INDEX)
    from = between_integers(body, from, E_I64);
  struct scalar mask = put_constant(body, from.element, 7);
  from = put_op(body, "arith.andi", &from, &mask, (struct range){0, 0, true});
  bool sign = random_percent(body->random, 50);
  return cast(body, sign ? "arith.sitofp" : "arith.uitofp", from, element,
              (struct range){7, 0, true});
}

struct scalar put_conversion(struct body *body, struct scalar from,
                             enum element element) {
  if (from.element == element)
    return from;
  if (is_float(element))
    return is_float(from.element) ? between_floats(body, from, element)
                                  : to_float(body, from, element);
  return is_float(from.element) ? to_integer(body, from, element)
                                : between_integers(body, from, element);
}

struct scalar put_masked_index(struct body *body, struct scalar from,
                               int limit) {
  struct scalar index = put_conversion(body, from, E_INDEX);
  struct scalar mask = put_constant(body, E_INDEX, limit - 1);
  return put_op(body, "arith.andi", &index, &mask, (struct range){0, 0, true});
}

/*===-- Choices -----------------------------------------------------------===*/

struct scalar put_comparison(struct body *body, const char *predicate,
                             struct scalar a, struct scalar b) {
  struct scalar result = fresh(body, E_I1, (struct range){1, 0, true});
  put_text(body->out, "    %s = arith.cmp%s %s, %s, %s : %s\n", result.name,
           is_float(a.element) ? "f" : "i", predicate, a.name, b.name,
           element_text[a.element]);
  return result;
}

struct scalar put_select(struct body *body, struct scalar condition,
                         struct scalar a, struct scalar b) {
  struct range range = {fmax(a.range.magnitude, b.range.magnitude),
                        fmax(a.range.error, b.range.error),
                        a.range.whole && b.range.whole};
  struct scalar result = fresh(body, a.element, range);
  put_text(body->out, "    %s = arith.select %s, %s, %s : %s\n", result.name,
           condition.name, a.name, b.name, element_text[a.element]);
  return result;
}

/* Comparisons of floats are of those without an error. */
static struct scalar choose(struct body *body, struct scalar a,
                            struct scalar b) {
  static const char *const floats[] = {"olt", "ogt", "oeq", "une",
                                       "ult", "uge", "ord", "uno"};
  static const char *const integers[] = {"slt", "sgt", "eq",  "ne",
                                         "ult", "ugt", "sle", "uge"};
  struct scalar condition;
  int which = random_below(body->random, 8);
  if (!is_float(a.element))
    condition = put_comparison(body, integers[which], a, b);
  else if (a.range.error == 0 && b.range.error == 0)
    condition = put_comparison(body, floats[which], a, b);
  else
    condition = put_constant(body, E_I1, which % 2);
  if (random_percent(body->random, 20))
    return condition;
  return random_percent(body->random, 50) ? put_select(body, condition, a, b)
                                          : put_select(body, condition, b, a);
}

/*===-- Arithmetic --------------------------------------------------------===*/

/* Largest magnitudes that are let grow. */
static double limit_of(enum element element) {
  return element == E_F16 ? 2e3 : 1e4;
}

static struct scalar clamp(struct body *body, struct scalar a, double most) {
  if (a.range.magnitude <= most)
    return a;
  struct range range = a.range;
  range.magnitude = most;
  struct scalar high = put_constant(body, a.element, most);
  struct scalar low = put_constant(body, a.element, -most);
  a = put_op(body, "arith.minimumf", &a, &high, range);
  return put_op(body, "arith.maximumf", &a, &low, range);
}

/* |a| + 1 */
static struct scalar above_one(struct body *body, struct scalar a) {
  struct scalar one = put_constant(body, a.element, 1);
  a = put_op(body, "math.absf", &a, NULL, a.range);
  return put_op(
      body, "arith.addf", &a, &one,
      rounded(a.element, a.range.magnitude + 1, a.range.error, a.range.whole));
}

static struct scalar multiply(struct body *body, struct scalar a,
                              struct scalar b) {
  a = clamp(body, a, 100);
  b = clamp(body, b, 100);
  double error = a.range.error * b.range.magnitude +
                 b.range.error * a.range.magnitude +
                 a.range.error * b.range.error;
  return put_op(body, "arith.mulf", &a, &b,
                rounded(a.element, a.range.magnitude * b.range.magnitude, error,
                        a.range.whole && b.range.whole));
}

static struct scalar divide(struct body *body, struct scalar a,
                            struct scalar b) {
  b = above_one(body, b);
  return put_op(body, "arith.divf", &a, &b,
                rounded(a.element, a.range.magnitude,
                        a.range.error + b.range.error * a.range.magnitude,
                        false));
}

static struct scalar multiply_add(struct body *body, struct scalar a,
                                  struct scalar b) {
  a = clamp(body, a, 100);
  b = clamp(body, b, 100);
  double magnitude = a.range.magnitude * b.range.magnitude + a.range.magnitude;
  double error = a.range.error * (b.range.magnitude + 1) +
                 b.range.error * a.range.magnitude +
                 a.range.error * b.range.error;
  bool whole = a.range.whole && b.range.whole;
  struct scalar result =
      fresh(body, a.element, rounded(a.element, magnitude, error, whole));
  put_text(body->out, "    %s = math.fma %s, %s, %s : %s\n", result.name,
           a.name, b.name, a.name, element_text[a.element]);
  return result;
}

static struct scalar put_float_pair(struct body *body, struct scalar a,
                                    struct scalar b) {
  static const char *const extremes[] = {"arith.maximumf", "arith.minimumf",
                                         "arith.maxnumf", "arith.minnumf"};
  struct range either = {fmax(a.range.magnitude, b.range.magnitude),
                         fmax(a.range.error, b.range.error),
                         a.range.whole && b.range.whole};
  int which = random_below(body->random, 10);
  if (which < 4)
    return put_op(body, which < 2 ? "arith.addf" : "arith.subf", &a, &b,
                  rounded(a.element, a.range.magnitude + b.range.magnitude,
                          a.range.error + b.range.error,
                          a.range.whole && b.range.whole));
  if (which < 6)
    return multiply(body, a, b);
  if (which == 6)
    return divide(body, a, b);
  if (which == 7)
    return multiply_add(body, a, b);
  return put_op(body, extremes[random_below(body->random, 4)], &a, &b, either);
}

/* Functions whose derivative is at most `slope` where they are called. */
struct function {
  const char *name;
  double most; /* of the argument, a clamp */
  bool above_one;
  double magnitude, slope;
};

static struct scalar put_function(struct body *body, struct scalar a) {
  static const struct function functions[] = {
      {"math.exp", 4, false, 55, 55},    {"math.exp2", 4, false, 16, 12},
      {"math.expm1", 4, false, 55, 55},  {"math.tanh", 1e4, false, 1, 1},
      {"math.erf", 1e4, false, 1, 1.2},  {"math.sin", 50, false, 1, 1},
      {"math.cos", 50, false, 1, 1},     {"math.log", 1e4, true, 10, 1},
      {"math.log2", 1e4, true, 14, 1.5}, {"math.log1p", 1e4, true, 10, 1},
      {"math.sqrt", 1e4, true, 101, 1},  {"math.rsqrt", 1e4, true, 1, 1},
      {"math.log10", 1e4, true, 5, 1}};
  const struct function *function = &functions[random_below(
      body->random, (int)(sizeof(functions) / sizeof(functions[0])))];
  a = clamp(body, a, function->most);
  if (function->above_one)
    a = above_one(body, a);
  /* Narrow types have functions of 4 of their own ulp. */
  double error = function->slope * a.range.error +
                 8 * epsilons[a.element] * function->magnitude;
  return put_op(body, function->name, &a, NULL,
                (struct range){function->magnitude, error, false});
}

static struct scalar put_float_one(struct body *body, struct scalar a) {
  static const char *const steps[] = {"math.floor", "math.ceil", "math.trunc"};
  int which = random_below(body->random, 8);
  if (which == 0)
    return put_op(body, "arith.negf", &a, NULL, a.range);
  if (which == 1)
    return put_op(body, "math.absf", &a, NULL, a.range);
  if (which == 2 && a.range.error == 0)
    return put_op(body, steps[random_below(body->random, 3)], &a, NULL,
                  (struct range){a.range.magnitude + 1, 0, true});
  if (which == 3 && a.element == E_F32 && a.range.error == 0 &&
      !body->specials) {
    struct scalar one = put_constant(body, a.element, -1);
    return put_op(body, "math.copysign", &a, &one, a.range);
  }
  return put_function(body, a);
}

static struct scalar put_integer(struct body *body, struct scalar a,
                                 struct scalar b) {
  static const char *const names[] = {
      "arith.addi", "arith.subi",  "arith.muli",  "arith.andi",  "arith.ori",
      "arith.xori", "arith.maxsi", "arith.minsi", "arith.maxui", "arith.minui",
      "arith.shli", "arith.shrsi", "arith.shrui"};
  int which = a.element == E_I1 ? 3 + random_below(body->random, 3)
                                : random_below(body->random, 13);
  if (which >= 10)
    b = put_constant(body, a.element, random_below(body->random, 7));
  return put_op(body, names[which], &a, &b, (struct range){0, 0, true});
}

static struct scalar pick(struct body *body) {
  /* Later ones more often, so that little is dead. */
  int i = random_below(body->random, body->count);
  int j = random_below(body->random, body->count);
  return body->scalar[i > j ? i : j];
}

void put_statement(struct body *body) {
  struct scalar a = pick(body), b = pick(body), result;
  if (random_percent(body->random, 12)) {
    static const enum element types[] = {E_F32, E_F64, E_I32,  E_I64,
                                         E_I8,  E_F16, E_BF16, E_INDEX};
    result = put_conversion(body, a, types[random_below(body->random, 8)]);
    add_scalar(body, result.name, result.element, result.range);
    return;
  }
  b = put_conversion(body, b, a.element);
  if (is_float(a.element)) {
    a = clamp(body, a, limit_of(a.element));
    b = clamp(body, b, limit_of(a.element));
  }
  if (random_percent(body->random, 15))
    result = choose(body, a, b);
  else if (!is_float(a.element))
    result = put_integer(body, a, b);
  else if (random_percent(body->random, 65))
    result = put_float_pair(body, a, b);
  else
    result = put_float_one(body, a);
  add_scalar(body, result.name, result.element, result.range);
}

/*===-- Reductions --------------------------------------------------------===*/

static struct scalar combine_integers(struct body *body, struct scalar before,
                                      struct scalar value, bool any_order) {
  static const char *const names[] = {
      "arith.andi",  "arith.ori",   "arith.xori",  "arith.addi", "arith.muli",
      "arith.maxsi", "arith.minsi", "arith.maxui", "arith.minui"};
  struct range none = {0, 0, true};
  int which = random_below(body->random, before.element == E_I1 ? 3 : 9);
  if (any_order)
    return random_percent(body->random, 50)
               ? put_op(body, names[which], &before, &value, none)
               : put_op(body, names[which], &value, &before, none);
  if (before.element == E_I1)
    return put_op(body, "arith.xori", &before, &value, none);
  struct scalar one = put_constant(body, before.element, 1);
  before = put_op(body, "arith.shli", &before, &one, none);
  return put_op(body, "arith.subi", &value, &before, none);
}

struct scalar put_combination(struct body *body, struct scalar before,
                              struct scalar value, double times, bool any_order,
                              double start) {
  static const char *const extremes[] = {"arith.maximumf", "arith.minimumf",
                                         "arith.maxnumf", "arith.minnumf"};
  if (!is_float(value.element))
    return combine_integers(body, before, value, any_order);
  struct scalar *first = random_percent(body->random, 50) ? &before : &value;
  struct scalar *second = first == &before ? &value : &before;
  enum element element = value.element;
  int which = random_below(body->random, 7);
  if (any_order && which >= 3)
    return put_op(body, extremes[which - 3], first, second,
                  (struct range){fmax(value.range.magnitude, fabs(start)),
                                 value.range.error, value.range.whole});
  if (any_order && which == 2) {
    value = clamp(body, value, 1);
    struct range range = {fmax(fabs(start), 1), 0, value.range.whole};
    range.error =
        times *
        (value.range.error + (value.range.whole ? 0 : epsilons[element])) *
        range.magnitude;
    return put_op(body, "arith.mulf", first, second, range);
  }
  value = clamp(body, value, fmax(1, floor(limit_of(element) / times)));
  double most = value.range.magnitude * times + fabs(start);
  struct range range =
      rounded(element, most, value.range.error * times, value.range.whole);
  if (!range.whole)
    range.error += epsilons[element] * most * times;
  return any_order ? put_op(body, "arith.addf", first, second, range)
                   : put_op(body, "arith.subf", &value, &before, range);
}
