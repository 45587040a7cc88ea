// Tiles that get a place in shared memory so that TMA may fetch them there.
#ifndef TILE_PASSES_TILEGPU_TMASTAGING_H
#define TILE_PASSES_TILEGPU_TMASTAGING_H

#include "dialect/TileGPU/TileGPUDialect.h"

#include "llvm/ADT/SetVector.h"

namespace tile::gpu {

/// True if products, or loads into registers for whatever use, read the tile in shared memory.
bool isReadAsOperand(mlir::Value memory);

/// The places, in the order in which they were made.
using StagedTiles = llvm::SetVector<LocalAllocOp>;

/// Tiles that a loop's operands are computed from, as packed weights are.
void stageTiles(KernelOp kernel, StagedTiles &staged);

/// Vectors that go with the operands of a loop's products, as the statistics of their rows: copied
/// with them, they are there when they are needed. Those that cannot be copied are loaded as
/// before.
void stageVectors(KernelOp kernel, StagedTiles &staged);

/// Tiles beside the operands that threads would load in vectors and exchange for the layout of a
/// product's result, as a bias or a mask of scores: from shared memory each thread reads its own.
void stageConverted(KernelOp kernel, StagedTiles &staged);

/// A tile of `unfetched` that was put into shared memory only for TMA stays in registers, and so
/// does each tile that only one operation reads there; those of `fetched` excepted.
void forwardUnfetched(KernelOp kernel, const StagedTiles &staged,
                      llvm::ArrayRef<LocalAllocOp> fetched);

} // namespace tile::gpu

#endif
