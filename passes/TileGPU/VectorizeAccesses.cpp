// tile-gpu-vectorize-accesses: how many neighbouring registers each load and store moves at once.
//
//   a thread's registers  | r0 r1 r2 r3 | r4 r5 r6 r7 |    neighbours along the fastest dimension
//   pieces of 4           | one access  | one access  |
//
//   possible   neighbours in registers, and 16 bytes at most
//   aligned    the first address: a divisor of base, starts and the other strides
//   bounds     a divisor of extent, start and end: of a piece all elements exist, or none
//   proven     the greatest power of two, at most `possible`, that divides aligned and bounds
//
// `vector` is `proven`. Where it is less than `possible`, `vector_if` is `possible`, and a test at
// run time decides (RaggedPieces.cpp has what is moved otherwise).
#include "dialect/TileGPU/SharedMemory.h"
#include "dialect/TileGPU/TileGPUDialect.h"
#include "passes/Analysis/Divisibility.h"
#include "passes/TileGPU/AccessWidth.h"
#include "passes/TileGPU/DotSelection.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/TypeSwitch.h"
#include <numeric>

namespace tile {
#define GEN_PASS_DEF_TILEGPUVECTORIZEACCESSES
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

namespace {

/// The greatest power of two known to divide a value, at most 2^30: vectors need no more, and
/// products cannot overflow.
/// 2^30 also stands for "any": a proven bound divides by everything that matters.
struct PowersOfTwo {
  const DivisibilityAnalysis &divisibility;
  int64_t operator()(Value value) const {
    return std::gcd(divisibility.getDivisor(value), int64_t(1) << 30);
  }
};

/// Divisors of a view's parts, in elements.
/// 'Base' is a distance, so that views of views only ever make it smaller.
struct ViewFacts {
  int64_t base;  // of the first element's distance from a 2^30-aligned address
  int64_t align; // of the parameter, in bytes
  SmallVector<int64_t> extents, strides;
  SmallVector<bool> unit; // stride is 1
  Access access = Access::InOut;
};

ViewFacts getFacts(Value value, const PowersOfTwo &getDivisor) {
  ViewFacts facts;
  if (auto view = value.getDefiningOp<ViewOp>()) {
    auto kernel = view->getParentOfType<KernelOp>();
    ParamAttr param = kernel.getParam(cast<BlockArgument>(view.getBase()).getArgNumber());
    Type element = view.getType().getElementType();
    // Bytes to elements; of nibbles two fit a byte. At least one, where the alignment is less than
    // an element.
    facts.base = std::max<int64_t>(1, param.getAlign() * 8 / getElementBits(element));
    facts.align = param.getAlign();
    facts.access = param.getAccess();
    for (Value extent : view.getExtents())
      facts.extents.push_back(getDivisor(extent));
    for (Value stride : view.getStrides()) {
      facts.strides.push_back(getDivisor(stride));
      facts.unit.push_back(matchPattern(stride, m_One()));
    }
    return facts;
  }
  if (auto permute = value.getDefiningOp<PermuteViewOp>()) {
    ViewFacts source = getFacts(permute.getSource(), getDivisor);
    facts.base = source.base;
    facts.align = source.align;
    facts.access = source.access;
    for (int64_t d : permute.getPermutation()) {
      facts.extents.push_back(source.extents[d]);
      facts.strides.push_back(source.strides[d]);
      facts.unit.push_back(source.unit[d]);
    }
    return facts;
  }
  auto sub = cast<SubviewOp>(value.getDefiningOp());
  ViewFacts source = getFacts(sub.getSource(), getDivisor);
  facts.base = source.base;
  facts.align = source.align;
  facts.access = source.access;
  unsigned index = 0, slice = 0;
  for (unsigned d = 0; d < sub.getKinds().size(); ++d) {
    // 0 stands for no offset along this dimension: the base keeps its divisor.
    int64_t offset = 0;
    if (sub.getKind(d) == SubscriptKind::Index) {
      offset = getDivisor(sub.getIndices()[index++]);
    } else {
      // A slice's extent and start are clamped to the source's extent, which may come out instead.
      int64_t extent = source.extents[d];
      if (sub.getKind(d) == SubscriptKind::Slice) {
        int64_t low = std::gcd(getDivisor(sub.getLows()[slice]), extent),
                high = std::gcd(getDivisor(sub.getHighs()[slice]), extent);
        ++slice;
        offset = low;
        extent = std::gcd(low, high);
      }
      facts.extents.push_back(extent);
      facts.strides.push_back(source.strides[d]);
      facts.unit.push_back(source.unit[d]);
    }
    if (offset)
      facts.base = std::gcd(facts.base, offset * source.strides[d]);
  }
  return facts;
}

} // namespace

/// True if all elements of a tile along `dim` are known to be equal.
/// Of a mask: one predicate serves a whole copy.
static bool isUniformAlong(Value tile, unsigned dim, unsigned depth = 0) {
  Operation *op = tile.getDefiningOp();
  auto type = cast<RankedTensorType>(tile.getType());
  if (type.getDimSize(dim) == 1 || isa_and_nonnull<tensor::SplatOp>(op))
    return true;
  DenseElementsAttr constant;
  if (matchPattern(tile, m_Constant(&constant)))
    return constant.isSplat();
  constexpr unsigned deepest = 8;
  if (!op || depth > deepest)
    return false;
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    RankedTensorType source = broadcast.getSource().getType();
    int64_t leading = type.getRank() - source.getRank();
    return int64_t(dim) < leading ||
           isUniformAlong(broadcast.getSource(), dim - leading, depth + 1);
  }
  return OpTrait::hasElementwiseMappableTraits(op) &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return !isa<RankedTensorType>(operand.getType()) ||
                  isUniformAlong(operand, dim, depth + 1);
         });
}

/// The widest piece that registers, alignment and bounds allow.
template <typename Op>
static AccessWidth computeWidth(Op op, RankedTensorType tile, const PowersOfTwo &getDivisor) {
  AccessWidth found;
  ViewFacts facts = getFacts(op.getView(), getDivisor);
  LinearLayout layout = getLayout(tile);
  int64_t bits = getElementBits(tile.getElementType());
  int64_t aligned = facts.base; // divisor of the first element's address
  SmallVector<int64_t> tileDims = op.getTileDims();
  unsigned end = 0;
  int64_t bounds = 1;
  for (unsigned d = 0; d < op.getSizes().size(); ++d) {
    if (op.isIndexed(d)) { // any position
      aligned = std::gcd(aligned, facts.strides[d]);
      continue;
    }
    int64_t start = getDivisor(op.getStarts()[d]);
    // gcd of what is added: base + start * stride, for each dimension.
    aligned = std::gcd(aligned, start * facts.strides[d]);
    int64_t limit = facts.extents[d];
    if (op.getHasEnd()[d])
      limit = std::gcd(limit, getDivisor(op.getEnds()[end++]));
    // A single position along it adds to the address alone.
    if (op.isDropped(d))
      continue;
    if (facts.unit[d] && op.getSteps()[d] == 1) {
      found.fastest = tileDims[d];
      // Proven in bounds, no end cuts a piece. Else a piece begins at a multiple of the width,
      // counted from where the view begins, and ends before the first multiple that is out of
      // bounds.
      bounds = op.getInBounds()[d] ? int64_t(1) << 30 : std::gcd(limit, start);
    } else {
      aligned = std::gcd(aligned, facts.strides[d] * op.getSteps()[d]);
    }
  }
  // No dimension with stride 1: single elements.
  if (!found.fastest)
    return found;
  if constexpr (std::is_same_v<Op, AsyncCopyOp>)
    if (op.getMask() && !isUniformAlong(op.getMask(), *found.fastest))
      return found;
  found.possible = std::min<int64_t>(layout.getContiguousRegisters(*found.fastest), 128 / bits);
  found.windows = facts.align % 16 == 0;
  while (found.proven * 2 <= found.possible && aligned % (found.proven * 2) == 0 &&
         bounds % (found.proven * 2) == 0)
    found.proven *= 2;
  return found;
}

AccessWidth tile::gpu::getAccessWidth(Operation *access, RankedTensorType tile,
                                      const DivisibilityAnalysis &divisibility) {
  PowersOfTwo getDivisor{divisibility};
  return llvm::TypeSwitch<Operation *, AccessWidth>(access)
      .Case<LoadOp, StoreOp, GatherOp, ScatterOp, AtomicOp, AsyncCopyOp>(
          [&](auto op) { return computeWidth(op, tile, getDivisor); })
      .Default([](Operation *) { return AccessWidth(); });
}

namespace {

struct TileGPUVectorizeAccesses
    : tile::impl::TileGPUVectorizeAccessesBase<TileGPUVectorizeAccesses> {
  void runOnOperation() override {
    Builder builder(&getContext());
    const auto &divisibility = getAnalysis<DivisibilityAnalysis>();
    PowersOfTwo getDivisor{divisibility};
    getOperation().walk([&](Operation *op) {
      if (auto load = dyn_cast<LoadOp>(op)) {
        annotate(load, load.getType(), divisibility, builder);
        markReadOnly(load, getDivisor, builder);
      } else if (auto gather = dyn_cast<GatherOp>(op)) {
        annotate(gather, gather.getType(), divisibility, builder);
        markReadOnly(gather, getDivisor, builder);
      } else if (auto scatter = dyn_cast<ScatterOp>(op)) {
        annotate(scatter, scatter.getValue().getType(), divisibility, builder);
      } else if (auto store = dyn_cast<StoreOp>(op)) {
        annotate(store, store.getValue().getType(), divisibility, builder);
      } else if (auto atomic = dyn_cast<AtomicOp>(op)) {
        annotate(atomic, atomic.getValue().getType(), divisibility, builder);
      } else if (auto copy = dyn_cast<AsyncCopyOp>(op)) {
        annotate(copy, copy.getTileType(), divisibility, builder);
      } else if (auto inside = dyn_cast<InsideOp>(op)) {
        annotateInside(inside, getDivisor, builder);
      }
    });
  }

  /// Memory that a store of this kernel may reach is not read past the coherent caches. Nor is what
  /// is loaded ahead of a barrier for use behind it: ptxas moves read-only loads to their use,
  /// where the program would wait for them.
  /// ld.global.nc is for memory that nothing writes during the launch, by this thread block or
  /// others.
  template <typename Op>
  static void markReadOnly(Op load, const PowersOfTwo &getDivisor, Builder &builder) {
    if (getFacts(load.getView(), getDivisor).access == Access::In &&
        !load->template getParentOfType<KernelOp>()->hasAttr(mayAliasName) &&
        !load->hasAttr(aheadName) && !isAhead(load))
      load->setAttr(readOnlyName, builder.getUnitAttr());
  }

  /// True if the threads of a block meet between a load and the first use of what it loads.
  /// A wait between load and use makes the load worth its place: it must not slip behind it.
  static bool isAhead(Operation *load) {
    DenseSet<Operation *> uses; // only looked up
    for (Operation *user : load->getUsers())
      uses.insert(load->getBlock()->findAncestorOpInBlock(*user));
    for (Operation *op = load->getNextNode(); op && !uses.contains(op); op = op->getNextNode())
      if (getSharedNeed(op).use == SharedUse::ScratchBlock)
        return !uses.empty();
    return false;
  }

  /// Neighbours of which all exist or none does: one test serves them.
  static void annotateInside(InsideOp op, const PowersOfTwo &getDivisor, Builder &builder) {
    auto tile = dyn_cast<RankedTensorType>(op.getType());
    if (!tile)
      return;
    ViewFacts facts = getFacts(op.getView(), getDivisor);
    int64_t width = getLayout(tile).getNumRegisters();
    // The first dimension of which neighbours lie in neighbouring registers; pieces along one
    // dimension are enough.
    unsigned tileDim = 0, end = 0;
    bool found = false;
    for (unsigned d = 0; d < op.getSizes().size(); ++d) {
      int64_t bounds = std::gcd(facts.extents[d], getDivisor(op.getStarts()[d]));
      if (op.getHasEnd()[d])
        bounds = std::gcd(bounds, getDivisor(op.getEnds()[end++]));
      if (op.isDropped(d))
        continue;
      int64_t contiguous = getLayout(tile).getContiguousRegisters(tileDim++);
      if (found || contiguous == 1 || op.getSteps()[d] != 1)
        continue;
      found = true;
      width = std::gcd(contiguous, op.getInBounds()[d] ? contiguous : bounds);
    }
    op->setAttr(vectorName, builder.getI64IntegerAttr(found ? width : 1));
  }

  template <typename Op>
  static void annotate(Op op, Type moved, const DivisibilityAnalysis &divisibility,
                       Builder &builder) {
    auto tile = dyn_cast<RankedTensorType>(moved);
    if (!tile)
      return;
    AccessWidth width = getAccessWidth(op, tile, divisibility);
    if (!width.fastest)
      return;
    op->setAttr(vectorName, builder.getI64IntegerAttr(width.proven));
    if (width.proven < width.possible) {
      op->setAttr(vectorIfName, builder.getI64IntegerAttr(width.possible));
      if (width.windows)
        op->setAttr(windowsName, builder.getUnitAttr());
      op->setAttr(fastestName, builder.getI64IntegerAttr(*width.fastest));
    }
  }
};

} // namespace
