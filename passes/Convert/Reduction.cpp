// Identities and combiners of reductions, which both paths lower to.
#include "passes/Convert/Reduction.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tile;

/// Padding of tiles holds the identity, and linalg's reductions start from it: combined with any
/// value it gives that value. Of sums that is -0.0, since -0.0 + 0.0 is +0.0.
TypedAttr tile::getIdentity(Builder &b, ReduceKind kind, Type type) {
  if (auto element = dyn_cast<FloatType>(type)) {
    const llvm::fltSemantics &semantics = element.getFloatSemantics();
    switch (kind) {
    case ReduceKind::Prod:
      return b.getFloatAttr(type, 1.0);
    case ReduceKind::Max:
      return b.getFloatAttr(type, APFloat::getInf(semantics, /*Negative=*/true));
    case ReduceKind::Min:
      return b.getFloatAttr(type, APFloat::getInf(semantics));
    default:
      return b.getFloatAttr(type, APFloat::getZero(semantics, /*Negative=*/true));
    }
  }
  unsigned bits = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  switch (kind) {
  case ReduceKind::Prod:
    return b.getIntegerAttr(type, APInt(bits, 1));
  case ReduceKind::Max:
    return b.getIntegerAttr(type, APInt::getSignedMinValue(bits));
  case ReduceKind::Min:
    return b.getIntegerAttr(type, APInt::getSignedMaxValue(bits));
  case ReduceKind::And:
  case ReduceKind::MinUnsigned:
    return b.getIntegerAttr(type, APInt::getAllOnes(bits));
  default:
    return b.getIntegerAttr(type, APInt::getZero(bits));
  }
}

/// Flags apply to sums and products alone. A maximum has one answer in any order, and NaN wins from
/// either side: `maximumf`, not `maxnumf`.
Value tile::combine(OpBuilder &b, Location loc, ReduceKind kind, Value x, Value y,
                    arith::FastMathFlags flags) {
  bool isFloat = isa<FloatType>(getElementTypeOrSelf(x.getType()));
  switch (kind) {
  case ReduceKind::Sum:
    return isFloat ? Value(arith::AddFOp::create(b, loc, x, y, flags))
                   : Value(arith::AddIOp::create(b, loc, x, y));
  case ReduceKind::Prod:
    return isFloat ? Value(arith::MulFOp::create(b, loc, x, y, flags))
                   : Value(arith::MulIOp::create(b, loc, x, y));
  case ReduceKind::Max:
    return isFloat ? Value(arith::MaximumFOp::create(b, loc, x, y))
                   : Value(arith::MaxSIOp::create(b, loc, x, y));
  case ReduceKind::Min:
    return isFloat ? Value(arith::MinimumFOp::create(b, loc, x, y))
                   : Value(arith::MinSIOp::create(b, loc, x, y));
  case ReduceKind::And:
    return arith::AndIOp::create(b, loc, x, y);
  case ReduceKind::Or:
    return arith::OrIOp::create(b, loc, x, y);
  case ReduceKind::MaxUnsigned:
    return arith::MaxUIOp::create(b, loc, x, y);
  case ReduceKind::MinUnsigned:
    return arith::MinUIOp::create(b, loc, x, y);
  }
  llvm_unreachable("every kind of reduction has a combiner");
}

/// Both arguments, each once: x + x is no reduction of its elements, and an operand from outside
/// makes the function depend on more than the two. The order of the operands does not matter, since
/// all of these commute.
std::optional<ReduceKind> tile::getReduceKind(Operation *op) {
  bool onArguments = op->getNumOperands() == 2 &&
                     llvm::all_of(op->getOperands(), llvm::IsaPred<BlockArgument>) &&
                     op->getOperand(0) != op->getOperand(1);
  if (!onArguments)
    return std::nullopt;
  return llvm::TypeSwitch<Operation *, std::optional<ReduceKind>>(op)
      .Case<arith::AddFOp, arith::AddIOp>([](auto) { return ReduceKind::Sum; })
      .Case<arith::MulFOp, arith::MulIOp>([](auto) { return ReduceKind::Prod; })
      .Case<arith::MaximumFOp, arith::MaxSIOp>([](auto) { return ReduceKind::Max; })
      .Case<arith::MinimumFOp, arith::MinSIOp>([](auto) { return ReduceKind::Min; })
      .Case<arith::AndIOp>([](auto) { return ReduceKind::And; })
      .Case<arith::OrIOp>([](auto) { return ReduceKind::Or; })
      .Default([](Operation *) { return std::nullopt; });
}
