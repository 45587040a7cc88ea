// Lines that go round in their registers: pieces of neighbours are windows of 16 aligned bytes.
//
//   places       | 0 .. shift-1 | shift ..          | ..      | .. high | ..          extent-1 |
//   hold         the tile's end   its beginning                  its last element that exists
//   pieces       |<-- the first pieces          -->|<-     ->|<- cut ->|
//
// All pieces but two are moved by one instruction each, if their elements exist. The first ones,
// which one thread of the block holds, are moved element by element, as their elements come from
// two windows; so is the piece that the row's end cuts, which is one of some other thread.
#include "passes/Convert/TileGPUToLLVM/RotatedRows.h"
#include "passes/Convert/TileGPUToLLVM/Pieces.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

namespace {

/// The pieces of one access.
template <typename Op> class RotatedPieces {
public:
  RotatedPieces(OpBuilder &b, Op op, GlobalAccess<Op> &access, Value owner)
      : b(b), loc(op.getLoc()), access(access), rotation(*access.getRotation()) {
    uniform = access.conjunction(access.anyExists(), owner);
  }

  Value less(Value left, Value right) {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, left, right);
  }
  Value conjunction(Value left, Value right) { return access.conjunction(left, right); }
  Value constant(int64_t value) { return constantI32(b, loc, value); }
  Value getPlace(unsigned reg) { return access.getPlace(reg, 0); }
  Value invert(Value value) {
    return arith::XOrIOp::create(b, loc, value, arith::ConstantIntOp::create(b, loc, 1, 1));
  }
  Value orTrue(Value value) {
    return value ? value : Value(arith::ConstantIntOp::create(b, loc, 1, 1));
  }

  /// True if the piece may begin with elements of the tile's end, in some thread.
  bool mayWrap(unsigned reg) const { return access.getPlaceOffset(reg, 0) < rotation.most; }
  /// Whether it does in this thread.
  Value wraps(unsigned reg) { return less(getPlace(reg), rotation.shift); }

  /// Whether the piece's first `count` elements exist and do not wrap; null if they do.
  Value isPlain(unsigned reg, unsigned count) {
    Value all = uniform;
    if (rotation.high)
      all = conjunction(
          all, arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle,
                                     arith::AddIOp::create(b, loc, getPlace(reg), constant(count)),
                                     rotation.high));
    if (mayWrap(reg))
      all = conjunction(all, invert(wraps(reg)));
    return all;
  }

  /// Whether the row ends within a piece of this tile, at the most: the same for all threads.
  Value endsHere() { return less(rotation.high, constant(rotation.extent)); }

  /// Whether the row ends within the piece.
  Value isCut(unsigned reg, unsigned width) {
    Value place = getPlace(reg), end = arith::AddIOp::create(b, loc, place, constant(width));
    Value cut = conjunction(less(place, rotation.high), less(rotation.high, end));
    if (mayWrap(reg))
      cut = conjunction(cut, invert(wraps(reg)));
    return conjunction(cut, uniform);
  }

  /// Element `i` of a piece that wraps: its address, and whether it exists (null: it does).
  std::pair<Value, Value> getWrapped(unsigned reg, unsigned i) {
    Value place = arith::AddIOp::create(b, loc, getPlace(reg), constant(i)),
          inEnd = less(place, rotation.shift);
    Value moved = arith::SelectOp::create(b, loc, inEnd, constant(rotation.extent), constant(0));
    Value exists;
    if (rotation.high)
      exists = less(place, arith::SelectOp::create(b, loc, inEnd, rotation.wrapped, rotation.high));
    return {advanceBy(access.address(reg + i), moved), conjunction(exists, uniform)};
  }

  Value advanceBy(Value pointer, Value elements) {
    return LLVM::GEPOp::create(b, loc, pointer.getType(), getStoredType(access.getElement()),
                               pointer, ArrayRef<LLVM::GEPArg>{elements});
  }

  /// Which of the pieces, each of `width` registers, is cut: whether one is, its address and the
  /// number of its elements.
  struct Cut {
    Value any, pointer, count;
    SmallVector<Value> is; // of each piece
  };
  Cut findCut(unsigned registers, unsigned width) {
    Cut cut;
    for (unsigned r = 0; r < registers; r += width) {
      Value is = isCut(r, width);
      cut.is.push_back(is);
      Value left = arith::SubIOp::create(b, loc, rotation.high, getPlace(r)),
            address = access.address(r);
      cut.pointer =
          cut.pointer ? Value(arith::SelectOp::create(b, loc, is, address, cut.pointer)) : address;
      cut.count = cut.count ? Value(arith::SelectOp::create(b, loc, is, left, cut.count)) : left;
      cut.any = cut.any ? Value(arith::OrIOp::create(b, loc, cut.any, is)) : is;
    }
    return cut;
  }

  OpBuilder &b;
  Location loc;
  GlobalAccess<Op> &access;
  const typename GlobalAccess<Op>::Rotation &rotation;
  Value uniform;
};

} // namespace

/// Neighbouring registers that are one piece.
static unsigned getWidth(Operation *op, unsigned registers) {
  return std::min(std::max(getVectorWidth(op), getVectorWidth(op, vectorIfName)), registers);
}

/// A vector's bits as words where they fill some, so that LLVM selects whole registers.
static Value toWords(OpBuilder &b, Location loc, Value vector) {
  auto type = cast<VectorType>(vector.getType());
  int64_t bits = type.getNumElements() * type.getElementTypeBitWidth();
  if (bits % 32)
    return vector;
  return vector::BitCastOp::create(b, loc, VectorType::get(bits / 32, b.getI32Type()), vector);
}
static Value select(OpBuilder &b, Location loc, Value condition, Value left, Value right) {
  Value words =
      arith::SelectOp::create(b, loc, condition, toWords(b, loc, left), toWords(b, loc, right));
  return words.getType() == left.getType()
             ? words
             : Value(vector::BitCastOp::create(b, loc, left.getType(), words));
}

/// What `make` makes of `values` where `condition` holds; by a branch that is not taken as a rule.
static void branch(OpBuilder &b, Location loc, Value condition, MutableArrayRef<Value> values,
                   llvm::function_ref<SmallVector<Value>()> make) {
  auto taken = scf::IfOp::create(b, loc, ValueRange(values).getTypes(), condition,
                                 /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(taken.thenBlock());
  scf::YieldOp::create(b, loc, make());
  b.setInsertionPointToStart(taken.elseBlock());
  scf::YieldOp::create(b, loc, values);
  llvm::copy(taken.getResults(), values.begin());
}

Value tile::gpu::loadRotated(OpBuilder &b, LoadOp op, GlobalAccess<LoadOp> &access, Value pad,
                             std::optional<uint32_t> fill) {
  Location loc = op.getLoc();
  bool readOnly = op->hasAttr(readOnlyName);
  unsigned registers = access.getTileLayout().getNumRegisters(), width = getWidth(op, registers);
  Type stored = getStoredType(access.getElement());
  auto pieceType = VectorType::get(width, stored), oneType = VectorType::get(1, stored);
  RotatedPieces<LoadOp> pieces(b, op, access, {});
  auto padding = [&](unsigned count) -> Value {
    return toStored(
        b, loc,
        vector::BroadcastOp::create(b, loc, VectorType::get(count, access.getElement()), pad));
  };
  Value padPiece = fill ? Value() : padding(width);
  auto loadWhole = [&](VectorType type, Value pointer, Value exists) {
    Value piece =
        loadPiece(b, loc, type, pointer, exists, readOnly, op.getCache(), fill.value_or(0));
    return fill || !exists ? piece : select(b, loc, exists, piece, padding(type.getNumElements()));
  };

  SmallVector<Value> found;
  for (unsigned r = 0; r < registers; r += width)
    found.push_back(loadWhole(pieceType, access.address(r), pieces.isPlain(r, width)));

  // The piece that the end of the row cuts: its elements one by one.
  auto join = [&](Value whole, Value part, unsigned at) -> Value {
    return vector::InsertStridedSliceOp::create(b, loc, part, whole, ArrayRef<int64_t>{int64_t(at)},
                                                ArrayRef<int64_t>{1});
  };
  if (width > 1 && pieces.rotation.high)
    branch(b, loc, pieces.endsHere(), found, [&] {
      auto cut = pieces.findCut(registers, width);
      Value piece = padPiece ? padPiece : padding(width);
      branch(b, loc, cut.any, piece, [&] {
        Value whole = piece;
        for (unsigned i = 0; i + 1 < width; ++i) {
          Value pointer = pieces.advanceBy(cut.pointer, constantI32(b, loc, i)),
                exists = pieces.less(constantI32(b, loc, i), cut.count);
          whole = join(whole, loadWhole(oneType, pointer, exists), i);
        }
        return SmallVector<Value>{whole};
      });
      SmallVector<Value> joined;
      for (auto [is, own] : llvm::zip(cut.is, found))
        joined.push_back(select(b, loc, is, piece, own));
      return joined;
    });
  // The pieces that begin with the end of the tile.
  for (unsigned r = 0; r < registers; r += width)
    if (pieces.mayWrap(r))
      branch(b, loc, pieces.wraps(r), found[r / width], [&] {
        Value whole = found[r / width];
        for (unsigned i = 0; i < width; ++i) {
          auto [address, exists] = pieces.getWrapped(r, i);
          whole = join(whole, loadWhole(oneType, address, exists), i);
        }
        return SmallVector<Value>{whole};
      });
  Value whole =
      arith::ConstantOp::create(b, loc, b.getZeroAttr(VectorType::get(registers, stored)));
  for (auto [p, piece] : llvm::enumerate(found))
    whole = join(whole, piece, p * width);
  return whole;
}

void tile::gpu::storeRotated(OpBuilder &b, StoreOp op, GlobalAccess<StoreOp> &access, Value stored,
                             Value owner) {
  Location loc = op.getLoc();
  auto type = cast<VectorType>(stored.getType());
  unsigned registers = type.getNumElements(), width = getWidth(op, registers);
  RotatedPieces<StoreOp> pieces(b, op, access, owner);
  auto slice = [&](Value of, unsigned from, unsigned count) -> Value {
    return vector::ExtractStridedSliceOp::create(b, loc, of, ArrayRef<int64_t>{int64_t(from)},
                                                 ArrayRef<int64_t>{int64_t(count)},
                                                 ArrayRef<int64_t>{1});
  };
  for (unsigned r = 0; r < registers; r += width)
    storePiece(b, loc, slice(stored, r, width), access.address(r), pieces.isPlain(r, width),
               op.getCache());
  auto rarely = [&](Value condition, llvm::function_ref<void()> make) {
    auto taken = scf::IfOp::create(b, loc, condition, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(taken.thenBlock());
    make();
  };
  if (width > 1 && pieces.rotation.high)
    rarely(pieces.endsHere(), [&] {
      auto cut = pieces.findCut(registers, width);
      rarely(cut.any, [&] {
        Value piece;
        for (auto [p, is] : llvm::enumerate(cut.is)) {
          Value own = slice(stored, p * width, width);
          piece = piece ? select(b, loc, is, own, piece) : own;
        }
        for (unsigned i = 0; i + 1 < width; ++i)
          storePiece(b, loc, slice(piece, i, 1),
                     pieces.advanceBy(cut.pointer, constantI32(b, loc, i)),
                     pieces.less(constantI32(b, loc, i), cut.count), op.getCache());
      });
    });
  for (unsigned r = 0; r < registers; r += width)
    if (pieces.mayWrap(r))
      rarely(pieces.wraps(r), [&] {
        for (unsigned i = 0; i < width; ++i) {
          auto [address, exists] = pieces.getWrapped(r, i);
          storePiece(b, loc, slice(stored, r + i, 1), address, exists, op.getCache());
        }
      });
}

void tile::gpu::copyRotated(OpBuilder &b, AsyncCopyOp op, GlobalAccess<AsyncCopyOp> &access,
                            const PrivatePlace &place, Value when) {
  Location loc = op.getLoc();
  unsigned registers = access.getTileLayout().getNumRegisters(), width = getWidth(op, registers);
  Type stored = getStoredType(access.getElement());
  unsigned bytes = stored.getIntOrFloatBitWidth() / 8;
  RotatedPieces<AsyncCopyOp> pieces(b, op, access, when);
  assert(width * bytes >= 4 && "tile-gpu-keep-tiles takes whole pieces only");
  for (unsigned r = 0; r < registers; r += width)
    copyPiece(b, loc, place.at(b, loc, r * bytes), access.address(r), width * bytes, {},
              pieces.isPlain(r, width), op.getCache());
  for (unsigned r = 0; r < registers; r += width) {
    if (!pieces.mayWrap(r))
      continue;
    auto taken = scf::IfOp::create(b, loc, pieces.conjunction(pieces.wraps(r), when),
                                   /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(taken.thenBlock());
    auto one = VectorType::get(1, stored);
    SmallVector<Value> loaded;
    for (unsigned i = 0; i < width; ++i) {
      auto [address, exists] = pieces.getWrapped(r, i);
      loaded.push_back(
          loadPiece(b, loc, one, address, exists, op->hasAttr(readOnlyName), op.getCache()));
    }
    for (auto [i, element] : llvm::enumerate(loaded))
      LLVM::StoreOp::create(b, loc,
                            vector::ExtractOp::create(b, loc, element, ArrayRef<int64_t>{0}),
                            place.at(b, loc, (r + i) * bytes), bytes);
  }
}

Value tile::gpu::findRotatedInside(OpBuilder &b, InsideOp op, GlobalAccess<InsideOp> &access,
                                   VectorType type) {
  Location loc = op.getLoc();
  RotatedPieces<InsideOp> pieces(b, op, access, {});
  SmallVector<Value> bits;
  for (unsigned r = 0; r < type.getNumElements(); ++r) {
    Value high = pieces.rotation.high;
    if (high && pieces.mayWrap(r))
      high = arith::SelectOp::create(b, loc, pieces.wraps(r), pieces.rotation.wrapped, high);
    Value exists = high ? pieces.less(pieces.getPlace(r), high) : Value();
    bits.push_back(pieces.orTrue(pieces.conjunction(pieces.uniform, exists)));
  }
  return vector::FromElementsOp::create(b, loc, type, bits);
}

Value tile::gpu::rotatePositions(OpBuilder &b, IotaOp op, const ThreadCoordinates &thread,
                                 Value places) {
  Location loc = op.getLoc();
  int64_t most = op->getAttrOfType<IntegerAttr>(rotatedName).getInt();
  auto moved = op.getStart().getDefiningOp<arith::SubIOp>();
  Value shift = arith::IndexCastOp::create(b, loc, b.getI32Type(), moved.getRhs()),
        extent = constantI32(b, loc, op.getType().getNumElements());
  auto type = cast<VectorType>(places.getType());
  for (unsigned r = 0; r < type.getNumElements(); ++r) {
    if (thread.getOffset(r, 0) >= most)
      continue;
    Value place = thread.get(b, loc, r, 0);
    Value wraps = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, place, shift);
    Value behind = arith::AddIOp::create(b, loc, place, extent);
    places = vector::InsertOp::create(b, loc, arith::SelectOp::create(b, loc, wraps, behind, place),
                                      places, ArrayRef<int64_t>{int64_t(r)});
  }
  return places;
}
