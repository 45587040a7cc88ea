// Comparisons of counters that may wrap around, in a form that ptxas keeps.
#ifndef TILE_CODEGEN_KEEPWRAPPINGTESTS_H
#define TILE_CODEGEN_KEEPWRAPPINGTESTS_H

#include "llvm/IR/PassManager.h"

namespace tile {

/// LLVM writes `i + 1 < 1` of a loop's counter as the unsigned `i > 0x7ffffffffffffffe`. ptxas 13.0
/// moves that to the next value of the counter, `i + 1 > 0x7fffffffffffffff`, and is wrong for -1,
/// whose next value wraps around to 0: the loop ends a trip too soon. Unsigned comparisons of a
/// loop's counter with a constant near the sign's boundary become signed ones of the counter with
/// its sign bit flipped, which is no linear function of the trip.
struct KeepWrappingTestsPass : llvm::PassInfoMixin<KeepWrappingTestsPass> {
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
};

} // namespace tile

#endif
