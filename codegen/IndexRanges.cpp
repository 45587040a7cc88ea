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
  // Also ends the search where values of loops depend on each other.
  constexpr unsigned deepest = 16;
  // Of two numbers that may be any the one that is taken may be any: sorting networks of 64 bits
  // consist of these, and scalar evolution takes long for each.
  auto mayBeAny = [&](Value *one, Value *other) {
    return depth < deepest && get(one, depth + 1).isFullSet() && get(other, depth + 1).isFullSet();
  };
  auto *select = dyn_cast<SelectInst>(value);
  auto *extreme = dyn_cast<MinMaxIntrinsic>(value);
  if ((select && mayBeAny(select->getTrueValue(), select->getFalseValue())) ||
      (extreme && mayBeAny(extreme->getLHS(), extreme->getRHS()))) {
    known.insert({value, range});
    return range;
  }
  if (evolution.isSCEVable(type))
    range = evolution.getSignedRange(evolution.getSCEV(value));
  if (auto *instruction = dyn_cast<Instruction>(value); instruction && depth < deepest)
    range = range.intersectWith(computeRange(*instruction, depth + 1), ConstantRange::Signed);
  known.insert({value, range});
  return range;
}

ConstantRange IndexRanges::computeRange(Instruction &instruction, unsigned depth) {
  unsigned width = instruction.getType()->getIntegerBitWidth();
  auto operand = [&](unsigned i) {
    return getWhere(instruction.getOperand(i), *instruction.getParent(), depth);
  };
  if (auto *operation = dyn_cast<BinaryOperator>(&instruction)) {
    ConstantRange left = operand(0), right = operand(1);
    ConstantRange range = left.binaryOp(operation->getOpcode(), right);
    if (auto *either = dyn_cast<PossiblyDisjointInst>(operation); either && either->isDisjoint())
      range = range.intersectWith(left.add(right), ConstantRange::Signed); // the same number
    return range;
  }
  if (auto *cast = dyn_cast<CastInst>(&instruction);
      cast && cast->getSrcTy()->isIntegerTy() && !cast->getSrcTy()->isIntegerTy(1))
    return operand(0).castOp(cast->getOpcode(), width);
  if (auto *phi = dyn_cast<PHINode>(&instruction))
    if (std::optional<Counter> counter = getCounter(*phi, depth))
      return ConstantRange::getNonEmpty(counter->first,
                                        (counter->testsNext ? counter->last : counter->behind) + 1);
  if (auto *select = dyn_cast<SelectInst>(&instruction))
    return get(select->getTrueValue(), depth)
        .unionWith(get(select->getFalseValue(), depth), ConstantRange::Signed);
  if (auto *extreme = dyn_cast<MinMaxIntrinsic>(&instruction))
    return ConstantRange::intrinsic(extreme->getIntrinsicID(), {operand(0), operand(1)});
  if (auto *call = dyn_cast<IntrinsicInst>(&instruction))
    switch (call->getIntrinsicID()) {
    case Intrinsic::abs:
      return operand(0).abs();
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
std::optional<IndexRanges::Counter> IndexRanges::getCounter(PHINode &phi, unsigned depth) {
  Loop *loop = loops.getLoopFor(phi.getParent());
  if (phi.getNumIncomingValues() != 2 || !loop || loop->getHeader() != phi.getParent())
    return std::nullopt;
  unsigned back = loop->contains(phi.getIncomingBlock(0)) ? 0 : 1;
  auto *next = dyn_cast<BinaryOperator>(phi.getIncomingValue(back));
  if (!next || next->getOpcode() != Instruction::Add || next->getOperand(0) != &phi ||
      loop->contains(phi.getIncomingBlock(1 - back)))
    return std::nullopt;
  // The test stands at the loop's end, of the next value, where loop rotation moves it; or at its
  // beginning: there the counter may be a step beyond the bound.
  Counter counter;
  Value *bound = getBoundWithin(*next, *phi.getIncomingBlock(back), *loop);
  counter.testsNext = bound;
  if (!bound)
    bound = getBoundWithin(phi, *phi.getParent(), *loop);
  if (!bound)
    return std::nullopt;
  ConstantRange start = get(phi.getIncomingValue(1 - back), depth),
                step = get(next->getOperand(1), depth), end = get(bound, depth);
  counter.first = start.getSignedMin();
  counter.last = start.getSignedMax();
  if (end.getSignedMax().sgt(counter.last)) {
    counter.last = end.getSignedMax() - 1;
    const APInt *from = start.getSingleElement(), *width = step.getSingleElement();
    if (from && width && width->isStrictlyPositive())
      counter.last -= (counter.last - *from).urem(*width);
  }
  // As long as nothing wraps around, no value is less than the first.
  bool overflows = false;
  counter.behind = counter.last.sadd_ov(step.getSignedMax(), overflows);
  if (overflows || !step.isAllNonNegative() || counter.behind.isMaxSignedValue())
    return std::nullopt;
  return counter;
}

ConstantRange IndexRanges::getWhere(Value *value, BasicBlock &block, unsigned depth) {
  ConstantRange range = get(value, depth);
  auto *phi = dyn_cast<PHINode>(value);
  Loop *loop = phi ? loops.getLoopFor(phi->getParent()) : nullptr;
  // Blocks of the loop but its first one come behind a test that stands there.
  if (!loop || &block == phi->getParent() || !loop->contains(&block))
    return range;
  std::optional<Counter> counter = getCounter(*phi, depth);
  if (!counter || counter->testsNext)
    return range;
  return range.intersectWith(ConstantRange::getNonEmpty(counter->first, counter->last + 1),
                             ConstantRange::Signed);
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
