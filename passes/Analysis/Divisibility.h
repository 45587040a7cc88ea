// The greatest number known to divide an integer or index value: for vector widths, alignment and
// bounds.
#ifndef TILE_PASSES_ANALYSIS_DIVISIBILITY_H
#define TILE_PASSES_ANALYSIS_DIVISIBILITY_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

namespace tile {

/// Divisors of all values below an operation, found once; a pass gets it by
/// getAnalysis<DivisibilityAnalysis>(). Facts come from constants, tile.dim's multiple_of, loops'
/// lower bounds and steps, and arithmetic on these.
class DivisibilityAnalysis {
public:
  explicit DivisibilityAnalysis(mlir::Operation *root);

  /// The greatest known divisor of an integer or index scalar, at least 1; 0 if the value is known
  /// to be 0, which everything divides. In elements, bytes or whatever the value counts.
  int64_t getDivisor(mlir::Value value) const;

private:
  /// Of what the walk reached; all else has divisor 1.
  llvm::DenseMap<mlir::Value, int64_t> divisors;
};

} // namespace tile

#endif
