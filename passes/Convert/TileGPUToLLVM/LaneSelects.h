// Selections by one bit of a lane's number, in vectors of a thread's registers.
#ifndef TILE_PASSES_CONVERT_TILEGPUTOLLVM_LANESELECTS_H
#define TILE_PASSES_CONVERT_TILEGPUTOLLVM_LANESELECTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tile::gpu {

/// Sums and differences of the same two values between which a bit selects become one fused
/// operation, whose sign the bit decides.
void foldLaneSelects(mlir::func::FuncOp function);

} // namespace tile::gpu

#endif
