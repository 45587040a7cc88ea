// Distances of positions have 64 bits without a sign.
#include "passes/Convert/LanesBelow.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

bool tile::isWide(int64_t size, int64_t step) {
  int64_t span;
  return __builtin_mul_overflow(size, step, &span) || span >= int64_t(1) << 62;
}

/// limit - start lies in [1, 2^64) where start < limit, for any two signed numbers: as an unsigned
/// number it never wraps around. The quotient, rounded up, is the number of lanes, and `size` is
/// the most. Where start >= limit the difference means nothing and is not chosen.
Value tile::lanesBelow(OpBuilder &builder, Location loc, Value start, Value limit, int64_t size,
                       int64_t step) {
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  Value any = builder.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, start, limit);
  Value distance = builder.createOrFold<arith::SubIOp>(loc, limit, start);
  Value lanes = builder.createOrFold<arith::CeilDivUIOp>(loc, distance, constant(step));
  lanes = builder.createOrFold<arith::MinUIOp>(loc, lanes, constant(size));
  return builder.createOrFold<arith::SelectOp>(loc, any, lanes, constant(0));
}
