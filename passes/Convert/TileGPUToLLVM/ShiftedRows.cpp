// Loads of rows that begin elsewhere than those that say how far tiles go round (RotatedRows.cpp),
// as a norm's weights do.
//
// All pieces of a tile begin as many bytes into their windows (WindowLoads.cpp). A piece whose
// windows reach behind the tensor, or that the row's end cuts, is loaded element by element:
// nothing outside of the tensor is read.
#include "passes/Convert/TileGPUToLLVM/RaggedPieces.h"
#include "passes/Convert/TileGPUToLLVM/RotatedPieces.h"
#include "passes/Convert/TileGPUToLLVM/WindowLoads.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

SmallVector<Value> tile::gpu::loadShifted(OpBuilder &b, LoadOp op, RotatedPieces<LoadOp> &pieces,
                                          unsigned width, Value pad, std::optional<uint32_t> fill) {
  Location loc = op.getLoc();
  GlobalAccess<LoadOp> &access = pieces.access;
  const LinearLayout &layout = access.getTileLayout();
  Type stored = getStoredType(access.getElement());
  unsigned registers = layout.getNumRegisters(), bits = stored.getIntOrFloatBitWidth(),
           bytes = width * bits / 8;
  auto type = VectorType::get(width, stored);
  auto constant = [&](int64_t value) { return pieces.constant(value); };
  access.alignDown(bytes);
  WindowShift shift = makeWindowShift(b, loc, bits, bytes / 4, access.getSkipped());
  bool readOnly = op->hasAttr(readOnlyName);

  // Pieces that begin below `whole` exist as such, in two windows of the tensor; those from there
  // to `behind` are the rest that exists. All threads know both.
  auto i64 = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(b, loc, value, 64);
  };
  constexpr int64_t any = 1 << 30; // more bytes than a tile has
  Value room = arith::SubIOp::create(b, loc, access.bytesBehind(), i64(2 * int64_t(bytes)));
  room = arith::MaxSIOp::create(b, loc, arith::MinSIOp::create(b, loc, room, i64(any)), i64(-1));
  Value whole = arith::AddIOp::create(
      b, loc,
      arith::ShRSIOp::create(b, loc, arith::TruncIOp::create(b, loc, b.getI32Type(), room),
                             constant(llvm::Log2_32(bits / 8))),
      constant(1));
  Value behind = constant(pieces.rotation.extent);
  if (Value high = pieces.rotation.high) {
    whole = arith::MinSIOp::create(
        b, loc, whole, arith::SubIOp::create(b, loc, high, constant(int64_t(width) - 1)));
    behind = arith::MinSIOp::create(b, loc, behind, high);
  }
  Value padding;
  if (!fill)
    padding = toStored(
        b, loc,
        vector::BroadcastOp::create(b, loc, VectorType::get(width, access.getElement()), pad));
  SmallVector<Value> found;
  for (unsigned r = 0; r < registers; r += width) {
    Value exists = pieces.isMine(pieces.less(pieces.getPlace(r), whole), r);
    Value piece = loadFromWindows(b, loc, type, access.address(r), shift, exists, readOnly,
                                  op.getCache(), fill.value_or(0));
    found.push_back(fill ? piece : selectPiece(b, loc, exists, piece, padding));
  }
  branchRarely(b, loc, pieces.less(whole, behind), found, [&] {
    SmallVector<Value> joined(found.begin(), found.end());
    RaggedAccess how;
    how.bits = bits;
    how.words = bytes / 4;
    how.cache = cachePriority(op.getCache());
    Value fillBits = getFillBits(b, loc, pad, access.getElement(), fill);
    // At most two such pieces lie beside each other: of every other one a thread has one.
    unsigned groups = layout.getContiguousRegisters(0) > width ? 2 : 1;
    Value rest = arith::SubIOp::create(b, loc, behind, whole);
    for (unsigned group = 0; group < groups; ++group) {
      Value isAny, pointer, count;
      SmallVector<Value> is;
      for (unsigned r = group * width; r < registers; r += groups * width) {
        Value place = pieces.getPlace(r);
        Value mine =
            pieces.isMine(pieces.below(arith::SubIOp::create(b, loc, place, whole), rest), r);
        Value left = arith::SubIOp::create(
                  b, loc, pieces.rotation.high ? pieces.rotation.high : constant(any), place),
              address = advance(b, loc, access.address(r), access.getSkipped());
        is.push_back(mine);
        isAny = isAny ? Value(arith::OrIOp::create(b, loc, isAny, mine)) : mine;
        pointer =
            pointer ? Value(arith::SelectOp::create(b, loc, mine, address, pointer)) : address;
        count = count ? Value(arith::SelectOp::create(b, loc, mine, left, count)) : left;
      }
      branchRarely(b, loc, isAny, joined, [&] {
        Value piece =
            fromWords(b, loc, type,
                      loadRagged(b, loc, RaggedPiece{pointer, count, 0}, how, fillBits, readOnly));
        SmallVector<Value> chosen(joined.begin(), joined.end());
        for (auto [number, mine] : llvm::enumerate(is)) {
          Value &own = chosen[group + number * groups];
          own = selectPiece(b, loc, mine, piece, own);
        }
        return chosen;
      });
    }
    return joined;
  });
  return found;
}
