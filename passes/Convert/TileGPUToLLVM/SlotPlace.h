// Where in a ring a tile's pointer points, for who computes with the parts of the address.
#ifndef TILE_PASSES_CONVERT_TILEGPUTOLLVM_SLOTPLACE_H
#define TILE_PASSES_CONVERT_TILEGPUTOLLVM_SLOTPLACE_H

#include "mlir/IR/Builders.h"

#include <optional>

namespace tile::gpu {

/// At `first` + `slot` * `stride` bytes.
struct SlotPlace {
  mlir::Value first; ///< the tile's pointer in slot 0
  mlir::Value slot;  ///< an i32
  int64_t stride;
};

/// The place of a tile whose pointer a ring has made; none of other pointers.
std::optional<SlotPlace> getSlotPlace(mlir::OpBuilder &builder, mlir::Value pointer);

} // namespace tile::gpu

#endif
