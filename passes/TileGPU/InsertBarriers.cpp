// tile-gpu-insert-barriers: orders accesses to the same bytes of shared memory by different
// threads.
//
// Walks the kernel with the set of accesses since the last barrier on any way to here. An operation
// whose accesses meet one of them in the same bytes, one of the two writing, gets a barrier before
// it, which empties the set:
//
//   write A; read A            ->  write A; barrier; read A
//   for: read A; write A       ->  for: barrier; read A; barrier; write A    (next trip: the first)
//
// A loop is walked until what is pending at its end changes nothing at its start. Bytes decide, not
// names: two tiles that allocation has put into the same place conflict like one.
//
// What a loop waits for that happened before it is waited for once, in front of the loop:
//
//   write A; for: read A       ->  write A; barrier; for: read A
//
// No barrier stands in a warpgroup's turn, whose others wait for their own turn and would never
// reach the barrier: what a turn waits for is waited for in front of the turn.
#include "dialect/AttributeNames.h"
#include "dialect/TileGPU/SharedMemory.h"
#include "passes/TileGPU/SharedLifetimes.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Pass/Pass.h"
#include <set>
#include <unordered_map>

namespace tile {
#define GEN_PASS_DEF_TILEGPUINSERTBARRIERS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

namespace {

/// Bytes [first, last), perhaps of slots, which have a number then: accesses to one and the same
/// slots are ordered by those who make them, as a warp orders those to scratch of its own. A tile
/// whose places trips take in turns has a number too: what is written there does not meet what was
/// read or written the time before, and the barrier between that write and its reads stands between
/// this one and what was read before that.
struct Range {
  int64_t first, last;
  int64_t slots = -1;
  int64_t turns = -1;

  auto key() const { return std::tuple(first, last, slots, turns); }
  bool operator<(const Range &other) const { return key() < other.key(); }
  bool operator==(const Range &other) const { return key() == other.key(); }
  bool meets(const Range &other) const {
    return first < other.last && other.first < last && (slots < 0 || slots != other.slots);
  }
  /// The same, where `next` is written.
  bool meetsWrite(const Range &next) const {
    return meets(next) && (turns < 0 || turns != next.turns);
  }
};

/// Accesses that have happened since the last barrier, on any path.
struct Pending {
  std::set<Range> reads, writes;

  void add(const Pending &other) {
    reads.insert(other.reads.begin(), other.reads.end());
    writes.insert(other.writes.begin(), other.writes.end());
  }
  bool operator==(const Pending &other) const {
    return reads == other.reads && writes == other.writes;
  }

  /// True if the accesses `next` must wait for these.
  bool conflictsWith(const Pending &next) const {
    return overlap(writes, next.reads, &Range::meets) ||
           overlap(writes, next.writes, &Range::meetsWrite) ||
           overlap(reads, next.writes, &Range::meetsWrite);
  }

private:
  static bool overlap(const std::set<Range> &a, const std::set<Range> &b,
                      bool (Range::*meets)(const Range &) const) {
    for (Range x : a)
      for (Range y : b)
        if ((x.*meets)(y))
          return true;
    return false;
  }
};

/// The number in the text of the kernel of each slots, of each tile with two places and of each
/// conversion that keeps its scratch; looked up only.
using SlotNumbers = DenseMap<Operation *, int64_t>;

/// The effects of an operation: accesses from its start to a barrier of its own, and what is left
/// pending at its end.
struct Effects {
  Pending before, after;
  bool synchronizes = false; // all that came before is done at its end
};

/// The number of a tile with two places, -1 for any other.
int64_t getTurns(Operation *owner, const SlotNumbers &numbers) {
  return owner->hasAttr(alternatesName) ? numbers.lookup(owner) : -1;
}

/// The ring of a tile in one that is filled once, whose bytes others may have then; null for other
/// tiles, whose bytes are their rings' throughout.
RingOp getRingFilledOnce(Value memory) {
  while (auto permute = memory.getDefiningOp<MemDescPermuteOp>())
    memory = permute.getSource();
  auto wait = memory.getDefiningOp<RingWaitOp>();
  auto ring = wait ? wait.getRing().getDefiningOp<RingOp>() : RingOp();
  return ring && isFilledOnce(ring) ? ring : RingOp();
}

/// The bytes behind a tile in shared memory; of slots all that there are.
std::optional<Range> getRange(Value memory, const SlotNumbers &numbers) {
  Operation *owner = getSharedOwner(memory);
  if (!owner)
    owner = getRingFilledOnce(memory);
  int64_t number = -1;
  if (LocalSlotsOp slots = getSlotsOwner(memory)) {
    owner = slots;
    number = numbers.lookup(slots);
  }
  std::optional<int64_t> offset = owner ? getSharedOffset(owner) : std::nullopt;
  if (!offset)
    return std::nullopt;
  return Range{*offset, *offset + getSharedNeed(owner).bytes, number, getTurns(owner, numbers)};
}

/// Adds what `op` reads of tiles in shared memory, and what is written there: by an
/// asynchronous copy, or by each thread for itself.
void addReads(Operation *op, Pending &accesses, const SlotNumbers &numbers) {
  for (Value operand : op->getOperands())
    if (std::optional<Range> range =
            isa<MemDescType>(operand.getType()) ? getRange(operand, numbers) : std::nullopt)
      (isa<AsyncCopyOp, PrivateStoreOp>(op) ? accesses.writes : accesses.reads).insert(*range);
}

Effects getEffects(Operation *op, const SlotNumbers &numbers) {
  Effects effects;
  if (isa<SlotOp>(op))
    return effects;
  // Slots are fresh: what was done with these bytes before, in them too, is over then.
  if (isa<LocalSlotsOp>(op)) {
    if (std::optional<int64_t> offset = getSharedOffset(op))
      effects.before.writes.insert({*offset, *offset + getSharedNeed(op).bytes});
    return effects;
  }
  if (isa<BarrierOp>(op)) {
    effects.synchronizes = true;
    return effects;
  }
  if (!isa<MemDescPermuteOp, MemDescJoinOp>(op))
    addReads(op, effects.before, numbers);
  // A product that was left in flight has read its operands only now.
  if (auto wait = dyn_cast<WgmmaWaitOp>(op))
    for (auto product = wait.getValue().getDefiningOp<WgmmaOp>(); product;
         product = product.getAcc().getDefiningOp<WgmmaOp>())
      addReads(product, effects.before, numbers);
  SharedNeed need = getSharedNeed(op);
  if (std::optional<int64_t> offset = getSharedOffset(op)) {
    Range range{*offset, *offset + need.bytes, keepsScratch(op) ? numbers.lookup(op) : -1,
                getTurns(op, numbers)};
    if (need.use != SharedUse::None && (need.use != SharedUse::Persistent || isStoredOnce(op)))
      effects.before.writes.insert(range);
    if (need.use == SharedUse::ScratchWarp)
      effects.before.reads.insert(range);
    if (need.use == SharedUse::ScratchBlock) {
      effects.synchronizes = true;
      effects.after.reads.insert(range);
    }
  }
  if (!effects.synchronizes)
    effects.after = effects.before;
  return effects;
}

using Places = std::set<Operation *>; // counted and looked up only

/// The effects of each operation, which loops are walked several times for.
class KnownEffects {
public:
  explicit KnownEffects(const SlotNumbers &numbers) : numbers(numbers) {}

  const Effects &get(Operation *op) {
    auto [known, isNew] = effects.try_emplace(op);
    if (isNew)
      known->second = getEffects(op, numbers);
    return known->second;
  }

private:
  const SlotNumbers &numbers;
  std::unordered_map<Operation *, Effects> effects; // looked up only
};

class Inserter {
public:
  /// With `found`, inserts nothing and adds to it the operations that would get a barrier.
  explicit Inserter(KnownEffects &known, Places *found = nullptr) : known(known), found(found) {}

  /// Inserts barriers in a block that is entered with `pending`, and leaves in it what is pending
  /// at the end.
  void visitBlock(Block &block, Pending &pending) {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      // The region of a scan or reduction is its function, which runs in the middle of it.
      if (op.getNumRegions() && !isa<ScanOp, ReduceByOp>(op)) {
        visitRegions(op, pending);
        continue;
      }
      const Effects &effects = known.get(&op);
      if (found && found->count(&op)) // its barrier is there, whichever trip it was found in
        pending = {};
      if (pending.conflictsWith(isa<TurnWaitOp>(op) ? getAccessesOfTurn(op) : effects.before))
        insertBefore(op, pending);
      if (effects.synchronizes)
        pending = {};
      pending.add(effects.after);
    }
  }

private:
  void insertBefore(Operation &op, Pending &pending) {
    if (found) {
      found->insert(&op);
    } else {
      OpBuilder builder(&op);
      BarrierOp::create(builder, op.getLoc());
    }
    pending = {};
  }

  /// All that is accessed from a turn's start to its end.
  Pending getAccessesOfTurn(Operation &wait) {
    Pending all;
    for (Operation *op = wait.getNextNode(); op && !isa<TurnPassOp>(op); op = op->getNextNode())
      op->walk([&](Operation *inner) { all.add(known.get(inner).before); });
    return all;
  }

  /// True if a loop that is entered with `pending` gets more barriers than its own trips need.
  bool waitsForEntry(Operation &loop, const Pending &pending) {
    Pending all;
    loop.walk([&](Operation *inner) { all.add(known.get(inner).before); });
    if (!pending.conflictsWith(all))
      return false;
    Places alone, entered;
    Pending none, entry = pending;
    Inserter(known, &alone).visitRegions(loop, none);
    Inserter(known, &entered).visitRegions(loop, entry);
    return entered.size() > alone.size();
  }

  void visitRegions(Operation &op, Pending &pending) {
    if (!found && isa<LoopLikeOpInterface>(op) && waitsForEntry(op, pending))
      insertBefore(op, pending);
    // Regions that may follow each other, themselves included: visited until what is pending at the
    // end adds nothing.
    if (isa<LoopLikeOpInterface>(op)) {
      Pending entry = pending, before;
      do {
        before = entry;
        Pending flow = entry;
        for (Region &region : op.getRegions())
          for (Block &block : region)
            visitBlock(block, flow);
        pending.add(flow);
        entry.add(flow);
      } while (!(entry == before));
      return;
    }
    // Alternatives, one of which (or none) is taken.
    Pending entry = pending;
    for (Region &region : op.getRegions())
      for (Block &block : region) {
        Pending flow = entry;
        visitBlock(block, flow);
        pending.add(flow);
      }
  }

  KnownEffects &known;
  Places *found;
};

struct InsertBarriers : tile::impl::TileGPUInsertBarriersBase<InsertBarriers> {
  void runOnOperation() override {
    for (KernelOp kernel : getOperation().getOps<KernelOp>()) {
      SlotNumbers numbers;
      kernel.getBody().walk([&](Operation *op) {
        int64_t next = numbers.size();
        if (isa<LocalSlotsOp>(op) || op->hasAttr(alternatesName) || keepsScratch(op))
          numbers[op] = next;
      });
      KnownEffects known(numbers);
      Pending pending;
      for (Block &block : kernel.getBody())
        Inserter(known).visitBlock(block, pending);
    }
  }
};

} // namespace
