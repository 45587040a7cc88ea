// Remarks that say which kernel they are about: instances of one kernel share their source. They
// are of the catalogue (`… [R0401]`) and for authors: each says what to write instead. Reasons that
// only concern a pass are `declined` (Declined.h).
#ifndef TILE_PASSES_REPORT_KERNELREMARK_H
#define TILE_PASSES_REPORT_KERNELREMARK_H

#include "dialect/Tile/TileDialect.h"

namespace tile {

/// Notes the symbol of the kernel that `op` is, or stands in, as the diagnostic's metadata, where
/// the driver finds it.
inline mlir::InFlightDiagnostic nameKernel(mlir::InFlightDiagnostic diagnostic,
                                           mlir::Operation *op) {
  auto kernel = llvm::dyn_cast<KernelOp>(op);
  if (!kernel)
    kernel = op->getParentOfType<KernelOp>();
  if (kernel && diagnostic.getUnderlyingDiagnostic())
    diagnostic.getUnderlyingDiagnostic()->getMetadata().emplace_back(kernel.getSymNameAttr());
  return diagnostic;
}

/// A remark at `op` about the kernel around it.
inline mlir::InFlightDiagnostic remarkOn(mlir::Operation *op) {
  return nameKernel(op->emitRemark(), op);
}

} // namespace tile

#endif
