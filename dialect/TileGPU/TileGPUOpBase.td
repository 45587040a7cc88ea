// What the definitions of the tile_gpu operations have in common.
#ifndef TILE_GPU_OP_BASE
#define TILE_GPU_OP_BASE

include "mlir/Interfaces/SideEffectInterfaces.td"
include "dialect/TileGPU/SharedMemoryInterface.td"
include "dialect/TileGPU/TileGPUDialect.td"
include "dialect/Tile/TileOpBase.td"

/// Of an operation that owns shared memory.
def TileGPU_OwnsSharedMemory : DeclareOpInterfaceMethods<TileGPU_SharedMemoryOpInterface>;

class TileGPU_Op<string opMnemonic, list<Trait> traits = []>
    : Op<TileGPU_Dialect, opMnemonic, traits>;
def TileGPU_Tile : Type<And<[AnyRankedTensor.predicate, HasStaticShapePred]>, "tile in registers",
    "::mlir::RankedTensorType">;

/// A tile behind tile-gpu-assign-layouts.
def TileGPU_DealtTile : Type<And<[TileGPU_Tile.predicate,
    CPred<"::tile::gpu::hasLayout(::llvm::cast<::mlir::RankedTensorType>($_self))">]>,
    "tile in registers with a layout of its shape", "::mlir::RankedTensorType">;

#endif
