// Stores through shared memory, emulated: what threads stage and copies take must add up to the
// tile, each element once.
#include "dialect/TileGPU/StorePlan.h"
#include "dialect/TileGPU/SharedLayout.h"

#include "gtest/gtest.h"
#include <map>

using namespace tile::gpu;

namespace {

struct Written {
  int64_t row, column;
  unsigned group;
};

/// The offset that a copy of TMA gives byte `column` of row `row` of its box: 16-byte units XORed
/// with the row's place in a pattern of 8, 4 or 2 rows of 128 bytes.
int64_t boxOffset(int64_t row, int64_t column, int64_t swizzle) {
  int64_t linear = row * swizzle + column;
  return linear ^ ((linear >> 7) & (swizzle / 16 - 1)) << 4;
}

/// Emulates a store of the tile, `height` rows at once (0: all); returns whether each warpgroup
/// worked alone, or, with `byWarp`, each warp.
bool check(const LinearLayout &layout, int64_t columns, unsigned elementBytes, bool ordered = false,
           bool byWarp = false, int64_t height = 0) {
  int64_t m = layout.getShape()[0], n = layout.getShape()[1], rows = getBlockRows(layout, byWarp);
  int64_t staged = height ? height : m;
  rows = std::min(rows, staged);
  int64_t swizzle = std::min<int64_t>(128, columns * elementBytes), width = swizzle / elementBytes;
  auto plan = StorePlan::get(layout, columns, rows, width, ordered, byWarp, height);
  EXPECT_TRUE(plan);
  if (!plan)
    return false;
  SharedLayout staging = SharedLayout::staging({staged, columns}, elementBytes, swizzle, rows);
  EXPECT_EQ(staging.getBytes(), staged * columns * elementBytes);
  unsigned warps = layout.getNumWarps(), groups = plan->isPrivate ? warps / plan->groupWarps : 1;
  EXPECT_EQ(int64_t(plan->registers.size()), n / columns * (m / staged));

  std::map<std::pair<int64_t, int64_t>, int> copied;
  for (size_t chunk = 0; chunk < plan->registers.size(); ++chunk) {
    int64_t above = int64_t(chunk) / (n / columns) * staged,
            before = int64_t(chunk) % (n / columns) * columns;
    std::map<int64_t, Written> memory;
    for (unsigned warp = 0; warp < warps; ++warp)
      for (unsigned lane = 0; lane < 32; ++lane)
        for (unsigned reg = 0; reg < plan->registers[chunk].size(); ++reg) {
          Coord inTile = layout.apply(plan->registers[chunk][reg], lane, warp),
                inChunk = plan->chunk.apply(reg, lane, warp);
          EXPECT_EQ(inTile[0], inChunk[0] + above);
          EXPECT_EQ(inTile[1], inChunk[1] + before);
          memory[staging.getOffset(inChunk)] = {inTile[0], inTile[1], warp / plan->groupWarps};
        }
    for (unsigned group = 0; group < groups; ++group) {
      int64_t first = 0, firstColumn = 0;
      for (size_t bit = 0; bit < plan->rowImages.size(); ++bit)
        if (plan->isPrivate && group >> bit & 1) {
          first ^= plan->rowImages[bit];
          firstColumn ^= plan->columnImages[bit];
        }
      for (int64_t row : plan->rows)
        for (int64_t start : plan->columns) {
          int64_t column = firstColumn ^ start;
          int64_t source = (first ^ row) * columns * elementBytes + column * elementBytes * rows;
          EXPECT_EQ(source % 128, 0);
          for (int64_t r = 0; r < rows; ++r)
            for (int64_t c = 0; c < width; ++c) {
              auto found = memory.find(source + boxOffset(r, c * elementBytes, swizzle));
              if (found == memory.end()) {
                ADD_FAILURE() << "nothing staged for row " << r << " of the box at " << source;
                return false;
              }
              EXPECT_EQ(found->second.row, above + (first ^ row) + r);
              EXPECT_EQ(found->second.column, before + column + c);
              if (plan->isPrivate)
                EXPECT_EQ(found->second.group, group);
              ++copied[{found->second.row, found->second.column}];
            }
        }
    }
  }
  EXPECT_EQ(int64_t(copied.size()), m * n);
  for (auto &[place, count] : copied)
    EXPECT_EQ(count, 1) << place.first << ", " << place.second;
  return plan->isPrivate && plan->groupWarps == (byWarp ? 1u : 4u);
}

LinearLayout accumulator(int64_t m, int64_t n, unsigned warpsM, unsigned warpsN) {
  return LinearLayout::mmaAccumulator(m, n, warpsM, warpsN);
}

TEST(StorePlan, WarpgroupsWithRowsOfTheirOwn) {
  EXPECT_TRUE(check(accumulator(128, 256, 8, 1), 128, 2));
  EXPECT_TRUE(check(accumulator(128, 128, 8, 1), 64, 4));
  EXPECT_TRUE(check(accumulator(256, 64, 8, 1), 64, 2)); // two blocks each, apart
  EXPECT_TRUE(check(accumulator(256, 128, 16, 1), 32, 1));
  EXPECT_TRUE(check(accumulator(128, 16, 8, 1), 16, 2));                    // narrow rows
  EXPECT_TRUE(check(LinearLayout::blocked({64, 64}, {1, 0}, 8, 8), 64, 2)); // 16 rows at a time
}

TEST(StorePlan, WarpgroupsSideBySide) {
  EXPECT_TRUE(check(accumulator(64, 128, 4, 2), 128, 2));
  EXPECT_TRUE(check(accumulator(64, 128, 4, 2), 128, 4));
  EXPECT_TRUE(check(accumulator(128, 128, 8, 2), 128, 2)); // four, two by two
  EXPECT_TRUE(
      check(accumulator(256, 16, 8, 1).permute({1, 0}), 128, 2)); // a product computed transposed
  EXPECT_FALSE(check(accumulator(64, 64, 4, 2), 64, 2));          // one copy holds columns of both
}

TEST(StorePlan, RowsThatRegistersCount) {
  LinearLayout transposed = accumulator(128, 256, 8, 1).permute({1, 0});
  EXPECT_TRUE(check(transposed, 128, 2, /*ordered=*/false, /*byWarp=*/false, /*height=*/64));
  EXPECT_TRUE(check(transposed, 128, 2, /*ordered=*/false, /*byWarp=*/false, /*height=*/128));
  // Two blocks of columns for each of two warpgroups, in two chunks.
  EXPECT_TRUE(check(accumulator(256, 128, 8, 1).permute({1, 0}), 128, 2, /*ordered=*/false,
                    /*byWarp=*/false, /*height=*/64));
  EXPECT_EQ(getStagedRows(transposed, 2, 32 * 1024), 128);
  EXPECT_EQ(getStagedRows(transposed, 2, 64 * 1024), 0); // all
  // Threads share the rows out.
  EXPECT_EQ(getStagedRows(accumulator(512, 64, 8, 2), 4, 32 * 1024), 0);
  EXPECT_FALSE(StorePlan::get(accumulator(128, 256, 8, 1), 128, 64, 64, false, false, 64));
}

TEST(StorePlan, AllThreadsTogether) {
  EXPECT_FALSE(check(accumulator(64, 256, 4, 1), 128, 2)); // one warpgroup
  EXPECT_FALSE(check(accumulator(128, 128, 8, 1), 64, 2, /*ordered=*/true));
  EXPECT_FALSE(check(accumulator(64, 64, 8, 1), 64, 2)); // the second holds duplicates
}

TEST(StorePlan, WarpsAlone) {
  EXPECT_TRUE(check(accumulator(64, 128, 4, 2), 128, 4, /*ordered=*/false, /*byWarp=*/true));
  EXPECT_TRUE(check(accumulator(64, 128, 4, 1), 32, 4, /*ordered=*/false,
                    /*byWarp=*/true)); // one warpgroup
  EXPECT_TRUE(check(accumulator(256, 64, 16, 1), 64, 4, /*ordered=*/false, /*byWarp=*/true));
  EXPECT_TRUE(check(accumulator(128, 64, 4, 1), 32, 4, /*ordered=*/false,
                    /*byWarp=*/true)); // two blocks each
  EXPECT_FALSE(check(accumulator(64, 64, 4, 2), 64, 2, /*ordered=*/false,
                     /*byWarp=*/true)); // one copy holds columns of two
  EXPECT_FALSE(check(accumulator(64, 128, 4, 2), 128, 4, /*ordered=*/true, /*byWarp=*/true));
}

TEST(StorePlan, ColumnsThatThreadsCount) {
  LinearLayout sideBySide = accumulator(64, 128, 4, 2);
  EXPECT_FALSE(StorePlan::get(sideBySide, 32, 64, 32, false));
  EXPECT_FALSE(StorePlan::get(LinearLayout::blocked({64, 64}, {1, 0}, 8, 8), 32, 64, 32, false));
}

TEST(StorePlan, BlocksOfRows) {
  EXPECT_EQ(getBlockRows(accumulator(128, 256, 8, 1)), 64);
  EXPECT_EQ(getBlockRows(accumulator(128, 128, 4, 1)), 128);
  EXPECT_EQ(getBlockRows(accumulator(512, 16, 4, 1)), 256); // the most that a copy takes
  EXPECT_EQ(getBlockRows(accumulator(64, 128, 4, 2), /*byWarp=*/true), 16);
}

} // namespace
