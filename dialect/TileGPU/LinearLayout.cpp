// Construction and algebra of linear layouts. No MLIR here: bases are plain integers.
//
// The accumulator of one mma.sync, [16, 8], is
//
//   register = [[0, 1], [8, 0]]      lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]]
//
//            column 0      1      2      3      4   ..   7
//   row 0         l0 r0  l0 r1  l1 r0  l1 r1  l2 r0    l3 r1
//   row 1         l4 r0  l4 r1  l5 r0  l5 r1  l6 r0    l7 r1
//   ..
//   row 8         l0 r2  l0 r3  l1 r2  l1 r3  l2 r2    l3 r3
//
// Register 3 of lane 6 has bits 0 and 1 of the one and bits 1 and 2 of the other:
// [0, 1] ^ [8, 0] ^ [0, 4] ^ [1, 0] = [9, 5].
#include "dialect/TileGPU/LinearLayout.h"
#include "dialect/TileGPU/MatrixOperands.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cassert>

using namespace llvm;

namespace tile::gpu {

namespace {

unsigned log2Exact(int64_t value) {
  assert(value > 0 && isPowerOf2_64(value) && "extents and counts of a layout are powers of two");
  return Log2_64(value);
}

bool isZero(ArrayRef<int64_t> coord) {
  return all_of(coord, [](int64_t x) { return x == 0; });
}

Coord unit(unsigned rank, unsigned dim, int64_t value) {
  Coord coord(rank, 0);
  coord[dim] = value;
  return coord;
}

/// Row-major position. Linear over F2 too, as extents are powers of two.
/// Positions as numbers: XOR of coordinates is XOR of their numbers.
uint64_t flatten(ArrayRef<int64_t> shape, ArrayRef<int64_t> coord) {
  uint64_t flat = 0;
  for (size_t d = 0; d < shape.size(); ++d)
    flat = flat * shape[d] + coord[d];
  return flat;
}

Coord unflatten(ArrayRef<int64_t> shape, uint64_t flat) {
  Coord coord(shape.size(), 0);
  for (size_t d = shape.size(); d-- > 0;) {
    coord[d] = flat % shape[d];
    flat /= shape[d];
  }
  return coord;
}

/// A growing set of independent vectors over F2.
/// Gaussian elimination: reduced by each pivot that lowers it, a vector is 0 just if it is in the
/// span.
class Span {
public:
  /// Adds `vector`; false if it was in the span already.
  bool insert(uint64_t vector) {
    for (uint64_t pivot : pivots)
      vector = std::min(vector, vector ^ pivot);
    if (!vector)
      return false;
    pivots.push_back(vector);
    return true;
  }
  unsigned getRank() const { return pivots.size(); }

private:
  SmallVector<uint64_t, 32> pivots; // each with a leading bit that no later one has
};

/// The bits 2^from, 2^(from+1), ... below `extent` of dimension `dim`.
void appendBits(SmallVectorImpl<Coord> &bases, unsigned rank, unsigned dim, int64_t from,
                int64_t extent) {
  for (int64_t bit = from; bit < extent; bit *= 2)
    bases.push_back(unit(rank, dim, bit));
}

/// `count` (a power of two) bits from 2^from up along `dim`; zero bases once `extent` is reached.
/// So many inputs there are, whether the tensor has room for them or not.
void appendClippedBits(SmallVectorImpl<Coord> &bases, unsigned rank, unsigned dim, int64_t from,
                       int64_t extent, unsigned count) {
  for (unsigned i = 0; i < log2Exact(count); ++i, from *= 2)
    bases.push_back(from < extent ? unit(rank, dim, from) : Coord(rank, 0));
}

/// Columns of an accumulator that one warp holds: whole fragments of 8.
int64_t columnsPerWarp(int64_t n, unsigned warpsN) { return std::max<int64_t>(n / warpsN, 8); }

} // namespace

/// Checked in builds with assertions alone: layouts are made by the functions below and by passes,
/// never by users.
LinearLayout::LinearLayout(ArrayRef<int64_t> shape, ArrayRef<Coord> registers,
                           ArrayRef<Coord> lanes, ArrayRef<Coord> warps)
    : shape(shape.begin(), shape.end()) {
  ArrayRef<Coord> given[numInDims] = {registers, lanes, warps};
  for (unsigned in = 0; in < numInDims; ++in)
    bases[in].assign(given[in].begin(), given[in].end());
#ifndef NDEBUG
  for (int64_t extent : shape)
    (void)log2Exact(extent);
  for (auto &list : bases)
    for (const Coord &basis : list) {
      assert(basis.size() == shape.size() && "a basis has one coordinate for each dimension");
      for (auto [x, extent] : zip(basis, shape))
        assert(x >= 0 && x < extent && "a basis lies within the tensor");
    }
#endif
}

Coord LinearLayout::apply(unsigned reg, unsigned lane, unsigned warp) const {
  unsigned index[numInDims] = {reg, lane, warp};
  Coord result(getRank(), 0);
  for (unsigned in = 0; in < numInDims; ++in)
    for (unsigned bit = 0; bit < bases[in].size(); ++bit)
      if (index[in] >> bit & 1)
        for (unsigned d = 0; d < getRank(); ++d)
          result[d] ^= bases[in][bit][d];
  return result;
}

/// The rank of the matrix over F2.
unsigned LinearLayout::getDimension() const {
  Span span;
  for (auto &list : bases)
    for (const Coord &basis : list)
      span.insert(flatten(shape, basis));
  return span.getRank();
}

bool LinearLayout::isSurjective() const {
  unsigned bits = 0;
  for (int64_t extent : shape)
    bits += log2Exact(extent);
  return getDimension() == bits;
}

/// Independent bases: no two inputs meet.
bool LinearLayout::isInjective() const {
  Span span;
  for (auto &list : bases)
    for (const Coord &basis : list)
      if (!span.insert(flatten(shape, basis)))
        return false;
  return true;
}

bool LinearLayout::operator==(const LinearLayout &other) const {
  return shape == other.shape &&
         std::equal(std::begin(bases), std::end(bases), std::begin(other.bases));
}

//===--- Families of layouts ----------------------------------------------===//

///   [8, 16], order {1, 0}, vector 4, 1 warp of 32 lanes
///     register bits   [0,1] [0,2]                        4 neighbours
///     lane bits       [0,4] [0,8] [1,0] [2,0] [4,0]      4 lanes a row, 8 rows
LinearLayout LinearLayout::blocked(ArrayRef<int64_t> shape, ArrayRef<unsigned> order,
                                   unsigned vector, unsigned numWarps, unsigned numLanes) {
  assert(order.size() == shape.size() && "an order names every dimension once");
  SmallVector<Coord> given[numInDims];
  unsigned rank = shape.size();
  unsigned wanted[numInDims] = {0, log2Exact(numLanes), log2Exact(numWarps)};
  if (rank)
    wanted[0] = std::min(log2Exact(vector), log2Exact(shape[order[0]]));

  // Deal out the tensor's bits, fastest first: the vector, lanes, warps, and again registers.
  unsigned in = 0;
  // A bit goes to the first input that wants more; registers take what no input wants.
  for (unsigned dim : order)
    for (int64_t bit = 1; bit < shape[dim]; bit *= 2) {
      while (in < numInDims && given[in].size() == wanted[in])
        ++in;
      given[in == numInDims ? 0 : in].push_back(unit(rank, dim, bit));
    }
  // Inputs that found no bits hold duplicates.
  for (unsigned i : {1u, 2u})
    given[i].resize(wanted[i], Coord(rank, 0));
  return LinearLayout(shape, given[0], given[1], given[2]);
}

LinearLayout LinearLayout::blockedRows(ArrayRef<int64_t> shape, ArrayRef<unsigned> order,
                                       unsigned vector, unsigned numWarps) {
  // As if there were one warp; then warps take the bits of registers beyond the vector, from the
  // slowest dimension on.
  // Taken from the slowest dimension: a warp keeps whole rows, as far as there are others for the
  // other warps.
  LinearLayout one = blocked(shape, order, vector, 1);
  ArrayRef<Coord> registers = one.getBases(InDim::Register);
  unsigned held = shape.empty() ? 0 : std::min(log2Exact(vector), log2Exact(shape[order[0]]));
  SmallVector<Coord> left(registers), warps;
  for (unsigned i = order.size(); i-- > 0 && warps.size() < log2Exact(numWarps);)
    for (unsigned r = held; r < left.size() && warps.size() < log2Exact(numWarps);) {
      if (!left[r][order[i]]) {
        ++r;
        continue;
      }
      warps.push_back(left[r]);
      left.erase(left.begin() + r);
    }
  warps.resize(log2Exact(numWarps), Coord(shape.size(), 0));
  return LinearLayout(shape, left, one.getBases(InDim::Lane), warps);
}

/// As PTX has it: "Matrix Fragments for mma.m16n8k16". Registers in the order in which instructions
/// take them.
LinearLayout LinearLayout::mmaAccumulator(int64_t m, int64_t n, unsigned warpsM, unsigned warpsN) {
  assert(n >= 8 && "an accumulator has at least one fragment of 8 columns");
  SmallVector<Coord> registers = {{0, 1}}, lanes = {{0, 2}, {0, 4}}, warps;
  // Up to 8 rows: the fragment's lower half does not exist.
  appendBits(registers, 2, 0, 8, std::min<int64_t>(m, 16));
  appendClippedBits(lanes, 2, 0, 1, m, 8);
  int64_t columns = columnsPerWarp(n, warpsN);
  appendBits(registers, 2, 1, 8, columns);
  // Each warp has rows at a distance of 16 * warpsM: warpsM warps cover 16 rows each, then again.
  appendBits(registers, 2, 0, 16 * int64_t(warpsM), m);
  appendClippedBits(warps, 2, 0, 16, m, warpsM);
  appendClippedBits(warps, 2, 1, columns, n, warpsN);
  return LinearLayout({m, n}, registers, lanes, warps);
}

LinearLayout LinearLayout::mmaOperand(unsigned operand, int64_t rows, int64_t columns,
                                      unsigned bits, unsigned warpsM, unsigned warpsN) {
  assert((bits == 8 || bits == 16 || bits == 32 || bits == 64) && "8 to 64 bits");
  bool isA = operand == 0;
  unsigned kDim = isA ? 1 : 0, otherDim = isA ? 0 : 1; // otherDim: M of A, N of B
  int64_t extents[2] = {rows, columns}, step = getFragmentDepth(bits, extents[kDim]);
  // Neighbours along K in a lane: those of one 32-bit register; of 64 bits all that it has.
  int64_t packed = bits == 64 ? step / 4 : 32 / bits;
  assert(extents[kDim] >= step && packed && (isA || columns >= 8) &&
         "an operand has at least one fragment");

  SmallVector<Coord> registers, lanes, warps;
  appendBits(registers, 2, kDim, 1, packed);
  if (isA)
    appendBits(registers, 2, 0, 8, std::min<int64_t>(rows, 16));
  // The second half of the 32 bytes of K.
  appendBits(registers, 2, kDim, 4 * packed, step);
  appendBits(registers, 2, kDim, step, extents[kDim]);

  appendBits(lanes, 2, kDim, packed, 4 * packed);
  appendClippedBits(lanes, 2, otherDim, 1, extents[otherDim], 8);

  if (isA) {
    appendBits(registers, 2, 0, 16 * int64_t(warpsM), rows);
    appendClippedBits(warps, 2, 0, 16, rows, warpsM);
    // Warps along the other side of the product hold the same fragments.
    warps.append(log2Exact(warpsN), Coord(2, 0));
  } else {
    int64_t perWarp = columnsPerWarp(columns, warpsN);
    appendBits(registers, 2, 1, 8, perWarp);
    warps.append(log2Exact(warpsM), Coord(2, 0));
    appendClippedBits(warps, 2, 1, perWarp, columns, warpsN);
  }
  return LinearLayout({rows, columns}, registers, lanes, warps);
}

//===--- Layouts of derived tensors ---------------------------------------===//

/// Maps every basis of `layout` by `map` (linear over F2) into `shape`; registers whose image is
/// zero are dropped if asked.
/// Linear maps of coordinates give layouts of derived tensors: bases are mapped one by one.
template <typename Map>
static LinearLayout mapBases(const LinearLayout &layout, ArrayRef<int64_t> shape,
                             bool dropZeroRegisters, Map map) {
  SmallVector<Coord> mapped[numInDims];
  for (unsigned in = 0; in < numInDims; ++in)
    for (const Coord &basis : layout.getBases(InDim(in))) {
      Coord image = map(basis);
      if (in != unsigned(InDim::Register) || !dropZeroRegisters || !isZero(image))
        mapped[in].push_back(image);
    }
  return LinearLayout(shape, mapped[0], mapped[1], mapped[2]);
}

/// Lanes and warps keep their number of bits, with zero bases: they hold duplicates of the reduced
/// tile.
LinearLayout LinearLayout::dropDim(unsigned axis) const {
  assert(axis < getRank());
  auto drop = [&](Coord coord) {
    coord.erase(coord.begin() + axis);
    return coord;
  };
  return mapBases(*this, drop(Coord(shape.begin(), shape.end())), /*dropZeroRegisters=*/true, drop);
}

LinearLayout LinearLayout::reduceWithinWarps(unsigned axis) const {
  assert(axis < getRank());
  SmallVector<int64_t> extents(shape.begin(), shape.end());
  int64_t parts = 1;
  SmallVector<Coord> warps(getBases(InDim::Warp));
  for (Coord &basis : warps)
    if (basis[axis]) {
      basis[axis] = parts;
      parts *= 2;
    }
  extents[axis] = parts;
  LinearLayout within = mapBases(*this, extents, /*dropZeroRegisters=*/true, [&](Coord coord) {
    coord[axis] = 0;
    return coord;
  });
  return LinearLayout(extents, within.getBases(InDim::Register), within.getBases(InDim::Lane),
                      warps);
}

LinearLayout LinearLayout::insertUnitDim(unsigned axis) const {
  assert(axis <= getRank());
  auto insert = [&](Coord coord, int64_t value) {
    coord.insert(coord.begin() + axis, value);
    return coord;
  };
  return mapBases(*this, insert(Coord(shape.begin(), shape.end()), 1), /*dropZeroRegisters=*/false,
                  [&](const Coord &coord) { return insert(coord, 0); });
}

/// Batches are registers of the same thread.
LinearLayout LinearLayout::withBatches(ArrayRef<int64_t> leading) const {
  LinearLayout lifted = *this;
  for (size_t i = 0; i < leading.size(); ++i)
    lifted = lifted.insertUnitDim(0);
  SmallVector<int64_t> extents(lifted.shape.begin(), lifted.shape.end());
  SmallVector<Coord> registers(lifted.bases[unsigned(InDim::Register)].begin(),
                               lifted.bases[unsigned(InDim::Register)].end());
  for (size_t d = leading.size(); d-- > 0;) {
    extents[d] = leading[d];
    for (int64_t bit = 1; bit < leading[d]; bit *= 2) {
      registers.push_back(Coord(extents.size(), 0));
      registers.back()[d] = bit;
    }
  }
  return LinearLayout(extents, registers, lifted.getBases(InDim::Lane),
                      lifted.getBases(InDim::Warp));
}

LinearLayout LinearLayout::broadcastSource(ArrayRef<int64_t> source) const {
  assert(source.size() <= getRank());
  size_t leading = getRank() - source.size();
  // Dimensions that are repeated have one element, which all positions map to.
  return mapBases(*this, source, /*dropZeroRegisters=*/true, [&](const Coord &coord) {
    Coord result(coord.begin() + leading, coord.end());
    for (auto [x, extent] : zip(result, source))
      if (extent == 1)
        x = 0;
    return result;
  });
}

/// Bits along the last dimension move up by one, and the lowest is a new register bit, in front.
LinearLayout LinearLayout::splitElements() const {
  auto stretch = [](Coord coord) {
    coord.back() *= 2;
    return coord;
  };
  Coord to = stretch(Coord(shape.begin(), shape.end()));
  LinearLayout result = mapBases(*this, to, /*dropZeroRegisters=*/false, stretch);
  auto &registers = result.bases[unsigned(InDim::Register)];
  registers.insert(registers.begin(), unit(getRank(), getRank() - 1, 1));
  return result;
}

LinearLayout LinearLayout::joinElements() const {
  assert(!getBases(InDim::Register).empty() &&
         getBases(InDim::Register)[0] == unit(getRank(), getRank() - 1, 1) &&
         "neighbours are in neighbouring registers");
  LinearLayout source = *this;
  auto &registers = source.bases[unsigned(InDim::Register)];
  registers.erase(registers.begin());
  auto shrink = [](Coord coord) {
    coord.back() /= 2;
    return coord;
  };
  return mapBases(source, shrink(Coord(shape.begin(), shape.end())), /*dropZeroRegisters=*/false,
                  shrink);
}

/// Row-major numbers are the same in both shapes.
LinearLayout LinearLayout::reshape(ArrayRef<int64_t> to) const {
  return mapBases(*this, to, /*dropZeroRegisters=*/false,
                  [&](const Coord &coord) { return unflatten(to, flatten(shape, coord)); });
}

LinearLayout LinearLayout::permute(ArrayRef<int64_t> permutation) const {
  assert(permutation.size() == getRank());
  auto reorder = [&](const Coord &coord) {
    Coord result;
    for (int64_t dim : permutation)
      result.push_back(coord[dim]);
    return result;
  };
  return mapBases(*this, reorder(Coord(shape.begin(), shape.end())), /*dropZeroRegisters=*/false,
                  reorder);
}

//===--- Queries ----------------------------------------------------------===//

unsigned LinearLayout::getContiguousRegisters(unsigned dim) const {
  assert(dim < getRank());
  ArrayRef<Coord> registers = getBases(InDim::Register);
  // Registers 0, 1, 2, ... hold positions 0, 1, 2, ...: bits in order from the first.
  unsigned count = 0;
  while (count < registers.size() && registers[count] == unit(getRank(), dim, int64_t(1) << count))
    ++count;
  // Bits of other inputs below the run would break it: neighbours would no longer be in ascending
  // order.
  // A bit of another input that moves x along `dim` limits runs to the lowest bit of x.
  for (unsigned in = 0; in < numInDims; ++in)
    for (unsigned bit = in == unsigned(InDim::Register) ? count : 0; bit < bases[in].size(); ++bit)
      if (int64_t x = bases[in][bit][dim])
        count = std::min<unsigned>(count, countr_zero(uint64_t(x)));
  return 1u << count;
}

/// Same threads, other registers: found by the elements of thread 0, in O(n log n).
std::optional<SmallVector<unsigned>>
LinearLayout::getRegisterSources(const LinearLayout &target) const {
  if (shape != target.shape || bases[1] != target.bases[1] || bases[2] != target.bases[2])
    return std::nullopt;
  // With equal lanes and warps the registers of thread 0 decide for all threads.
  SmallVector<std::pair<uint64_t, unsigned>> held;
  for (unsigned reg = 0; reg < getNumRegisters(); ++reg)
    held.push_back({flatten(shape, apply(reg, 0, 0)), reg});
  llvm::sort(held);
  SmallVector<unsigned> sources;
  for (unsigned reg = 0; reg < target.getNumRegisters(); ++reg) {
    uint64_t wanted = flatten(shape, target.apply(reg, 0, 0));
    auto found = llvm::lower_bound(held, std::pair<uint64_t, unsigned>(wanted, 0));
    if (found == held.end() || found->first != wanted)
      return std::nullopt;
    sources.push_back(found->second);
  }
  return sources;
}

void LinearLayout::getDuplicateMasks(unsigned &lanes, unsigned &warps) const {
  unsigned masks[numInDims] = {};
  Span span;
  // In the order registers, lanes, warps: a thread owns what no earlier input can reach.
  for (unsigned in = 0; in < numInDims; ++in)
    for (auto [bit, basis] : enumerate(bases[in]))
      if (!span.insert(flatten(shape, basis)))
        masks[in] |= 1u << bit;
  lanes = masks[unsigned(InDim::Lane)];
  warps = masks[unsigned(InDim::Warp)];
}

std::string LinearLayout::str() const {
  std::string text;
  raw_string_ostream out(text);
  const char *names[numInDims] = {"register", "lane", "warp"};
  for (unsigned in = 0; in < numInDims; ++in) {
    out << (in ? ", " : "") << names[in] << " = [";
    interleaveComma(bases[in], out, [&](const Coord &basis) {
      out << '[';
      interleaveComma(basis, out);
      out << ']';
    });
    out << ']';
  }
  return text;
}

} // namespace tile::gpu
