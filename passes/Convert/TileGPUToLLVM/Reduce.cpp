// Reductions: within a thread's registers, across lanes by shuffles, across warps through shared
// memory.
//
// Each bit of a layout that moves along the axis alone halves what is left, in this order:
//
//   register bits   x[r] and x[r ^ bit] of the same thread       no exchange
//   lane bits       own x and that of lane ^ bit                 one shuffle for each register;
//                   integers of all 32 lanes                     one redux or vote
//   warp bits       all at once: every warp leaves its values,   one barrier
//                   a barrier, and reads those of the others
//
// All threads combine the same pairs, so every one of them ends with the same bits, and the result
// needs no broadcast. A layout in which threads hold copies of an element (a zero basis)
// stays right: copies are never combined with each other.
#include "passes/Convert/TileGPUToLLVM/Reduce.h"
#include "dialect/AttributeNames.h"
#include "dialect/TileGPU/SharedMemory.h"
#include "passes/Convert/Reduction.h"
#include "passes/Convert/TileGPUToLLVM/Patterns.h"
#include "passes/Convert/TileGPUToLLVM/ThreadCoordinates.h"
#include "passes/Convert/TileGPUToLLVM/WarpExchange.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

/// Exchanges the registers of a vector between lanes, through 32-bit words.
static Value shuffle(OpBuilder &b, Location loc, Value value, Value lanes, NVVM::ShflKind kind) {
  if (matchPattern(value, m_Constant())) // the same in every lane
    return value;
  auto type = cast<VectorType>(value.getType());
  Type element = type.getElementType();
  SmallVector<Value> results;
  Value all = constantI32(b, loc, -1), clamp = constantI32(b, loc, 31);
  auto shuffleWord = [&](Value word) -> Value {
    return NVVM::ShflOp::create(b, loc, word.getType(), all, word, lanes, clamp, kind, UnitAttr());
  };
  for (int64_t r = 0; r < type.getNumElements(); ++r) {
    Value x = vector::ExtractOp::create(b, loc, value, ArrayRef<int64_t>{r});
    unsigned bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
    Type integer = b.getIntegerType(bits);
    if (element.isIndex())
      x = arith::IndexCastOp::create(b, loc, integer, x);
    else if (isa<FloatType>(element))
      x = arith::BitcastOp::create(b, loc, integer, x);
    if (bits < 32) {
      x = arith::ExtUIOp::create(b, loc, b.getI32Type(), x);
      x = arith::TruncIOp::create(b, loc, integer, shuffleWord(x));
    } else if (bits == 32) {
      x = shuffleWord(x);
    } else {
      Value low = shuffleWord(arith::TruncIOp::create(b, loc, b.getI32Type(), x));
      Value shift = arith::ConstantIntOp::create(b, loc, 32, 64);
      Value high = shuffleWord(arith::TruncIOp::create(b, loc, b.getI32Type(),
                                                       arith::ShRUIOp::create(b, loc, x, shift)));
      high = arith::ShLIOp::create(b, loc, arith::ExtUIOp::create(b, loc, integer, high), shift);
      x = arith::OrIOp::create(b, loc, arith::ExtUIOp::create(b, loc, integer, low), high);
    }
    if (element.isIndex())
      x = arith::IndexCastOp::create(b, loc, element, x);
    else if (isa<FloatType>(element))
      x = arith::BitcastOp::create(b, loc, element, x);
    results.push_back(x);
  }
  return vector::FromElementsOp::create(b, loc, type, results);
}

Value tile::gpu::shuffleLanes(OpBuilder &b, Location loc, Value value, unsigned distance) {
  return shuffle(b, loc, value, constantI32(b, loc, distance), NVVM::ShflKind::bfly);
}

Value tile::gpu::readLane(OpBuilder &b, Location loc, Value value, Value lane) {
  return shuffle(b, loc, value, lane, NVVM::ShflKind::idx);
}

/// True for a basis that moves along `axes` alone.
bool tile::gpu::isAlong(const Coord &basis, ArrayRef<unsigned> axes) {
  bool any = false, others = false;
  for (unsigned d = 0; d < basis.size(); ++d)
    if (basis[d])
      (llvm::is_contained(axes, d) ? any : others) = true;
  return any && !others;
}

/// The axes that a reduction covers.
SmallVector<unsigned> tile::gpu::getReducedAxes(std::optional<int64_t> axis, unsigned rank) {
  if (axis)
    return {unsigned(*axis)};
  return llvm::to_vector(llvm::seq(0u, rank));
}

/// Combines the registers of `state` along axes, given by their bits, slice by slice until
/// `leastChains` are left: where each element is a product, it fuses with the sum so far, which
/// halves would do for every other one. Returns the bit where the rest begins, and sets `state`.
static unsigned combineSlices(OpBuilder &b, Location loc, State &state, ArrayRef<bool> alongAxes,
                              Combine combine) {
  SmallVector<unsigned> cut;
  unsigned bit = alongAxes.size(), width = 1u << bit;
  while (bit > 0 && (width >> cut.size()) > leastChains)
    if (alongAxes[--bit])
      cut.push_back(bit);
  SmallVector<SmallVector<int64_t>> slices(size_t(1) << cut.size());
  for (unsigned r = 0; r < width; ++r) {
    unsigned slice = 0;
    for (unsigned at : cut)
      slice = slice << 1 | (r >> at & 1);
    slices[slice].push_back(r);
  }
  State sum;
  for (ArrayRef<int64_t> slice : slices) {
    State next;
    for (Value v : state)
      next.push_back(selectRegisters(b, loc, v, slice));
    sum = sum.empty() ? next : combine(b, sum, next);
  }
  state = sum;
  return bit;
}

/// Reduces within each thread; `chained`: as sums of products want it.
State tile::gpu::reduceRegisters(OpBuilder &b, Location loc, State state,
                                 const LinearLayout &layout, ArrayRef<unsigned> axes,
                                 Combine combine, bool chained) {
  // One bit at a time, from the highest, so that halves are combined.
  SmallVector<bool> registerBits = llvm::map_to_vector(
      layout.getBases(InDim::Register), [&](const Coord &basis) { return isAlong(basis, axes); });
  unsigned bit =
      chained ? combineSlices(b, loc, state, registerBits, combine) : registerBits.size();
  for (unsigned width = cast<VectorType>(state[0].getType()).getNumElements(); bit-- > 0;) {
    if (!registerBits[bit])
      continue;
    SmallVector<int64_t> low, high;
    for (unsigned r = 0; r < width; ++r)
      ((r >> bit) & 1 ? high : low).push_back(r);
    State a, c;
    for (Value v : state) {
      a.push_back(selectRegisters(b, loc, v, low));
      c.push_back(selectRegisters(b, loc, v, high));
    }
    state = combine(b, a, c);
    width /= 2;
  }
  return state;
}

/// Reduces across the lanes of each warp.
State tile::gpu::reduceLanes(OpBuilder &b, Location loc, State state, const LinearLayout &layout,
                             ArrayRef<unsigned> axes, Combine combine,
                             std::optional<ReduceKind> kind) {
  if (kind)
    if (Value result = reduceWarpIntegers(b, loc, state[0], layout, axes, *kind))
      return {result};
  for (unsigned bit = 0; bit < layout.getNumBits(InDim::Lane); ++bit) {
    if (!isAlong(layout.getBases(InDim::Lane)[bit], axes))
      continue;
    State other;
    for (Value v : state)
      other.push_back(shuffleLanes(b, loc, v, 1u << bit));
    state = combine(b, state, other);
  }
  return state;
}

/// Reduces across warps what each has come to.
FailureOr<State> tile::gpu::reduceWarps(Operation *op, OpBuilder &b, State state,
                                        const LinearLayout &layout, ArrayRef<unsigned> axes,
                                        Combine combine) {
  WarpExchange exchange(op->getLoc(), b, state, layout, axes);
  if (!exchange.isNeeded())
    return state;
  auto offset = op->getAttrOfType<IntegerAttr>(sharedOffsetName);
  if (!offset) {
    op->emitError("internal: a reduction across warps has no shared memory");
    return failure();
  }
  exchange.place(offset.getInt());
  exchange.leave();
  BarrierOp::create(b, op->getLoc());
  return exchange.take(combine);
}

/// Reduces `state`, held in `layout`, along `axes`. On return every thread holds the result, in the
/// layout with these axes dropped.
FailureOr<State> tile::gpu::reduceAxes(Operation *op, OpBuilder &b, State state,
                                       const LinearLayout &layout, ArrayRef<unsigned> axes,
                                       Combine combine, bool chained,
                                       std::optional<ReduceKind> kind) {
  Location loc = op->getLoc();
  state = reduceRegisters(b, loc, state, layout, axes, combine, chained);
  state = reduceLanes(b, loc, state, layout, axes, combine, kind);
  return reduceWarps(op, b, state, layout, axes, combine);
}

/// A result with only the first of registers that repeat each other, as dropDim has it; a scalar
/// from register 0.
static Value finish(OpBuilder &b, Location loc, Value value, Type wanted) {
  auto type = dyn_cast<VectorType>(wanted);
  if (!type)
    return vector::ExtractOp::create(b, loc, value, ArrayRef<int64_t>{0});
  return value.getType() == wanted ? value : Value();
}

namespace {

/// A product summed up may fuse with the first sum it is in, where the program permits it or where
/// that changes nothing.
arith::FastMathFlags getSumFlags(Operation *op) {
  auto mode = op->getParentOfType<FunctionOpInterface>()->getAttrOfType<StringAttr>(floatModeName);
  bool fuses = (mode && mode.getValue() != "strict") || op->hasAttr(exactProductsName);
  return fuses ? arith::FastMathFlags::contract : arith::FastMathFlags::none;
}

struct LowerReduce : OpConversionPattern<ReduceOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ReduceOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    LinearLayout layout = getLayout(op.getSource().getType());
    auto flags = getSumFlags(op);
    auto combine = [&](OpBuilder &b, const State &x, const State &y) -> State {
      return {tile::combine(b, op.getLoc(), op.getKind(), x[0], y[0], flags)};
    };
    bool chained = op.getKind() == ReduceKind::Sum && flags == arith::FastMathFlags::contract;
    auto state =
        reduceAxes(op, rewriter, {adaptor.getSource()}, layout,
                   getReducedAxes(op.getAxis(), layout.getRank()), combine, chained, op.getKind());
    if (failed(state))
      return failure();
    Value result =
        finish(rewriter, op.getLoc(), (*state)[0], getTypeConverter()->convertType(op.getType()));
    if (!result || !fitsResult(op, layout))
      return op.emitError("internal: a reduction leaves other registers than its result's layout");
    rewriter.replaceOp(op, result);
    return success();
  }
};

struct LowerWarpReduce : OpConversionPattern<WarpReduceOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(WarpReduceOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    LinearLayout layout = getLayout(op.getSource().getType());
    auto flags = getSumFlags(op);
    auto combine = [&](OpBuilder &b, const State &x, const State &y) -> State {
      return {tile::combine(b, loc, op.getKind(), x[0], y[0], flags)};
    };
    bool chained = op.getKind() == ReduceKind::Sum && flags == arith::FastMathFlags::contract;
    SmallVector<unsigned> axes = getReducedAxes(op.getAxis(), layout.getRank());
    State state =
        reduceRegisters(rewriter, loc, {adaptor.getSource()}, layout, axes, combine, chained);
    state = reduceLanes(rewriter, loc, state, layout, axes, combine, op.getKind());
    if (state[0].getType() != getTypeConverter()->convertType(op.getType()))
      return op.emitError("internal: a reduction leaves other registers than its result's layout");
    rewriter.replaceOp(op, state[0]);
    return success();
  }
};

struct LowerJoinWarps : OpConversionPattern<JoinWarpsOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(JoinWarpsOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto flags = getSumFlags(op);
    SmallVector<LinearLayout> layouts;
    for (Value part : op.getParts())
      layouts.push_back(getLayout(cast<RankedTensorType>(part.getType())));
    SmallVector<WarpExchange, 2> exchanges;
    for (auto [part, layout, axis] : llvm::zip(adaptor.getParts(), layouts, op.getAxes()))
      exchanges.emplace_back(loc, rewriter, State{part}, layout, unsigned(axis));
    auto offset = op->getAttrOfType<IntegerAttr>(sharedOffsetName);
    if (!offset || !llvm::all_of(exchanges, [](WarpExchange &each) { return each.isNeeded(); }))
      return op.emitError("internal: a reduction across warps has no shared memory");
    int64_t start = offset.getInt();
    for (WarpExchange &each : exchanges)
      start = each.place(start);
    for (WarpExchange &each : exchanges)
      each.leave();
    BarrierOp::create(rewriter, loc);
    SmallVector<Value> results;
    for (auto [i, each] : llvm::enumerate(exchanges)) {
      auto kind = *symbolizeReduceKind(op.getKinds()[i]);
      State state = each.take([&](OpBuilder &b, const State &x, const State &y) -> State {
        return {tile::combine(b, loc, kind, x[0], y[0], flags)};
      });
      results.push_back(finish(rewriter, loc, state[0],
                               getTypeConverter()->convertType(op.getResult(i).getType())));
      if (!results.back())
        return op.emitError(
            "internal: a reduction leaves other registers than its result's layout");
    }
    rewriter.replaceOp(op, results);
    return success();
  }
};

} // namespace

void tile::gpu::populateReducePatterns(const TypeConverter &converter,
                                       RewritePatternSet &patterns) {
  patterns.add<LowerReduce, LowerWarpReduce, LowerJoinWarps>(converter, patterns.getContext());
  populateArgReducePatterns(converter, patterns);
}
