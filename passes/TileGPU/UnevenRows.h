// Rows that are known not to be aligned: a launch whose rows are takes a variant.
#ifndef TILE_PASSES_TILEGPU_UNEVENROWS_H
#define TILE_PASSES_TILEGPU_UNEVENROWS_H

#include "dialect/Tile/TileDialect.h"

namespace tile::gpu {

/// True if `name`, a dimension or stride, is no multiple of `vector` or of some divisor of it
/// wherever this version of the kernel runs.
bool isUneven(KernelOp kernel, llvm::StringRef name, int64_t vector);

/// True if nothing says that `stride` is a multiple of `vector`, in a kernel of which another
/// version runs where the row's extent is a multiple of something.
bool mayBeUneven(KernelOp kernel, mlir::Value stride, int64_t vector);

/// The greatest power of two, at most `vector`, that divides the distance of rows in all tensors
/// that the kernel reads or writes in tiles and whose rows are known not to be aligned, or, of its
/// largest tiles, are a constant apart; `vector` where there is none.
unsigned getRowDivisor(KernelOp kernel, unsigned vector);

} // namespace tile::gpu

#endif
