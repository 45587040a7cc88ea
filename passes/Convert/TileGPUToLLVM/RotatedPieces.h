// The pieces of an access to a line that goes round in its registers (RotatedRows.cpp).
#ifndef TILE_PASSES_CONVERT_TILEGPUTOLLVM_ROTATEDPIECES_H
#define TILE_PASSES_CONVERT_TILEGPUTOLLVM_ROTATEDPIECES_H

#include "passes/Convert/TileGPUToLLVM/InlinePTX.h"
#include "passes/Convert/TileGPUToLLVM/Pieces.h"
#include "passes/Convert/TileGPUToLLVM/RaggedPieces.h"
#include "passes/Convert/TileGPUToLLVM/RotatedRows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace tile::gpu {

/// The pieces of one access.
template <typename Op> class RotatedPieces {
public:
  RotatedPieces(mlir::OpBuilder &b, Op op, GlobalAccess<Op> &access, mlir::Value owner)
      : b(b), loc(op.getLoc()), access(access), rotation(*access.getRotation()) {
    uniform = access.conjunction(access.anyExists(), owner);
  }

  mlir::Value less(mlir::Value left, mlir::Value right) {
    return mlir::arith::CmpIOp::create(b, loc, mlir::arith::CmpIPredicate::slt, left, right);
  }
  mlir::Value conjunction(mlir::Value left, mlir::Value right) {
    return access.conjunction(left, right);
  }
  mlir::Value constant(int64_t value) { return constantI32(b, loc, value); }
  mlir::Value getPlace(unsigned reg) { return access.getPlace(reg, 0); }
  mlir::Value invert(mlir::Value value) {
    return mlir::arith::XOrIOp::create(b, loc, value,
                                       mlir::arith::ConstantIntOp::create(b, loc, 1, 1));
  }
  mlir::Value orTrue(mlir::Value value) {
    return value ? value : mlir::Value(mlir::arith::ConstantIntOp::create(b, loc, 1, 1));
  }

  /// True if the piece may begin with elements of the tile's end, in some thread.
  bool mayWrap(unsigned reg) const { return access.getPlaceOffset(reg, 0) < rotation.most; }
  /// Whether it does in this thread.
  mlir::Value wraps(unsigned reg) { return less(getPlace(reg), rotation.shift); }

  /// Whether the piece's first `count` elements exist and do not wrap; null if they do.
  mlir::Value isPlain(unsigned reg, unsigned count) {
    mlir::Value all = uniform;
    if (rotation.high)
      all =
          conjunction(all, mlir::arith::CmpIOp::create(
                               b, loc, mlir::arith::CmpIPredicate::sle,
                               mlir::arith::AddIOp::create(b, loc, getPlace(reg), constant(count)),
                               rotation.high));
    if (mayWrap(reg))
      all = conjunction(all, invert(wraps(reg)));
    return all;
  }

  /// Whether the row ends within a piece of this tile, at the most: the same for all threads.
  mlir::Value endsHere() { return less(rotation.high, constant(rotation.extent)); }

  /// Whether the row ends within the piece: one of its elements exists, and one does not.
  mlir::Value isCut(unsigned reg, unsigned width) {
    mlir::Value beside = mlir::arith::SubIOp::create(
        b, loc, rotation.high, mlir::arith::AddIOp::create(b, loc, getPlace(reg), constant(1)));
    return isMine(below(beside, constant(int64_t(width) - 1)), reg);
  }

  /// Unsigned: what is below 0 is not below `right`.
  mlir::Value below(mlir::Value left, mlir::Value right) {
    return mlir::arith::CmpIOp::create(b, loc, mlir::arith::CmpIPredicate::ult, left, right);
  }

  /// `condition` of a piece that does not wrap, of a tile that exists.
  mlir::Value isMine(mlir::Value condition, unsigned reg) {
    if (mayWrap(reg))
      condition = conjunction(condition, invert(wraps(reg)));
    return conjunction(condition, uniform);
  }

  /// Element `i` of a piece that wraps: its address, and whether it exists (null: it does).
  std::pair<mlir::Value, mlir::Value> getWrapped(unsigned reg, unsigned i) {
    mlir::Value place = mlir::arith::AddIOp::create(b, loc, getPlace(reg), constant(i)),
                inEnd = less(place, rotation.shift);
    mlir::Value moved =
        mlir::arith::SelectOp::create(b, loc, inEnd, constant(rotation.extent), constant(0));
    mlir::Value exists;
    if (rotation.high)
      exists = less(place,
                    mlir::arith::SelectOp::create(b, loc, inEnd, rotation.wrapped, rotation.high));
    mlir::Value pointer = access.address(reg + i);
    if (mlir::Value skipped = access.getSkipped())
      pointer = advance(b, loc, pointer, skipped);
    return {advanceBy(pointer, moved), conjunction(exists, uniform)};
  }

  /// A piece that wraps, of which something exists.
  WrappedPiece getWrappedPiece(unsigned reg) {
    mlir::Value place = getPlace(reg), begin = access.address(reg);
    if (mlir::Value skipped = access.getSkipped())
      begin = advance(b, loc, begin, skipped);
    auto from = [&](mlir::Value number) -> mlir::Value {
      return mlir::arith::SubIOp::create(b, loc, number, place);
    };
    mlir::Value all = constant(rotation.extent);
    return {advanceBy(begin, constant(rotation.extent)), begin, from(rotation.shift),
            rotation.high ? from(rotation.wrapped) : all,
            rotation.high ? from(rotation.high) : all};
  }

  mlir::Value advanceBy(mlir::Value pointer, mlir::Value elements) {
    return mlir::LLVM::GEPOp::create(b, loc, pointer.getType(), getStoredType(access.getElement()),
                                     pointer, llvm::ArrayRef<mlir::LLVM::GEPArg>{elements});
  }

  /// Which of the pieces, each of `width` registers, is cut: whether one is, its address and the
  /// number of its elements.
  struct Cut {
    mlir::Value any, pointer, count;
    llvm::SmallVector<mlir::Value> is; // of each piece
  };
  Cut findCut(unsigned registers, unsigned width) {
    Cut cut;
    for (unsigned r = 0; r < registers; r += width) {
      mlir::Value is = isCut(r, width);
      cut.is.push_back(is);
      mlir::Value left = mlir::arith::SubIOp::create(b, loc, rotation.high, getPlace(r)),
                  address = access.address(r);
      cut.pointer =
          cut.pointer ? mlir::Value(mlir::arith::SelectOp::create(b, loc, is, address, cut.pointer))
                      : address;
      cut.count = cut.count
                      ? mlir::Value(mlir::arith::SelectOp::create(b, loc, is, left, cut.count))
                      : left;
      cut.any = cut.any ? mlir::Value(mlir::arith::OrIOp::create(b, loc, cut.any, is)) : is;
    }
    return cut;
  }

  mlir::OpBuilder &b;
  mlir::Location loc;
  GlobalAccess<Op> &access;
  const typename GlobalAccess<Op>::Rotation &rotation;
  mlir::Value uniform;
};

/// Neighbouring registers that are one piece.
inline unsigned getPieceWidth(mlir::Operation *op, unsigned registers) {
  return std::min(std::max(getVectorWidth(op), getVectorWidth(op, vectorIfName)), registers);
}

/// A vector's bits as words where they fill some, so that LLVM selects whole registers.
inline mlir::Value toWords(mlir::OpBuilder &b, mlir::Location loc, mlir::Value vector) {
  auto type = llvm::cast<mlir::VectorType>(vector.getType());
  int64_t bits = type.getNumElements() * type.getElementTypeBitWidth();
  if (bits % 32)
    return vector;
  return mlir::vector::BitCastOp::create(b, loc, mlir::VectorType::get(bits / 32, b.getI32Type()),
                                         vector);
}
inline mlir::Value selectPiece(mlir::OpBuilder &b, mlir::Location loc, mlir::Value condition,
                               mlir::Value left, mlir::Value right) {
  mlir::Value words = mlir::arith::SelectOp::create(b, loc, condition, toWords(b, loc, left),
                                                    toWords(b, loc, right));
  return words.getType() == left.getType()
             ? words
             : mlir::Value(mlir::vector::BitCastOp::create(b, loc, left.getType(), words));
}

/// What `make` makes of `values` where `condition` holds; by a branch that is not taken as a rule.
inline void branchRarely(mlir::OpBuilder &b, mlir::Location loc, mlir::Value condition,
                         llvm::MutableArrayRef<mlir::Value> values,
                         llvm::function_ref<llvm::SmallVector<mlir::Value>()> make) {
  auto taken = mlir::scf::IfOp::create(b, loc, mlir::ValueRange(values).getTypes(), condition,
                                       /*withElseRegion=*/true);
  mlir::OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(taken.thenBlock());
  mlir::scf::YieldOp::create(b, loc, make());
  b.setInsertionPointToStart(taken.elseBlock());
  mlir::scf::YieldOp::create(b, loc, values);
  llvm::copy(taken.getResults(), values.begin());
}

/// One element of padding, as the low bits of an i32; `fill` as of loadRotated.
mlir::Value getFillBits(mlir::OpBuilder &b, mlir::Location loc, mlir::Value pad, mlir::Type element,
                        std::optional<uint32_t> fill);

/// The words of a piece as `type`.
inline mlir::Value fromWords(mlir::OpBuilder &b, mlir::Location loc, mlir::VectorType type,
                             llvm::ArrayRef<mlir::Value> words) {
  auto packed = mlir::VectorType::get(words.size(), b.getI32Type());
  return mlir::vector::BitCastOp::create(
      b, loc, type, mlir::vector::FromElementsOp::create(b, loc, packed, words));
}

/// The words of a piece of several.
inline llvm::SmallVector<mlir::Value> splitWords(mlir::OpBuilder &b, mlir::Location loc,
                                                 mlir::Value piece) {
  mlir::Value words = toWords(b, loc, piece);
  llvm::SmallVector<mlir::Value> found;
  for (int64_t w = 0; w < llvm::cast<mlir::VectorType>(words.getType()).getNumElements(); ++w)
    found.push_back(mlir::vector::ExtractOp::create(b, loc, words, llvm::ArrayRef<int64_t>{w}));
  return found;
}

/// Of a load whose rows begin elsewhere than those that say how far tiles go round: its pieces, but
/// for those that wrap. `fill` as of loadRotated.
llvm::SmallVector<mlir::Value> loadShifted(mlir::OpBuilder &b, LoadOp op,
                                           RotatedPieces<LoadOp> &pieces, unsigned width,
                                           mlir::Value pad, std::optional<uint32_t> fill);

} // namespace tile::gpu

#endif
