// tile-gpu-rotate-rows: rows that begin anywhere are moved in aligned vectors.
//
//   memory       |       w0       |       w1       |  ...  |       wk       |     16 bytes each
//   the tile            e0 ..                                     .. en
//                <- r ->
//   registers    | en-r+1..en  e0 ..  | ..          |  ...
//
// Element e of a tile is in the register that e + r, modulo the tile's extent, would be in: the
// registers that a layout makes neighbours hold a window of 16 aligned bytes, but for the first
// ones, which hold the end of one window and the beginning of another and are moved one by one, by
// one thread of the block. r is the same for all tiles of a program, so nothing moves between
// threads, and no operation sees a difference but those that say which positions they touch. What
// is loaded from rows that begin elsewhere, as a norm's weights, comes by two windows for each
// piece of neighbours (ShiftedRows.cpp); what is stored begins alike, and says how far tiles go.
//
// Runs twice. The first time it decides, ahead of all that asks how many neighbours a load moves;
// the second time, behind all that compares positions, it moves the beginnings back by r.
#include "dialect/AttributeNames.h"
#include "dialect/ShiftNames.h"
#include "dialect/TileGPU/TileGPUDialect.h"
#include "dialect/VersionNames.h"
#include "passes/TileGPU/DotSelection.h"
#include "passes/TileGPU/LoadDistance.h"
#include "passes/TileGPU/RotatedRows.h"
#include "passes/TileGPU/UnevenRows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

namespace tile {
#define GEN_PASS_DEF_TILEGPUROTATEROWS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

//===--- Positions --------------------------------------------------------===//

/// True for a number that is a multiple of `divisor` and not negative, as the beginning of a block
/// is.
static bool isBlockStart(Value value, int64_t divisor) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.isNonNegative() && constant.getSExtValue() % divisor == 0;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast_if_present<scf::ForOp>(argument.getOwner()->getParentOp());
    return loop && argument == loop.getInductionVar() &&
           isBlockStart(loop.getLowerBound(), divisor) && isBlockStart(loop.getStep(), divisor);
  }
  if (isa<ProgramIdOp, DimOp>(value.getDefiningOp()))
    return divisor == 1;
  if (auto product = value.getDefiningOp<arith::MulIOp>())
    return (isBlockStart(product.getLhs(), divisor) && isBlockStart(product.getRhs(), 1)) ||
           (isBlockStart(product.getRhs(), divisor) && isBlockStart(product.getLhs(), 1));
  if (auto sum = value.getDefiningOp<arith::AddIOp>())
    return isBlockStart(sum.getLhs(), divisor) && isBlockStart(sum.getRhs(), divisor);
  return false;
}

namespace {

/// A load, store or `inside` of a piece of a row.
struct RowAccess {
  Operation *op = nullptr;
  ViewOp view;
  unsigned dim = 0; // of the view, along the row
  SmallVector<Value> starts;
};

} // namespace

template <typename Op> static std::optional<RowAccess> matchAccess(Op op, RankedTensorType tile) {
  RowAccess access;
  access.op = op;
  access.view = op.getView().template getDefiningOp<ViewOp>();
  if (!access.view || tile.getRank() != 1)
    return std::nullopt;
  int64_t bits = getElementBits(op.getView().getType().getElementType());
  if (bits < 8 || bits > 32)
    return std::nullopt;
  llvm::append_range(access.starts, op.getStarts());
  bool found = false;
  for (unsigned d = 0; d < op.getSizes().size(); ++d) {
    if (op.isDropped(d))
      continue;
    if (found || op.getSteps()[d] != 1 || !matchPattern(access.view.getStrides()[d], m_One()) ||
        !isBlockStart(access.starts[d], 1))
      return std::nullopt;
    access.dim = d;
    found = true;
  }
  return found ? std::optional<RowAccess>(access) : std::nullopt;
}

/// The access that `op` is, if it is one of a tile that may go round.
static std::optional<RowAccess> getAccess(Operation *op) {
  if (auto load = dyn_cast<LoadOp>(op)) {
    auto tile = dyn_cast<RankedTensorType>(load.getType());
    return tile && !load.getMask() ? matchAccess(load, tile) : std::nullopt;
  }
  if (auto store = dyn_cast<StoreOp>(op)) {
    auto tile = dyn_cast<RankedTensorType>(store.getValue().getType());
    return tile && !store.getMask() ? matchAccess(store, tile) : std::nullopt;
  }
  if (auto copy = dyn_cast<AsyncCopyOp>(op))
    return !copy.getMask() && copy->hasAttr(privateName) ? matchAccess(copy, copy.getTileType())
                                                         : std::nullopt;
  if (auto inside = dyn_cast<InsideOp>(op)) {
    auto tile = dyn_cast<RankedTensorType>(inside.getType());
    return tile ? matchAccess(inside, tile) : std::nullopt;
  }
  return std::nullopt;
}

//===--- What may go round ------------------------------------------------===//

static bool isTile(Type type) { return isa<RankedTensorType>(type); }

static bool touchesTiles(Operation *op) {
  auto has = [](Region &region) {
    return llvm::any_of(
        region, [](Block &block) { return llvm::any_of(block.getArgumentTypes(), isTile); });
  };
  return llvm::any_of(op->getOperandTypes(), isTile) ||
         llvm::any_of(op->getResultTypes(), isTile) || llvm::any_of(op->getRegions(), has);
}

/// True for what treats all elements of a tile alike.
static bool isUniform(Operation *op) {
  if (isa<arith::ConstantOp>(op)) {
    DenseElementsAttr elements;
    return matchPattern(op->getResult(0), m_Constant(&elements)) && elements.isSplat();
  }
  if (auto iota = dyn_cast<IotaOp>(op))
    return iota.getStep() == 1;
  return isa<tensor::SplatOp, scf::ForOp, scf::IfOp, scf::YieldOp>(op) ||
         OpTrait::hasElementwiseMappableTraits(op);
}

/// The one shape of all tiles of the kernel, if each is a line and nothing knows the order of its
/// elements.
static std::optional<int64_t> findExtent(KernelOp kernel) {
  std::optional<int64_t> extent;
  auto isLine = [&](Type type) {
    auto tile = dyn_cast<RankedTensorType>(type);
    if (!tile)
      return true;
    if (!extent)
      extent = tile.getNumElements();
    return tile.getRank() == 1 && tile.getDimSize(0) == *extent;
  };
  WalkResult result = kernel.getBody().walk([&](Operation *op) {
    if (!touchesTiles(op))
      return WalkResult::advance();
    bool good =
        llvm::all_of(op->getOperandTypes(), isLine) && llvm::all_of(op->getResultTypes(), isLine);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        good &= llvm::all_of(block.getArgumentTypes(), isLine);
    if (auto reduce = dyn_cast<ReduceOp>(op))
      good &= !isTile(reduce.getType());
    else if (isa<LoadOp, StoreOp, InsideOp>(op))
      good &= bool(getAccess(op));
    else
      good &= isUniform(op);
    return good ? WalkResult::advance() : WalkResult::interrupt();
  });
  constexpr int64_t fewest = 256; // of less, the elements moved one by one are too large a part
  if (result.wasInterrupted() || !extent || !llvm::isPowerOf2_64(*extent) || *extent < fewest)
    return std::nullopt;
  return extent;
}

//===--- How far ----------------------------------------------------------===//

static unsigned getBits(RowAccess access) {
  return getElementBits(access.view.getType().getElementType());
}

/// True if the access's rows begin where those of `anchor` do, in elements from the tensor's
/// beginning, and its blocks at multiples of `vector` in them.
static bool isAlike(RowAccess anchor, RowAccess access, int64_t vector) {
  if (getBits(anchor) != getBits(access) || anchor.starts.size() != access.starts.size() ||
      anchor.dim != access.dim || !isBlockStart(access.starts[access.dim], vector))
    return false;
  auto kernel = access.op->getParentOfType<KernelOp>();
  auto base = dyn_cast<BlockArgument>(access.view.getBase());
  constexpr int64_t vectorBytes = 16;
  if (!base || kernel.getParam(base.getArgNumber()).getAlign() % vectorBytes)
    return false;
  for (unsigned d = 0; d < access.starts.size(); ++d)
    if (d != access.dim && (access.starts[d] != anchor.starts[d] ||
                            ViewOp(access.view).getStrides()[d] != anchor.view.getStrides()[d]))
      return false;
  return true;
}

/// Where the anchor's row is found: known ahead of all accesses, outside of loops.
static bool isKnownAhead(KernelOp kernel, const RowAccess &anchor, ArrayRef<RowAccess> accesses) {
  Block *body = &kernel.getBody().front();
  auto isKnown = [&](Value value) {
    Operation *op = value.getDefiningOp();
    if (!op)
      return cast<BlockArgument>(value).getOwner() == body;
    return op->getBlock() == body && llvm::all_of(accesses, [&](const RowAccess &access) {
             Operation *user = body->findAncestorOpInBlock(*access.op);
             return op->isBeforeInBlock(user);
           });
  };
  ViewOp view = anchor.view;
  for (unsigned d = 0; d < anchor.starts.size(); ++d)
    if (d != anchor.dim && (!isKnown(anchor.starts[d]) || !isKnown(view.getStrides()[d])))
      return false;
  return true;
}

static SmallVector<RowAccess> findAccesses(KernelOp kernel) {
  SmallVector<RowAccess> accesses;
  kernel.getBody().walk([&](Operation *op) {
    if (std::optional<RowAccess> access = getAccess(op))
      accesses.push_back(*access);
  });
  return accesses;
}

/// Whether a load of rows that begin elsewhere can go by two windows of 16 aligned bytes for each
/// of its own (ShiftedRows.cpp).
static bool canShift(KernelOp kernel, const RowAccess &access) {
  constexpr int64_t windowBytes = 16;
  auto base = dyn_cast<BlockArgument>(RowAccess(access).view.getBase());
  return isa<LoadOp>(access.op) && base &&
         kernel.getParam(base.getArgNumber()).getAlign() % windowBytes == 0;
}

/// True if one of the loads lies beside another: registers have what it wants
/// (tile-gpu-shift-loads), where they keep their order.
static bool hasNeighbours(ArrayRef<RowAccess> accesses) {
  SmallVector<LoadOp> loads;
  for (const RowAccess &access : accesses)
    if (auto load = dyn_cast<LoadOp>(access.op))
      loads.push_back(load);
  return llvm::any_of(loads, [&](LoadOp load) {
    return llvm::any_of(loads, [&](LoadOp other) {
      auto distance = tile::gpu::getDistance(load, other);
      return distance && distance->offset == 1;
    });
  });
}

/// True for what moves elements.
static bool moves(const RowAccess &access) { return !isa<InsideOp>(access.op); }

/// True if `anchor` may say how far tiles go round: all that is stored or copied lies as its rows
/// do, and what is loaded from elsewhere can be shifted to them.
static bool canLead(KernelOp kernel, const RowAccess &anchor, ArrayRef<RowAccess> accesses) {
  int64_t vector = 128 / getBits(anchor);
  ViewOp view = anchor.view;
  bool uneven = false;
  for (unsigned d = 0; d < anchor.starts.size(); ++d)
    uneven |= d != anchor.dim && mayBeUneven(kernel, view.getStrides()[d], vector);
  return uneven && isKnownAhead(kernel, anchor, accesses) &&
         llvm::all_of(accesses, [&](const RowAccess &access) {
           return !moves(access) || isAlike(anchor, access, vector) || canShift(kernel, access);
         });
}

/// How many tensors the accesses for which `test` holds move.
static int64_t countTensors(ArrayRef<RowAccess> accesses,
                            llvm::function_ref<bool(const RowAccess &)> test) {
  llvm::SmallSetVector<Value, 8> tensors;
  for (const RowAccess &access : accesses)
    if (moves(access) && test(access))
      tensors.insert(RowAccess(access).view.getBase());
  return tensors.size();
}

/// The load or store whose rows say how far tiles go round: the one with most tensors whose rows
/// begin alike, if these are more than the others. A tile that begins elsewhere, as a norm's
/// weights do, is loaded twice and shifted, and the pieces at its ends one by one: on an H100, of
/// their rate with single elements, RMS norms of odd rows have 1.00 to 1.45, layer norms, of two
/// such tensors beside two, 0.75 to 0.99, gated units, of two tiles beside one, 0.88 to 0.91.
static std::optional<RowAccess> findAnchor(KernelOp kernel) {
  SmallVector<RowAccess> accesses = findAccesses(kernel);
  if (hasNeighbours(accesses))
    return std::nullopt;
  const RowAccess *best = nullptr;
  int64_t most = 0;
  for (const RowAccess &anchor : accesses) {
    if (!moves(anchor) || !canLead(kernel, anchor, accesses))
      continue;
    auto begins = [&](const RowAccess &access) {
      return isAlike(anchor, access, 128 / getBits(anchor));
    };
    int64_t alike = countTensors(accesses, begins),
            others = countTensors(accesses, [&](auto &access) { return !begins(access); });
    if (alike > others && alike > most)
      best = &anchor, most = alike;
  }
  return best ? std::optional<RowAccess>(*best) : std::nullopt;
}

bool tile::gpu::isAlignedByRotation(LoadOp load) {
  auto kernel = load->getParentOfType<KernelOp>();
  std::optional<RowAccess> access = getAccess(load), anchor = findAnchor(kernel);
  return access && anchor && isAlike(*anchor, *access, 128 / getBits(*anchor));
}

std::optional<RowRotation> tile::gpu::findRotation(KernelOp kernel) {
  if (!kernel->hasAttr(unevenName) || !findExtent(kernel))
    return std::nullopt;
  std::optional<RowAccess> anchor = findAnchor(kernel);
  // Of elements of 32 bits a warp's neighbours are 128 bytes, which is as good: going round took
  // softmax to 0.89 of its speed, RMS norms to 0.95 and softmax's gradient to 1.15 on an H200.
  constexpr unsigned widest = 16;
  if (!anchor || getBits(*anchor) > widest)
    return std::nullopt;
  return RowRotation{anchor->op, 128 / int64_t(getBits(*anchor))};
}

//===--- Going round ------------------------------------------------------===//

/// True if what passes have made of the kernel is still no reason to keep the order: they take
/// tiles apart to reduce them only, in parts that threads hold.
static bool isStillUniform(KernelOp kernel, int64_t extent) {
  auto isWhole = [&](Type type) {
    auto tile = dyn_cast<RankedTensorType>(type);
    return tile && tile.getRank() == 1 && tile.getDimSize(0) == extent;
  };
  WalkResult result = kernel.getBody().walk([&](Operation *op) {
    if (auto copy = dyn_cast<AsyncCopyOp>(op))
      return getAccess(op) && isWhole(copy.getTileType()) ? WalkResult::advance()
                                                          : WalkResult::interrupt();
    if (!touchesTiles(op))
      return WalkResult::advance();
    bool good;
    if (auto store = dyn_cast<StoreOp>(op))
      good = getAccess(op) && isWhole(store.getValue().getType());
    else if (isa<LoadOp, InsideOp>(op))
      good = getAccess(op) && isWhole(op->getResult(0).getType());
    else if (auto iota = dyn_cast<IotaOp>(op))
      good = isWhole(iota.getType()) && iota.getStep() == 1;
    else
      good = isa<ReshapeOp, BroadcastOp, PermuteOp, ReduceOp, ConvertLayoutOp, PrivateLoadOp,
                 PrivateStoreOp, OptimizationBarrierOp>(op) ||
             isUniform(op);
    return good ? WalkResult::advance() : WalkResult::interrupt();
  });
  return !result.wasInterrupted();
}

/// How far the tiles of this program go round: what the anchor's row lies behind a multiple of
/// `vector` elements.
static Value createShift(OpBuilder &b, Location loc, const RowAccess &anchor, int64_t vector) {
  Value place;
  ViewOp view = anchor.view;
  for (unsigned d = 0; d < anchor.starts.size(); ++d) {
    if (d == anchor.dim)
      continue;
    Value scaled = arith::MulIOp::create(b, loc, anchor.starts[d], view.getStrides()[d]);
    place = place ? Value(arith::AddIOp::create(b, loc, place, scaled)) : scaled;
  }
  return arith::AndIOp::create(b, loc, place, arith::ConstantIndexOp::create(b, loc, vector - 1));
}

static void rotate(KernelOp kernel, const RowAccess &anchor, int64_t vector) {
  OpBuilder b(kernel.getContext());
  auto moveBack = [&](Operation *op, unsigned operand) {
    b.setInsertionPoint(op);
    Value shift = createShift(b, op->getLoc(), anchor, vector);
    op->setOperand(operand, arith::SubIOp::create(b, op->getLoc(), op->getOperand(operand), shift));
    op->setAttr(rotatedName, b.getI64IntegerAttr(vector));
  };
  auto moveStart = [&](auto op, const RowAccess &access) {
    moveBack(op, op.getStarts().getBeginOperandIndex() + access.dim);
  };
  for (const RowAccess &access : findAccesses(kernel)) {
    bool shifted = moves(access) && !isAlike(anchor, access, vector);
    llvm::TypeSwitch<Operation *>(access.op).Case<LoadOp, StoreOp, InsideOp, AsyncCopyOp>(
        [&](auto op) { moveStart(op, access); });
    if (shifted)
      access.op->setAttr(shiftedName, b.getUnitAttr());
  }
  kernel.getBody().walk([&](IotaOp iota) { moveBack(iota, 0); });
}

namespace {

struct TileGPURotateRows : tile::impl::TileGPURotateRowsBase<TileGPURotateRows> {
  void runOnOperation() override {
    Builder b(&getContext());
    for (auto kernel : getOperation().getOps<KernelOp>()) {
      auto decided = kernel->getAttrOfType<IntegerAttr>(rotationName);
      if (!decided) {
        if (kernel->hasAttr(numWarpsName)) // layouts are there: too late
          continue;
        if (std::optional<RowRotation> rotation = findRotation(kernel))
          kernel->setAttr(rotationName, b.getI64IntegerAttr(*findExtent(kernel)));
        continue;
      }
      std::optional<RowAccess> anchor = findAnchor(kernel);
      if (anchor && isStillUniform(kernel, decided.getInt()))
        rotate(kernel, *anchor, 128 / int64_t(getBits(*anchor)));
    }
  }
};

} // namespace
