// How a tile lies in shared memory: element coordinates to byte offsets, and what a thread's
// accesses become. No MLIR.
#ifndef TILE_DIALECT_TILEGPU_SHAREDLAYOUT_H
#define TILE_DIALECT_TILEGPU_SHAREDLAYOUT_H

#include "dialect/TileGPU/LinearLayout.h"

namespace tile::gpu {

/// A tile in shared memory, cut along its fastest dimension into panels that follow each other.
/// Byte offsets are linear over F2 in the bits of the coordinates, but for panels of which not all
/// rows are used: those follow each other closely, and only the hardware reads them.
class SharedLayout {
public:
  /// As `#tile_gpu.shared`: `order[0]` is the fastest dimension, `swizzle` 0, 32, 64 or 128 bytes
  /// as TMA and wgmma have it. `used`, if any, are the extents that hold something: what lies
  /// behind them has no bytes.
  SharedLayout(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> order, unsigned elementBytes,
               unsigned swizzle, llvm::ArrayRef<int64_t> used = {});
  /// Scratch memory where accesses of up to `granule` bytes along `fastest` spread over the banks,
  /// in rows and columns.
  static SharedLayout scratch(llvm::ArrayRef<int64_t> shape, unsigned fastest,
                              unsigned elementBytes, unsigned granule);
  /// Row-major memory for copies of `blockRows` rows each: blocks of rows follow each other, each
  /// cut into panels.
  static SharedLayout staging(llvm::ArrayRef<int64_t> shape, unsigned elementBytes,
                              unsigned swizzle, int64_t blockRows);

  llvm::ArrayRef<int64_t> getShape() const { return shape; }
  llvm::ArrayRef<int64_t> getOrder() const { return order; }
  unsigned getElementBytes() const { return elementBytes; }
  /// Bytes of a panel's row; 0 where rows are whole and nothing is swizzled.
  unsigned getSwizzle() const { return panelBytes; }
  /// Rows of a panel in memory, all dimensions but the fastest together: of a matrix those that are
  /// used.
  int64_t getPanelRows() const;
  /// Bytes that the tile takes.
  int64_t getBytes() const;
  /// Bytes of the used extents alone, which copies bring.
  int64_t getUsedBytes() const;
  /// Offset in bytes of an element.
  uint32_t getOffset(llvm::ArrayRef<int64_t> coord) const;
  /// The alignment of offsets for which the pattern holds: 128 bytes, 1024 if swizzled.
  unsigned getAlignment() const { return hardware && panelBytes ? 1024 : 128; }

private:
  /// Behind the last row that is used; rows count all dimensions but the fastest.
  int64_t getUsedRowsEnd() const;
  /// Bytes that a row takes in memory, in all panels that are used.
  int64_t getUsedRowBytes() const;

  llvm::SmallVector<int64_t, 4> shape, order, used;
  unsigned elementBytes;
  unsigned panelBytes;   // 0: whole rows
  unsigned granule = 16; // bytes that stay together when swizzled
  unsigned chunkMask;    // which bits of the line number are XORed into the granule's number
  int64_t blockRows = 0; // 0: all rows
  bool hardware = true;
};

/// The byte offsets that a thread of a layout touches, and how they combine into wide accesses.
class SharedAccess {
public:
  /// Accesses of at most `maxBytes` bytes each.
  SharedAccess(const LinearLayout &layout, const SharedLayout &shared, unsigned maxBytes = 16);

  /// Images of the bits of a register's, a lane's and a warp's number, in bytes.
  llvm::ArrayRef<uint32_t> getImages(InDim dim) const { return images[unsigned(dim)]; }
  /// Images of the bits of the thread's number: lanes, then warps.
  llvm::SmallVector<uint32_t> getThreadImages() const;
  /// Elements of one access, a power of two.
  unsigned getVectorSize() const { return 1u << vectorBits.size(); }
  /// For each access: the registers in ascending order of address. With `distinct`, registers that
  /// hold duplicates of others are left out; a store needs each value once.
  llvm::SmallVector<llvm::SmallVector<unsigned>> getAccesses(bool distinct) const;
  uint32_t getOffset(unsigned reg) const;

private:
  llvm::SmallVector<uint32_t> images[numInDims];
  llvm::SmallVector<unsigned> vectorBits; // the register bits that count an access's elements
};

/// An exchange between the registers of one thread that lets its warp's accesses spread over the
/// banks of shared memory: in lanes with bit `laneBit` of their number, each register's value
/// changes place with that whose number differs in `registerBit`.
struct LaneSwap {
  unsigned laneBit, registerBit;
  LinearLayout layout; ///< where the values are then
};

/// The exchange that saves most of the passes that an access takes; none if there is nothing to
/// save.
std::optional<LaneSwap> findLaneSwap(const LinearLayout &layout, const SharedLayout &shared);

/// A row of the 8x8 matrices that ldmatrix and stmatrix move.
constexpr unsigned matrixRowBytes = 16;

/// How one ldmatrix instruction after the other fills the registers of a layout, or stmatrix stores
/// them.
struct MatrixLoads {
  bool transposed;
  unsigned matrices; // 1, 2 or 4 in one instruction
  llvm::SmallVector<uint32_t>
      addressImages; // of the thread's bits: lanes address rows, warps as ever
  struct Load {
    uint32_t offset;                       // XORed into the row's address
    llvm::SmallVector<unsigned> registers; // of the elements of results 0, 1, ... in order
  };
  llvm::SmallVector<Load> loads;
};

/// The ldmatrix instructions that load `layout` from `shared` (stmatrix: that store it there); none
/// if rows of 16 bytes are not what its lanes hold.
std::optional<MatrixLoads> getMatrixLoads(const LinearLayout &layout, const SharedLayout &shared);

} // namespace tile::gpu

#endif
