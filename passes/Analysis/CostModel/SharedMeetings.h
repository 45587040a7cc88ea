// Tiles of a kernel without products that loads bring in unlike ways, and that meet: one of them
// goes between threads.
#ifndef TILE_PASSES_ANALYSIS_COSTMODEL_SHAREDMEETINGS_H
#define TILE_PASSES_ANALYSIS_COSTMODEL_SHAREDMEETINGS_H

#include "dialect/Tile/TileDialect.h"

#include <cstdint>
#include <vector>

namespace tile::cost {

/// How threads hold a tile. `Columns` are what reductions of their tile leave.
enum class Held : uint8_t { Anyhow, AsLoaded, Shifted, Columns };

struct Meeting {
  mlir::Operation *op = nullptr; ///< where they meet
  mlir::Value tile;              ///< that goes between threads
  bool isVector = false;
  bool isAtomic = false; ///< by which neighbours in memory are neighbouring lanes'
  Held held = Held::AsLoaded;
  bool isShifted = false; ///< as a thread holds neighbours of shifted loads, if it has any
};

/// In the order of the text.
std::vector<Meeting> findMeetings(KernelOp kernel);

} // namespace tile::cost

#endif
