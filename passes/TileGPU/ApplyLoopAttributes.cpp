// tile-gpu-apply-loop-attributes: unrolls the loops that ask for it, and says which attributes of
// the source have no effect.
//
// Runs after every pass that pipelines loads: an attribute of the source that is still on its loop
// here has had no effect, and is reported with the reason.
#include "dialect/AttributeNames.h"
#include "dialect/TileGPU/TileGPUDialect.h"
#include "passes/Passes.h"
#include "passes/Report/KernelRemark.h"
#include "passes/TileGPU/TargetSupport.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Pass/Pass.h"

namespace tile {
#define GEN_PASS_DEF_TILEGPUAPPLYLOOPATTRIBUTES
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

template <typename... Ops> static bool contains(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        return isa<Ops...>(inner) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// True if loads inside `op` come through a ring, which a producer warp fills ahead.
/// The consumers' side waits at rings.
static bool hasProducer(Operation *op) { return contains<RingWaitOp>(op); }

/// True if loads inside `op` run ahead of the arithmetic, whoever makes them.
/// Or at cp.async groups, without a producer.
static bool isPipelined(Operation *op) { return contains<RingWaitOp, AsyncWaitOp>(op); }

/// A loop that only fetches for one of the consumers, which has the same attributes.
static bool isOfProducer(scf::ForOp loop) {
  auto split = loop->getParentOfType<WarpSpecializeOp>();
  return split && split.getProducer().isAncestor(loop->getParentRegion());
}

/// True if the loop's range is known not to end before it begins.
static bool isOrdered(scf::ForOp loop) {
  APInt low, high;
  if (!matchPattern(loop.getLowerBound(), m_ConstantInt(&low)))
    return false;
  if (auto dim = loop.getUpperBound().getDefiningOp<DimOp>())
    return low.sle(dim.getDim().getMin());
  return matchPattern(loop.getUpperBound(), m_ConstantInt(&high)) && low.sle(high);
}

/// The unrolling counts trips without a sign, and takes a range that ends before it begins for one
/// of many trips: those left over would then begin before the range.
static void orderBounds(scf::ForOp loop) {
  if (isOrdered(loop))
    return;
  OpBuilder b(loop);
  loop.setUpperBound(
      arith::MaxSIOp::create(b, loop.getLoc(), loop.getUpperBound(), loop.getLowerBound()));
}

namespace {

struct TileGPUApplyLoopAttributes
    : tile::impl::TileGPUApplyLoopAttributesBase<TileGPUApplyLoopAttributes> {
  using Base::Base;

  void runOnOperation() override {
    target = getTarget(getOperation());
    if (!target)
      return signalPassFailure();
    // Reports come first, for all loops: unrolling duplicates loops, and messages with them.
    for (KernelOp kernel : getOperation().getOps<KernelOp>()) {
      reportKernel(kernel);
      SmallVector<scf::ForOp> loops; // inner ones first
      kernel.getBody().walk([&](scf::ForOp loop) {
        if (!isOfProducer(loop))
          loops.push_back(loop);
      });
      for (scf::ForOp loop : loops)
        reportLoop(loop);
      for (scf::ForOp loop : loops)
        if (auto factor = loop->getAttrOfType<IntegerAttr>(unrollName))
          unroll(loop, factor.getInt());
    }
  }

private:
  const GPUTarget *target = nullptr;

  bool canPipeline() const { return copiesAhead(*target); }

  /// A warning, or a remark where the target lacks the feature anyway.
  /// A target without the feature is no mistake of the source, which may be for several targets.
  void report(Operation *op, const Twine &attribute, const Twine &reason) {
    InFlightDiagnostic message = canPipeline() ? op->emitWarning() : remarkOn(op);
    message << attribute << " has no effect: " << reason;
  }

  std::string whyNotPipelined() const {
    return canPipeline()
               ? "no load here is copied by TMA, so that nothing runs ahead of the "
                 "arithmetic (--remarks says why)"
               : std::string(target->name) + " does not copy tiles ahead in a warp of its own; " +
                     listTargets(copiesAhead) + " does";
  }

  /// Why `stages` has no effect where nothing runs ahead.
  std::string whyNoStages() const {
    return canPipeline() ? whyNotPipelined()
                         : "no load here can be copied ahead of a product that waits for it "
                           "(--remarks says why)";
  }

  void reportKernel(KernelOp kernel) {
    auto requested = kernel->getAttrOfType<ArrayAttr>(requestedName);
    if (!requested)
      return;
    // Reported for names that the source has written; stages and consumers that the compiler chose
    // are its own affair.
    bool pipelined = isPipelined(kernel), specialized = hasProducer(kernel);
    for (StringRef name : requested.getAsValueRange<StringAttr>()) {
      auto value =
          kernel->getAttrOfType<IntegerAttr>(name == "stages" ? stagesName : consumersName);
      if ((name == "stages" && !pipelined) || (name == "consumers" && !specialized))
        report(kernel, name + "(" + Twine(value.getInt()) + ")",
               name == "stages" ? whyNoStages() : whyNotPipelined());
    }
  }

  void reportLoop(scf::ForOp loop) {
    bool pipelined = isPipelined(loop);
    if (auto stages = loop->getAttrOfType<IntegerAttr>(stagesName); stages && !pipelined)
      report(loop, "stages(" + Twine(stages.getInt()) + ")", whyNoStages());
    if (!loop->hasAttr(flattenName))
      return;
    // Flattening is the default with a producer.
    if (hasProducer(loop))
      remarkOn(loop) << "flatten changes nothing: the producer warp runs ahead from the last "
                        "trip of this loop into the next of the "
                        "one around it";
    else
      report(loop, "flatten", whyNotPipelined());
  }

  void unroll(scf::ForOp loop, int64_t factor) {
    if (factor < 2)
      return;
    // Trips of a pipelined loop hand over slots and phases: written out, they would still be one
    // after the other.
    if (isPipelined(loop)) {
      loop.emitWarning()
          << "unroll(" << factor
          << ") has no effect: the loads of this loop are pipelined, one trip after the other";
      return;
    }
    loop->removeAttr(unrollName);
    // No more trips than copies: no loop is left.
    std::optional<APInt> trips = loop.getStaticTripCount();
    bool whole = trips && trips->getSExtValue() <= factor;
    if (!whole)
      orderBounds(loop);
    if (failed(whole
                   ? loopUnrollFull(loop)
                   : LogicalResult(success(succeeded(loopUnrollByFactor(loop, uint64_t(factor)))))))
      loop.emitWarning() << "unroll(" << factor
                         << ") has no effect: the loop cannot be written out";
  }
};

} // namespace
