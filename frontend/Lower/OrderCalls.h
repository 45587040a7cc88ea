// sort, topk and histogram.
#ifndef TILE_FRONTEND_LOWER_ORDERCALLS_H
#define TILE_FRONTEND_LOWER_ORDERCALLS_H

#include "frontend/Lower/LowerPart.h"

namespace tile {

class OrderCalls : LowerPart {
public:
  explicit OrderCalls(Lowering &lowering) : LowerPart(lowering) {}

  /// sort, topk, histogram.
  SemValue callOrder(const Builtin &builtin, std::vector<Arg> &args, Range range);

private:
  SemValue callSort(std::vector<Arg> &args, Range range);
  SemValue callTopk(std::vector<Arg> &args, Range range);
  SemValue callHistogram(std::vector<Arg> &args, Range range);
  /// Integers of 8, 16, 32 or 64 bits whose signed order is the order wanted of `tile`: NaN last,
  /// 0.0 and -0.0 equal.
  mlir::Value emitSortKeys(const SemValue &tile, bool descending, mlir::Location location);
  /// For integer keys in any order, the positions along `axis` of the first `count` in ascending
  /// order, ties by position.
  mlir::Value emitSortedPositions(mlir::Value keys, int64_t axis, int64_t count,
                                  mlir::Location location);
  /// The same for i32 or i64 keys that leave room for a position above them.
  mlir::Value emitPacked(mlir::Value keys, int64_t axis, int64_t count, mlir::Location location);
};

} // namespace tile

#endif
