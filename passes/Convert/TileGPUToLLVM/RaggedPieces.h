// Pieces of up to 16 bytes whose elements are loaded and stored one by one: rows that are not
// aligned.
#ifndef TILE_PASSES_CONVERT_TILEGPUTOLLVM_RAGGEDPIECES_H
#define TILE_PASSES_CONVERT_TILEGPUTOLLVM_RAGGEDPIECES_H

#include "mlir/IR/Builders.h"

namespace tile::gpu {

/// Neighbours in memory that fill `words` registers of 32 bits.
struct RaggedPiece {
  mlir::Value pointer; // of the first element, or of one `distance` elements before it; pieces of
                       // one line share theirs
  mlir::Value count; // i32: how many elements exist, from the pointer on; what is beyond a piece's
                     // end counts as all
  unsigned distance = 0;
};

/// True if pieces of `width` elements of `bits` bits can be moved so: they fill several words.
inline bool isRagged(unsigned bits, unsigned width) {
  return bits >= 8 && bits <= 32 && width * bits >= 64 && width * bits <= 128;
}

/// Loads the pieces: the words of each, one after the other. Elements that do not exist have the
/// low bits of `fill`, an i32.
llvm::SmallVector<mlir::Value> loadRagged(mlir::OpBuilder &builder, mlir::Location loc,
                                          llvm::ArrayRef<RaggedPiece> pieces, unsigned bits,
                                          unsigned words, mlir::Value fill, bool readOnly,
                                          llvm::StringRef cache);

/// Stores the elements that exist; `values` are the words of all pieces.
void storeRagged(mlir::OpBuilder &builder, mlir::Location loc, llvm::ArrayRef<RaggedPiece> pieces,
                 unsigned bits, unsigned words, llvm::ArrayRef<mlir::Value> values,
                 llvm::StringRef cache);

} // namespace tile::gpu

#endif
