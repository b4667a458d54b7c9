/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Files appear whole or not at all. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "model/file.h"

static const char folder[] = "test_file.scratch";
static const char path[] = "test_file.scratch/a";

static int count_files(void) {
  int count = 0;
  DIR *files = opendir(folder);
  assert_non_null(files);
  for (struct dirent *entry; (entry = readdir(files));)
    count += entry->d_name[0] != '.';
  closedir(files);
  return count;
}

static int make_folder(void **state) {
  (void)state;
  unlink(path);
  rmdir(folder);
  return mkdir(folder, 0777);
}

static void assert_holds(const char *text) {
  struct tg_arena *arena = tg_arena_create();
  struct tg_error error;
  unsigned char *data;
  size_t nbytes;
  assert_int_equal(tg_file_read(path, arena, &data, &nbytes, &error), TG_OK);
  assert_string_equal((char *)data, text);
  assert_int_equal(nbytes, strlen(text));
  tg_arena_destroy(arena);
}

static void replaces_a_file(void **state) {
  (void)state;
  struct tg_error error;
  assert_int_equal(tg_file_write(path, "one", 3, &error), TG_OK);
  assert_holds("one");
  assert_int_equal(tg_file_write(path, "", 0, &error), TG_OK);
  assert_holds("");
  assert_int_equal(count_files(), 1);
}

static void writes_to_a_device(void **state) {
  (void)state;
  struct tg_error error;
  struct stat info;
  assert_int_equal(tg_file_write("/dev/null", "one", 3, &error), TG_OK);
  assert_int_equal(stat("/dev/null", &info), 0);
  assert_true(S_ISCHR(info.st_mode));
}

static void failure_leaves_nothing(void **state) {
  (void)state;
  struct tg_error error;
  assert_int_equal(tg_file_write("test_file.scratch/none/a", "one", 3, &error),
                   TG_BAD_INPUT);
  assert_non_null(strstr(error.message, "none/a: can't write: No such file"));
  assert_int_equal(tg_file_write(folder, "one", 3, &error), TG_BAD_INPUT);
  assert_non_null(strstr(error.message, "Is a directory"));
  assert_int_equal(count_files(), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(replaces_a_file, make_folder),
      cmocka_unit_test_setup(writes_to_a_device, make_folder),
      cmocka_unit_test_setup(failure_leaves_nothing, make_folder),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
