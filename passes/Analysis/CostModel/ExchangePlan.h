// A plan's places, and those of what threads exchange in blocked layouts.
#ifndef TILE_PASSES_ANALYSIS_COSTMODEL_EXCHANGEPLAN_H
#define TILE_PASSES_ANALYSIS_COSTMODEL_EXCHANGEPLAN_H

#include "passes/Analysis/CostModel/Schedule.h"
#include "passes/TileGPU/SharedPlan.h"
#include "llvm/ADT/DenseMap.h"

namespace tile::cost {

/// Where tiles begin, and what an mbarrier takes of a plan.
inline constexpr int64_t sharedPage = 1024, barrierBytes = 16;
inline constexpr int64_t warpsOfWarpgroup = 4;

class ExchangePlan {
protected:
  ExchangePlan(const SharedTiles &shared, const GPUTarget &target, Resources &found,
               bool persistent)
      : shared(shared), found(found), persistent(persistent), limits(target.limits) {}

  /// Returns its place in `placed`.
  size_t add(int64_t bytes, unsigned start, unsigned end, int64_t alignment = sharedPage);
  size_t addPersistent(int64_t bytes, unsigned start, unsigned end);
  /// What goes between threads. One operation exchanges one tile after the other.
  void addScratch(int64_t bytes, unsigned start, unsigned end, bool isApart = false);
  /// What goes between threads, each while its operation lasts.
  void addExchanges();
  /// What the layouts of the tile's use have go between threads.
  void addByLayout(const SharedTile &tile);
  /// Vectors that layouts may spare, too; false if there are none.
  bool addAllTurned();

  int64_t placeAll(llvm::ArrayRef<gpu::PlacedBytes> more = {}, bool persistentFirst = false);
  /// By the rules of tile-gpu-allocate-shared; sets offsets.
  int64_t placeBlock(int64_t limit);

  const SharedTiles &shared;
  Resources &found;
  bool persistent; ///< a block takes several programs
  llvm::SmallVector<gpu::PlacedBytes> placed;
  llvm::SmallVector<size_t> exchanges; ///< of `placed`

private:
  /// Reductions that exchange together have their words side by side.
  void addColumns(const SharedTile &tile, int64_t bytes);
  void addWords(const SharedTile &tile);
  /// The rule of getAtomicBytes() in dialect/TileGPU/SharedMemory.cpp.
  void addAtomic(const SharedTile &tile);
  /// A word of each row and warp, where warps share rows.
  void addReduction(const SharedTile &tile);
  /// Each warp holds a short vector whole, and has bytes of its own to spread it, in a loop, as
  /// that of programs that follow each other, as long as that lasts: the rule of keepsScratch() in
  /// AllocateShared.cpp.
  void addTurned(const SharedTile &tile);
  /// Operands of one operation go between threads one after the other.
  void addInTurn(int64_t bytes, const SharedTile &tile);
  /// Warps that hold parts of an axis in a blocked layout: a thread has neighbours, a warp those of
  /// its lanes, and warps what follows.
  int64_t countWarpsAlong(const SharedTile &tile) const;
  /// Warps that hold the same part of a tile of so many elements in a blocked layout.
  int64_t countCopies(int64_t elements) const;
  /// The rule of shiftInRegisters() in PartLayouts.cpp.
  bool holdsNeighbours(const SharedTile &tile) const;

  const GPULimits &limits;
  llvm::SmallVector<size_t> turns;     ///< of `placed`
  llvm::DenseMap<int, size_t> columns; ///< places of what reductions exchange; looked up only
};

} // namespace tile::cost

#endif
