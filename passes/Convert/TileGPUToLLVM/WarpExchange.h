// The part of a reduction that goes between warps, through shared memory.
#ifndef TILE_PASSES_CONVERT_TILEGPUTOLLVM_WARPEXCHANGE_H
#define TILE_PASSES_CONVERT_TILEGPUTOLLVM_WARPEXCHANGE_H

#include "passes/Convert/TileGPUToLLVM/Reduce.h"

namespace tile::gpu {

/// The exchange between warps of what each has come to. Each warp leaves what its lanes have come
/// to; behind a barrier all read the parts of the warps that differ from theirs along the axes,
/// which lie side by side: [other bits of the warp][register][lane that differs from others][warp
/// along the axes].
class WarpExchange {
public:
  WarpExchange(mlir::Location loc, mlir::OpBuilder &b, State state, const LinearLayout &layout,
               llvm::ArrayRef<unsigned> axes);

  /// False if no two warps have different parts along the axes.
  bool isNeeded() const { return !warpBits.empty(); }
  /// Puts scratch at `start` in shared memory; returns where it ends.
  int64_t place(int64_t start);
  void leave();
  State take(Combine combine);

private:
  /// The first part of register `reg`, counted in elements.
  mlir::Value getFirstPart(int64_t reg);
  mlir::Value pointerTo(unsigned array, mlir::Value index);

  mlir::Location loc;
  mlir::OpBuilder &b;
  State state;
  const LinearLayout &layout;
  llvm::SmallVector<unsigned> warpBits, laneBits, otherBits;
  int64_t registers, parts;
  mlir::Value lane, laneNumber, ownPart, group;
  llvm::SmallVector<mlir::Value> bases;
  llvm::SmallVector<mlir::Type> types;
};

} // namespace tile::gpu

#endif
