// See the header.
//
// Two sources, whose ranges are intersected: LLVM's scalar evolution, and the operations
// themselves, which it does not look through where they are not linear (shifts, selections, masks).
// Ranges are signed. Each answer is kept: the function must not change between questions.
#include "codegen/IndexRanges.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace tile {

ConstantRange IndexRanges::get(Value *value, unsigned depth) {
  auto *type = cast<IntegerType>(value->getType());
  if (auto *constant = dyn_cast<ConstantInt>(value))
    return ConstantRange(constant->getValue());
  if (auto found = known.find(value); found != known.end())
    return found->second;
  ConstantRange range = ConstantRange::getFull(type->getBitWidth());
  if (evolution.isSCEVable(type))
    range = evolution.getSignedRange(evolution.getSCEV(value));
  // Also ends the search where values of loops depend on each other.
  constexpr unsigned deepest = 16;
  if (auto *instruction = dyn_cast<Instruction>(value); instruction && depth < deepest)
    range = range.intersectWith(computeRange(*instruction, depth + 1), ConstantRange::Signed);
  known.insert({value, range});
  return range;
}

ConstantRange IndexRanges::computeRange(Instruction &instruction, unsigned depth) {
  unsigned width = instruction.getType()->getIntegerBitWidth();
  if (auto *operation = dyn_cast<BinaryOperator>(&instruction))
    return get(operation->getOperand(0), depth)
        .binaryOp(operation->getOpcode(), get(operation->getOperand(1), depth));
  if (auto *cast = dyn_cast<CastInst>(&instruction);
      cast && cast->getSrcTy()->isIntegerTy() && !cast->getSrcTy()->isIntegerTy(1))
    return get(cast->getOperand(0), depth).castOp(cast->getOpcode(), width);
  if (auto *phi = dyn_cast<PHINode>(&instruction))
    return getCounterRange(*phi, depth);
  if (auto *select = dyn_cast<SelectInst>(&instruction))
    return get(select->getTrueValue(), depth)
        .unionWith(get(select->getFalseValue(), depth), ConstantRange::Signed);
  if (auto *extreme = dyn_cast<MinMaxIntrinsic>(&instruction))
    return ConstantRange::intrinsic(extreme->getIntrinsicID(),
                                    {get(extreme->getLHS(), depth), get(extreme->getRHS(), depth)});
  if (auto *call = dyn_cast<IntrinsicInst>(&instruction))
    switch (call->getIntrinsicID()) {
    // A grid has at most 2^31 - 1 blocks, a block at most 1024 threads.
    case Intrinsic::nvvm_read_ptx_sreg_ctaid_x:
    case Intrinsic::nvvm_read_ptx_sreg_nctaid_x:
      return ConstantRange(APInt::getZero(width), APInt::getSignedMinValue(width));
    case Intrinsic::nvvm_read_ptx_sreg_tid_x:
      return ConstantRange(APInt::getZero(width), APInt(width, 1024));
    default:
      break;
    }
  return ConstantRange::getFull(width);
}

/// A counter `i = start; ..; i += step`, step >= 0, in a loop that is left unless `i < bound`.
ConstantRange IndexRanges::getCounterRange(PHINode &phi, unsigned depth) {
  ConstantRange unknown = ConstantRange::getFull(phi.getType()->getIntegerBitWidth());
  Loop *loop = loops.getLoopFor(phi.getParent());
  if (phi.getNumIncomingValues() != 2 || !loop || loop->getHeader() != phi.getParent())
    return unknown;
  unsigned back = loop->contains(phi.getIncomingBlock(0)) ? 0 : 1;
  auto *next = dyn_cast<BinaryOperator>(phi.getIncomingValue(back));
  if (!next || next->getOpcode() != Instruction::Add || next->getOperand(0) != &phi ||
      loop->contains(phi.getIncomingBlock(1 - back)))
    return unknown;
  // Loop rotation moves it there; a loop that was not rotated tests at its head, where the counter
  // may be a step beyond the bound.
  // The test stands at the loop's end, of the next value, or at its beginning.
  bool ofNext = true;
  Value *bound = getBoundWithin(*next, *phi.getIncomingBlock(back), *loop);
  if (!bound) {
    ofNext = false;
    bound = getBoundWithin(phi, *phi.getParent(), *loop);
  }
  if (!bound)
    return unknown;
  ConstantRange start = get(phi.getIncomingValue(1 - back), depth),
                step = get(next->getOperand(1), depth), end = get(bound, depth);
  // As long as nothing wraps around, no value is less than the first.
  APInt low = start.getSignedMin(), last = APIntOps::smax(start.getSignedMax(), end.getSignedMax());
  bool overflows = false;
  APInt behind = last.sadd_ov(step.getSignedMax(), overflows);
  if (overflows || !step.isAllNonNegative() || behind.isMaxSignedValue())
    return unknown;
  return ConstantRange::getNonEmpty(low, (ofNext ? last : behind) + 1);
}

Value *IndexRanges::getBoundWithin(Value &counter, BasicBlock &block, Loop &loop) {
  auto *branch = dyn_cast<BranchInst>(block.getTerminator());
  auto *test =
      branch && branch->isConditional() ? dyn_cast<ICmpInst>(branch->getCondition()) : nullptr;
  if (!test || loop.contains(branch->getSuccessor(0)) == loop.contains(branch->getSuccessor(1)))
    return nullptr;
  CmpInst::Predicate predicate =
      loop.contains(branch->getSuccessor(0)) ? test->getPredicate() : test->getInversePredicate();
  Value *bound = test->getOperand(1);
  if (bound == &counter) {
    predicate = CmpInst::getSwappedPredicate(predicate);
    bound = test->getOperand(0);
  } else if (test->getOperand(0) != &counter) {
    return nullptr;
  }
  bool isLess =
      predicate == CmpInst::ICMP_SLT || (predicate == CmpInst::ICMP_ULT && isNonNegative(bound));
  return isLess ? bound : nullptr;
}

} // namespace tile
