// `tilec explain`: which configuration a kernel gets, what the cost model expects of it, and what
// the compiler made of it.
#ifndef TILE_DRIVER_EXPLAIN_EXPLAIN_H
#define TILE_DRIVER_EXPLAIN_EXPLAIN_H

#include "driver/compile/Compile.h"
#include "passes/Analysis/CostModel/CostModel.h"
#include "llvm/Support/JSON.h"

namespace tile {

/// The value of a compile-time parameter or attribute, and whose word it is: "command line",
/// "--config", "model", "source", "default".
struct KernelSetting {
  std::string name, value, source;
};

/// Counts of the instructions in PTX that decide a kernel's speed.
struct InstructionCounts {
  unsigned wgmma = 0, mma = 0, bulkLoads = 0, asyncLoads = 0, bulkStores = 0;
};

/// One version of a kernel.
struct Explanation {
  std::string symbol;
  Range declared; ///< the kernel in the source
  cost::Extents extents;
  std::vector<KernelSetting> settings;
  std::optional<ConfigChoice> choice; ///< where the model had the word
  cost::CostEstimate estimate;
  bool sharesTrips = false;    ///< among as many programs as the launch finds room for
  std::vector<int64_t> joined; ///< programs of the source along each axis of the grid that one is
  std::optional<runtime::LaunchInfo>
      compiled; ///< by the passes; its registers and spills only where `assembled`
  unsigned computingRegisters = 0; ///< of a thread that computes, where setmaxnreg gives it them;
                                   ///< 0: those on entry
  bool assembled = false;
  InstructionCounts instructions;
  std::vector<Diagnostic> remarks;
  double peak = 0;           ///< operations in a second, in 10^9, of the units that the kernel uses
  std::string peakName;      ///< those units
  llvm::json::Object inside; ///< what the document has of layouts, memory and time; empty where
                             ///< nothing was compiled
};

/// For people.
void printExplanations(llvm::ArrayRef<Explanation> all, const Options &options,
                       const SourceManager &sources, llvm::raw_ostream &stream);

/// For tools: docs/Explain.md has the keys. Takes what is `inside` the explanations.
llvm::json::Object makeDocument(llvm::MutableArrayRef<Explanation> all, const Options &options,
                                const SourceManager &sources);

/// Runs the command. Returns the exit code.
int explainKernels(const Options &options, Session &session);

/// The part of --print-settings that is about kernels: each name that may be chosen, its value, and
/// where that comes from.
int printKernelSettings(const Options &options, Session &session);

} // namespace tile

#endif
