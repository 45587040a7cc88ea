// Shared-memory layouts against the swizzle's definition, and accesses and matrix loads against an
// emulated block.
#include "dialect/TileGPU/SharedLayout.h"
#include "dialect/TileGPU/WgmmaDescriptor.h"

#include "gtest/gtest.h"
#include <map>
#include <set>
#include <vector>

using namespace tile::gpu;

namespace {

/// The number of an element, different for each, that emulated memory holds.
int64_t number(llvm::ArrayRef<int64_t> shape, const Coord &coord) {
  int64_t n = 0;
  for (size_t d = 0; d < shape.size(); ++d)
    n = n * shape[d] + coord[d];
  return n + 1;
}

/// Emulated memory: at the byte offset of each element its number.
std::vector<int64_t> fill(const SharedLayout &shared) {
  std::vector<int64_t> memory(shared.getBytes(), 0);
  llvm::ArrayRef<int64_t> shape = shared.getShape();
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  for (int64_t i = 0; i < count; ++i) {
    Coord coord(shape.size());
    int64_t rest = i;
    for (size_t d = shape.size(); d-- > 0; rest /= shape[d])
      coord[d] = rest % shape[d];
    uint32_t offset = shared.getOffset(coord);
    EXPECT_EQ(offset % shared.getElementBytes(), 0u);
    EXPECT_LE(offset + shared.getElementBytes(), memory.size());
    EXPECT_EQ(memory[offset], 0) << "two elements in one place";
    memory[offset] = number(shape, coord);
  }
  return memory;
}

uint32_t combine(llvm::ArrayRef<uint32_t> images, unsigned index) {
  uint32_t result = 0;
  for (size_t bit = 0; bit < images.size(); ++bit)
    if (index >> bit & 1)
      result ^= images[bit];
  return result;
}

// 176 of 256 rows: the second panel follows row 175 of the first, where the pattern begins anew.
TEST(SharedLayout, PanelsHaveTheRowsThatAreUsed) {
  SharedLayout whole({256, 128}, {1, 0}, 2, 128), shared({256, 128}, {1, 0}, 2, 128, {176, 128});
  EXPECT_EQ(shared.getPanelRows(), 176);
  EXPECT_EQ(shared.getBytes(), 176 * 256);
  EXPECT_EQ(shared.getUsedBytes(), 176 * 256);
  EXPECT_EQ(shared.getOffset({0, 64}), 176u * 128);
  std::set<uint32_t> seen;
  for (int64_t row = 0; row < 176; ++row)
    for (int64_t column = 0; column < 128; ++column) {
      uint32_t offset = shared.getOffset({row, column});
      EXPECT_TRUE(seen.insert(offset).second);
      EXPECT_LT(offset, shared.getBytes());
      if (column < 64)
        EXPECT_EQ(offset, whole.getOffset({row, column}));
    }
  // As wgmma reads it transposed: panels of columns are as far apart.
  EXPECT_EQ(WgmmaDescriptor(shared, 0).getBits() >> 16 & 0x3FFF, 176u * 128 / 16);
}

TEST(SharedLayout, SwizzleFollowsTheHardware) {
  for (int64_t swizzle : {32, 64, 128}) {
    SharedLayout shared({64, 128}, {1, 0}, 2, swizzle);
    EXPECT_EQ(shared.getBytes(), 64 * 128 * 2);
    EXPECT_EQ(shared.getAlignment(), 1024u);
    fill(shared);
    for (int64_t row = 0; row < 64; ++row)
      for (int64_t column = 0; column < 128; ++column) {
        int64_t panel = column * 2 / swizzle, x = column * 2 % swizzle;
        int64_t phase = swizzle == 128 ? row % 8 : swizzle == 64 ? row / 2 % 4 : row / 4 % 2;
        int64_t expected = panel * 64 * swizzle + row * swizzle + (x / 16 ^ phase) * 16 + x % 16;
        ASSERT_EQ(shared.getOffset({row, column}), uint32_t(expected));
      }
  }
}

TEST(SharedLayout, PlainAndColumnMajor) {
  SharedLayout rows({8, 32}, {1, 0}, 4, 0), columns({8, 32}, {0, 1}, 4, 0),
      cube({4, 8, 16}, {2, 0, 1}, 1, 0);
  fill(rows), fill(columns), fill(cube);
  EXPECT_EQ(rows.getOffset({3, 5}), (3u * 32 + 5) * 4);
  EXPECT_EQ(columns.getOffset({3, 5}), (5u * 8 + 3) * 4);
  EXPECT_EQ(cube.getOffset({3, 5, 7}), (5u * 4 + 3) * 16 + 7);
  EXPECT_EQ(rows.getAlignment(), 128u);
  EXPECT_EQ(SharedLayout({}, {}, 4, 0).getBytes(), 4);
}

TEST(SharedLayout, RowsShorterThanThePanel) {
  SharedLayout shared({16, 16}, {1, 0}, 2, 128);
  EXPECT_EQ(shared.getBytes(), 16 * 128);
  fill(shared);
}

TEST(SharedLayout, ScratchSpreadsColumnsOverTheBanks) {
  SharedLayout shared = SharedLayout::scratch({64, 64}, 1, 4, 4);
  fill(shared);
  for (int64_t column : {0, 7, 63}) {
    std::set<uint32_t> banks;
    for (int64_t row = 0; row < 32; ++row)
      banks.insert(shared.getOffset({row, column}) / 4 % 32);
    EXPECT_EQ(banks.size(), 32u);
  }
  fill(SharedLayout::scratch({4, 2}, 0, 2, 8));
  fill(SharedLayout::scratch({}, 0, 4, 4));
  fill(SharedLayout::scratch({4, 32, 16}, 1, 8, 16));
}

/// Every access of every thread is aligned, contiguous, and reads what the layout says.
void expectAccesses(const LinearLayout &layout, const SharedLayout &shared) {
  std::vector<int64_t> memory = fill(shared);
  SharedAccess access(layout, shared);
  unsigned bytes = access.getVectorSize() * shared.getElementBytes();
  std::set<int64_t> reached;
  for (bool distinct : {false, true})
    for (unsigned warp = 0; warp < layout.getNumWarps(); ++warp)
      for (unsigned lane = 0; lane < 32; ++lane) {
        uint32_t thread = combine(access.getThreadImages(), lane | warp << 5);
        for (auto &registers : access.getAccesses(distinct)) {
          uint32_t address = thread ^ access.getOffset(registers[0]);
          ASSERT_EQ(address % bytes, 0u);
          for (unsigned i = 0; i < registers.size(); ++i) {
            int64_t expected = number(layout.getShape(), layout.apply(registers[i], lane, warp));
            ASSERT_EQ(memory[address + i * shared.getElementBytes()], expected);
            if (distinct)
              reached.insert(expected);
          }
        }
      }
  std::set<int64_t> all(memory.begin(), memory.end());
  all.erase(0);
  EXPECT_EQ(reached, all);
}

TEST(SharedAccess, ReadsWhatTheLayoutHolds) {
  std::vector<LinearLayout> layouts = {
      LinearLayout::blocked({64, 64}, {1, 0}, 8, 4),
      LinearLayout::blocked({64, 64}, {0, 1}, 2, 8),
      LinearLayout::mmaAccumulator(64, 64, 2, 2),
      LinearLayout::mmaOperand(0, 64, 64, 16, 4, 1),
      LinearLayout::mmaOperand(1, 64, 64, 16, 2, 2),
      LinearLayout::blocked({64, 64}, {1, 0}, 4, 4).permute({1, 0}),
      LinearLayout::mmaAccumulator(64, 64, 2, 2)
          .dropDim(0)
          .insertUnitDim(0)
          .broadcastSource({1, 64}),
      LinearLayout({2, 4}, {{0, 1}, {0, 0}, {0, 2}}, {{1, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}}, {})};
  for (const LinearLayout &layout : layouts)
    for (unsigned elementBytes : {1u, 2u, 4u, 8u})
      for (std::vector<int64_t> order : {std::vector<int64_t>{1, 0}, {0, 1}}) {
        for (unsigned swizzle : {0u, 32u, 64u, 128u})
          if (layout.getShape()[order[0]] * elementBytes >= swizzle)
            expectAccesses(layout, SharedLayout(layout.getShape(), order, elementBytes, swizzle));
        for (unsigned granule : {4u, 8u, 16u})
          expectAccesses(layout,
                         SharedLayout::scratch(layout.getShape(), order[0], elementBytes, granule));
      }
}

TEST(SharedAccess, WidthOfAccesses) {
  LinearLayout layout = LinearLayout::blocked({64, 64}, {1, 0}, 8, 4);
  EXPECT_EQ(SharedAccess(layout, SharedLayout({64, 64}, {1, 0}, 2, 128)).getVectorSize(), 8u);
  EXPECT_EQ(SharedAccess(layout, SharedLayout({64, 64}, {1, 0}, 4, 128)).getVectorSize(), 4u);
  EXPECT_EQ(SharedAccess(layout, SharedLayout({64, 64}, {0, 1}, 2, 128)).getVectorSize(), 1u);
}

//===--- ldmatrix ---------------------------------------------------------===//

/// Runs the loads as the instruction is defined, on memory of single bytes, and compares every
/// register.
void expectMatrixLoads(const LinearLayout &layout, const SharedLayout &shared, bool transposed) {
  auto plan = getMatrixLoads(layout, shared);
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(plan->transposed, transposed);
  std::vector<int64_t> memory = fill(shared);
  unsigned elementBytes = shared.getElementBytes(), perResult = 4 / elementBytes;
  std::set<unsigned> filled;
  for (const MatrixLoads::Load &load : plan->loads) {
    ASSERT_EQ(load.registers.size(), plan->matrices * perResult);
    filled.insert(load.registers.begin(), load.registers.end());
    for (unsigned warp = 0; warp < layout.getNumWarps(); ++warp)
      for (unsigned matrix = 0; matrix < plan->matrices; ++matrix) {
        uint32_t rows[8];
        for (unsigned row = 0; row < 8; ++row) {
          rows[row] = combine(plan->addressImages, (matrix * 8 + row) | warp << 5) ^ load.offset;
          ASSERT_EQ(rows[row] % 16, 0u);
        }
        for (unsigned lane = 0; lane < 32; ++lane)
          for (unsigned element = 0; element < perResult; ++element) {
            uint32_t address = transposed ? rows[lane % 4 * 2 + element] + lane / 4 * 2
                                          : rows[lane / 4] + lane % 4 * 4 + element * elementBytes;
            unsigned reg = load.registers[matrix * perResult + element];
            ASSERT_EQ(memory[address], number(layout.getShape(), layout.apply(reg, lane, warp)));
          }
      }
  }
  EXPECT_EQ(filled.size(), layout.getNumRegisters());
}

/// Most of the 4-byte words of one bank that a half-warp's 8-byte accesses touch.
unsigned countPasses(const LinearLayout &layout, const SharedLayout &shared) {
  unsigned most = 0;
  for (unsigned half = 0; half < 32; half += 16) {
    std::map<uint32_t, std::set<uint32_t>> banks;
    for (unsigned lane = half; lane < half + 16; ++lane)
      for (unsigned word = 0; word < 2; ++word) {
        uint32_t address = shared.getOffset(layout.apply(0, lane, 0)) / 4 + word;
        banks[address % 32].insert(address);
      }
    for (auto &[bank, words] : banks)
      most = std::max<unsigned>(most, words.size());
  }
  return most;
}

TEST(LaneSwap, SpreadsAnAccumulatorOverTheBanks) {
  LinearLayout layout = LinearLayout::mmaAccumulator(64, 128, 4, 2);
  SharedLayout shared = SharedLayout::staging({64, 128}, 4, 128, 16);
  EXPECT_EQ(countPasses(layout, shared), 2u);
  auto swap = findLaneSwap(layout, shared);
  ASSERT_TRUE(swap);
  EXPECT_EQ(countPasses(swap->layout, shared), 1u);
  // What a register holds then is what that layout says.
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned reg = 0; reg < layout.getNumRegisters(); ++reg) {
      unsigned source = lane >> swap->laneBit & 1 ? reg ^ 1u << swap->registerBit : reg;
      EXPECT_EQ(swap->layout.apply(reg, lane, 5), layout.apply(source, lane, 5));
    }
  EXPECT_FALSE(findLaneSwap(swap->layout, shared)); // nothing left to save
}

TEST(MatrixLoads, Operands) {
  for (unsigned warps : {1u, 2u, 4u})
    for (unsigned swizzle : {0u, 32u, 64u, 128u})
      for (unsigned bits : {8u, 16u, 32u}) {
        LinearLayout a = LinearLayout::mmaOperand(0, 64, 128, bits, warps, 2),
                     b = LinearLayout::mmaOperand(1, 128, 64, bits, warps, 2);
        expectMatrixLoads(a, SharedLayout({64, 128}, {1, 0}, bits / 8, swizzle), false);
        expectMatrixLoads(b, SharedLayout({128, 64}, {0, 1}, bits / 8, swizzle), false);
        SharedLayout transposedA({64, 128}, {0, 1}, bits / 8, swizzle),
            transposedB({128, 64}, {1, 0}, bits / 8, swizzle);
        if (bits == 16) {
          expectMatrixLoads(a, transposedA, true);
          expectMatrixLoads(b, transposedB, true);
        } else {
          EXPECT_FALSE(getMatrixLoads(a, transposedA));
          EXPECT_FALSE(getMatrixLoads(b, transposedB));
        }
      }
}

TEST(MatrixLoads, SmallestFragments) {
  expectMatrixLoads(LinearLayout::mmaOperand(1, 16, 8, 16, 1, 1),
                    SharedLayout({16, 8}, {0, 1}, 2, 32), false);
  expectMatrixLoads(LinearLayout::mmaOperand(1, 16, 8, 16, 4, 1),
                    SharedLayout({16, 8}, {1, 0}, 2, 0), true);
  expectMatrixLoads(LinearLayout::mmaOperand(0, 16, 16, 16, 4, 2),
                    SharedLayout({16, 16}, {1, 0}, 2, 32), false);
}

TEST(MatrixLoads, OtherLayoutsAreRefused) {
  SharedLayout shared({64, 64}, {1, 0}, 2, 128);
  EXPECT_FALSE(getMatrixLoads(LinearLayout::blocked({64, 64}, {1, 0}, 8, 4), shared));
  EXPECT_FALSE(getMatrixLoads(LinearLayout::blocked({64, 64}, {0, 1}, 2, 4), shared));
  EXPECT_FALSE(getMatrixLoads(LinearLayout::mmaOperand(0, 64, 64, 16, 4, 1),
                              SharedLayout({64, 64}, {1, 0}, 4, 128)));
}

} // namespace
