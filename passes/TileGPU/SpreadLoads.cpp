// tile-gpu-spread-loads: a vector that many threads need is loaded once by each warp, not by each
// thread.
//
//   %l = tile.load … -> [thread has 32 of 128, as its rows of scores want them]
//   ->  %c = tile.load … -> [lane has 4 of 128, at the beginning of the trip]
//       %l = tile_gpu.convert_layout %c    by way of scratch of the warp's own
//
// A vector along the columns of a product's result is wanted by every row, so eight lanes of a warp
// hold each element, and all of them would load it: 96 loads a thread in a trip of attention's
// gradients. Where TMA fetches such a vector nothing of that is left; this is for vectors that it
// cannot fetch, since they begin anywhere. The few registers stand ahead of the trip's products.
#include "dialect/Tile/TileDialect.h"
#include "dialect/TileGPU/TileGPUDialect.h"
#include "passes/Analysis/ConstantMemory.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

namespace tile {
#define GEN_PASS_DEF_TILEGPUSPREADLOADS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

/// Loads of a thread that are worth a way through shared memory, and how many lanes make each.
static constexpr unsigned leastLoads = 16, leastLanes = 4;

/// The layout in which the lanes of a warp share the elements out; none where the vector is not one
/// of those that every warp needs whole, and several lanes each element of.
static std::optional<LinearLayout> getSharedOut(RankedTensorType type) {
  if (!type || type.getRank() != 1 || !hasLayout(type))
    return std::nullopt;
  LinearLayout layout = getLayout(type);
  int64_t extent = type.getDimSize(0);
  unsigned lanes = layout.getNumBits(InDim::Lane);
  auto isZero = [](const Coord &basis) { return basis[0] == 0; };
  if (layout.getNumRegisters() < leastLoads || extent < 1ll << lanes ||
      1ll << llvm::count_if(layout.getBases(InDim::Lane), isZero) < leastLanes ||
      !llvm::all_of(layout.getBases(InDim::Warp), isZero) || !layout.isSurjective())
    return std::nullopt;
  SmallVector<Coord> registers, inLanes;
  for (int64_t bit = 1; bit < extent; bit *= 2)
    (inLanes.size() < lanes ? inLanes : registers).push_back({bit});
  return LinearLayout({extent}, registers, inLanes, layout.getBases(InDim::Warp));
}

/// True if a product of the trip is issued before: a load ahead of all of them has their time.
static bool isBehindProduct(LoadOp load) {
  for (Operation *op = load->getPrevNode(); op; op = op->getPrevNode())
    if (isa<WgmmaOp>(op))
      return true;
  return false;
}

/// True for an innermost loop for which a producer will fetch.
static bool hasFetches(scf::ForOp loop) {
  return !loop.getBody()->getOps<TmaFetchOp>().empty() &&
         !loop.getBody()
              ->walk([](LoopLikeOpInterface) { return WalkResult::interrupt(); })
              .wasInterrupted();
}

/// Adds what `value` hangs on to `found`, in order; false if that is more than arithmetic on the
/// counter and on what stands before the loop.
static bool collect(scf::ForOp loop, Value value, llvm::SetVector<Operation *> &found) {
  if (value == loop.getInductionVar() || loop.isDefinedOutsideOfLoop(value))
    return true;
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != loop.getBody() || op->getNumRegions() || !isPure(op) ||
      !llvm::all_of(op->getOperands(),
                    [&](Value operand) { return collect(loop, operand, found); }))
    return false;
  found.insert(op);
  return true;
}

namespace {

struct TileGPUSpreadLoads : tile::impl::TileGPUSpreadLoadsBase<TileGPUSpreadLoads> {
  void runOnOperation() override {
    getOperation()->walk([&](scf::ForOp loop) {
      if (!hasFetches(loop))
        return;
      Operation *first = &loop.getBody()->front(), *place = nullptr;
      for (LoadOp load : llvm::to_vector(loop.getBody()->getOps<LoadOp>())) {
        auto type = dyn_cast<RankedTensorType>(load.getType());
        std::optional<LinearLayout> layout = getSharedOut(type);
        llvm::SetVector<Operation *> needed;
        if (!layout || !isBehindProduct(load) || load.getMask() || !readsConstantMemory(load) ||
            !llvm::all_of(load->getOperands(),
                          [&](Value operand) { return collect(loop, operand, needed); }))
          continue;
        OpBuilder builder(load);
        auto compact = RankedTensorType::get(type.getShape(), type.getElementType(),
                                             LinearAttr::get(type.getContext(), *layout));
        auto spread = ConvertLayoutOp::create(builder, load.getLoc(), type, load.getResult());
        load.getResult().replaceAllUsesExcept(spread, spread);
        load.getResult().setType(compact);
        spread->moveAfter(load);
        // Ahead of the trip's products, in the order of the text.
        needed.insert(load);
        for (Operation *op : needed) {
          if (place && (op == place || op->isBeforeInBlock(place)))
            continue;
          if (place)
            op->moveAfter(place);
          else if (op != first)
            op->moveBefore(first);
          place = op;
        }
      }
    });
  }
};

} // namespace
