// Operands of wgmma that threads compute and keep in registers.
//
//   codes = local_load(...)        as few registers as packed weights take
//   w = (codes - zero) * scale     in the layout of the product's first operand
//   acc = wgmma w, x, acc          of a product of few rows: the transposed one, w by x's transpose
//
// All that the operand is computed from must be had in that layout: small tiles that are broadcast
// are loaded so, large ones are read so from shared memory, where TMA or cp.async have copied them.
#include "passes/TileGPU/HeldOperand.h"
#include "dialect/TileGPU/WordReads.h"
#include "passes/Analysis/ConstantMemory.h"
#include "passes/TileGPU/LayoutInference.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

/// Bits of a thread's registers that an operand takes, at most: 64 registers.
static constexpr int64_t mostBits = 64 * 32;

/// Reads from shared memory that a thread may make more where the product reads the operand, for
/// each so many terms of a trip: the two barriers, the stores and the fence between them that it
/// spares take as long, and the parts of a longer product hide more.
static constexpr int64_t moreReads = 8, termsOfReads = 64;

static constexpr int64_t bitsOfByte = 8;

/// Bits that one instruction moves for a thread, and elements that it reads of a fragment.
static constexpr int64_t bitsOfAccess = 128, elementsOfMatrices = 8;

/// Bits of the elements that are read by matrices, and of the widest that are held.
static constexpr int64_t bitsOfMatrices = 16, widestOperand = 16;

static bool isElementwise(Operation *op) {
  return OpTrait::hasElementwiseMappableTraits(op) && op->getNumResults() == 1;
}

static int64_t countElements(Value tile) {
  return cast<RankedTensorType>(tile.getType()).getNumElements();
}

static int64_t getBits(Value tile) {
  return getElementBits(cast<RankedTensorType>(tile.getType()).getElementType());
}

namespace {

/// Goes back from an operand, held in `layout`, to what it is loaded from.
class Origins {
public:
  Origins(Value tile, Block *block, bool isFragment)
      : block(block), size(countElements(tile)), isFragment(isFragment) {}

  /// False if `value` cannot be computed in this layout.
  bool visit(Value value, const LinearLayout &layout) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || !seen.insert(value).second)
      return true;
    Operation *op = value.getDefiningOp();
    // What stands before the loop, or goes around it: small, or computed anew in any layout.
    bool outside = !op || op->getBlock() != block;
    if (outside && (!op || isa<LoadOp>(op) || !isRematerializable(op)))
      return countElements(value) < size;
    if (auto load = dyn_cast<LoadOp>(op))
      return visitLoad(load, layout);
    if (auto unpack = dyn_cast<UnpackOp>(op)) { // is staged by itself
      computes = true;
      auto load = unpack.getSource().getDefiningOp<LoadOp>();
      if (!unpack->hasOneUse() || !load || !isCopied(load))
        return false;
      ArrayRef<Coord> registers = layout.getBases(InDim::Register);
      if (registers.empty() || registers[0].back() != 1)
        return false;
      addReads(load, layout.joinElements());
      return true;
    }
    if (auto reshape = dyn_cast<ReshapeOp>(op))
      return visit(reshape.getSource(), layout.reshape(getShape(reshape.getSource())));
    if (auto broadcast = dyn_cast<BroadcastOp>(op))
      return visit(broadcast.getSource(), layout.broadcastSource(getShape(broadcast.getSource())));
    if (auto permute = dyn_cast<PermuteOp>(op)) {
      SmallVector<int64_t> inverse(permute.getPermutation().size());
      for (auto [i, d] : llvm::enumerate(permute.getPermutation()))
        inverse[d] = i;
      return visit(permute.getSource(), layout.permute(inverse));
    }
    if (isElementwise(op))
      computes |= countElements(value) == size;
    else if (!isRematerializable(op))
      return false;
    return llvm::all_of(op->getOperands(), [&](Value operand) { return visit(operand, layout); });
  }

  bool computes = false;     ///< anything is done to what was loaded
  int64_t reads = 0;         ///< instructions of a thread that read what was loaded
  SmallVector<LoadOp> loads; ///< of tiles as large as the operand, and used for nothing else

private:
  static ArrayRef<int64_t> getShape(Value tile) {
    return cast<RankedTensorType>(tile.getType()).getShape();
  }

  bool visitLoad(LoadOp load, const LinearLayout &layout) {
    if (isRematerializable(load)) {
      addReads(load, layout);
      return true;
    }
    if (!load->hasOneUse() || !isCopied(load))
      return false;
    // Nibbles are loaded as bytes (tile-gpu-load-nibbles-as-bytes), by those who ask before, too.
    if (getBits(load.getResult()) < bitsOfByte) {
      ArrayRef<Coord> registers = layout.getBases(InDim::Register);
      if (registers.empty() || registers[0].back() != 1)
        return false;
      addReads(load, layout.joinElements());
      return true;
    }
    loads.push_back(load);
    // By matrices, from the operand's rows.
    if (isFragment && getBits(load.getResult()) == bitsOfMatrices)
      reads += llvm::divideCeil(layout.getNumRegisters(), elementsOfMatrices);
    else
      addReads(load, layout);
    return true;
  }

  void addReads(LoadOp load, const LinearLayout &layout) {
    int64_t fastest = getAccessOrder(load)[0];
    if (getBits(load.getResult()) <= bitsOfByte && layout.getRank() == 2) {
      // By words that lanes share.
      SharedLayout plain(layout.getShape(), {fastest, 1 - fastest}, /*elementBytes=*/1,
                         /*swizzle=*/0);
      if (auto words = getWordReads(layout, plain)) {
        reads +=
            words->layout.getNumRegisters() / SharedAccess(words->layout, plain).getVectorSize();
        return;
      }
    }
    int64_t together =
        std::min<int64_t>(layout.getContiguousRegisters(fastest),
                          bitsOfAccess / std::max(getBits(load.getResult()), bitsOfByte));
    reads += layout.getNumRegisters() / std::max<int64_t>(together, 1);
  }

  static bool isCopied(LoadOp load) {
    return !load.getMask() && readsConstantMemory(load) &&
           (matchPattern(load.getPad(), m_Zero()) || matchPattern(load.getPad(), m_AnyZeroFloat()));
  }

  Block *block;
  int64_t size;
  bool isFragment;
  llvm::DenseSet<Value> seen; // looked up only
};

} // namespace

/// The operand of `dot`, computed transposed or not, that `warpsM` warps along the product's rows
/// would hold; loads are of `vector` neighbours where nothing asks for more.
static std::optional<HeldOperand> hold(DotOp dot, bool swapped, unsigned warpsM,
                                       const KernelShape &shape) {
  Value tile = swapped ? dot.getB() : dot.getA();
  auto type = cast<RankedTensorType>(tile.getType());
  int64_t bits = getBits(tile);
  if (bits > widestOperand)
    return std::nullopt;
  int64_t rows = type.getDimSize(swapped ? 1 : 0), depth = type.getDimSize(swapped ? 0 : 1);
  // Of less than a fragment there is no layout: such a tile is padded first.
  constexpr int64_t fragmentBits = 32 * 8;
  if (depth * bits < fragmentBits)
    return std::nullopt;
  LinearLayout layout = LinearLayout::mmaOperand(0, rows, depth, bits, warpsM, /*warpsN=*/1),
               blocked = LinearLayout::blocked(type.getShape(), ArrayRef<unsigned>{1, 0},
                                               shape.vector, shape.numWarps);
  if (swapped)
    layout = layout.permute({1, 0});
  if (layout.getNumRegisters() * bits > mostBits)
    return std::nullopt;
  Origins held(tile, dot->getBlock(), /*isFragment=*/true),
      stored(tile, dot->getBlock(), /*isFragment=*/false);
  // A layout in which it could not be computed reads no less than nothing.
  if (!held.visit(tile, layout) || !held.computes)
    return std::nullopt;
  if (!stored.visit(tile, blocked))
    stored.reads = 0;
  int64_t stores = llvm::divideCeil(blocked.getNumRegisters() * bits, bitsOfAccess);
  int64_t more = moreReads * std::max<int64_t>(1, depth / termsOfReads);
  if (held.reads > stored.reads + stores + more)
    return std::nullopt;
  return HeldOperand{tile, layout, held.loads};
}

std::optional<HeldOperand> tile::gpu::getHeldOperand(DotOp dot, const KernelShape &shape) {
  if (!isa<scf::ForOp>(dot->getParentOp()) || chooseDotKind(dot, shape) != DotKind::Wgmma)
    return std::nullopt;
  auto [warpsM, warpsN] = chooseWarps(dot, shape);
  // Warps along N would compute the same once more.
  return warpsN > 1 ? std::nullopt : hold(dot, isSwapped(dot), warpsM, shape);
}

/// True for extents as layouts have them.
static bool hasLayoutExtents(RankedTensorType type) {
  return llvm::all_of(type.getShape(),
                      [](int64_t extent) { return llvm::isPowerOf2_64(uint64_t(extent)); });
}

bool tile::gpu::isBetterSwapped(DotOp dot) {
  auto loop = dyn_cast<scf::ForOp>(dot->getParentOp());
  if (!loop || !isLoaded(dot.getA()) || isLoaded(dot.getB()) || dot.getType().getRank() != 2)
    return false;
  // Asked of extents before they are padded, too, with the same answer.
  if (dot.getValidAttr() || !hasLayoutExtents(dot.getType()) ||
      !hasLayoutExtents(dot.getB().getType()))
    return false;
  // What else meets the sum would have to be exchanged between threads in each trip.
  auto variable = dyn_cast<BlockArgument>(dot.getAcc());
  if (!variable || variable.getOwner() != loop.getBody() || !variable.hasOneUse() ||
      !dot->hasOneUse() || !isa<scf::YieldOp>(*dot->user_begin()))
    return false;
  // By two warpgroups where there are rows for them, as most products are.
  KernelShape shape;
  int64_t columns = dot.getType().getShape().back();
  shape.numWarps = columns >= 128 ? 8 : 4;
  return hold(dot, /*swapped=*/true, shape.numWarps, shape).has_value();
}
