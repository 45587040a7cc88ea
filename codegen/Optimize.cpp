// Builds and runs LLVM's pass pipeline.
#include "codegen/Optimize.h"
#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/Scalar/Scalarizer.h"

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

void runPipeline(Module &module, TargetMachine &machine, const PipelineOptions &options) {
  PipelineTuningOptions tuning;
  tuning.LoopVectorization = options.vectorizeLoops;
  tuning.SLPVectorization = options.level >= 2;
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

  ModulePassManager passes;
  if (options.scalarizeBits) {
    ScalarizerPassOptions scalarizer;
    scalarizer.ScalarizeMinBits = options.scalarizeBits;
    passes.addPass(createModuleToFunctionPassAdaptor(ScalarizerPass(scalarizer)));
  }
  OptimizationLevel level = getOptimizationLevel(options.level);
  passes.addPass(level == OptimizationLevel::O0 ? builder.buildO0DefaultPipeline(level)
                                                : builder.buildPerModuleDefaultPipeline(level));
  passes.run(module, modules);
}

} // namespace tile
