// Arithmetic with the language's semantics: total division, saturating casts, shifts past the
// width. Constants, locations.
#ifndef TILE_FRONTEND_LOWER_EMITTER_H
#define TILE_FRONTEND_LOWER_EMITTER_H

#include "frontend/Lower/LowerPart.h"

namespace tile {

class Emitter : LowerPart {
public:
  explicit Emitter(Lowering &lowering) : LowerPart(lowering) {}

  mlir::Value constant(mlir::TypedAttr value, mlir::Location location);
  mlir::Value constantIndex(int64_t value, mlir::Location location);
  mlir::Value constantLike(mlir::Type type, double value, mlir::Location location);
  /// A scalar or splat of an integer type in which only the top bit is set.
  mlir::Value signBitLike(mlir::Type type, mlir::Location location);
  mlir::Value emitDivision(mlir::Value a, mlir::Value b, DType dtype, bool remainder,
                           mlir::Location location);
  mlir::Value emitCeilDivision(mlir::Value a, mlir::Value b, DType dtype, mlir::Location location);
  mlir::Value emitNextPow2(mlir::Value x, DType dtype, mlir::Location location);
  mlir::Value emitMinMax(bool isMax, mlir::Value a, mlir::Value b, DType dtype,
                         mlir::Location location);
  mlir::Value emitCast(mlir::Value x, DType from, DType to, mlir::Location location);
  mlir::Value emitBinary(ast::BinaryOp op, mlir::Value a, mlir::Value b, DType dtype,
                         mlir::Location location);
  mlir::Value emitBroadcast(mlir::Value x, llvm::ArrayRef<int64_t> shape, mlir::Location location);
  mlir::Value emitReshape(mlir::Value x, llvm::ArrayRef<int64_t> shape, mlir::Location location);
  mlir::Location loc(Range range);
  mlir::Value emitMulHigh(mlir::Value a, mlir::Value b, DType dtype, mlir::Location location);

  /// Where constants go: the entry of the region at hand.
  mlir::Block *entry = nullptr;
  std::map<std::pair<const void *, const void *>, mlir::Value>
      constantCache; // by attribute and type; looked up only

private:
  mlir::Value emitShift(ast::BinaryOp op, mlir::Value a, mlir::Value b, DType dtype,
                        mlir::Location location);
  mlir::Value emitSaturatingCast(mlir::Value x, DType to, mlir::Location location);
};

} // namespace tile

#endif
