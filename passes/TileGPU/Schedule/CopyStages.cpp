// How many stages a loop of copies has, and whether its products stay in flight.
#include "passes/TileGPU/Schedule/CopyStages.h"
#include "dialect/AttributeNames.h"
#include "dialect/TileGPU/SharedMemory.h"
#include "passes/Analysis/LiveRegisters.h"
#include "passes/Report/Declined.h"
#include "passes/Report/KernelRemark.h"
#include "passes/TileGPU/DotSelection.h"
#include "passes/TileGPU/LaunchFit.h"
#include "passes/TileGPU/SharedLifetimes.h"
#include "passes/TileGPU/SharedPlan.h"
#include "passes/TileGPU/StagedLoads.h"
#include "target/LoadLatency.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

/// Perhaps by way of registers.
void tile::gpu::collectProducts(Value memory, SmallVectorImpl<Operation *> &products) {
  for (Operation *user : memory.getUsers()) {
    if (isa<MemDescPermuteOp>(user))
      collectProducts(user->getResult(0), products);
    else if (auto read = dyn_cast<LocalLoadOp>(user))
      llvm::append_range(products, read->getUsers());
    else
      products.push_back(user);
  }
}

bool tile::gpu::lastsForTrip(scf::ForOp loop, ArrayRef<LocalAllocOp> copies, Value memory) {
  while (auto permute = memory.getDefiningOp<MemDescPermuteOp>())
    memory = permute.getSource();
  return loop.isDefinedOutsideOfLoop(memory) || memory.getDefiningOp<TmaFetchOp>() ||
         llvm::any_of(copies, [&](LocalAllocOp copy) { return copy.getResult() == memory; });
}

namespace {

class StageChoice {
public:
  StageChoice(scf::ForOp loop, ArrayRef<LocalAllocOp> copies, const GPUTarget &target)
      : loop(loop), kernel(loop->getParentOfType<KernelOp>()), copies(copies), target(target),
        limit(target.limits.sharedPerBlock()) {}

  /// As many stages as the loop has use and shared memory room for; false if there are fewer than
  /// two.
  bool choose() {
    CopyRing ring;
    ring.loop = loop;
    llvm::append_range(ring.allocs, copies);
    auto requested = loop->getAttrOfType<IntegerAttr>(stagesName);
    if (!requested)
      requested = kernel->getAttrOfType<IntegerAttr>(stagesName);
    if (requested && requested.getInt() < 2) {
      declined(loop) << "the source asks for one stage";
      return false;
    }
    auto getBytes = [&](int64_t count) { return planSharedBytes(kernel, ring, count); };
    CopyNeed need;
    need.limit = limit;
    if (requested)
      need.requested = requested.getInt();
    int64_t bits = countProductBits();
    need.useful = countUsefulCopyStages(bits);
    need.chained = areProductsChained() && (requested || hasRoomForFlight(ring, need.useful + 1));
    if (auto trips = loop.getStaticTripCount())
      need.trips = int64_t(trips->getLimitedValue(limits::stages));
    if (auto occupancy = kernel->getAttrOfType<IntegerAttr>(occupancyName))
      need.occupancy = occupancy.getInt();
    for (LocalAllocOp copy : copies) {
      SharedLayout layout = getSharedLayout(copy.getType());
      need.slotBytes += llvm::alignTo(layout.getBytes(), layout.getAlignment());
    }
    if (isBoundByMemory(bits, need.slotBytes))
      need.enough = getEnoughBytes(getBytesInFlight(getCard(target)), need.occupancy.value_or(1));
    if (auto warps = kernel->getAttrOfType<IntegerAttr>(numWarpsName))
      need.threads = warps.getInt() * target.limits.warpThreads;
    need.registers = target.limits.registersPerProcessor;
    need.reserved = target.limits.sharedReserved;
    if (!requested)
      need.openShare = limit - countFetched(1);
    if (!requested && !need.occupancy)
      need.openShare = std::min(need.openShare, getSharedLimit(target.limits, chooseBlocks(ring)));
    int64_t wanted = 0;
    stages = chooseCopyStages(need, wanted, getBytes);
    if (stages < wanted && (requested || stages < 2))
      remarkOn(loop) << (requested ? "stages(" + std::to_string(wanted) + ")"
                                   : "a second stage of the loop's loads")
                     << " does not fit into shared memory: "
                     << planSharedBytes(kernel, ring, std::max<int64_t>(stages + 1, 2)).value_or(0)
                     << " bytes are needed for " << std::max<int64_t>(stages + 1, 2)
                     << ", a block has " << limit << " [R0404]";
    if (stages < 2)
      declined(loop) << "two stages do not fit into shared memory";
    // Products in flight hold a slot more: not at the cost of what is of use ahead.
    if (need.chained && stages > need.useful)
      lag = 2;
    return stages > 1;
  }

  int64_t stages = 0, lag = 1;

private:
  /// Bytes that `count` stages of what the loop fetches take: their ring is laid out later.
  int64_t countFetched(int64_t count) {
    constexpr int64_t barriers = 1024; // and what places them at multiples of it
    int64_t bytes = 0;
    for (TmaFetchOp fetch : loop.getBody()->getOps<TmaFetchOp>())
      bytes += getSharedLayout(fetch.getType()).getBytes();
    return bytes ? count * bytes + barriers : 0;
  }

  /// True if products may stay in flight: that takes a slot more, and two of what is fetched.
  bool hasRoomForFlight(const CopyRing &ring, int64_t slots) {
    int64_t fetched = countFetched(2);
    std::optional<int64_t> bytes = fetched ? planSharedBytes(kernel, ring, slots) : 0;
    return bytes && *bytes + fetched <= limit;
  }

  /// True if the loop does nothing but add products by wgmma to sums that only they touch, and only
  /// they read what is copied or fetched for them: these may stay in flight till the next trip.
  bool areProductsChained() {
    bool chained = true;
    DenseSet<Operation *> products; // looked up only
    loop.getBody()->walk([&](Operation *op) {
      if (isa<MmaOp, FmaDotOp>(op))
        chained = false;
      if (auto product = dyn_cast<WgmmaOp>(op)) {
        products.insert(op);
        auto sum = dyn_cast<BlockArgument>(product.getAcc());
        chained &= op->getBlock() == loop.getBody() && !product.getAsync() &&
                   isa<MemDescType>(product.getA().getType()) && sum &&
                   sum.getOwner() == loop.getBody() && sum.hasOneUse() && op->hasOneUse() &&
                   isa<scf::YieldOp>(*op->user_begin()) &&
                   sum == loop.getRegionIterArg(op->use_begin()->getOperandNumber()) &&
                   lastsForTrip(loop, copies, product.getA()) &&
                   lastsForTrip(loop, copies, product.getB());
      }
    });
    auto readByProducts = [&](Value memory) {
      SmallVector<Operation *> readers;
      collectProducts(memory, readers);
      return llvm::all_of(readers, [&](Operation *reader) { return products.contains(reader); });
    };
    return chained && !products.empty() &&
           llvm::all_of(copies, [&](LocalAllocOp copy) { return readByProducts(copy); }) &&
           llvm::all_of(loop.getBody()->getOps<TmaFetchOp>(), readByProducts);
  }

  /// Multiplications of a trip, times the bits of an operand's element.
  int64_t countProductBits() {
    int64_t bits = 0;
    loop.getBody()->walk([&](Operation *op) {
      if (!isa<MmaOp, WgmmaOp, FmaDotOp>(op))
        return;
      auto result = cast<RankedTensorType>(op->getResult(0).getType());
      auto shaped = [](Type type) {
        auto memory = dyn_cast<MemDescType>(type);
        return std::pair(memory ? memory.getShape() : cast<RankedTensorType>(type).getShape(),
                         memory ? memory.getElementType()
                                : cast<RankedTensorType>(type).getElementType());
      };
      auto [shape, element] = shaped(op->getOperand(0).getType());
      bits += result.getNumElements() * shape.back() * getElementBits(element);
    });
    return bits;
  }

  /// Blocks that share a multiprocessor where products run on wgmma and the source leaves their
  /// number open: all threads of a block wait for its products at once, and another block's
  /// multiply meanwhile, if it has enough stages.
  int64_t chooseBlocks(const CopyRing &ring) {
    auto warps = kernel->getAttrOfType<IntegerAttr>(numWarpsName);
    bool waits =
        llvm::any_of(copies, [](LocalAllocOp copy) { return isReadByWgmma(copy.getResult()); });
    bool fetches =
        kernel.getBody().walk([](TmaFetchOp) { return WalkResult::interrupt(); }).wasInterrupted();
    if (!warps || !waits || fetches || kernel->hasAttr(requestedWarpsName) ||
        kernel->hasAttr(maxRegistersName))
      return 1;
    std::optional<int64_t> bytes = planSharedBytes(kernel, ring, usefulStages);
    BlockNeed need;
    need.warps = warps.getInt();
    need.registers = countLiveRegisters(kernel);
    need.registersOnEntry = getRegisterNeed(kernel).registers;
    need.fixedBytes = bytes.value_or(limit + 1);
    need.programs = countPrograms(kernel, getCard(target)).getRoom();
    return chooseBlocksOfCopies(need, target.limits);
  }

  scf::ForOp loop;
  KernelOp kernel;
  ArrayRef<LocalAllocOp> copies;
  const GPUTarget &target;
  int64_t limit; // bytes of shared memory
};

} // namespace

std::optional<CopyStages> tile::gpu::chooseStagesOfCopies(scf::ForOp loop,
                                                          ArrayRef<LocalAllocOp> copies,
                                                          const GPUTarget &target) {
  StageChoice choice(loop, copies, target);
  if (!choice.choose())
    return std::nullopt;
  return CopyStages{choice.stages, choice.lag};
}
