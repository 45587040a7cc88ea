// See the header.
#include "codegen/ScheduleForPressure.h"
#include "codegen/ResolveShuffles.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace tile {
namespace {

/// Registers of 32 bits that a thread can have.
constexpr unsigned mostRegisters = 255;
constexpr unsigned registersOfAMultiprocessor = 65536;

/// Registers that a value takes. Truth values count as well: there are seven predicate registers,
/// and what does not fit goes to others.
unsigned countRegisters(Type *type, const DataLayout &layout) {
  if (auto *structure = dyn_cast<StructType>(type)) {
    unsigned sum = 0;
    for (Type *element : structure->elements())
      sum += countRegisters(element, layout);
    return sum;
  }
  if (!type->isSized() || type->isVoidTy())
    return 0;
  if (type->getScalarType()->isIntegerTy(1)) {
    auto *vector = dyn_cast<FixedVectorType>(type);
    return vector ? vector->getNumElements() : 1;
  }
  return unsigned(divideCeil(layout.getTypeSizeInBits(type).getFixedValue(), 32));
}

/// True of what may stand anywhere between its operands and its first use. Loads stay, so that
/// those that began together still overlap.
bool isMovable(const Instruction &instruction) {
  if (auto *call = dyn_cast<CallBase>(&instruction); call && call->isInlineAsm())
    return !cast<InlineAsm>(call->getCalledOperand())->hasSideEffects() &&
           none_of(call->args(), [](const Use &use) { return use->getType()->isPointerTy(); });
  if (isa<PHINode>(instruction) || instruction.isTerminator() || instruction.mayHaveSideEffects() ||
      instruction.mayReadFromMemory())
    return false;
  auto *call = dyn_cast<CallBase>(&instruction);
  return !call || !call->isConvergent();
}

/// One block: its values, and how many registers an order of its instructions needs.
class BlockOrder {
public:
  explicit BlockOrder(BasicBlock &block) : layout(block.getDataLayout()), block(block) {
    for (Instruction &instruction : block)
      present.push_back(&instruction);
  }

  SmallVector<Instruction *> present;

  /// The order where what is movable stands in the first window that needs it. Windows are of
  /// `width` values that others use which stay in their place, or other blocks. Within a window all
  /// stand as they stood, so that threads have `width` chains to work on.
  SmallVector<Instruction *> sinkToWindows(unsigned width) const {
    DenseMap<const Instruction *, unsigned> windows;
    SmallVector<SmallVector<Instruction *>> members;
    unsigned count = 0;
    for (Instruction *root : present)
      if (!isMovable(*root) || isUsedElsewhere(*root)) {
        place(root, count / width, windows);
        members.resize(count / width + 1);
        count += isMovable(*root) ? 1 : std::max(countComputed(*root), 1u);
      }
    for (Instruction *instruction : present) { // used by other blocks alone: in the last
      auto found = windows.find(instruction);
      members[found == windows.end() ? members.size() - 1 : found->second].push_back(instruction);
    }
    SmallVector<Instruction *> order;
    for (ArrayRef<Instruction *> window : members)
      order.append(window.begin(), window.end());
    return order;
  }

  /// The most registers that are alive at once, of what the block computes or is the last to use;
  /// with `outside`, of what it uses at all.
  unsigned countMost(ArrayRef<Instruction *> order, bool outside = false) const {
    MapVector<const Instruction *, unsigned> lastUse;
    unsigned alive = 0;
    for (auto [at, instruction] : enumerate(order))
      for (const Value *operand : instruction->operands())
        if (auto *value = dyn_cast<Instruction>(operand);
            value && !isa<PHINode>(instruction) && (outside || value->getParent() == &block)) {
          if (lastUse.try_emplace(value).second && value->getParent() != &block)
            alive += countRegisters(value->getType(), layout);
          lastUse[value] = unsigned(at);
        }
    SmallVector<unsigned> ends(order.size(), 0); // registers that become free after each
    for (auto [value, at] : lastUse)
      if (!isUsedElsewhere(*value))
        ends[at] += countRegisters(value->getType(), layout);
    unsigned most = alive;
    for (auto [at, instruction] : enumerate(order)) {
      unsigned registers = countRegisters(instruction->getType(), layout);
      alive += registers;
      most = std::max(most, alive);
      if (!lastUse.contains(instruction) && !isUsedElsewhere(*instruction))
        alive -= registers;
      alive -= ends[at];
    }
    return most;
  }

private:
  /// Operands that may stand anywhere up to the instruction.
  unsigned countComputed(const Instruction &instruction) const {
    return unsigned(count_if(instruction.operands(), [&](const Use &use) {
      auto *value = dyn_cast<Instruction>(use.get());
      return value && value->getParent() == &block && isMovable(*value);
    }));
  }

  /// True of a value that other blocks use; of one that comes from another block, others than that.
  bool isUsedElsewhere(const Instruction &value) const {
    return any_of(value.users(), [&](const User *user) {
      auto *other = cast<Instruction>(user);
      if (value.getParent() != &block)
        return other->getParent() != &block && other->getParent() != value.getParent();
      return other->getParent() != &block || isa<PHINode>(other);
    });
  }

  /// Puts the root into the window, with what it needs and no window before has. Without recursion:
  /// chains may be as long as the block.
  void place(Instruction *root, unsigned window,
             DenseMap<const Instruction *, unsigned> &windows) const {
    SmallVector<Instruction *> needed = {root};
    while (!needed.empty()) {
      Instruction *instruction = needed.pop_back_val();
      if (!windows.try_emplace(instruction, window).second || isa<PHINode>(instruction))
        continue;
      for (Value *value : instruction->operands())
        if (auto *operand = dyn_cast<Instruction>(value);
            operand && operand->getParent() == &block && !windows.contains(operand))
          needed.push_back(operand);
    }
  }

  const DataLayout &layout;
  BasicBlock &block;
};

/// Registers that a thread of the kernel can have, by the size of its blocks.
unsigned getRegisterLimit(const Function &function) {
  unsigned threads = 1;
  if (Attribute attribute = function.getFnAttribute("nvvm.maxntid"); attribute.isValid()) {
    SmallVector<StringRef> extents;
    attribute.getValueAsString().split(extents, ',');
    for (StringRef extent : extents) {
      unsigned count = 1;
      if (!extent.trim().getAsInteger(10, count))
        threads *= count;
    }
  }
  return std::min(mostRegisters, registersOfAMultiprocessor / std::max(threads, 1u));
}

/// Chains of work that are begun together at most: enough to hide the latency of arithmetic.
constexpr unsigned widestWindow = 64;

/// What is counted has addresses, which instructions hold: a twelfth more than there are is enough.
bool fits(unsigned registers, unsigned limit) { return registers <= limit + limit / 12; }

/// True of a block that needs far more registers than there are: ptxas finds an order itself where
/// somewhat more is alive than fits.
bool needsOrder(BasicBlock &block, unsigned limit) {
  if (block.size() <= limit)
    return false;
  BlockOrder order(block);
  return 2 * order.countMost(order.present) > 3 * limit;
}

/// Moves back to the block what makes fewer registers of values that it computes for this alone:
///
///   block:  h = x * 0.5;  e = 1 + erf(x / sqrt(2))      block:  h = ...;  e = ...;  y = h * e
///   later:  y = h * e                               ->  later:
///
/// LLVM moves operations to the only block that uses them, and so keeps their operands in its
/// place.
void gatherUses(BasicBlock &block, const DominatorTree &dominators, const LoopInfo &loops) {
  const DataLayout &layout = block.getDataLayout();
  SmallVector<Instruction *> values;
  for (Instruction &instruction : block)
    values.push_back(&instruction);
  for (size_t at = 0; at < values.size(); ++at) { // grows: what is moved has users, too
    if (values[at]->use_empty())
      continue;
    auto *user = cast<Instruction>(*values[at]->user_begin());
    if (!values[at]->hasOneUser() || user->getParent() == &block || !isMovable(*user) ||
        !isSafeToSpeculativelyExecute(user) || !dominators.dominates(&block, user->getParent()) ||
        loops.getLoopFor(&block) != loops.getLoopFor(user->getParent()))
      continue;
    unsigned freed = 0;
    bool isReady = true;
    for (Value *operand : user->operands())
      if (auto *value = dyn_cast<Instruction>(operand)) {
        isReady &= dominators.dominates(value->getParent(), &block);
        if (value->getParent() == &block && value->hasOneUser())
          freed += countRegisters(value->getType(), layout);
      }
    if (!isReady || freed <= countRegisters(user->getType(), layout))
      continue;
    user->moveBefore(block.getTerminator()->getIterator());
    values.push_back(user);
  }
}

/// Orders the blocks that need it; true if that takes a third of a block's registers away.
bool schedule(Function &function, unsigned limit, FunctionAnalysisManager &analyses) {
  ResolveShufflesPass(ResolveShufflesPass::Cuts::All).run(function, analyses);
  const DominatorTree dominators(function);
  const LoopInfo loops(dominators);
  bool pays = false;
  for (BasicBlock &block : function) {
    if (!needsOrder(block, limit))
      continue;
    gatherUses(block, dominators, loops);
    BlockOrder order(block);
    SmallVector<Instruction *> best = order.present;
    const unsigned before = order.countMost(best);
    unsigned fewest = order.countMost(best, /*outside=*/true);
    for (unsigned width = widestWindow; width > 0 && !fits(fewest, limit); width /= 2) {
      SmallVector<Instruction *> sunk = order.sinkToWindows(width);
      if (unsigned registers = order.countMost(sunk, /*outside=*/true); registers < fewest) {
        fewest = registers;
        best = std::move(sunk);
      }
    }
    pays |= 3 * order.countMost(best) <= 2 * before;
    for (Instruction *instruction : best)
      if (!isa<PHINode>(instruction))
        instruction->moveBefore(block, block.end());
  }
  return pays;
}

} // namespace

PreservedAnalyses ScheduleForPressurePass::run(Function &function,
                                               FunctionAnalysisManager &analyses) {
  const unsigned limit = getRegisterLimit(function);
  if (none_of(function, [&](BasicBlock &block) { return needsOrder(block, limit); }))
    return PreservedAnalyses::all();
  // Tried with a copy: pieces alone, without the order, cost more than they save.
  ValueToValueMapTy places;
  Function *copy = CloneFunction(&function, places);
  const bool pays = schedule(*copy, limit, analyses);
  copy->eraseFromParent();
  if (!pays)
    return PreservedAnalyses::all();
  schedule(function, limit, analyses);
  PreservedAnalyses preserved;
  preserved.preserveSet<CFGAnalyses>();
  return preserved;
}

} // namespace tile
