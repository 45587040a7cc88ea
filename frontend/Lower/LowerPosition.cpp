// Positions of index ranges and counters of loops, none of which wraps around: what contracts do
// not keep far from the ends of 64 bits is bounded, or counted, at run time.
//
// Why 2^62 (farthestPosition): the sum of two numbers below it cannot pass 64 bits, so it is enough
// to bound each operand by itself. No tensor has a position so far away.
#include "frontend/Lower/EasyRange.h"
#include "frontend/Lower/Lowering.h"

#include <limits>

using namespace mlir;
using namespace tile;
using ast::BinaryOp;

/// Emits nothing where easyRange sees that the position lies within the bounds already.
mlir::Value Positions::emitBounded(mlir::Value position, int64_t farthest, Location location) {
  auto [low, high] = easyRange(position);
  if (high > farthest)
    position = builder.createOrFold<arith::MinSIOp>(location, position,
                                                    emitter.constantIndex(farthest, location));
  if (low < -farthest)
    position = builder.createOrFold<arith::MaxSIOp>(location, position,
                                                    emitter.constantIndex(-farthest, location));
  return position;
}

SemValue Positions::movePosition(BinaryOp op, const SemValue &position, const SemValue &by,
                                 Range byRange, Range range) {
  if (position.isInt() && by.isInt())
    return expressions.binary(op, position, by, range, byRange, range);
  mlir::Value from = conversions.toIndex(position, range, "an index range"),
              distance = conversions.toIndex(by, byRange, "shifting an index range");
  if (!from || !distance)
    return SemValue::error();
  Location location = emitter.loc(range);
  from = emitBounded(from, farthestPosition, location);
  distance = emitBounded(distance, farthestPosition, location);
  return ofData(emitter.emitBinary(op, from, distance, DType::Index, location), DType::Index);
}

/// `r + c` and `r - c`: start and end move together.
SemValue Positions::shiftRange(BinaryOp op, const SemValue &a, const SemValue &b, Range bRange,
                               Range range) {
  const RangeValue &old = *a.range;
  if ((op != BinaryOp::add && op != BinaryOp::sub) || b.isRange()) {
    auto report =
        here.error(diag::wrongOperand, range, "an index range", "'+' or '-' with an integer",
                   "'" + ast::spelling(op).str() + "' with " + describe(b));
    if (op == BinaryOp::mul)
      report.note("positions of any distance: gather(x[iota(r) * 2]), scatter(x[iota(r) * 2], v)");
    else
      report.note("a range's positions are the tile iota(r)");
    return SemValue::error();
  }
  bool isInteger = b.isInt() || (b.isData() && b.rank() == 0 && widensToIndex(b.dtype));
  if (!isInteger) {
    here.error(diag::wrongOperand, bRange, "shifting an index range", "an integer scalar",
               describe(b));
    return SemValue::error();
  }
  RangeValue moved = old;
  moved.start = movePosition(op, old.start, b, bRange, range);
  if (old.end)
    moved.end = movePosition(op, *old.end, b, bRange, range);
  if (moved.start.isError() || (moved.end && moved.end->isError()))
    return SemValue::error();
  return SemValue::of(std::move(moved));
}

SemValue Positions::startOfBlock(const Arg &number, int64_t size, Range range) {
  if (number.value.isInt())
    return expressions.binary(BinaryOp::mul, number.value, SemValue::ofInt(size), number.range,
                              range, range);
  mlir::Value index = conversions.toIndex(number.value, number.range, "the number of a block");
  if (!index)
    return SemValue::error();
  Location location = emitter.loc(range);
  // The product then stays within farthestPosition, whatever the run's number is.
  index = emitBounded(index, farthestPosition / size, location);
  return ofData(emitter.emitBinary(BinaryOp::mul, index, emitter.constantIndex(size, location),
                                   DType::Index, location),
                DType::Index);
}

SemValue Positions::endOfRange(const RangeValue &range, Range place) {
  // One past the last position that the range takes.
  int64_t extent;
  if (__builtin_mul_overflow(range.size - 1, range.step, &extent) || extent > farthestPosition - 1)
    extent = farthestPosition - 1;
  SemValue last =
      movePosition(BinaryOp::add, range.start, SemValue::ofInt(extent + 1), place, place);
  if (!range.end || last.isError())
    return last;
  std::vector<Arg> args = {{last, place, ""}, {*range.end, place, ""}};
  return functions.callBuiltin(*findBuiltin("min"), nullptr, std::move(args), place);
}

/// Two forms. The common one counts the positions themselves. Where `high + step` might pass 64
/// bits the loop counts its trips from 0 instead, and emitCounter makes the position of a trip:
///   for i = low; i < high; i += step            bounds.first is null
///   for t = 0; t < trips; t += 1: i = low + t * step
///
/// A step that is not positive makes no trip in either form; it is replaced by 1, since scf.for
/// takes positive steps alone.
LoopBounds Positions::emitLoopBounds(mlir::Value low, mlir::Value high, mlir::Value step,
                                     bool inclusive, Location location) {
  LoopBounds bounds{low, high, step, {}, {}};
  auto number = [&](int64_t value) { return emitter.constantIndex(value, location); };
  auto [leastStep, greatestStep] = easyRange(step);
  auto select = [&](mlir::Value condition, mlir::Value a, mlir::Value b) -> mlir::Value {
    return builder.createOrFold<arith::SelectOp>(location, condition, a, b);
  };
  auto compare = [&](arith::CmpIPredicate how, mlir::Value a, mlir::Value b) -> mlir::Value {
    return builder.createOrFold<arith::CmpIOp>(location, how, a, b);
  };
  mlir::Value steps; // the step is positive; null where it is known to be
  if (leastStep < 1) {
    steps = compare(arith::CmpIPredicate::sge, step, number(1));
    step = builder.createOrFold<arith::MaxSIOp>(location, step, number(1));
  }
  int64_t highest = easyRange(high).second;
  bool isUnit = leastStep == 1 && greatestStep == 1 && !inclusive; // ends at `high` itself
  if (isUnit || (highest <= farthestPosition && greatestStep <= farthestPosition)) {
    if (inclusive)
      bounds.high = builder.createOrFold<arith::AddIOp>(location, high, number(1));
    if (steps)
      bounds.high = select(steps, bounds.high, low);
    bounds.step = step;
    return bounds;
  }
  // The counter might pass the end of 64 bits: the trips are counted instead. The distance of two
  // positions has 64 bits without a sign.
  mlir::Value runs =
      compare(inclusive ? arith::CmpIPredicate::sle : arith::CmpIPredicate::slt, low, high);
  if (steps)
    runs = builder.createOrFold<arith::AndIOp>(location, runs, steps);
  mlir::Value last =
      inclusive ? high : builder.createOrFold<arith::SubIOp>(location, high, number(1));
  mlir::Value distance = builder.createOrFold<arith::SubIOp>(location, last, low);
  mlir::Value quotient = builder.createOrFold<arith::DivUIOp>(location, distance, step);
  // 2^63 trips take longer than anyone waits, but must not become a negative count.
  quotient = builder.createOrFold<arith::MinUIOp>(location, quotient,
                                                  number(std::numeric_limits<int64_t>::max() - 1));
  mlir::Value trips = builder.createOrFold<arith::AddIOp>(location, quotient, number(1));
  return {number(0), select(runs, trips, number(0)), number(1), low, step};
}

mlir::Value Positions::emitCounter(const LoopBounds &bounds, mlir::Value counter,
                                   Location location) {
  if (!bounds.first)
    return counter;
  mlir::Value distance = builder.createOrFold<arith::MulIOp>(location, counter, bounds.stride);
  return builder.createOrFold<arith::AddIOp>(location, bounds.first, distance);
}
