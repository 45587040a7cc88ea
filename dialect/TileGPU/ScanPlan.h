// How a scan goes through a layout: the bits of the axis from the lowest, each between registers,
// lanes or warps.
#ifndef TILE_DIALECT_TILEGPU_SCANPLAN_H
#define TILE_DIALECT_TILEGPU_SCANPLAN_H

#include "dialect/TileGPU/TileGPUDialect.h"

namespace tile::gpu {

/// Joins blocks of neighbours along the axis: two for a register or lane bit, 2^n for n warp bits
/// in a row.
struct ScanStep {
  InDim dim;
  llvm::SmallVector<unsigned>
      bits;           ///< of the register's, lane's or warp's number, in the order of the axis
  unsigned registers; ///< different totals that a thread holds before the step
  /// Of a step of warps: lanes scan the totals of all warps, and of the registers that all steps
  /// behind this one join, since the lanes of a warp hold the same ones.
  bool isScannedByLanes = false;
};

/// The steps of a scan along `axis`; none if the layout mixes dimensions or holds only a part of
/// the axis.
std::optional<llvm::SmallVector<ScanStep>> planScan(const LinearLayout &layout, unsigned axis);

/// The bits of the register and the lane that hold a position of `source`, from the lowest: where
/// one warp holds all of a tile of one dimension, one shuffle brings an element to all lanes. None
/// elsewhere.
std::optional<llvm::SmallVector<ScanStep>> planTake(TakeOp take);

/// Bytes of an array of `count` elements in the scratch of a scan: the next array is aligned.
int64_t getScanArrayBytes(int64_t count, int64_t elementBytes);
/// Shared memory that the steps between warps need, for tiles of elements of `elementBytes` each.
/// `isScan`: of a scan, not of a reduction by a function.
int64_t getScanBytes(const LinearLayout &layout, unsigned axis,
                     llvm::ArrayRef<int64_t> elementBytes, bool isScan);

} // namespace tile::gpu

#endif
