// Populates the pipelines; the order of passes in this file is the order of the compiler.
#include "passes/Pipelines.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Passes.h"

using namespace mlir;

namespace tile {

void populateOptimizePipeline(OpPassManager &pm, const OptimizeOptions &options) {
  if (options.level == 0)
    return;
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

void populateCPUPipeline(OpPassManager &pm, const CPUOptions &options) {}

void populateTileGPUPipeline(OpPassManager &pm, const GPUOptions &options) {}

void populateNVVMPipeline(OpPassManager &pm, const GPUOptions &options) {}

void populateGPUPipeline(OpPassManager &pm, const GPUOptions &options) {
  populateTileGPUPipeline(pm, options);
  populateNVVMPipeline(pm, options);
}

void registerPipelines() {
  PassPipelineRegistration<OptimizeOptions>("tile-optimize-pipeline", "Optimise the tile dialect for any target",
                                            populateOptimizePipeline);
  PassPipelineRegistration<CPUOptions>("tile-cpu-pipeline", "Lower the tile dialect to LLVM for the host's processor",
                                       populateCPUPipeline);
  PassPipelineRegistration<GPUOptions>("tile-gpu-pipeline", "Lower the tile dialect to LLVM and NVVM",
                                       populateGPUPipeline);
  PassPipelineRegistration<GPUOptions>("tile-gpu-layout-pipeline", "Lower the tile dialect to tile_gpu with layouts",
                                       populateTileGPUPipeline);
  PassPipelineRegistration<GPUOptions>("tile-nvvm-pipeline", "Lower tile_gpu to LLVM and NVVM", populateNVVMPipeline);
}

} // namespace tile
