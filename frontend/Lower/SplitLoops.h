// Loops whose trips programs share.
#ifndef TILE_FRONTEND_LOWER_SPLITLOOPS_H
#define TILE_FRONTEND_LOWER_SPLITLOOPS_H

#include "frontend/Lower/LowerPart.h"

namespace tile {

class SplitLoops : LowerPart {
public:
  explicit SplitLoops(Lowering &lowering) : LowerPart(lowering) {}

  /// Checks that programs can share the trips of `loop`, which carries `vars`. Returns the results,
  /// merged if the attribute names a function for that.
  llvm::SmallVector<mlir::Value> lowerSplit(const ast::ForStmt &stmt, mlir::Operation *loop,
                                            int64_t parts, llvm::ArrayRef<Binding *> vars);

  /// The split loop that the kernel has, if any.
  Range splitLoop;

private:
  void checkSplitStores(const ast::ForStmt &stmt, mlir::Operation *loop, int64_t parts);
  void checkSplitSums(const ast::ForStmt &stmt, mlir::Operation *loop, int64_t parts,
                      llvm::ArrayRef<Binding *> vars);
  /// The states of parts, merged by `function`. Nothing after an error.
  llvm::SmallVector<mlir::Value> emitMerge(const ast::Expr &function, mlir::ValueRange states,
                                           llvm::ArrayRef<Binding *> vars);
  std::string nameOf(const Binding *binding) const;
};

} // namespace tile

#endif
