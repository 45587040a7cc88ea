// convert-tile-to-linalg, accesses element by element: gather, scatter and atomics as loops over
// the elements that exist, at their place in program order.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Convert/Reduction.h"
#include "passes/Convert/TileToLinalg.h"

using namespace mlir;
using namespace tile;
using arith::CmpIPredicate;

/// One element of a tile, read behind broadcasts and reshapes that add or drop dimensions of extent
/// 1: the large tiles that these make of positions are then never built.
Value TileEmission::extract(Location loc, Value tile, ArrayRef<Value> position) {
  // Aligned at the right, as broadcasting is: leading positions have no counterpart in the source.
  if (Value source = broadcasts.lookup(tile)) {
    auto shape = cast<RankedTensorType>(source.getType()).getShape();
    SmallVector<Value> at(position.take_back(shape.size()));
    for (auto [lane, extent] : llvm::zip(at, shape))
      if (extent == 1)
        lane = index(loc, 0);
    return extract(loc, source, at);
  }
  if (Value source = reshapes.lookup(tile)) {
    auto from = cast<RankedTensorType>(source.getType()).getShape(),
         to = cast<RankedTensorType>(tile.getType()).getShape();
    auto isLong = [](int64_t extent) { return extent != 1; };
    // The long extents agree in number and order, so that each position of the result goes to one
    // of the source, and extents of 1 are read at 0.
    if (llvm::equal(llvm::make_filter_range(from, isLong), llvm::make_filter_range(to, isLong))) {
      SmallVector<Value> at;
      size_t next = 0;
      for (int64_t extent : from) {
        while (isLong(extent) && !isLong(to[next]))
          ++next;
        at.push_back(isLong(extent) ? position[next++] : index(loc, 0));
      }
      return extract(loc, source, at);
    }
  }
  // Positions of i32 are widened as tiles: element by element the cast comes after the read, and
  // the wide tile has no use left.
  if (auto cast = tile.getDefiningOp<arith::IndexCastOp>())
    return arith::IndexCastOp::create(b, loc, getElementTypeOrSelf(tile.getType()),
                                      extract(loc, cast.getIn(), position));
  return tensor::ExtractOp::create(b, loc, tile, position);
}

/// Emits loops over the elements of an access; `body` is emitted for one that exists, given its
/// place and its position in the tile.
/// On return `b` stands where it stood: loops are left by the guard. Inside the body the element's
/// address is one number, `element.offset`, and rank 0.
template <typename AccessOp>
LogicalResult
AccessLowering::forEachElement(AccessOp op,
                               function_ref<void(const LoweredAccess &, ArrayRef<Value>)> body) {
  Location loc = op.getLoc();
  FailureOr<LoweredAccess> access = lowerAccess(op);
  if (failed(access))
    return failure();
  const LoweredView view = views.find(op.getView())->second;
  OpBuilder::InsertionGuard guard(b);
  Value zero = index(loc, 0), one = index(loc, 1), exists = access->inside;
  auto both = [&](Value x, Value y) {
    return x && y ? Value(arith::AndIOp::create(b, loc, x, y)) : x ? x : y;
  };

  // Neither count nor stride: a single element, as memrefOf takes it.
  LoweredAccess element;
  element.base = access->base;
  element.offset = access->offset;
  auto move = [&](Value count, Value stride) {
    Value distance = arith::MulIOp::create(b, loc, count, stride);
    element.offset = arith::AddIOp::create(b, loc, element.offset, distance);
  };
  SmallVector<Value> lanes;
  SmallVector<int64_t> shape = op.getTileShape(), dims = op.getTileDims();
  unsigned range = 0;
  // All loops are opened before positions are read, since a position may depend on every lane.
  for (auto [dim, extent] : llvm::enumerate(shape)) {
    bool isRange = llvm::is_contained(dims, int64_t(dim));
    auto loop =
        scf::ForOp::create(b, loc, zero, isRange ? access->count[range] : index(loc, extent), one);
    b.setInsertionPointToStart(loop.getBody());
    Value lane = loop.getInductionVar();
    if (isRange) {
      move(lane, access->stride[range]);
      lane = arith::AddIOp::create(b, loc, access->low[range++], lane);
    }
    lanes.push_back(lane);
  }
  unsigned next = 0;
  for (unsigned d = 0; d < dims.size(); ++d)
    if (op.isIndexed(d)) {
      Value position = extract(loc, op.getPositions()[next++], lanes);
      // Unsigned: what is negative is beyond every extent.
      exists = both(exists,
                    arith::CmpIOp::create(b, loc, CmpIPredicate::ult, position, view.extents[d]));
      move(position, view.strides[d]);
    }
  // The mask is asked last, but without a branch of its own: reading a mask's element has no
  // effect.
  if (Value mask = op.getMask())
    exists = both(exists, lanes.empty() ? mask : extract(loc, mask, lanes));
  if (exists)
    b.setInsertionPointToStart(
        scf::IfOp::create(b, loc, exists, /*withElseRegion=*/false).thenBlock());
  body(element, lanes);
  return success();
}

/// Scratch for a tile, full of `value`.
/// Elements that do not exist keep the padding: the loops above write only those that do.
static Value makeScratch(OpBuilder &b, Location loc, RankedTensorType type, Value value) {
  Value scratch =
      memref::AllocOp::create(b, loc, MemRefType::get(type.getShape(), type.getElementType()));
  linalg::FillOp::create(b, loc, value, scratch);
  return scratch;
}

LogicalResult AccessLowering::lowerGather(GatherOp op) {
  Location loc = op.getLoc();
  RankedTensorType type = op.getType();
  Value scratch = makeScratch(b, loc, type, op.getPad());
  if (failed(forEachElement(op, [&](const LoweredAccess &element, ArrayRef<Value> lanes) {
        Value read = type.getElementType().isInteger(4)
                         ? readNibble(loc, element.base, element.offset)
                         : Value(memref::LoadOp::create(b, loc, memrefOf(loc, element)));
        memref::StoreOp::create(b, loc, read, scratch, lanes);
      })))
    return failure();
  op.getResult().replaceAllUsesWith(bufferization::ToTensorOp::create(
      b, loc, type, scratch, /*restrict=*/true, /*writable=*/true));
  return success();
}

/// In row-major order. Where two elements name one place the later one stays, which the language
/// leaves open and no program may rely on.
LogicalResult AccessLowering::lowerScatter(ScatterOp op) {
  Location loc = op.getLoc();
  return forEachElement(op, [&](const LoweredAccess &element, ArrayRef<Value> lanes) {
    memref::StoreOp::create(b, loc, extract(loc, op.getValue(), lanes), memrefOf(loc, element),
                            ValueRange());
  });
}

/// Stores' and loads' orders: monotonic is C's relaxed.
static LLVM::AtomicOrdering getOrdering(MemoryOrder order) {
  switch (order) {
  case MemoryOrder::Acquire:
    return LLVM::AtomicOrdering::acquire;
  case MemoryOrder::Release:
    return LLVM::AtomicOrdering::release;
  case MemoryOrder::AcqRel:
    return LLVM::AtomicOrdering::acq_rel;
  case MemoryOrder::Relaxed:
    break;
  }
  return LLVM::AtomicOrdering::monotonic;
}

/// The instruction for integers.
static LLVM::AtomicBinOp getBinOp(AtomicKind kind) {
  switch (kind) {
  case AtomicKind::Add:
    return LLVM::AtomicBinOp::add;
  case AtomicKind::Max:
    return LLVM::AtomicBinOp::max;
  case AtomicKind::Min:
    return LLVM::AtomicBinOp::min;
  case AtomicKind::MaxUnsigned:
    return LLVM::AtomicBinOp::umax;
  case AtomicKind::MinUnsigned:
    return LLVM::AtomicBinOp::umin;
  case AtomicKind::And:
    return LLVM::AtomicBinOp::_and;
  case AtomicKind::Or:
    return LLVM::AtomicBinOp::_or;
  case AtomicKind::Xor:
    return LLVM::AtomicBinOp::_xor;
  case AtomicKind::Exchange:
  case AtomicKind::CompareExchange:
    break;
  }
  return LLVM::AtomicBinOp::xchg;
}

/// Changes what is at `address`; returns what was there.
/// `expected` is set for compare-and-exchange alone. Memory orders are those of the operation; a
/// failed exchange stores nothing, hence only acquires.
Value AccessLowering::updateAtomically(AtomicOp op, Value address, Value value, Value expected) {
  Location loc = op.getLoc();
  LLVM::AtomicOrdering order = getOrdering(op.getOrder());
  LLVM::AtomicOrdering failure =
      op.isAcquire() ? LLVM::AtomicOrdering::acquire : LLVM::AtomicOrdering::monotonic;
  auto compareExchange = [&](Value expected, Value value) -> Value {
    return LLVM::AtomicCmpXchgOp::create(b, loc, address, expected, value, order, failure);
  };
  if (expected)
    return LLVM::ExtractValueOp::create(b, loc, compareExchange(expected, value),
                                        ArrayRef<int64_t>{0});
  auto type = dyn_cast<FloatType>(value.getType());
  if (!type)
    return LLVM::AtomicRMWOp::create(b, loc, getBinOp(op.getKind()), address, value, order);

  // Floats by comparing their bits, so that the arithmetic is that of every other operation.
  ReduceKind kind = op.getKind() == AtomicKind::Add   ? ReduceKind::Sum
                    : op.getKind() == AtomicKind::Max ? ReduceKind::Max
                                                      : ReduceKind::Min;
  // Bits are compared, not numbers: -0.0 equals 0.0 and NaN equals nothing, with which the loop
  // could end too early or never.
  Type bits = b.getIntegerType(type.getWidth());
  Value first = LLVM::LoadOp::create(b, loc, bits, address, /*alignment=*/type.getWidth() / 8,
                                     /*isVolatile=*/false,
                                     /*isNonTemporal=*/false, /*isInvariant=*/false,
                                     /*isInvariantGroup=*/false, LLVM::AtomicOrdering::monotonic);
  auto loop = scf::WhileOp::create(b, loc, TypeRange{bits}, ValueRange{first});
  OpBuilder::InsertionGuard guard(b);
  // `before` computes the new value and tries it; the found value goes round until nobody came
  // between.
  Block *before = b.createBlock(&loop.getBefore(), {}, {bits}, {loc});
  Value seen = before->getArgument(0);
  Value changed = combine(b, loc, kind, arith::BitcastOp::create(b, loc, type, seen), value);
  Value pair = compareExchange(seen, arith::BitcastOp::create(b, loc, bits, changed));
  Value found = LLVM::ExtractValueOp::create(b, loc, pair, ArrayRef<int64_t>{0});
  Value done = LLVM::ExtractValueOp::create(b, loc, pair, ArrayRef<int64_t>{1});
  Value again = arith::XOrIOp::create(b, loc, done, arith::ConstantIntOp::create(b, loc, 1, 1));
  scf::ConditionOp::create(b, loc, again, found);
  Block *after = b.createBlock(&loop.getAfter(), {}, {bits}, {loc});
  scf::YieldOp::create(b, loc, after->getArguments());
  b.setInsertionPointAfter(loop);
  return arith::BitcastOp::create(b, loc, type, loop.getResult(0));
}

LogicalResult AccessLowering::lowerAtomic(AtomicOp op) {
  Location loc = op.getLoc();
  auto tile = dyn_cast<RankedTensorType>(op.getType());
  Type element = getElementTypeOrSelf(op.getType());
  // A scalar's old value goes by way of scratch too, since it may not exist.
  auto type = tile ? tile : RankedTensorType::get({}, element);
  Value scratch;
  // Elements that do not exist give 0, as the language says of atomics.
  if (!op.getResult().use_empty())
    scratch = makeScratch(b, loc, type, arith::ConstantOp::create(b, loc, b.getZeroAttr(element)));
  if (failed(forEachElement(op, [&](const LoweredAccess &place, ArrayRef<Value> lanes) {
        auto read = [&](Value value) {
          return !value || !tile ? value : extract(loc, value, lanes);
        };
        Value value = read(op.getValue()), expected = read(op.getExpected());
        Value offset = arith::IndexCastOp::create(b, loc, b.getI64Type(), place.offset);
        Value pointer = pointers.lookup(place.base);
        Value address = LLVM::GEPOp::create(b, loc, pointer.getType(), element, pointer,
                                            ArrayRef<LLVM::GEPArg>{offset});
        Value old = updateAtomically(op, address, value, expected);
        if (scratch)
          memref::StoreOp::create(b, loc, old, scratch, lanes);
      })))
    return failure();
  if (!scratch)
    return success();
  Value result = tile ? Value(bufferization::ToTensorOp::create(
                            b, loc, type, scratch, /*restrict=*/true, /*writable=*/true))
                      : Value(memref::LoadOp::create(b, loc, scratch));
  op.getResult().replaceAllUsesWith(result);
  return success();
}
