// concat, stack, repeat and flip.
#ifndef TILE_FRONTEND_LOWER_JOINCALLS_H
#define TILE_FRONTEND_LOWER_JOINCALLS_H

#include "frontend/Lower/LowerPart.h"

namespace tile {

class JoinCalls : LowerPart {
public:
  explicit JoinCalls(Lowering &lowering) : LowerPart(lowering) {}

  /// concat, stack, repeat, flip.
  SemValue callJoin(const Builtin &builtin, std::vector<Arg> &args, Range range);
  /// Elements of `tile` along `axis` at `positions`, a tile of its rank.
  mlir::Value emitTakeAlong(mlir::Value tile, mlir::Value positions, int64_t axis,
                            mlir::Location location);
  /// 0, 1, 2, ... along `axis` of a tile of that shape, i32.
  mlir::Value emitPositions(llvm::ArrayRef<int64_t> shape, int64_t axis, mlir::Location location);

private:
  SemValue callConcat(bool isStack, std::vector<Arg> &args, Range range);
};

} // namespace tile

#endif
