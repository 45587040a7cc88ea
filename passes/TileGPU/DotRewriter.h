// Products on fragments and on shared memory in place of `tile_gpu.dot`.
#ifndef TILE_PASSES_TILEGPU_DOTREWRITER_H
#define TILE_PASSES_TILEGPU_DOTREWRITER_H

#include "passes/TileGPU/HeldOperand.h"
#include "passes/TileGPU/LayoutCopies.h"

namespace tile::gpu {

/// Writes the products of a kernel.
class DotRewriter {
public:
  /// Looks at the operands of `dots` as they are, before any operation is rewritten.
  DotRewriter(KernelOp kernel, const LayoutInference &inference, LayoutCopies &copies,
              llvm::ArrayRef<DotOp> dots);

  /// The product that becomes of the dot; the dot stays.
  mlir::Value rewrite(DotOp dot);

private:
  mlir::Value createMma(DotOp dot, mlir::Value acc);
  mlir::Value createWgmma(DotOp dot, mlir::Value acc);
  bool isPromoted(DotOp dot) const;
  mlir::Value addUp(DotOp dot, mlir::Value acc,
                    llvm::function_ref<mlir::Value(mlir::Value)> create);

  const LayoutInference &inference;
  LayoutCopies &copies;
  mlir::OpBuilder builder;
  llvm::DenseSet<mlir::Operation *> swappedDots;       // looked up only
  llvm::DenseMap<mlir::Operation *, HeldOperand> held; // by dot; looked up only
};

} // namespace tile::gpu

#endif
