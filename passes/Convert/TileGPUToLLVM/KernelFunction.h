// A kernel as the function that one thread runs.
#ifndef TILE_PASSES_CONVERT_TILEGPUTOLLVM_KERNELFUNCTION_H
#define TILE_PASSES_CONVERT_TILEGPUTOLLVM_KERNELFUNCTION_H

#include "dialect/Tile/TileDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tile::gpu {

/// Replaces `kernel` by a function of the same name and the ABI that docs/Architecture.md
/// describes: the parameters, then an i64 for each of `dims`, then a pointer for each tensor map,
/// which `tile_gpu.tensor_maps` lists. The program number is taken apart into the grid's axes, in
/// bands where the kernel asks for grouping. Sets `tile_gpu.num_threads` and the parameters'
/// alignment and aliasing.
mlir::FailureOr<mlir::func::FuncOp> makeKernelFunction(KernelOp kernel);

} // namespace tile::gpu

#endif
