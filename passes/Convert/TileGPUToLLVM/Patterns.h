// The parts of convert-tile-gpu-to-vector: each function adds the patterns of one family of
// operations.
#ifndef TILE_PASSES_CONVERT_TILEGPUTOLLVM_PATTERNS_H
#define TILE_PASSES_CONVERT_TILEGPUTOLLVM_PATTERNS_H

#include "dialect/TileGPU/TileGPUDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/DialectConversion.h"

namespace tile::gpu {

/// Views become (pointer, extents, strides), with a flag "exists" behind them for views of rank 0.
void populateViewPatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);
/// tile.load, tile.store, tile.inside, tile.gather, tile.scatter.
void populateMemoryPatterns(const mlir::TypeConverter &converter,
                            mlir::RewritePatternSet &patterns);
/// tile.atomic, by what the GPU `target` has instructions for.
void populateAtomicPatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns,
                            const GPUTarget &target);
/// arith and math on tiles, constants, splat, iota, broadcast, reshape, permute.
void populateElementwisePatterns(const mlir::TypeConverter &converter,
                                 mlir::RewritePatternSet &patterns);
/// tile.lookup and tile.random_bits.
void populateElementPatterns(const mlir::TypeConverter &converter,
                             mlir::RewritePatternSet &patterns);
/// tile.reduce, tile.arg_reduce, tile_gpu.warp_reduce and join_warps.
void populateReducePatterns(const mlir::TypeConverter &converter,
                            mlir::RewritePatternSet &patterns);

/// tile_gpu.shift.
void populateShiftPatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);
/// tile.scan.
void populateScanPatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);
/// tile.reduce_by.
void populateReduceByPatterns(const mlir::TypeConverter &converter,
                              mlir::RewritePatternSet &patterns);
/// tile.take.
void populateTakePatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);
/// tile.sort and tile.histogram.
void populateOrderPatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);

/// tile_gpu.part_arrive, part_combine.
void populatePartPatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);
/// tile_gpu.local_alloc, local_load, memdesc_permute.
void populateSharedPatterns(const mlir::TypeConverter &converter,
                            mlir::RewritePatternSet &patterns);
/// tile_gpu.local_slots, slot, async_copy, async_commit, async_wait, and the type of slots.
void populateCopyPatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);
void populateCopyTypes(mlir::TypeConverter &converter);
/// tile_gpu.fma_dot.
void populateFmaDotPatterns(const mlir::TypeConverter &converter,
                            mlir::RewritePatternSet &patterns);
/// tile_gpu.convert_layout.
void populateConvertLayoutPatterns(const mlir::TypeConverter &converter,
                                   mlir::RewritePatternSet &patterns);
/// Conversions from i4 tiles, eight elements of each register at once.
void populateNibblePatterns(const mlir::TypeConverter &converter,
                            mlir::RewritePatternSet &patterns);
/// tile.print, tile.assert, tile.ptx.
void populateDebugPatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);
/// tile_gpu.mma.
void populateMmaPatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);
/// tile_gpu.descriptor, tma_load, tma_store, clear_from.
void populateViewDescriptorPatterns(const mlir::TypeConverter &converter,
                                    mlir::RewritePatternSet &patterns);
void populateTmaPatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);
/// tile_gpu.wgmma and wgmma_wait.
void populateWgmmaPatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);

/// Rings, and the types of rings and mbarriers.
void populateRingPatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);
void populateRingTypes(mlir::TypeConverter &converter);
/// tile_gpu.ring_fill. moveFills gives the bodies to the warps that run them, when all of
/// `function` is converted.
void populateFillPatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);
mlir::LogicalResult moveFills(mlir::func::FuncOp function);
/// tile_gpu.warp_specialize, turns, block_id, barrier.
void populateWarpSpecializePatterns(const mlir::TypeConverter &converter,
                                    mlir::RewritePatternSet &patterns);

/// Threads of the kernel around `op` that run the tile program.
int64_t getConsumerThreads(mlir::Operation *op);
inline constexpr unsigned warpgroupThreads = 128;
/// True if all threads of the producer's warpgroup run its side of the kernel around `op`, and a
/// branch for the first of them.
bool hasWideProducer(mlir::Operation *op);
mlir::scf::IfOp ifFirstOfProducer(mlir::OpBuilder &b, mlir::Operation *op);

/// Named barriers: of all threads that run the tile program in a specialised kernel; of one
/// warpgroup, from here on; of a warpgroup's turn, from here on.
inline constexpr unsigned consumerBarrier = 1, warpgroupBarrier = 2, turnBarrier = 6;
/// Of all threads of the second team, which has teams behind it from here on.
inline constexpr unsigned teamBarrier = 10;

/// Integers of 4 bits, two of which share a byte of memory: an element's place is twice its byte's
/// address, as i64, plus one for the upper half.
inline bool isNibble(mlir::Type elementType) { return elementType.isInteger(4); }

/// The type an element has in memory: bool takes a byte, index eight; LLVM has no 8-bit floats. A
/// nibble's is its byte.
mlir::Type getStoredType(mlir::Type elementType);

/// A pointer, or the place of a nibble, moved by `offset` elements.
mlir::Value advance(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value pointer,
                    mlir::Value offset, mlir::Type elementType);

/// A view's components after conversion.
struct ViewParts {
  mlir::Value pointer;                             // or the place of a nibble
  llvm::SmallVector<mlir::Value> extents, strides; // index
  mlir::Value exists;                              // i1; null unless rank 0
  ViewParts(mlir::ValueRange values, int64_t rank);
};

/// `vector<R x T>` for an encoded tile type.
mlir::VectorType getRegisterType(mlir::RankedTensorType type);

/// An index constant.
mlir::Value constantIndex(mlir::OpBuilder &builder, mlir::Location loc, int64_t value);

/// Shared memory of the block at `offset` bytes, as a pointer in address space 3.
mlir::Value getSharedPointer(mlir::OpBuilder &builder, mlir::Location loc, int64_t offset);
/// The name of the block's shared memory: an external array of unknown size, aligned to 1024 bytes.
inline constexpr llvm::StringLiteral sharedMemoryName = "tile_shared";

/// Orders this thread's ordinary accesses to shared memory before those of TMA and wgmma that a
/// barrier lets follow.
void fenceAsyncProxy(mlir::OpBuilder &builder, mlir::Location loc);

/// Lane (0..31) and warp of this thread, i32.
mlir::Value getLane(mlir::OpBuilder &builder, mlir::Location loc);
mlir::Value getWarp(mlir::OpBuilder &builder, mlir::Location loc);

/// Each register of a vector from the lane whose number differs by the bit `distance`
/// (shfl.sync.bfly).
mlir::Value shuffleLanes(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                         unsigned distance);

/// Each register of a vector from `lane`, an i32 (shfl.sync.idx).
mlir::Value readLane(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                     mlir::Value lane);

/// True on the one thread that owns its elements, where others hold duplicates; null if every
/// thread does.
mlir::Value getOwnerPredicate(mlir::OpBuilder &builder, mlir::Location loc,
                              const LinearLayout &layout);

} // namespace tile::gpu

#endif
