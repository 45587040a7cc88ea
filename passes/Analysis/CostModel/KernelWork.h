// The work of one program of a kernel, counted in the tile dialect: bytes, products, operations on
// elements, loop by loop.
#ifndef TILE_PASSES_ANALYSIS_COSTMODEL_KERNELWORK_H
#define TILE_PASSES_ANALYSIS_COSTMODEL_KERNELWORK_H

#include "dialect/Tile/TileDialect.h"
#include "passes/Analysis/CostModel/SharedTiles.h"
#include "passes/Analysis/IndexEvaluation.h"
#include "target/Target.h"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tile::cost {

struct TargetLimits;

/// Registers of a thread, for blocks of 1, 2, 4, 8, 16 and 32 warps.
using LiveRegisters = std::array<double, 6>;

/// A product: extents as the source has them.
struct DotWork {
  int64_t m = 0, n = 0, k = 0, batch = 1;
  unsigned bits = 16;       ///< of an operand's element
  unsigned multiplied = 16; ///< bits of the type that tensor cores multiply: operands are widened
  bool isTF32 = false;
  bool tensorCores = false; ///< tensor cores multiply these types, and the extents fit
  bool wgmma = false;       ///< by wgmma where warps come in fours
  bool swapped = false;     ///< few rows: wgmma computes the transposed product
  bool computedA = false, computedB = false; ///< the operand is computed, not loaded as it is
  bool turnedA = false; ///< A is computed and transposed: registers do not hold it as it is needed
  bool heldB = false;   ///< computed, and read from registers where the product is swapped
  unsigned rows = 0;    ///< of the left operand as wgmma has it, before they are rounded up
  double count = 0;     ///< in a program
  double used = 1;      ///< share of the padded product that instructions compute
  double usedColumns =
      1; ///< of it, what padded columns leave: warpgroups that share them compute all

  double getOperations() const {
    return 2.0 * double(batch) * double(m) * double(n) * double(k) * used * count;
  }
};

/// Where the rows of a tensor begin: at a line of the cache, 128 bytes, at two sectors of it, at
/// one, or within one.
enum class RowStart { Line, Pair, Sector, Within };

/// A load or store.
struct AccessWork {
  unsigned param = 0; ///< number among the kernel's parameters
  bool isStore = false;
  bool feedsDot = false;         ///< goes to products as it is
  bool isIndexed = false;        ///< gather, scatter, atomic
  const void *padding = nullptr; ///< of a load: equal where the numbers are
  bool hidesPadding = false;     ///< nobody sees them
  size_t place = 0;              ///< of a load: equal where trips of two loops load the same
  RowStart rowStart = RowStart::Line;
  double tileBytes = 0;    ///< of one access
  double paddedBytes = 0;  ///< of its tile with extents that are powers of two
  int64_t elements = 0;    ///< of that tile, and
  int64_t neighbours = 0;  ///< of one of its rows
  double fetchedBytes = 0; ///< of the boxes of one access by TMA
  double boxes = 1;        ///< of one access by TMA, along rows
  double boxShare = 1;     ///< of 128 bytes, those that a row of a box has
  int64_t storedWidth = 0; ///< bytes of a row of a box that TMA stores; 0: threads store
  double storedBoxes = 0;  ///< of one store by TMA, each of 64 rows; 0: threads store
  double useful = 1;       ///< part of the tile that exists, on average
  unsigned axes = 0;       ///< bit i: the position depends on axis i of the grid
  double count = 0;        ///< in a program
};

/// The work of a loop, without the loops inside. Amounts are those of a whole program, averaged
/// over programs.
struct LoopWork {
  int parent = -1;  ///< number of the loop around; -1: this is the kernel's body
  double trips = 0; ///< in a program
  double runs = 0;  ///< in a program: how often it is entered
  int64_t mostTrips = int64_t(1) << 40; ///< each time, by the contract
  int64_t split = 1;                    ///< programs that share the trips
  int64_t stages = 0;                   ///< that the loop asks for; 0: it does not
  bool inBranch = false;                ///< which a condition of the program decides on
  /// Bytes of what each of the parts shows the others, where the parts of a split may be a cluster.
  int64_t stateBytes = 0;
  std::vector<DotWork> dots;
  std::vector<AccessWork> accesses;
  double slots =
      0; ///< issue slots of element-wise operations, one for each element of an f32 addition
  double special = 0;   ///< elements of exp, reciprocal and the like
  double reduced = 0;   ///< elements that go into reductions
  double exchanges = 0; ///< operations for which all threads of a block wait: reductions of whole
                        ///< tiles, scans, sorts
};

/// Tiles that loops over the same blocks load again.
struct KeptWork {
  /// A tile with extents that are powers of two, and neighbours of a row of it.
  struct Tile {
    int64_t bytes = 0, elements = 0, neighbours = 0;
  };
  int64_t bytes = 0;       ///< of a trip, with extents that are powers of two
  int64_t trips = 0;       ///< at the extents that are expected
  int64_t mostTrips = 1;   ///< by the contract
  std::vector<Tile> tiles; ///< that these bytes are
};

struct KernelWork {
  bool valid = true;
  std::string reason;              ///< why not: the shape is against the contract
  std::vector<int64_t> grid;       ///< extents, the last axis fastest
  int64_t programs = 1;            ///< of the grid
  int64_t busyPrograms = 1;        ///< of these, that find something to do (countBusyPrograms)
  double likelyPrograms = 1;       ///< of these, by likely lengths of parts (countLikelyPrograms)
  double longest = 1;              ///< trips of the longest program over those of the average one
  std::vector<LoopWork> loops;     ///< the body first
  std::vector<double> tensorBytes; ///< by parameter; 0: a scalar, or not known
  KeptWork kept;                   ///< what may wait there for a later loop
  SharedTiles shared;              ///< what may lie in shared memory
  LiveRegisters live{};            ///< that tiles take at once
  LiveRegisters uneven{};          ///< beside these, where rows begin anywhere
  bool goesRound = false;          ///< tiles go round in their registers (tile-gpu-rotate-rows)
  bool inVectors = true;           ///< rows move in vectors: they are aligned, or go round
  int64_t ownWarps = 4;            ///< what the compiler chooses without being asked
  bool isFast = false;             ///< fp("fast")
};

/// Counts what a kernel of the tile dialect does at these extents; dimensions that are left out
/// have the `opt` of their contract. `limits.target`, null for the CPU, decides what becomes of
/// products, `limits.processors` into how many parts a launch splits a loop. Never changes the
/// kernel.
KernelWork analyzeWork(KernelOp kernel, const Extents &extents, const TargetLimits &limits);

/// The loop before loop `number`, of the same programs and around the same place, that has loaded
/// what `access` loads again; -1 where there is none.
int findEarlierLoop(const KernelWork &work, size_t number, const AccessWork &access);

/// What may be kept, before loops of one trip are joined to what is around: the code is one for any
/// number of trips.
KeptWork findKept(const KernelWork &work);

/// Of the warps, those whose parts of a product differ; the others compute the same once more.
int64_t countDistinctWarps(const DotWork &dot, int64_t warps);

/// Registers of the tiles that a thread holds at the worst point of the kernel: values that are
/// alive, less what costs nothing to compute again and what goes from memory to products as it is.
/// Threads share out a tile, but for the results of products that are too small for all warps, and
/// for tiles that are broadcast: those a thread has as far as its part of the larger tile goes.
LiveRegisters countLiveRegisters(KernelOp kernel, llvm::ArrayRef<DotWork> dots);

} // namespace tile::cost

#endif
