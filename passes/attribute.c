/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Reading and writing of tgraph.config. Loops are named by the operation's own
 * iteration dimensions; the canonical loops of the knobs don't show.
 */
#include "passes/attribute.h"

#include <limits.h>
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdio.h>
#include <string.h>

#include "model/layout.h"
#include "model/winograd.h"
#include "passes/build.h"
#include "passes/from_weights.h"
#include "passes/inspect.h"
#include "passes/passes.h"

/* Entries whose value is one number that is a knob's value as it is. */
static const struct {
  const char *name;
  enum tg_knob knob;
} numbers[] = {
    {"register_rows", TG_KNOB_rows},
    {"register_vectors", TG_KNOB_vectors},
    {"unroll", TG_KNOB_unroll},
    {"cache_vector", TG_KNOB_block_vector},
    {"cache_rows", TG_KNOB_block_rows},
    {"cache_reduction", TG_KNOB_block_reduction},
};

static const char *const operand_names[TG_OPERAND_COUNT] = {"lhs", "rhs",
                                                            "result"};
static const enum tg_knob pack_knobs[TG_OPERAND_COUNT] = {
    TG_KNOB_pack_lhs, TG_KNOB_pack_rhs, TG_KNOB_pack_result};

enum { NUMBER_COUNT = sizeof(numbers) / sizeof(numbers[0]) };

static bool ref_is(MlirStringRef text, const char *other) {
  return text.length == strlen(other) &&
         memcmp(text.data, other, text.length) == 0;
}

/*===-- Loops: canonical <-> the operation's own --------------------------===*/

struct loop_list {
  int count;
  int64_t loop[TG_MAX_LOOPS];
};

static void append_loops(struct loop_list *list,
                         const struct tg_canonical *canonical, int loop) {
  for (int i = 0; i < canonical->loop_size[loop]; ++i)
    list->loop[list->count++] =
        canonical->loop_of[canonical->loop_first[loop] + i];
}

static bool same_loops(const struct loop_list *a, const struct loop_list *b) {
  return a->count == b->count &&
         memcmp(a->loop, b->loop, (size_t)a->count * sizeof(a->loop[0])) == 0;
}

static struct loop_list vector_loops(const struct tg_canonical *canonical,
                                     int loop, bool flatten) {
  struct loop_list list = {0};
  int outer = flatten ? tg_canonical_outer(canonical, loop) : TG_NO_LOOP;
  if (outer != TG_NO_LOOP)
    append_loops(&list, canonical, outer);
  append_loops(&list, canonical, loop);
  return list;
}

/* Finds the canonical loop, and whether it is flattened, that has this list. */
static bool find_loop(const struct tg_canonical *canonical,
                      const struct loop_list *list, bool may_flatten,
                      int32_t *loop, int32_t *flatten) {
  for (int l = 0; l < canonical->kernel.loop_count; ++l)
    for (int f = 0; f <= (int)may_flatten; ++f) {
      struct loop_list candidate = vector_loops(canonical, l, f != 0);
      if (same_loops(&candidate, list)) {
        *loop = l;
        *flatten = f;
        return true;
      }
    }
  return false;
}

/* With winograd a tile goes along both loops of the image. */
static struct loop_list tile_loops(const struct tg_canonical *canonical,
                                   const struct tg_winograd *winograd) {
  struct loop_list list = {0};
  append_loops(&list, canonical, winograd->row);
  append_loops(&list, canonical, winograd->column);
  return list;
}

/* The loop that the list means where `winograd` is set: tiles or features. */
static bool find_winograd_loop(const struct tg_canonical *canonical,
                               const struct tg_winograd *winograd,
                               const struct loop_list *list, int32_t *loop) {
  struct loop_list tiles = tile_loops(canonical, winograd), features = {0};
  *loop = TG_NO_LOOP;
  if (winograd->feature != TG_NO_LOOP)
    append_loops(&features, canonical, winograd->feature);
  if (same_loops(&tiles, list))
    *loop = winograd->column;
  else if (same_loops(&features, list))
    *loop = winograd->feature;
  else
    return false;
  return true;
}

static struct loop_list winograd_loops(const struct tg_canonical *canonical,
                                       const struct tg_winograd *winograd,
                                       int loop) {
  struct loop_list list = {0};
  if (loop == winograd->column)
    return tile_loops(canonical, winograd);
  if (loop != TG_NO_LOOP)
    append_loops(&list, canonical, loop);
  return list;
}

/*===-- Writing -----------------------------------------------------------===*/

static MlirAttribute number(MlirContext context, int64_t value) {
  return mlirIntegerAttrGet(mlirIntegerTypeGet(context, 64), value);
}

static MlirAttribute number_list(MlirContext context, int count,
                                 const int64_t *values) {
  MlirAttribute elements[2 * TG_MAX_RANK + TG_MAX_LOOPS];
  for (int i = 0; i < count; ++i)
    elements[i] = number(context, values[i]);
  return mlirArrayAttrGet(context, count, elements);
}

static MlirAttribute layouts_attribute(MlirContext context,
                                       const struct tg_kernel *kernel,
                                       const struct tg_config *config) {
  MlirNamedAttribute entries[TG_OPERAND_COUNT];
  for (int o = 0; o < TG_OPERAND_COUNT; ++o) {
    struct tg_layout layout;
    int64_t dimensions[TG_MAX_LAYOUT];
    tg_config_layout(kernel, config, o, &layout);
    for (int i = 0; i < layout.count; ++i)
      dimensions[i] = layout.dimension[i];
    entries[o] = tg_named(context, operand_names[o],
                          number_list(context, layout.count, dimensions));
  }
  return mlirDictionaryAttrGet(context, TG_OPERAND_COUNT, entries);
}

static MlirAttribute pack_attribute(MlirContext context,
                                    const struct tg_config *config) {
  MlirAttribute names[TG_OPERAND_COUNT];
  int count = 0;
  for (int o = 0; o < TG_OPERAND_COUNT; ++o)
    if (config->knob[pack_knobs[o]])
      names[count++] = mlirStringAttrGet(context, tg_ref(operand_names[o]));
  return mlirArrayAttrGet(context, count, names);
}

/* Does the configuration lay the input out anew? */
static bool is_packed(const struct tg_canonical *canonical,
                      const struct tg_config *config, int operand) {
  return config->knob[TG_KNOB_winograd]
             ? tg_winograd_may_take_panels(&canonical->kernel, operand)
             : config->knob[pack_knobs[operand]] != 0;
}

/* Inputs that are packed, and before the program runs. */
static MlirAttribute prepack_attribute(MlirContext context,
                                       const struct tg_canonical *canonical,
                                       const struct tg_config *config) {
  MlirAttribute names[TG_OPERAND_COUNT];
  int count = 0;
  for (int o = 0; o < TG_RESULT; ++o)
    if (canonical->kernel.prepacked[o] && is_packed(canonical, config, o))
      names[count++] = mlirStringAttrGet(context, tg_ref(operand_names[o]));
  return mlirArrayAttrGet(context, count, names);
}

MlirAttribute tg_config_to_attribute(MlirContext context,
                                     const struct tg_kernel *kernel,
                                     const struct tg_config *config) {
  const int32_t *knob = config->knob;
  MlirNamedAttribute entries[NUMBER_COUNT + 9];
  int count = 0;
  bool tiled = knob[TG_KNOB_tiled] != 0;
  entries[count++] =
      tg_named(context, "version", number(context, TG_CONFIG_VERSION));
  entries[count++] =
      tg_named(context, "schedule",
               mlirStringAttrGet(context, tg_ref(tiled ? "tiled" : "stock")));
  entries[count++] =
      tg_named(context, "layouts", layouts_attribute(context, kernel, config));
  if (!tiled)
    return mlirDictionaryAttrGet(context, count, entries);
  struct tg_canonical canonical;
  tg_canonicalize(kernel, &canonical);
  struct loop_list vector = vector_loops(&canonical, knob[TG_KNOB_vector_loop],
                                         knob[TG_KNOB_flatten] != 0);
  struct loop_list rows = {0};
  struct tg_winograd winograd;
  if (knob[TG_KNOB_winograd] &&
      !tg_winograd_match(&canonical.kernel, &winograd)) {
    vector = winograd_loops(&canonical, &winograd, knob[TG_KNOB_vector_loop]);
    rows = winograd_loops(&canonical, &winograd, knob[TG_KNOB_row_loop]);
    entries[count++] =
        tg_named(context, "winograd", number(context, knob[TG_KNOB_winograd]));
  } else if (knob[TG_KNOB_row_loop] != TG_NO_LOOP) {
    append_loops(&rows, &canonical, knob[TG_KNOB_row_loop]);
  }
  entries[count++] = tg_named(context, "vector_loops",
                              number_list(context, vector.count, vector.loop));
  entries[count++] = tg_named(context, "row_loops",
                              number_list(context, rows.count, rows.loop));
  for (int i = 0; i < NUMBER_COUNT; ++i)
    entries[count++] = tg_named(context, numbers[i].name,
                                number(context, knob[numbers[i].knob]));
  entries[count++] =
      tg_named(context, "innermost",
               mlirStringAttrGet(
                   context, tg_ref(knob[TG_KNOB_order] ? "vectors" : "rows")));
  entries[count++] = tg_named(context, "pack", pack_attribute(context, config));
  MlirAttribute prepacked = prepack_attribute(context, &canonical, config);
  if (mlirArrayAttrGetNumElements(prepacked) > 0)
    entries[count++] = tg_named(context, "prepack", prepacked);
  return mlirDictionaryAttrGet(context, count, entries);
}

void tg_set_config(MlirOperation op, const struct tg_kernel *kernel,
                   const struct tg_config *config) {
  MlirContext context = mlirOperationGetContext(op);
  mlirOperationSetDiscardableAttributeByName(
      op, tg_ref(TG_CONFIG_ATTRIBUTE),
      tg_config_to_attribute(context, kernel, config));
}

void tg_set_target(MlirOperation module, const struct tg_target *target) {
  char text[TG_TARGET_TEXT_NBYTES];
  tg_target_print(target, text, sizeof(text));
  mlirOperationSetDiscardableAttributeByName(
      module, tg_ref(TG_TARGET_ATTRIBUTE),
      mlirStringAttrGet(mlirOperationGetContext(module), tg_ref(text)));
}

/*===-- Reading -----------------------------------------------------------===*/

static enum tg_status read_number(MlirAttribute dictionary, const char *name,
                                  int64_t low, int64_t *value,
                                  struct tg_error *error) {
  MlirAttribute entry =
      mlirDictionaryAttrGetElementByName(dictionary, tg_ref(name));
  if (mlirAttributeIsNull(entry))
    return tg_fail(error, TG_CONFIG_ATTRIBUTE ": '%s' is missing", name);
  if (!tg_attribute_integer(entry, value))
    return tg_fail(error, TG_CONFIG_ATTRIBUTE ": '%s' is not an integer", name);
  if (*value < low || *value > INT32_MAX)
    return tg_fail(error, TG_CONFIG_ATTRIBUTE ": '%s' is out of range", name);
  return TG_OK;
}

static enum tg_status read_word(MlirAttribute dictionary, const char *name,
                                const char *no, const char *yes, int32_t *value,
                                struct tg_error *error) {
  MlirAttribute entry =
      mlirDictionaryAttrGetElementByName(dictionary, tg_ref(name));
  if (mlirAttributeIsNull(entry) || !mlirAttributeIsAString(entry))
    return tg_fail(error,
                   TG_CONFIG_ATTRIBUTE ": '%s' has to be \"%s\" or \"%s\"",
                   name, no, yes);
  MlirStringRef text = mlirStringAttrGetValue(entry);
  if (!ref_is(text, no) && !ref_is(text, yes))
    return tg_fail(
        error,
        TG_CONFIG_ATTRIBUTE ": '%s' is \"%.*s\", neither \"%s\" nor \"%s\"",
        name, (int)(text.length < 40 ? text.length : 40), text.data, no, yes);
  *value = ref_is(text, yes);
  return TG_OK;
}

static enum tg_status read_loops(MlirAttribute dictionary, const char *name,
                                 int loop_count, struct loop_list *list,
                                 struct tg_error *error) {
  MlirAttribute entry =
      mlirDictionaryAttrGetElementByName(dictionary, tg_ref(name));
  if (mlirAttributeIsNull(entry) || !mlirAttributeIsAArray(entry) ||
      mlirArrayAttrGetNumElements(entry) > TG_MAX_LOOPS)
    return tg_fail(error, TG_CONFIG_ATTRIBUTE ": '%s' is not a list of loops",
                   name);
  list->count = (int)mlirArrayAttrGetNumElements(entry);
  for (int i = 0; i < list->count; ++i) {
    MlirAttribute element = mlirArrayAttrGetElement(entry, i);
    if (!tg_attribute_integer(element, &list->loop[i]))
      return tg_fail(error, TG_CONFIG_ATTRIBUTE ": '%s' is not a list of loops",
                     name);
    if (list->loop[i] < 0 || list->loop[i] >= loop_count)
      return tg_fail(error,
                     TG_CONFIG_ATTRIBUTE
                     ": '%s' names a loop that the operation hasn't",
                     name);
  }
  return TG_OK;
}

/* The operand of the name, TG_OPERAND_COUNT for none. */
static int operand_of_name(MlirAttribute name) {
  int operand = 0;
  while (operand < TG_OPERAND_COUNT &&
         !(mlirAttributeIsAString(name) &&
           ref_is(mlirStringAttrGetValue(name), operand_names[operand])))
    ++operand;
  return operand;
}

static enum tg_status read_pack(MlirAttribute dictionary,
                                struct tg_config *config,
                                struct tg_error *error) {
  MlirAttribute entry =
      mlirDictionaryAttrGetElementByName(dictionary, tg_ref("pack"));
  if (mlirAttributeIsNull(entry) || !mlirAttributeIsAArray(entry))
    return tg_fail(error, TG_CONFIG_ATTRIBUTE ": 'pack' is not a list");
  for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(entry); ++i) {
    int operand = operand_of_name(mlirArrayAttrGetElement(entry, i));
    if (operand == TG_OPERAND_COUNT)
      return tg_fail(error, TG_CONFIG_ATTRIBUTE
                     ": 'pack' lists \"lhs\", \"rhs\" and \"result\"");
    config->knob[pack_knobs[operand]] = 1;
  }
  return TG_OK;
}

enum tg_status tg_prepack_from_attribute(MlirAttribute attribute,
                                         MlirOperation op,
                                         struct tg_kernel *kernel,
                                         struct tg_error *error) {
  for (int o = 0; o < TG_OPERAND_COUNT; ++o)
    kernel->prepacked[o] = false;
  if (!mlirAttributeIsADictionary(attribute))
    return TG_OK;
  MlirAttribute entry =
      mlirDictionaryAttrGetElementByName(attribute, tg_ref("prepack"));
  if (mlirAttributeIsNull(entry))
    return TG_OK;
  if (!mlirAttributeIsAArray(entry))
    return tg_fail(error, TG_CONFIG_ATTRIBUTE ": 'prepack' is not a list");
  for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(entry); ++i) {
    int operand = operand_of_name(mlirArrayAttrGetElement(entry, i));
    if (operand >= TG_RESULT)
      return tg_fail(error, TG_CONFIG_ATTRIBUTE
                     ": 'prepack' lists \"lhs\" and \"rhs\"");
    int unused[TG_MAX_RANK];
    if (!tg_value_is_from_weights(tg_op_get_source(op, operand, unused)))
      return tg_fail(error,
                     TG_CONFIG_ATTRIBUTE
                     ": 'prepack' lists \"%s\", which isn't made of constants "
                     "and arguments marked with tgraph.weight alone",
                     operand_names[operand]);
    kernel->prepacked[operand] = true;
  }
  return TG_OK;
}

/* names: ends with NULL. */
static bool is_among(MlirStringRef name, const char *const *names) {
  for (; *names; ++names)
    if (ref_is(name, *names))
      return true;
  return false;
}

static bool is_number_name(MlirStringRef name) {
  for (int k = 0; k < NUMBER_COUNT; ++k)
    if (ref_is(name, numbers[k].name))
      return true;
  return false;
}

static enum tg_status check_names(MlirAttribute dictionary, bool tiled,
                                  struct tg_error *error) {
  static const char *const always[] = {"version", "schedule", "layouts", NULL};
  static const char *const when_tiled[] = {
      "vector_loops", "row_loops", "innermost", "pack",
      "prepack",      "winograd",  NULL};
  for (intptr_t i = 0; i < mlirDictionaryAttrGetNumElements(dictionary); ++i) {
    MlirStringRef name =
        mlirIdentifierStr(mlirDictionaryAttrGetElement(dictionary, i).name);
    if (!is_among(name, always) &&
        !(tiled && (is_among(name, when_tiled) || is_number_name(name))))
      return tg_fail(error, TG_CONFIG_ATTRIBUTE ": unknown entry '%.*s'",
                     (int)(name.length < 60 ? name.length : 60), name.data);
  }
  return TG_OK;
}

struct printed {
  char data[256];
  size_t length;
};

static void append_text(MlirStringRef part, void *data) {
  struct printed *text = data;
  for (size_t i = 0; i < part.length && text->length + 1 < sizeof(text->data);
       ++i)
    text->data[text->length++] = part.data[i];
}

/* Layouts follow from the rest; what is written has to agree. */
static enum tg_status check_layouts(MlirAttribute dictionary,
                                    const struct tg_kernel *kernel,
                                    const struct tg_config *config,
                                    struct tg_error *error) {
  MlirAttribute layouts =
      mlirDictionaryAttrGetElementByName(dictionary, tg_ref("layouts"));
  MlirAttribute expected =
      layouts_attribute(mlirAttributeGetContext(dictionary), kernel, config);
  if (mlirAttributeIsNull(layouts) || mlirAttributeEqual(layouts, expected))
    return TG_OK;
  struct printed text = {{0}, 0};
  mlirAttributePrint(expected, append_text, &text);
  return tg_fail(error,
                 TG_CONFIG_ATTRIBUTE
                 ": 'layouts' contradicts the other entries, which mean %s",
                 text.data);
}

static enum tg_status find_loops(const struct tg_canonical *canonical,
                                 const struct loop_list *vector,
                                 const struct loop_list *rows,
                                 struct tg_config *config,
                                 struct tg_error *error) {
  int32_t *knob = config->knob, unused;
  if (!find_loop(canonical, vector, true, &knob[TG_KNOB_vector_loop],
                 &knob[TG_KNOB_flatten]))
    return tg_fail(error, TG_CONFIG_ATTRIBUTE
                   ": 'vector_loops' can't be one loop of this operation");
  knob[TG_KNOB_row_loop] = TG_NO_LOOP;
  if (rows->count &&
      !find_loop(canonical, rows, false, &knob[TG_KNOB_row_loop], &unused))
    return tg_fail(error, TG_CONFIG_ATTRIBUTE
                   ": 'row_loops' can't be one loop of this operation");
  return TG_OK;
}

/* The entry `winograd` may be left out, and then is 0. Its loops. */
static enum tg_status
read_winograd(MlirAttribute attribute, const struct tg_canonical *canonical,
              const struct loop_list *vector, const struct loop_list *rows,
              struct tg_config *config, struct tg_error *error) {
  int64_t value;
  enum tg_status status = read_number(attribute, "winograd", 0, &value, error);
  if (status)
    return status;
  if (value != 0 && value != 2 && value != TG_WINOGRAD_MAX_OUTPUT)
    return tg_fail(error, TG_CONFIG_ATTRIBUTE ": 'winograd' is 0, 2 or 4");
  config->knob[TG_KNOB_winograd] = (int32_t)value;
  struct tg_winograd winograd;
  const char *fault =
      value ? tg_winograd_match(&canonical->kernel, &winograd) : NULL;
  if (fault)
    return tg_fail(error, TG_CONFIG_ATTRIBUTE ": %s", fault);
  if (value && (!find_winograd_loop(canonical, &winograd, vector,
                                    &config->knob[TG_KNOB_vector_loop]) ||
                !find_winograd_loop(canonical, &winograd, rows,
                                    &config->knob[TG_KNOB_row_loop])))
    return tg_fail(error, TG_CONFIG_ATTRIBUTE
                   ": with 'winograd', 'vector_loops' and 'row_loops' are the "
                   "loops of the image and the loop of the filters");
  return TG_OK;
}

static enum tg_status read_tiled(MlirAttribute attribute,
                                 const struct tg_kernel *kernel,
                                 struct tg_config *config,
                                 struct tg_error *error) {
  int32_t *knob = config->knob;
  struct tg_canonical canonical;
  tg_canonicalize(kernel, &canonical);
  struct loop_list vector, rows;
  enum tg_status status;
  if ((status = read_loops(attribute, "vector_loops", kernel->loop_count,
                           &vector, error)) ||
      (status = read_loops(attribute, "row_loops", kernel->loop_count, &rows,
                           error)))
    return status;
  bool other = !mlirAttributeIsNull(
      mlirDictionaryAttrGetElementByName(attribute, tg_ref("winograd")));
  if (other && (status = read_winograd(attribute, &canonical, &vector, &rows,
                                       config, error)))
    return status;
  if (!knob[TG_KNOB_winograd] &&
      (status = find_loops(&canonical, &vector, &rows, config, error)))
    return status;
  for (int i = 0; i < NUMBER_COUNT; ++i) {
    int64_t value;
    if ((status = read_number(attribute, numbers[i].name, 0, &value, error)))
      return status;
    knob[numbers[i].knob] = (int32_t)value;
  }
  if ((status = read_word(attribute, "innermost", "rows", "vectors",
                          &knob[TG_KNOB_order], error)))
    return status;
  return read_pack(attribute, config, error);
}

/* What every configuration starts with. `schedule`: beside "stock". */
static enum tg_status read_head(MlirAttribute attribute, const char *schedule,
                                struct tg_config *config,
                                struct tg_error *error) {
  memset(config, 0, sizeof(*config));
  if (!mlirAttributeIsADictionary(attribute))
    return tg_fail(error, TG_CONFIG_ATTRIBUTE " is not a dictionary");
  int64_t version;
  enum tg_status status;
  if ((status = read_number(attribute, "version", 0, &version, error)))
    return status;
  if (version != TG_CONFIG_VERSION)
    return tg_fail(error, TG_CONFIG_ATTRIBUTE ": version %lld is not %d",
                   (long long)version, TG_CONFIG_VERSION);
  return read_word(attribute, "schedule", "stock", schedule,
                   &config->knob[TG_KNOB_tiled], error);
}

enum tg_status tg_config_from_attribute(MlirAttribute attribute,
                                        const struct tg_kernel *kernel,
                                        struct tg_config *config,
                                        struct tg_error *error) {
  enum tg_status status = read_head(attribute, "tiled", config, error);
  if (status)
    return status;
  bool tiled = config->knob[TG_KNOB_tiled] != 0;
  if ((status = check_names(attribute, tiled, error)) ||
      (tiled && (status = read_tiled(attribute, kernel, config, error))))
    return status;
  return check_layouts(attribute, kernel, config, error);
}

/*===-- Nests -------------------------------------------------------------===*/

MlirAttribute tg_nest_config_to_attribute(MlirContext context,
                                          const struct tg_config *config) {
  bool vector = config->knob[TG_KNOB_tiled] != 0;
  int64_t loop = config->knob[TG_KNOB_vector_loop];
  MlirNamedAttribute entries[] = {
      tg_named(context, "version", number(context, TG_CONFIG_VERSION)),
      tg_named(context, "schedule",
               mlirStringAttrGet(context, tg_ref(vector ? "vector" : "stock"))),
      tg_named(context, "vector_loops", number_list(context, 1, &loop)),
      tg_named(context, "register_vectors",
               number(context, config->knob[TG_KNOB_vectors]))};
  return mlirDictionaryAttrGet(context, vector ? 4 : 2, entries);
}

enum tg_status tg_nest_config_from_attribute(MlirAttribute attribute,
                                             const struct tg_nest *nest,
                                             struct tg_config *config,
                                             struct tg_error *error) {
  static const char *const names[] = {"version", "schedule", "vector_loops",
                                      "register_vectors", NULL};
  enum tg_status status = read_head(attribute, "vector", config, error);
  if (status)
    return status;
  for (intptr_t i = 0; i < mlirDictionaryAttrGetNumElements(attribute); ++i) {
    MlirStringRef name =
        mlirIdentifierStr(mlirDictionaryAttrGetElement(attribute, i).name);
    if (!is_among(name, names))
      return tg_fail(error, TG_CONFIG_ATTRIBUTE ": unknown entry '%.*s'",
                     (int)(name.length < 60 ? name.length : 60), name.data);
  }
  if (!config->knob[TG_KNOB_tiled])
    return TG_OK;
  struct loop_list loops;
  int64_t vectors;
  if ((status = read_loops(attribute, "vector_loops", nest->loop_count, &loops,
                           error)) ||
      (status = read_number(attribute, "register_vectors", 1, &vectors, error)))
    return status;
  if (loops.count != 1)
    return tg_fail(error,
                   TG_CONFIG_ATTRIBUTE ": 'vector_loops' has to be one loop");
  config->knob[TG_KNOB_vector_loop] = (int32_t)loops.loop[0];
  config->knob[TG_KNOB_row_loop] = TG_NO_LOOP;
  config->knob[TG_KNOB_vectors] = (int32_t)vectors;
  config->knob[TG_KNOB_rows] = config->knob[TG_KNOB_unroll] = 1;
  const char *fault = tg_nest_check(nest, config);
  return fault ? tg_fail(error, TG_CONFIG_ATTRIBUTE ": %s", fault) : TG_OK;
}

enum tg_status tg_get_target(MlirOperation module, struct tg_target *target,
                             struct tg_error *error) {
  MlirAttribute attribute =
      mlirOperationGetAttributeByName(module, tg_ref(TG_TARGET_ATTRIBUTE));
  if (mlirAttributeIsNull(attribute))
    return tg_target_parse("host", target, error);
  if (!mlirAttributeIsAString(attribute))
    return tg_fail(error, TG_TARGET_ATTRIBUTE " is not a string");
  MlirStringRef text = mlirStringAttrGetValue(attribute);
  char copy[TG_TARGET_TEXT_NBYTES];
  if (text.length >= sizeof(copy))
    return tg_fail(error, TG_TARGET_ATTRIBUTE " is too long");
  memcpy(copy, text.data, text.length);
  copy[text.length] = 0;
  return tg_target_parse(copy, target, error);
}
