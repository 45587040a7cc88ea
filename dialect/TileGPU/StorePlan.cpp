// Blocks of rows, chunks of columns, and whose they are.
//
//              chunk 0     chunk 1     a chunk: as many columns as staging memory has room for
//            +-----------+-----------+
//   block 0  | group 0   | group 0   |  a block: the rows of one copy, a box of the tensor map
//   block 1  | group 1   | group 1   |
//            +-----------+-----------+
//
// Chunks go through the same memory one after the other: a thread stores its registers of the
// chunk, then the group's first thread copies the group's blocks. Where no two groups write to one
// block (isPrivate), a group waits for its own threads alone; else all threads are one group. A
// product that was computed transposed has its columns shared out among warps, and rows in
// registers: its chunks are of fewer rows.
#include "dialect/TileGPU/StorePlan.h"

#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace llvm;

namespace tile::gpu {

/// Bits that count the warps of a warpgroup.
static constexpr unsigned warpgroupBits = 2;
/// Warpgroups have four named barriers to wait at; warps need none.
static constexpr unsigned mostWarpgroupBits = 2;
/// Extents of a copy are at most this.
static constexpr int64_t maxBox = 256;

int64_t getBlockRows(const LinearLayout &layout, bool byWarp) {
  unsigned groupWarpBits = byWarp ? 0 : warpgroupBits;
  int64_t rows = std::min(layout.getShape()[0], maxBox);
  ArrayRef<Coord> warps = layout.getBases(InDim::Warp);
  for (const Coord &basis : warps.drop_front(std::min<size_t>(groupWarpBits, warps.size())))
    if (basis[0] && basis[1] == 0)
      rows = std::min(rows, basis[0] & -basis[0]);
  return rows;
}

int64_t getStagedRows(const LinearLayout &layout, int64_t elementBytes, int64_t bytes) {
  int64_t rows = layout.getShape()[0], shared = 1, columns = 1; // rows that threads share out
  for (InDim in : {InDim::Lane, InDim::Warp})
    for (const Coord &basis : layout.getBases(in)) {
      shared = std::max(shared, 2 * basis[0]);
      columns = std::max(columns, 2 * basis[1]);
    }
  if (rows * columns * elementBytes <= bytes)
    return 0;
  while (rows * columns * elementBytes > bytes)
    rows /= 2;
  // Two chunks of half as many take turns.
  return rows / 2 >= shared ? rows : 0;
}

/// Adds what XOR with `image` makes of the numbers so far, unless they hold it already.
static void span(SmallVectorImpl<int64_t> &numbers, int64_t image) {
  if (is_contained(numbers, image))
    return;
  for (size_t i = 0, count = numbers.size(); i < count; ++i)
    numbers.push_back(numbers[i] ^ image);
}

std::optional<StorePlan> StorePlan::get(const LinearLayout &layout, int64_t columns,
                                        int64_t blockRows, int64_t blockColumns, bool ordered,
                                        bool byWarp, int64_t rows) {
  StorePlan plan;
  int64_t height = rows ? rows : layout.getShape()[0];
  auto isPowerOf2 = [](int64_t number) { return (number & (number - 1)) == 0; };
  unsigned groupWarpBits = byWarp ? 0 : warpgroupBits;
  plan.groupWarps = 1 << groupWarpBits;
  SmallVector<Coord> kept;
  SmallVector<unsigned> keptBits, chunkBits; // of a register's number
  ArrayRef<Coord> registers = layout.getBases(InDim::Register);
  for (unsigned bit = 0; bit < registers.size(); ++bit) {
    auto [row, column] = std::pair(registers[bit][0], registers[bit][1]);
    if (row < height && column < columns) {
      kept.push_back(registers[bit]);
      keptBits.push_back(bit);
    } else if ((row && column) || row % height * (row >= height) || !isPowerOf2(row) ||
               column % columns * (column >= columns) || !isPowerOf2(column)) {
      return std::nullopt;
    }
  }
  for (int64_t column = columns; column < layout.getShape()[1]; column *= 2) {
    auto found = find(registers, Coord{0, column});
    if (found == registers.end())
      return std::nullopt;
    chunkBits.push_back(found - registers.begin());
  }
  for (int64_t row = height; row < layout.getShape()[0]; row *= 2) {
    auto found = find(registers, Coord{row, 0});
    if (found == registers.end())
      return std::nullopt;
    chunkBits.push_back(found - registers.begin());
  }
  for (InDim dim : {InDim::Lane, InDim::Warp})
    for (const Coord &basis : layout.getBases(dim))
      if (basis[0] >= height || basis[1] >= columns)
        return std::nullopt;
  plan.chunk = LinearLayout({height, columns}, kept, layout.getBases(InDim::Lane),
                            layout.getBases(InDim::Warp));
  auto deposit = [](unsigned value, ArrayRef<unsigned> bits) {
    int64_t number = 0;
    for (auto [position, bit] : enumerate(bits))
      number |= int64_t(value >> position & 1) << bit;
    return number;
  };
  for (unsigned chunk = 0; chunk < 1u << chunkBits.size(); ++chunk) {
    auto &list = plan.registers.emplace_back();
    for (unsigned reg = 0; reg < 1u << keptBits.size(); ++reg)
      list.push_back(deposit(chunk, chunkBits) | deposit(reg, keptBits));
  }

  // Blocks of the first warpgroup; a further one has its own if its bits lead out of their rows, or
  // of their columns.
  plan.rows.push_back(0);
  plan.columns.push_back(0);
  ArrayRef<Coord> warps = layout.getBases(InDim::Warp);
  auto spanBlock = [&](const Coord &basis) {
    span(plan.rows, basis[0] / blockRows * blockRows);
    span(plan.columns, basis[1] / blockColumns * blockColumns);
  };
  for_each(kept, spanBlock);
  for_each(layout.getBases(InDim::Lane), spanBlock);
  for_each(warps.take_front(groupWarpBits), spanBlock);
  plan.isPrivate = !ordered && warps.size() > groupWarpBits &&
                   (byWarp || warps.size() <= groupWarpBits + mostWarpgroupBits);
  SmallVector<int64_t> allRows = plan.rows, allColumns = plan.columns;
  for (const Coord &basis : warps.drop_front(std::min<size_t>(groupWarpBits, warps.size()))) {
    bool ownRows = basis[1] == 0 && basis[0] % blockRows == 0 && !is_contained(allRows, basis[0]);
    bool ownColumns =
        basis[0] == 0 && basis[1] % blockColumns == 0 && !is_contained(allColumns, basis[1]);
    plan.isPrivate &= ownRows || ownColumns;
    plan.rowImages.push_back(basis[0]);
    plan.columnImages.push_back(basis[1]);
    span(allRows, basis[0]);
    span(allColumns, basis[1]);
  }
  if (!plan.isPrivate && byWarp)
    return get(layout, columns, blockRows, blockColumns, ordered, /*byWarp=*/false, rows);
  if (!plan.isPrivate) {
    plan.rows.clear();
    plan.columns.clear();
    for (int64_t row = 0; row < height; row += blockRows)
      plan.rows.push_back(row);
    for (int64_t column = 0; column < columns; column += blockColumns)
      plan.columns.push_back(column);
  }
  sort(plan.rows);
  sort(plan.columns);
  return plan;
}

} // namespace tile::gpu
