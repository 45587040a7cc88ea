// How a tile moves by one position along a dimension: what pass and lowering agree on. No MLIR.
//
//   a block of 4 registers   | r0 r1 r2 r3 | r0 r1 r2 r3 |     one position back, in registers:
//   the tile moved           | e0 r0 r1 r2 | e1 r0 r1 r2 |     e0, e1 are the edge
//
//   lanes behind them        | r0 .. r3 of lane 0, 1, 2, .. |  r0 comes from the lane before, and
//   the tile moved           | e0 r0 r1 r2, r3 r0 r1 r2, .. |  the block is all of their registers
#ifndef TILE_DIALECT_TILEGPU_SHIFTPLAN_H
#define TILE_DIALECT_TILEGPU_SHIFTPLAN_H

#include "dialect/TileGPU/LinearLayout.h"

namespace tile::gpu {

/// The blocks of neighbours along a dimension within which elements move without memory.
struct ShiftPlan {
  llvm::SmallVector<unsigned> registers; ///< bits of a register's number: positions 1, 2, 4, …
  unsigned firstLane = 0, lanes = 0;     ///< bits of the lane that go on from there, in order
  LinearLayout edge;                     ///< of one element for each block: those that come anew

  unsigned getBlock() const { return 1u << (registers.size() + lanes); }
  /// Register `reg`'s position among its thread's neighbours.
  unsigned getPosition(unsigned reg) const;
  /// The same thread's register at that position.
  unsigned withPosition(unsigned reg, unsigned position) const;
  /// The edge's register for the block of register `reg`.
  unsigned getEdgeRegister(unsigned reg) const;

  /// With `byLanes` blocks go on over lanes. None where a thread has no neighbours along `dim`, or
  /// where the bits that count positions move anything else.
  static std::optional<ShiftPlan> get(const LinearLayout &layout, unsigned dim, bool byLanes);
  /// The one with blocks of `block` positions.
  static std::optional<ShiftPlan> get(const LinearLayout &layout, unsigned dim, int64_t block);
};

} // namespace tile::gpu

#endif
