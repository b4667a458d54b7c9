/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Runs a fuzzer without libFuzzer: `fuzz_NAME CORPUS [ROUNDS]` hands every file
 * of the folder to LLVMFuzzerTestOneInput, then ROUNDS mutations of each. The
 * mutations follow from the file and the round alone, so that a failure comes
 * back; the input at work is left in crash-NAME in the working folder.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
  uint8_t *bytes;
  size_t size;
};

static const char *crash_path = "crash-input";

static uint64_t next_random(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

static struct input read_input(const char *path) {
  struct input input = {NULL, 0};
  FILE *file = fopen(path, "rb");
  if (!file)
    return input;
  if (fseek(file, 0, SEEK_END) == 0) {
    long size = ftell(file);
    rewind(file);
    input.bytes = size >= 0 ? malloc((size_t)size + 1) : NULL;
    if (input.bytes)
      input.size = fread(input.bytes, 1, (size_t)size, file);
  }
  fclose(file);
  return input;
}

/* The input lies in a block of exactly its size, so that a sanitizer sees the
 * first byte that is read beyond it. */
static void run(const uint8_t *bytes, size_t size) {
  FILE *file = fopen(crash_path, "wb");
  if (file) {
    fwrite(bytes, 1, size, file);
    fclose(file);
  }
  uint8_t *copy = malloc(size ? size : 1);
  if (!copy)
    abort();
  if (size)
    memcpy(copy, bytes, size);
  LLVMFuzzerTestOneInput(copy, size);
  free(copy);
}

/* Numbers at which length and range checks break. */
static const uint64_t edges[] = {0,
                                 1,
                                 0x7f,
                                 0x80,
                                 0xff,
                                 0xffff,
                                 0x7fffffff,
                                 0x80000000u,
                                 0xffffffffu,
                                 UINT64_C(0x7fffffffffffffff),
                                 UINT64_C(0xffffffffffffffff)};

static size_t mutate(uint8_t *bytes, size_t size, uint64_t *state) {
  uint64_t count = 1 + next_random(state) % 4;
  for (uint64_t i = 0; i < count && size; ++i) {
    size_t at = next_random(state) % size;
    size_t rest = size - at;
    switch (next_random(state) % 6) {
    case 0: /* a bit */
      bytes[at] ^= (uint8_t)(1u << (next_random(state) % 8));
      break;
    case 1: /* a byte */
      bytes[at] = (uint8_t)next_random(state);
      break;
    case 2: { /* an edge of a 1, 2, 4 or 8 byte number */
      size_t width = (size_t)1 << (next_random(state) % 4);
      uint64_t edge =
          edges[next_random(state) % (sizeof(edges) / sizeof(edges[0]))];
      memcpy(bytes + at, &edge, width < rest ? width : rest);
      break;
    }
    case 3: /* cut */
      size = at;
      break;
    case 4: { /* bytes from elsewhere */
      size_t from = next_random(state) % size;
      size_t width = 1 + next_random(state) % 16;
      size_t room = size - (from > at ? from : at);
      memmove(bytes + at, bytes + from, width < room ? width : room);
      break;
    }
    default: { /* bytes taken out */
      size_t width = 1 + next_random(state) % 16;
      width = width < rest ? width : rest;
      memmove(bytes + at, bytes + at + width, rest - width);
      size -= width;
      break;
    }
    }
  }
  return size;
}

static long run_file(const char *path, long rounds) {
  struct input input = read_input(path);
  if (!input.bytes)
    return 0;
  run(input.bytes, input.size);
  uint64_t state = UINT64_C(0x9e3779b97f4a7c15) ^ input.size;
  for (size_t i = 0; i < input.size; ++i)
    state = (state ^ input.bytes[i]) * UINT64_C(0x100000001b3);
  state |= 1;
  uint8_t *bytes = malloc(input.size + 1);
  if (!bytes)
    abort();
  for (long round = 0; round < rounds; ++round) {
    memcpy(bytes, input.bytes, input.size);
    size_t size = mutate(bytes, input.size, &state);
    run(bytes, size);
  }
  free(bytes);
  free(input.bytes);
  return 1 + rounds;
}

int main(int argc, char **argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: %s CORPUS [ROUNDS]\n", argv[0]);
    return 2;
  }
  long rounds = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
  const char *slash = strrchr(argv[0], '/');
  char crash[512];
  snprintf(crash, sizeof(crash), "crash-%s", slash ? slash + 1 : argv[0]);
  crash_path = crash;

  struct dirent **entries = NULL;
  int count = scandir(argv[1], &entries, NULL, alphasort);
  if (count < 0) {
    fprintf(stderr, "%s: cannot be read as a folder\n", argv[1]);
    return 2;
  }
  run((const uint8_t *)"", 0);
  long files = 0, inputs = 1;
  for (int i = 0; i < count; ++i) {
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s", argv[1], entries[i]->d_name);
    if (entries[i]->d_name[0] != '.') {
      inputs += run_file(path, rounds);
      ++files;
    }
    free(entries[i]);
  }
  free(entries);
  remove(crash_path);
  printf("%ld files, %ld inputs\n", files, inputs);
  return files ? 0 : 2;
}
