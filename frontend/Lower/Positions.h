// Positions and index ranges: arithmetic that does not pass 64 bits.
#ifndef TILE_FRONTEND_LOWER_POSITIONS_H
#define TILE_FRONTEND_LOWER_POSITIONS_H

#include "frontend/Lower/LowerPart.h"

namespace tile {

/// What a loop counts: itself, or its trips.
struct LoopBounds {
  mlir::Value low, high, step;
  /// The first position and the distance to the next; null where the counter is the position.
  mlir::Value first, stride;
};

class Positions : LowerPart {
public:
  explicit Positions(Lowering &lowering) : LowerPart(lowering) {}

  SemValue shiftRange(ast::BinaryOp op, const SemValue &a, const SemValue &b, Range bRange,
                      Range range);
  SemValue startOfBlock(const Arg &number, int64_t size, Range range);
  SemValue endOfRange(const RangeValue &range, Range place);
  /// What a loop from `low` to `high` counts by, so that no step passes the end of 64 bits.
  LoopBounds emitLoopBounds(mlir::Value low, mlir::Value high, mlir::Value step, bool inclusive,
                            mlir::Location location);
  mlir::Value emitCounter(const LoopBounds &bounds, mlir::Value counter, mlir::Location location);

private:
  /// `position` as it is where it is sure to be at most `farthest` from 0, else the nearest such.
  mlir::Value emitBounded(mlir::Value position, int64_t farthest, mlir::Location location);
  /// A position moved by a distance, neither of which counts as further than `farthestPosition`.
  SemValue movePosition(ast::BinaryOp op, const SemValue &position, const SemValue &by,
                        Range byRange, Range range);
};

} // namespace tile

#endif
