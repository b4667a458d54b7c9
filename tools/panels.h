/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What becomes of an object's panels when they are made anew. */
#ifndef TGRAPH_TOOLS_PANELS_H
#define TGRAPH_TOOLS_PANELS_H

#include <llvm-c/Types.h>

#include "model/error.h"

/* The function, which writes the descriptors of the panels, first frees what
 * they describe. panels: the address of each descriptor, null at first. */
enum tg_status tg_release_panels_first(LLVMValueRef prepack,
                                       LLVMValueRef *panels, unsigned count,
                                       struct tg_error *error);

#endif
