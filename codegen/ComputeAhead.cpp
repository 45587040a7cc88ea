// See the header.
#include "codegen/ComputeAhead.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace tile {
namespace {

/// A warp's branch around work that its lanes seldom need.
///
///   test: ...; br all(...), join, work
///   work: ...; br join
///   join: phis of both
struct Skip {
  BasicBlock *test, *work, *join;
};

std::optional<Skip> findSkip(BasicBlock &block) {
  auto *branch = dyn_cast<BranchInst>(block.getTerminator());
  if (!branch || !branch->isConditional())
    return std::nullopt;
  auto *vote = dyn_cast<IntrinsicInst>(branch->getCondition());
  if (!vote || vote->getIntrinsicID() != Intrinsic::nvvm_vote_all_sync)
    return std::nullopt;
  Skip skip{&block, branch->getSuccessor(1), branch->getSuccessor(0)};
  if (skip.work->getSinglePredecessor() != &block || skip.work->getSingleSuccessor() != skip.join ||
      !skip.join->hasNPredecessors(2))
    return std::nullopt;
  return skip;
}

/// True of a function of one 32-bit number that the unit for elementary functions computes.
bool isSpecial(const Instruction &instruction) {
  auto *call = dyn_cast<IntrinsicInst>(&instruction);
  return call && call->getIntrinsicID() == Intrinsic::exp2 && call->getType()->isFloatTy();
}

/// Clocks in which a warp computes the block, if nothing waits: maxima, comparisons and selections
/// have half of the lanes that other arithmetic has.
unsigned countClocks(const BasicBlock &block) {
  unsigned clocks = 0;
  for (const Instruction &instruction : block) {
    auto *call = dyn_cast<IntrinsicInst>(&instruction);
    if (isa<PHINode>(instruction) || instruction.isDebugOrPseudoInst())
      continue;
    bool isHalf = isa<CmpInst, SelectInst>(instruction) ||
                  (call && (call->getIntrinsicID() == Intrinsic::maximum ||
                            call->getIntrinsicID() == Intrinsic::minimum ||
                            call->getIntrinsicID() == Intrinsic::maxnum ||
                            call->getIntrinsicID() == Intrinsic::minnum));
    clocks += isHalf ? 2 : 1;
  }
  return clocks;
}

/// What the join computes for `root`, in order, with the root; empty where that is more than a few
/// operations, or takes anything but arithmetic on values that are there before the test.
SmallVector<Instruction *> findChain(Instruction *root, const Skip &skip) {
  constexpr unsigned most = 8;
  SetVector<Instruction *> found;
  SmallVector<Instruction *> open = {root};
  bool waits = false; // for the test
  while (!open.empty()) {
    Instruction *next = open.pop_back_val();
    if (!found.insert(next))
      continue;
    if (found.size() > most || next->mayReadFromMemory() || next->mayHaveSideEffects() ||
        !isSafeToSpeculativelyExecute(next))
      return {};
    for (Value *operand : next->operands()) {
      auto *value = dyn_cast<Instruction>(operand);
      if (!value || value->getParent() != skip.join)
        continue;
      if (isa<PHINode>(value))
        waits = true;
      else
        open.push_back(value);
    }
  }
  if (!waits)
    return {};
  SmallVector<Instruction *> chain = found.takeVector();
  llvm::sort(chain, [](Instruction *a, Instruction *b) { return a->comesBefore(b); });
  return chain;
}

/// The chain once more ahead of the end of `block`, from which the join is reached.
Value *cloneInto(ArrayRef<Instruction *> chain, BasicBlock *block, const Skip &skip,
                 DenseMap<std::pair<Instruction *, BasicBlock *>, Value *> &clones) {
  for (Instruction *each : chain) {
    Value *&clone = clones[{each, block}];
    if (clone)
      continue;
    Instruction *copy = each->clone();
    for (Use &operand : copy->operands()) {
      auto *value = dyn_cast<Instruction>(operand.get());
      if (!value || value->getParent() != skip.join)
        continue;
      auto *phi = dyn_cast<PHINode>(value);
      operand.set(phi ? phi->getIncomingValueForBlock(block) : clones.lookup({value, block}));
    }
    copy->insertBefore(block->getTerminator()->getIterator());
    clone = copy;
  }
  return clones.lookup({chain.back(), block});
}

bool computeAhead(const Skip &skip) {
  constexpr unsigned clocksOfFunction = 8; // of a warp: the unit has 4 lanes
  if (any_of(*skip.test, isSpecial))
    return false;
  unsigned count = countClocks(*skip.test) / clocksOfFunction;
  SmallVector<Instruction *> roots;
  for (Instruction &instruction : *skip.join)
    if (isSpecial(instruction))
      roots.push_back(&instruction);
  DenseMap<std::pair<Instruction *, BasicBlock *>, Value *> clones;
  bool changes = false;
  for (Instruction *root : roots) {
    if (count == 0)
      break;
    SmallVector<Instruction *> chain = findChain(root, skip);
    if (chain.empty())
      continue;
    --count;
    auto *phi = PHINode::Create(root->getType(), 2, "", skip.join->begin());
    // Held, or it would be moved to the only path that uses it, behind the branch.
    Value *ahead = cloneInto(chain, skip.test, skip, clones);
    FunctionType *type = FunctionType::get(root->getType(), {root->getType()}, false);
    InlineAsm *hold = InlineAsm::get(type, "", "=f,0", /*hasSideEffects=*/true);
    ahead = CallInst::Create(hold, {ahead}, "", skip.test->getTerminator()->getIterator());
    phi->addIncoming(ahead, skip.test);
    phi->addIncoming(cloneInto(chain, skip.work, skip, clones), skip.work);
    phi->setDebugLoc(root->getDebugLoc());
    root->replaceAllUsesWith(phi);
    for (Instruction *each : reverse(chain))
      if (each->use_empty())
        each->eraseFromParent();
    changes = true;
  }
  return changes;
}

} // namespace

/// True of kernels whose producer hands registers on to the warps that compute.
static bool handsRegistersOn(const Function &function) {
  return any_of(instructions(function), [](const Instruction &instruction) {
    auto *call = dyn_cast<IntrinsicInst>(&instruction);
    return call && call->getIntrinsicID() == Intrinsic::nvvm_setmaxnreg_inc_sync_aligned_u32;
  });
}

PreservedAnalyses ComputeAheadPass::run(Function &function, FunctionAnalysisManager &) {
  // The others' threads have no register left beside tiles, and blocks beside them that keep the
  // unit busy meanwhile.
  if (!handsRegistersOn(function))
    return PreservedAnalyses::all();
  SmallVector<Skip> skips;
  for (BasicBlock &block : function)
    if (std::optional<Skip> skip = findSkip(block))
      skips.push_back(*skip);
  bool changes = false;
  for (const Skip &skip : skips)
    changes |= computeAhead(skip);
  if (!changes)
    return PreservedAnalyses::all();
  PreservedAnalyses preserved;
  preserved.preserveSet<CFGAnalyses>();
  return preserved;
}

} // namespace tile
