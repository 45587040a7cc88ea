// tile-gpu-pipeline-copies: operands of a loop's products are copied to shared memory by cp.async,
// some trips ahead.
//
// Works on loads that go to shared memory as they are, in loops whose products wait for them; where
// TMA fetches an operand there is no load left. A loop
//
//   for i: m = local_alloc(load(i)); product(m)
//
// becomes a ring of n slots that is filled n - 1 trips ahead:
//
//   copies of trips 0 .. n-2, a group each
//   for i: wait till at most n - 2 groups are pending; barrier
//          copy of trip i + n - 1, into the slot of trip i - 1; commit
//          product(slot of trip i)
//
// The one barrier does two things: it shows the copies of trip i to all threads, and no thread
// passes it before all have done with the products of trip i - 1, whose slot is filled again behind
// it. Copies of trips that there are not are left out, so nothing is under way behind the loop.
// Products by wgmma are issued before the copies, whose places are computed meanwhile.
//
// Where one trip's products follow the other's on the same sums and nothing else reads the tiles,
// they stay in flight till the next trip has issued its own, as those of a producer's tiles may: no
// tensor core waits for the barrier. A slot is then filled two trips after its own,
//
//   for i: wait till at most n - 3 groups are pending; barrier
//          product(slot of trip i) in flight; wait for that of trip i - 1
//          copy of trip i + n - 2, into the slot of trip i - 2; commit
//
// which is what tile-gpu-apply-schedule looks at before it leaves them in flight.
#include "dialect/AttributeNames.h"
#include "dialect/CopyNames.h"
#include "dialect/TileGPU/SharedMemory.h"
#include "passes/Analysis/ConstantMemory.h"
#include "passes/Passes.h"
#include "passes/Report/Declined.h"
#include "passes/Report/KernelRemark.h"
#include "passes/TileGPU/AccessWidth.h"
#include "passes/TileGPU/DotSelection.h"
#include "passes/TileGPU/PipelineFragments.h"
#include "passes/TileGPU/Schedule/CopyStages.h"
#include "passes/TileGPU/Schedule/LoopSchedule.h"
#include "passes/TileGPU/StagedLoads.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

namespace tile {
#define GEN_PASS_DEF_TILEGPUPIPELINECOPIES
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

namespace {

/// Elements of a thread from which on their copies, one by one, are long.
constexpr int64_t longCode = 16;

/// A load that can be copied ahead.
struct Copy {
  Operation *load; // a LoadOp or GatherOp
  LocalAllocOp alloc;
  RankedTensorType tile, stored; // of the access, and in the shape that lies in shared memory
  int64_t pieces = 0;            // of a thread; 0 where there is a way for each width
};

/// True if the tile in shared memory is an operand of a product, directly or as a fragment that is
/// loaded from it.
bool feedsProduct(Value memory) {
  SmallVector<Operation *> users;
  collectProducts(memory, users);
  return llvm::any_of(users, llvm::IsaPred<MmaOp, WgmmaOp, FmaDotOp>);
}

/// The load whose tile, perhaps in another shape, is what `alloc` stores; null if there is none.
Operation *findLoad(LocalAllocOp alloc) {
  Value source = alloc.getSource();
  while (source.hasOneUse() && isa_and_nonnull<ReshapeOp, PermuteOp>(source.getDefiningOp()))
    source = source.getDefiningOp()->getOperand(0);
  Operation *load = source.getDefiningOp();
  return source.hasOneUse() && isa_and_nonnull<LoadOp, GatherOp>(load) ? load : nullptr;
}

/// A loop whose loads are to be pipelined.
class Pipeliner {
public:
  Pipeliner(scf::ForOp loop, const DivisibilityAnalysis &divisibility, const GPUTarget &target)
      : loop(loop), kernel(loop->getParentOfType<KernelOp>()), divisibility(divisibility),
        target(target), builder(loop) {}

  /// Returns the loop that it has made; null if it leaves the loop as it is.
  scf::ForOp run() {
    if (auto trips = loop.getStaticTripCount(); trips && trips->ule(1)) {
      declined(loop) << "the loop makes one trip";
      return {};
    }
    stage(/*vectors=*/false);
    SmallVector<LocalAllocOp> operands;
    for (LocalAllocOp alloc : loop.getBody()->getOps<LocalAllocOp>())
      if (!staged.contains(alloc) && feedsProduct(alloc.getResult()))
        operands.push_back(alloc);
    for (LocalAllocOp alloc : operands)
      collect(alloc);
    // Vectors alone are no reason for a barrier in each trip.
    if (!copies.empty())
      stage(/*vectors=*/true);
    std::optional<CopyStages> chosen;
    if (!copies.empty())
      chosen = chooseStagesOfCopies(loop, getCopied(), target);
    if (!chosen) {
      for (LocalAllocOp alloc : staged)
        forwardStaged(alloc);
      return {};
    }
    stages = chosen->stages;
    lag = chosen->lag;
    rewrite();
    return loop;
  }

  /// The copies of the loop that has been made, with the pieces of a thread.
  const llvm::MapVector<AsyncCopyOp, int64_t> &getPieces() const { return pieces; }

private:
  /// Copies what operands are computed from, where that can be copied.
  void stage(bool vectors) {
    for (Operation *load : findStageableLoads(loop)) {
      if ((cast<RankedTensorType>(load->getResult(0).getType()).getRank() == 1) != vectors)
        continue;
      // A producer fetches the operands: these warps need not meet for them, and their products may
      // be in flight.
      if (!loop.getBody()->getOps<TmaFetchOp>().empty() && joinsProduct(load))
        continue;
      LocalAllocOp alloc = stageLoad(load);
      staged.insert(alloc);
      collect(alloc);
      if (copies.empty() || copies.back().alloc != alloc) {
        staged.remove(alloc);
        forwardStaged(alloc);
      }
    }
  }

  void collect(LocalAllocOp alloc) {
    Operation *load = findLoad(alloc);
    std::string problem;
    if (!load) {
      if (staged.contains(alloc) || !isComputed(alloc.getSource()))
        return;
      problem = "its values are computed from what is loaded";
    } else {
      Copy copy{load, alloc, cast<RankedTensorType>(load->getResult(0).getType()),
                alloc.getSource().getType()};
      problem = findProblem(copy);
      // With a way for each width a part would be all ways again.
      if (AccessWidth width = getAccessWidth(load, copy.tile, divisibility);
          width.proven == width.possible)
        copy.pieces = getLayout(copy.tile).getNumRegisters() / width.proven;
      if (problem.empty())
        copies.push_back(copy);
    }
    if (!problem.empty() && !staged.contains(alloc)) // the operand itself has its own remark
      remarkOn(alloc) << "operand is not copied ahead: " << problem << " [R0406]";
    if (!problem.empty())
      declined(loop) << "an operand is not copied ahead: " + problem;
  }

  /// True if the loop loads something that the value comes from.
  bool isComputed(Value value) {
    llvm::SmallSetVector<Operation *, 16> slice;
    (void)addSlice(value, slice);
    return llvm::any_of(slice, [](Operation *op) { return isa<LoadOp, GatherOp>(op); });
  }

  /// The reason why a load cannot be copied ahead; empty if none.
  std::string findProblem(Copy &copy) {
    if (copy.load->getBlock() != loop.getBody())
      return "it stands in a branch";
    Value view = copy.load->getOperand(0), pad, mask;
    llvm::TypeSwitch<Operation *>(copy.load).Case<LoadOp, GatherOp>([&](auto op) {
      pad = op.getPad();
      mask = op.getMask();
    });
    if (!matchPattern(pad, m_Zero()) && !matchPattern(pad, m_PosZeroFloat()))
      return "its padding is not 0";
    if (!isConstant(view))
      return "its memory may be written while the kernel runs";
    if (getElementBits(copy.tile.getElementType()) < 8)
      return "its elements are parts of bytes";
    if (std::string problem =
            whyNoPieces(copy.load, copy.tile, copy.stored, copy.alloc, divisibility);
        !problem.empty())
      return problem;
    SmallVector<Operation *> products;
    collectProducts(copy.alloc.getResult(), products);
    for (Operation *product : products)
      if (auto wgmma = dyn_cast<WgmmaOp>(product); wgmma && wgmma.getAsync())
        return "its product is left in flight";
    for (Value operand : copy.load->getOperands())
      if (std::string problem = addSlice(operand, slice); !problem.empty())
        return problem;
    return "";
  }

  /// True if nothing writes the memory of a view while the kernel runs.
  bool isConstant(Value view) {
    ViewOp root = getRootView(view);
    if (!root || kernel->hasAttr(mayAliasName))
      return false;
    auto base = dyn_cast<BlockArgument>(root.getBase());
    return base && kernel.getParam(base.getArgNumber()).getAccess() == Access::In;
  }

  /// Adds what computes `value` in the loop's body, in its order. Returns why it cannot be computed
  /// for another trip; empty if it can.
  std::string addSlice(Value value, llvm::SmallSetVector<Operation *, 16> &slice) {
    if (auto argument = dyn_cast<BlockArgument>(value))
      return argument.getOwner() == loop.getBody() && argument != loop.getInductionVar()
                 ? "its place depends on what the loop carries"
                 : "";
    Operation *op = value.getDefiningOp();
    if (op->getBlock() != loop.getBody() || slice.contains(op))
      return "";
    std::string problem;
    if (isa<LoadOp, GatherOp>(op) ? !isConstant(op->getOperand(0))
                                  : !isMemoryEffectFree(op) || op->getNumRegions())
      problem = "its place is computed by " + op->getName().getStringRef().str() +
                ", which cannot run ahead";
    // A trip that there is not may divide by 0.
    APInt divisor;
    if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::CeilDivSIOp,
            arith::CeilDivUIOp, arith::FloorDivSIOp>(op) &&
        isInBody(op->getOperand(1)) && !matchPattern(op->getOperand(1), m_ConstantInt(&divisor)))
      problem = "its place is a quotient by what each trip computes";
    for (Value operand : op->getOperands())
      if (std::string inner = addSlice(operand, slice); problem.empty())
        problem = inner;
    slice.insert(op);
    return problem;
  }

  bool isInBody(Value value) {
    Operation *op = value.getDefiningOp();
    return op && op->getBlock() == loop.getBody();
  }

  SmallVector<LocalAllocOp> getCopied() {
    return llvm::map_to_vector(copies, [](Copy &copy) { return copy.alloc; });
  }

  /// Finds the loads that copies' places come from, as pages' numbers. Within a trip the copies,
  /// and all that stands behind them, would wait for these; so each trip loads those of the next
  /// one's copies, if a thread has few registers of them.
  void findPlaces() {
    constexpr int64_t mostBits = 16 * 32; // of a thread's registers
    int64_t bits = 0;
    for (Operation *op : slice)
      if (isa<LoadOp, GatherOp>(op)) {
        Type type = op->getResult(0).getType();
        auto tile = dyn_cast<RankedTensorType>(type);
        bits += std::max(32u, getElementBits(getElementTypeOrSelf(type))) *
                (tile ? getLayout(tile).getNumRegisters() : 1);
        places.push_back(op);
      }
    if (bits > mostBits)
      places.clear();
    for (Operation *place : places) {
      for (Value operand : place->getOperands())
        (void)addSlice(operand, aheadOfPlaces);
      aheadOfPlaces.insert(place);
    }
  }

  /// Computes what `of`, a part of the slice, is for trip `trip`; `known` has values already.
  IRMapping computePlaces(Value trip, const llvm::SmallSetVector<Operation *, 16> &of,
                          IRMapping known = {}) {
    known.map(loop.getInductionVar(), trip);
    for (Operation &op : *loop.getBody()) {
      if (!of.contains(&op) || known.contains(op.getResult(0)))
        continue;
      Operation *clone = builder.clone(op, known);
      // A fact that holds in the loop's own iterations may not hold in one past its end.
      llvm::TypeSwitch<Operation *>(clone).Case<LoadOp, GatherOp>([](auto access) {
        access.setInBounds(SmallVector<bool>(access.getInBounds().size(), false));
      });
    }
    return known;
  }

  /// Copies of a trip into slot `slot`, if it exists; `mapping` has the trip's places.
  void createCopies(IRMapping &mapping, Value slot, Value exists) {
    for (auto [copy, slots] : llvm::zip(copies, rings)) {
      Value memory = SlotOp::create(builder, copy.load->getLoc(), slots, slot);
      llvm::TypeSwitch<Operation *>(copy.load).Case<LoadOp, GatherOp>(
          [&, &copy = copy](auto op) { createCopy(op, copy, memory, exists, mapping); });
    }
    AsyncCommitOp::create(builder, loop.getLoc());
  }

  template <typename Op>
  void createCopy(Op load, const Copy &copy, Value memory, Value exists, IRMapping &mapping) {
    auto map = [&](ValueRange values) {
      return llvm::map_to_vector(values, [&](Value v) { return mapping.lookupOrDefault(v); });
    };
    SmallVector<Value> positions;
    if constexpr (std::is_same_v<Op, GatherOp>)
      positions = map(load.getPositions());
    auto made =
        AsyncCopyOp::create(builder, load.getLoc(), mapping.lookupOrDefault(load.getView()),
                            map(load.getStarts()), map(load.getEnds()), positions,
                            load.getMask() ? mapping.lookupOrDefault(load.getMask()) : Value(),
                            memory, exists, load.getSizesAttr(), load.getStepsAttr(),
                            load.getHasEndAttr(), load.getInBoundsAttr(), TypeAttr::get(copy.tile),
                            TypeAttr::get(copy.stored), load.getCacheAttr(), /*part=*/nullptr);
    if (copy.pieces)
      pieces[made] = copy.pieces;
  }

  /// True if a copy of many pieces has a way for each width that rows may turn out to have: most of
  /// the kernel's code. Vectors are a piece or two.
  bool isAnyRagged() const {
    return llvm::any_of(copies, [&](const Copy &copy) {
      AccessWidth width = getAccessWidth(copy.load, copy.tile, divisibility);
      return width.proven < width.possible && getLayout(copy.tile).getNumRegisters() >= longCode;
    });
  }

  /// Those of the trips that the loop finds copied: one after another, or a loop over them where
  /// their code is long, since rows that no contract knows are not what a kernel is fast for.
  /// Returns what is loaded of the places of the trip behind them.
  SmallVector<Value> createFirstCopies() {
    Location loc = loop.getLoc();
    Value trip = loop.getLowerBound();
    int64_t count = stages - lag;
    auto moveOn = [&] { trip = arith::AddIOp::create(builder, loc, trip, loop.getStep()); };
    auto createOne = [&](Value stage, Value at, const IRMapping &known) {
      IRMapping mapping = computePlaces(at, slice, known);
      createCopies(mapping, stage, isLess(at, loop.getUpperBound()));
    };
    auto getPlaces = [&] {
      IRMapping mapping = computePlaces(trip, aheadOfPlaces);
      return llvm::map_to_vector(
          places, [&](Operation *place) { return mapping.lookup(place->getResult(0)); });
    };
    if (count == 1 || !isAnyRagged()) {
      // Places of all trips are loaded at once.
      SmallVector<std::pair<Value, IRMapping>> trips;
      for (int64_t stage = 0; stage < count; ++stage, moveOn())
        trips.push_back({trip, places.empty() ? IRMapping() : computePlaces(trip, aheadOfPlaces)});
      SmallVector<Value> behind = getPlaces();
      for (auto [stage, each] : llvm::enumerate(trips))
        createOne(constant(stage), each.first, each.second);
      return behind;
    }
    auto first = scf::ForOp::create(builder, loc, constant(0), constant(count), constant(1), trip);
    builder.setInsertionPointToStart(first.getBody());
    trip = first.getRegionIterArg(0);
    createOne(first.getInductionVar(), trip, {});
    moveOn();
    scf::YieldOp::create(builder, loc, trip);
    builder.setInsertionPointAfter(first);
    trip = first.getResult(0);
    return getPlaces();
  }

  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loop.getLoc(), value);
  }
  Value isLess(Value a, Value b) {
    return arith::CmpIOp::create(builder, loop.getLoc(), arith::CmpIPredicate::slt, a, b);
  }

  void rewrite() {
    Location loc = loop.getLoc();
    builder.setInsertionPoint(loop);
    bool fence = false;
    for (Copy &copy : copies) {
      auto type = SlotsType::get(builder.getContext(), stages, copy.alloc.getType());
      rings.push_back(LocalSlotsOp::create(builder, copy.load->getLoc(), type));
      fence |= isReadByWgmma(copy.alloc.getResult());
    }
    findPlaces();
    SmallVector<Value> carried = createFirstCopies();
    pieces.clear(); // those of the loop alone are asked for
    Value zero = constant(0), one = constant(1), last = constant(stages - 1), back = constant(lag),
          trips = constant(stages - lag),
          ahead = arith::MulIOp::create(builder, loc, loop.getStep(), trips);
    carried.push_back(zero);
    IRRewriter rewriter(builder);
    auto wider = loop.replaceWithAdditionalYields(
        rewriter, carried, /*replaceInitOperandUsesInLoop=*/false,
        [&](OpBuilder &b, Location at, ArrayRef<BlockArgument> added) -> SmallVector<Value> {
          Value next = arith::AddIOp::create(b, at, added.back(), one);
          Value wraps = arith::CmpIOp::create(b, at, arith::CmpIPredicate::eq, added.back(), last);
          SmallVector<Value> yields(added.begin(), added.end()); // places are put in below
          yields.back() = arith::SelectOp::create(b, at, wraps, zero, next);
          return yields;
        });
    // The body has moved, not its operations.
    loop = cast<scf::ForOp>(wider->getOperation());
    Value slot = loop.getRegionIterArgs().back();
    builder.setInsertionPointToStart(loop.getBody());
    AsyncWaitOp::create(builder, loc, stages - lag - 1, fence);
    BarrierOp::create(builder, loc);
    Value next = arith::AddIOp::create(builder, loc, loop.getInductionVar(), ahead);
    Value before = arith::SelectOp::create(builder, loc, isLess(slot, back),
                                           arith::AddIOp::create(builder, loc, slot, trips),
                                           arith::SubIOp::create(builder, loc, slot, back));
    SmallVector<WgmmaOp> products = findFirstProducts();
    if (!products.empty())
      builder.setInsertionPointAfter(products.back());
    // Behind the operations of the slice, which are cloned, none is needed by the copies.
    unsigned from = loop.getNumRegionIterArgs() - carried.size();
    IRMapping known;
    for (auto [i, place] : llvm::enumerate(places))
      known.map(place->getResult(0), loop.getRegionIterArg(from + i));
    IRMapping mapping = computePlaces(next, slice, known);
    createCopies(mapping, before, isLess(next, loop.getUpperBound()));
    // Behind the copies, so that they take the registers of this trip's: no move waits for them.
    if (!places.empty()) {
      Value following = arith::AddIOp::create(builder, loc, next, loop.getStep());
      IRMapping loaded = computePlaces(following, aheadOfPlaces);
      for (auto [i, place] : llvm::enumerate(places))
        loop.getBody()->getTerminator()->setOperand(from + i, loaded.lookup(place->getResult(0)));
    }
    if (lag > 1) {
      LoopSchedule schedule = LoopSchedule::of(loop);
      for (ProductPlace &place : schedule.places)
        place.flight = 1;
      schedule.setOn(loop);
      products.clear();
    }
    for (auto [i, product] : llvm::enumerate(products)) {
      product.setAsync(true);
      auto done =
          WgmmaWaitOp::create(builder, product.getLoc(), product.getType(), product.getResult(),
                              products.size() - 1 - i, product.getValidAttr());
      product.getResult().replaceAllUsesExcept(done.getResult(), done);
    }
    for (auto [copy, slots] : llvm::zip(copies, rings)) {
      builder.setInsertionPoint(copy.alloc);
      Value memory = SlotOp::create(builder, copy.load->getLoc(), slots, slot);
      copy.alloc.getResult().replaceAllUsesWith(memory);
      Operation *source = copy.alloc.getSource().getDefiningOp();
      copy.alloc.erase();
      while (source != copy.load) {
        Operation *inner = source->getOperand(0).getDefiningOp();
        source->erase();
        source = inner;
      }
      source->erase();
    }
  }

  /// Products by wgmma that all can be issued before the first result is used, and whose operands
  /// last: copies are made while they run.
  SmallVector<WgmmaOp> findFirstProducts() {
    SmallVector<WgmmaOp> products;
    SmallVector<LocalAllocOp> copied = getCopied();
    DenseSet<Value> results; // looked up only
    for (Operation &op : *loop.getBody()) {
      bool uses = false;
      op.walk([&](Operation *inner) {
        uses |= llvm::any_of(inner->getOperands(), [&](Value v) { return results.contains(v); });
      });
      auto product = dyn_cast<WgmmaOp>(op);
      if (uses || (product && (product.getAsync() || !isa<MemDescType>(product.getA().getType()) ||
                               !lastsForTrip(loop, copied, product.getA()) ||
                               !lastsForTrip(loop, copied, product.getB()))))
        break;
      if (product) {
        products.push_back(product);
        results.insert(product.getResult());
      }
    }
    return products;
  }

  scf::ForOp loop;
  KernelOp kernel;
  const DivisibilityAnalysis &divisibility;
  const GPUTarget &target;
  OpBuilder builder;
  SmallVector<Copy> copies;
  llvm::SmallSetVector<LocalAllocOp, 4> staged;        // for the sake of the copies
  llvm::SmallSetVector<Operation *, 16> slice;         // what computes the places of all copies
  SmallVector<Operation *> places;                     // loads of the slice, each a trip ahead
  llvm::SmallSetVector<Operation *, 16> aheadOfPlaces; // these, and what they are computed from
  SmallVector<Value> rings;
  llvm::MapVector<AsyncCopyOp, int64_t> pieces; // of a thread, where all have one width
  int64_t stages = 0;
  int64_t lag = 1; // trips after its own in which a slot is filled again
};

struct TileGPUPipelineCopies : tile::impl::TileGPUPipelineCopiesBase<TileGPUPipelineCopies> {
  using Base::Base;

  void runOnOperation() override {
    const GPUTarget *target = getTarget(getOperation());
    if (!target)
      return signalPassFailure();
    if (!target->has(Feature::AsyncCopy)) {
      for (KernelOp kernel : getOperation().getOps<KernelOp>())
        declined(kernel) << std::string(target->name) + " has no cp.async";
      return;
    }
    const auto &divisibility = getAnalysis<DivisibilityAnalysis>();
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) {
      if (!hasInnerLoop(loop))
        loops.push_back(loop);
      else
        declined(loop) << "there is a loop inside of it";
    });
    for (scf::ForOp loop : loops) {
      Pipeliner pipeliner(loop, divisibility, *target);
      if (scf::ForOp made = pipeliner.run()) {
        splitProducts(made);
        made = loadFragmentsAhead(made);
        if (!made->getParentOfType<KernelOp>()->hasAttr(wholeCopiesName))
          spreadCopies(made, pipeliner.getPieces());
      }
    }
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      kernel->removeAttr(wholeCopiesName);
  }

private:
  static bool hasInnerLoop(scf::ForOp loop) {
    return loop.getBody()
        ->walk([](LoopLikeOpInterface) { return WalkResult::interrupt(); })
        .wasInterrupted();
  }
};

} // namespace
