/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* tgraph info of data files. */
#ifndef TGRAPH_TOOLS_INFO_NPZ_H
#define TGRAPH_TOOLS_INFO_NPZ_H

#include <stdbool.h>

/* Reads each file as what it holds (tiles, layouts or plain arrays), checks
 * all of it, and prints what is in it. Returns the exit status. */
int tg_info_npz(char **paths, int count, bool as_json);

#endif
