/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Functions that are called for parts of tensors.
 */
#ifndef TGRAPH_PASSES_WHOLE_ARGUMENTS_H
#define TGRAPH_PASSES_WHOLE_ARGUMENTS_H

#include "passes/outline.h"

/*
 * Has them take the whole tensors and where the parts start, and write the
 * part of a result into the whole one. A function's tensors are row-major
 * without gaps; a part would have to be copied to be one. False: out of memory.
 */
bool tg_pass_wholes(struct tg_outliner *outliner);

#endif
