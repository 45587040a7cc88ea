// How many teams the consumers of a block become (Teams.h): one rule for the pass and the cost
// model.
#ifndef TILE_PASSES_TILEGPU_TEAMCOUNT_H
#define TILE_PASSES_TILEGPU_TEAMCOUNT_H

#include "passes/TileGPU/LaunchFit.h"
#include <algorithm>

namespace tile::gpu {

struct TeamNeed {
  bool persistent = false; ///< blocks take several programs
  int64_t warpgroups = 0;  ///< that compute; 0: warps are no whole warpgroups
  int64_t blocks = 1;      ///< of a multiprocessor, that the source asks for
  int64_t products = 0;    ///< registers of a thread for the results of one block's products
};

/// Registers of a thread of `warpgroups` for the result of a product by wgmma, without padding.
inline int64_t countTeamRegisters(int64_t rows, int64_t columns, int64_t warpgroups) {
  constexpr int64_t blockRows = 64, blockColumns = 8, threads = 128;
  auto align = [](int64_t value, int64_t to) { return (value + to - 1) / to * to; };
  return align(rows, blockRows) * align(columns, blockColumns) /
         (threads * std::max<int64_t>(warpgroups, 1));
}

/// Two, where results are so large that storing them takes long, and threads of two teams have
/// registers for them; else why there is one.
struct TeamCount {
  int64_t teams = 1;
  const char *why = "";
};
inline TeamCount countTeams(const TeamNeed &need, const GPULimits &limits) {
  constexpr int64_t pair = 2, fewRegisters = 128, besideProducts = 56;
  if (!need.persistent)
    return {1, "its blocks take one program each"};
  if (need.blocks > 1)
    return {1, "another block multiplies while this one stores"};
  if (need.products < fewRegisters)
    return {1, "its products' results are small"};
  if (getConsumerRegisters(limits, pair * need.warpgroups, 1, fewestProducerRegisters) <
      need.products + besideProducts)
    return {1, "two teams have too few registers"};
  return {pair, ""};
}

} // namespace tile::gpu

#endif
