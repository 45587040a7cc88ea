// See the header.
//
//   masks of positions   i * 64 + 0 < N, i * 64 + 1 < N, ..    an addition and a comparison each
//   as one difference    d = i * 64 - N;  d < 0, d < -1, ..    a comparison each
//
// Holds only where no sum wraps around: each addition that is taken apart, and the difference, must
// be known to fit (IndexRanges).
#include "codegen/CompareWithConstants.h"
#include "codegen/IndexRanges.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"

using namespace llvm;

namespace tile {

namespace {

/// A sum of values, added or subtracted, and a constant.
struct Sum {
  SmallVector<std::pair<Value *, int64_t>, 4> terms; // with the factor of each, never 0
  int64_t constant = 0;

  void add(Value *value, int64_t factor) {
    auto *term = find_if(terms, [&](const auto &each) { return each.first == value; });
    if (term == terms.end())
      terms.push_back({value, factor});
    else if ((term->second += factor) == 0)
      terms.erase(term);
  }

  /// True for the same values with the same factors.
  bool hasTermsOf(const Sum &other) const {
    return terms.size() == other.terms.size() &&
           all_of(terms, [&](const auto &term) { return is_contained(other.terms, term); });
  }
};

class Comparisons {
public:
  Comparisons(Function &function, ScalarEvolution &evolution, LoopInfo &loops)
      : function(function), ranges(evolution, loops) {}

  bool run() {
    SmallVector<ICmpInst *> tests;
    for (Instruction &instruction : instructions(function))
      if (auto *test = dyn_cast<ICmpInst>(&instruction);
          test && isa<FixedVectorType>(test->getType()) && test->isRelational() &&
          test->getOperand(0)->getType()->getScalarType()->isIntegerTy(32))
        tests.push_back(test);
    bool changed = false;
    for (ICmpInst *test : tests)
      changed |= rewrite(*test);
    return changed;
  }

private:
  /// Adds `value`, `factor` times, as what it is a sum of.
  /// `disjoint` or: an addition without carries, which cannot overflow.
  void decompose(Value *value, int64_t factor, Sum &sum, unsigned depth = 0) {
    constexpr unsigned deepest = 8;
    if (auto *constant = dyn_cast<ConstantInt>(value)) {
      sum.constant += factor * constant->getSExtValue();
      return;
    }
    auto *operation = dyn_cast<BinaryOperator>(value);
    if (!operation || depth == deepest) {
      sum.add(value, factor);
      return;
    }
    Value *left = operation->getOperand(0), *right = operation->getOperand(1);
    auto *disjoint = dyn_cast<PossiblyDisjointInst>(operation);
    using Overflow = ConstantRange::OverflowResult;
    auto isExact = [&](Overflow result) { return result == Overflow::NeverOverflows; };
    bool adds = (disjoint && disjoint->isDisjoint()) ||
                (operation->getOpcode() == Instruction::Add &&
                 isExact(ranges.get(left).signedAddMayOverflow(ranges.get(right))));
    bool subtracts = operation->getOpcode() == Instruction::Sub &&
                     isExact(ranges.get(left).signedSubMayOverflow(ranges.get(right)));
    if (!adds && !subtracts) {
      sum.add(value, factor);
      return;
    }
    decompose(left, factor, sum, depth + 1);
    decompose(right, subtracts ? -factor : factor, sum, depth + 1);
  }

  /// True if the sum of the terms, and each factor of them, fits 32 bits.
  bool fits(const Sum &sum) {
    int64_t low = 0, high = 0;
    for (auto [value, factor] : sum.terms) {
      if (factor != 1 && factor != -1)
        return false;
      ConstantRange range = ranges.get(value);
      int64_t first = range.getSignedMin().getSExtValue(),
              last = range.getSignedMax().getSExtValue();
      low += factor > 0 ? first : -last;
      high += factor > 0 ? last : -first;
    }
    return isInt<32>(low) && isInt<32>(high) && isInt<32>(-sum.constant);
  }

  bool rewrite(ICmpInst &test) {
    unsigned count = cast<FixedVectorType>(test.getType())->getNumElements();
    SmallVector<Sum> sums;         // of different terms
    SmallVector<unsigned> numbers; // which of them an element is
    SmallVector<Constant *> constants;
    Type *narrow = test.getOperand(0)->getType()->getScalarType();
    for (unsigned i = 0; i < count; ++i) {
      Value *left = findScalarElement(test.getOperand(0), i),
            *right = findScalarElement(test.getOperand(1), i);
      if (!left || !right || isa<UndefValue>(left) || isa<UndefValue>(right))
        return false;
      if (test.isUnsigned() && !(ranges.isNonNegative(left) && ranges.isNonNegative(right)))
        return false;
      Sum sum;
      decompose(left, 1, sum);
      decompose(right, -1, sum);
      if (!fits(sum))
        return false;
      auto *same = find_if(sums, [&](const Sum &each) { return each.hasTermsOf(sum); });
      numbers.push_back(same - sums.begin());
      if (same == sums.end())
        sums.push_back(sum);
      constants.push_back(ConstantInt::getSigned(narrow, -sum.constant));
    }
    // Elements per difference, at least: a difference costs as much as an addition.
    // Else there is nothing to be saved.
    constexpr unsigned leastShared = 4;
    if (sums.size() * leastShared > count)
      return false;
    IRBuilder<> builder(&test);
    SmallVector<Value *> differences;
    for (const Sum &sum : sums) {
      Value *difference = nullptr;
      for (int64_t sign : {1, -1}) // sums first
        for (auto [value, factor] : sum.terms)
          if (factor == sign)
            difference = !difference ? (sign > 0 ? value : builder.CreateNeg(value))
                         : sign > 0  ? builder.CreateAdd(difference, value)
                                     : builder.CreateSub(difference, value);
      differences.push_back(difference ? difference : ConstantInt::get(narrow, 0));
    }
    Value *left = PoisonValue::get(test.getOperand(0)->getType());
    for (unsigned i = 0; i < count; ++i)
      left = builder.CreateInsertElement(left, differences[numbers[i]], i);
    test.replaceAllUsesWith(
        builder.CreateICmp(test.getSignedPredicate(), left, ConstantVector::get(constants)));
    test.eraseFromParent();
    return true;
  }

  Function &function;
  IndexRanges ranges;
};

} // namespace

PreservedAnalyses CompareWithConstantsPass::run(Function &function,
                                                FunctionAnalysisManager &analyses) {
  if (function.isDeclaration())
    return PreservedAnalyses::all();
  Comparisons comparisons(function, analyses.getResult<ScalarEvolutionAnalysis>(function),
                          analyses.getResult<LoopAnalysis>(function));
  return comparisons.run() ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace tile
