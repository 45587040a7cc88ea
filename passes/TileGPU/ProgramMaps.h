// Tensor maps that a program writes itself, for loads through views of flat memory.
#ifndef TILE_PASSES_TILEGPU_PROGRAMMAPS_H
#define TILE_PASSES_TILEGPU_PROGRAMMAPS_H

#include "passes/TileGPU/TensorAccess.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tile::gpu {

/// Writes `tile_gpu.view_descriptor` before loops whose loads fetch by it, and what copies their
/// tiles where the run's numbers let no map be written.
class ProgramMaps {
public:
  ProgramMaps(KernelOp kernel, const DivisibilityAnalysis &divisibility)
      : kernel(kernel), divisibility(divisibility), builder(kernel) {}

  /// Why the program cannot write the map of this load's view; empty if it can. Ends that the run
  /// compares with the view's before the loop are taken from the access.
  std::string accept(LoadOp load, LocalAllocOp alloc, TensorAccess &access);

  /// The fetch in place of a load that was accepted; its coordinates are in the order of `map`.
  /// Leaves the load and what stores its tile as they are.
  TmaFetchOp fetch(LoadOp load, LocalAllocOp alloc, const TensorAccess &access, TensorMapAttr map,
                   mlir::ValueRange coordinates);

  /// Behind all fetches: what fills their tiles where they do not.
  void finish();

  /// True if the program can write the map of this store's view, behind a loop whose loads were
  /// accepted: the thread that fetches for the loop writes it too.
  bool accept(mlir::Operation *store, const TensorAccess &access);
  /// The map of a store that was accepted, and the condition for its being written.
  std::pair<mlir::Value, mlir::Value> write(mlir::Operation *store, const TensorAccess &access,
                                            TensorMapAttr map);

private:
  /// What a load's tile is copied from where it is not fetched.
  struct Copy {
    TmaFetchOp fetch;
    AsyncCopyOp copy;     ///< in no block yet
    mlir::Value possible; ///< a map can be written
  };

  mlir::Value compare(mlir::arith::CmpIPredicate how, mlir::Value a, int64_t b);
  mlir::Value isPossible(const TensorAccess &access, TensorMapAttr map, int64_t elementBytes);
  /// Before `loop`: the map, and the condition for its being written, to which `possible` belongs.
  std::pair<mlir::Value, mlir::Value> writeBefore(mlir::scf::ForOp loop, const TensorAccess &access,
                                                  TensorMapAttr map, mlir::Value possible);
  mlir::scf::ForOp findLoopBefore(mlir::Operation *store);

  KernelOp kernel;
  const DivisibilityAnalysis &divisibility;
  mlir::OpBuilder builder;
  int64_t maps = 0; ///< how many there are
  /// Ends that must not lie before the view's, of each load: the end and the dimension.
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<std::pair<mlir::Value, unsigned>>> ends;
  llvm::SmallVector<Copy> copies;
  llvm::DenseSet<mlir::Operation *> loops; ///< with loads that were accepted
};

} // namespace tile::gpu

#endif
