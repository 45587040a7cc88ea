// Offsets in shared memory, vector accesses and matrix loads, all derived from images of single
// bits.
//
// A tile of R rows whose rows are longer than a panel lies panel by panel:
//
//   tile                     memory
//   row 0 | A0 | B0 |        | A0 | A1 | .. | A(R-1) | B0 | B1 | .. | B(R-1) |
//   row 1 | A1 | B1 |        a row of a panel has `swizzle` bytes
//
// and of each 128 bytes, the 16-byte chunks change places by the number of the 128 bytes. With a
// swizzle of 128 bytes, these are the chunks in the order in which they lie:
//
//   row 0   0 1 2 3 4 5 6 7     so that eight rows of one chunk, which a matrix load or wgmma
//   row 1   1 0 3 2 5 4 7 6     reads together, lie in different banks
//   row 2   2 3 0 1 6 7 4 5
//
// Offsets are linear over xor, as layouts are: offset(a ^ b) = offset(a) ^ offset(b) for extents
// that are powers of two. Images of single bits therefore say everything.
//
// Who chooses order and swizzle: `stage` in AssignLayouts.cpp for tiles in a memdesc,
// getStagingLayout for stores by TMA, getConversionScratch (SharedMemory.cpp) for conversions.
#include "dialect/TileGPU/SharedLayout.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cassert>

using namespace llvm;

namespace tile::gpu {

SharedLayout::SharedLayout(ArrayRef<int64_t> shape, ArrayRef<int64_t> order, unsigned elementBytes,
                           unsigned swizzle, ArrayRef<int64_t> used)
    : shape(shape.begin(), shape.end()), order(order.begin(), order.end()),
      used(used.empty() ? this->shape : SmallVector<int64_t, 4>(used.begin(), used.end())),
      elementBytes(elementBytes), panelBytes(swizzle), chunkMask(swizzle ? swizzle / 16 - 1 : 0) {
  assert(order.size() == shape.size() && "an order names every dimension once");
}

/// The pattern of 128 bytes as for hardware, but with the unit that accesses have, and no alignment
/// to 1024: only our own accesses read it.
SharedLayout SharedLayout::scratch(ArrayRef<int64_t> shape, unsigned fastest, unsigned elementBytes,
                                   unsigned granule) {
  SmallVector<int64_t> order;
  if (!shape.empty())
    order.push_back(fastest);
  for (unsigned d = shape.size(); d-- > 0;)
    if (d != fastest)
      order.push_back(d);
  SharedLayout layout(shape, order, elementBytes, 0);
  layout.hardware = false;
  if (!shape.empty())
    layout.panelBytes = std::min<int64_t>(128, shape[fastest] * elementBytes);
  layout.granule = std::max(granule, elementBytes);
  layout.chunkMask = std::max(128u / layout.granule, 1u) - 1;
  return layout;
}

/// As the copy engine reads it: a box of rows is a matrix of panels of its own.
SharedLayout SharedLayout::staging(ArrayRef<int64_t> shape, unsigned elementBytes, unsigned swizzle,
                                   int64_t blockRows) {
  SmallVector<int64_t> order;
  for (unsigned d = shape.size(); d-- > 0;)
    order.push_back(d);
  SharedLayout layout(shape, order, elementBytes, swizzle);
  layout.blockRows = blockRows;
  return layout;
}

/// A dimension counts whole where one behind it in the order has several positions in use.
int64_t SharedLayout::getUsedRowsEnd() const {
  int64_t rows = 1;
  bool partial = false;
  for (size_t i = order.size(); i-- > 1;) {
    rows *= partial ? shape[order[i]] : used[order[i]];
    partial |= used[order[i]] > 1;
  }
  return rows;
}

/// A row narrower than a panel takes the panel's bytes.
int64_t SharedLayout::getUsedRowBytes() const {
  if (order.empty())
    return elementBytes;
  int64_t bytes = used[order[0]] * elementBytes;
  return panelBytes ? int64_t(alignTo(bytes, panelBytes)) : bytes;
}

int64_t SharedLayout::getUsedBytes() const {
  int64_t rows = 1;
  for (size_t i = 1; i < order.size(); ++i)
    rows *= used[order[i]];
  return rows * getUsedRowBytes();
}

/// Panels begin where the swizzle's pattern does, every 8 rows.
int64_t SharedLayout::getPanelRows() const {
  int64_t rows = 1;
  for (size_t i = 1; i < order.size(); ++i)
    rows *= shape[order[i]];
  if (order.size() == 2 && panelBytes)
    rows = std::min(rows, int64_t(alignTo(used[order[1]], 8)));
  return rows;
}

/// Of a padded tile, up to the last row that an instruction of wgmma may read in the last panel:
///
///   panel 0 | used |  panel 1 | used |  panel 2 | used |  (no bytes)
int64_t SharedLayout::getBytes() const {
  int64_t rows = getPanelRows();
  // An instruction reads 64 rows of its first operand.
  constexpr int64_t instructionRows = 64;
  int64_t last = std::min(rows, int64_t(alignTo(getUsedRowsEnd(), instructionRows)));
  if (!panelBytes && order.size() == 1)
    return used[0] * elementBytes;
  if (!panelBytes)
    return last * (order.empty() ? elementBytes : shape[order[0]] * elementBytes);
  return ((getUsedRowBytes() / panelBytes - 1) * rows + last) * panelBytes;
}

/// Panel, then row, then bytes in the row; at the end the chunk is XORed with the line's number.
uint32_t SharedLayout::getOffset(ArrayRef<int64_t> coord) const {
  if (order.empty())
    return 0;
  // Rows count all dimensions but the fastest, in the layout's order.
  uint64_t row = 0, rows = getPanelRows();
  for (size_t i = order.size(); i-- > 1;)
    row = row * shape[order[i]] + coord[order[i]];
  uint64_t x = coord[order[0]] * elementBytes;
  if (!panelBytes)
    return row * shape[order[0]] * elementBytes + x;
  uint64_t before = 0; // bytes of the blocks above
  if (blockRows) {
    before = row / blockRows * blockRows *
             std::max<uint64_t>(shape[order[0]] * elementBytes, panelBytes);
    row %= blockRows;
    rows = blockRows;
  }
  uint64_t offset = before + (x / panelBytes * rows + row) * panelBytes + x % panelBytes;
  // Bits of the 128-byte line's number, as many as there are chunks, go into the chunk's number.
  return offset ^ (offset / 128 & chunkMask) * granule;
}

//===--- Accesses ---------------------------------------------------------===//

SharedAccess::SharedAccess(const LinearLayout &layout, const SharedLayout &shared,
                           unsigned maxBytes) {
  for (unsigned in = 0; in < numInDims; ++in)
    for (const Coord &basis : layout.getBases(InDim(in)))
      images[in].push_back(shared.getOffset(basis));

  // Register bits whose images are 1, 2, 4, ... elements, as long as nothing else moves within such
  // a group.
  // A vector access needs registers that differ in the lowest bits of the address, and nothing else
  // there: else lanes would be apart by less than a vector.
  ArrayRef<uint32_t> registers = images[unsigned(InDim::Register)];
  for (unsigned bytes = shared.getElementBytes(); bytes < maxBytes; bytes *= 2) {
    auto found = llvm::find(registers, bytes);
    if (found == registers.end())
      break;
    unsigned bit = found - registers.begin();
    bool alone = true;
    for (unsigned in = 0; in < numInDims; ++in)
      for (unsigned other = 0; other < images[in].size(); ++other)
        alone &= (in == unsigned(InDim::Register) && other == bit) || !(images[in][other] & bytes);
    if (!alone)
      break;
    vectorBits.push_back(bit);
  }
}

SmallVector<uint32_t> SharedAccess::getThreadImages() const {
  SmallVector<uint32_t> result(getImages(InDim::Lane));
  llvm::append_range(result, getImages(InDim::Warp));
  return result;
}

uint32_t SharedAccess::getOffset(unsigned reg) const {
  uint32_t offset = 0;
  for (auto [bit, image] : enumerate(getImages(InDim::Register)))
    if (reg >> bit & 1)
      offset ^= image;
  return offset;
}

/// Registers with the vector's bits 0 begin an access each.
SmallVector<SmallVector<unsigned>> SharedAccess::getAccesses(bool distinct) const {
  unsigned vectorMask = 0, numRegisters = 1u << getImages(InDim::Register).size();
  for (unsigned bit : vectorBits)
    vectorMask |= 1u << bit;
  SmallVector<SmallVector<unsigned>> accesses;
  SmallVector<uint32_t> seen;
  for (unsigned first = 0; first < numRegisters; ++first) {
    if (first & vectorMask)
      continue;
    // Equal offsets are the same element.
    if (distinct) {
      uint32_t offset = getOffset(first);
      if (is_contained(seen, offset))
        continue;
      seen.push_back(offset);
    }
    auto &registers = accesses.emplace_back();
    for (unsigned i = 0; i < getVectorSize(); ++i) {
      unsigned reg = first;
      for (auto [position, bit] : enumerate(vectorBits))
        if (i >> position & 1)
          reg |= 1u << bit;
      registers.push_back(reg);
    }
  }
  return accesses;
}

//===--- Matrix loads -----------------------------------------------------===//

/// Accesses to one bank, at most, of the lanes that are served together.
/// Wide accesses are served in parts: lanes of 128 bytes together. Lanes that read one word get it
/// at once.
static unsigned countConflicts(const LinearLayout &layout, const SharedLayout &shared) {
  constexpr unsigned bankBytes = 4, banks = 32, warpLanes = 32;
  SharedAccess access(layout, shared);
  unsigned bytes = access.getVectorSize() * shared.getElementBytes(),
           lanes = std::min(warpLanes, banks * bankBytes / bytes);
  ArrayRef<uint32_t> images = access.getImages(InDim::Lane);
  SmallVector<SmallVector<uint32_t>> words(banks);
  unsigned most = 1;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    uint32_t offset = 0;
    for (auto [bit, image] : enumerate(images))
      offset ^= lane >> bit & 1 ? image : 0;
    for (uint32_t word = offset / bankBytes; word <= (offset + bytes - 1) / bankBytes; ++word) {
      auto &bank = words[word % banks];
      if (!is_contained(bank, word))
        bank.push_back(word);
      most = std::max<unsigned>(most, bank.size());
    }
  }
  return most;
}

/// Tries each pair of a lane's and a register's bit; the best is kept, if it is better than none.
std::optional<LaneSwap> findLaneSwap(const LinearLayout &layout, const SharedLayout &shared) {
  std::optional<LaneSwap> best;
  unsigned fewest = countConflicts(layout, shared),
           size = SharedAccess(layout, shared).getVectorSize();
  ArrayRef<Coord> registers = layout.getBases(InDim::Register),
                  lanes = layout.getBases(InDim::Lane);
  for (unsigned lane = 0; lane < lanes.size(); ++lane)
    for (unsigned reg = 0; reg < registers.size(); ++reg) {
      SmallVector<Coord> moved(lanes);
      // In lanes with the bit set, registers with and without theirs change places: the lane's
      // basis gets the register's added.
      for (auto [x, y] : zip(moved[lane], registers[reg]))
        x ^= y;
      LinearLayout trial(layout.getShape(), registers, moved, layout.getBases(InDim::Warp));
      // The elements that one access moves stay together.
      if (SharedAccess(trial, shared).getVectorSize() != size)
        continue;
      if (unsigned conflicts = countConflicts(trial, shared); conflicts < fewest) {
        fewest = conflicts;
        best = LaneSwap{lane, reg, trial};
      }
    }
  return best;
}

// An 8x8 matrix is 8 rows of 16 bytes, row r at the address that lane r (of matrix 0; 8 + r of
// matrix 1, ...) gives. Lane l receives bytes 4 (l mod 4) to 4 (l mod 4) + 3 of row l / 4;
// transposed, in units of 2 bytes, column l / 4 of rows 2 (l mod 4) and 2 (l mod 4) + 1.
// The pattern of lanes must be that of a matrix: four lanes to a row of 16 bytes, eight rows.
std::optional<MatrixLoads> getMatrixLoads(const LinearLayout &layout, const SharedLayout &shared) {
  SharedAccess access(layout, shared, 4);
  ArrayRef<uint32_t> registers = access.getImages(InDim::Register),
                     lanes = access.getImages(InDim::Lane), warps = access.getImages(InDim::Warp);
  if (lanes.size() != 5)
    return std::nullopt;

  MatrixLoads result;
  SmallVector<unsigned> packed;    // the register bits within a result of 4 bytes
  SmallVector<uint32_t> rowImages; // bits 0 to 2 of a row's number
  unsigned elementBytes = shared.getElementBytes();
  auto findImage = [&](uint32_t image) {
    return unsigned(llvm::find(registers, image) - registers.begin());
  };

  // Plain: lane bits 0 and 1 move 4 and 8 bytes in the row, bits 2 to 4 the row.
  if (lanes[0] == 4 && lanes[1] == 8) {
    result.transposed = false;
    for (unsigned bytes = elementBytes; bytes < 4; bytes *= 2)
      packed.push_back(findImage(bytes));
    rowImages.assign({lanes[2], lanes[3], lanes[4]});
  } else if (elementBytes == 2 && lanes[2] == 2 && lanes[3] == 4 && lanes[4] == 8 &&
             !registers.empty()) {
    // Transposed: lanes move along columns of 2 bytes, and the packed register is the neighbour in
    // the next row.
    result.transposed = true;
    packed.push_back(0);
    rowImages.assign({registers[0], lanes[0], lanes[1]});
  } else {
    return std::nullopt;
  }
  if (elementBytes > 4 ||
      llvm::any_of(packed, [&](unsigned bit) { return bit >= registers.size(); }))
    return std::nullopt;

  // The rest must move whole rows of 16 bytes.
  SmallVector<unsigned> free;
  for (unsigned bit = 0; bit < registers.size(); ++bit)
    if (!is_contained(packed, bit))
      free.push_back(bit);
  // A row's address must be a multiple of 16.
  auto wholeRows = [](uint32_t image) { return image % 16 == 0; };
  if (!all_of(rowImages, wholeRows) || !all_of(warps, wholeRows) ||
      !all_of(free, [&](unsigned bit) { return wholeRows(registers[bit]); }))
    return std::nullopt;

  // Up to four matrices in one instruction, by register bits that are free.
  unsigned matrixBits = std::min<size_t>(2, free.size());
  result.matrices = 1u << matrixBits;
  result.addressImages = rowImages;
  // Lanes 8 to 31 address the other matrices, by their bits 3 and 4.
  for (unsigned i = 0; i < 2; ++i)
    result.addressImages.push_back(i < matrixBits ? registers[free[i]] : 0);
  append_range(result.addressImages, warps);

  // Spreads the bits of a number over the given places.
  auto deposit = [](unsigned value, ArrayRef<unsigned> bits) {
    unsigned reg = 0;
    for (auto [position, bit] : enumerate(bits))
      if (value >> position & 1)
        reg |= 1u << bit;
    return reg;
  };
  ArrayRef<unsigned> freeBits(free);
  for (unsigned i = 0; i < 1u << (free.size() - matrixBits); ++i) {
    MatrixLoads::Load load;
    unsigned first = deposit(i, freeBits.drop_front(matrixBits));
    load.offset = access.getOffset(first);
    for (unsigned matrix = 0; matrix < result.matrices; ++matrix)
      for (unsigned element = 0; element < 1u << packed.size(); ++element)
        load.registers.push_back(first | deposit(matrix, freeBits.take_front(matrixBits)) |
                                 deposit(element, packed));
    result.loads.push_back(load);
  }
  return result;
}

} // namespace tile::gpu
