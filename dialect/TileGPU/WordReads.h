// Reads of bytes from shared memory by whole words, where four lanes hold the bytes of one word. No
// MLIR.
#ifndef TILE_DIALECT_TILEGPU_WORDREADS_H
#define TILE_DIALECT_TILEGPU_WORDREADS_H

#include "dialect/TileGPU/SharedLayout.h"

namespace tile::gpu {

/// How a thread reads words, of each of which it keeps one byte. Weights of 4 bits lie so in the
/// first operand of wgmma: lane t of four holds byte t of each word of a row.
struct WordReads {
  LinearLayout layout; ///< of what is read: all four lanes read the word, in registers 4 i + byte
  llvm::SmallVector<uint32_t> threadImages; ///< of a thread's bits in the number of its byte
};

/// The reads of words that give `layout`, of elements of one byte; none where a thread's bytes are
/// neighbours anyway, or too few to fill a word.
std::optional<WordReads> getWordReads(const LinearLayout &layout, const SharedLayout &shared);

} // namespace tile::gpu

#endif
