// What goes between threads as the layouts of blocked tiles have it: words of reductions and scans,
// vectors, operands of atomics, parts of tiles.
#ifndef TILE_PASSES_ANALYSIS_COSTMODEL_SHAREDEXCHANGES_H
#define TILE_PASSES_ANALYSIS_COSTMODEL_SHAREDEXCHANGES_H

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Analysis/CostModel/SharedMeetings.h"
#include "passes/Analysis/CostModel/SharedTiles.h"
#include "passes/TileGPU/DotSelection.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace tile::cost {

inline mlir::RankedTensorType getTile(mlir::Value value) {
  return llvm::dyn_cast<mlir::RankedTensorType>(value.getType());
}
/// Elements, with extents that are powers of two.
int64_t countPadded(mlir::RankedTensorType type);
/// Bytes, with such extents.
int64_t getBytes(mlir::RankedTensorType type);

class SharedExchanges {
protected:
  SharedExchanges(KernelOp kernel, const gpu::KernelShape &shape) : kernel(kernel), shape(shape) {}

  SharedTile &add(SharedTile::Use use, mlir::Operation *op, int64_t bytes);
  /// The number of the innermost loop around `op`; -1: none.
  int getLoop(mlir::Operation *op) const;

  /// A vector, of which a thread holds so many neighbours at most.
  SharedTile &addTurned(mlir::Operation *op, mlir::Value vector, int64_t neighbours);
  /// One of each warp's part of vectors, and of each of a warp's parts where they are scanned.
  void addWords(mlir::Operation *op, mlir::ValueRange vectors);
  /// The result of an atomic goes from the threads that did it to those that have the same.
  void addAtomicResult(AtomicOp atomic);
  void addMeeting(const Meeting &meeting);
  /// What is left of columns, where warps hold parts of them.
  void addColumns(ReduceOp op);
  /// What tile-gpu-expand-shapes makes of a slice: of few equal parts one is selected where it
  /// lies, with a flag for each element; other elements are read at their places.
  void addSlice(mlir::tensor::ExtractSliceOp op);
  /// What tile-gpu-expand-shapes makes of a concatenation of unlike tiles, or of more than it
  /// selects from: each is read at its places.
  void addConcat(mlir::tensor::ConcatOp op);
  /// True of what is computed from parts of a tile, which lie as the whole does, or taken at
  /// positions that are.
  bool isOfParts(mlir::Value value, unsigned depth = 0) const;

  KernelOp kernel;
  const gpu::KernelShape &shape;
  SharedTiles found;
  bool multiplies = false;                                 ///< the kernel has products
  llvm::DenseMap<mlir::Operation *, unsigned> first, last; // looked up only
  llvm::DenseMap<mlir::Operation *, int> loops;            // looked up only
  llvm::DenseSet<mlir::Value> parts;                       // of tiles; looked up only

private:
  void addOfAtomic(AtomicOp atomic, mlir::Value value);
  int findJoinedColumns(ReduceOp op) const;

  /// Reductions of columns, and their places in `found`.
  llvm::SmallVector<std::pair<mlir::Operation *, int>> columns;
};

} // namespace tile::cost

#endif
