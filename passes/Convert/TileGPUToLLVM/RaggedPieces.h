// Pieces of up to 16 bytes of rows that are not aligned.
#ifndef TILE_PASSES_CONVERT_TILEGPUTOLLVM_RAGGEDPIECES_H
#define TILE_PASSES_CONVERT_TILEGPUTOLLVM_RAGGEDPIECES_H

#include "mlir/IR/Builders.h"

#include <string>

namespace tile::gpu {

/// Neighbours in memory that fill `words` registers of 32 bits.
struct RaggedPiece {
  mlir::Value pointer; // of the first element, or of one `distance` elements before it; pieces of
                       // one line share theirs
  mlir::Value count; // i32: how many elements exist, from the pointer on; what is beyond a piece's
                     // end counts as all. Below 0 by more than a tile has where none exists
                     // whatever the place
  unsigned distance = 0;
};

/// How pieces are moved.
struct RaggedAccess {
  unsigned bits = 0;  ///< of an element
  unsigned words = 0; ///< of a piece
  std::string cache;  ///< of the instruction
  mlir::Value policy; ///< of the second-level cache, an i64, of aligned pieces; null: none
  /// Pieces are moved by way of the aligned windows around them: the tensor begins at a multiple of
  /// 16 bytes, and of what is loaded nothing lies at this address (i64) or behind it. Null: one
  /// element after the other.
  mlir::Value behind;
  /// i1: whether all pieces are aligned, and each exists or does not as a whole: then each is one
  /// instruction. Null: they are not.
  mlir::Value aligned;
  bool exist = false; ///< all elements do
  /// Loads and copies by registers, i1: whether both windows around each piece that exists may be
  /// read, and it exists as a whole. Null: they may not.
  mlir::Value inside;
  /// Pieces whose windows are on their way at once, in twice the registers of the pieces.
  unsigned together = ~0u;
  /// Aligned loads: what does not exist is selected behind the load, not set ahead of it.
  bool selects = false;
  bool windows = false; ///< stores: by windows where lanes are neighbours
  unsigned lanes = 1;   ///< stores: as many lanes, a power of two, hold pieces side by side
  mlir::Value lane;     ///< stores by windows: the lane's number, i32
};

/// True if pieces of `width` elements of `bits` bits can be moved so: they fill several words.
inline bool isRagged(unsigned bits, unsigned width) {
  return bits >= 8 && bits <= 32 && width * bits >= 64 && width * bits <= 128;
}

/// Loads the pieces: the words of each, one after the other. Elements that do not exist have the
/// low bits of `fill`, an i32.
llvm::SmallVector<mlir::Value> loadRagged(mlir::OpBuilder &builder, mlir::Location loc,
                                          llvm::ArrayRef<RaggedPiece> pieces,
                                          const RaggedAccess &access, mlir::Value fill,
                                          bool readOnly);

/// A piece of which the first `turn` elements lie in one place and the others in another.
struct WrappedPiece {
  mlir::Value end, begin;           // addresses that the piece's first element would have in either
  mlir::Value turn;                 // i32
  mlir::Value endCount, beginCount; // i32: how many elements exist from there on
};

/// Loads the words of one piece, element by element, all on their way at once.
llvm::SmallVector<mlir::Value> loadWrapped(mlir::OpBuilder &builder, mlir::Location loc,
                                           const WrappedPiece &piece, const RaggedAccess &access,
                                           mlir::Value fill, bool readOnly);

/// Stores the elements that exist; `values` are the words of all pieces, i32 or f32. By windows,
/// all lanes of a warp get here together.
void storeRagged(mlir::OpBuilder &builder, mlir::Location loc, llvm::ArrayRef<RaggedPiece> pieces,
                 const RaggedAccess &access, llvm::ArrayRef<mlir::Value> values);

/// A place in shared memory: a 32-bit address that several places share, and what is added to it.
struct SharedPlace {
  mlir::Value address;
  unsigned added = 0;
};

/// One way of copying pieces to shared memory.
struct RaggedWay {
  unsigned bytes = 0;      ///< that one instruction copies: 4 to 16; 0: elements go by registers
  std::string instruction; ///< up to the addresses
  mlir::Value fits;        ///< i1: whether it can be taken; null: always
};

/// How pieces are copied to shared memory.
struct RaggedCopy {
  llvm::SmallVector<RaggedWay> ways; ///< the first that can be taken is; the last one always can
  bool exist = false;                ///< all elements do
  mlir::Value when;                  ///< i1: whether anything is copied; null: it is
  mlir::Value policy;                ///< the last operand of instructions, an i64; null: none
};

/// Whether several ways of copying so many pieces may be one statement: of more, addresses and
/// numbers of elements of all would wait in registers for the statements before (a product whose
/// threads have 16 pieces spilled twice as much, and took 1.3 of its time on an H100). The widest
/// way of 8 pieces alone, as statements of 4, took 1.07: ptxas chose fewer registers.
bool canShareOperands(size_t pieces);

/// Copies the pieces to `targets`, at multiples of a piece's bytes. What does not exist is 0 there.
/// All ways are one statement, whose operands they share. Where elements go by registers, nothing
/// may exist where nothing is copied.
void copyRagged(mlir::OpBuilder &builder, mlir::Location loc, llvm::ArrayRef<RaggedPiece> pieces,
                const RaggedAccess &access, llvm::ArrayRef<SharedPlace> targets,
                const RaggedCopy &copy);

/// Adds the piece that begins with register `reg` of a GlobalAccess along dimension `fastest`;
/// `first` is the register that the last pieces count from.
/// A piece on the same line as the one before shares its address and count, moved by a known
/// distance; all others compute their own.
template <typename Access>
void addRaggedPiece(llvm::SmallVectorImpl<RaggedPiece> &pieces, unsigned &first, Access &access,
                    unsigned fastest, unsigned reg, mlir::Value condition = {}) {
  if (!pieces.empty())
    if (auto distance = access.distance(first, reg, fastest)) {
      pieces.push_back({pieces.back().pointer, pieces.back().count, *distance});
      return;
    }
  first = reg;
  pieces.push_back({access.address(reg), access.count(reg, fastest, condition)});
}

} // namespace tile::gpu

#endif
