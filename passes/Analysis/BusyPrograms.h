// How many programs of a launch have something to do.
#ifndef TILE_PASSES_ANALYSIS_BUSYPROGRAMS_H
#define TILE_PASSES_ANALYSIS_BUSYPROGRAMS_H

#include "dialect/Tile/TileDialect.h"

namespace tile {

/// Programs of a launch whose grid has these extents, less those that a test at the beginning of
/// the body sends home: of a grid of parts by blocks of all rows, a part's blocks beyond its end.
double countBusyPrograms(KernelOp kernel, llvm::ArrayRef<double> extents);

/// Programs of a launch that have something to do if each row of a packed tensor is in one of its
/// parts at random, where the grid has room for any lengths of parts; else countBusyPrograms.
/// `evaluate` gives the value of a grid's extent, and of what it is computed from.
double countLikelyPrograms(KernelOp kernel, llvm::ArrayRef<double> extents,
                           llvm::function_ref<double(mlir::Value)> evaluate);

} // namespace tile

#endif
