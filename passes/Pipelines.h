// The pipelines from the tile dialect down to the LLVM dialect, shared by tilec and tile-opt.
#ifndef TILE_PASSES_PIPELINES_H
#define TILE_PASSES_PIPELINES_H

#include "mlir/Pass/PassOptions.h"
#include <string>

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace tile {

/// Options of the target-independent pipeline.
struct OptimizeOptions : mlir::PassPipelineOptions<OptimizeOptions> {
  Option<int> level{*this, "level", llvm::cl::desc("Optimisation level, 0 to 3"),
                    llvm::cl::init(2)};
};

/// Options of the pipeline to LLVM for the host's processor.
struct CPUOptions : mlir::PassPipelineOptions<CPUOptions> {
  Option<int> vectorBits{*this, "vector-bits",
                         llvm::cl::desc("Width of the target's vector registers in bits"),
                         llvm::cl::init(256)};
};

/// Passes from elaborated tile dialect to optimised tile dialect. `pm` is anchored on
/// builtin.module.
void populateOptimizePipeline(mlir::OpPassManager &pm, const OptimizeOptions &options);

/// Passes from optimised tile dialect to the LLVM dialect, one function `void NAME(ptr args, i64
/// begin, i64 end)` for each kernel.
void populateCPUPipeline(mlir::OpPassManager &pm, const CPUOptions &options);

// The passes for GPUs compile for the target that the module names (#tile_gpu.target).

/// The extents of tiles, where the source leaves them to the compiler: the tile dialect stays.
void populateWidenPipeline(mlir::OpPassManager &pm);

/// Passes from optimised tile dialect to the tile_gpu dialect with layouts assigned: the `gpu`
/// stage.
void populateTileGPUPipeline(mlir::OpPassManager &pm);

/// Places in shared memory for what a kernel of the `gpu` stage keeps there.
void populatePlacesPipeline(mlir::OpPassManager &pm);

/// Passes from the `gpu` stage, with places, to the LLVM and NVVM dialects.
void populateNVVMPipeline(mlir::OpPassManager &pm);

/// Both GPU halves.
void populateGPUPipeline(mlir::OpPassManager &pm);

/// Makes the pipelines known by name: tile-optimize-pipeline, tile-cpu-pipeline, tile-gpu-pipeline,
/// and the latter's halves tile-gpu-layout-pipeline and tile-nvvm-pipeline.
void registerPipelines();

} // namespace tile

#endif
