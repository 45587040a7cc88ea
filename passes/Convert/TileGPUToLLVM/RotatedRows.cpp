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
#include "dialect/ShiftNames.h"
#include "passes/Convert/TileGPUToLLVM/RotatedPieces.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

Value tile::gpu::getFillBits(OpBuilder &b, Location loc, Value pad, Type element,
                             std::optional<uint32_t> fill) {
  unsigned bits = getStoredType(element).getIntOrFloatBitWidth();
  if (fill)
    return constantI32(b, loc, int32_t(*fill & (~0u >> (32 - bits))));
  Value one =
      toStored(b, loc, vector::BroadcastOp::create(b, loc, VectorType::get(1, element), pad));
  one = vector::ExtractOp::create(
      b, loc, vector::BitCastOp::create(b, loc, VectorType::get(1, b.getIntegerType(bits)), one),
      ArrayRef<int64_t>{0});
  return bits == 32 ? one : Value(arith::ExtUIOp::create(b, loc, b.getI32Type(), one));
}

Value tile::gpu::loadRotated(OpBuilder &b, LoadOp op, GlobalAccess<LoadOp> &access, Value pad,
                             std::optional<uint32_t> fill) {
  Location loc = op.getLoc();
  bool readOnly = op->hasAttr(readOnlyName);
  Type stored = getStoredType(access.getElement());
  unsigned registers = access.getTileLayout().getNumRegisters(),
           width = getPieceWidth(op, registers), bits = stored.getIntOrFloatBitWidth();
  if (width * bits < 32) // no words: element by element
    width = 1;
  bool inWords = width > 1, shifted = inWords && op->hasAttr(shiftedName);
  auto pieceType = VectorType::get(width, stored);
  RotatedPieces<LoadOp> pieces(b, op, access, {});
  Value padPiece = toStored(
      b, loc,
      vector::BroadcastOp::create(b, loc, VectorType::get(width, access.getElement()), pad));
  auto loadWhole = [&](Value pointer, Value exists) {
    Value piece =
        loadPiece(b, loc, pieceType, pointer, exists, readOnly, op.getCache(), fill.value_or(0));
    return fill || !exists ? piece : selectPiece(b, loc, exists, piece, padPiece);
  };
  RaggedAccess how;
  how.bits = bits;
  how.words = width * bits / 32;
  how.cache = cachePriority(op.getCache());

  SmallVector<Value> found;
  if (shifted)
    found = loadShifted(b, op, pieces, width, pad, fill);
  for (unsigned r = 0; r < registers && !shifted; r += width)
    found.push_back(loadWhole(access.address(r), pieces.isPlain(r, width)));

  // The piece that the end of the row cuts: its elements one by one.
  if (inWords && pieces.rotation.high && !shifted)
    branchRarely(b, loc, pieces.endsHere(), found, [&] {
      auto cut = pieces.findCut(registers, width);
      SmallVector<Value> joined(found.begin(), found.end());
      branchRarely(b, loc, cut.any, joined, [&] {
        Value piece =
            fromWords(b, loc, pieceType,
                      loadRagged(b, loc, RaggedPiece{cut.pointer, cut.count, 0}, how,
                                 getFillBits(b, loc, pad, access.getElement(), fill), readOnly));
        SmallVector<Value> chosen;
        for (auto [is, own] : llvm::zip(cut.is, joined))
          chosen.push_back(selectPiece(b, loc, is, piece, own));
        return chosen;
      });
      return joined;
    });
  // The pieces that begin with the end of the tile.
  for (unsigned r = 0; r < registers; r += width) {
    if (!pieces.mayWrap(r))
      continue;
    Value wraps = pieces.conjunction(pieces.wraps(r), pieces.uniform);
    branchRarely(b, loc, wraps, found[r / width], [&] {
      if (!inWords) {
        auto [address, exists] = pieces.getWrapped(r, 0);
        return SmallVector<Value>{loadWhole(address, exists)};
      }
      return SmallVector<Value>{
          fromWords(b, loc, pieceType,
                    loadWrapped(b, loc, pieces.getWrappedPiece(r), how,
                                getFillBits(b, loc, pad, access.getElement(), fill), readOnly))};
    });
  }
  Value whole =
      arith::ConstantOp::create(b, loc, b.getZeroAttr(VectorType::get(registers, stored)));
  for (auto [p, piece] : llvm::enumerate(found))
    whole = vector::InsertStridedSliceOp::create(
        b, loc, piece, whole, ArrayRef<int64_t>{int64_t(p * width)}, ArrayRef<int64_t>{1});
  return whole;
}

void tile::gpu::storeRotated(OpBuilder &b, StoreOp op, GlobalAccess<StoreOp> &access, Value stored,
                             Value owner) {
  Location loc = op.getLoc();
  auto type = cast<VectorType>(stored.getType());
  unsigned registers = type.getNumElements(), width = getPieceWidth(op, registers);
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
          piece = piece ? selectPiece(b, loc, is, own, piece) : own;
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

/// Whether the thread holds the line's first vector, in its first registers: the one that wraps.
static Value holdsFirstVector(OpBuilder &b, Location loc, RankedTensorType tile) {
  ThreadCoordinates thread(b, loc, getLayout(tile));
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, thread.get(b, loc, 0, 0),
                               constantI32(b, loc, 0));
}

void tile::gpu::copyRotated(OpBuilder &b, AsyncCopyOp op, GlobalAccess<AsyncCopyOp> &access,
                            const PrivatePlace &place, Value when) {
  Location loc = op.getLoc();
  unsigned registers = access.getTileLayout().getNumRegisters(),
           width = getPieceWidth(op, registers);
  unsigned bytes = getStoredType(access.getElement()).getIntOrFloatBitWidth() / 8;
  RotatedPieces<AsyncCopyOp> pieces(b, op, access, when);
  assert(width * bytes == rotatedVectorBytes && !pieces.rotation.high &&
         "tile-gpu-keep-tiles copies whole tiles in vectors");
  for (unsigned r = 0; r < registers; r += width)
    copyPiece(b, loc, place.at(b, loc, r * bytes), access.address(r), width * bytes, {},
              pieces.uniform, op.getCache());
  // The vector that wraps holds the tile's beginning there; its end beside it.
  for (unsigned r = 0; r < registers; r += width) {
    if (!pieces.mayWrap(r))
      continue;
    Value first = pieces.less(pieces.getPlace(r), pieces.constant(rotatedVectorBytes / bytes));
    auto taken = scf::IfOp::create(b, loc, pieces.conjunction(first, pieces.uniform),
                                   /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(taken.thenBlock());
    copyPiece(b, loc, place.end,
              pieces.advanceBy(access.address(r), pieces.constant(pieces.rotation.extent)),
              width * bytes, {}, pieces.wraps(r), op.getCache());
    LLVM::StoreOp::create(b, loc, pieces.rotation.shift, place.turn);
  }
}

void tile::gpu::keepRotated(OpBuilder &b, Location loc, RankedTensorType tile,
                            const PrivatePlace &place) {
  auto taken = scf::IfOp::create(b, loc, holdsFirstVector(b, loc, tile), /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(taken.thenBlock());
  LLVM::StoreOp::create(b, loc, constantI32(b, loc, 0), place.turn);
}

/// The words of a vector of elements of `bits` bits: the first `turn`, an i32 of at most as many as
/// it has, of `end`, the others of `begin`.
static SmallVector<Value> joinWords(OpBuilder &b, Location loc, unsigned bits, ArrayRef<Value> end,
                                    ArrayRef<Value> begin, Value turn) {
  SmallVector<Value> joined;
  Value all = constantI32(b, loc, -1), none = constantI32(b, loc, 0),
        count = arith::MulIOp::create(b, loc, turn, constantI32(b, loc, bits));
  for (auto [w, words] : llvm::enumerate(llvm::zip(end, begin))) {
    // Bits of this word that are the end's: as many of the low ones as are left of the count.
    constexpr int64_t word = 32;
    Value left = arith::SubIOp::create(b, loc, count, constantI32(b, loc, word * int64_t(w)));
    left = arith::MaxSIOp::create(b, loc, left, none);
    Value mask = arith::ShLIOp::create(b, loc, all, left);
    Value beyond =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, left, constantI32(b, loc, word));
    mask = arith::SelectOp::create(b, loc, beyond, none, mask);
    auto [first, second] = words;
    joined.push_back(arith::OrIOp::create(
        b, loc, arith::AndIOp::create(b, loc, second, mask),
        arith::AndIOp::create(b, loc, first, arith::XOrIOp::create(b, loc, mask, all))));
  }
  return joined;
}

Value tile::gpu::readRotated(OpBuilder &b, Location loc, RankedTensorType tile,
                             const PrivatePlace &place, Value first) {
  SmallVector<Value> found{first};
  branchRarely(b, loc, holdsFirstVector(b, loc, tile), found, [&] {
    Value end = LLVM::LoadOp::create(b, loc, first.getType(), place.end,
                                     unsigned(rotatedVectorBytes)),
          turn = LLVM::LoadOp::create(b, loc, b.getI32Type(), place.turn);
    unsigned bits = getStoredType(tile.getElementType()).getIntOrFloatBitWidth();
    return SmallVector<Value>{fromWords(
        b, loc, cast<VectorType>(first.getType()),
        joinWords(b, loc, bits, splitWords(b, loc, end), splitWords(b, loc, first), turn))};
  });
  return found.front();
}

Value tile::gpu::findRotatedInside(OpBuilder &b, InsideOp op, GlobalAccess<InsideOp> &access,
                                   VectorType type) {
  Location loc = op.getLoc();
  RotatedPieces<InsideOp> pieces(b, op, access, {});
  SmallVector<Value> bits;
  for (unsigned r = 0; r < type.getNumElements(); ++r) {
    Value exists, high = pieces.rotation.high;
    if (high && pieces.mayWrap(r))
      high = arith::SelectOp::create(b, loc, pieces.wraps(r), pieces.rotation.wrapped, high);
    if (high)
      exists = access.isBelow(r, 0, high);
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
