// Linear layouts against brute force: every element of every thread is written out and compared.
#include "dialect/TileGPU/LinearLayout.h"

#include "gtest/gtest.h"
#include <map>
#include <set>
#include <vector>

using tile::gpu::Coord;
using tile::gpu::InDim;
using tile::gpu::LinearLayout;

namespace {

std::vector<int64_t> list(const Coord &coord) { return {coord.begin(), coord.end()}; }

/// Calls `visit(reg, lane, warp, coord)` for every register of every thread.
template <typename Visit> void forAll(const LinearLayout &layout, Visit visit) {
  for (unsigned warp = 0; warp < layout.getNumWarps(); ++warp)
    for (unsigned lane = 0; lane < 1u << layout.getNumBits(InDim::Lane); ++lane)
      for (unsigned reg = 0; reg < layout.getNumRegisters(); ++reg)
        visit(reg, lane, warp, list(layout.apply(reg, lane, warp)));
}

/// How often each element is held.
std::map<std::vector<int64_t>, int> count(const LinearLayout &layout) {
  std::map<std::vector<int64_t>, int> held;
  forAll(layout, [&](unsigned, unsigned, unsigned, std::vector<int64_t> coord) { ++held[coord]; });
  return held;
}

int64_t numElements(const LinearLayout &layout) {
  int64_t n = 1;
  for (int64_t extent : layout.getShape())
    n *= extent;
  return n;
}

/// isSurjective and isInjective say what counting says.
void expectCounts(const LinearLayout &layout) {
  auto held = count(layout);
  bool once = true;
  for (auto &entry : held)
    once &= entry.second == 1;
  EXPECT_EQ(layout.isSurjective(), int64_t(held.size()) == numElements(layout)) << layout.str();
  EXPECT_EQ(layout.isInjective(), once) << layout.str();
}

const LinearLayout &sample(unsigned i) {
  static const LinearLayout layouts[] = {
      LinearLayout::blocked({64, 128}, {1, 0}, 8, 4),
      LinearLayout::blocked({16, 4}, {0, 1}, 2, 2),
      LinearLayout::blocked({8}, {0}, 4, 2),
      LinearLayout::blocked({4, 16, 32}, {2, 0, 1}, 4, 8),
      LinearLayout::blocked({1, 64}, {1, 0}, 1, 1),
      LinearLayout::blocked({}, {}, 4, 4),
      LinearLayout::mmaAccumulator(64, 64, 2, 2),
      LinearLayout::mmaAccumulator(16, 8, 4, 1),
      LinearLayout::mmaOperand(0, 64, 32, 16, 2, 2),
      LinearLayout::mmaOperand(1, 64, 32, 8, 2, 4),
  };
  return layouts[i];
}
constexpr unsigned numSamples = 10;

//===--- Blocked ----------------------------------------------------------===//

TEST(LinearLayout, BlockedIsWrittenAsBases) {
  EXPECT_EQ(LinearLayout::blocked({16, 16}, {1, 0}, 2, 4).str(),
            "register = [[0, 1]], lane = [[0, 2], [0, 4], [0, 8], [1, 0], [2, 0]], warp = [[4, 0], "
            "[8, 0]]");
}

TEST(LinearLayout, BlockedCoversRowsFirst) {
  // 8 neighbours a thread, 16 threads a row of 128, 2 rows a warp, 8 rows for 4 warps; 64 rows
  // leave 8 repeats.
  LinearLayout layout = LinearLayout::blocked({64, 128}, {1, 0}, 8, 4);
  ASSERT_EQ(layout.getNumRegisters(), 64u);
  forAll(layout, [&](unsigned reg, unsigned lane, unsigned warp, std::vector<int64_t> coord) {
    std::vector<int64_t> expected = {reg / 8 * 8 + warp * 2 + lane / 16, lane % 16 * 8 + reg % 8};
    EXPECT_EQ(coord, expected);
  });
}

TEST(LinearLayout, BlockedColumnsFirst) {
  LinearLayout layout = LinearLayout::blocked({128, 8}, {0, 1}, 4, 2);
  forAll(layout, [&](unsigned reg, unsigned lane, unsigned warp, std::vector<int64_t> coord) {
    std::vector<int64_t> expected = {lane * 4 + reg % 4, reg / 4 * 2 + warp};
    EXPECT_EQ(coord, expected);
  });
}

TEST(LinearLayout, BlockedSmallTilesAreDuplicated) {
  LinearLayout layout = LinearLayout::blocked({8}, {0}, 4, 2);
  forAll(layout, [&](unsigned reg, unsigned lane, unsigned, std::vector<int64_t> coord) {
    EXPECT_EQ(coord, std::vector<int64_t>{lane % 2 * 4 + reg});
  });
  EXPECT_TRUE(layout.isSurjective());
  EXPECT_FALSE(layout.isInjective());
  EXPECT_EQ(LinearLayout::blocked({2}, {0}, 16, 1).getNumRegisters(), 2u);
}

TEST(LinearLayout, BlockedHoldsEverythingEvenly) {
  for (int64_t rows : {1, 2, 16, 256})
    for (int64_t columns : {1, 8, 64})
      for (unsigned vector : {1, 2, 8})
        for (unsigned warps : {1, 4, 8})
          for (bool rowMajor : {false, true}) {
            llvm::SmallVector<unsigned, 2> order = {rowMajor ? 1u : 0u, rowMajor ? 0u : 1u};
            LinearLayout layout = LinearLayout::blocked({rows, columns}, order, vector, warps);
            ASSERT_TRUE(layout.isSurjective());
            ASSERT_EQ(layout.getNumWarps(), warps);
            ASSERT_EQ(layout.getNumBits(InDim::Lane), 5u);
            auto held = count(layout);
            ASSERT_EQ(int64_t(held.size()), rows * columns);
            for (auto &entry : held)
              ASSERT_EQ(entry.second, held.begin()->second);
          }
}

TEST(LinearLayout, CountsAgree) {
  for (unsigned i = 0; i < numSamples; ++i)
    expectCounts(sample(i));
  expectCounts(LinearLayout({4, 4}, {{1, 1}, {2, 0}}, {{1, 1}}, {{0, 2}}));
  expectCounts(LinearLayout({4, 4}, {{1, 1}, {2, 2}}, {{1, 0}, {0, 2}}, {}));
}

//===--- Fragments of mma.sync --------------------------------------------===//

struct Element {
  unsigned lane, reg;
  int64_t row, column;
};

void expectFragment(const LinearLayout &layout, std::vector<Element> elements) {
  for (const Element &e : elements)
    EXPECT_EQ(list(layout.apply(e.reg, e.lane, 0)), (std::vector<int64_t>{e.row, e.column}))
        << "lane " << e.lane << " register " << e.reg;
}

TEST(LinearLayout, AccumulatorFragment) {
  LinearLayout c = LinearLayout::mmaAccumulator(16, 8, 1, 1);
  EXPECT_EQ(c.getNumRegisters(), 4u);
  expectFragment(c, {{0, 0, 0, 0},
                     {0, 1, 0, 1},
                     {0, 2, 8, 0},
                     {0, 3, 8, 1},
                     {1, 0, 0, 2},
                     {3, 1, 0, 7},
                     {4, 0, 1, 0},
                     {5, 3, 9, 3},
                     {18, 0, 4, 4},
                     {31, 0, 7, 6},
                     {31, 3, 15, 7}});
}

TEST(LinearLayout, OperandFragments16Bits) { // m16n8k16, f16 or bf16
  LinearLayout a = LinearLayout::mmaOperand(0, 16, 16, 16, 1, 1),
               b = LinearLayout::mmaOperand(1, 16, 8, 16, 1, 1);
  EXPECT_EQ(a.getNumRegisters(), 8u);
  EXPECT_EQ(b.getNumRegisters(), 4u);
  expectFragment(a, {{0, 0, 0, 0},
                     {0, 1, 0, 1},
                     {0, 2, 8, 0},
                     {0, 3, 8, 1},
                     {0, 4, 0, 8},
                     {0, 5, 0, 9},
                     {0, 6, 8, 8},
                     {0, 7, 8, 9},
                     {1, 0, 0, 2},
                     {6, 5, 1, 13},
                     {31, 0, 7, 6},
                     {31, 7, 15, 15}});
  expectFragment(b, {{0, 0, 0, 0},
                     {0, 1, 1, 0},
                     {0, 2, 8, 0},
                     {0, 3, 9, 0},
                     {1, 0, 2, 0},
                     {4, 0, 0, 1},
                     {7, 3, 15, 1},
                     {31, 0, 6, 7},
                     {31, 3, 15, 7}});
}

TEST(LinearLayout, OperandFragments32Bits) { // m16n8k8, tf32
  LinearLayout a = LinearLayout::mmaOperand(0, 16, 8, 32, 1, 1),
               b = LinearLayout::mmaOperand(1, 8, 8, 32, 1, 1);
  EXPECT_EQ(a.getNumRegisters(), 4u);
  EXPECT_EQ(b.getNumRegisters(), 2u);
  expectFragment(a, {{0, 0, 0, 0},
                     {0, 1, 8, 0},
                     {0, 2, 0, 4},
                     {0, 3, 8, 4},
                     {3, 0, 0, 3},
                     {4, 1, 9, 0},
                     {31, 3, 15, 7}});
  expectFragment(b, {{0, 0, 0, 0}, {0, 1, 4, 0}, {3, 0, 3, 0}, {4, 0, 0, 1}, {30, 1, 6, 7}});
}

TEST(LinearLayout, OperandFragments8Bits) { // m16n8k32, s8 or e4m3
  LinearLayout a = LinearLayout::mmaOperand(0, 16, 32, 8, 1, 1),
               b = LinearLayout::mmaOperand(1, 32, 8, 8, 1, 1);
  EXPECT_EQ(a.getNumRegisters(), 16u);
  EXPECT_EQ(b.getNumRegisters(), 8u);
  expectFragment(a, {{0, 0, 0, 0},
                     {0, 3, 0, 3},
                     {0, 4, 8, 0},
                     {0, 7, 8, 3},
                     {0, 8, 0, 16},
                     {0, 15, 8, 19},
                     {1, 0, 0, 4},
                     {4, 0, 1, 0},
                     {31, 15, 15, 31}});
  expectFragment(
      b, {{0, 0, 0, 0}, {0, 3, 3, 0}, {0, 4, 16, 0}, {2, 5, 25, 0}, {4, 0, 0, 1}, {31, 7, 31, 7}});
}

TEST(LinearLayout,
     OperandFragments64Bits) { // pairs along K, as two of m8n8k4 and m16n8k4 take them
  LinearLayout a = LinearLayout::mmaOperand(0, 16, 8, 64, 1, 1),
               b = LinearLayout::mmaOperand(1, 8, 8, 64, 1, 1);
  EXPECT_EQ(a.getNumRegisters(), 4u);
  EXPECT_EQ(b.getNumRegisters(), 2u);
  expectFragment(a, {{0, 0, 0, 0},
                     {0, 1, 0, 1},
                     {0, 2, 8, 0},
                     {0, 3, 8, 1},
                     {1, 0, 0, 2},
                     {4, 0, 1, 0},
                     {31, 3, 15, 7}});
  expectFragment(b, {{0, 0, 0, 0}, {0, 1, 1, 0}, {3, 0, 6, 0}, {4, 0, 0, 1}, {31, 1, 7, 7}});
  // Of four elements of K a lane has one.
  expectFragment(LinearLayout::mmaOperand(0, 16, 4, 64, 1, 1),
                 {{0, 1, 8, 0}, {3, 0, 0, 3}, {4, 0, 1, 0}});
  expectFragment(LinearLayout::mmaOperand(1, 4, 8, 64, 1, 1), {{3, 0, 3, 0}, {4, 0, 0, 1}});
}

TEST(LinearLayout, FragmentsMeet) {
  // In every warp, fragment f of A and B covers just the rows and columns of the accumulator's
  // fragment f.
  for (unsigned bits : {8u, 16u, 32u, 64u})
    for (unsigned warpsM : {1u, 2u, 8u})
      for (unsigned warpsN : {1u, 2u, 4u}) {
        int64_t m = 64, n = 32, k = 64;
        LinearLayout acc = LinearLayout::mmaAccumulator(m, n, warpsM, warpsN);
        LinearLayout a = LinearLayout::mmaOperand(0, m, k, bits, warpsM, warpsN),
                     b = LinearLayout::mmaOperand(1, k, n, bits, warpsM, warpsN);
        EXPECT_TRUE(acc.isSurjective() && a.isSurjective() && b.isSurjective());
        unsigned each = std::max(32 / bits, 1u), inA = 4 * each, inB = 2 * each,
                 steps = k / (8 * each); // registers of one fragment
        unsigned fragmentsM = a.getNumRegisters() / inA / steps,
                 fragmentsN = b.getNumRegisters() / inB / steps;
        ASSERT_EQ(acc.getNumRegisters(), 4 * fragmentsM * fragmentsN);
        for (unsigned warp = 0; warp < acc.getNumWarps(); ++warp)
          for (unsigned i = 0; i < fragmentsM; ++i)
            for (unsigned j = 0; j < fragmentsN; ++j)
              for (unsigned step = 0; step < steps; ++step) {
                Coord c = acc.apply(4 * (i * fragmentsN + j), 0, warp);
                Coord first = a.apply(inA * (i * steps + step), 0, warp),
                      second = b.apply(inB * (j * steps + step), 0, warp);
                ASSERT_EQ(list(first), (std::vector<int64_t>{c[0], step * 8 * each}));
                ASSERT_EQ(list(second), (std::vector<int64_t>{step * 8 * each, c[1]}));
              }
      }
}

TEST(LinearLayout, FewRowsTakeHalfOfAFragment) {
  // The upper 8 rows of each fragment; lanes beyond the last row repeat the first ones.
  for (int64_t m : {1, 2, 4, 8}) {
    LinearLayout acc = LinearLayout::mmaAccumulator(m, 32, 2, 2),
                 a = LinearLayout::mmaOperand(0, m, 32, 16, 2, 2);
    EXPECT_EQ(acc.getNumRegisters(), 4u);
    EXPECT_TRUE(acc.isSurjective() && a.isSurjective());
    forAll(acc, [&](unsigned reg, unsigned lane, unsigned warp, std::vector<int64_t> coord) {
      std::vector<int64_t> expected = {lane / 4 % m,
                                       warp / 2 * 16 + reg / 2 * 8 + lane % 4 * 2 + reg % 2};
      EXPECT_EQ(coord, expected);
    });
    forAll(a, [&](unsigned reg, unsigned lane, unsigned warp, std::vector<int64_t> coord) {
      std::vector<int64_t> expected = {lane / 4 % m,
                                       reg / 4 * 16 + reg / 2 % 2 * 8 + lane % 4 * 2 + reg % 2};
      EXPECT_EQ(coord, expected);
    });
    // And the accumulator is the next product's operand, as it is with all rows.
    EXPECT_TRUE(LinearLayout::mmaAccumulator(m, 32, 4, 1)
                    .getRegisterSources(LinearLayout::mmaOperand(0, m, 32, 16, 4, 1)));
  }
}

TEST(LinearLayout, AccumulatorOfOneWarpgroup) {
  // wgmma m64nNk16: warp w holds rows 16w to 16w+15, groups of 4 registers go along N.
  LinearLayout c = LinearLayout::mmaAccumulator(64, 64, 4, 1);
  ASSERT_EQ(c.getNumRegisters(), 32u);
  forAll(c, [&](unsigned reg, unsigned lane, unsigned warp, std::vector<int64_t> coord) {
    std::vector<int64_t> expected = {16 * warp + lane / 4 + reg / 2 % 2 * 8,
                                     reg / 4 * 8 + lane % 4 * 2 + reg % 2};
    EXPECT_EQ(coord, expected);
  });
}

TEST(LinearLayout, AccumulatorIsOperandOfNextDot) {
  for (int64_t m : {64, 128}) {
    LinearLayout acc = LinearLayout::mmaAccumulator(m, 64, 4, 1),
                 a = LinearLayout::mmaOperand(0, m, 64, 16, 4, 1);
    auto sources = acc.getRegisterSources(a);
    ASSERT_TRUE(sources.has_value());
    forAll(a, [&](unsigned reg, unsigned lane, unsigned warp, std::vector<int64_t> coord) {
      EXPECT_EQ(list(acc.apply((*sources)[reg], lane, warp)), coord);
    });
    EXPECT_FALSE(LinearLayout::mmaAccumulator(m, 64, 2, 2)
                     .getRegisterSources(LinearLayout::mmaOperand(0, m, 64, 16, 2, 2)));
    EXPECT_FALSE(acc.getRegisterSources(LinearLayout::mmaOperand(0, m, 64, 8, 4, 1)));
  }
}

//===--- Derived layouts --------------------------------------------------===//

TEST(LinearLayout, DropDim) {
  for (unsigned i = 0; i < numSamples; ++i)
    for (unsigned axis = 0; axis < sample(i).getRank(); ++axis) {
      const LinearLayout &layout = sample(i);
      LinearLayout dropped = layout.dropDim(axis);
      ASSERT_EQ(dropped.getRank(), layout.getRank() - 1);
      EXPECT_TRUE(dropped.isSurjective());
      for (unsigned warp = 0; warp < layout.getNumWarps(); ++warp)
        for (unsigned lane = 0; lane < 32; ++lane) {
          std::set<std::vector<int64_t>> expected, found;
          for (unsigned reg = 0; reg < layout.getNumRegisters(); ++reg) {
            std::vector<int64_t> coord = list(layout.apply(reg, lane, warp));
            coord.erase(coord.begin() + axis);
            expected.insert(coord);
          }
          for (unsigned reg = 0; reg < dropped.getNumRegisters(); ++reg)
            EXPECT_TRUE(found.insert(list(dropped.apply(reg, lane, warp))).second)
                << "a register holds a duplicate";
          EXPECT_EQ(found, expected);
        }
    }
}

TEST(LinearLayout, ReduceWithinWarps) {
  for (unsigned i = 0; i < numSamples; ++i)
    for (unsigned axis = 0; axis < sample(i).getRank(); ++axis) {
      const LinearLayout &layout = sample(i);
      // Of layouts whose bases move along the axis or along others.
      bool mixed = false;
      int64_t parts = 1;
      for (InDim in : {InDim::Register, InDim::Lane, InDim::Warp})
        for (const Coord &basis : layout.getBases(in))
          mixed |= basis[axis] && llvm::count(basis, 0) + 1 != int64_t(basis.size());
      for (const Coord &basis : layout.getBases(InDim::Warp))
        parts *= basis[axis] ? 2 : 1;
      if (mixed)
        continue;
      LinearLayout reduced = layout.reduceWithinWarps(axis);
      EXPECT_EQ(reduced.getShape()[axis], parts);
      EXPECT_TRUE(reduced.isSurjective());
      // What is left when the warps have been joined is what is left of the whole.
      EXPECT_EQ(reduced.dropDim(axis), layout.dropDim(axis));
      for (unsigned warp = 0; warp < layout.getNumWarps(); ++warp)
        for (unsigned other = 0; other < warp; ++other) {
          auto at = [&](const LinearLayout &each, unsigned of) {
            return each.apply(0, 0, of)[axis];
          };
          EXPECT_EQ(at(reduced, warp) == at(reduced, other), at(layout, warp) == at(layout, other));
        }
    }
}

TEST(LinearLayout, InsertUnitDim) {
  for (unsigned i = 0; i < numSamples; ++i)
    for (unsigned axis = 0; axis <= sample(i).getRank(); ++axis) {
      LinearLayout inserted = sample(i).insertUnitDim(axis);
      EXPECT_EQ(inserted.getShape()[axis], 1);
      forAll(sample(i),
             [&](unsigned reg, unsigned lane, unsigned warp, std::vector<int64_t> coord) {
               coord.insert(coord.begin() + axis, 0);
               ASSERT_EQ(list(inserted.apply(reg, lane, warp)), coord);
             });
    }
}

TEST(LinearLayout, WithBatches) {
  for (unsigned i = 0; i < numSamples; ++i) {
    LinearLayout one = sample(i), many = one.withBatches({2, 4});
    ASSERT_EQ(many.getRank(), one.getRank() + 2);
    ASSERT_EQ(many.getNumRegisters(), 8 * one.getNumRegisters());
    for (unsigned batch = 0; batch < 8; ++batch)
      forAll(one, [&](unsigned reg, unsigned lane, unsigned warp, std::vector<int64_t> coord) {
        coord.insert(coord.begin(), {batch / 4, batch % 4});
        ASSERT_EQ(list(many.apply(batch * one.getNumRegisters() + reg, lane, warp)), coord);
      });
    EXPECT_EQ(one.withBatches({}), one);
  }
}

TEST(LinearLayout, BroadcastSource) {
  LinearLayout layout = LinearLayout::blocked({4, 16, 32}, {2, 1, 0}, 4, 4);
  for (std::vector<int64_t> source :
       {std::vector<int64_t>{16, 32}, {1, 32}, {16, 1}, {32}, {1}, {4, 1, 32}, {1, 16, 1}, {}}) {
    LinearLayout narrow = layout.broadcastSource(source);
    ASSERT_EQ(std::vector<int64_t>(narrow.getShape().begin(), narrow.getShape().end()), source);
    EXPECT_TRUE(narrow.isSurjective());
    for (unsigned warp = 0; warp < 4; ++warp)
      for (unsigned lane = 0; lane < 32; ++lane) {
        std::set<std::vector<int64_t>> wanted, held;
        for (unsigned reg = 0; reg < layout.getNumRegisters(); ++reg) {
          Coord coord = layout.apply(reg, lane, warp);
          std::vector<int64_t> from(coord.end() - source.size(), coord.end());
          for (size_t d = 0; d < from.size(); ++d)
            from[d] %= source[d];
          wanted.insert(from);
        }
        for (unsigned reg = 0; reg < narrow.getNumRegisters(); ++reg)
          EXPECT_TRUE(held.insert(list(narrow.apply(reg, lane, warp))).second);
        EXPECT_EQ(wanted, held);
      }
  }
}

TEST(LinearLayout, Reshape) {
  LinearLayout layout = LinearLayout::blocked({4, 16, 32}, {2, 0, 1}, 4, 8);
  for (std::vector<int64_t> shape :
       {std::vector<int64_t>{2048}, {64, 32}, {2, 2, 512}, {1, 2048, 1}, {8, 8, 8, 4}}) {
    LinearLayout reshaped = layout.reshape(shape);
    forAll(layout, [&](unsigned reg, unsigned lane, unsigned warp, std::vector<int64_t> from) {
      Coord to = reshaped.apply(reg, lane, warp);
      int64_t flat = 0;
      for (size_t d = 0; d < shape.size(); ++d)
        flat = flat * shape[d] + to[d];
      ASSERT_EQ(flat, (from[0] * 16 + from[1]) * 32 + from[2]);
    });
  }
}

TEST(LinearLayout, Permute) {
  LinearLayout layout = LinearLayout::blocked({4, 16, 32}, {2, 0, 1}, 4, 8),
               permuted = layout.permute({2, 0, 1});
  EXPECT_EQ(std::vector<int64_t>(permuted.getShape().begin(), permuted.getShape().end()),
            (std::vector<int64_t>{32, 4, 16}));
  forAll(layout, [&](unsigned reg, unsigned lane, unsigned warp, std::vector<int64_t> from) {
    ASSERT_EQ(list(permuted.apply(reg, lane, warp)),
              (std::vector<int64_t>{from[2], from[0], from[1]}));
  });
}

//===--- Queries ----------------------------------------------------------===//

TEST(LinearLayout, SplitElements) {
  for (unsigned i = 0; i < numSamples; ++i) {
    LinearLayout layout = sample(i);
    if (layout.getRank() == 0) // has no last dimension
      continue;
    LinearLayout split = layout.splitElements();
    EXPECT_EQ(split.joinElements(), layout);
    EXPECT_EQ(split.getNumRegisters(), 2 * layout.getNumRegisters());
    forAll(layout, [&](unsigned reg, unsigned lane, unsigned warp, std::vector<int64_t> coord) {
      for (unsigned half : {0, 1}) {
        Coord expected(coord.begin(), coord.end());
        expected.back() = 2 * expected.back() + half;
        EXPECT_EQ(split.apply(2 * reg + half, lane, warp), expected) << layout.str();
      }
    });
  }
}

TEST(LinearLayout, ContiguousRegisters) {
  for (unsigned i = 0; i < numSamples; ++i)
    for (unsigned dim = 0; dim < sample(i).getRank(); ++dim) {
      const LinearLayout &layout = sample(i);
      unsigned run = layout.getContiguousRegisters(dim);
      auto holds = [&](unsigned length) { // whether aligned groups of `length` registers are
                                          // neighbours, in order
        bool result = length <= layout.getNumRegisters();
        forAll(layout, [&](unsigned reg, unsigned lane, unsigned warp, std::vector<int64_t> coord) {
          std::vector<int64_t> first = list(layout.apply(reg / length * length, lane, warp));
          first[dim] += reg % length;
          result &= first == coord;
        });
        return result;
      };
      EXPECT_TRUE(holds(run));
      EXPECT_FALSE(holds(run * 2));
    }
  // Lane 0 flips the lowest column as well: a thread's registers are neighbours, but in descending
  // order.
  EXPECT_EQ(LinearLayout({4}, {{1}, {2}}, {{1}}, {}).getContiguousRegisters(0), 1u);
}

TEST(LinearLayout, RegisterSources) {
  LinearLayout layout = LinearLayout::blocked({64, 64}, {1, 0}, 4, 4);
  auto same = layout.getRegisterSources(layout);
  ASSERT_TRUE(same.has_value());
  for (unsigned reg = 0; reg < same->size(); ++reg)
    EXPECT_EQ((*same)[reg], reg);
  EXPECT_FALSE(layout.getRegisterSources(LinearLayout::blocked({64, 64}, {0, 1}, 4, 4)));
  EXPECT_FALSE(layout.getRegisterSources(LinearLayout::blocked({64, 64}, {1, 0}, 4, 2)));
  EXPECT_FALSE(layout.getRegisterSources(LinearLayout::blocked({64, 32}, {1, 0}, 4, 4)));
  // Duplicates in registers are found, whichever side has them.
  LinearLayout once({4}, {{1}, {2}}, {}, {}), twice({4}, {{2}, {0}, {1}}, {}, {});
  EXPECT_EQ(*once.getRegisterSources(twice), (llvm::SmallVector<unsigned>{0, 2, 0, 2, 1, 3, 1, 3}));
  EXPECT_EQ(*twice.getRegisterSources(once), (llvm::SmallVector<unsigned>{0, 4, 1, 5}));
  // A register that the source lacks.
  EXPECT_FALSE(LinearLayout({4}, {{1}}, {}, {}).getRegisterSources(once));
}

TEST(LinearLayout, DuplicateMasks) {
  auto check = [](const LinearLayout &layout) {
    unsigned lanes, warps;
    layout.getDuplicateMasks(lanes, warps);
    std::map<std::vector<int64_t>, std::set<std::pair<unsigned, unsigned>>> owners;
    forAll(layout, [&](unsigned, unsigned lane, unsigned warp, std::vector<int64_t> coord) {
      if (((lane & lanes) | (warp & warps)) == 0)
        owners[coord].insert({lane, warp});
    });
    EXPECT_EQ(owners.size(), count(layout).size()) << layout.str();
    for (auto &entry : owners)
      EXPECT_EQ(entry.second.size(), 1u) << layout.str();
  };
  for (unsigned i = 0; i < numSamples; ++i) {
    check(sample(i));
    for (unsigned axis = 0; axis < sample(i).getRank(); ++axis)
      check(sample(i).dropDim(axis));
  }
  check(LinearLayout({4, 4}, {{1, 1}, {2, 0}}, {{1, 1}, {3, 1}}, {{0, 2}, {2, 2}}));
}

TEST(LinearLayout, Equality) {
  EXPECT_EQ(sample(0), LinearLayout::blocked({64, 128}, {1, 0}, 8, 4));
  EXPECT_NE(sample(0), LinearLayout::blocked({64, 128}, {1, 0}, 4, 4));
  EXPECT_NE(LinearLayout({1, 4}, {}, {}, {}), LinearLayout({4, 1}, {}, {}, {}));
}

} // namespace
