/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What MLIR's C API can't tell; defined in plugin/Resource.cpp.
 */
#ifndef TGRAPH_PASSES_RESOURCE_H
#define TGRAPH_PASSES_RESOURCE_H

#include <mlir-c/IR.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The bytes of a dense_resource attribute, which live as long as its context;
 * NULL where the attribute is none, or names a resource that nothing defines.
 */
const void *tg_resource_bytes(MlirAttribute attribute, size_t *nbytes);

#ifdef __cplusplus
}
#endif
#endif
