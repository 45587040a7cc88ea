// LLVM's optimisation pipeline, as both targets run it.
#ifndef TILE_CODEGEN_OPTIMIZE_H
#define TILE_CODEGEN_OPTIMIZE_H

#include "llvm/IR/Module.h"
#include "llvm/Support/CodeGen.h"
#include "llvm/Target/TargetMachine.h"

namespace tile {

struct PipelineOptions {
  int level = 2;              ///< 0 to 3
  unsigned scalarizeBits = 0; ///< split vectors into pieces of this many bits first; 0: leave them
  bool vectorizeLoops = true;
  /// A short pipeline for kernels: no calls, no loops worth unrolling, already hoisted and
  /// simplified in MLIR. A third of the time of LLVM's own pipeline, for the same PTX.
  bool kernels = false;
};

/// Optimises `module` for `machine`. The module must have the machine's triple and data layout.
void runPipeline(llvm::Module &module, llvm::TargetMachine &machine,
                 const PipelineOptions &options);

/// The code generator's level for a compiler's 0 to 3.
llvm::CodeGenOptLevel getCodegenLevel(int level);

} // namespace tile

#endif
