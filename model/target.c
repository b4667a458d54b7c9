/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Descriptions of machines: a table of fixed ones, the host as probed, and
 * the text that options, files and attributes hold.
 */
#include "model/target.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

const char *const tg_target_column_names[TG_TARGET_COLUMN_COUNT] = {
#define TARGET(name, unit, low, high, powers, doc, probe) #name,
#include "model/target.def"
};

static const size_t tg_target_offset[TG_TARGET_COLUMN_COUNT] = {
#define TARGET(name, unit, low, high, powers, doc, probe)                      \
  offsetof(struct tg_target, name),
#include "model/target.def"
};

void tg_target_set_column(struct tg_target *target,
                          enum tg_target_column column, int64_t value) {
  *(int64_t *)((char *)target + tg_target_offset[column]) = value;
}

int64_t tg_target_get(const struct tg_target *target,
                      enum tg_target_column column) {
  return *(const int64_t *)((const char *)target + tg_target_offset[column]);
}

static const struct {
  int64_t low, high;
  bool power_of_two;
} tg_target_limits[TG_TARGET_COLUMN_COUNT] = {
#define TARGET(name, unit, low, high, powers, doc, probe) {low, high, powers},
#include "model/target.def"
};

static const struct tg_target tg_target_table[] = {
    {.name = "avx2",
     .cpu = "x86-64-v3",
     .vector_bits = 256,
     .vector_registers = 16,
     .fma_per_cycle = 2,
     .l1_nbytes = 32 << 10,
     .l2_nbytes = 512 << 10,
     .l3_nbytes = 32 << 20,
     .cores = 1},
    {.name = "avx512",
     .cpu = "x86-64-v4",
     .vector_bits = 512,
     .vector_registers = 32,
     .fma_per_cycle = 2,
     .l1_nbytes = 32 << 10,
     .l2_nbytes = 1 << 20,
     .l3_nbytes = 32 << 20,
     .cores = 1},
    {.name = "generic",
     .cpu = "x86-64",
     .vector_bits = 128,
     .vector_registers = 16,
     .fma_per_cycle = 1,
     .l1_nbytes = 32 << 10,
     .l2_nbytes = 256 << 10,
     .l3_nbytes = 8 << 20,
     .cores = 1},
};
enum { TG_TABLE_AVX2, TG_TABLE_AVX512, TG_TABLE_GENERIC, TG_TABLE_COUNT };

/* What the probe expressions of target.def see. */
struct tg_host_facts {
  const char *cpu;
  int64_t vector_bits, vector_registers, fma_per_cycle;
  int64_t l1_nbytes, l2_nbytes, l3_nbytes;
};

#if defined(__x86_64__)
/* Zen 4 runs a 512-bit FMA as two halves; Zen 3 has the same family but no
 * AVX-512, and later families have full-width units. */
static bool tg_host_halves_512(void) {
  unsigned eax, ebx, ecx, edx;
  if (!__get_cpuid(0, &eax, &ebx, &ecx, &edx))
    return false;
  bool amd = ebx == signature_AMD_ebx && ecx == signature_AMD_ecx;
  if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx))
    return false;
  unsigned family = (eax >> 8) & 15;
  if (family == 15)
    family += (eax >> 20) & 255;
  return amd && family == 25;
}

static int tg_host_level(void) {
  __builtin_cpu_init();
  bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
            __builtin_cpu_supports("bmi2");
  bool v4 = v3 && __builtin_cpu_supports("avx512f") &&
            __builtin_cpu_supports("avx512bw") &&
            __builtin_cpu_supports("avx512cd") &&
            __builtin_cpu_supports("avx512dq") &&
            __builtin_cpu_supports("avx512vl");
  return v4 ? TG_TABLE_AVX512 : v3 ? TG_TABLE_AVX2 : TG_TABLE_GENERIC;
}
#else
static bool tg_host_halves_512(void) { return false; }
static int tg_host_level(void) { return TG_TABLE_GENERIC; }
#endif

/* Size of a data or unified cache of the first core, -1 when unknown. */
static int64_t tg_host_cache_nbytes(int level) {
  static const int names[] = {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE,
                              _SC_LEVEL3_CACHE_SIZE};
  for (int index = 0; index < 8; index++) {
    char path[96], kind[32] = "", unit = 0;
    long long size = -1;
    int found = 0;
    const char *base = "/sys/devices/system/cpu/cpu0/cache/index";
    snprintf(path, sizeof path, "%s%d/level", base, index);
    FILE *file = fopen(path, "re");
    if (!file)
      break;
    bool read = fscanf(file, "%d", &found) == 1;
    fclose(file);
    snprintf(path, sizeof path, "%s%d/type", base, index);
    if (!read || found != level || !(file = fopen(path, "re")))
      continue;
    read = fscanf(file, "%31s", kind) == 1;
    fclose(file);
    snprintf(path, sizeof path, "%s%d/size", base, index);
    if (!read || !strcmp(kind, "Instruction") || !(file = fopen(path, "re")))
      continue;
    read = fscanf(file, "%lld%c", &size, &unit) >= 1;
    fclose(file);
    if (read && size > 0)
      return (int64_t)size << (unit == 'K' ? 10 : unit == 'M' ? 20 : 0);
  }
  return sysconf(names[level - 1]);
}

static void tg_target_probe_host(struct tg_target *target) {
  const struct tg_target *base = &tg_target_table[tg_host_level()];
  struct tg_host_facts facts = {.cpu = base->cpu,
                                .vector_bits = base->vector_bits,
                                .vector_registers = base->vector_registers,
                                .fma_per_cycle = base->fma_per_cycle};
  if (facts.vector_bits == 512 && tg_host_halves_512())
    facts.fma_per_cycle = 1;
  int64_t l1 = tg_host_cache_nbytes(1);
  int64_t l2 = tg_host_cache_nbytes(2);
  int64_t l3 = tg_host_cache_nbytes(3);
  /* Virtual machines hide some levels: the table's machine stands in. */
  facts.l1_nbytes = l1 >= 1024 ? l1 : base->l1_nbytes;
  facts.l2_nbytes = l2 >= facts.l1_nbytes ? l2 : base->l2_nbytes;
  facts.l3_nbytes = l3 >= facts.l2_nbytes ? l3 : base->l3_nbytes;
  const struct tg_host_facts *host = &facts;
  *target = *base;
  snprintf(target->name, sizeof target->name, "host");
  snprintf(target->cpu, sizeof target->cpu, "%s", host->cpu);
#define TARGET(name, unit, low, high, powers, doc, probe) target->name = probe;
#include "model/target.def"
}

static bool tg_target_find(const char *name, size_t name_nbytes,
                           struct tg_target *target) {
  if (name_nbytes == 4 && !memcmp(name, "host", 4)) {
    tg_target_probe_host(target);
    return true;
  }
  for (int i = 0; i < TG_TABLE_COUNT; i++) {
    const char *known = tg_target_table[i].name;
    if (strlen(known) == name_nbytes && !memcmp(known, name, name_nbytes)) {
      *target = tg_target_table[i];
      return true;
    }
  }
  return false;
}

static int tg_target_find_column(const char *name, size_t name_nbytes) {
  for (int i = 0; i < TG_TARGET_COLUMN_COUNT; i++)
    if (strlen(tg_target_column_names[i]) == name_nbytes &&
        !memcmp(tg_target_column_names[i], name, name_nbytes))
      return i;
  return -1;
}

enum tg_status tg_target_check(enum tg_target_column column, int64_t value,
                               struct tg_error *error) {
  const char *name = tg_target_column_names[column];
  int64_t low = tg_target_limits[column].low;
  int64_t high = tg_target_limits[column].high;
  if (value < low || value > high)
    return tg_fail(error, "target: %s: %lld is outside of %lld..%lld", name,
                   (long long)value, (long long)low, (long long)high);
  if (tg_target_limits[column].power_of_two && (value & (value - 1)))
    return tg_fail(error, "target: %s: %lld is not a power of two", name,
                   (long long)value);
  return TG_OK;
}

static enum tg_status tg_target_set(struct tg_target *target, int column,
                                    const char *digits, size_t digits_nbytes,
                                    struct tg_error *error) {
  const char *name = tg_target_column_names[column];
  char copy[32], *end;
  errno = 0;
  if (!digits_nbytes || digits_nbytes >= sizeof copy || digits[0] < '0' ||
      digits[0] > '9')
    return tg_fail(error, "target: %s: '%.*s' is not a number", name,
                   (int)(digits_nbytes < 80 ? digits_nbytes : 80), digits);
  memcpy(copy, digits, digits_nbytes);
  copy[digits_nbytes] = 0;
  long long value = strtoll(copy, &end, 10);
  if (errno || *end)
    return tg_fail(error, "target: %s: '%s' is not a number", name, copy);
  enum tg_status status =
      tg_target_check((enum tg_target_column)column, value, error);
  if (!status)
    tg_target_set_column(target, (enum tg_target_column)column, value);
  return status;
}

/* cpu= and features=: words that LLVM reads, of letters, digits and `marks`;
 * ';' stands for its ','. */
static enum tg_status tg_target_set_text(char *field, size_t field_nbytes,
                                         const char *name, const char *marks,
                                         const char *text, size_t text_nbytes,
                                         struct tg_error *error) {
  if (text_nbytes >= field_nbytes)
    return tg_fail(error, "target: %s is longer than %zu characters", name,
                   field_nbytes - 1);
  for (size_t i = 0; i < text_nbytes; i++) {
    char c = text[i];
    bool word = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                (c >= 'A' && c <= 'Z') || (c && strchr(marks, c));
    if (!word)
      return tg_fail(error, "target: %s: unexpected character '%c'", name, c);
    field[i] = c == ';' ? ',' : c;
  }
  field[text_nbytes] = 0;
  return TG_OK;
}

static enum tg_status tg_target_read_item(struct tg_target *target,
                                          const char *item, size_t item_nbytes,
                                          struct tg_error *error) {
  const char *equals = memchr(item, '=', item_nbytes);
  int shown = (int)(item_nbytes < 80 ? item_nbytes : 80);
  if (!equals)
    return tg_fail(error, "target: '%.*s' is not COLUMN=VALUE", shown, item);
  size_t name_nbytes = (size_t)(equals - item);
  const char *value = equals + 1;
  size_t value_nbytes = item_nbytes - name_nbytes - 1;
  if (name_nbytes == 3 && !memcmp(item, "cpu", 3)) {
    if (!value_nbytes)
      return tg_fail(error, "target: cpu is empty");
    return tg_target_set_text(target->cpu, sizeof target->cpu, "cpu", "+-_.",
                              value, value_nbytes, error);
  }
  if (name_nbytes == 8 && !memcmp(item, "features", 8))
    return tg_target_set_text(target->features, sizeof target->features,
                              "features", "+-_.;", value, value_nbytes, error);
  int column = tg_target_find_column(item, name_nbytes);
  if (column < 0)
    return tg_fail(error, "target: unknown column '%.*s'",
                   (int)(name_nbytes < 80 ? name_nbytes : 80), item);
  return tg_target_set(target, column, value, value_nbytes, error);
}

enum tg_status tg_target_parse(const char *text, struct tg_target *target,
                               struct tg_error *error) {
  struct tg_target result;
  size_t name_nbytes = strcspn(text, ",");
  if (!tg_target_find(text, name_nbytes, &result))
    return tg_fail(error,
                   "target: unknown name '%.*s' (known: host, avx2, avx512, "
                   "generic)",
                   (int)(name_nbytes < 80 ? name_nbytes : 80), text);
  const char *rest = text + name_nbytes;
  while (*rest == ',') {
    size_t item_nbytes = strcspn(++rest, ",");
    enum tg_status status =
        tg_target_read_item(&result, rest, item_nbytes, error);
    if (status)
      return status;
    rest += item_nbytes;
  }
  *target = result;
  return TG_OK;
}

int tg_target_print(const struct tg_target *target, char *text,
                    int text_nbytes) {
  char features[TG_TARGET_FEATURES_NBYTES];
  snprintf(features, sizeof features, "%s", target->features);
  for (char *c = features; *c; c++)
    if (*c == ',')
      *c = ';';
  int length = 0;
#define TG_TARGET_APPEND(...)                                                  \
  length += snprintf(                                                          \
      length < text_nbytes ? text + length : NULL,                             \
      length < text_nbytes ? (size_t)(text_nbytes - length) : 0, __VA_ARGS__)
  TG_TARGET_APPEND("%s,cpu=%s", target->name, target->cpu);
  if (*features)
    TG_TARGET_APPEND(",features=%s", features);
  for (int i = 0; i < TG_TARGET_COLUMN_COUNT; i++)
    TG_TARGET_APPEND(",%s=%lld", tg_target_column_names[i],
                     (long long)tg_target_get(target, i));
#undef TG_TARGET_APPEND
  return length;
}

/*
 * The attribute's text. Entries of a spec are KEY = VALUE, separated by commas
 * and closed by '>'; a value ends at the first comma or '>' outside of quotes
 * and brackets.
 */
struct tg_dlti_entry {
  const char *key, *value;
  int key_nbytes, value_nbytes;
};

static const char *tg_dlti_skip_space(const char *text) {
  while (*text == ' ' || *text == '\n' || *text == '\t')
    text++;
  return text;
}

/* From `text` to the first of `stops` at depth 0; NULL when it never comes. */
static const char *tg_dlti_scan(const char *text, const char *stops) {
  int depth = 0;
  for (bool quoted = false; *text; text++) {
    if (quoted) {
      if (*text == '\\' && text[1])
        text++;
      else if (*text == '"')
        quoted = false;
      continue;
    }
    if (!depth && strchr(stops, *text))
      return text;
    if (*text == '"')
      quoted = true;
    else if (*text == '-' && text[1] == '>')
      text++; /* an arrow closes nothing */
    else if (strchr("<([{", *text))
      depth++;
    else if (strchr(">)]}", *text) && --depth < 0)
      return NULL;
  }
  return NULL;
}

/* Reads an entry at *text and moves behind it and its comma. */
static bool tg_dlti_next(const char **text, struct tg_dlti_entry *entry) {
  const char *start = tg_dlti_skip_space(*text);
  const char *equals = tg_dlti_scan(start, "=,>");
  if (!equals || *equals != '=')
    return false;
  const char *value = tg_dlti_skip_space(equals + 1);
  const char *end = tg_dlti_scan(value, ",>");
  if (!end)
    return false;
  entry->key = start;
  entry->key_nbytes = (int)(equals - start);
  while (entry->key_nbytes && start[entry->key_nbytes - 1] == ' ')
    entry->key_nbytes--;
  entry->value = value;
  entry->value_nbytes = (int)(end - value);
  *text = *end == ',' ? end + 1 : end;
  return true;
}

static const struct {
  const char *key;
  enum tg_target_column column;
} tg_dlti_columns[] = {
    {"\"L1_cache_size_in_bytes\"", TG_TARGET_l1_nbytes},
    {"\"L2_cache_size_in_bytes\"", TG_TARGET_l2_nbytes},
    {"\"L3_cache_size_in_bytes\"", TG_TARGET_l3_nbytes},
    {"\"max_vector_width\"", TG_TARGET_vector_bits},
    {"\"max_vector_op_width\"", TG_TARGET_vector_bits},
    {"\"num_threads\"", TG_TARGET_cores},
};

static bool tg_dlti_is(const struct tg_dlti_entry *entry, const char *key) {
  return entry->key_nbytes == (int)strlen(key) &&
         !memcmp(entry->key, key, strlen(key));
}

static enum tg_status tg_dlti_read_device(const char *text,
                                          struct tg_target *target,
                                          struct tg_error *error) {
  struct tg_dlti_entry entry;
  while (*(text = tg_dlti_skip_space(text)) != '>') {
    if (!tg_dlti_next(&text, &entry))
      return tg_fail(error, "dlti: the description of \"CPU\" is not a list of "
                            "KEY = VALUE");
    for (size_t i = 0; i < sizeof tg_dlti_columns / sizeof *tg_dlti_columns;
         i++) {
      if (!tg_dlti_is(&entry, tg_dlti_columns[i].key))
        continue;
      size_t digits = strspn(entry.value, "0123456789");
      if (!digits || digits > (size_t)entry.value_nbytes)
        return tg_fail(error, "dlti: %s is not a positive integer",
                       tg_dlti_columns[i].key);
      enum tg_status status = tg_target_set(target, tg_dlti_columns[i].column,
                                            entry.value, digits, error);
      if (status)
        return status;
    }
  }
  return TG_OK;
}

enum tg_status tg_target_parse_dlti(const char *text,
                                    const struct tg_target *fallback,
                                    struct tg_target *target,
                                    struct tg_error *error) {
  static const char system_prefix[] = "#dlti.target_system_spec<";
  static const char device_prefix[] = "#dlti.target_device_spec<";
  struct tg_target result = *fallback;
  struct tg_dlti_entry entry;
  text = tg_dlti_skip_space(text);
  if (strncmp(text, system_prefix, strlen(system_prefix)) != 0)
    return tg_fail(error, "dlti: not a #dlti.target_system_spec attribute");
  text += strlen(system_prefix);
  while (*(text = tg_dlti_skip_space(text)) != '>') {
    if (!tg_dlti_next(&text, &entry))
      return tg_fail(error, "dlti: the system description is not a list of "
                            "\"DEVICE\" = #dlti.target_device_spec<...>");
    if (!tg_dlti_is(&entry, "\"CPU\""))
      continue;
    if (strncmp(entry.value, device_prefix, strlen(device_prefix)) != 0)
      return tg_fail(error, "dlti: \"CPU\" is not a #dlti.target_device_spec");
    enum tg_status status = tg_dlti_read_device(
        entry.value + strlen(device_prefix), &result, error);
    if (!status)
      *target = result;
    return status;
  }
  return tg_fail(error, "dlti: the system description has no \"CPU\" device");
}

bool tg_target_has_fma(const struct tg_target *target) {
  static const char *const without[] = {"x86-64", "x86-64-v2", "generic"};
  if (strstr(target->features, "+fma"))
    return true;
  if (strstr(target->features, "-fma"))
    return false;
  for (size_t i = 0; i < sizeof(without) / sizeof(without[0]); ++i)
    if (!strcmp(target->cpu, without[i]))
      return false;
  return true;
}

bool tg_target_has_bf16(const struct tg_target *target) {
  return strstr(target->features, "+avx512bf16") != NULL;
}
