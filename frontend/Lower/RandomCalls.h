// Random numbers.
#ifndef TILE_FRONTEND_LOWER_RANDOMCALLS_H
#define TILE_FRONTEND_LOWER_RANDOMCALLS_H

#include "frontend/Lower/LowerPart.h"

namespace tile {

class RandomCalls : LowerPart {
public:
  explicit RandomCalls(Lowering &lowering) : LowerPart(lowering) {}

  SemValue callRandom(const Builtin &builtin, std::vector<Arg> &args, Range range);

private:
  /// The random words of a tile or scalar of positions, as u32 without a sign in MLIR's type.
  mlir::Value emitRandomBits(mlir::Value seed, mlir::Value position, mlir::Location location);
  mlir::Value emitUniform(mlir::Value bits, mlir::Location location);
  mlir::Value emitNormal(mlir::Value seed, mlir::Value position, mlir::Location location);
  SemValue emitRandInt(mlir::Value bits, llvm::MutableArrayRef<Arg> bounds, Range range);
};

} // namespace tile

#endif
