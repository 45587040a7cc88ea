// Reductions: within a thread's registers, across lanes by shuffles, across warps through shared
// memory.
//
// Each bit of a layout that moves along the axis alone halves what is left, in this order:
//
//   register bits   x[r] and x[r ^ bit] of the same thread       no exchange
//   lane bits       own x and that of lane ^ bit                 one shuffle for each register
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

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

/// Exchanges the registers of a vector between lanes, through 32-bit words.
static Value shuffle(OpBuilder &b, Location loc, Value value, Value lanes, NVVM::ShflKind kind) {
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

/// The type of an element in shared memory.
static Type getSharedType(OpBuilder &b, Type element) {
  if (element.isIndex())
    return b.getI64Type();
  return element.isInteger(1) ? Type(b.getI8Type()) : element;
}
static Value toShared(OpBuilder &b, Location loc, Value x) {
  if (x.getType().isIndex())
    return arith::IndexCastOp::create(b, loc, b.getI64Type(), x);
  return x.getType().isInteger(1) ? Value(arith::ExtUIOp::create(b, loc, b.getI8Type(), x)) : x;
}
static Value fromShared(OpBuilder &b, Location loc, Value x, Type element) {
  if (element.isIndex())
    return arith::IndexCastOp::create(b, loc, element, x);
  return element.isInteger(1) ? Value(arith::TruncIOp::create(b, loc, element, x)) : x;
}

/// The bits `bits` of `index`, side by side.
static Value gatherBits(OpBuilder &b, Location loc, Value index, ArrayRef<unsigned> bits) {
  SmallVector<uint32_t> images;
  for (auto [to, from] : llvm::enumerate(bits)) {
    images.resize(from + 1, 0);
    images[from] = 1u << to;
  }
  return applyLinear(b, loc, index, images);
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
                             ArrayRef<unsigned> axes, Combine combine) {
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

/// Reduces across warps what each has come to. `offset`: scratch in shared memory; `failed` reports
/// that it is missing.
FailureOr<State> tile::gpu::reduceWarps(Operation *op, OpBuilder &b, State state,
                                        const LinearLayout &layout, ArrayRef<unsigned> axes,
                                        Combine combine) {
  Location loc = op->getLoc();
  auto alongAxes = [&](const Coord &basis) { return isAlong(basis, axes); };
  auto holdsSame = [&](const Coord &basis) {
    return alongAxes(basis) || llvm::all_of(basis, [](int64_t at) { return at == 0; });
  };
  SmallVector<unsigned> warpBits;
  for (unsigned bit = 0; bit < layout.getNumBits(InDim::Warp); ++bit)
    if (alongAxes(layout.getBases(InDim::Warp)[bit]))
      warpBits.push_back(bit);
  if (warpBits.empty())
    return state;

  // Each warp leaves what its lanes have come to; then all read the parts of the warps that differ
  // from theirs along the axes, which lie side by side: [other bits of the warp][register][lane
  // that differs from others][warp along the axes].
  auto offset = op->getAttrOfType<IntegerAttr>(sharedOffsetName);
  if (!offset) {
    op->emitError("internal: a reduction across warps has no shared memory");
    return failure();
  }
  SmallVector<unsigned> laneBits, otherBits;
  for (unsigned bit = 0; bit < layout.getNumBits(InDim::Lane); ++bit)
    if (!holdsSame(layout.getBases(InDim::Lane)[bit]))
      laneBits.push_back(bit);
  for (unsigned bit = 0; bit < layout.getNumBits(InDim::Warp); ++bit)
    if (!llvm::is_contained(warpBits, bit))
      otherBits.push_back(bit);
  Value lane = getLane(b, loc), warp = getWarp(b, loc);
  int64_t registers = cast<VectorType>(state[0].getType()).getNumElements(),
          parts = int64_t(1) << warpBits.size();
  Value laneNumber = gatherBits(b, loc, lane, laneBits);
  Value ownPart = gatherBits(b, loc, warp, warpBits), group = gatherBits(b, loc, warp, otherBits);
  /// The first part of register `reg`, counted in elements.
  auto firstPart = [&](int64_t reg) {
    Value row = arith::AddIOp::create(
        b, loc, arith::MulIOp::create(b, loc, group, constantI32(b, loc, registers)),
        constantI32(b, loc, reg));
    row = arith::MulIOp::create(b, loc, row, constantI32(b, loc, int64_t(1) << laneBits.size()));
    return Value(arith::MulIOp::create(b, loc, arith::AddIOp::create(b, loc, row, laneNumber),
                                       constantI32(b, loc, parts)));
  };
  SmallVector<Value> bases;
  SmallVector<Type> types;
  int64_t start = offset.getInt();
  for (Value v : state) {
    Type element = getSharedType(b, cast<VectorType>(v.getType()).getElementType());
    bases.push_back(getSharedPointer(b, loc, start));
    types.push_back(element);
    start += llvm::alignTo((registers << laneBits.size() << layout.getNumBits(InDim::Warp)) *
                               getSharedElementBytes(element),
                           16);
  }
  auto pointerTo = [&](unsigned i, Value index) {
    return LLVM::GEPOp::create(b, loc, bases[i].getType(), types[i], bases[i],
                               ArrayRef<LLVM::GEPArg>{index});
  };
  // Of lanes that stand for the same element one writes: what they hold may differ in the last bit,
  // where combining is not symmetric, and then it must not be up to chance whose is kept.
  unsigned sameLanes = 31;
  for (unsigned bit : laneBits)
    sameLanes &= ~(1u << bit);
  scf::IfOp owner;
  if (sameLanes) {
    Value others = arith::AndIOp::create(b, loc, lane, constantI32(b, loc, sameLanes));
    Value first =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, others, constantI32(b, loc, 0));
    owner = scf::IfOp::create(b, loc, first, /*withElseRegion=*/false);
    b.setInsertionPointToStart(owner.thenBlock());
  }
  for (unsigned i = 0; i < state.size(); ++i)
    for (int64_t r = 0; r < registers; ++r) {
      Value place = pointerTo(i, arith::AddIOp::create(b, loc, firstPart(r), ownPart));
      LLVM::StoreOp::create(
          b, loc,
          toShared(b, loc, vector::ExtractOp::create(b, loc, state[i], ArrayRef<int64_t>{r})),
          place);
    }
  if (owner)
    b.setInsertionPointAfter(owner);
  BarrierOp::create(b, loc);
  // One vector of all registers for each part; combined as a tree, in the same order for every
  // thread, so that all hold the same bits.
  SmallVector<State> loaded(parts);
  for (unsigned i = 0; i < state.size(); ++i) {
    auto type = cast<VectorType>(state[i].getType());
    int64_t bytes = getSharedElementBytes(types[i]), width = std::min<int64_t>(parts, 16 / bytes);
    SmallVector<SmallVector<Value>> values(parts);
    for (int64_t r = 0; r < registers; ++r) {
      Value first = firstPart(r);
      for (int64_t p = 0; p < parts; p += width) {
        Value place = pointerTo(i, arith::AddIOp::create(b, loc, first, constantI32(b, loc, p)));
        Value piece =
            LLVM::LoadOp::create(b, loc, VectorType::get(width, types[i]), place, width * bytes);
        for (int64_t w = 0; w < width; ++w)
          values[p + w].push_back(
              fromShared(b, loc, vector::ExtractOp::create(b, loc, piece, ArrayRef<int64_t>{w}),
                         type.getElementType()));
      }
    }
    for (int64_t p = 0; p < parts; ++p)
      loaded[p].push_back(vector::FromElementsOp::create(b, loc, type, values[p]));
  }
  for (int64_t half = parts / 2; half; half /= 2)
    for (int64_t p = 0; p < half; ++p)
      loaded[p] = combine(b, loaded[p], loaded[p + half]);
  return loaded[0];
}

/// Reduces `state`, held in `layout`, along `axes`. On return every thread holds the result, in the
/// layout with these axes dropped.
FailureOr<State> tile::gpu::reduceAxes(Operation *op, OpBuilder &b, State state,
                                       const LinearLayout &layout, ArrayRef<unsigned> axes,
                                       Combine combine, bool chained) {
  Location loc = op->getLoc();
  state = reduceRegisters(b, loc, state, layout, axes, combine, chained);
  state = reduceLanes(b, loc, state, layout, axes, combine);
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

struct LowerReduce : OpConversionPattern<ReduceOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ReduceOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    LinearLayout layout = getLayout(op.getSource().getType());
    // A product summed up may fuse with the first sum it is in, where the program permits it or
    // where that changes nothing.
    auto mode =
        op->getParentOfType<FunctionOpInterface>()->getAttrOfType<StringAttr>(floatModeName);
    bool fuses = (mode && mode.getValue() != "strict") || op->hasAttr(exactProductsName);
    auto flags = fuses ? arith::FastMathFlags::contract : arith::FastMathFlags::none;
    auto combine = [&](OpBuilder &b, const State &x, const State &y) -> State {
      return {tile::combine(b, op.getLoc(), op.getKind(), x[0], y[0], flags)};
    };
    bool chained = op.getKind() == ReduceKind::Sum && flags == arith::FastMathFlags::contract;
    auto state = reduceAxes(op, rewriter, {adaptor.getSource()}, layout,
                            getReducedAxes(op.getAxis(), layout.getRank()), combine, chained);
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

} // namespace

void tile::gpu::populateReducePatterns(const TypeConverter &converter,
                                       RewritePatternSet &patterns) {
  patterns.add<LowerReduce>(converter, patterns.getContext());
  populateArgReducePatterns(converter, patterns);
}
