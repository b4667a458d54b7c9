/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The report, written with one growing buffer and one rename.
 */
#include "passes/report.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/cost.h"
#include "model/file.h"
#include "passes/inspect.h"

struct buffer {
  char *data;
  size_t length, capacity;
  bool failed;
};

static void put_bytes(struct buffer *buffer, const char *data, size_t length) {
  if (buffer->length + length + 1 > buffer->capacity) {
    size_t capacity = 2 * (buffer->length + length + 512);
    char *grown = realloc(buffer->data, capacity);
    if (!grown) {
      buffer->failed = true;
      return;
    }
    buffer->data = grown;
    buffer->capacity = capacity;
  }
  memcpy(buffer->data + buffer->length, data, length);
  buffer->length += length;
}

static void put(struct buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void put(struct buffer *buffer, const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  if (length > 0)
    put_bytes(buffer, text,
              (size_t)length < sizeof(text) ? (size_t)length
                                            : sizeof(text) - 1);
}

static void put_string(struct buffer *buffer, const char *text, size_t length) {
  put_bytes(buffer, "\"", 1);
  for (size_t i = 0; i < length; ++i) {
    unsigned char c = (unsigned char)text[i];
    if (c == '"' || c == '\\')
      put(buffer, "\\%c", c);
    else if (c < 0x20)
      put(buffer, "\\u%04x", c);
    else
      put_bytes(buffer, text + i, 1);
  }
  put_bytes(buffer, "\"", 1);
}

static void put_printed(MlirStringRef part, void *data) {
  struct buffer *buffer = data;
  put_bytes(buffer, part.data, part.length);
}

static void put_location(struct buffer *buffer, MlirLocation location) {
  struct buffer printed = {0};
  mlirLocationPrint(location, put_printed, &printed);
  put_string(buffer, printed.data ? printed.data : "", printed.length);
  buffer->failed |= printed.failed;
  free(printed.data);
}

static void put_config(struct buffer *buffer, const struct tg_config *config) {
  put(buffer, "{");
  for (int k = 0; k < TG_KNOB_COUNT; ++k)
    put(buffer, "%s\"%s\": %d", k ? ", " : "", tg_knob_names[k],
        config->knob[k]);
  put(buffer, "}");
}

static void put_site(struct buffer *buffer, const struct tg_decider *decider,
                     const struct tg_site *site,
                     const struct tg_decision *decision) {
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(site->op));
  put(buffer, "    {\"op\": ");
  put_string(buffer, name.data, name.length);
  put(buffer, ", \"location\": ");
  put_location(buffer, mlirOperationGetLocation(site->op));
  put(buffer, ",\n     \"extents\": [");
  for (int l = 0; l < site->kernel.loop_count; ++l)
    put(buffer, "%s%lld", l ? ", " : "", (long long)site->kernel.extent[l]);
  put(buffer,
      "], \"flops\": %.0f, \"reason\": \"%s\",\n     \"configs\": %zu, "
      "\"scored\": %zu",
      tg_kernel_flops(&site->kernel), tg_reason_names[decision->reason],
      decision->space_count, decision->scored);
  if (decider->kind == TG_MODEL_NETWORK)
    put(buffer, ", \"score\": %.6g, \"analytic_score\": %.6g, \"spread\": %.6g",
        decision->score, decision->analytic_score, decision->spread);
  put(buffer, ",\n     \"config\": ");
  put_config(buffer, &decision->config);
  struct tg_plan plan;
  if (!tg_plan_make(&site->kernel, &decision->config, decider->target, &plan)) {
    float features[TG_FEATURE_COUNT];
    tg_config_features(&site->kernel, &decision->config, decider->target,
                       features);
    put(buffer, ",\n     \"features\": {");
    for (int f = 0; f < TG_FEATURE_COUNT; ++f)
      put(buffer, "%s\"%s\": %.6g", f ? ", " : "", tg_feature_names[f],
          (double)features[f]);
    put(buffer, "}");
  }
  put(buffer, "}");
}

struct left_list {
  struct buffer *buffer;
  MlirOperation module;
  size_t count;
};

/* An operation that has no configurations, and why. */
static MlirWalkResult put_left(MlirOperation op, void *data) {
  struct left_list *list = data;
  if ((tg_op_is(op, "builtin.module") &&
       !mlirOperationEqual(op, list->module)) ||
      tg_op_name_starts_with(op, "transform."))
    return MlirWalkResultSkip;
  const char *reason = tg_left_reason(op);
  if (!reason)
    return MlirWalkResultAdvance;
  MlirStringRef name = tg_op_name(op);
  put(list->buffer, list->count++ ? ",\n    {\"op\": " : "\n    {\"op\": ");
  put_string(list->buffer, name.data, name.length);
  put(list->buffer, ", \"location\": ");
  put_location(list->buffer, mlirOperationGetLocation(op));
  put(list->buffer, ", \"reason\": ");
  put_string(list->buffer, reason, strlen(reason));
  put(list->buffer, "}");
  return MlirWalkResultSkip;
}

enum tg_status tg_report_write(const char *path, MlirOperation module,
                               const struct tg_decider *decider,
                               const struct tg_site *sites,
                               const struct tg_decision *decisions,
                               size_t count, struct tg_error *error) {
  struct buffer buffer = {0};
  char text[512];
  tg_decider_describe(decider, text, sizeof(text));
  put(&buffer, "{\n  \"model\": ");
  put_string(&buffer, text, strlen(text));
  tg_target_print(decider->target, text, sizeof(text));
  put(&buffer, ",\n  \"target\": ");
  put_string(&buffer, text, strlen(text));
  put(&buffer, ",\n  \"sites\": [");
  for (size_t i = 0; i < count; ++i) {
    put(&buffer, i ? ",\n" : "\n");
    put_site(&buffer, decider, &sites[i], &decisions[i]);
  }
  put(&buffer, "\n  ],\n  \"left_alone\": [");
  struct left_list left = {&buffer, module, 0};
  mlirOperationWalk(module, put_left, &left, MlirWalkPreOrder);
  put(&buffer, "\n  ]\n}\n");
  enum tg_status status =
      buffer.failed ? TG_OUT_OF_MEMORY
                    : tg_file_write(path, buffer.data, buffer.length, error);
  if (buffer.failed)
    tg_fail(error, "%s: out of memory", path);
  free(buffer.data);
  return status;
}
