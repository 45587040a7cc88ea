// Populates the pipelines; the order of passes in this file is the order of the compiler.
#include "passes/Pipelines.h"
#include "dialect/Tile/TileDialect.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Passes.h"

using namespace mlir;

namespace tile {

static void addCleanup(OpPassManager &pm) {
  // i32 to f32 to bf16 rounds twice, as the program says; these patterns would make one rounding of
  // it.
  static const char *const unsound[] = {"TruncFSIToFPToSIToFP", "TruncFUIToFPToUIToFP"};
  SmallVector<std::string> disabled;
  for (const char *name : unsound) {
    disabled.push_back(name);
    disabled.push_back(std::string("(anonymous namespace)::") + name);
  }
  pm.addPass(createCanonicalizerPass(GreedyRewriteConfig(), disabled));
  pm.addPass(createCSEPass());
}

/// On entry and exit the tile dialect alone, on values without layouts: what is done here holds for
/// CPU and GPU.
void populateOptimizePipeline(OpPassManager &pm, const OptimizeOptions &options) {
  if (options.level == 0)
    return;
  // Nested, hence kernels may be optimised at the same time.
  OpPassManager &kernel = pm.nest<KernelOp>();
  addCleanup(kernel);
  kernel.addPass(createSCCPPass());
  // Simplification comes before the prover, since masks and positions that fold prove more; and
  // once more after it, since accesses in bounds lose theirs.
  kernel.addPass(createSimplify());
  // Decides comparisons that guard accesses; costs as much as all the rest.
  if (options.level >= 3)
    kernel.addPass(arith::createIntRangeOptimizationsPass());
  kernel.addPass(createProveInBounds());
  kernel.addPass(createSimplify());
  addCleanup(kernel);
  kernel.addPass(createLoopInvariantCodeMotionPass());
}

void populateCPUPipeline(OpPassManager &pm, const CPUOptions &options) {
  // Entry: the tile dialect. After convert-tile-to-linalg tensors, after tile-cpu-bufferize
  // buffers, after convert-linalg-to-loops scalars and vectors.
  pm.addPass(createConvertTileToLinalg());
  OpPassManager &function = pm.nest<func::FuncOp>();
  addCleanup(function);
  function.addPass(createCPUFuseElementwise());
  addCleanup(function);
  function.addPass(createCPUBufferize());
  addCleanup(function);
  // Products before scratch is placed: packed operands are buffers, too.
  function.addPass(createCPULowerDot({options.vectorBits}));
  function.addPass(createCPUPlaceScratch());
  function.addPass(createConvertLinalgToLoopsPass());
  function.addPass(createCPUStoreBoolAsByte());
  function.addPass(createExpandFloat8());
  function.addPass(createExpandMath());
  function.addPass(createCPUExpandBF16());
  addCleanup(function);
  function.addPass(createLoopInvariantCodeMotionPass());
  function.addPass(createSCFToControlFlowPass());
  function.addPass(memref::createExpandStridedMetadataPass());
  function.addPass(createLowerAffinePass());
  pm.addPass(createCPULowerToLLVM());
  pm.addPass(createReconcileUnrealizedCastsPass());
}

/// Ahead of all others, which see the tiles that are computed. A pipeline of its own, since a
/// second try with another launch begins behind it.
void populateWidenPipeline(OpPassManager &pm) { pm.addPass(createTileGPUWidenTiles()); }

/// Until tile-gpu-assign-layouts tiles have no layouts, and passes change their shapes and count;
/// behind it each value keeps its own.
void populateTileGPUPipeline(OpPassManager &pm) {
  pm.addPass(createTileGPUSharePrograms());
  pm.addPass(createTileGPUSplitLoops());
  pm.addPass(createTileGPUVersionRowLoops());
  pm.addPass(createTileGPUPeelTails());
  addCleanup(pm);
  pm.addPass(createTileGPUEliminateRedundantLoads());
  // Ahead of what asks how many neighbours a load moves.
  pm.addPass(createTileGPURotateRows());
  pm.addPass(createTileGPUDeferReductions());
  pm.addPass(createTileGPUNarrowReductions());
  pm.addPass(createReduceStrength());
  pm.addPass(createTileGPUFuseExactProducts());
  pm.addPass(createTileGPUExpandTF32x3());
  pm.addPass(createCSEPass());
  pm.addPass(createTileGPUExpandShapes());
  pm.addPass(createTileGPUPadExtents());
  pm.addPass(createTileGPULoadNibblesAsBytes());
  pm.addPass(createTileGPUAssignLayouts());
  pm.addPass(createTileGPUGuardMasks());
  addCleanup(pm);
  pm.addPass(createTileGPUDeferRowSums());
  pm.addPass(createTileGPUKeepTiles());
  pm.addPass(createTileGPUUseTma());
  pm.addPass(createTileGPUJoinProducts());
  pm.addPass(createTileGPUCutProducts());
  pm.addPass(createTileGPUFitLaunch());
  pm.addPass(createTileGPUMulticast());
  pm.addPass(createTileGPUSetEvictionPolicies());
  pm.addPass(createTileGPUFetchGathers());
  pm.addPass(createTileGPUPipelineCopies());
  // Products of a trip and the next, while copies are values.
  pm.addPass(createTileGPUScheduleLoops());
  pm.addPass(createTileGPUApplySchedule());
  // Registers of what is loaded ahead count where blocks share a multiprocessor.
  pm.addPass(createTileGPUSpreadLoads());
  pm.addPass(createTileGPUPrefetchLoads());
  pm.addPass(createTileGPUMakePersistent());
  pm.addPass(createTileGPUSpecializeWarps());
  pm.addPass(createTileGPUPrefetchCoordinates());
  pm.addPass(createTileGPUScheduleTilesDynamically());
  pm.addPass(createTileGPURescaleLazily());
  // And those of consumers, whose tiles lie in rings of so many stages.
  pm.addPass(createTileGPUScheduleLoops());
  pm.addPass(createTileGPUApplySchedule());
  pm.addPass(createTileGPUApplyLoopAttributes());
  // The order of reductions decides which loads wait for barriers.
  pm.addPass(createTileGPUJoinReductions());
  // Behind all that moves loads ahead: a shift waits for what it moves.
  pm.addPass(createTileGPUShiftLoads());
  // Behind all that compares positions.
  pm.addPass(createTileGPURotateRows());
  pm.addPass(createTileGPUVectorizeAccesses());
  pm.addPass(createTileGPULoadEarly());
  pm.addPass(createTileGPUStoreInParts());
}

/// On entry each tile has a layout. From here on no pass changes which thread holds which element.
void populatePlacesPipeline(OpPassManager &pm) { pm.addPass(createTileGPUAllocateShared()); }

void populateNVVMPipeline(OpPassManager &pm) {
  // Behind places: a barrier is needed where bytes are shared.
  pm.addPass(createTileGPUInsertBarriers());
  pm.addPass(createConvertTileGPUToVector());
  // LLVM folds what is left faster than MLIR's canonicaliser would; repeated address arithmetic is
  // cheap to drop here.
  pm.addPass(createCSEPass());
  pm.addPass(createExpandIntegerCasts());
  pm.addPass(createExpandFloat8({"gpu"}));
  pm.addPass(createExpandMath({"gpu"}));
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(createConvertThreadToLLVM());
  pm.addPass(createReconcileUnrealizedCastsPass());
  // Line info: directives alone, since ptxas takes no further debug information with optimisation.
  LLVM::DIScopeForLLVMFuncOpPassOptions lines;
  lines.emissionKind = LLVM::DIEmissionKind::DebugDirectivesOnly;
  pm.addPass(LLVM::createDIScopeForLLVMFuncOpPass(lines));
}

void populateGPUPipeline(OpPassManager &pm) {
  populateWidenPipeline(pm);
  populateTileGPUPipeline(pm);
  populatePlacesPipeline(pm);
  populateNVVMPipeline(pm);
}

void registerPipelines() {
  PassPipelineRegistration<OptimizeOptions>("tile-optimize-pipeline",
                                            "Optimise the tile dialect for any target",
                                            populateOptimizePipeline);
  PassPipelineRegistration<CPUOptions>("tile-cpu-pipeline",
                                       "Lower the tile dialect to LLVM for the host's processor",
                                       populateCPUPipeline);
  PassPipelineRegistration<>("tile-gpu-pipeline", "Lower the tile dialect to LLVM and NVVM",
                             populateGPUPipeline);
  PassPipelineRegistration<>("tile-gpu-layout-pipeline",
                             "Lower the tile dialect to tile_gpu with layouts",
                             populateTileGPUPipeline);
  PassPipelineRegistration<>("tile-nvvm-pipeline", "Lower tile_gpu to LLVM and NVVM",
                             [](OpPassManager &pm) {
                               populatePlacesPipeline(pm);
                               populateNVVMPipeline(pm);
                             });
}

} // namespace tile
