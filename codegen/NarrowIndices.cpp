// See the header.
//
//   values   64-bit values whose range fits in 32 bits, of operations that 32 bits decide
//   tests    comparisons, truncations and conversions to floats of such values
//   run      ranges -> narrow copies of values -> incoming values of phis -> tests -> extensions
//            for other users -> the old instructions are erased
//
// Reverse post-order: operands come before their users, but for phis, which are filled in
// afterwards. A value that fits is the sign extension of its lower half: each narrow copy keeps
// this.
#include "codegen/NarrowIndices.h"
#include "codegen/IndexRanges.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace tile {

namespace {

class Narrower {
public:
  Narrower(Function &function, ScalarEvolution &evolution, LoopInfo &loops)
      : function(function), ranges(evolution, loops),
        narrow(Type::getInt32Ty(function.getContext())) {}

  bool run() {
    // Ranges first: they are asked of the function as it is.
    SmallVector<Instruction *> values, tests;
    for (BasicBlock *block : ReversePostOrderTraversal<Function *>(&function))
      for (Instruction &instruction : *block) {
        if (instruction.getType()->isIntegerTy(64) && canNarrow(instruction))
          values.push_back(&instruction);
        else if (isNarrowUse(instruction))
          tests.push_back(&instruction);
      }
    if (values.empty() && tests.empty())
      return false;
    for (Argument &argument : function.args())
      if (argument.getType()->isIntegerTy(64) && fits(&argument))
        fitting.insert(&argument);
    for (Instruction *value : values)
      fitting.insert(value);
    for (Instruction *value : values)
      makeNarrow(*value);
    for (Instruction *value : values)
      if (auto *phi = dyn_cast<PHINode>(value))
        for (unsigned i = 0; i < phi->getNumIncomingValues(); ++i)
          cast<PHINode>(narrowed[phi])
              ->addIncoming(get(phi->getIncomingValue(i)), phi->getIncomingBlock(i));
    for (Instruction *test : tests)
      makeNarrowUse(*test);
    for (Instruction *value : values)
      extendForOthers(*value);
    for (Instruction *value : reverse(values))
      dead.push_back(value);
    for (Instruction *value : dead)
      value->replaceAllUsesWith(PoisonValue::get(value->getType()));
    for (Instruction *value : dead)
      value->eraseFromParent();
    return true;
  }

private:
  static bool isNarrow(const ConstantRange &range) { return range.getMinSignedBits() <= 32; }
  bool fits(Value *value) { return isNarrow(ranges.get(value)); }

  /// True for a 64-bit value that fits, of an operation that 32 bits of its operands decide.
  /// Of sums, products and the like the lower half depends on lower halves alone, so only the
  /// result must fit. Divisions and shifts to the right look at upper bits: their operands must fit
  /// as well.
  bool canNarrow(Instruction &instruction) {
    auto operandsFit = [&] {
      return fits(instruction.getOperand(0)) && fits(instruction.getOperand(1));
    };
    switch (instruction.getOpcode()) {
    case Instruction::Add:
    case Instruction::Sub:
    case Instruction::Mul:
    case Instruction::And:
    case Instruction::Or:
    case Instruction::Xor:
    case Instruction::PHI:
    case Instruction::Select:
      return fits(&instruction);
    case Instruction::Shl:
      return fits(&instruction) && ranges.get(instruction.getOperand(1)).getUnsignedMax().ult(32);
    case Instruction::SExt:
    case Instruction::ZExt:
      return !instruction.getOperand(0)->getType()->isIntegerTy(1) &&
             instruction.getOperand(0)->getType()->getIntegerBitWidth() <= 32 && fits(&instruction);
    case Instruction::AShr:
      return operandsFit() && ranges.get(instruction.getOperand(1)).getUnsignedMax().ult(32);
    case Instruction::LShr:
      return operandsFit() && ranges.isNonNegative(instruction.getOperand(0)) &&
             ranges.get(instruction.getOperand(1)).getUnsignedMax().ult(32);
    case Instruction::UDiv:
    case Instruction::URem:
      return operandsFit() && ranges.isNonNegative(instruction.getOperand(0)) &&
             ranges.isNonNegative(instruction.getOperand(1));
    case Instruction::SDiv:
    case Instruction::SRem: // -2^31 / -1 does not fit
      return operandsFit() && fits(&instruction) &&
             !ranges.get(instruction.getOperand(1)).contains(APInt::getAllOnes(64));
    case Instruction::Call:
      if (cast<CallInst>(instruction).getIntrinsicID() == Intrinsic::abs) // of -2^31: does not fit
        return fits(instruction.getOperand(0)) && fits(&instruction);
      return isa<MinMaxIntrinsic>(instruction) && operandsFit();
    default:
      return false;
    }
  }

  /// A comparison, a truncation or a conversion of values that fit.
  bool isNarrowUse(Instruction &instruction) {
    if (instruction.getNumOperands() == 0 ||
        !instruction.getOperand(0)->getType()->isIntOrIntVectorTy(64))
      return false;
    if (instruction.getOperand(0)
            ->getType()
            ->isVectorTy()) // comparisons stay vectors: their results share registers
      return isa<ICmpInst>(instruction) && elementsFit(instruction.getOperand(0)) &&
             elementsFit(instruction.getOperand(1));
    if (isa<UIToFPInst>(instruction))
      return fits(instruction.getOperand(0)) && ranges.isNonNegative(instruction.getOperand(0));
    if (auto *test = dyn_cast<ICmpInst>(&instruction))
      // Sign extension keeps the order of both signed and unsigned numbers.
      return fits(test->getOperand(0)) && (fits(test->getOperand(1)) || isTestOfSign(*test));
    if (isa<TruncInst>(instruction) || isa<SIToFPInst>(instruction))
      return fits(instruction.getOperand(0));
    return false;
  }

  /// True for an unsigned comparison of a value that fits with a constant that every negative
  /// number is above, and no other one.
  static bool isTestOfSign(ICmpInst &test) {
    auto *constant = dyn_cast<ConstantInt>(test.getOperand(1));
    return constant && test.isUnsigned() && constant->getValue().uge(APInt::getOneBitSet(64, 31)) &&
           constant->getValue().ult(APInt::getSignedMinValue(32).sext(64));
  }

  static unsigned countElements(Value *vector) {
    return cast<FixedVectorType>(vector->getType())->getNumElements();
  }

  /// True for a vector made of scalars that fit.
  bool elementsFit(Value *vector) {
    return all_of(seq(countElements(vector)), [&](unsigned i) {
      Value *element = findScalarElement(vector, i);
      return element && fits(element);
    });
  }

  /// 32 bits of each element.
  Value *getElements(Value *vector, IRBuilder<> &builder) {
    unsigned count = countElements(vector);
    Value *result = PoisonValue::get(FixedVectorType::get(narrow, count));
    for (unsigned i : seq(count))
      result = builder.CreateInsertElement(result, get(findScalarElement(vector, i)), i);
    return result;
  }

  /// 32 bits of a 64-bit value, which is the rest's extension if the value fits.
  Value *get(Value *value) {
    if (auto *constant = dyn_cast<ConstantInt>(value))
      return ConstantInt::get(narrow, constant->getValue().trunc(32));
    if (isa<PoisonValue>(value))
      return PoisonValue::get(narrow);
    Value *&result = narrowed[value];
    if (result)
      return result;
    // A value that stays wide: truncated once, where it is defined, so that the copy can be used
    // wherever the value can.
    BasicBlock::iterator place = function.getEntryBlock().getFirstInsertionPt();
    if (auto *instruction = dyn_cast<Instruction>(value))
      place = *instruction->getInsertionPointAfterDef();
    IRBuilder<> builder(function.getContext());
    builder.SetInsertPoint(place->getParent(), place);
    return result = builder.CreateTrunc(value, narrow, value->getName());
  }

  void makeNarrow(Instruction &instruction) {
    IRBuilder<> builder(&instruction);
    auto operand = [&](unsigned i) { return get(instruction.getOperand(i)); };
    Value *result = nullptr;
    if (auto *phi = dyn_cast<PHINode>(&instruction))
      result = builder.CreatePHI(narrow, phi->getNumIncomingValues());
    else if (isa<SExtInst>(instruction))
      result = builder.CreateSExt(instruction.getOperand(0), narrow);
    else if (isa<ZExtInst>(instruction))
      result = builder.CreateZExt(instruction.getOperand(0), narrow);
    else if (auto *select = dyn_cast<SelectInst>(&instruction))
      result = builder.CreateSelect(select->getCondition(), operand(1), operand(2));
    else if (auto *extreme = dyn_cast<MinMaxIntrinsic>(&instruction))
      result = makeExtreme(builder, *extreme);
    else if (isa<IntrinsicInst>(instruction)) // abs
      result = builder.CreateBinaryIntrinsic(Intrinsic::abs, operand(0), builder.getFalse());
    else
      result = builder.CreateBinOp(cast<BinaryOperator>(instruction).getOpcode(), operand(0),
                                   operand(1));
    if (auto *disjoint = dyn_cast<PossiblyDisjointInst>(&instruction);
        disjoint && disjoint->isDisjoint())
      if (auto *same = dyn_cast<PossiblyDisjointInst>(result))
        same->setIsDisjoint(true);
    narrowed[&instruction] = result;
  }

  /// A minimum or maximum, unless the operands' ranges tell which one it is.
  Value *makeExtreme(IRBuilder<> &builder, MinMaxIntrinsic &extreme) {
    Value *left = extreme.getLHS(), *right = extreme.getRHS();
    CmpInst::Predicate predicate = CmpInst::getNonStrictPredicate(extreme.getPredicate());
    if (ranges.get(left).icmp(predicate, ranges.get(right)))
      return get(left);
    if (ranges.get(right).icmp(predicate, ranges.get(left)))
      return get(right);
    return builder.CreateBinaryIntrinsic(extreme.getIntrinsicID(), get(left), get(right));
  }

  void makeNarrowUse(Instruction &instruction) {
    IRBuilder<> builder(&instruction);
    bool isVector = instruction.getOperand(0)->getType()->isVectorTy();
    auto operand = [&](unsigned i) {
      Value *value = instruction.getOperand(i);
      return isVector ? getElements(value, builder) : get(value);
    };
    Value *first = operand(0), *result = nullptr;
    if (auto *test = dyn_cast<ICmpInst>(&instruction);
        test && !isVector && !fits(test->getOperand(1)))
      result = ICmpInst::isGT(test->getPredicate()) || ICmpInst::isGE(test->getPredicate())
                   ? builder.CreateICmpSLT(first, ConstantInt::get(narrow, 0))
                   : builder.CreateICmpSGE(first, ConstantInt::get(narrow, 0));
    else if (test) // extension keeps both orders
      result = builder.CreateICmp(test->getPredicate(), first, operand(1));
    else if (isa<SIToFPInst, UIToFPInst>(instruction))
      result = builder.CreateSIToFP(first, instruction.getType());
    else
      result = builder.CreateTrunc(first, instruction.getType());
    instruction.replaceAllUsesWith(result);
    dead.push_back(&instruction);
  }

  /// Extends a narrow value where something else uses it: once in each block, so that no register
  /// holds the upper half for long.
  void extendForOthers(Instruction &value) {
    DenseMap<BasicBlock *, Value *> extended;
    bool unsign = ranges.isNonNegative(&value);
    SmallPtrSet<Instruction *, 16> seen;
    for (Use &use : make_early_inc_range(value.uses())) {
      auto *user = cast<Instruction>(use.getUser());
      if (fitting.contains(user) || llvm::is_contained(dead, user))
        continue;
      auto *phi = dyn_cast<PHINode>(user);
      BasicBlock *block = phi ? phi->getIncomingBlock(use) : user->getParent();
      Value *&extension = extended[block];
      if (!extension) {
        // Where the block begins, or right behind the value.
        Value *source = narrowed[&value];
        auto *definition = dyn_cast<Instruction>(source);
        BasicBlock::iterator place = definition && definition->getParent() == block
                                         ? *definition->getInsertionPointAfterDef()
                                         : block->getFirstInsertionPt();
        IRBuilder<> builder(function.getContext());
        builder.SetInsertPoint(block, place);
        extension = unsign ? builder.CreateZExt(source, value.getType(), "", /*IsNonNeg=*/true)
                           : builder.CreateSExt(source, value.getType());
      }
      use.set(extension);
    }
  }

  Function &function;
  IndexRanges ranges;
  Type *narrow;
  DenseMap<Value *, Value *> narrowed; // looked up only
  SmallPtrSet<Value *, 32> fitting;    // looked up only
  SmallVector<Instruction *> dead;
};

} // namespace

PreservedAnalyses NarrowIndicesPass::run(Function &function, FunctionAnalysisManager &analyses) {
  if (function.isDeclaration())
    return PreservedAnalyses::all();
  bool changed = Narrower(function, analyses.getResult<ScalarEvolutionAnalysis>(function),
                          analyses.getResult<LoopAnalysis>(function))
                     .run();
  return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace tile
