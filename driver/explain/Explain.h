// `tilec explain`: which configuration a kernel gets, what the cost model expects of it, and what
// the compiler made of it.
#ifndef TILE_DRIVER_EXPLAIN_EXPLAIN_H
#define TILE_DRIVER_EXPLAIN_EXPLAIN_H

#include "driver/compile/Compile.h"
#include "passes/Analysis/CostModel/CostModel.h"

namespace tile {

/// The value of a compile-time parameter or attribute, and whose word it is: "command line",
/// "--config", "model", "source", "default".
struct KernelSetting {
  std::string name, value, source;
};

/// What PTX has of the instructions that decide a kernel's speed.
struct InstructionCounts {
  unsigned wgmma = 0, mma = 0, bulkLoads = 0, bulkStores = 0;
};

/// One version of a kernel.
struct Explanation {
  std::string symbol;
  cost::Extents extents;
  std::vector<KernelSetting> settings;
  std::optional<ConfigChoice> choice; ///< where the model had the word
  cost::CostEstimate estimate;
  std::optional<runtime::LaunchInfo>
      compiled; ///< by the passes; its registers and spills only where `assembled`
  bool assembled = false;
  InstructionCounts instructions;
  std::vector<Diagnostic> remarks;
};

/// For people, and for tools (docs/CostModel.md has the keys).
void printExplanations(llvm::ArrayRef<Explanation> all, const Options &options,
                       const SourceManager &sources, llvm::raw_ostream &stream);
void printExplanationsAsJson(llvm::ArrayRef<Explanation> all, const Options &options,
                             const SourceManager &sources, llvm::raw_ostream &stream);

/// Runs the command. Returns the exit code.
int explainKernels(const Options &options, Session &session);

/// The part of --print-settings that is about kernels: each name that may be chosen, its value, and
/// where that comes from.
int printKernelSettings(const Options &options, Session &session);

} // namespace tile

#endif
