// Bounds of the integers in a kernel.
#ifndef TILE_CODEGEN_INDEXRANGES_H
#define TILE_CODEGEN_INDEXRANGES_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/ConstantRange.h"

#include <optional>

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
  /// What a loop counts up, by steps that are not negative, as long as it is less than a bound.
  struct Counter {
    llvm::APInt first;      ///< no value is less
    llvm::APInt last;       ///< nor greater than this, where the test holds
    llvm::APInt behind;     ///< nor than this, where it fails: a step more
    bool testsNext = false; ///< no trip begins where it fails
  };
  std::optional<Counter> getCounter(llvm::PHINode &phi, unsigned depth);
  /// The range of a value where `block` uses it: that of a counter is smaller behind its test.
  llvm::ConstantRange getWhere(llvm::Value *value, llvm::BasicBlock &block, unsigned depth);
  /// The value that `counter` is less than, as signed numbers, wherever the loop goes on from
  /// `block`; null if there is none.
  llvm::Value *getBoundWithin(llvm::Value &counter, llvm::BasicBlock &block, llvm::Loop &loop);

  llvm::ScalarEvolution &evolution;
  llvm::LoopInfo &loops;
  llvm::DenseMap<llvm::Value *, llvm::ConstantRange> known; // looked up only
};

} // namespace tile

#endif
