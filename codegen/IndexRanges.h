// Bounds of the integers in a kernel.
#ifndef TILE_CODEGEN_INDEXRANGES_H
#define TILE_CODEGEN_INDEXRANGES_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/ConstantRange.h"

namespace llvm {
class BasicBlock;
class Instruction;
class Loop;
class LoopInfo;
class PHINode;
class ScalarEvolution;
class Value;
} // namespace llvm

namespace tile {

/// Ranges of integers, as signed numbers where the bounds of both kinds differ: from the ranges
/// of arguments, which are contracts, of loops' counters, of the machine's registers, and what
/// operations make of them.
class IndexRanges {
public:
  IndexRanges(llvm::ScalarEvolution &evolution, llvm::LoopInfo &loops)
      : evolution(evolution), loops(loops) {}

  llvm::ConstantRange get(llvm::Value *value, unsigned depth = 0);
  bool isNonNegative(llvm::Value *value) { return get(value).isAllNonNegative(); }

private:
  /// The range of an instruction from those of its operands: more than scalar evolution knows of
  /// quotients and of the machine.
  llvm::ConstantRange computeRange(llvm::Instruction &instruction, unsigned depth);
  /// Bounds of what a loop counts up, by steps that are not negative, as long as it is less than a
  /// bound.
  llvm::ConstantRange getCounterRange(llvm::PHINode &phi, unsigned depth);
  /// The value that `counter` is less than, as signed numbers, wherever the loop goes on from
  /// `block`; null if there is none.
  llvm::Value *getBoundWithin(llvm::Value &counter, llvm::BasicBlock &block, llvm::Loop &loop);

  llvm::ScalarEvolution &evolution;
  llvm::LoopInfo &loops;
  llvm::DenseMap<llvm::Value *, llvm::ConstantRange> known; // looked up only
};

} // namespace tile

#endif
