// Reductions that want the position of the extreme value.
//
//   warp      the extreme value, one operation for an element: as a reduction
//   thread    the lowest place among its registers that has it, two for an element
//   warp      the lowest of these places
//   block     pairs of value and place
//
// Pairs all the way would take ten operations for an element.
#include "dialect/AttributeNames.h"
#include "passes/Convert/MathNumber.h"
#include "passes/Convert/Reduction.h"
#include "passes/Convert/TileGPUToLLVM/Patterns.h"
#include "passes/Convert/TileGPUToLLVM/Reduce.h"
#include "passes/Convert/TileGPUToLLVM/ThreadCoordinates.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

/// Keeps the pair whose value is more extreme; of equal ones the lower position. NaN is the most
/// extreme.
static State combinePositions(OpBuilder &b, Location loc, ArgReduceKind kind, const State &x,
                              const State &y) {
  bool isFloat = isa<FloatType>(getElementTypeOrSelf(x[0].getType()));
  Value better, equal;
  if (isFloat) {
    auto predicate =
        kind == ArgReduceKind::ArgMax ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OLT;
    Value xNan = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, x[0], x[0]);
    Value yNan = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, y[0], y[0]);
    Value yes = arith::ConstantOp::create(b, loc, b.getOneAttr(xNan.getType()));
    Value yNumber = arith::XOrIOp::create(b, loc, yNan, yes);
    better = arith::CmpFOp::create(b, loc, predicate, x[0], y[0]);
    better = arith::OrIOp::create(b, loc, better, arith::AndIOp::create(b, loc, xNan, yNumber));
    equal = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, x[0], y[0]);
    equal = arith::OrIOp::create(b, loc, equal, arith::AndIOp::create(b, loc, xNan, yNan));
  } else {
    auto predicate =
        kind == ArgReduceKind::ArgMax ? arith::CmpIPredicate::sgt : arith::CmpIPredicate::slt;
    better = arith::CmpIOp::create(b, loc, predicate, x[0], y[0]);
    equal = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, x[0], y[0]);
  }
  Value lower = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, x[1], y[1]);
  Value takeX = arith::OrIOp::create(b, loc, better, arith::AndIOp::create(b, loc, equal, lower));
  return {arith::SelectOp::create(b, loc, takeX, x[0], y[0]),
          arith::SelectOp::create(b, loc, takeX, x[1], y[1])};
}

namespace {

/// Row-major positions over the axes that a reduction covers.
struct Positions {
  Value base;                  // an i32: the position of register 0
  SmallVector<int64_t> offset; // of each register, to be added
};

} // namespace

/// None if the position of some register is no sum.
static std::optional<Positions> getPositions(OpBuilder &b, Location loc, ArrayRef<int64_t> shape,
                                             const LinearLayout &layout, ArrayRef<unsigned> axes) {
  ThreadCoordinates thread(b, loc, layout);
  Positions found;
  found.offset.assign(layout.getNumRegisters(), 0);
  for (unsigned d : axes) {
    if (!thread.isDisjoint(d))
      return std::nullopt;
    Value here = thread.getBase(d);
    if (found.base)
      here = arith::AddIOp::create(
          b, loc, arith::MulIOp::create(b, loc, found.base, constantI32(b, loc, shape[d])), here);
    found.base = here;
    for (unsigned r = 0; r < found.offset.size(); ++r)
      found.offset[r] = found.offset[r] * shape[d] + thread.getOffset(r, d);
  }
  return found;
}

/// True in a kernel that fp("fast") lets take subnormal numbers for 0: comparisons of f32 and f16
/// do.
static bool flushesSubnormals(Operation *op) {
  for (; op; op = op->getParentOp())
    if (auto mode = op->getAttrOfType<StringAttr>(floatModeName))
      return mode.getValue() == "fast";
  return false;
}

/// Operations that a row's limit takes: rows of so few elements to a thread are compared with their
/// extreme, and with themselves for NaN.
static constexpr int64_t limitCost = 8;

/// The number before each row's extreme: in no row does another element than the extreme lie beyond
/// it, and none is unordered but NaN. Where the extreme is NaN, it is the infinity that nothing
/// lies beyond; where nothing lies before the extreme, NaN. So one comparison, true of what is
/// unordered, finds what equals the extreme.
///
///   argmax   extreme    1.0        -0, +0    -inf   NaN
///            limit      1 - 2^-24  -2^-149   NaN    +inf     found: not x <= limit
static Value makeLimit(OpBuilder &builder, Location loc, Value extremes, bool forMax,
                       bool flushesSubnormals) {
  using namespace tile::math;
  ImplicitLocOpBuilder b(loc, builder);
  Number extreme(b, extremes), bits = toBits(extreme);
  const llvm::fltSemantics &semantics =
      cast<FloatType>(extreme.getElementType()).getFloatSemantics();
  auto bitsOf = [](const APFloat &value) { return int64_t(value.bitcastToAPInt().getZExtValue()); };
  // 0 has two signs, and where subnormal numbers count as 0 they are no neighbours of it.
  int64_t least = flushesSubnormals ? bitsOf(APFloat::getSmallestNormalized(semantics)) : 1;
  Number isZero = compare(arith::CmpIPredicate::ult, shiftLeft(bits, 1), bits.like(2 * least)),
         isPositive = compare(arith::CmpIPredicate::sge, bits, bits.like(0));
  // Bits of positive numbers grow with them, those of negative ones as they fall.
  Number one = bits.like(1), away = forMax ? select(isPositive, bits - one, bits + one)
                                           : select(isPositive, bits + one, bits - one);
  APFloat besideZero = flushesSubnormals ? APFloat::getSmallestNormalized(semantics, forMax)
                                         : APFloat::getSmallest(semantics, forMax);
  Number limit = fromBits(select(isZero, bits.like(bitsOf(besideZero)), away), extreme);
  return select(isNaN(extreme), extreme.like(forMax ? HUGE_VAL : -HUGE_VAL), limit).get();
}

/// The lowest position at which a thread's registers `values` have the extreme value of their row,
/// or a number beyond all positions. `extremes` has the rows' registers.
static Value findExtreme(ArgReduceOp op, OpBuilder &b, Value values, Value extremes,
                         const LinearLayout &layout, ArrayRef<unsigned> axes,
                         const Positions &positions) {
  Location loc = op.getLoc();
  constexpr int64_t nowhere = int64_t(1) << 30;
  // The registers of each row, the farthest first.
  ArrayRef<Coord> bases = layout.getBases(InDim::Register);
  int64_t count = layout.getNumRegisters(),
          rows = cast<VectorType>(extremes.getType()).getNumElements();
  SmallVector<SmallVector<int64_t>> registers(rows);
  for (int64_t r = 0; r < count; ++r) {
    int64_t row = 0, place = 0;
    for (auto [bit, basis] : llvm::enumerate(bases))
      if (!isAlong(basis, axes))
        row |= (r >> bit & 1) << place++;
    registers[row].push_back(r);
  }
  for (SmallVector<int64_t> &row : registers)
    llvm::sort(row, [&](int64_t x, int64_t y) {
      return std::pair(positions.offset[y], y) < std::pair(positions.offset[x], x);
    });
  Type element = getElementTypeOrSelf(values.getType());
  bool isFloat = isa<FloatType>(element),
       byLimit = isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(element) &&
                 count / rows > limitCost,
       forMax = op.getKind() == ArgReduceKind::ArgMax;
  if (byLimit)
    extremes = makeLimit(b, loc, extremes, forMax, !element.isF64() && flushesSubnormals(op));
  // Of few elements at a time: LLVM would keep the bits of a long vector in a word.
  auto matches = [&](Value some) -> Value {
    if (byLimit)
      return arith::CmpFOp::create(
          b, loc, forMax ? arith::CmpFPredicate::UGT : arith::CmpFPredicate::ULT, some, extremes);
    if (!isFloat)
      return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, some, extremes);
    Value equal = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, some, extremes);
    Value nan = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, some, some);
    return arith::OrIOp::create(b, loc, equal, nan);
  };
  // Each nearer match replaces a farther one. Several chains side by side hide how long that takes.
  int64_t length = count / rows, chains = 1;
  while (rows * chains < leastChains && length / chains > 4)
    chains *= 2;
  auto type = VectorType::get(rows, b.getI32Type());
  auto constants = [&](llvm::function_ref<int64_t(int64_t)> get) {
    auto values = llvm::map_to_vector(llvm::seq(rows), [&](int64_t r) { return int32_t(get(r)); });
    return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, ArrayRef(values)));
  };
  Value found;
  for (int64_t chain = 0; chain < chains; ++chain) {
    Value lowest = constants([](int64_t) { return nowhere; });
    for (int64_t k = chain * length / chains; k < (chain + 1) * length / chains; ++k) {
      auto here = llvm::map_to_vector(registers, [&](ArrayRef<int64_t> row) { return row[k]; });
      Value place = constants([&](int64_t r) { return positions.offset[here[r]]; });
      lowest = arith::SelectOp::create(b, loc, matches(selectRegisters(b, loc, values, here)),
                                       place, lowest);
    }
    found = found ? Value(arith::MinSIOp::create(b, loc, found, lowest)) : lowest;
  }
  return arith::AddIOp::create(b, loc, found,
                               vector::BroadcastOp::create(b, loc, type, positions.base));
}

namespace {

struct LowerArgReduce : OpConversionPattern<ArgReduceOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ArgReduceOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    RankedTensorType source = op.getSource().getType();
    LinearLayout layout = getLayout(source);
    SmallVector<unsigned> axes = getReducedAxes(op.getAxis(), layout.getRank());
    auto state = reduce(op, rewriter, adaptor.getSource(), layout, axes);
    if (failed(state))
      return failure();
    Value position = (*state)[1];
    Type wanted = getTypeConverter()->convertType(op.getType());
    if (!isa<VectorType>(wanted)) {
      Value first = vector::ExtractOp::create(rewriter, loc, position, ArrayRef<int64_t>{0});
      rewriter.replaceOpWithNewOp<arith::IndexCastOp>(op, wanted, first);
      return success();
    }
    if (cast<VectorType>(position.getType()).getShape() != cast<VectorType>(wanted).getShape() ||
        !fitsResult(op, layout))
      return op.emitError("internal: a reduction leaves other registers than its result's layout");
    rewriter.replaceOpWithNewOp<arith::IndexCastOp>(op, wanted, position);
    return success();
  }

private:
  /// Extreme value and position of each row. A warp first agrees on the value, one operation for an
  /// element, then looks for it: pairs of both would take ten.
  static FailureOr<State> reduce(ArgReduceOp op, OpBuilder &b, Value values,
                                 const LinearLayout &layout, ArrayRef<unsigned> axes) {
    Location loc = op.getLoc();
    ArrayRef<int64_t> shape = op.getSource().getType().getShape();
    auto combine = [&](OpBuilder &b, const State &x, const State &y) -> State {
      return combinePositions(b, loc, op.getKind(), x, y);
    };
    std::optional<Positions> positions = getPositions(b, loc, shape, layout, axes);
    if (!positions)
      return reduceAxes(op, b, {values, makePositions(b, loc, shape, layout, axes)}, layout, axes,
                        combine);
    ReduceKind kind = op.getKind() == ArgReduceKind::ArgMax ? ReduceKind::Max : ReduceKind::Min;
    auto keepExtreme = [&](OpBuilder &b, const State &x, const State &y) -> State {
      return {tile::combine(b, loc, kind, x[0], y[0])};
    };
    State extreme = reduceRegisters(b, loc, {values}, layout, axes, keepExtreme, /*chained=*/false);
    extreme = reduceLanes(b, loc, extreme, layout, axes, keepExtreme);
    Value place = findExtreme(op, b, values, extreme[0], layout, axes, *positions);
    auto keepLowest = [&](OpBuilder &b, const State &x, const State &y) -> State {
      return {arith::MinSIOp::create(b, loc, x[0], y[0])};
    };
    State lowest = reduceLanes(b, loc, {place}, layout, axes, keepLowest);
    return reduceWarps(op, b, {extreme[0], lowest[0]}, layout, axes, combine);
  }

  /// The positions of all registers, a vector.
  static Value makePositions(OpBuilder &b, Location loc, ArrayRef<int64_t> shape,
                             const LinearLayout &layout, ArrayRef<unsigned> axes) {
    ThreadCoordinates thread(b, loc, layout);
    auto type = VectorType::get(layout.getNumRegisters(), b.getI32Type());
    Value positions;
    for (unsigned d : axes) {
      Value here = thread.getVector(b, loc, d);
      if (positions)
        positions = arith::MulIOp::create(
            b, loc, positions,
            vector::BroadcastOp::create(b, loc, type, constantI32(b, loc, shape[d])));
      positions = positions ? Value(arith::AddIOp::create(b, loc, positions, here)) : here;
    }
    return positions;
  }
};

} // namespace

void tile::gpu::populateArgReducePatterns(const TypeConverter &converter,
                                          RewritePatternSet &patterns) {
  patterns.add<LowerArgReduce>(converter, patterns.getContext());
}
