/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * fixed/: the smallest module of every bug that was found, in a file of its
 * own. A comment "// TARGET: " names the target; @f and its operations carry
 * their configurations.
 */
#include "test/schedules/fixed.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int is_module(const struct dirent *entry) {
  const char *suffix = strrchr(entry->d_name, '.');
  return suffix && !strcmp(suffix, ".mlir");
}

static bool read_fixed(const char *folder, struct fixed_case *fixed) {
  char path[4096];
  snprintf(path, sizeof(path), "%s/%s", folder, fixed->name);
  FILE *file = fopen(path, "re");
  if (!file)
    return false;
  size_t nbytes = fread(fixed->text, 1, sizeof(fixed->text) - 1, file);
  fclose(file);
  fixed->text[nbytes] = 0;
  const char *target = strstr(fixed->text, "// TARGET: ");
  return target && sscanf(target, "// TARGET: %63s", fixed->target) == 1;
}

int for_fixed_cases(const char *folder,
                    bool (*visit)(const struct fixed_case *fixed, void *user),
                    void *user) {
  struct dirent **entries;
  int count = scandir(folder, &entries, is_module, alphasort), failures = 0;
  if (count <= 0) {
    printf("FAILED: no modules in %s\n", folder);
    return 1;
  }
  for (int i = 0; i < count; ++i) {
    static struct fixed_case fixed;
    snprintf(fixed.name, sizeof(fixed.name), "%s", entries[i]->d_name);
    free(entries[i]);
    if (!read_fixed(folder, &fixed)) {
      printf("FAILED: %s names no target\n", fixed.name);
      failures++;
    } else if (!visit(&fixed, user)) {
      failures++;
    }
  }
  free(entries);
  return failures;
}
