// The exchange between warps of what each has come to in a reduction.
#include "passes/Convert/TileGPUToLLVM/WarpExchange.h"
#include "dialect/TileGPU/SharedMemory.h"
#include "passes/Convert/TileGPUToLLVM/Patterns.h"
#include "passes/Convert/TileGPUToLLVM/ThreadCoordinates.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

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

WarpExchange::WarpExchange(Location loc, OpBuilder &b, State state, const LinearLayout &layout,
                           ArrayRef<unsigned> axes)
    : loc(loc), b(b), state(std::move(state)), layout(layout) {
  auto alongAxes = [&](const Coord &basis) { return isAlong(basis, axes); };
  auto holdsSame = [&](const Coord &basis) {
    return alongAxes(basis) || llvm::all_of(basis, [](int64_t at) { return at == 0; });
  };
  for (unsigned bit = 0; bit < layout.getNumBits(InDim::Warp); ++bit)
    (alongAxes(layout.getBases(InDim::Warp)[bit]) ? warpBits : otherBits).push_back(bit);
  for (unsigned bit = 0; bit < layout.getNumBits(InDim::Lane); ++bit)
    if (!holdsSame(layout.getBases(InDim::Lane)[bit]))
      laneBits.push_back(bit);
  registers = cast<VectorType>(this->state[0].getType()).getNumElements();
  parts = int64_t(1) << warpBits.size();
}

int64_t WarpExchange::place(int64_t start) {
  lane = getLane(b, loc);
  Value warp = getWarp(b, loc);
  laneNumber = gatherBits(b, loc, lane, laneBits);
  ownPart = gatherBits(b, loc, warp, warpBits);
  group = gatherBits(b, loc, warp, otherBits);
  for (Value v : state) {
    Type element = getSharedType(b, cast<VectorType>(v.getType()).getElementType());
    bases.push_back(getSharedPointer(b, loc, start));
    types.push_back(element);
    start += llvm::alignTo((registers << laneBits.size() << layout.getNumBits(InDim::Warp)) *
                               getSharedElementBytes(element),
                           16);
  }
  return start;
}

Value WarpExchange::getFirstPart(int64_t reg) {
  Value row = arith::AddIOp::create(
      b, loc, arith::MulIOp::create(b, loc, group, constantI32(b, loc, registers)),
      constantI32(b, loc, reg));
  row = arith::MulIOp::create(b, loc, row, constantI32(b, loc, int64_t(1) << laneBits.size()));
  return arith::MulIOp::create(b, loc, arith::AddIOp::create(b, loc, row, laneNumber),
                               constantI32(b, loc, parts));
}

Value WarpExchange::pointerTo(unsigned array, Value index) {
  return LLVM::GEPOp::create(b, loc, bases[array].getType(), types[array], bases[array],
                             ArrayRef<LLVM::GEPArg>{index});
}

void WarpExchange::leave() {
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
      Value place = pointerTo(i, arith::AddIOp::create(b, loc, getFirstPart(r), ownPart));
      LLVM::StoreOp::create(
          b, loc,
          toShared(b, loc, vector::ExtractOp::create(b, loc, state[i], ArrayRef<int64_t>{r})),
          place);
    }
  if (owner)
    b.setInsertionPointAfter(owner);
}

/// One vector of all registers for each part; combined as a tree, in the same order for every
/// thread, so that all hold the same bits.
State WarpExchange::take(Combine combine) {
  SmallVector<State> loaded(parts);
  for (unsigned i = 0; i < state.size(); ++i) {
    auto type = cast<VectorType>(state[i].getType());
    int64_t bytes = getSharedElementBytes(types[i]), width = std::min<int64_t>(parts, 16 / bytes);
    SmallVector<SmallVector<Value>> values(parts);
    for (int64_t r = 0; r < registers; ++r) {
      Value first = getFirstPart(r);
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
