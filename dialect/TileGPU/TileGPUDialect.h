// The tile_gpu dialect: include this for its types, attributes and operations.
#ifndef TILE_DIALECT_TILEGPU_TILEGPUDIALECT_H
#define TILE_DIALECT_TILEGPU_TILEGPUDIALECT_H

#include "dialect/AttributeNames.h"
#include "dialect/Tile/TileDialect.h"
#include "dialect/TileGPU/LinearLayout.h"
#include "dialect/TileGPU/ProductPlace.h"
#include "dialect/TileGPU/SharedNeed.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "target/Target.h"

#include "dialect/TileGPU/TileGPUDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/TileGPU/TileGPUAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialect/TileGPU/TileGPUTypes.h.inc"

#include "dialect/TileGPU/SharedMemoryInterface.h.inc"

#define GET_OP_CLASSES
#include "dialect/TileGPU/TileGPUOps.h.inc"

namespace tile::gpu {

/// The GPU that the module around `op` is compiled for. Where the module names none: null, after an
/// error at `op`.
const GPUTarget *getTarget(mlir::Operation *op);

/// Programs of a split loop that should share a multiprocessor. One where copies run ahead of
/// products. Elsewhere a program waits for each trip's loads: as many programs, at most 8, as ask
/// for twice the bytes that `card` moves in a load's latency, since each spends time on computing.
int64_t getProgramsPerProcessor(mlir::Operation *loop, const GPUCard &card);

/// Programs that a launch should have which chooses the parts of a split loop: those above for each
/// multiprocessor of the card that the module around it is compiled for. 0, after an error at
/// `loop`, where the module names no target.
int64_t getLaunchPrograms(mlir::Operation *loop);

/// Warps of the producer's warpgroup that run the bodies of ring_fill where TMA may fill the slot,
/// and where it never does.
inline constexpr int64_t fillWarps = 2, wideFillWarps = 4;

/// Lets operations of the tile dialect say what they need of shared memory.
void attachSharedMemoryModels(mlir::MLIRContext &context);

/// True of a tile that carries a layout of its own shape.
bool hasLayout(mlir::RankedTensorType type);
/// The layout of a tile in registers; the type must carry one.
LinearLayout getLayout(mlir::RankedTensorType type);
/// `type` with `layout` as its encoding.
mlir::RankedTensorType withLayout(mlir::RankedTensorType type, const LinearLayout &layout);
/// The layout of what tile_gpu.warp_reduce leaves of a tile; without `axis` of all its elements.
LinearLayout getWarpReduceLayout(const LinearLayout &source, std::optional<int64_t> axis);

} // namespace tile::gpu

#endif
