// How many neighbours an access to global memory can move at once.
#ifndef TILE_PASSES_TILEGPU_ACCESSWIDTH_H
#define TILE_PASSES_TILEGPU_ACCESSWIDTH_H

#include "passes/Analysis/Divisibility.h"

#include "mlir/IR/BuiltinTypes.h"
#include <optional>

namespace tile::gpu {

/// Neighbours in a thread's registers that one instruction can move.
struct AccessWidth {
  int64_t proven = 1;              ///< by the contracts: aligned, and existing as a whole
  int64_t possible = 1;            ///< what the layout allows, after a check at run time
  std::optional<unsigned> fastest; ///< the tile's dimension along which neighbours lie
  bool windows = false; ///< 16 aligned bytes around an element of the tensor begin in the tensor
};

/// The width of a load, store, gather, scatter, atomic or asynchronous copy of `tile`, whose type
/// has the layout.
AccessWidth getAccessWidth(mlir::Operation *access, mlir::RankedTensorType tile,
                           const DivisibilityAnalysis &divisibility);

} // namespace tile::gpu

#endif
