// Tiles moved by one position, emulated: what threads, lanes and edges give must be the neighbours.
#include "dialect/TileGPU/ShiftPlan.h"

#include "gtest/gtest.h"

using namespace tile::gpu;

namespace {

/// Checks every element of every thread; returns the positions of a block.
unsigned check(const LinearLayout &layout, unsigned dim, bool byLanes) {
  auto plan = ShiftPlan::get(layout, dim, byLanes);
  if (!plan)
    return 0;
  int block = plan->getBlock(), neighbours = 1 << plan->registers.size();
  auto same = ShiftPlan::get(layout, dim, int64_t(block));
  EXPECT_TRUE(same && same->edge == plan->edge);
  EXPECT_EQ(plan->edge.getShape()[dim] * block, layout.getShape()[dim]);
  for (int offset : {-1, 1})
    for (unsigned warp = 0; warp < layout.getNumWarps(); ++warp)
      for (int lane = 0; lane < 32; ++lane)
        for (unsigned reg = 0; reg < layout.getNumRegisters(); ++reg) {
          Coord wanted = layout.apply(reg, lane, warp);
          int inBlock = int(wanted[dim] % block) + offset;
          wanted[dim] += offset;
          if (inBlock < 0 || inBlock >= block) { // the edge's element of this block
            wanted[dim] = (wanted[dim] - offset) / block;
            EXPECT_EQ(plan->edge.apply(plan->getEdgeRegister(reg), lane, warp), wanted);
            continue;
          }
          int position = int(plan->getPosition(reg)) + offset, from = lane;
          if (position < 0 || position >= neighbours)
            from += offset * (1 << plan->firstLane);
          EXPECT_GE(from, 0);
          EXPECT_LT(from, 32);
          unsigned taken = plan->withPosition(reg, (position + neighbours) % neighbours);
          EXPECT_EQ(layout.apply(taken, from, warp), wanted);
        }
  return block;
}

TEST(ShiftPlan, Blocked) {
  LinearLayout rows = LinearLayout::blocked({16, 256}, {1, 0}, 4, 4);
  EXPECT_EQ(check(rows, 1, false), 4u);
  EXPECT_EQ(check(rows, 1, true), 128u);
  LinearLayout narrow = LinearLayout::blocked({64, 16}, {1, 0}, 4, 2);
  EXPECT_EQ(check(narrow, 1, true), 16u);
  EXPECT_EQ(check(narrow, 0, true), 0u); // rows lie in lanes and warps first
}

TEST(ShiftPlan, RegistersOfRows) {
  LinearLayout rows({8, 128}, {{0, 1}, {0, 2}, {1, 0}, {2, 0}},
                    {{0, 4}, {0, 8}, {0, 16}, {0, 32}, {0, 64}}, {{4, 0}});
  EXPECT_EQ(check(rows, 0, false), 4u);
  EXPECT_EQ(check(rows, 1, true), 128u);
}

TEST(ShiftPlan, LanesInOrder) {
  // Lanes 1 and 2 go along rows: the lane beside is 4 further.
  LinearLayout later({4, 64}, {{0, 1}, {0, 2}}, {{1, 0}, {2, 0}, {0, 4}, {0, 8}, {0, 16}},
                     {{0, 32}});
  EXPECT_EQ(check(later, 1, true), 32u);
  // Out of order: blocks end where the order does.
  LinearLayout mixed({4, 64}, {{0, 1}, {0, 2}}, {{0, 8}, {0, 4}, {1, 0}, {2, 0}, {0, 16}},
                     {{0, 32}});
  EXPECT_EQ(check(mixed, 1, true), 8u);
}

TEST(ShiftPlan, Refuses) {
  // Registers from the second bit on; a lane that moves along two dimensions.
  LinearLayout apart({4, 64}, {{0, 2}}, {{0, 1}, {0, 4}, {0, 8}, {0, 16}, {0, 32}},
                     {{1, 0}, {2, 0}});
  EXPECT_EQ(check(apart, 1, true), 0u);
  LinearLayout swizzled({2, 64}, {{0, 1}}, {{0, 2}, {0, 4}, {0, 8}, {0, 16}, {0, 32}}, {{1, 2}});
  EXPECT_EQ(check(swizzled, 1, true), 0u);
}

} // namespace
