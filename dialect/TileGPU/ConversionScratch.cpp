// How a tile goes from one layout to another: by exchanges between the lanes of a warp, or through
// shared memory, in as many rounds as the room there asks for.
#include "dialect/TileGPU/SharedMemory.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tile::gpu {

/// The registers and lanes of one warp as a layout of its own: they span what a warp holds.
/// In terms of spans: does adding these vectors leave the dimension as it is?
static bool spans(const LinearLayout &layout, ArrayRef<Coord> wanted) {
  SmallVector<Coord> registers(layout.getBases(InDim::Register)),
      lanes(layout.getBases(InDim::Lane));
  unsigned before = LinearLayout(layout.getShape(), registers, lanes, {}).getDimension();
  registers.append(wanted.begin(), wanted.end());
  return LinearLayout(layout.getShape(), registers, lanes, {}).getDimension() == before;
}

/// A bit of the warp's number is a replica's if its basis is in the span of registers, lanes and
/// the warps' bits before it.
SmallVector<unsigned> getReplicaBits(const LinearLayout &layout) {
  SmallVector<unsigned> replicas;
  SmallVector<Coord> registers(layout.getBases(InDim::Register)),
      lanes(layout.getBases(InDim::Lane));
  auto dimension = [&] {
    return LinearLayout(layout.getShape(), registers, lanes, {}).getDimension();
  };
  unsigned held = dimension();
  for (auto [bit, basis] : llvm::enumerate(layout.getBases(InDim::Warp))) {
    registers.push_back(basis);
    unsigned now = dimension();
    if (now == held)
      replicas.push_back(bit);
    held = now;
  }
  return replicas;
}

/// Elements of all copies of a tile that replicated warps may have; larger tiles wait for the
/// block.
static constexpr int64_t maxReplicatedElements = 1024;

/// Three ways, the cheapest that does: within a thread, within a warp, by the block.
Exchange getExchange(const LinearLayout &source, const LinearLayout &target) {
  if (source.getRegisterSources(target))
    return Exchange::Registers;
  // Within a warp: what its lanes need is what its lanes hold, and warps stand at the same places.
  SmallVector<Coord> wanted(target.getBases(InDim::Register));
  llvm::append_range(wanted, target.getBases(InDim::Lane));
  if (source.getNumWarps() != target.getNumWarps())
    return Exchange::Block;
  // Warps may stand at different places of source and target: then the difference must lie in what
  // one warp holds.
  for (auto [from, to] : llvm::zip(source.getBases(InDim::Warp), target.getBases(InDim::Warp))) {
    Coord &difference = wanted.emplace_back(from);
    for (auto [x, y] : llvm::zip(difference, to))
      x ^= y;
  }
  if (!spans(source, wanted))
    return Exchange::Block;
  // Replicated warps exchange in memory of their own (ConvertLayout.cpp), which small tiles can
  // afford.
  unsigned replicas = getReplicaBits(source).size();
  bool fits = !replicas || llvm::product_of(source.getShape()) << replicas <= maxReplicatedElements;
  return fits ? Exchange::Warp : Exchange::Block;
}

/// The place of a bit of the coordinates: a dimension and the bit's value.
using CoordBit = std::pair<unsigned, int64_t>;

/// The only bit of a basis; none where it has several or none.
static std::optional<CoordBit> getOnlyBit(const Coord &basis) {
  std::optional<CoordBit> only;
  for (auto [dim, value] : llvm::enumerate(basis)) {
    if (!value)
      continue;
    if (only || !llvm::isPowerOf2_64(value))
      return std::nullopt;
    only = {dim, value};
  }
  return only;
}

/// The bit of the register's number that alone moves along `bit`; none where another one, or lanes
/// or warps, do so too.
static std::optional<unsigned> findRegisterBit(const LinearLayout &layout, CoordBit bit) {
  std::optional<unsigned> found;
  for (InDim dim : {InDim::Register, InDim::Lane, InDim::Warp})
    for (auto [i, basis] : llvm::enumerate(layout.getBases(dim))) {
      if (!(basis[bit.first] & bit.second))
        continue;
      if (found || dim != InDim::Register || getOnlyBit(basis) != bit)
        return std::nullopt;
      found = i;
    }
  return found;
}

/// The layout of one half along `bit`, without the register's bit that moves along it.
static LinearLayout dropBit(const LinearLayout &layout, CoordBit bit, unsigned registerBit) {
  auto drop = [&](ArrayRef<Coord> bases) {
    SmallVector<Coord> rest(bases);
    for (Coord &basis : rest) {
      int64_t &value = basis[bit.first];
      value = (value & (bit.second - 1)) | (value / (2 * bit.second) * bit.second);
    }
    return rest;
  };
  SmallVector<int64_t> shape(layout.getShape());
  shape[bit.first] /= 2;
  SmallVector<Coord> registers = drop(layout.getBases(InDim::Register));
  registers.erase(registers.begin() + registerBit);
  return LinearLayout(shape, registers, drop(layout.getBases(InDim::Lane)),
                      drop(layout.getBases(InDim::Warp)));
}

/// Takes each part's registers apart along one more bit.
static void splitRegisters(SmallVector<SmallVector<int64_t>> &parts, unsigned registerBit) {
  SmallVector<SmallVector<int64_t>> halves;
  for (const SmallVector<int64_t> &part : parts)
    for (size_t half : {0, 1}) {
      SmallVector<int64_t> &kept = halves.emplace_back();
      for (auto [i, reg] : llvm::enumerate(part))
        if (((i >> registerBit) & 1) == half)
          kept.push_back(reg);
    }
  parts = std::move(halves);
}

/// Bits of large distances first: neighbours stay together, which accesses move at once.
std::optional<ConversionRounds> getConversionRounds(const LinearLayout &source,
                                                    const LinearLayout &target, int64_t rounds) {
  ConversionRounds result{source, target, {{}}, {{}}};
  for (unsigned r = 0; r < source.getNumRegisters(); ++r)
    result.sourceRegisters.front().push_back(r);
  for (unsigned r = 0; r < target.getNumRegisters(); ++r)
    result.targetRegisters.front().push_back(r);
  for (; rounds > 1; rounds /= 2) {
    std::optional<CoordBit> best;
    for (const Coord &basis : result.source.getBases(InDim::Register)) {
      std::optional<CoordBit> bit = getOnlyBit(basis);
      if (bit && (!best || bit->second > best->second) && findRegisterBit(result.source, *bit) &&
          findRegisterBit(result.target, *bit))
        best = bit;
    }
    if (!best)
      return std::nullopt;
    unsigned from = *findRegisterBit(result.source, *best),
             to = *findRegisterBit(result.target, *best);
    splitRegisters(result.sourceRegisters, from);
    splitRegisters(result.targetRegisters, to);
    result.source = dropBit(result.source, *best, from);
    result.target = dropBit(result.target, *best, to);
  }
  return result;
}

namespace {
/// How one side of a conversion moves a thread's elements.
struct ScratchSide {
  unsigned accesses, bytes; ///< instructions, and what stays together in one
  bool byMatrices;
};
} // namespace

static ScratchSide getScratchSide(const LinearLayout &layout, const SharedLayout &scratch,
                                  bool hasMatrices) {
  if (hasMatrices)
    if (std::optional<MatrixLoads> plan = getMatrixLoads(layout, scratch))
      return {unsigned(plan->loads.size()), matrixRowBytes, true};
  unsigned size = SharedAccess(layout, scratch).getVectorSize();
  return {layout.getNumRegisters() / size, size * scratch.getElementBytes(), false};
}

/// Each dimension is tried as the fastest: accesses of both sides are counted as instructions of a
/// thread. Matrices want rows of 16 bytes whole; where the other side takes less, chunks that are
/// no larger than what it takes have fewer conflicts.
ConversionScratch getConversionScratch(const LinearLayout &source, const LinearLayout &target,
                                       Type elementType, const GPUTarget *gpu) {
  bool storesMatrices = gpu && gpu->has(Feature::StoreMatrix),
       loadsMatrices = gpu && gpu->has(Feature::LoadMatrix);
  // The fastest dimension is that which makes for the fewest accesses.
  unsigned elementBytes = getSharedElementBytes(elementType), fewest = ~0u;
  ConversionScratch best{SharedLayout::scratch(source.getShape(), 0, elementBytes, elementBytes)};
  for (unsigned dim = source.getRank(); dim-- > 0;) {
    SharedLayout trial =
        SharedLayout::scratch(source.getShape(), dim, elementBytes, matrixRowBytes);
    ScratchSide store = getScratchSide(source, trial, storesMatrices),
                load = getScratchSide(target, trial, loadsMatrices);
    if (std::min(store.bytes, load.bytes) < matrixRowBytes) {
      store = getScratchSide(source, trial, false);
      load = getScratchSide(target, trial, false);
    }
    if (store.accesses + load.accesses >= fewest)
      continue;
    fewest = store.accesses + load.accesses;
    // The unit that must stay together when chunks change places.
    best = {SharedLayout::scratch(source.getShape(), dim, elementBytes,
                                  std::max(store.bytes, load.bytes)),
            store.byMatrices, load.byMatrices};
  }
  return best;
}

SmallVector<unsigned> getDistinctRegisters(const LinearLayout &layout) {
  SmallVector<unsigned> distinct;
  for (unsigned r = 0; r < layout.getNumRegisters(); ++r)
    if (llvm::none_of(distinct,
                      [&](unsigned s) { return layout.apply(s, 0, 0) == layout.apply(r, 0, 0); }))
      distinct.push_back(r);
  return distinct;
}

} // namespace tile::gpu
