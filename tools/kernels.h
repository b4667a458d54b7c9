/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The distinct kernels of a set of programs, each as a program of its own; or
 * the programs themselves. */
#ifndef TGRAPH_TOOLS_KERNELS_H
#define TGRAPH_TOOLS_KERNELS_H

#include "model/kernel.h"
#include "tools/program.h"

struct tg_kernel_entry {
  uint64_t hash; /* tg_kernel_hash; of a graph: of its text */
  struct tg_kernel kernel;
  double gflop;       /* of all its sums of products */
  char name[160];     /* "resnet.conv_2d_nchw_fchw.64x56x56_64x3x3"; of a graph
                         the file's: "resnet18.linalg" */
  char family[48];    /* of the first program that has it: "resnet" */
  char sources[512];  /* all programs that have it, comma-separated */
  uint64_t text_hash; /* of the program below */
  char *text;         /* a module with @main around the one operation */
  char *path;         /* of a graph: its file; else NULL */
  int occurrences;
};

struct tg_kernel_list {
  struct tg_kernel_entry *entries; /* malloc'ed */
  int count;
};

/* Adds the kernels of one file; those that are known get another source. */
enum tg_status tg_kernels_add_file(struct tg_kernel_list *list,
                                   const char *path, struct tg_error *error);
/* Adds the file as a whole: a graph. The same text is added once. */
enum tg_status tg_kernels_add_graph(struct tg_kernel_list *list,
                                    const char *path, struct tg_error *error);
/* Orders the kernels so that the families take turns: what is measured first
 * covers all of them. */
void tg_kernels_interleave(struct tg_kernel_list *list);
void tg_kernels_destroy(struct tg_kernel_list *list);

/* The only operation with a configuration in an entry's program. */
bool tg_kernels_find_site(MlirOperation module, MlirOperation *op,
                          struct tg_kernel *kernel);

#endif
