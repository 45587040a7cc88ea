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
};

/// The steps of a scan along `axis`; none if the layout mixes dimensions or holds only a part of
/// the axis.
std::optional<llvm::SmallVector<ScanStep>> planScan(const LinearLayout &layout, unsigned axis);

/// The bits of the register and the lane that hold a position of `source`, from the lowest: where
/// one warp holds all of a tile of one dimension, one shuffle brings an element to all lanes. None
/// elsewhere.
std::optional<llvm::SmallVector<ScanStep>> planTake(TakeOp take);

/// Shared memory that the steps between warps need, for elements of `elementBytes` in all.
int64_t getScanBytes(const LinearLayout &layout, unsigned axis, int64_t elementBytes);

} // namespace tile::gpu

#endif
