// tile-gpu-vectorize-accesses: how many neighbouring registers each load and store moves at once.
#include "passes/TileGPU/LayoutInference.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Pass/Pass.h"
#include <numeric>

namespace tile {
#define GEN_PASS_DEF_TILEGPUVECTORIZEACCESSES
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

/// A number that divides `value` for sure, at most 2^30; 0 divides by everything.
static int64_t getDivisor(Value value, unsigned depth = 0) {
  constexpr int64_t everything = int64_t(1) << 30;
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.isZero() ? everything : std::abs(constant.getSExtValue());
  if (depth > 8)
    return 1;
  auto of = [&](Value v) { return getDivisor(v, depth + 1); };
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (loop && argument == loop.getInductionVar())
      return std::gcd(of(loop.getLowerBound()), of(loop.getStep()));
    return 1;
  }
  Operation *op = value.getDefiningOp();
  if (auto dim = dyn_cast<DimOp>(op))
    return dim.getDim().getMultipleOf();
  if (isa<arith::AddIOp, arith::SubIOp, arith::MinSIOp, arith::MaxSIOp>(op))
    return std::gcd(of(op->getOperand(0)), of(op->getOperand(1)));
  if (isa<arith::SelectOp>(op))
    return std::gcd(of(op->getOperand(1)), of(op->getOperand(2)));
  if (isa<arith::MulIOp>(op))
    return std::min(everything, of(op->getOperand(0)) * of(op->getOperand(1)));
  if (auto divide = dyn_cast<arith::DivSIOp>(op)) {
    APInt by;
    int64_t divisor = of(divide.getLhs());
    if (matchPattern(divide.getRhs(), m_ConstantInt(&by)) && by.getSExtValue() > 0 && divisor % by.getSExtValue() == 0)
      return divisor / by.getSExtValue();
    return 1;
  }
  if (auto extent = dyn_cast<ExtentOp>(op))
    if (auto view = extent.getSource().getDefiningOp<ViewOp>())
      return of(view.getExtents()[extent.getDim()]);
  return 1;
}

namespace {

/// Divisors of a view's parts, in elements.
struct ViewFacts {
  int64_t base; // of the first element's distance from a 2^30-aligned address
  SmallVector<int64_t> extents, strides;
  SmallVector<bool> unit; // stride is 1
  Access access = Access::InOut;
};

ViewFacts getFacts(Value value) {
  ViewFacts facts;
  if (auto view = value.getDefiningOp<ViewOp>()) {
    auto kernel = view->getParentOfType<KernelOp>();
    ParamAttr param = kernel.getParam(cast<BlockArgument>(view.getBase()).getArgNumber());
    Type element = view.getType().getElementType();
    int64_t bytes = element.isIndex() ? 8 : std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8);
    facts.base = std::max<int64_t>(1, param.getAlign() / bytes);
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
    ViewFacts source = getFacts(permute.getSource());
    facts.base = source.base;
    facts.access = source.access;
    for (int64_t d : permute.getPermutation()) {
      facts.extents.push_back(source.extents[d]);
      facts.strides.push_back(source.strides[d]);
      facts.unit.push_back(source.unit[d]);
    }
    return facts;
  }
  auto sub = cast<SubviewOp>(value.getDefiningOp());
  ViewFacts source = getFacts(sub.getSource());
  facts.base = source.base;
  facts.access = source.access;
  unsigned index = 0, slice = 0;
  for (unsigned d = 0; d < sub.getKinds().size(); ++d) {
    int64_t offset = 0;
    if (sub.getKind(d) == SubscriptKind::Index) {
      offset = getDivisor(sub.getIndices()[index++]);
    } else {
      int64_t extent = source.extents[d];
      if (sub.getKind(d) == SubscriptKind::Slice) {
        int64_t low = std::gcd(getDivisor(sub.getLows()[slice]), extent), high = std::gcd(getDivisor(sub.getHighs()[slice]), extent);
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

struct TileGPUVectorizeAccesses : tile::impl::TileGPUVectorizeAccessesBase<TileGPUVectorizeAccesses> {
  void runOnOperation() override {
    Builder builder(&getContext());
    getOperation().walk([&](Operation *op) {
      if (auto load = dyn_cast<LoadOp>(op)) {
        annotate(load, load.getType(), builder);
        // Memory that a store of this kernel may reach is not read past the coherent caches.
        if (getFacts(load.getView()).access == Access::In && !load->getParentOfType<KernelOp>()->hasAttr("tile.may_alias"))
          load->setAttr("tile_gpu.read_only", builder.getUnitAttr());
      } else if (auto store = dyn_cast<StoreOp>(op)) {
        annotate(store, store.getValue().getType(), builder);
      }
    });
  }

  /// The widest piece that registers, alignment and bounds allow.
  template <typename Op> static void annotate(Op op, Type moved, Builder &builder) {
    auto tile = dyn_cast<RankedTensorType>(moved);
    if (!tile)
      return;
    ViewFacts facts = getFacts(op.getView());
    LinearLayout layout = getLayout(tile);
    int64_t bits = tile.getElementType().isIndex() ? 64 : std::max(8u, tile.getElementTypeBitWidth());
    int64_t width = 1;
    int64_t aligned = facts.base; // divisor of the first element's address
    unsigned tileDim = 0, end = 0, fastest = ~0u;
    int64_t bounds = 1;
    for (unsigned d = 0; d < op.getSizes().size(); ++d) {
      int64_t start = getDivisor(op.getStarts()[d]);
      aligned = std::gcd(aligned, start * facts.strides[d]);
      int64_t limit = facts.extents[d];
      if (op.getHasEnd()[d])
        limit = std::gcd(limit, getDivisor(op.getEnds()[end++]));
      if (op.isDropped(d))
        continue;
      if (facts.unit[d] && op.getSteps()[d] == 1) {
        fastest = tileDim;
        bounds = op.getInBounds()[d] ? int64_t(1) << 30 : std::gcd(limit, start);
      } else {
        aligned = std::gcd(aligned, facts.strides[d] * op.getSteps()[d]);
      }
      ++tileDim;
    }
    if (fastest == ~0u)
      return;
    int64_t limit = std::min<int64_t>(layout.getContiguousRegisters(fastest), 128 / bits);
    while (width * 2 <= limit && aligned % (width * 2) == 0 && bounds % (width * 2) == 0)
      width *= 2;
    op->setAttr("tile_gpu.vector", builder.getI64IntegerAttr(width));
    if (width < limit) {
      op->setAttr("tile_gpu.vector_if", builder.getI64IntegerAttr(limit));
      op->setAttr("tile_gpu.fastest", builder.getI64IntegerAttr(fastest));
    }
  }
};

} // namespace
