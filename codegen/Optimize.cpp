// Builds and runs LLVM's pass pipeline. That of kernels is short, since MLIR's passes have done
// most: registers for memory; common values; simpler instructions; loops with their test at the end
// and without what does not change; then indices in 32 bits (NarrowIndices), masks as comparisons
// with constants (CompareWithConstants), the forms that ptxas keeps, functions ahead of tests whose
// outcome is known as a rule (ComputeAhead), the order of what would not fit into a thread's
// registers (ScheduleForPressure), and where ptxas has found that threads spill, cheap values a
// second time (RecomputeAcrossLoops).
#include "codegen/Optimize.h"
#include "codegen/CompareWithConstants.h"
#include "codegen/ComputeAhead.h"
#include "codegen/DropUnusedExchanges.h"
#include "codegen/KeepWrappingTests.h"
#include "codegen/LimitVectorization.h"
#include "codegen/NarrowIndices.h"
#include "codegen/RecomputeAcrossLoops.h"
#include "codegen/ScalarizeTiles.h"
#include "codegen/ScheduleForPressure.h"
#include "codegen/SplitShortVectors.h"
#include "codegen/WidenBF16.h"
#include "codegen/WidenComparisons.h"
#include "codegen/WidenShorts.h"
#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

using namespace llvm;

namespace tile {

static OptimizationLevel getOptimizationLevel(int level) {
  switch (level) {
  case 0:
    return OptimizationLevel::O0;
  case 1:
    return OptimizationLevel::O1;
  case 2:
    return OptimizationLevel::O2;
  default:
    return OptimizationLevel::O3;
  }
}

CodeGenOptLevel getCodegenLevel(int level) {
  switch (level) {
  case 0:
    return CodeGenOptLevel::None;
  case 1:
    return CodeGenOptLevel::Less;
  case 2:
    return CodeGenOptLevel::Default;
  default:
    return CodeGenOptLevel::Aggressive;
  }
}

/// NarrowIndices comes after everything that makes indices, as it needs all of their uses;
/// CompareWithConstants needs its 32 bits; DropUnusedExchanges removes what both leave unused.
static FunctionPassManager buildKernelPipeline() {
  FunctionPassManager passes;
  passes.addPass(SROAPass(SROAOptions::ModifyCFG));
  passes.addPass(EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(InstCombinePass());
  passes.addPass(SimplifyCFGPass());
  LoopPassManager loops;
  loops.addPass(LoopRotatePass());
  // Without promotion: what kernels keep between trips is a value already, and to compare all
  // places of a loop with each other takes an eighth of a kernel that sorts.
  LICMOptions motion;
  motion.MssaNoAccForPromotionCap = 0;
  loops.addPass(LICMPass(motion));
  passes.addPass(createFunctionToLoopPassAdaptor(std::move(loops), /*UseMemorySSA=*/true));
  // No GVN: partial redundancies move what one path computes into the others, which a loop behind a
  // peeled trip pays in each of its own; what is fully redundant this finds in a third of the time.
  passes.addPass(EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(InstCombinePass());
  passes.addPass(
      SimplifyCFGPass(SimplifyCFGOptions().hoistCommonInsts(true).sinkCommonInsts(true)));
  passes.addPass(NarrowIndicesPass());
  passes.addPass(CompareWithConstantsPass());
  passes.addPass(DropUnusedExchangesPass());
  passes.addPass(SplitShortVectorsPass());
  return passes;
}

void runPipeline(Module &module, TargetMachine &machine, const PipelineOptions &options) {
  PipelineTuningOptions tuning;
  tuning.LoopVectorization = options.vectorizeLoops;
  tuning.SLPVectorization = options.level >= 2;
  tuning.ForgetAllSCEVInLoopUnroll =
      true; // else unrolling takes most of the time where a kernel has many loops
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager components;
  ModuleAnalysisManager modules;
  PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);

  builder.registerVectorizerStartEPCallback([](FunctionPassManager &manager, OptimizationLevel) {
    manager.addPass(LimitVectorizationPass());
  });

  ModulePassManager passes;
  // A tile is one vector for each thread up to here; GPUs have no vector registers.
  if (options.scalarizeBits)
    passes.addPass(createModuleToFunctionPassAdaptor(ScalarizeTilesPass(options.scalarizeBits)));
  OptimizationLevel level = getOptimizationLevel(options.level);
  if (options.kernels && level != OptimizationLevel::O0) {
    passes.addPass(createModuleToFunctionPassAdaptor(buildKernelPipeline()));
    passes.addPass(createModuleToFunctionPassAdaptor(KeepWrappingTestsPass()));
    passes.addPass(createModuleToFunctionPassAdaptor(WidenShortsPass()));
    passes.addPass(createModuleToFunctionPassAdaptor(WidenComparisonsPass()));
    passes.addPass(createModuleToFunctionPassAdaptor(WidenBF16Pass()));
    passes.addPass(createModuleToFunctionPassAdaptor(ComputeAheadPass()));
    passes.addPass(createModuleToFunctionPassAdaptor(ScheduleForPressurePass()));
    passes.addPass(createModuleToFunctionPassAdaptor(RecomputeAcrossLoopsPass()));
    passes.run(module, modules);
    return;
  }
  if (options.kernels)
    passes.addPass(createModuleToFunctionPassAdaptor(SplitShortVectorsPass()));
  passes.addPass(level == OptimizationLevel::O0 ? builder.buildO0DefaultPipeline(level)
                                                : builder.buildPerModuleDefaultPipeline(level));
  if (options.kernels) {
    passes.addPass(createModuleToFunctionPassAdaptor(DropUnusedExchangesPass()));
    passes.addPass(createModuleToFunctionPassAdaptor(KeepWrappingTestsPass()));
    passes.addPass(createModuleToFunctionPassAdaptor(WidenShortsPass()));
    passes.addPass(createModuleToFunctionPassAdaptor(WidenComparisonsPass()));
  }
  passes.run(module, modules);
}

} // namespace tile
