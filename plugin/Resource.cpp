// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/resource.h"

#include "mlir/CAPI/IR.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectResourceBlobManager.h"

extern "C" const void *tg_resource_bytes(MlirAttribute attribute,
                                         size_t *nbytes) {
  auto elements =
      llvm::dyn_cast<mlir::DenseResourceElementsAttr>(unwrap(attribute));
  if (!elements)
    return nullptr;
  mlir::AsmResourceBlob *blob = elements.getRawHandle().getBlob();
  if (!blob)
    return nullptr;
  *nbytes = blob->getData().size();
  return blob->getData().data();
}
