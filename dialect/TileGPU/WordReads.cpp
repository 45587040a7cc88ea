// Reads of bytes by whole words.
//
//   memory       | w0            | w1            | w2            | w3            |   one row
//   lane t of 4  reads all of it, in one access, and keeps byte t of each word
//   layout       register bits: 4 bytes, 8 bytes; lane bits: 1 byte, 2 bytes
//   its reads    register bits: 1 byte, 2 bytes (of the lanes), 4 bytes, 8 bytes
//
// One access of 16 bytes and three permutations of bytes stand for four accesses of one byte, whose
// results would have to be put together, too. Lanes that read the same get it at once.
#include "dialect/TileGPU/WordReads.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace tile::gpu {

static constexpr unsigned bytesOfWord = 4;

std::optional<WordReads> getWordReads(const LinearLayout &layout, const SharedLayout &shared) {
  SharedAccess access(layout, shared);
  if (shared.getElementBytes() != 1 || access.getVectorSize() > 1 ||
      layout.getNumRegisters() < bytesOfWord)
    return std::nullopt;
  SmallVector<Coord> registers, lanes(layout.getBases(InDim::Lane));
  WordReads reads;
  reads.threadImages.assign(access.getThreadImages().size(), 0);
  for (unsigned byte = 1; byte < bytesOfWord; byte *= 2) {
    ArrayRef<uint32_t> images = access.getImages(InDim::Lane);
    auto found = find(images, byte);
    if (found == images.end())
      return std::nullopt;
    unsigned bit = found - images.begin();
    registers.push_back(lanes[bit]);
    lanes[bit] = Coord(layout.getRank(), 0);
    reads.threadImages[bit] = byte;
  }
  append_range(registers, layout.getBases(InDim::Register));
  reads.layout = LinearLayout(layout.getShape(), registers, lanes, layout.getBases(InDim::Warp));
  if (SharedAccess(reads.layout, shared).getVectorSize() < bytesOfWord)
    return std::nullopt;
  return reads;
}

} // namespace tile::gpu
