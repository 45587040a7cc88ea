// The stages of a loop whose operands are copied ahead by cp.async, for tile-gpu-pipeline-copies.
#ifndef TILE_PASSES_TILEGPU_SCHEDULE_COPYSTAGES_H
#define TILE_PASSES_TILEGPU_SCHEDULE_COPYSTAGES_H

#include "dialect/TileGPU/TileGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "target/Target.h"

#include <optional>

namespace tile::gpu {

/// The products that read a tile in shared memory.
void collectProducts(mlir::Value memory, llvm::SmallVectorImpl<mlir::Operation *> &products);

/// True for a tile in shared memory that stays as it is throughout a trip; `copies` do.
bool lastsForTrip(mlir::scf::ForOp loop, llvm::ArrayRef<LocalAllocOp> copies, mlir::Value memory);

struct CopyStages {
  int64_t stages; ///< slots of the ring
  int64_t lag;    ///< trips after its own in which a slot is filled again
};
/// None where fewer than two stages fit or are of use: what declines it is said.
std::optional<CopyStages> chooseStagesOfCopies(mlir::scf::ForOp loop,
                                               llvm::ArrayRef<LocalAllocOp> copies,
                                               const GPUTarget &target);

} // namespace tile::gpu

#endif
