// Accesses of lines that go round in their registers (tile-gpu-rotate-rows).
#ifndef TILE_PASSES_CONVERT_TILEGPUTOLLVM_ROTATEDROWS_H
#define TILE_PASSES_CONVERT_TILEGPUTOLLVM_ROTATEDROWS_H

#include "passes/Convert/TileGPUToLLVM/GlobalAccess.h"
#include "passes/Convert/TileGPUToLLVM/PrivatePlace.h"

namespace tile::gpu {

/// The stored elements of all registers; `fill` are the bits of `pad` where it is a constant.
mlir::Value loadRotated(mlir::OpBuilder &builder, LoadOp op, GlobalAccess<LoadOp> &access,
                        mlir::Value pad, std::optional<uint32_t> fill);

/// Stores `stored`, the stored elements of all registers, where `owner` (null: always).
void storeRotated(mlir::OpBuilder &builder, StoreOp op, GlobalAccess<StoreOp> &access,
                  mlir::Value stored, mlir::Value owner);

/// Copies `bytes` (16, 8 or 4) by cp.async from `source` to `target` where `when` holds (null:
/// always); zeros where `exists` does not (null: it does).
void copyPiece(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value target, mlir::Value source,
               unsigned bytes, mlir::Value exists, mlir::Value when,
               std::optional<llvm::StringRef> cache);

/// Copies what this thread holds to its own place, where `when` holds (null: always). All of the
/// tile exists then, and what the vector of its end holds besides lies in the tensor.
void copyRotated(mlir::OpBuilder &builder, AsyncCopyOp op, GlobalAccess<AsyncCopyOp> &access,
                 const PrivatePlace &place, mlir::Value when);

/// Says of what the thread keeps in its place that all of it is as threads hold it.
void keepRotated(mlir::OpBuilder &builder, mlir::Location loc, mlir::RankedTensorType tile,
                 const PrivatePlace &place);

/// The tile's first vector as its thread holds it, words, of `first`, which lies in its place.
mlir::Value readRotated(mlir::OpBuilder &builder, mlir::Location loc, mlir::RankedTensorType tile,
                        const PrivatePlace &place, mlir::Value first);

/// A bool for each register: whether its element exists.
mlir::Value findRotatedInside(mlir::OpBuilder &builder, InsideOp op, GlobalAccess<InsideOp> &access,
                              mlir::VectorType type);

/// `places`, an i32 of each register, where the iota's start is moved back: behind it those that
/// hold the tile's last elements are as far behind the others as the tile is long.
mlir::Value rotatePositions(mlir::OpBuilder &builder, IotaOp op, const ThreadCoordinates &thread,
                            mlir::Value places);

} // namespace tile::gpu

#endif
