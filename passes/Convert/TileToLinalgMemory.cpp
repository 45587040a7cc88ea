// convert-tile-to-linalg, views and accesses: a load copies what exists into scratch at its place
// in program order, a store copies what exists out of it. No element that does not exist is ever
// addressed.
//
//   lanes of the tile     0 ... low | low ... high | high ... size      start + lane * step
//   load                  padding   | copied       | padding
//   store                 dropped   | copied       | dropped
//
// [low, high) are the lanes whose position is at least 0 and below the extent and the access's end.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "passes/Convert/LanesBelow.h"
#include "passes/Convert/TileToLinalg.h"

using namespace mlir;
using namespace tile;
using arith::CmpIPredicate;

static Value andOf(OpBuilder &b, Location loc, Value x, Value y) {
  if (!x || !y)
    return x ? x : y;
  return b.createOrFold<arith::AndIOp>(loc, x, y);
}

Value TileEmission::index(Location loc, int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}

/// Extents that the type knows are constants from here on, so that bounds which depend on them
/// fold.
void AccessLowering::lowerView(ViewOp op) {
  LoweredView view{bases.lookup(op.getBase()),     index(op.getLoc(), 0), {}, {}, {},
                   readOnly.contains(op.getBase())};
  auto type = cast<ViewType>(op.getResult().getType());
  for (auto [extent, size] : llvm::zip(op.getExtents(), type.getShape()))
    view.extents.push_back(ShapedType::isDynamic(size) ? extent : index(op.getLoc(), size));
  llvm::append_range(view.strides, op.getStrides());
  views[op.getResult()] = view;
}

/// A view's parts are computed where the subview stands: nothing below asks whether the subview is
/// used.
///
///    x : view [M, N], offset o        x[i, a:b]
///    extents  [M, N]                  [clamp(b) - clamp(a)]         0 if row i does not exist
///    strides  [s0, s1]                [s1]
///    offset   o                       o + i * s0 + clamp(a) * s1    anywhere, if i is outside
///
/// An offset of a row that does not exist is harmless: with extents of 0 no lane of an access
/// exists, and a view of rank 0 has `valid`.
void AccessLowering::lowerSubview(SubviewOp op) {
  Location loc = op.getLoc();
  const LoweredView source = views.find(op.getSource())->second;
  LoweredView view{source.base, source.offset, source.valid, {}, {}, source.readOnly};
  auto advance = [&](Value position, unsigned d) {
    Value step = b.createOrFold<arith::MulIOp>(loc, position, source.strides[d]);
    view.offset = b.createOrFold<arith::AddIOp>(loc, view.offset, step);
  };
  Value zero = index(loc, 0), exists;
  unsigned nextIndex = 0, nextWindow = 0;
  for (unsigned d = 0; d < source.extents.size(); ++d) {
    Value extent = source.extents[d];
    switch (op.getKind(d)) {
    case SubscriptKind::Index: {
      Value position = op.getIndices()[nextIndex++];
      exists = andOf(b, loc, exists,
                     b.createOrFold<arith::CmpIOp>(loc, CmpIPredicate::ult, position, extent));
      advance(position, d);
      break;
    }
    case SubscriptKind::All:
      view.extents.push_back(extent);
      view.strides.push_back(source.strides[d]);
      break;
    case SubscriptKind::Slice: {
      // high is held at low or above, not at 0: a slice that ends before it begins is empty and not
      // negative.
      Value low = op.getLows()[nextWindow], high = op.getHighs()[nextWindow];
      ++nextWindow;
      low = b.createOrFold<arith::MinSIOp>(loc, b.createOrFold<arith::MaxSIOp>(loc, low, zero),
                                           extent);
      high = b.createOrFold<arith::MinSIOp>(loc, b.createOrFold<arith::MaxSIOp>(loc, high, low),
                                            extent);
      view.extents.push_back(b.createOrFold<arith::SubIOp>(loc, high, low));
      view.strides.push_back(source.strides[d]);
      advance(low, d);
      break;
    }
    }
  }
  if (exists) {
    view.valid = andOf(b, loc, view.valid, exists);
    for (Value &extent : view.extents)
      extent = b.createOrFold<arith::SelectOp>(loc, exists, extent, zero);
  }
  views[op.getResult()] = view;
}

void AccessLowering::lowerPermuteView(PermuteViewOp op) {
  const LoweredView source = views.find(op.getSource())->second;
  LoweredView view{source.base, source.offset, source.valid, {}, {}, source.readOnly};
  for (int64_t d : op.getPermutation()) {
    view.extents.push_back(source.extents[d]);
    view.strides.push_back(source.strides[d]);
  }
  views[op.getResult()] = view;
}

/// Which lanes of an access exist, and where the first of them is.
template <typename AccessOp> FailureOr<LoweredAccess> AccessLowering::lowerAccess(AccessOp op) {
  Location loc = op.getLoc();
  const LoweredView view = views.find(op.getView())->second;
  LoweredAccess access;
  access.base = view.base;
  access.offset = view.offset;
  access.inside = view.valid;
  access.readOnly = view.readOnly;
  Value zero = index(loc, 0);
  for (unsigned d = 0; d < view.extents.size(); ++d) {
    // `sizes`, `starts` and `steps` have an entry for each dimension of the view; the tile has
    // those that are not dropped. Entries of `access` are the tile's, in the order of the view.
    if (op.isIndexed(d)) // each element has its own position
      continue;
    Value start = op.getStarts()[d], limit = view.extents[d];
    bool inBounds = op.getInBounds()[d];
    if (Value end = op.getEnd(d)) // not below zero: its distance to a start must not wrap around
      limit = b.createOrFold<arith::MaxSIOp>(loc, b.createOrFold<arith::MinSIOp>(loc, limit, end),
                                             zero);
    Value first = start;
    if (op.isDropped(d)) {
      if (!inBounds) {
        access.inside = andOf(b, loc, access.inside,
                              b.createOrFold<arith::CmpIOp>(loc, CmpIPredicate::sge, start, zero));
        access.inside = andOf(b, loc, access.inside,
                              b.createOrFold<arith::CmpIOp>(loc, CmpIPredicate::slt, start, limit));
      }
    } else {
      int64_t size = op.getSizes()[d], step = op.getSteps()[d];
      // A size that wraps around with its step cannot be told from a small one below.
      if (step <= 0)
        return op.emitOpError("expected a positive step, found ") << step;
      Value lanes = index(loc, size), stepValue = index(loc, step), low = zero, count = lanes;
      if (!inBounds) {
        // Lanes [low, high) exist: 0 <= start + lane * step < limit. Nothing wraps into bounds,
        // whatever the start.
        Value high;
        if (isWide(size, step)) {
          low = lanesBelow(b, loc, start, zero, size, step);
          high = lanesBelow(b, loc, start, limit, size, step);
          // Saturation does the rest: both differences wrap around at most once, and then to the
          // side on which no lane exists.
        } else {
          Value before = b.createOrFold<arith::MaxSIOp>(
              loc, b.createOrFold<arith::SubIOp>(loc, zero, start), zero);
          Value after = b.createOrFold<arith::SubIOp>(loc, limit, start);
          if (step != 1) {
            before = b.createOrFold<arith::CeilDivSIOp>(loc, before, stepValue);
            after = b.createOrFold<arith::CeilDivSIOp>(loc, after, stepValue);
          }
          low = b.createOrFold<arith::MinSIOp>(loc, before, lanes);
          high = b.createOrFold<arith::MinSIOp>(loc, after, lanes);
        }
        count = b.createOrFold<arith::MaxSIOp>(loc, b.createOrFold<arith::SubIOp>(loc, high, low),
                                               zero);
        access.clipped = true;
        first = b.createOrFold<arith::AddIOp>(loc, start,
                                              b.createOrFold<arith::MulIOp>(loc, low, stepValue));
      }
      access.size.push_back(size);
      access.low.push_back(low);
      access.count.push_back(count);
      access.stride.push_back(b.createOrFold<arith::MulIOp>(loc, view.strides[d], stepValue));
    }
    Value distance = b.createOrFold<arith::MulIOp>(loc, first, view.strides[d]);
    access.offset = b.createOrFold<arith::AddIOp>(loc, access.offset, distance);
  }
  // One flag would need a branch around each access; a count of 0 along one dimension says the same
  // and needs none.
  if (access.inside && !access.size.empty()) {
    access.count[0] = b.createOrFold<arith::SelectOp>(loc, access.inside, access.count[0], zero);
    access.clipped = true;
    access.inside = {};
  }
  return access;
}

template FailureOr<LoweredAccess> AccessLowering::lowerAccess(GatherOp);
template FailureOr<LoweredAccess> AccessLowering::lowerAccess(ScatterOp);
template FailureOr<LoweredAccess> AccessLowering::lowerAccess(AtomicOp);

/// Offset and strides go through getAsOpFoldResult: a stride of 1 that the type knows lets LLVM see
/// neighbours, and loops over it become vectors.
static Value reinterpret(OpBuilder &b, Location loc, const LoweredAccess &access,
                         ArrayRef<OpFoldResult> sizes) {
  SmallVector<OpFoldResult> strides;
  for (Value stride : access.stride)
    strides.push_back(getAsOpFoldResult(stride));
  auto [staticSizes, dynamicSizes] = decomposeMixedValues(sizes);
  auto [staticStrides, dynamicStrides] = decomposeMixedValues(strides);
  auto layout = StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic, staticStrides);
  auto type = MemRefType::get(staticSizes, cast<MemRefType>(access.base.getType()).getElementType(),
                              layout);
  return memref::ReinterpretCastOp::create(b, loc, type, access.base, OpFoldResult(access.offset),
                                           sizes, strides);
}

/// The lanes that exist, as memory: rank and order as in the tile.
Value AccessLowering::memrefOf(Location loc, const LoweredAccess &access) {
  SmallVector<OpFoldResult> sizes;
  for (Value count : access.count)
    sizes.push_back(getAsOpFoldResult(count));
  return reinterpret(b, loc, access, sizes);
}

/// All lanes as memory, for where all of them exist. Only the last dimension's stride is in the
/// type.
Value AccessLowering::wholeMemrefOf(Location loc, const LoweredAccess &access) {
  SmallVector<OpFoldResult> sizes;
  for (int64_t size : access.size)
    sizes.push_back(b.getIndexAttr(size));
  return reinterpret(b, loc, access, sizes);
}

/// i1: some lane does not exist.
Value AccessLowering::missingLanes(Location loc, const LoweredAccess &access) {
  Value missing;
  for (auto [count, size] : llvm::zip(access.count, access.size)) {
    Value less = b.createOrFold<arith::CmpIOp>(loc, CmpIPredicate::ne, count, index(loc, size));
    missing = missing ? b.createOrFold<arith::OrIOp>(loc, missing, less) : less;
  }
  return missing;
}

/// Constants become attributes: a subview of static size is what linalg can tile and vectorise.
static SmallVector<OpFoldResult> foldAll(ArrayRef<Value> values) {
  SmallVector<OpFoldResult> result;
  for (Value value : values)
    result.push_back(getAsOpFoldResult(value));
  return result;
}

/// Copies the lanes that exist into `scratch`, which has room for all.
void AccessLowering::copyLanes(Location loc, const LoweredAccess &access, Value scratch) {
  Value target = scratch;
  if (access.clipped) {
    SmallVector<OpFoldResult> ones(access.size.size(), b.getIndexAttr(1));
    target = memref::SubViewOp::create(b, loc, scratch, foldAll(access.low), foldAll(access.count),
                                       ones);
  }
  linalg::CopyOp::create(b, loc, memrefOf(loc, access), target);
}

/// All lanes in scratch of their own, padding where lanes are missing.
/// Bufferization owns the buffer from here on (`restrict`, `writable` in lowerLoad): the copy is
/// the tile, and an element-wise operation may write its result over it.
Value AccessLowering::readCopy(Location loc, const LoweredAccess &access, Value pad) {
  Value scratch = memref::AllocOp::create(b, loc, MemRefType::get(access.size, pad.getType()));
  if (access.clipped) {
    auto padding = scf::IfOp::create(b, loc, missingLanes(loc, access), /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(padding.thenBlock());
    linalg::FillOp::create(b, loc, pad, scratch);
  }
  copyLanes(loc, access, scratch);
  return scratch;
}

/// The i4 at `position` of the bytes at `base`: the low half of a byte comes first.
Value AccessLowering::readNibble(Location loc, Value base, Value position) {
  Value one = index(loc, 1), at = b.createOrFold<arith::ShRSIOp>(loc, position, one);
  auto type = MemRefType::get({}, b.getI8Type(),
                              StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic, {}));
  Value place = memref::ReinterpretCastOp::create(
      b, loc, type, base, OpFoldResult(at), ArrayRef<OpFoldResult>{}, ArrayRef<OpFoldResult>{});
  Value byte = memref::LoadOp::create(b, loc, place);
  Value half = b.createOrFold<arith::AndIOp>(loc, position, one);
  Value shift = b.createOrFold<arith::ShLIOp>(
      loc, b.createOrFold<arith::IndexCastOp>(loc, b.getI8Type(), half),
      arith::ConstantIntOp::create(b, loc, 2, 8));
  return arith::TruncIOp::create(b, loc, b.getIntegerType(4),
                                 arith::ShRUIOp::create(b, loc, byte, shift));
}

/// As readCopy, of a tensor in which two elements share a byte.
Value AccessLowering::readNibbles(Location loc, const LoweredAccess &access, Value pad) {
  // Two lanes share a byte, so that no memref can stand for the lanes: they are read one by one.
  Value scratch = memref::AllocOp::create(b, loc, MemRefType::get(access.size, pad.getType()));
  OpBuilder::InsertionGuard guard(b);
  if (access.clipped) {
    auto padding = scf::IfOp::create(b, loc, missingLanes(loc, access), /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(padding.thenBlock());
    linalg::FillOp::create(b, loc, pad, scratch);
  }
  Value zero = index(loc, 0), one = index(loc, 1), position = access.offset;
  SmallVector<Value> lanes;
  for (auto [low, count, stride] : llvm::zip(access.low, access.count, access.stride)) {
    auto loop = scf::ForOp::create(b, loc, zero, count, one);
    b.setInsertionPointToStart(loop.getBody());
    Value lane = loop.getInductionVar();
    lanes.push_back(b.createOrFold<arith::AddIOp>(loc, low, lane));
    position = b.createOrFold<arith::AddIOp>(loc, position,
                                             b.createOrFold<arith::MulIOp>(loc, lane, stride));
  }
  memref::StoreOp::create(b, loc, readNibble(loc, access.base, position), scratch, lanes);
  return scratch;
}

/// All lanes where they are, or in scratch where some are missing.
/// A branch at run time decides, once for an access. Both ways have the type of memory whose last
/// stride alone is known; scratch is cast to it.
Value AccessLowering::readInPlace(Location loc, const LoweredAccess &access, Value pad) {
  if (!access.clipped)
    return wholeMemrefOf(loc, access);
  SmallVector<int64_t> strides(access.size.size(), ShapedType::kDynamic);
  strides.back() = 1;
  auto layout = StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic, strides);
  // The scratch of the other branch is allocated ahead of it, where tile-cpu-place-scratch finds
  // it.
  auto type = MemRefType::get(access.size, pad.getType(), layout);
  Value scratch = memref::AllocOp::create(b, loc, MemRefType::get(access.size, pad.getType()));
  auto choice = scf::IfOp::create(b, loc, type, missingLanes(loc, access), /*withElseRegion=*/true);
  auto finish = [&](Value memory) {
    if (memory.getType() != type)
      memory = memref::CastOp::create(b, loc, type, memory);
    scf::YieldOp::create(b, loc, memory);
  };
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.thenBlock());
  linalg::FillOp::create(b, loc, pad, scratch);
  copyLanes(loc, access, scratch);
  finish(scratch);
  b.setInsertionPointToStart(choice.elseBlock());
  finish(wholeMemrefOf(loc, access));
  return choice.getResult(0);
}

LogicalResult AccessLowering::lowerLoad(LoadOp op) {
  Location loc = op.getLoc();
  FailureOr<LoweredAccess> access = lowerAccess(op);
  if (failed(access))
    return failure();
  Type element = op.getView().getType().getElementType();
  bool nibbles = element.isInteger(4);

  // A scalar: no loop, and the read is branched around where its place may not exist.
  if (access->size.empty()) {
    Value inside = andOf(b, loc, access->inside, op.getMask());
    auto read = [&](OpBuilder &b) -> Value {
      if (nibbles)
        return readNibble(loc, access->base, access->offset);
      return memref::LoadOp::create(b, loc, memrefOf(loc, *access));
    };
    if (!inside) {
      op.getResult().replaceAllUsesWith(read(b));
      return success();
    }
    auto choice = scf::IfOp::create(b, loc, element, inside, true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(choice.thenBlock());
    scf::YieldOp::create(b, loc, read(b));
    b.setInsertionPointToStart(choice.elseBlock());
    scf::YieldOp::create(b, loc, op.getPad());
    op.getResult().replaceAllUsesWith(choice.getResult(0));
    return success();
  }

  // A tensor that nothing writes during the launch need not be copied where all of it exists,
  // unless its rows are scattered.
  bool inPlace = access->readOnly && isConstantIntValue(access->stride.back(), 1) && !nibbles;
  Value source = nibbles   ? readNibbles(loc, *access, op.getPad())
                 : inPlace ? readInPlace(loc, *access, op.getPad())
                           : readCopy(loc, *access, op.getPad());
  auto type = cast<RankedTensorType>(op.getResult().getType());
  // In place the tensor is the caller's memory: `writable` is false, and bufferization copies
  // before it lets anything write there.
  Value tile = bufferization::ToTensorOp::create(b, loc, type, source, /*restrict=*/true,
                                                 /*writable=*/!inPlace);
  if (Value mask = op.getMask())
    tile = arith::SelectOp::create(b, loc, mask, tile, splat(loc, op.getPad(), type));
  op.getResult().replaceAllUsesWith(tile);
  return success();
}

/// Values that a store takes are read before the store writes: bufferization sees to the order, as
/// it does of all writes to memory that it did not allocate.
LogicalResult AccessLowering::lowerStore(StoreOp op) {
  Location loc = op.getLoc();
  FailureOr<LoweredAccess> access = lowerAccess(op);
  if (failed(access))
    return failure();

  if (access->size.empty()) {
    Value inside = andOf(b, loc, access->inside, op.getMask());
    OpBuilder::InsertionGuard guard(b);
    if (inside)
      b.setInsertionPointToStart(scf::IfOp::create(b, loc, inside, false).thenBlock());
    memref::StoreOp::create(b, loc, op.getValue(), memrefOf(loc, *access), ValueRange());
    return success();
  }

  // Only the part that exists is materialised: a store copies [low, high) of the tile to memory of
  // that size.
  if (!op.getMask()) {
    Value source = op.getValue();
    if (access->clipped) {
      SmallVector<OpFoldResult> ones(access->size.size(), b.getIndexAttr(1));
      source = tensor::ExtractSliceOp::create(b, loc, source, foldAll(access->low),
                                              foldAll(access->count), ones);
    }
    bufferization::MaterializeInDestinationOp::create(b, loc, Type(), source,
                                                      memrefOf(loc, *access),
                                                      /*restrict=*/true, /*writable=*/true);
    return success();
  }

  // Element by element: what the mask clears must not be written, not even with its old value.
  // As loops, and not as a select of old and new values, which would write bytes that another
  // program may be writing at the same time.
  Value target = memrefOf(loc, *access), zero = index(loc, 0), one = index(loc, 1);
  OpBuilder::InsertionGuard guard(b);
  SmallVector<Value> from, to;
  for (auto [low, count] : llvm::zip(access->low, access->count)) {
    auto loop = scf::ForOp::create(b, loc, zero, count, one);
    b.setInsertionPointToStart(loop.getBody());
    to.push_back(loop.getInductionVar());
    from.push_back(b.createOrFold<arith::AddIOp>(loc, low, loop.getInductionVar()));
  }
  Value selected = op.getMask();
  if (isa<RankedTensorType>(selected.getType()))
    selected = tensor::ExtractOp::create(b, loc, selected, from);
  b.setInsertionPointToStart(scf::IfOp::create(b, loc, selected, false).thenBlock());
  Value element = tensor::ExtractOp::create(b, loc, op.getValue(), from);
  memref::StoreOp::create(b, loc, element, target, to);
  return success();
}

LogicalResult AccessLowering::lowerInside(InsideOp op) {
  Location loc = op.getLoc();
  FailureOr<LoweredAccess> access = lowerAccess(op);
  if (failed(access))
    return failure();
  if (access->size.empty()) {
    Value inside =
        access->inside ? access->inside : arith::ConstantIntOp::create(b, loc, 1, 1).getResult();
    op.getResult().replaceAllUsesWith(inside);
    return success();
  }
  // No dimension may be skipped: one that is empty empties the tile.
  Value tile =
      generate(loc, cast<RankedTensorType>(op.getResult().getType()),
               [&](OpBuilder &b, ArrayRef<Value> lane) {
                 Value inside;
                 for (auto [position, low, count] : llvm::zip(lane, access->low, access->count)) {
                   // Unsigned: lanes below `low` wrap around to large numbers.
                   Value distance = b.createOrFold<arith::SubIOp>(loc, position, low);
                   inside =
                       andOf(b, loc, inside,
                             arith::CmpIOp::create(b, loc, CmpIPredicate::ult, distance, count));
                 }
                 return inside;
               });
  op.getResult().replaceAllUsesWith(tile);
  return success();
}
