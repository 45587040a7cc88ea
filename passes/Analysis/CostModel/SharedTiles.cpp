// Walks a kernel of the tile dialect once for what will lie in shared memory. Which of it does, and
// how often, depends on the schedule: Schedule.cpp decides.
#include "passes/Analysis/CostModel/SharedTiles.h"
#include "dialect/AttributeNames.h"
#include "dialect/ProgramNames.h"
#include "passes/Analysis/CostModel/ElementCost.h"
#include "passes/Analysis/CostModel/JoinedDots.h"
#include "passes/Analysis/CostModel/SharedExchanges.h"
#include "passes/Analysis/CostModel/SharedMeetings.h"
#include "passes/Analysis/CostModel/SharedVectors.h"
#include "passes/Analysis/CostModel/SharedViews.h"
#include "passes/Analysis/EqualLoads.h"
#include "passes/TileGPU/DotSelection.h"
#include "passes/TileGPU/HeldOperand.h"
#include "passes/TileGPU/LaunchFit.h"
#include "passes/TileGPU/SharedLifetimes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tile::cost {

namespace {

bool isLoad(Operation *op) { return isa_and_nonnull<LoadOp, GatherOp>(op); }

class Collector : SharedExchanges {
public:
  Collector(KernelOp kernel, const gpu::KernelShape &shape) : SharedExchanges(kernel, shape) {}

  SharedTiles run() {
    number();
    markResults();
    multiplies =
        kernel.getBody().walk([](DotOp) { return WalkResult::interrupt(); }).wasInterrupted();
    gpu::KernelShape fours = shape;
    fours.numWarps = 4;
    joined = findJoinedDots(kernel, fours);
    kernel.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) { visit(op); });
    if (multiplies)
      for (const TurnedVector &each : findTurnedVectors(kernel))
        addTurned(each.op, each.vector, int64_t(shape.vector)).isInWarps = each.isInWarps;
    else
      for (const Meeting &each : findMeetings(kernel))
        addMeeting(each);
    found.operations = count;
    found.rowsInWarps = shape.rowsInWarps;
    found.reservesWords = gpu::reservesWords(kernel);
    found.vector = shape.vector;
    return std::move(found);
  }

private:
  void number() {
    kernel.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
      first[op] = count++;
      if (!isa<LoopLikeOpInterface>(op))
        return;
      loops[op] = int(found.loops.size());
      SharedLoop &loop = found.loops.emplace_back();
      loop.start = first[op];
      loop.parent = getLoop(op);
      for (int around = loop.parent; around >= 0; around = found.loops[around].parent)
        found.loops[around].isInnermost = false;
      if (auto stages = op->getAttrOfType<IntegerAttr>(stagesName))
        loop.stages = stages.getInt();
      auto range = dyn_cast<scf::ForOp>(op);
      loop.isCounted = bool(range);
      if (auto trips = range ? range.getStaticTripCount() : std::nullopt)
        loop.mostTrips = int64_t(trips->getLimitedValue(1 << 20));
      loop.isChained = range && isChained(range);
    });
    kernel.getBody().walk<WalkOrder::PostOrder>([&](Operation *op) {
      unsigned end = first[op];
      for (Region &region : op->getRegions())
        for (Operation &inner : region.getOps())
          end = std::max(end, last[&inner]);
      last[op] = end;
      if (auto loop = loops.find(op); loop != loops.end())
        found.loops[loop->second].end = end;
    });
  }

  /// True of a loop whose products only add to sums that nothing else touches, and read only what
  /// is loaded for them.
  static bool isChained(scf::ForOp loop) {
    bool any = false, chained = true;
    loop.getBody()->walk([&](DotOp dot) {
      any = true;
      auto sum = dyn_cast<BlockArgument>(dot.getAcc());
      chained &= dot->getBlock() == loop.getBody() && sum && sum.getOwner() == loop.getBody() &&
                 sum.hasOneUse() && dot->hasOneUse() && isa<scf::YieldOp>(*dot->user_begin()) &&
                 isLoad(getRenamed(dot.getA()).getDefiningOp()) &&
                 isLoad(getRenamed(dot.getB()).getDefiningOp());
    });
    return any && chained;
  }

  //===--- Results of products --------------------------------------------===//

  /// Marks what threads hold as tensor cores leave it. A loop's variable is what the trip before
  /// has made: loops in loops take a round each.
  void markResults() {
    bool grows = true;
    auto mark = [&](Value value) { grows |= results.insert(value).second; };
    constexpr int mostRounds = 4;
    for (int round = 0; round < mostRounds && grows; ++round) {
      grows = false;
      kernel.getBody().walk<WalkOrder::PostOrder>([&](Operation *op) {
        if (auto loop = dyn_cast<scf::ForOp>(op)) {
          for (auto [argument, result, yielded] :
               llvm::zip(loop.getRegionIterArgs(), loop.getResults(), loop.getYieldedValues()))
            if (results.contains(yielded))
              mark(argument), mark(result);
        } else if (auto branch = dyn_cast<scf::IfOp>(op); branch && branch.elseBlock()) {
          for (auto [result, yielded] :
               llvm::zip(branch.getResults(), branch.thenYield().getOperands()))
            if (results.contains(yielded))
              mark(result);
        } else if (auto dot = dyn_cast<DotOp>(op)) {
          if (gpu::chooseDotKind(dot, shape) != gpu::DotKind::Fma)
            mark(dot.getResult());
        } else if (op->hasTrait<OpTrait::Elementwise>() ||
                   isa<ReduceOp, ScanOp, BroadcastOp, ReshapeOp, PermuteOp>(op)) {
          if (llvm::any_of(op->getOperands(),
                           [&](Value operand) { return results.contains(operand); }))
            for (Value result : op->getResults())
              if (getTile(result))
                mark(result);
        }
      });
    }
  }

  /// True of a tile whose elements other threads hold than those of a product's result: it comes
  /// from memory or from between the threads, not from what each has or repeats.
  bool isElsewhere(Value value, unsigned depth = 0) const {
    constexpr unsigned deepest = 16;
    RankedTensorType type = getTile(value);
    if (!type || type.getRank() < 2 || results.contains(value) || isFree(value) ||
        matchPattern(value, m_Constant()) || depth == deepest)
      return false;
    Operation *op = value.getDefiningOp();
    if (op && isa<BroadcastOp>(op))
      return false;
    if (op && op->hasTrait<OpTrait::Elementwise>())
      return llvm::any_of(op->getOperands(),
                          [&](Value operand) { return isElsewhere(operand, depth + 1); });
    return true;
  }

  //===--- Loads ----------------------------------------------------------===//

  /// True if contracts let TMA move a tile of the view behind `op`.
  template <typename Op> bool canFetch(Op op) {
    constexpr int64_t granule = 16;
    if constexpr (std::is_same_v<Op, LoadOp>)
      if (op.getMask())
        return false;
    ViewOp root = findRoot(op.getView());
    auto base = root ? dyn_cast<BlockArgument>(root.getBase()) : BlockArgument();
    if (!base || kernel->hasAttr(mayAliasName))
      return false;
    ParamAttr param = kernel.getParam(base.getArgNumber());
    int64_t bits = gpu::getElementBits(root.getType().getElementType());
    if (param.getAlign() % granule || bits < 4 ||
        (std::is_same_v<Op, LoadOp> && param.getAccess() != Access::In))
      return false;
    for (Operation *parent = op->getParentOp(); parent != kernel; parent = parent->getParentOp())
      if (!isa<scf::ForOp, scf::IfOp>(parent))
        return false;
    if (root->hasAttr(flatName)) { // the run decides
      found.writesMaps |= kernel->hasAttr(persistentName);
      return kernel->hasAttr(persistentName);
    }
    bool hasRows = false;
    for (Value stride : root.getStrides()) {
      if (matchPattern(stride, m_One()))
        hasRows = true;
      else if (getDivisor(stride) * bits % (granule * 8))
        return false;
    }
    return hasRows;
  }

  /// Where the loaded tile is used last, as far as a loop around the use goes if the load stands
  /// before that.
  unsigned getLastUse(Value value, Block *home) {
    unsigned end = 0;
    for (Operation *user : value.getUsers()) {
      Operation *here = home->findAncestorOpInBlock(*user);
      end = std::max(end, here ? last[here] : last[user]);
      if (isRenaming(user))
        end = std::max(end, getLastUse(user->getResult(0), home));
    }
    return end;
  }

  /// The product that reads a loaded operand first, or what stands around it in the load's block:
  /// tiles that one loop reads are waited for together.
  unsigned getFirstUse(Value value, Block *home) const {
    unsigned begin = count;
    for (Operation *user : value.getUsers()) {
      Operation *here = home->findAncestorOpInBlock(*user);
      begin = std::min(begin, isRenaming(user) ? getFirstUse(user->getResult(0), home)
                                               : first.lookup(here ? here : user));
    }
    return begin;
  }

  /// The product that other products that read the operand are joined to; null if there is none.
  DotOp findJoined(Value value) const {
    for (Operation *user : value.getUsers())
      if (auto found = isRenaming(user) ? findJoined(user->getResult(0))
                                        : dyn_cast_or_null<DotOp>(joined.lookup(user)))
        return found;
    return {};
  }

  /// True if products of the same block read the operand by fragments: those of mma.sync.
  bool isReadByFragments(Value value, Block *home) const {
    gpu::KernelShape fours = shape;
    fours.numWarps = 4;
    return llvm::all_of(value.getUsers(), [&](Operation *user) {
      auto dot = dyn_cast<DotOp>(user);
      return dot ? dot->getBlock() == home && gpu::chooseDotKind(dot, fours) == gpu::DotKind::Mma
                 : isReadByFragments(user->getResult(0), home);
    });
  }

  /// True if the tile goes to products alone, as it is.
  static bool goesToDots(Value tile) {
    return !tile.use_empty() && llvm::all_of(tile.getUses(), [](OpOperand &use) {
      if (isa<DotOp>(use.getOwner()))
        return use.getOperandNumber() < 2;
      return isRenaming(use.getOwner()) && goesToDots(use.getOwner()->getResult(0));
    });
  }

  /// True if an operand of a product of the same trip is computed from the tile.
  static bool makesOperand(Value tile, Block *block, llvm::DenseSet<Operation *> &seen) {
    return llvm::any_of(tile.getUses(), [&](OpOperand &use) {
      Operation *user = use.getOwner();
      if (user->getBlock() != block || !seen.insert(user).second)
        return false;
      if (isa<DotOp>(user))
        return use.getOperandNumber() < 2;
      return user->getNumResults() == 1 && getTile(user->getResult(0)) && !isLoad(user) &&
             makesOperand(user->getResult(0), block, seen);
    });
  }

  /// True of a vector by which rows are found that are gathered or scattered.
  static bool givesPlaces(Value value, unsigned depth = 0) {
    constexpr unsigned deepest = 6;
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      return isa<GatherOp, ScatterOp>(user) ||
             (depth < deepest && user->getNumResults() == 1 && getTile(user->getResult(0)) &&
              !isa<DotOp>(user) && givesPlaces(user->getResult(0), depth + 1));
    });
  }

  /// True if the tile meets what a product leaves, as large as that, of the same trip.
  bool meetsResult(Value tile, Block *block) const {
    return llvm::any_of(tile.getUsers(), [&](Operation *user) {
      if (user->getBlock() != block || !user->hasTrait<OpTrait::Elementwise>())
        return false;
      return results.contains(user->getResult(0))
                 ? true
                 : user->hasOneUse() && meetsResult(user->getResult(0), block);
    });
  }

  static bool loadsOperands(Block *block) {
    return llvm::any_of(*block,
                        [](Operation &op) { return isLoad(&op) && goesToDots(op.getResult(0)); });
  }

  /// The tile of an equal load of the block, which is one with it when equal values are: of memory
  /// that nothing writes.
  template <typename Op> SharedTile *findSame(Op op, SharedTile::Use use) {
    if constexpr (std::is_same_v<Op, LoadOp>) {
      ViewOp root = findRoot(op.getView());
      auto base = root ? dyn_cast<BlockArgument>(root.getBase()) : BlockArgument();
      if (!base || op.getMask() || kernel.getParam(base.getArgNumber()).getAccess() != Access::In)
        return nullptr;
      size_t key = llvm::hash_combine(hashPlace(op), op.getType(), op->getBlock());
      auto [known, isNew] = loads.try_emplace(key, found.tiles.size());
      if (!isNew && found.tiles[known->second].use == use)
        return &found.tiles[known->second];
    }
    return nullptr;
  }

  /// True if nothing writes the memory while the kernel runs: what comes of it may run ahead.
  template <typename Op> bool isConstant(Op op) {
    ViewOp root = findRoot(op.getView());
    auto base = root ? dyn_cast<BlockArgument>(root.getBase()) : BlockArgument();
    return base && !kernel->hasAttr(mayAliasName) &&
           kernel.getParam(base.getArgNumber()).getAccess() == Access::In;
  }

  template <typename Op> void visitLoad(Op op) {
    Value value = op.getResult();
    RankedTensorType type = getTile(value);
    if (!type) {
      if (multiplies)
        add(SharedTile::Use::Scalar, op, 0);
      return;
    }
    bool inLoop = isa<scf::ForOp>(op->getParentOp());
    llvm::DenseSet<Operation *> seen; // looked up only
    SharedTile::Use use;
    if (goesToDots(value))
      use = SharedTile::Use::Operand;
    else if (!inLoop)
      return;
    else if (type.getRank() > 1 &&
             (makesOperand(value, op->getBlock(), seen) ||
              (meetsResult(value, op->getBlock()) && loadsOperands(op->getBlock()))))
      use = SharedTile::Use::Source;
    else if (type.getRank() == 1 && std::is_same_v<Op, LoadOp> && !value.use_empty() &&
             !givesPlaces(value) && loadsOperands(op->getBlock()))
      use = SharedTile::Use::Vector;
    else
      return;
    if (SharedTile *same = findSame(op, use)) {
      same->end = std::max(same->end, getLastUse(value, op->getBlock()));
      return;
    }
    SharedTile &tile = add(use, op, getBytes(type));
    tile.end = std::max(tile.end, getLastUse(value, op->getBlock()));
    if (use == SharedTile::Use::Operand) {
      tile.firstUse = getFirstUse(value, op->getBlock());
      if (DotOp dot = findJoined(value)) {
        tile.joinedUse = first[dot];
        tile.joinedRows = dot.getType().getShape().front();
      }
      // Fragments of each operand are loaded by themselves.
      if (isReadByFragments(value, op->getBlock()))
        tile.firstUse = first[op];
    }
    if (use == SharedTile::Use::Vector)
      tile.firstRead = getFirstUse(value, op->getBlock());
    // What is read into registers lies there plainly.
    tile.isSwizzled =
        use == SharedTile::Use::Operand && countRowBits(op, type.getElementType()) >= swizzledBits;
    tile.isGathered = std::is_same_v<Op, GatherOp>;
    tile.makesOperand = use == SharedTile::Use::Vector && makesOperand(value, op->getBlock(), seen);
    if constexpr (std::is_same_v<Op, LoadOp>) {
      bool isZero =
          matchPattern(op.getPad(), m_Zero()) || matchPattern(op.getPad(), m_PosZeroFloat());
      tile.canFetch = isZero && canFetch(op);
      constexpr int64_t leastPiece = 32; // bits, of cp.async
      tile.canCopy =
          isZero && isConstant(op) &&
          (repeatsElements(value) ? gpu::getElementBits(type.getElementType())
                                  : countRowBits(op, type.getElementType())) >= leastPiece;
      tile.fetchedBytes = countBoxBytes(op, type);
    }
  }

  /// Bytes of the boxes that bring a tile: rows beyond 128 bytes come in whole boxes of 128, others
  /// lie as rows of a power of two.
  static int64_t countBoxBytes(LoadOp op, RankedTensorType type) {
    constexpr int64_t boxBytes = 128;
    int64_t bits = gpu::getElementBits(type.getElementType());
    int64_t bytes = type.getNumElements() * bits / 8;
    if (int64_t row = countRowBits(op, type.getElementType()) / 8; row > 0)
      return bytes / row *
             (row > boxBytes ? int64_t(llvm::alignTo(uint64_t(row), boxBytes))
                             : int64_t(llvm::PowerOf2Ceil(uint64_t(row))));
    return bytes;
  }

  //===--- Products and what they leave -----------------------------------===//

  /// The first operation of the block that computes the same: they will be one.
  static Operation *findEqual(Operation *op) {
    if (!op->getNumOperands() || op->getNumRegions())
      return op;
    Operation *equal = op;
    for (Operation *user : op->getOperand(0).getUsers())
      if (user->getBlock() == op->getBlock() && user->isBeforeInBlock(equal) &&
          OperationEquivalence::isEquivalentTo(user, op, OperationEquivalence::IgnoreLocations))
        equal = user;
    return equal;
  }

  void visitDot(DotOp dot) {
    gpu::KernelShape fours = shape;
    fours.numWarps = 4;
    bool wgmma = gpu::chooseDotKind(dot, fours) == gpu::DotKind::Wgmma;
    bool swapped = wgmma && gpu::isSwapped(dot);
    bool multiplies = gpu::chooseDotKind(dot, shape) != gpu::DotKind::Fma;
    found.hasWgmma |= wgmma;
    if (int loop = getLoop(dot); loop >= 0) {
      int64_t bits = gpu::getElementBits(dot.getA().getType().getElementType());
      for (int64_t extent : dot.getType().getShape())
        bits *= int64_t(llvm::PowerOf2Ceil(uint64_t(extent)));
      found.loops[loop].productBits +=
          bits * int64_t(llvm::PowerOf2Ceil(uint64_t(dot.getA().getType().getShape().back())));
    }
    for (bool isA : {true, false}) {
      Value operand = isA ? dot.getA() : dot.getB();
      Value source = getRenamed(operand);
      if (isLoad(source.getDefiningOp()) && goesToDots(source))
        continue;
      // Of a tile that is used otherwise, too, the product reads where a copy has brought it.
      if (isLoad(source.getDefiningOp()) &&
          isa<scf::ForOp>(source.getDefiningOp()->getParentOp()) &&
          source.getDefiningOp()->getBlock() == dot->getBlock())
        continue;
      SharedTile &tile = add(SharedTile::Use::Computed, dot, getBytes(getTile(operand)));
      Operation *op = source.getDefiningOp();
      if (op && op->getBlock() == dot->getBlock() && op->getNumResults() == 1) {
        source = findEqual(op)->getResult(0);
        tile.start = first[source.getDefiningOp()];
      } else if (Operation *user = op ? op->getBlock()->findAncestorOpInBlock(*dot) : nullptr) {
        // It is there before the loop, and in each trip.
        tile.start = first[op];
        tile.end = last[user];
      }
      tile.source = sources.try_emplace(source, int(sources.size())).first->second;
      ArrayRef<int64_t> extents = getTile(operand).getShape();
      bool isPermuted = isa_and_nonnull<PermuteOp>(operand.getDefiningOp());
      tile.isSwizzled = getTile(operand).getShape().back() *
                            gpu::getElementBits(getTile(operand).getElementType()) >=
                        swizzledBits;
      tile.operand.wgmma = wgmma;
      // What is computed from loads lies as memory has it, unless it can be had otherwise.
      tile.operand.isFirst = multiplies && isA != swapped && isPermuted == swapped &&
                             (results.contains(source) || isHeld(dot, shape));
      tile.operand.rows = int64_t(llvm::PowerOf2Ceil(uint64_t(extents[extents.size() - 2])));
      tile.operand.depth = int64_t(llvm::PowerOf2Ceil(uint64_t(extents.back())));
      tile.operand.columns = int64_t(llvm::PowerOf2Ceil(uint64_t(dot.getType().getShape().back())));
      if (swapped)
        tile.operand.isHeld = !isA && gpu::isBetterSwapped(dot);
      else if (wgmma && isA && !isPermuted && results.contains(source))
        tile.operand.isResult = true;
      else if (wgmma && isA && !isPermuted)
        tile.operand.isHeld = isHeld(dot, fours);
    }
    if (multiplies && isElsewhere(dot.getAcc()))
      addExchange(dot, dot.getAcc());
  }

  /// True if neighbours of a row are no neighbours any more.
  static bool movesRows(PermuteOp op) {
    return int64_t(op.getPermutation().back()) != int64_t(op.getPermutation().size()) - 1;
  }

  /// Rows of a product's result that several warps hold parts of.
  void addReduction(ReduceOp op) {
    RankedTensorType type = getTile(op.getSource());
    if (type && !getTile(op.getResult()))
      addWords(op, op.getSource());
    if (!type || type.getRank() < 2)
      return;
    if (!results.contains(op.getSource())) {
      addColumns(op);
      return;
    }
    if (type.getRank() != 2 || op.getAxis() != 1)
      return;
    SharedTile &tile = add(SharedTile::Use::Reduction, op, 0);
    tile.operand.rows = int64_t(llvm::PowerOf2Ceil(uint64_t(type.getDimSize(0))));
    tile.operand.depth = int64_t(llvm::PowerOf2Ceil(uint64_t(type.getDimSize(1))));
    tile.operand.wgmma = found.hasWgmma;
  }

  /// Words of scratch that are needed once the loop is done.
  void addBehind(Operation *loop, int64_t bytes) {
    SharedTile &tile = add(SharedTile::Use::Exchange, loop, bytes);
    tile.start = tile.end = last[loop];
  }

  /// What is widened goes between threads as it was.
  SharedTile &addExchange(Operation *op, Value value) {
    while (auto wider = value.getDefiningOp<arith::ExtFOp>())
      value = wider.getIn();
    return add(SharedTile::Use::Exchange, op, getBytes(getTile(value)));
  }

  /// Layouts are for extents in powers of two.
  static bool isHeld(DotOp dot, const gpu::KernelShape &fours) {
    for (Value value : {dot.getA(), dot.getB(), dot.getResult()})
      for (int64_t extent : getTile(value).getShape())
        if (!llvm::isPowerOf2_64(uint64_t(extent)))
          return false;
    return gpu::getHeldOperand(dot, fours).has_value();
  }

  void visit(Operation *op) {
    if (auto load = dyn_cast<LoadOp>(op))
      return visitLoad(load);
    if (auto gather = dyn_cast<GatherOp>(op))
      return visitLoad(gather);
    if (auto dot = dyn_cast<DotOp>(op))
      return visitDot(dot);
    if (auto store = dyn_cast<StoreOp>(op)) {
      if (RankedTensorType type = getTile(store.getValue());
          type && type.getRank() > 1 && results.contains(store.getValue()))
        add(SharedTile::Use::Result, op, getBytes(type)).canFetch = canFetch(store);
      return;
    }
    if (auto scatter = dyn_cast<ScatterOp>(op)) {
      if (RankedTensorType type = getTile(scatter.getValue());
          type && type.getRank() > 1 && results.contains(scatter.getValue()))
        add(SharedTile::Use::Exchange, op, getBytes(type));
      return;
    }
    if (auto atomic = dyn_cast<AtomicOp>(op)) {
      addAtomicResult(atomic);
      RankedTensorType type = getTile(atomic.getValue());
      if (type && type.getRank() > 1 && results.contains(atomic.getValue()) &&
          atomic.getKind() == AtomicKind::Add && atomic.getResult().use_empty() &&
          type.getElementType().isF32() && atomic.getPositions().empty() && canFetch(atomic))
        add(SharedTile::Use::Sum, op, getBytes(type)).canFetch = true;
      return;
    }
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      for (auto [argument, init, yielded] :
           llvm::zip(loop.getRegionIterArgs(), loop.getInitArgs(), loop.getYieldedValues()))
        if (isOfParts(init) && !isOfParts(yielded))
          addExchange(init.getDefiningOp(), init).isApart = true;
        else if (results.contains(argument) && isElsewhere(init))
          addExchange(init.getDefiningOp() ? init.getDefiningOp() : op, init);
      // Parts of a split loop learn who is the last.
      if (auto parts = op->getAttrOfType<IntegerAttr>(splitName); parts && parts.getInt() > 1)
        addBehind(op, arrivalBytes);
      return;
    }
    if (auto reduce = dyn_cast<ReduceOp>(op)) {
      addReduction(reduce);
      return;
    }
    if (auto permute = dyn_cast<PermuteOp>(op)) {
      if (movesRows(permute) && isElsewhere(permute.getResult()) &&
          !goesToDots(permute.getResult()))
        add(SharedTile::Use::Exchange, op, getBytes(permute.getType()));
      return;
    }
    if (auto scan = dyn_cast<ScanOp>(op)) {
      addWords(op, scan.getSources());
      return;
    }
    if (isa<HistogramOp>(op)) {
      add(SharedTile::Use::Exchange, op, getBytes(getTile(op->getResult(0))));
      return;
    }
    if (isa<TakeOp, SortOp>(op)) {
      RankedTensorType type = getTile(op->getOperand(0));
      bool isScalar = isa<TakeOp>(op) && !getTile(op->getResult(0));
      if (isScalar && multiplies)
        add(SharedTile::Use::Scalar, op, 0);
      // One shuffle where a warp holds the vector.
      constexpr int64_t warpThreads = 32;
      if (type && (!isScalar || type.getRank() > 1 ||
                   type.getNumElements() > int64_t(shape.vector) * warpThreads))
        add(SharedTile::Use::Exchange, op, getBytes(type)).isInWarps =
            isScalar && type.getRank() == 1;
      return;
    }
    if (auto concat = dyn_cast<tensor::ConcatOp>(op)) {
      addConcat(concat);
      return;
    }
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
      if (!multiplies)
        addSlice(slice);
      return;
    }
    if (!parts.empty() && op->hasTrait<OpTrait::Elementwise>() && op->getNumResults() == 1 &&
        isOfParts(op->getResult(0)))
      for (Value operand : op->getOperands())
        if (isElsewhere(operand) && !isOfParts(operand))
          addExchange(op, operand);
    if (op->hasTrait<OpTrait::Elementwise>() && op->getNumResults() == 1 &&
        results.contains(op->getResult(0)))
      for (Value operand : op->getOperands())
        if (isElsewhere(operand) && !isSource(operand))
          addExchange(op, operand);
  }

  /// True of what is read from where a copy has brought it.
  bool isSource(Value value) const {
    while (Operation *op = value.getDefiningOp()) {
      if (isLoad(op))
        return llvm::any_of(found.tiles, [&](const SharedTile &tile) {
          return tile.use == SharedTile::Use::Source && tile.start == first.lookup(op);
        });
      if (!op->hasTrait<OpTrait::Elementwise>() || op->getNumOperands() != 1)
        return false;
      value = op->getOperand(0);
    }
    return false;
  }

  static constexpr int64_t arrivalBytes = 16;
  static constexpr int64_t swizzledBits = 32 * 8; ///< of a row, by the narrowest swizzle

  unsigned count = 0;
  llvm::DenseMap<Value, int> sources;   // of computed operands; looked up only
  llvm::DenseSet<Value> results;        // looked up only
  llvm::DenseMap<size_t, size_t> loads; ///< places of tiles, by what finds them; looked up only
  llvm::DenseMap<Operation *, Operation *> joined; // products; looked up only
};

} // namespace

Value getRenamed(Value value) {
  while (isRenaming(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

SharedTiles collectSharedTiles(KernelOp kernel, const gpu::KernelShape &shape) {
  return Collector(kernel, shape).run();
}

} // namespace tile::cost
