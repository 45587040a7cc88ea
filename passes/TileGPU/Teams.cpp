// Teams of consumers in a persistent kernel. One producer fills one ring for both; each team takes
// every other program of the block, so that one multiplies while another stores its result:
//
//   producer | program 0 | program 1 | program 2 | program 3 |
//   team 0   | products 0 | end of 0 | wait | products 2 | end of 2 |
//   team 1   | wait       | products 1 | end of 1 | wait | products 3 |
//
// A team that has its turn reads the slots of its program, then passes by those of the next ones,
// which others read. Turns follow the ring's order: a slot's mbarrier tells two rounds apart and no
// more, so nobody may wait for a slot before all slots in front of it have been waited for.
#include "passes/TileGPU/Teams.h"
#include "dialect/AttributeNames.h"
#include "passes/TileGPU/LaunchFit.h"
#include "passes/TileGPU/ProducerSlice.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

static constexpr int64_t warpsOfWarpgroup = 4;

/// The loop over programs around a loop that fetches.
static scf::ForOp getProgramLoop(scf::ForOp loop) {
  return dyn_cast_or_null<scf::ForOp>(loop->getParentOp());
}

/// Why the programs of a kernel cannot be told apart by counting slots; null if they can.
static const char *whyUneven(KernelOp kernel, ArrayRef<RingGroup> groups) {
  scf::ForOp programs;
  for (const RingGroup &group : groups) {
    TmaFetchOp fetch = group.fetches.front();
    auto loop = dyn_cast<scf::ForOp>(fetch->getParentOp());
    scf::ForOp around = loop ? getProgramLoop(loop) : scf::ForOp();
    if (!around || !isa<KernelOp>(around->getParentOp()) || (programs && programs != around))
      return "a fetch stands in no loop of a program, or in a branch";
    programs = around;
    for (Value bound : {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()})
      if (!around.isDefinedOutsideOfLoop(bound))
        return "programs differ in their trips";
    if (llvm::any_of(group.fetches, isFilledByThreads))
      return "threads fill slots";
  }
  bool talks =
      kernel.getBody()
          .walk([](Operation *op) {
            return isa<AtomicOp, PartArriveOp, PartCombineOp, PartShareOp, ViewDescriptorOp>(op)
                       ? WalkResult::interrupt()
                       : WalkResult::advance();
          })
          .wasInterrupted();
  return talks ? "programs share sums or write maps" : nullptr;
}

static int64_t countProducts(Block &block, int64_t warpgroups) {
  int64_t registers = 0;
  for (auto product : block.getOps<WgmmaOp>()) {
    ArrayRef<int64_t> shape = product.getType().getShape();
    int64_t rows = shape[0], columns = shape[1];
    if (DenseI64ArrayAttr valid = product.getValidAttr()) {
      rows = std::min(rows, valid[0]);
      columns = std::min(columns, valid[1]);
    }
    registers += countTeamRegisters(rows, columns, warpgroups);
  }
  return registers;
}

TeamCount tile::gpu::chooseTeams(KernelOp kernel, ArrayRef<RingGroup> groups,
                                 const GPULimits &limits) {
  TeamNeed need;
  need.persistent = kernel->hasAttr(persistentGridName);
  FailureOr<int64_t> warps = getLaunchedWarps(kernel);
  if (succeeded(warps) && *warps % warpsOfWarpgroup == 0)
    need.warpgroups = *warps / warpsOfWarpgroup;
  if (auto occupancy = kernel->getAttrOfType<IntegerAttr>(occupancyName))
    need.blocks = occupancy.getInt();
  kernel.getBody().walk([&](Operation *op) {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        need.products = std::max(need.products, countProducts(block, need.warpgroups));
  });
  TeamCount count = countTeams(need, limits);
  if (const char *why = count.teams > 1 ? whyUneven(kernel, groups) : nullptr)
    return {1, why};
  return count;
}

void tile::gpu::dealPrograms(Block &consumer, int64_t teams) {
  scf::ForOp programs;
  for (auto loop : consumer.getOps<scf::ForOp>())
    programs = loop;
  Location loc = programs.getLoc();
  auto constant = [&](OpBuilder &b, int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  OpBuilder b(programs);
  Value lower = programs.getLowerBound(), upper = programs.getUpperBound(),
        step = programs.getStep(), zero = constant(b, 0), all = constant(b, teams);
  Value team = TeamOp::create(b, loc, b.getIndexType());

  // Slots of a program in each ring, and the loops that read them.
  llvm::MapVector<Value, Value> slots;
  scf::ForOp first, last;
  for (auto loop : programs.getBody()->getOps<scf::ForOp>()) {
    Value trips;
    for (auto wait : loop.getBody()->getOps<RingWaitOp>()) {
      if (!trips) {
        Value length = arith::MaxSIOp::create(
            b, loc, arith::SubIOp::create(b, loc, loop.getUpperBound(), loop.getLowerBound()),
            zero);
        trips = arith::CeilDivSIOp::create(b, loc, length, loop.getStep());
      }
      Value &count = slots[wait.getRing()];
      count = count ? arith::AddIOp::create(b, loc, count, trips).getResult() : trips;
      first = first ? first : loop;
      last = loop;
    }
  }
  for (auto [ring, count] : slots)
    RingSkipOp::create(b, loc, ring, arith::MulIOp::create(b, loc, team, count));
  TurnStartOp::create(b, loc);

  // The last turn that was passed on has nobody who takes it, but for this.
  Value own = arith::MaxSIOp::create(b, loc, arith::SubIOp::create(b, loc, upper, lower), zero);
  Value left = arith::RemUIOp::create(b, loc, arith::CeilDivSIOp::create(b, loc, own, step), all);
  Value takes = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, team, left);
  Value begin = arith::AddIOp::create(b, loc, lower, arith::MulIOp::create(b, loc, team, step));
  Value others = constant(b, teams - 1);
  SmallVector<Value> skipped;
  for (auto [ring, count] : slots)
    skipped.push_back(arith::MulIOp::create(b, loc, count, others));
  programs.setLowerBound(begin);
  programs.setStep(arith::MulIOp::create(b, loc, step, all));

  OpBuilder inside(first);
  TurnWaitOp::create(inside, loc);
  inside.setInsertionPointAfter(last);
  TurnPassOp::create(inside, loc);
  inside.setInsertionPoint(programs.getBody()->getTerminator());
  for (auto [entry, count] : llvm::zip(slots, skipped))
    RingSkipOp::create(inside, loc, entry.first, count);
  b.setInsertionPointAfter(programs);
  auto end = scf::IfOp::create(b, loc, takes, /*withElseRegion=*/false);
  b.setInsertionPointToStart(end.thenBlock());
  TurnWaitOp::create(b, loc);
}
