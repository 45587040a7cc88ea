// See the header.
#include "codegen/RecomputeAcrossLoops.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Transforms/Utils/Local.h"
#include <optional>

using namespace llvm;

namespace tile {
namespace {

/// Instructions of an innermost loop from which on computing values in it costs nothing beside it.
constexpr unsigned longBody = 500;

unsigned getWords(Type *type) { return type->getScalarSizeInBits() > 32 ? 2 : 1; }

/// Operations that the instruction takes, or none if it is not to be computed twice: it has
/// effects, depends on memory or on when it runs, or is slow.
std::optional<unsigned> getCost(const Instruction &instruction) {
  Type *type = instruction.getType();
  if (type->isVectorTy())
    return std::nullopt;
  if (auto *operation = dyn_cast<BinaryOperator>(&instruction)) {
    if (!type->isIntegerTy() || instruction.isIntDivRem())
      return std::nullopt;
    return operation->getOpcode() == Instruction::Mul && getWords(type) == 2 ? 3 : getWords(type);
  }
  if (isa<ICmpInst, CastInst>(instruction))
    return instruction.getOperand(0)->getType()->isIntOrPtrTy() && type->isIntOrPtrTy()
               ? std::optional<unsigned>(1)
               : std::nullopt;
  if (auto *address = dyn_cast<GetElementPtrInst>(&instruction))
    return address->hasAllConstantIndices() ? 1 : 2; // a constant is part of the access
  if (isa<SelectInst>(instruction))
    return type->isIntegerTy() ? std::optional<unsigned>(1) : std::nullopt;
  auto *call = dyn_cast<IntrinsicInst>(&instruction);
  if (!call)
    return std::nullopt;
  switch (call->getIntrinsicID()) {
  case Intrinsic::nvvm_read_ptx_sreg_tid_x:
  case Intrinsic::nvvm_read_ptx_sreg_ctaid_x:
  case Intrinsic::nvvm_read_ptx_sreg_ctaid_y:
  case Intrinsic::nvvm_read_ptx_sreg_ctaid_z:
  case Intrinsic::nvvm_read_ptx_sreg_nctaid_x:
    return 1;
  case Intrinsic::smax:
  case Intrinsic::smin:
  case Intrinsic::umax:
  case Intrinsic::umin:
    return 2 * getWords(type);
  default:
    return std::nullopt;
  }
}

using Values = DenseSet<const Instruction *>;

/// Instructions whose values are alive at the beginning of each block.
DenseMap<const BasicBlock *, Values> findAlive(const Function &function) {
  DenseMap<const BasicBlock *, Values> alive;
  for (bool changes = true; changes;) {
    changes = false;
    for (const BasicBlock *block : post_order(&function)) {
      Values now;
      for (const BasicBlock *next : successors(block)) {
        now.insert(alive[next].begin(), alive[next].end());
        for (const PHINode &phi : next->phis())
          if (auto *value = dyn_cast<Instruction>(phi.getIncomingValueForBlock(block)))
            now.insert(value);
      }
      for (const Instruction &instruction : llvm::reverse(*block)) {
        now.erase(&instruction);
        if (!isa<PHINode>(instruction))
          for (const Value *operand : instruction.operands())
            if (auto *value = dyn_cast<Instruction>(operand))
              now.insert(value);
      }
      changes |= now.size() != alive[block].size();
      alive[block] = std::move(now);
    }
  }
  return alive;
}

/// Code only: what takes vectors and structures apart is gone after register allocation.
bool isLong(const Loop &loop) {
  unsigned count = 0;
  for (const BasicBlock *block : loop.blocks())
    count += count_if(*block, [](const Instruction &instruction) {
      return !isa<PHINode, BitCastInst, ExtractElementInst, InsertElementInst, ShuffleVectorInst,
                  ExtractValueInst, InsertValueInst>(instruction);
    });
  return count >= longBody;
}

/// The part of a sum that is added to a pointer first: of 64 bits, if the other is not.
std::pair<Value *, Value *> getParts(Instruction &sum) {
  Value *first = sum.getOperand(0), *second = sum.getOperand(1);
  if (isa<ZExtInst>(first))
    std::swap(first, second);
  return {first, second};
}

/// Offsets of copies are sums of few parts, and each sum that a loop does not change takes two
/// registers throughout it:
///
///   row0 + column0, row0 + column1, row1 + column0, ..    each added to the loop's pointer
///   pointer + row0, pointer + row1;  each + column0, ..   the parts alone, for as much arithmetic
///
/// Takes the sums apart where several have a part in common.
bool splitOffsets(const Loop &loop) {
  bool changes = false;
  for (BasicBlock *block : loop.blocks()) {
    MapVector<std::pair<Value *, Value *>, SmallVector<GetElementPtrInst *>> sharing;
    for (Instruction &instruction : *block) {
      auto *address = dyn_cast<GetElementPtrInst>(&instruction);
      if (!address || address->getNumIndices() != 1 || address->getType()->isVectorTy() ||
          loop.isLoopInvariant(address->getPointerOperand()))
        continue;
      auto *sum = dyn_cast<BinaryOperator>(address->getOperand(1));
      if (sum && sum->getOpcode() == Instruction::Add && sum->getType()->isIntegerTy(64) &&
          loop.isLoopInvariant(sum))
        sharing[{address->getPointerOperand(), getParts(*sum).first}].push_back(address);
    }
    for (auto &[parts, addresses] : sharing) {
      if (addresses.size() < 2)
        continue;
      changes = true;
      auto [pointer, first] = parts;
      Type *element = addresses.front()->getSourceElementType();
      IRBuilder<> builder(addresses.front());
      Value *row = builder.CreateGEP(element, pointer, first);
      for (GetElementPtrInst *address : addresses) {
        if (address->getSourceElementType() != element)
          continue;
        auto *sum = cast<Instruction>(address->getOperand(1));
        builder.SetInsertPoint(address);
        address->replaceAllUsesWith(builder.CreateGEP(element, row, getParts(*sum).second));
        address->eraseFromParent();
      }
    }
  }
  return changes;
}

class Recomputation {
public:
  Recomputation(Function &function, const LoopInfo &loops, unsigned mostOperations)
      : function(function), mostOperations(mostOperations) {
    DenseMap<const BasicBlock *, Values> alive = findAlive(function);
    for (const Loop *loop : loops.getLoopsInPreorder()) {
      if (!loop->isInnermost())
        continue;
      Values used; // they stay in registers anyway
      if (!isLong(*loop)) {
        for (BasicBlock *block : loop->blocks()) {
          shortLoops[block] = loop;
          for (const Instruction &instruction : *block)
            for (const Value *operand : instruction.operands())
              if (auto *value = dyn_cast<Instruction>(operand))
                used.insert(value);
        }
      }
      for (const Instruction *value : alive[loop->getHeader()]) {
        across.insert(value);
        if (!used.contains(value))
          unused.insert(value);
      }
    }
    findPrices();
  }

  bool run() {
    bool changes = false;
    for (BasicBlock &block : function)
      for (Instruction &instruction : make_early_inc_range(block))
        for (Use &use : instruction.operands())
          changes |= replace(use);
    for (BasicBlock &block : llvm::reverse(function))
      for (Instruction &instruction : make_early_inc_range(llvm::reverse(block)))
        if (isInstructionTriviallyDead(&instruction))
          instruction.eraseFromParent();
    return changes;
  }

private:
  /// Worth a second computation: no register is kept for it otherwise.
  bool isWanted(const Instruction *value) const {
    return unused.contains(value) && getCost(*value).has_value();
  }

  /// What each value takes to be had again behind the loops; operands come before their users.
  void findPrices() {
    ReversePostOrderTraversal<Function *> order(&function);
    for (BasicBlock *block : order)
      for (Instruction &instruction : *block) {
        if (across.contains(&instruction) && !isWanted(&instruction)) {
          prices[&instruction] = 0; // alive
          continue;
        }
        std::optional<unsigned> price = getCost(instruction);
        for (const Value *operand : instruction.operands())
          if (auto *value = dyn_cast<Instruction>(operand); value && price) {
            auto found = prices.find(value);
            price = found == prices.end() ? std::nullopt
                                          : std::optional<unsigned>(*price + found->second);
          }
        if (price && *price <= mostOperations)
          prices[&instruction] = *price;
        else if (across.contains(&instruction))
          prices[&instruction] = 0; // it stays alive
      }
  }

  bool replace(Use &use) {
    auto *value = dyn_cast<Instruction>(use.get());
    if (!value || !isWanted(value) || prices.lookup(value) == 0)
      return false;
    auto *user = cast<Instruction>(use.getUser());
    Instruction *place = user;
    if (auto *phi = dyn_cast<PHINode>(user))
      place = phi->getIncomingBlock(use)->getTerminator();
    if (const Loop *loop = shortLoops.lookup(place->getParent())) {
      const BasicBlock *before = loop->getLoopPreheader();
      if (!before || place != user) // or along the loop's own edge
        return false;
      place = const_cast<Instruction *>(before->getTerminator());
    }
    if (place->getParent() == value->getParent())
      return false;
    // A block's own copies begin at its first use; at its end nothing earlier may use them.
    Copies atEnd;
    use.set(copy(value, place, place == user ? copies[place->getParent()] : atEnd));
    return true;
  }

  using Copies = DenseMap<const Instruction *, Instruction *>;

  /// The value, computed before `place`. As deep as `mostOperations` at most.
  Value *copy(Value *value, Instruction *place, Copies &made) {
    auto *instruction = dyn_cast<Instruction>(value);
    if (!instruction || prices.lookup(instruction) == 0 ||
        instruction->getParent() == place->getParent())
      return value;
    if (Instruction *found = made.lookup(instruction))
      return found;
    SmallVector<Value *> operands;
    for (Value *operand : instruction->operands())
      operands.push_back(copy(operand, place, made));
    Instruction *again = instruction->clone();
    for (auto [index, operand] : enumerate(operands))
      again->setOperand(index, operand);
    again->insertBefore(place->getIterator());
    made[instruction] = again;
    return again;
  }

  Function &function;
  const unsigned mostOperations; ///< those that several values share count for each
  Values across;                 ///< alive across a loop
  Values unused;                 ///< of these, what no loop needs in a register
  DenseMap<const BasicBlock *, const Loop *> shortLoops;
  DenseMap<const Instruction *, unsigned> prices; ///< 0: it is there
  DenseMap<const BasicBlock *, Copies> copies;
};

} // namespace

PreservedAnalyses RecomputeAcrossLoopsPass::run(Function &function,
                                                FunctionAnalysisManager &analyses) {
  unsigned mostOperations = 0;
  function.getFnAttribute(recomputeName).getValueAsString().getAsInteger(10, mostOperations);
  if (mostOperations == 0)
    return PreservedAnalyses::all();
  const LoopInfo &loops = analyses.getResult<LoopAnalysis>(function);
  bool changes = false;
  for (const Loop *loop : loops.getLoopsInPreorder())
    if (loop->isInnermost())
      changes |= splitOffsets(*loop);
  changes |= Recomputation(function, loops, mostOperations).run();
  if (!changes)
    return PreservedAnalyses::all();
  PreservedAnalyses preserved;
  preserved.preserveSet<CFGAnalyses>();
  return preserved;
}

} // namespace tile
