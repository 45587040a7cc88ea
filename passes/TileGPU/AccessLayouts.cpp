// Layouts of what is loaded and stored: by the order that elements have in memory.
//
// Neighbours in memory are neighbours of a thread, in vectors of 16 bytes; lanes go on along the
// same dimension, so that a warp's access is whole sectors of 32 bytes. A tile that is loaded along
// one dimension and stored along another is held in blocks that a thread turns in its registers.
#include "dialect/TileGPU/ScanPlan.h"
#include "dialect/TileGPU/SharedMemory.h"
#include "passes/TileGPU/LayoutInference.h"
#include "passes/TileGPU/PartLayouts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

/// True if the view's elements are neighbours along `dim`.
static bool isContiguous(Value view, unsigned dim) {
  if (auto op = view.getDefiningOp<ViewOp>())
    return matchPattern(op.getStrides()[dim], m_One());
  if (auto op = view.getDefiningOp<PermuteViewOp>())
    return isContiguous(op.getSource(), op.getPermutation()[dim]);
  if (auto op = view.getDefiningOp<SubviewOp>()) {
    for (unsigned d = 0, kept = 0; d < op.getKinds().size(); ++d)
      if (op.getKind(d) != SubscriptKind::Index && kept++ == dim)
        return isContiguous(op.getSource(), d);
  }
  return false;
}

/// Fastest first. Dimensions that follow have no order in memory that is known, hence the tile's.
template <typename AccessOp> SmallVector<unsigned> tile::gpu::getAccessOrder(AccessOp access) {
  SmallVector<unsigned> order;
  unsigned rank = access.getTileShape().size(), fastest = rank - 1;
  for (auto [d, tileDim] : llvm::enumerate(access.getTileDims()))
    if (tileDim >= 0 && access.getSteps()[d] == 1 && isContiguous(access.getView(), d))
      fastest = tileDim;
  order.push_back(fastest);
  for (unsigned d = rank; d-- > 0;)
    if (d != fastest)
      order.push_back(d);
  return order;
}
template SmallVector<unsigned> tile::gpu::getAccessOrder(LoadOp);
template SmallVector<unsigned> tile::gpu::getAccessOrder(StoreOp);
template SmallVector<unsigned> tile::gpu::getAccessOrder(ScatterOp);
template SmallVector<unsigned> tile::gpu::getAccessOrder(AtomicOp);

template <typename AccessOp>
LinearLayout LayoutInference::getAccessLayout(AccessOp access, RankedTensorType type) const {
  return getDefault(type.getShape(), getAccessOrder(access));
}
template LinearLayout LayoutInference::getAccessLayout(LoadOp, RankedTensorType) const;
template LinearLayout LayoutInference::getAccessLayout(StoreOp, RankedTensorType) const;
template LinearLayout LayoutInference::getAccessLayout(ScatterOp, RankedTensorType) const;
template LinearLayout LayoutInference::getAccessLayout(GatherOp, RankedTensorType) const;

//===--- Transposed tiles -------------------------------------------------===//

/// The dimension of `value` along which a store moves neighbours, if element-wise work and
/// permutations alone lie between and all its users agree on it.
/// All uses must agree, or the transposed block would help one and cost another.
static std::optional<unsigned> getStoredDim(Value value, unsigned depth = 0) {
  if (depth > 8 || value.use_empty())
    return std::nullopt;
  std::optional<unsigned> dim;
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    std::optional<unsigned> found;
    if (auto store = dyn_cast<StoreOp>(user)) {
      if (store.getValue() == value)
        found = getAccessOrder(store)[0];
    } else if (auto permute = dyn_cast<PermuteOp>(user)) {
      if (auto moved = getStoredDim(permute.getResult(), depth + 1))
        found = permute.getPermutation()[*moved];
    } else if (OpTrait::hasElementwiseMappableTraits(user) && user->getNumResults() == 1 &&
               llvm::all_of(user->getOperands(), [&](Value operand) {
                 return operand == value || !isa<RankedTensorType>(operand.getType()) ||
                        isRematerializable(operand.getDefiningOp());
               })) {
      found = getStoredDim(user->getResult(0), depth + 1);
    }
    if (!found || (dim && dim != found))
      return std::nullopt;
    dim = found;
  }
  return dim;
}

std::optional<unsigned> tile::gpu::getTransposedDim(LoadOp load) {
  auto type = dyn_cast<RankedTensorType>(load.getType());
  // 8-bit elements would have blocks of 16 x 16, 256 registers of a thread.
  if (!type || type.getRank() < 2 || getElementBits(type.getElementType()) < 16)
    return std::nullopt;
  std::optional<unsigned> dim = getStoredDim(load.getResult());
  // Transposed only if load and store move neighbours along different dimensions.
  return dim && *dim != getAccessOrder(load)[0] ? dim : std::nullopt;
}

/// A layout in which each thread holds a block of `vector` neighbours along both dimensions: it
/// loads vectors along `loaded`, turns the block within its registers, and hands vectors along
/// `stored` to the store's layout. With single elements the way through shared memory would take
/// `vector` times the accesses. Of 16-bit elements in a tile of 64 x 64, one warp:
///
///             loaded: 8 lanes of 8 elements
///            +--------+--------+-- ... --+
///     stored | lane 0 | lane 1 |  lane 7 |  8 rows
///            +--------+--------+-- ... --+
///            | lane 8 | lane 9 |         |  4 times
///
static LinearLayout transposedBlocks(ArrayRef<int64_t> extents, unsigned loaded, unsigned stored,
                                     unsigned vector, unsigned numWarps) {
  SmallVector<Coord> bases[numInDims];
  SmallVector<int64_t> covered(extents.size(), 1);
  // Hands out the next bits of a dimension, up to `bits` of them, while there are any left.
  auto deal = [&](InDim in, unsigned dim, unsigned bits) {
    for (; bits > 0 && covered[dim] < extents[dim]; --bits, covered[dim] *= 2) {
      Coord basis(extents.size(), 0);
      basis[dim] = covered[dim];
      bases[unsigned(in)].push_back(basis);
    }
  };
  constexpr unsigned laneBits = 5, laneBitsOfALine = 3;
  unsigned vectorBits = llvm::Log2_32(vector), warpBits = llvm::Log2_32(numWarps);
  auto left = [&](InDim in, unsigned wanted) {
    return wanted - unsigned(bases[unsigned(in)].size());
  };
  // Blocks first; then lanes along what is loaded, as many as make lines of 128 bytes of 16-bit
  // elements; then the rest.
  deal(InDim::Register, loaded, vectorBits);
  deal(InDim::Register, stored, vectorBits);
  deal(InDim::Lane, loaded, laneBitsOfALine);
  SmallVector<unsigned> order = {stored, loaded};
  for (unsigned d = extents.size(); d-- > 0;)
    if (d != stored && d != loaded)
      order.push_back(d);
  for (auto [in, wanted] : {std::pair(InDim::Lane, laneBits), std::pair(InDim::Warp, warpBits)})
    for (unsigned dim : order)
      deal(in, dim, left(in, wanted));
  // What is left over is registers; inputs that find nothing hold duplicates.
  for (unsigned dim : order)
    deal(InDim::Register, dim, 64);
  for (auto [in, wanted] : {std::pair(InDim::Lane, laneBits), std::pair(InDim::Warp, warpBits)})
    bases[unsigned(in)].resize(wanted, Coord(extents.size(), 0));
  return LinearLayout(extents, bases[unsigned(InDim::Register)], bases[unsigned(InDim::Lane)],
                      bases[unsigned(InDim::Warp)]);
}

//===--- Stores -----------------------------------------------------------===//

/// True if each store of a warp writes whole sectors of memory, side by side: more instructions
/// than with wide vectors, but an exchange would take as many and two barriers.
static bool storesSectors(const LinearLayout &layout, unsigned fastest, unsigned bits) {
  constexpr int64_t bitsOfTwoSectors = 2 * 8 * 32;
  int64_t elements = layout.getContiguousRegisters(fastest);
  for (const Coord &lane : layout.getBases(InDim::Lane)) {
    if (lane[fastest] != elements)
      break;
    elements *= 2;
  }
  return elements * bits >= bitsOfTwoSectors;
}

/// `layout` with its rows dealt to warps as in `present`, where both give a warp whole rows: then
/// threads exchange within warps, and no barrier makes these wait for each other.
static LinearLayout keepWarps(const LinearLayout &layout, const LinearLayout &present) {
  if (layout.getNumWarps() != present.getNumWarps())
    return layout;
  SmallVector<Coord> registers(layout.getBases(InDim::Register)),
      warps(layout.getBases(InDim::Warp));
  for (auto [place, wanted] : llvm::enumerate(present.getBases(InDim::Warp))) {
    if (warps[place] == wanted)
      continue;
    auto *later = std::find(warps.begin() + place + 1, warps.end(), wanted),
         *held = llvm::find(registers, wanted);
    if (later != warps.end())
      std::swap(warps[place], *later);
    else if (held != registers.end())
      std::swap(warps[place], *held);
    else
      return layout;
  }
  LinearLayout kept(layout.getShape(), registers, layout.getBases(InDim::Lane), warps);
  return getExchange(present, kept) == Exchange::Warp ? kept : layout;
}

/// A layout with as many neighbours in a thread stores as well, and a line of few elements to a
/// thread is sooner stored one by one than exchanged between warps: these are kept.
template <typename AccessOp>
LinearLayout LayoutInference::getStoreLayout(AccessOp store, RankedTensorType type,
                                             const std::optional<LinearLayout> &present) const {
  constexpr unsigned fewRegisters = 4;
  LinearLayout layout = getAccessLayout(store, type);
  unsigned fastest = getAccessOrder(store)[0];
  if (!present)
    return layout;
  if (present->getContiguousRegisters(fastest) >= layout.getContiguousRegisters(fastest) ||
      storesSectors(*present, fastest, getElementBits(type.getElementType())) ||
      (hasLayout(type) && type.getRank() == 1 && present->getNumRegisters() <= fewRegisters))
    return *present;
  LinearLayout kept = keepWarps(layout, *present);
  return kept.getContiguousRegisters(fastest) == layout.getContiguousRegisters(fastest) ? kept
                                                                                        : layout;
}
template LinearLayout LayoutInference::getStoreLayout(StoreOp, RankedTensorType,
                                                      const std::optional<LinearLayout> &) const;
template LinearLayout LayoutInference::getStoreLayout(ScatterOp, RankedTensorType,
                                                      const std::optional<LinearLayout> &) const;

//===--- Loads ------------------------------------------------------------===//

constexpr int64_t bytesOfASector = 32;

/// Five layouts compete: blocks that are turned for a store, along the scanned axis in registers,
/// neighbours of shifted loads in registers, parts of a slice in registers, and the plain blocked
/// one. All keep whole sectors of 32 bytes for each access of a warp.
LinearLayout LayoutInference::getLoadLayout(LoadOp load, RankedTensorType type) const {
  SmallVector<unsigned> order = getAccessOrder(load);
  std::optional<unsigned> stored = getTransposedDim(load);
  // With fewer elements than blocks for all threads an exchange is cheaper than loading twice.
  if (stored && type.getNumElements() >= int64_t(shape.vector) * shape.vector * 32 * shape.numWarps)
    return transposedBlocks(type.getShape(), order[0], *stored, shape.vector, shape.numWarps);
  std::optional<int64_t> axis = getScannedAxis(load);
  // Two sectors of neighbours at least, so that columns of lanes still read whole ones.
  if (axis && *axis != order[0] &&
      type.getDimSize(order[0]) * getElementBits(type.getElementType()) >= 2 * 8 * bytesOfASector)
    if (auto layout =
            scanInRegisters(type.getShape(), order[0], *axis, shape.vector, shape.numWarps))
      return *layout;
  if (auto dim = getShiftedDim(load, order[0]))
    if (auto layout = shiftInRegisters(type.getShape(), order, *dim, shape.vector, shape.numWarps))
      return *layout;
  std::optional<Parts> parts = getParts(load);
  if (!parts || parts->dim != order[0])
    return getAccessLayout(load, type);
  SmallVector<int64_t> extents(type.getShape());
  extents[parts->dim] /= parts->count;
  int64_t elements = std::accumulate(extents.begin(), extents.end(), int64_t(1), std::multiplies());
  // Each thread has a vector of each part, and a warp whole sectors of memory.
  if (elements < int64_t(shape.vector) * 32 * shape.numWarps ||
      extents[parts->dim] < shape.vector ||
      extents[parts->dim] * getElementBits(type.getElementType()) < 8 * bytesOfASector)
    return getAccessLayout(load, type);
  return holdParts(type.getShape(), getDefault(extents, order));
}
