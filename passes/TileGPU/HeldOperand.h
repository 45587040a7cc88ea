// Operands of wgmma that threads compute and keep in registers.
#ifndef TILE_PASSES_TILEGPU_HELDOPERAND_H
#define TILE_PASSES_TILEGPU_HELDOPERAND_H

#include "dialect/TileGPU/LinearLayout.h"
#include "passes/TileGPU/DotSelection.h"
#include "llvm/ADT/SmallVector.h"

namespace tile::gpu {

/// The operand that wgmma may read from registers, and how it is held.
struct HeldOperand {
  mlir::Value tile; ///< the dot's a, or b where the dot is swapped
  LinearLayout layout;
  /// Loads of tiles as large as the operand: these reach the threads by way of shared memory.
  llvm::SmallVector<LoadOp> loads;
};

/// The first operand of wgmma, if each trip of a loop computes it from what it loads, and threads
/// may as well compute it where the product reads it: then it takes no shared memory, no fence and
/// no barrier.
std::optional<HeldOperand> getHeldOperand(DotOp dot, const KernelShape &shape);

/// True if each trip of a loop computes the second operand of a product and loads the first, and
/// threads may as well hold what they compute: wgmma reads its first operand alone from registers,
/// so the transposed product is better.
bool isBetterSwapped(DotOp dot);

} // namespace tile::gpu

#endif
