// Which operations use shared memory, how much, and where: what allocation, barriers and lowering
// agree on.
#ifndef TILE_DIALECT_TILEGPU_SHAREDMEMORY_H
#define TILE_DIALECT_TILEGPU_SHAREDMEMORY_H

#include "dialect/TileGPU/SharedLayout.h"
#include "dialect/TileGPU/TileGPUDialect.h"

namespace tile::gpu {

/// Bytes of an element in shared memory: 1 for i1, 8 for index.
unsigned getSharedElementBytes(mlir::Type elementType);
/// How the tile of a memory descriptor lies.
SharedLayout getSharedLayout(MemDescType type);

/// Where the parts of a ring lie, in bytes from its start: the slots of each tile, then full
/// barriers, empty barriers, and, where there are no tiles, a scalar for each slot. Slots of tiles
/// of one type that follow each other are slots of all of these: such tiles are neighbours.
class RingLayout {
public:
  explicit RingLayout(RingType type);
  /// Of a tile of the first slot.
  int64_t getTileOffset(unsigned tile) const { return tileOffsets[tile]; }
  /// What a tile takes of a slot.
  int64_t getTileBytes(unsigned tile) const { return tileBytes[tile]; }
  /// From a tile's slot to its next one.
  int64_t getTileStride(unsigned tile) const { return tileStrides[tile]; }
  int64_t getFullBarriers() const { return barriers; }
  /// From the full barriers to the ring's end.
  int64_t getBarrierBytes() const { return getBytes() - barriers; }
  int64_t getEmptyBarriers() const { return barriers + 8 * stages; }
  int64_t getScalars() const { return barriers + 16 * stages; }
  /// Bytes that copies bring into one slot, in all and for each tile.
  int64_t getTransferredBytes() const { return llvm::sum_of(transferredBytes); }
  int64_t getTransferredBytes(unsigned tile) const { return transferredBytes[tile]; }
  int64_t getBytes() const { return barriers + (tileOffsets.empty() ? 24 : 16) * stages; }

private:
  int64_t stages, barriers = 0;
  llvm::SmallVector<int64_t> tileOffsets, tileStrides, tileBytes, transferredBytes;
};

/// What a ring_fill has in shared memory, in bytes from its start: mbarriers by which the
/// producer's thread asks for its body and hears that it is done, the body's number, and the values
/// that the body takes from the thread, 8 bytes each.
struct FillLayout {
  static constexpr int64_t asked = 0, done = 8, number = 16, values = 24;
};
/// Bytes of the values that a copy in the body of a ring_fill takes, at most.
int64_t getFillBytes(AsyncCopyOp copy);

/// How a layout conversion moves elements.
enum class Exchange {
  Registers, ///< each thread has what it needs
  Warp,      ///< between the lanes of a warp
  Block,     ///< between warps
};
Exchange getExchange(const LinearLayout &source, const LinearLayout &target);

/// The bits of a warp's number that do not change which elements the warp holds, given the bits
/// before them. In a conversion within warps, each such warp has a copy of the scratch memory:
/// the warps do not wait for each other, so one must not read while another stores there.
llvm::SmallVector<unsigned> getReplicaBits(const LinearLayout &layout);

/// A conversion between warps that goes part by part, each through the same scratch memory: along
/// bits of the register's number that mean the same in source and target, so that no part needs an
/// element of another.
struct ConversionRounds {
  LinearLayout source, target; ///< of a part
  /// Of each part, in the order of its layouts' registers.
  llvm::SmallVector<llvm::SmallVector<int64_t>> sourceRegisters, targetRegisters;
};
/// In so many rounds, a power of two; none where the layouts have fewer such bits.
std::optional<ConversionRounds> getConversionRounds(const LinearLayout &source,
                                                    const LinearLayout &target, int64_t rounds);

/// The scratch memory through which a conversion goes, one copy of it, and which of its sides move
/// 8x8 matrices (stmatrix, ldmatrix).
struct ConversionScratch {
  SharedLayout layout;
  bool storesMatrices = false, loadsMatrices = false;
};
ConversionScratch getConversionScratch(const LinearLayout &source, const LinearLayout &target,
                                       mlir::Type elementType, const GPUTarget *gpu);

/// The scratch memory from which a take reads: the tile row by row.
SharedLayout getTakeScratch(mlir::RankedTensorType source);

/// The first register of each element that a thread holds.
llvm::SmallVector<unsigned> getDistinctRegisters(const LinearLayout &layout);
/// The memory by which an atomic hands the values that one thread found to those that hold the same
/// elements: a slot for each distinct register of each thread; 0 where every thread finds its own.
int64_t getAtomicBytes(AtomicOp op);

/// Where the states of a part of a cluster lie that the other parts read: one behind the other,
/// each row by row. By their types alone, with layouts or without.
struct PartStates {
  explicit PartStates(mlir::TypeRange states);
  llvm::SmallVector<SharedLayout> layouts;
  llvm::SmallVector<int64_t> offsets;
  int64_t bytes = 0;
};

/// Scratch of a reduction whose state has elements of these sizes: where warps hold different parts
/// along the axis, or all axes, each leaves what its lanes have come to, once where lanes hold the
/// same.
int64_t getReductionBytes(mlir::RankedTensorType source, std::optional<int64_t> axis,
                          llvm::ArrayRef<int64_t> elementBytes);

/// Where a store leaves `columns` columns of `height` rows of its tile for the hardware to copy:
/// blocks of as many rows as a copy has.
SharedLayout getStagingLayout(TmaStoreOp store, int64_t columns, int64_t height);
/// The map behind a descriptor; null if that is not known.
TensorMapAttr getTensorMap(mlir::Value descriptor);
/// Bytes of a tensor map, which are also its alignment.
inline constexpr int64_t tensorMapBytes = 128;
/// Blocks that have memory for maps which their programs write: more than run at once on any card.
inline constexpr int64_t mostMapBlocks = 1024;
/// Bytes of scratch memory before the `number`-th of these maps, where each has `copies` places for
/// a block; of as many maps as there are, all bytes.
inline int64_t getMapOffset(int64_t number, int64_t copies) {
  constexpr int64_t countBytes = 128;
  return countBytes + number * mostMapBlocks * copies * tensorMapBytes;
}
/// True if the map lists its second dimension twice, so that copies of it can end anywhere.
bool cutsRows(TensorMapAttr map);
/// The dimension of a tile for each of the map's dimensions, -1 where the tile has none, fastest
/// first: `order` is the tile's. The tile's last dimension may stand several times: its rows then
/// count through a box (128 rows of 8 x 16 pixels), and boxes follow each other along the last of
/// these dimensions of the map. None if tile and map do not fit each other.
std::optional<llvm::SmallVector<int64_t>>
matchTensorMap(TensorMapAttr map, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> order);

/// What a thread moves at a time of a tile that is its own, in bytes: 16, 8 or 4; 0 where its part
/// is not whole words.
int64_t getPrivatePiece(mlir::RankedTensorType tile);
/// Bytes of all that the block's threads hold of a tile, copies included; 0 where a thread's part
/// is not whole words.
int64_t getPrivateBytes(mlir::RankedTensorType tile);

/// What `op` does with shared memory of its own; nothing if it does not say so by
/// SharedMemoryOpInterface.
SharedNeed getSharedNeed(mlir::Operation *op);

/// The offset that allocation has given `op`.
std::optional<int64_t> getSharedOffset(mlir::Operation *op);

/// The operation that allocated the memory of a `!tile_gpu.memdesc`; null if it is not a
/// local_alloc or a permutation of one.
LocalAllocOp getSharedOwner(mlir::Value memory);

/// The slots of which a `!tile_gpu.memdesc` is one, or a permutation of one; null if it is not.
LocalSlotsOp getSlotsOwner(mlir::Value memory);
/// From one slot to the next, in bytes.
int64_t getSlotStride(SlotsType type);

/// True if a product by wgmma has the tile, or a permutation of it, as an operand.
bool isReadByWgmma(mlir::Value memory);

/// The operation in `block` that ends the reading of shared memory by `user`: itself or what it is
/// nested in, or the wait for a product left in flight.
mlir::Operation *getCompletion(mlir::Operation *user, mlir::Block *block);

} // namespace tile::gpu

#endif
