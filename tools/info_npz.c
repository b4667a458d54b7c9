/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* tgraph info of data files; see info_npz.h. */
#include "tools/info_npz.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "model/dataset.h"
#include "tools/options.h"
#include "tools/text.h"
#include "tools/timing.h"

struct npz_facts {
  const char *path;
  const struct tg_npz *npz;
  const char *holds; /* "tiles", "layouts" or "arrays" */
  int64_t nodes, configs;
  double seconds;         /* to read and to check */
  int64_t content_nbytes; /* of all arrays */
  int64_t peak_nbytes;    /* by how much the process's peak has grown, 0
                             where a file before needed more */
};

static int64_t peak_memory(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (int64_t)usage.ru_maxrss * 1024;
}

static enum tg_status read_data(struct npz_facts *f, struct tg_arena *arena,
                                struct tg_error *error) {
  struct tg_tile_data tile;
  struct tg_layout_data layout;
  enum tg_status status = TG_OK;
  f->holds = "arrays";
  if (tg_dataset_is_layout(f->npz)) {
    f->holds = "layouts";
    status = tg_layout_data_read(f->npz, arena, &layout, error);
    f->nodes = layout.graph.node_count;
    f->configs = layout.config_count;
  } else if (tg_npz_find(f->npz, "config_runtime_normalizers")) {
    f->holds = "tiles";
    status = tg_tile_data_read(f->npz, arena, &tile, error);
    f->nodes = tile.graph.node_count;
    f->configs = tile.config_count;
  }
  return status;
}

static void put_shape(const struct tg_npz_array *array, char *text,
                      size_t room) {
  size_t used = (size_t)snprintf(text, room, "(");
  for (int d = 0; d < array->rank && used < room; d++)
    used += (size_t)snprintf(text + used, room - used, "%s%" PRId64,
                             d ? ", " : "", array->shape[d]);
  if (used < room)
    snprintf(text + used, room - used, ")");
}

/* As NumPy spells it: f4, U12. */
static void put_type(const struct tg_npz_array *array, char *text,
                     size_t room) {
  int64_t size = array->item_nbytes / (array->kind == TG_NPZ_TEXT ? 4 : 1);
  snprintf(text, room, "%c%" PRId64, array->kind, size);
}

static void print_json(const struct npz_facts *f) {
  struct tg_json_writer json = {stdout, 0, false, true};
  tg_json_begin(&json, NULL, '{');
  tg_json_put_text(&json, "file", f->path);
  tg_json_put_text(&json, "holds", f->holds);
  tg_json_put_number(&json, "nodes", (double)f->nodes);
  tg_json_put_number(&json, "configurations", (double)f->configs);
  tg_json_put_number(&json, "content_nbytes", (double)f->content_nbytes);
  tg_json_put_number(&json, "read_seconds", f->seconds);
  tg_json_put_number(&json, "peak_nbytes", (double)f->peak_nbytes);
  tg_json_begin(&json, "arrays", '[');
  for (int64_t i = 0; i < f->npz->array_count; i++) {
    const struct tg_npz_array *array = &f->npz->arrays[i];
    char shape[160], type[32];
    put_shape(array, shape, sizeof shape);
    put_type(array, type, sizeof type);
    tg_json_begin(&json, NULL, '{');
    tg_json_put_text(&json, "key", array->name);
    tg_json_put_text(&json, "type", type);
    tg_json_put_text(&json, "shape", shape);
    tg_json_end(&json, '}');
  }
  tg_json_end(&json, ']');
  tg_json_end(&json, '}');
}

static void print_table(const struct npz_facts *f) {
  printf("%s: %s", f->path, f->holds);
  if (f->configs)
    printf(", %" PRId64 " nodes, %" PRId64 " configurations", f->nodes,
           f->configs);
  printf("; %.1f MB, read in %.3f s", (double)f->content_nbytes * 1e-6,
         f->seconds);
  if (f->peak_nbytes)
    printf(" with %.1f MB of memory", (double)f->peak_nbytes * 1e-6);
  printf("\n");
  for (int64_t i = 0; i < f->npz->array_count; i++) {
    const struct tg_npz_array *array = &f->npz->arrays[i];
    char shape[160], type[32];
    put_shape(array, shape, sizeof shape);
    put_type(array, type, sizeof type);
    printf("  %-28s %-6s %s\n", array->name, type, shape);
  }
}

static int show_file(const char *path, bool as_json) {
  struct tg_arena *arena = tg_arena_create();
  if (!arena)
    return tg_complain("%s: out of memory", path);
  struct npz_facts facts = {.path = path};
  struct tg_npz *npz = NULL;
  struct tg_error error;
  int64_t peak = peak_memory();
  double start = tg_clock_seconds();
  enum tg_status status = tg_npz_read(path, arena, &npz, &error);
  facts.npz = npz;
  if (status == TG_OK)
    status = read_data(&facts, arena, &error);
  facts.seconds = tg_clock_seconds() - start;
  facts.peak_nbytes = peak_memory() - peak;
  int exit_status = TG_EXIT_GOOD;
  if (status != TG_OK) {
    exit_status = tg_complain("%s", error.message);
  } else {
    for (int64_t i = 0; i < npz->array_count; i++)
      facts.content_nbytes += npz->arrays[i].count * npz->arrays[i].item_nbytes;
    as_json ? print_json(&facts) : print_table(&facts);
  }
  tg_arena_destroy(arena);
  return exit_status;
}

int tg_info_npz(char **paths, int count, bool as_json) {
  int status = TG_EXIT_GOOD;
  for (int i = 0; i < count; i++) {
    int own = show_file(paths[i], as_json);
    status = own != TG_EXIT_GOOD ? own : status;
  }
  return status;
}
