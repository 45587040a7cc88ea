// Ranges of single integers, where a whole analysis would cost more than it finds.
#ifndef TILE_PASSES_CONVERT_VALUERANGES_H
#define TILE_PASSES_CONVERT_VALUERANGES_H

#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "llvm/ADT/DenseMap.h"

namespace tile {

/// Asks MLIR's inference of ranges backwards, from the values that matter, a few operations deep.
/// Each value is asked once, since vectors are taken apart and put together; valid until an
/// operation that was asked is erased.
class ValueRanges {
public:
  /// Of an integer or index, or of every element of a vector or tile.
  mlir::ConstantIntRanges find(mlir::Value value) { return find(value, mostDepth); }

private:
  static constexpr unsigned mostDepth = 12;
  mlir::ConstantIntRanges find(mlir::Value value, unsigned depth);
  mlir::ConstantIntRanges infer(mlir::Value value, unsigned depth);

  llvm::DenseMap<mlir::Value, mlir::ConstantIntRanges> known; // looked up only
};

} // namespace tile

#endif
