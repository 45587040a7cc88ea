// How wgmma finds an operand in shared memory: the fields of its matrix descriptor, and where parts
// of it start. No MLIR.
//
// Source: PTX ISA, "Asynchronous warpgroup level matrix shared memory layout" and "Matrix
// descriptor format".
#ifndef TILE_DIALECT_TILEGPU_WGMMADESCRIPTOR_H
#define TILE_DIALECT_TILEGPU_WGMMADESCRIPTOR_H

#include "dialect/TileGPU/SharedLayout.h"

namespace tile::gpu {

/// An operand of wgmma: A as [M, K] or B as [K, N], anywhere in shared memory.
class WgmmaDescriptor {
public:
  /// `shared` has rank 2; dimension `kDim` of it is the one that is summed over.
  WgmmaDescriptor(const SharedLayout &shared, unsigned kDim);

  /// True if the hardware can read this layout: K fastest for 8- and 32-bit elements, and rows that
  /// are swizzled or as short as 16 bytes.
  bool isLegal() const;
  /// True if neighbours along K are neighbours in memory; else the instruction transposes.
  bool isKMajor() const { return kMajor; }
  /// The descriptor of an operand at address 0. An address goes into the lowest bits as address
  /// / 16.
  uint64_t getBits() const;
  /// Bytes from the operand's start to the part that begins at position `row` along M or N (a
  /// multiple of 8, of a panel if that is the fastest dimension) and `k` (a multiple of 32 bytes).
  uint32_t getOffset(int64_t row, int64_t k) const;

private:
  SharedLayout shared;
  unsigned kDim;
  bool kMajor;
};

} // namespace tile::gpu

#endif
