// How a pass says why it leaves a loop or a kernel as it is, for people who read passes
// (--remarks=passes). A loss that an author can repair in the source is a remark of the catalogue
// (KernelRemark.h) instead.
#ifndef TILE_PASSES_REPORT_DECLINED_H
#define TILE_PASSES_REPORT_DECLINED_H

#include "dialect/Tile/TileDialect.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

namespace tile {

/// The category of these remarks in MLIR's engine.
inline constexpr llvm::StringLiteral passCategory = "passes";
/// And what they are about: a loop, else a kernel.
inline constexpr llvm::StringLiteral loopCategory = "loop", kernelCategory = "kernel";

/// `declined(op) << "reason"`: the running pass leaves the innermost loop around `op`, or its
/// kernel, as it is. Only the first reason for a loop or kernel counts. Costs next to nothing where
/// nobody listens (--remarks=passes).
inline mlir::remark::detail::InFlightRemark declined(mlir::Operation *op) {
  auto loop = llvm::dyn_cast<mlir::LoopLikeOpInterface>(op);
  if (!loop)
    loop = op->getParentOfType<mlir::LoopLikeOpInterface>();
  auto kernel = llvm::dyn_cast<KernelOp>(op);
  if (!kernel)
    kernel = op->getParentOfType<KernelOp>();
  mlir::Location place = loop ? loop->getLoc() : kernel ? kernel->getLoc() : op->getLoc();
  return mlir::remark::missed(place, mlir::remark::RemarkOpts::name("declined")
                                         .category(passCategory)
                                         .subCategory(loop ? loopCategory : kernelCategory)
                                         .function(kernel ? kernel.getSymName() : ""));
}

} // namespace tile

#endif
