// One use of a number and of what is extended from it: the rest reads the extended one's low half.
#include "codegen/TruncateExtended.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Pass.h"

using namespace llvm;

namespace {

bool isUsedOutside(const Instruction &value) {
  return any_of(value.users(), [&](const User *user) {
    return cast<Instruction>(user)->getParent() != value.getParent();
  });
}

/// The conditions under which LLVM rewrites uses, one at a time.
bool isRewritten(const CastInst &wide) {
  auto *source = dyn_cast<Instruction>(wide.getOperand(0));
  if (!source || source->getParent() != wide.getParent() || source->hasOneUse() ||
      !isa<ZExtInst, SExtInst>(wide) || !wide.getType()->isIntegerTy(64) ||
      !source->getType()->isIntegerTy(32) || !isUsedOutside(wide))
    return false;
  return none_of(source->users(), [&](const User *user) {
    return cast<Instruction>(user)->getParent() != wide.getParent() &&
           isa<PHINode, LoadInst, StoreInst>(user);
  });
}

/// One truncation in each of the other blocks.
bool rewriteUses(CastInst &wide) {
  Value *source = wide.getOperand(0);
  SmallMapVector<BasicBlock *, Instruction *, 8> narrow;
  for (Use &use : make_early_inc_range(source->uses())) {
    BasicBlock *block = cast<Instruction>(use.getUser())->getParent();
    if (block == wide.getParent())
      continue;
    Instruction *&low = narrow[block];
    if (!low) {
      low = new TruncInst(&wide, source->getType(), "");
      low->insertBefore(*block, block->getFirstInsertionPt());
    }
    use.set(low);
  }
  return !narrow.empty();
}

struct TruncateExtended : FunctionPass {
  static char ID;
  TruncateExtended() : FunctionPass(ID) {}

  StringRef getPassName() const override { return "Truncate extended numbers"; }

  void getAnalysisUsage(AnalysisUsage &usage) const override { usage.setPreservesCFG(); }

  bool runOnFunction(Function &function) override {
    bool changed = false;
    for (BasicBlock &block : function)
      for (Instruction &instruction : block)
        if (auto *wide = dyn_cast<CastInst>(&instruction); wide && isRewritten(*wide))
          changed |= rewriteUses(*wide);
    return changed;
  }
};

char TruncateExtended::ID = 0;

} // namespace

FunctionPass *tile::createTruncateExtendedPass() { return new TruncateExtended(); }
