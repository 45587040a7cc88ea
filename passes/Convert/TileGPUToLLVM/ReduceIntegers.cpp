// Integers that the lanes of a warp reduce by one instruction for 32 bits.
#include "passes/Convert/TileGPUToLLVM/Reduce.h"
#include "passes/Convert/TileGPUToLLVM/ThreadCoordinates.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

static std::optional<NVVM::ReduxKind> getRedux(ReduceKind kind) {
  switch (kind) {
  case ReduceKind::Sum:
    return NVVM::ReduxKind::ADD;
  case ReduceKind::Max:
    return NVVM::ReduxKind::MAX;
  case ReduceKind::Min:
    return NVVM::ReduxKind::MIN;
  case ReduceKind::And:
    return NVVM::ReduxKind::AND;
  case ReduceKind::Or:
    return NVVM::ReduxKind::OR;
  case ReduceKind::MaxUnsigned:
    return NVVM::ReduxKind::UMAX;
  case ReduceKind::MinUnsigned:
    return NVVM::ReduxKind::UMIN;
  case ReduceKind::Prod:
    return std::nullopt;
  }
  llvm_unreachable("every kind of reduction has been asked for");
}

/// An integer of up to 64 bits over all 32 lanes, by one vote or one redux for each 32 bits; none
/// for kinds that these do not know.
static Value reduceWarpInteger(OpBuilder &b, Location loc, Value x, ReduceKind kind) {
  std::optional<NVVM::ReduxKind> redux = getRedux(kind);
  unsigned bits = x.getType().isIndex() ? 64 : x.getType().getIntOrFloatBitWidth();
  Value all = constantI32(b, loc, -1);
  auto reduce = [&](Value word, NVVM::ReduxKind how) -> Value {
    return NVVM::ReduxOp::create(b, loc, b.getI32Type(), word, how, all);
  };
  if (!redux || (bits == 64 && kind == ReduceKind::Sum))
    return {};
  if (bits == 1) {
    if (kind != ReduceKind::And && kind != ReduceKind::Or)
      return {};
    auto vote = kind == ReduceKind::And ? NVVM::VoteSyncKind::all : NVVM::VoteSyncKind::any;
    return NVVM::VoteSyncOp::create(b, loc, b.getI1Type(), all, x, vote);
  }
  if (bits < 32) {
    bool isUnsigned = kind == ReduceKind::MaxUnsigned || kind == ReduceKind::MinUnsigned;
    Value word = isUnsigned ? Value(arith::ExtUIOp::create(b, loc, b.getI32Type(), x))
                            : arith::ExtSIOp::create(b, loc, b.getI32Type(), x);
    return arith::TruncIOp::create(b, loc, x.getType(), reduce(word, *redux));
  }
  if (bits == 32)
    return reduce(x, *redux);

  // The high words first; then the low ones of the lanes that hold the extreme high word.
  Type type = x.getType(), wide = b.getI64Type();
  if (type.isIndex())
    x = arith::IndexCastOp::create(b, loc, wide, x);
  Value shift = arith::ConstantIntOp::create(b, loc, 32, 64);
  Value low = arith::TruncIOp::create(b, loc, b.getI32Type(), x);
  Value high =
      arith::TruncIOp::create(b, loc, b.getI32Type(), arith::ShRUIOp::create(b, loc, x, shift));
  Value top = reduce(high, *redux);
  if (kind == ReduceKind::And || kind == ReduceKind::Or) {
    low = reduce(low, *redux);
  } else {
    bool isMax = kind == ReduceKind::Max || kind == ReduceKind::MaxUnsigned;
    Value isTop = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, high, top);
    low = arith::SelectOp::create(b, loc, isTop, low, constantI32(b, loc, isMax ? 0 : -1));
    low = reduce(low, isMax ? NVVM::ReduxKind::UMAX : NVVM::ReduxKind::UMIN);
  }
  top = arith::ShLIOp::create(b, loc, arith::ExtUIOp::create(b, loc, wide, top), shift);
  x = arith::OrIOp::create(b, loc, arith::ExtUIOp::create(b, loc, wide, low), top);
  return type.isIndex() ? Value(arith::IndexCastOp::create(b, loc, type, x)) : x;
}

/// The same for each register; none where lanes hold different elements of the result, or copies of
/// an element that would count twice.
Value tile::gpu::reduceWarpIntegers(OpBuilder &b, Location loc, Value value,
                                    const LinearLayout &layout, ArrayRef<unsigned> axes,
                                    ReduceKind kind) {
  auto type = cast<VectorType>(value.getType());
  if (isa<FloatType>(type.getElementType()))
    return {};
  for (const Coord &basis : layout.getBases(InDim::Lane)) {
    bool isCopy = llvm::all_of(basis, [](int64_t x) { return x == 0; });
    if (!isAlong(basis, axes) && !(isCopy && kind != ReduceKind::Sum))
      return {};
  }
  SmallVector<Value> results;
  for (int64_t r = 0; r < type.getNumElements(); ++r) {
    Value x = vector::ExtractOp::create(b, loc, value, ArrayRef<int64_t>{r});
    x = reduceWarpInteger(b, loc, x, kind);
    if (!x)
      return {};
    results.push_back(x);
  }
  return vector::FromElementsOp::create(b, loc, type, results);
}
