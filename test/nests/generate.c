/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Random programs as MLIR text. The shape of a tensor is a word, one letter a
 * dimension, that names the loop walking it; all operations of a program share
 * the letters, so that values fit together in many ways. '1' and '2' are
 * windows: x times a stride plus X times a dilation, y and Y alike. '0' is the
 * constant 0 of a dimension of one.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "test/nests/nests.h"

enum { MAX_WORD = TG_MAX_RANK + 1, MAX_WORK = 16000, MAX_POOL = 40 };

struct value {
  char name[24];
  char word[MAX_WORD];
  enum element element;
  struct range range;
};

struct program {
  struct random random;
  struct nest_case *test;
  struct nest_text out;
  char arguments[2048];
  struct nest_text header; /* into `arguments` */
  char letters[6];
  int64_t extent[128], stride[2], dilation[2];
  enum element palette[3];
  bool whole, windows;
  int next; /* number of the next value */
  int pool_count;
  struct value pool[MAX_POOL];
};

static int below(struct program *p, int count) {
  return random_below(&p->random, count);
}
static bool percent(struct program *p, int chance) {
  return random_percent(&p->random, chance);
}

/*===-- Words -------------------------------------------------------------===*/

static void add_letter(char *word, char letter) {
  size_t length = strlen(word);
  if (length + 1 < MAX_WORD + 0u) {
    word[length] = letter;
    word[length + 1] = 0;
  }
}

static void insert_letter(char *word, int at, char letter) {
  memmove(word + at + 1, word + at, strlen(word + at) + 1);
  word[at] = letter;
}

static void shuffle(struct program *p, char *word) {
  for (int i = (int)strlen(word) - 1; i > 0; --i) {
    int j = below(p, i + 1);
    char letter = word[i];
    word[i] = word[j];
    word[j] = letter;
  }
}

static int64_t extent_of(const struct program *p, char letter) {
  if (letter == '0')
    return 1;
  if (letter != '1' && letter != '2')
    return p->extent[(int)letter];
  int w = letter - '1';
  return p->stride[w] * (p->extent['x' + w] - 1) +
         p->dilation[w] * (p->extent['X' + w] - 1) + 1;
}

static double elements_of(const struct program *p, const char *word) {
  double count = 1;
  for (; *word; ++word)
    count *= (double)extent_of(p, *word);
  return count;
}

static void draw_word(struct program *p, char *word) {
  word[0] = 0;
  for (const char *c = p->letters; *c; ++c)
    if (percent(p, 70))
      add_letter(word, *c);
  if (p->windows && percent(p, 60) && strlen(word) < 4) {
    insert_letter(word, below(p, (int)strlen(word) + 1), '1');
    if (percent(p, 50))
      insert_letter(word, below(p, (int)strlen(word) + 1), '2');
  }
  if (percent(p, 20))
    shuffle(p, word);
  if (percent(p, 8) && strlen(word) < 5)
    insert_letter(word, below(p, (int)strlen(word) + 1), '0');
  if (percent(p, 3) && word[0] && isalpha((unsigned char)word[0]) &&
      strlen(word) < 5)
    insert_letter(word, below(p, (int)strlen(word) + 1), word[0]);
}

/* The loops that a word stands for, each once. */
static void collect_loops(char *loops, const char *word) {
  for (; *word; ++word) {
    char pair[3] = {*word, 0, 0};
    if (*word == '0')
      continue;
    if (*word == '1' || *word == '2') {
      pair[0] = (char)('x' + (*word - '1'));
      pair[1] = (char)('X' + (*word - '1'));
    }
    for (const char *c = pair; *c; ++c)
      if (!strchr(loops, *c))
        add_letter(loops, *c);
  }
}

/*===-- Values ------------------------------------------------------------===*/

static void put_type(struct nest_text *out, const struct program *p,
                     const char *word, enum element element) {
  put_text(out, "tensor<");
  for (; *word; ++word)
    put_text(out, "%lldx", (long long)extent_of(p, *word));
  put_text(out, "%s>", element_text[element]);
}

static void put_value_type(struct program *p, const struct value *value) {
  put_type(&p->out, p, value->word, value->element);
}

static struct value *add_value(struct program *p, const char *word,
                               enum element element, struct range range) {
  struct value *value = &p->pool[p->pool_count++];
  snprintf(value->name, sizeof(value->name), "%%v%d", p->next++);
  memcpy(value->word, word, strlen(word) + 1);
  value->element = element;
  value->range = range;
  return value;
}

static enum element draw_element(struct program *p) {
  return p->palette[below(p, 3)];
}

static struct value *new_argument(struct program *p, const char *word,
                                  enum element element) {
  struct nest_case *test = p->test;
  if (test->argument_count == MAX_NEST_ARGUMENTS || p->pool_count == MAX_POOL)
    return NULL;
  bool whole = p->whole || !is_float(element) || percent(p, 40);
  struct range range = {whole ? 4 : 2, 0, whole};
  struct value *value = add_value(p, word, element, range);
  put_text(&p->header, "%s%s: ", test->argument_count ? ", " : "", value->name);
  put_type(&p->header, p, word, element);
  test->whole[test->argument_count++] = whole;
  return value;
}

/* A pointer into the pool, which does not move. */
static struct value *draw_value(struct program *p) {
  char word[MAX_WORD];
  if (p->pool_count == 0 || percent(p, 25)) {
    do
      draw_word(p, word);
    while (elements_of(p, word) > MAX_WORK);
    struct value *value = new_argument(p, word, draw_element(p));
    if (value)
      return value;
  }
  if (percent(p, 50))
    return &p->pool[p->pool_count - 1];
  return &p->pool[below(p, p->pool_count)];
}

static struct value *find_value(struct program *p, const char *word,
                                enum element element) {
  for (int i = 0; i < p->pool_count; ++i)
    if (!strcmp(p->pool[i].word, word) && p->pool[i].element == element)
      return &p->pool[i];
  return NULL;
}

/*===-- What results start from -------------------------------------------===*/

/* A tensor that an operation writes into, and its range. */
struct start {
  char name[24];
  struct range range;
};

static struct start put_empty(struct program *p, const char *word,
                              enum element element) {
  struct start start = {.range = {0, 0, true}};
  snprintf(start.name, sizeof(start.name), "%%e%d", p->next++);
  put_text(&p->out, "  %s = tensor.empty() : ", start.name);
  put_type(&p->out, p, word, element);
  put_text(&p->out, "\n");
  return start;
}

static struct start put_fill(struct program *p, const char *word,
                             enum element element, double number) {
  struct start empty = put_empty(p, word, element), start = empty;
  struct body body = {
      .out = &p->out, .random = &p->random, .next = 1000 * ++p->next};
  struct scalar constant = put_constant(&body, element, number);
  snprintf(start.name, sizeof(start.name), "%%e%d", p->next++);
  put_text(&p->out, "  %s = linalg.fill ins(%s : %s) outs(%s : ", start.name,
           constant.name, element_text[element], empty.name);
  put_type(&p->out, p, word, element);
  put_text(&p->out, ") -> ");
  put_type(&p->out, p, word, element);
  put_text(&p->out, "\n");
  start.range.magnitude = fabs(number);
  return start;
}

static struct start put_start(struct program *p, const char *word,
                              enum element element, bool read, double number) {
  struct value *value = NULL;
  int which = below(p, 100);
  if (which < 12)
    value = new_argument(p, word, element);
  else if (which < 24)
    value = find_value(p, word, element);
  if (!value || (read && value->range.magnitude > 1000))
    return !read && percent(p, 80) ? put_empty(p, word, element)
                                   : put_fill(p, word, element, number);
  struct start start = {.range = value->range};
  snprintf(start.name, sizeof(start.name), "%s", value->name);
  return start;
}

/*===-- Generics ----------------------------------------------------------===*/

enum { MAX_INPUTS = 4, MAX_OUTPUTS = 2 };

enum kind { ELEMENTWISE, REDUCTION, IN_ORDER, ARGMAX };

struct generic {
  enum kind kind;
  int input_count, output_count;
  struct value input[MAX_INPUTS];
  char loops[TG_MAX_LOOPS + 3];
  char word[MAX_WORD];  /* of the results */
  char shape[MAX_WORD]; /* of an operand that only says extents */
  bool read_before;     /* an elementwise body looks at its results */
  enum element element[MAX_OUTPUTS];
  struct start start[MAX_OUTPUTS];
  bool captures;
  struct scalar capture; /* from outside of the body */
};

static void put_map(struct program *p, const struct generic *g,
                    const char *word) {
  put_text(&p->out, "affine_map<(");
  for (size_t i = 0; i < strlen(g->loops); ++i)
    put_text(&p->out, "%sd%zu", i ? ", " : "", i);
  put_text(&p->out, ") -> (");
  for (const char *c = word; *c; ++c) {
    put_text(&p->out, "%s", c == word ? "" : ", ");
    if (*c == '0') {
      put_text(&p->out, "0");
    } else if (*c == '1' || *c == '2') {
      int w = *c - '1';
      put_text(&p->out, "d%d * %lld + d%d * %lld",
               (int)(strchr(g->loops, 'x' + w) - g->loops),
               (long long)p->stride[w],
               (int)(strchr(g->loops, 'X' + w) - g->loops),
               (long long)p->dilation[w]);
    } else {
      put_text(&p->out, "d%d", (int)(strchr(g->loops, *c) - g->loops));
    }
  }
  put_text(&p->out, ")>");
}

static void draw_inputs(struct program *p, struct generic *g) {
  g->input_count = 1 + below(p, 3);
  for (int i = 0; i < g->input_count; ++i) {
    g->input[i] = *draw_value(p);
    collect_loops(g->loops, g->input[i].word);
  }
  if (percent(p, 8))
    collect_loops(g->loops, (char[2]){p->letters[0], 0});
}

/* Which loops the results have, and in which order all of them are. */
static void draw_loops(struct program *p, struct generic *g) {
  char order[] = "abcdexyXY", kept[16] = "", dropped[16] = "";
  if (percent(p, 10))
    shuffle(p, order);
  int chance = g->kind == ELEMENTWISE ? 0 : 20 + 10 * below(p, 5);
  for (const char *c = order; *c; ++c)
    if (strchr(g->loops, *c)) {
      bool window = (*c == 'X' || *c == 'Y') && g->kind != ELEMENTWISE;
      bool drop = percent(p, window ? 85 : chance);
      if (drop && strlen(dropped) < 4)
        add_letter(dropped, *c);
      else
        add_letter(kept, *c);
    }
  if (g->kind != ELEMENTWISE && !dropped[0] && kept[0]) {
    int at =
        percent(p, 60) ? (int)strlen(kept) - 1 : below(p, (int)strlen(kept));
    add_letter(dropped, kept[at]);
    memmove(kept + at, kept + at + 1, strlen(kept + at));
  }
  snprintf(g->word, sizeof(g->word), "%s", kept);
  snprintf(g->loops, sizeof(g->loops), "%s%s", kept, dropped);
  if (percent(p, 20))
    shuffle(p, g->loops);
  if (percent(p, 15))
    shuffle(p, g->word);
  if (percent(p, 5) && strlen(g->word) < 5)
    insert_letter(g->word, below(p, (int)strlen(g->word) + 1), '0');
}

/* An operand for the loops that no dimension is walked by alone. */
static void draw_shape(struct generic *g) {
  for (const char *c = g->loops; *c; ++c) {
    bool plain = strchr(g->word, *c) != NULL;
    for (int i = 0; i < g->input_count; ++i)
      plain |= strchr(g->input[i].word, *c) != NULL;
    if (!plain)
      add_letter(g->shape, *c);
  }
}

static bool draw_generic(struct program *p, struct generic *g) {
  memset(g, 0, sizeof(*g));
  int which = below(p, 100);
  g->kind = which < 52   ? ELEMENTWISE
            : which < 82 ? REDUCTION
            : which < 88 ? IN_ORDER
                         : ARGMAX;
  draw_inputs(p, g);
  draw_loops(p, g);
  draw_shape(g);
  if (strlen(g->loops) > 6 || strlen(g->word) > 5 || !g->loops[0] ||
      elements_of(p, g->loops) > MAX_WORK)
    return false;
  g->output_count = g->kind == ARGMAX || percent(p, 12) ? 2 : 1;
  g->read_before = g->kind != ELEMENTWISE || percent(p, 8);
  return true;
}

/* What the bodies of an operation may use from outside and from their loops. */
static void put_sources(struct program *p, const struct generic *g,
                        struct body *body) {
  for (int i = 0; i < g->input_count; ++i)
    if (!percent(p, 4))
      add_scalar(body, (char[16]){'%', 'x', (char)('0' + i), 0},
                 g->input[i].element, g->input[i].range);
  for (size_t l = 0; l < strlen(g->loops); ++l)
    if (percent(p, 8)) {
      char name[24];
      snprintf(name, sizeof(name), "%%i%d", (int)l);
      put_text(&p->out, "    %s = linalg.index %zu : index\n", name, l);
      add_scalar(body, name, E_INDEX, (struct range){0, 0, true});
    }
  if (g->captures)
    add_scalar(body, g->capture.name, g->capture.element, g->capture.range);
  if (body->count == 0 || percent(p, 15)) {
    struct scalar constant =
        put_constant(body, draw_element(p), below(p, 5) - 2);
    add_scalar(body, constant.name, constant.element, constant.range);
  }
}

/* table[...] with subscripts that are loops or computed. */
static void put_gather(struct program *p, const struct generic *g,
                       struct body *body) {
  const struct value *table = &p->pool[below(p, p->pool_count)];
  char indices[128] = "";
  size_t used = 0;
  for (const char *c = table->word; *c; ++c) {
    int64_t extent = extent_of(p, *c);
    int limit = 1;
    while (2 * limit <= extent && limit < 64)
      limit *= 2;
    const char *at = strchr(g->loops, *c);
    char name[24];
    if (at && percent(p, 50)) {
      snprintf(name, sizeof(name), "%%s%d", body->next++);
      put_text(&p->out, "    %s = linalg.index %d : index\n", name,
               (int)(at - g->loops));
    } else {
      struct scalar from = body->scalar[below(p, body->count)];
      snprintf(name, sizeof(name), "%s",
               put_masked_index(body, from, limit).name);
    }
    used += (size_t)snprintf(indices + used, sizeof(indices) - used, "%s%s",
                             c == table->word ? "" : ", ", name);
  }
  char name[24];
  snprintf(name, sizeof(name), "%%s%d", body->next++);
  put_text(&p->out, "    %s = tensor.extract %s[%s] : ", name, table->name,
           indices);
  put_value_type(p, table);
  put_text(&p->out, "\n");
  add_scalar(body, name, table->element, table->range);
}

static struct scalar put_argmax(struct program *p, struct generic *g,
                                struct body *body, struct scalar value,
                                struct scalar *index) {
  struct scalar best = {"%o0", g->element[0], g->start[0].range};
  struct scalar place = {"%o1", g->element[1], {0, 0, true}};
  const char *predicate = is_float(value.element)
                              ? (percent(p, 70) ? "ogt" : "olt")
                              : (percent(p, 70) ? "sgt" : "ult");
  struct scalar condition = put_comparison(body, predicate, value, best);
  int loop = (int)strlen(g->loops) - 1;
  while (loop > 0 && strchr(g->word, g->loops[loop]))
    --loop;
  struct scalar here = {"%here", E_INDEX, {0, 0, true}};
  put_text(&p->out, "    %%here = linalg.index %d : index\n", loop);
  here = put_conversion(body, here, g->element[1]);
  *index = put_select(body, condition, here, place);
  return put_select(body, condition, value, best);
}

/* The statements, and the scalars that are yielded. */
static void put_body(struct program *p, struct generic *g, struct body *body,
                     struct scalar yielded[MAX_OUTPUTS]) {
  double times = elements_of(p, g->loops) / elements_of(p, g->word);
  struct range none = {0, 0, true};
  put_sources(p, g, body);
  if (percent(p, 12))
    put_gather(p, g, body);
  if (g->kind == ELEMENTWISE && g->read_before)
    for (int r = 0; r < g->output_count; ++r)
      add_scalar(body, (char[4]){'%', 'o', (char)('0' + r), 0}, g->element[r],
                 g->start[r].range);
  int statements = percent(p, 30) ? 0 : 1 + below(p, 6);
  for (int i = 0; i < statements; ++i)
    put_statement(body);
  struct scalar last = body->scalar[body->count - 1];
  if (g->kind == ARGMAX) {
    last = put_conversion(body, last, g->element[0]);
    if (last.range.error != 0)
      last = put_constant(body, g->element[0], 2);
    yielded[0] = put_argmax(p, g, body, last, &yielded[1]);
    return;
  }
  for (int r = 0; r < g->output_count; ++r) {
    struct scalar value = put_conversion(
        body, r ? body->scalar[below(p, body->count)] : last, g->element[r]);
    struct scalar before = {"%o0", g->element[r], none};
    before.name[2] = (char)('0' + r);
    yielded[r] =
        g->kind == ELEMENTWISE
            ? value
            : put_combination(body, before, value, times, g->kind == REDUCTION,
                              g->start[r].range.magnitude);
    /* What the initial value brings along. */
    if (g->kind != ELEMENTWISE)
      yielded[r].range.error += g->start[r].range.error;
    if (g->kind != ELEMENTWISE && !g->start[r].range.whole &&
        is_float(g->element[r]) && yielded[r].range.whole)
      yielded[r].range.whole = false,
      yielded[r].range.error += times * yielded[r].range.magnitude *
                                (g->element[r] == E_F32   ? 0x1p-23
                                 : g->element[r] == E_F64 ? 0x1p-52
                                 : g->element[r] == E_F16 ? 0x1p-10
                                                          : 0x1p-7);
  }
}

static void put_operands(struct program *p, const struct generic *g,
                         const struct start *shape) {
  put_text(&p->out, "]} ins(");
  for (int i = 0; i < g->input_count; ++i)
    put_text(&p->out, "%s%s", i ? ", " : "", g->input[i].name);
  put_text(&p->out, "%s%s : ", shape ? ", " : "", shape ? shape->name : "");
  for (int i = 0; i < g->input_count; ++i) {
    put_text(&p->out, "%s", i ? ", " : "");
    put_value_type(p, &g->input[i]);
  }
  if (shape) {
    put_text(&p->out, ", ");
    put_type(&p->out, p, g->shape, E_F32);
  }
  put_text(&p->out, ") outs(");
  for (int r = 0; r < g->output_count; ++r)
    put_text(&p->out, "%s%s", r ? ", " : "", g->start[r].name);
  put_text(&p->out, " : ");
  for (int r = 0; r < g->output_count; ++r) {
    put_text(&p->out, "%s", r ? ", " : "");
    put_type(&p->out, p, g->word, g->element[r]);
  }
  put_text(&p->out, ") {\n  ^bb0(");
  for (int i = 0; i < g->input_count; ++i)
    put_text(&p->out, "%s%%x%d: %s", i ? ", " : "", i,
             element_text[g->input[i].element]);
  if (shape)
    put_text(&p->out, ", %%shape: f32");
  for (int r = 0; r < g->output_count; ++r)
    put_text(&p->out, ", %%o%d: %s", r, element_text[g->element[r]]);
  put_text(&p->out, "):\n");
}

static void put_result_types(struct program *p, const struct generic *g) {
  put_text(&p->out, "%s", g->output_count > 1 ? "(" : "");
  for (int r = 0; r < g->output_count; ++r) {
    put_text(&p->out, "%s", r ? ", " : "");
    put_type(&p->out, p, g->word, g->element[r]);
  }
  put_text(&p->out, "%s", g->output_count > 1 ? ")" : "");
}

static void put_head(struct program *p, const struct generic *g, int number) {
  put_text(&p->out, "  %%v%d%s = linalg.generic {indexing_maps = [", number,
           g->output_count > 1 ? ":2" : "");
  for (int i = 0; i < g->input_count; ++i) {
    put_map(p, g, g->input[i].word);
    put_text(&p->out, ", ");
  }
  if (g->shape[0]) {
    put_map(p, g, g->shape);
    put_text(&p->out, ", ");
  }
  for (int r = 0; r < g->output_count; ++r) {
    put_text(&p->out, "%s", r ? ", " : "");
    put_map(p, g, g->word);
  }
  put_text(&p->out, "], iterator_types = [");
  for (const char *c = g->loops; *c; ++c)
    put_text(&p->out, "%s\"%s\"", c == g->loops ? "" : ", ",
             strchr(g->word, *c) ? "parallel" : "reduction");
}

/* The first element of some value. */
static void put_capture(struct program *p, struct generic *g) {
  const struct value *value = &p->pool[below(p, p->pool_count)];
  int number = p->next++;
  put_text(&p->out, "  %%z%d = arith.constant 0 : index\n", number);
  g->captures = true;
  g->capture.element = value->element;
  g->capture.range = value->range;
  snprintf(g->capture.name, sizeof(g->capture.name), "%%k%d", number);
  put_text(&p->out, "  %s = tensor.extract %s[", g->capture.name, value->name);
  for (size_t d = 0; d < strlen(value->word); ++d)
    put_text(&p->out, "%s%%z%d", d ? ", " : "", number);
  put_text(&p->out, "] : ");
  put_value_type(p, value);
  put_text(&p->out, "\n");
}

static void put_generic(struct program *p, struct generic *g) {
  if (percent(p, 10))
    put_capture(p, g);
  for (int r = 0; r < g->output_count; ++r) {
    g->element[r] = percent(p, 60) ? g->input[0].element : draw_element(p);
    if (g->kind == ARGMAX && r == 1)
      g->element[r] = (enum element[]){E_I32, E_I64, E_INDEX}[below(p, 3)];
    if (g->kind == ARGMAX && r == 0 && g->element[r] == E_I1)
      g->element[r] = E_I32;
    double number = g->kind == ARGMAX ? -100 * !r : below(p, 5) - 2;
    g->start[r] = put_start(p, g->word, g->element[r], g->read_before, number);
  }
  struct start shape = {.name = ""};
  if (g->shape[0])
    shape = put_empty(p, g->shape, E_F32);
  int number = p->next++;
  put_head(p, g, number);
  put_operands(p, g, g->shape[0] ? &shape : NULL);
  struct body body = {
      .out = &p->out, .random = &p->random, .specials = p->test->specials};
  struct scalar yielded[MAX_OUTPUTS];
  put_body(p, g, &body, yielded);
  put_text(&p->out, "    linalg.yield %s%s%s : %s%s%s\n  } -> ",
           yielded[0].name, g->output_count > 1 ? ", " : "",
           g->output_count > 1 ? yielded[1].name : "",
           element_text[g->element[0]], g->output_count > 1 ? ", " : "",
           g->output_count > 1 ? element_text[g->element[1]] : "");
  put_result_types(p, g);
  put_text(&p->out, "\n");
  for (int r = 0; r < g->output_count && p->pool_count < MAX_POOL; ++r) {
    struct value *value =
        add_value(p, g->word, g->element[r], yielded[r].range);
    if (g->output_count > 1)
      snprintf(value->name, sizeof(value->name), "%%v%d#%d", number, r);
    else
      snprintf(value->name, sizeof(value->name), "%%v%d", number);
  }
}

/*===-- Named operations --------------------------------------------------===*/

static void put_named(struct program *p, const char *name, const char *before,
                      const struct value *input, const char *word,
                      const struct start *start, const char *after) {
  put_text(&p->out, "  %%v%d = linalg.%s %sins(%s : ", p->next, name, before,
           input->name);
  put_value_type(p, input);
  put_text(&p->out, ") outs(%s : ", start->name);
  put_type(&p->out, p, word, input->element);
  put_text(&p->out, ") %s", after);
}

static void put_transpose(struct program *p, struct value input) {
  char order[MAX_WORD] = "", word[MAX_WORD] = "", after[64] = "permutation = [";
  for (size_t d = 0; d < strlen(input.word); ++d)
    add_letter(order, (char)('0' + d));
  shuffle(p, order);
  for (const char *c = order; *c; ++c) {
    add_letter(word, input.word[*c - '0']);
    size_t used = strlen(after);
    snprintf(after + used, sizeof(after) - used, "%s%c", c == order ? "" : ", ",
             *c);
  }
  struct start start = put_empty(p, word, input.element);
  put_named(p, "transpose", "", &input, word, &start, after);
  put_text(&p->out, "]\n");
  add_value(p, word, input.element, input.range);
}

static void put_broadcast(struct program *p, struct value input) {
  char word[MAX_WORD + 1], after[64];
  snprintf(word, sizeof(word), "%s", input.word);
  int at = below(p, (int)strlen(word) + 1);
  insert_letter(word, at, p->letters[below(p, (int)strlen(p->letters))]);
  if (elements_of(p, word) > MAX_WORK)
    return;
  struct start start = put_empty(p, word, input.element);
  snprintf(after, sizeof(after), "dimensions = [%d]\n", at);
  put_named(p, "broadcast", "", &input, word, &start, after);
  add_value(p, word, input.element, input.range);
}

static void put_reduce(struct program *p, struct value input) {
  int d = below(p, (int)strlen(input.word));
  char word[MAX_WORD], before[64], after[64];
  snprintf(word, sizeof(word), "%s", input.word);
  memmove(word + d, word + d + 1, strlen(word + d));
  struct start start = put_fill(p, word, input.element, -3);
  snprintf(before, sizeof(before), "{ arith.%s } ",
           is_float(input.element) ? "maximumf" : "addi");
  snprintf(after, sizeof(after), "dimensions = [%d]\n", d);
  put_named(p, "reduce", before, &input, word, &start, after);
  struct range range = input.range;
  range.magnitude = fmax(range.magnitude, 3);
  add_value(p, word, input.element, range);
}

/* An operation on one value and itself. */
static void put_elementwise(struct program *p, struct value input) {
  static const char *const names[] = {"max", "min", "abs", "negf"};
  if (!is_float(input.element))
    return;
  int which = below(p, 4);
  struct start start = put_empty(p, input.word, input.element);
  put_text(&p->out, "  %%v%d = linalg.%s ins(%s", p->next, names[which],
           input.name);
  put_text(&p->out, "%s%s : ", which < 2 ? ", " : "",
           which < 2 ? input.name : "");
  put_value_type(p, &input);
  if (which < 2) {
    put_text(&p->out, ", ");
    put_value_type(p, &input);
  }
  put_text(&p->out, ") outs(%s : ", start.name);
  put_value_type(p, &input);
  put_text(&p->out, ") -> ");
  put_value_type(p, &input);
  put_text(&p->out, "\n");
  add_value(p, input.word, input.element, input.range);
}

static void put_expand(struct program *p, struct value input) {
  int rank = (int)strlen(input.word);
  int at = below(p, rank + 1);
  char word[MAX_WORD + 1];
  snprintf(word, sizeof(word), "%s", input.word);
  insert_letter(word, at, '0');
  int into = at == rank ? rank - 1 : at;
  put_text(&p->out, "  %%v%d = tensor.expand_shape %s [", p->next, input.name);
  for (int d = 0, next = 0; d < rank; ++d) {
    put_text(&p->out, "%s[%d", d ? ", " : "", next++);
    if (d == into)
      put_text(&p->out, ", %d", next++);
    put_text(&p->out, "]");
  }
  put_text(&p->out, "] output_shape [");
  for (int d = 0; d <= rank; ++d)
    put_text(&p->out, "%s%lld", d ? ", " : "",
             (long long)extent_of(p, word[d]));
  put_text(&p->out, "] : ");
  put_value_type(p, &input);
  put_text(&p->out, " into ");
  put_type(&p->out, p, word, input.element);
  put_text(&p->out, "\n");
  add_value(p, word, input.element, input.range);
}

static void put_pooling(struct program *p) {
  static const struct {
    const char *name, *input, *result;
  } rows[] = {{"pooling_nchw_max", "ab12", "abxy"},
              {"pooling_nhwc_max", "a12b", "axyb"},
              {"pooling_nhwc_min", "a12b", "axyb"},
              {"pooling_nchw_sum", "ab12", "abxy"},
              {"pooling_nhwc_sum", "a12b", "axyb"}};
  int which = below(p, 5);
  enum element element = percent(p, 70) ? E_F32 : E_I32;
  if (elements_of(p, "abxyXY") > MAX_WORK)
    return;
  struct value *input = find_value(p, rows[which].input, element);
  if (!input)
    input = new_argument(p, rows[which].input, element);
  if (!input || input->range.magnitude > 100)
    return;
  struct start window = put_empty(p, "XY", element);
  struct start start = put_fill(p, rows[which].result, element, 0);
  put_text(
      &p->out,
      "  %%v%d = linalg.%s {strides = dense<[%lld, %lld]> : vector<2xi64>, "
      "dilations = dense<[%lld, %lld]> : vector<2xi64>} ins(%s, %s : ",
      p->next, rows[which].name, (long long)p->stride[0],
      (long long)p->stride[1], (long long)p->dilation[0],
      (long long)p->dilation[1], input->name, window.name);
  put_value_type(p, input);
  put_text(&p->out, ", ");
  put_type(&p->out, p, "XY", element);
  put_text(&p->out, ") outs(%s : ", start.name);
  put_type(&p->out, p, rows[which].result, element);
  put_text(&p->out, ") -> ");
  put_type(&p->out, p, rows[which].result, element);
  put_text(&p->out, "\n");
  double times = which >= 3 ? elements_of(p, "XY") : 1;
  struct range range = {input->range.magnitude * times,
                        input->range.error * times, input->range.whole};
  if (!range.whole && which >= 3)
    range.error += 0x1p-23 * range.magnitude * times;
  add_value(p, rows[which].result, element, range);
}

static void put_other(struct program *p) {
  int which = below(p, p->windows ? 7 : 5);
  if (which >= 5) {
    put_pooling(p);
    return;
  }
  struct value input = *draw_value(p);
  if (p->pool_count == MAX_POOL || !input.word[0] || strlen(input.word) > 4)
    return;
  switch (which) {
  case 0:
    put_transpose(p, input);
    break;
  case 1:
    put_broadcast(p, input);
    break;
  case 2:
    put_reduce(p, input);
    break;
  case 3:
    put_elementwise(p, input);
    break;
  default:
    put_expand(p, input);
  }
}

/*===-- Programs ----------------------------------------------------------===*/

static void draw_extents(struct program *p) {
  static const int sizes[] = {1,  2,  3,  4,  5,  7,  8,  9,  11, 13, 15, 16,
                              17, 19, 24, 31, 32, 33, 37, 64, 65, 97, 128};
  enum { SIZE_COUNT = sizeof(sizes) / sizeof(sizes[0]) };
  int count = 1 + below(p, 4) + percent(p, 20), limit = SIZE_COUNT;
  for (int i = 0; i < count; ++i)
    p->letters[i] = (char)('a' + i);
  do {
    for (int i = 0; i < count; ++i)
      p->extent['a' + i] = sizes[below(p, limit)];
    limit = limit > 6 ? limit - 1 : limit;
  } while (elements_of(p, p->letters) > MAX_WORK / 2);
  p->windows = count >= 2 && count <= 3 && percent(p, 35);
  for (int w = 0; w < 2; ++w) {
    p->extent['x' + w] = sizes[below(p, p->windows ? 14 : 2)];
    p->extent['X' + w] = 1 + below(p, 4);
    p->stride[w] = percent(p, 85) ? 1 + below(p, 3) : 4 + below(p, 2);
    p->dilation[w] = percent(p, 60) ? 1 : 1 + below(p, 3);
  }
}

static void draw_palette(struct program *p) {
  static const enum element common[] = {E_F32, E_F32, E_F32, E_F32,
                                        E_F64, E_I32, E_I64, E_F32};
  for (int i = 0; i < 3; ++i)
    p->palette[i] = percent(p, 60) ? common[below(p, 8)]
                                   : (enum element)below(p, (int)ELEMENT_COUNT);
  if (percent(p, 40))
    p->palette[1] = p->palette[2] = p->palette[0];
}

static void finish(struct program *p, int index) {
  struct nest_case *test = p->test;
  const struct value *returned[MAX_NEST_RESULTS];
  for (int i = p->pool_count - 1;
       i >= 0 && test->result_count < MAX_NEST_RESULTS; --i) {
    char declared[20];
    snprintf(declared, sizeof(declared), "%s:", p->pool[i].name);
    if (strstr(p->arguments, declared) ||
        (test->result_count > 0 && !percent(p, 45)))
      continue;
    returned[test->result_count] = &p->pool[i];
    test->result[test->result_count++] = p->pool[i].range;
  }
  struct nest_text text = {test->text, sizeof(test->text), 0};
  put_text(&text, "func.func @f%d(%s) -> (", index, p->arguments);
  for (int r = 0; r < test->result_count; ++r) {
    put_text(&text, "%s", r ? ", " : "");
    put_type(&text, p, returned[r]->word, returned[r]->element);
  }
  put_text(&text, ") attributes {llvm.emit_c_interface} {\n%s  return ",
           p->out.text);
  for (int r = 0; r < test->result_count; ++r)
    put_text(&text, "%s%s", r ? ", " : "", returned[r]->name);
  put_text(&text, "%s", test->result_count ? " : " : "");
  for (int r = 0; r < test->result_count; ++r) {
    put_text(&text, "%s", r ? ", " : "");
    put_type(&text, p, returned[r]->word, returned[r]->element);
  }
  put_text(&text, "\n}\n");
}

void generate_nest_case(uint64_t seed, int index, struct nest_case *test) {
  static char body[NEST_TEXT_NBYTES - 4096];
  static struct program program;
  memset(&program, 0, sizeof(program));
  memset(test, 0, sizeof(*test));
  struct program *p = &program;
  p->random.state = test->seed = seed;
  p->test = test;
  body[0] = 0;
  p->out = (struct nest_text){body, sizeof(body), 0};
  p->header = (struct nest_text){p->arguments, sizeof(p->arguments), 0};
  test->specials = percent(p, 10);
  p->whole = percent(p, 55);
  draw_extents(p);
  draw_palette(p);
  int operations = 1 + below(p, 8);
  for (int i = 0, tries = 0; i < operations && tries < 200; ++tries) {
    struct generic generic;
    if (p->pool_count + 12 > MAX_POOL || p->out.used + 6000 > sizeof(body))
      break;
    if (p->pool_count > 0 && percent(p, 18)) {
      put_other(p);
      ++i;
    } else if (draw_generic(p, &generic)) {
      put_generic(p, &generic);
      ++i;
    }
  }
  finish(p, index);
}
