// What a kernel of the tile dialect will keep in shared memory, as far as that can be told before
// layouts are known.
#ifndef TILE_PASSES_ANALYSIS_COSTMODEL_SHAREDTILES_H
#define TILE_PASSES_ANALYSIS_COSTMODEL_SHAREDTILES_H

#include "dialect/Tile/TileDialect.h"

#include <cstdint>
#include <vector>

namespace tile::gpu {
struct KernelShape;
}

namespace tile::cost {

/// A product's operands, as far as it matters who holds them.
struct OperandPlace {
  bool wgmma = false; ///< the product runs on it where warps come in fours
  bool isFirst =
      false; ///< registers may hold it: it is the product's first, as instructions have it
  bool isHeld = false;         ///< threads compute it where wgmma reads it, in registers
  bool isResult = false;       ///< the same where their warps have whole rows of a product's result
  int64_t rows = 0, depth = 0; ///< of the first operand, in powers of two
  int64_t columns = 0;         ///< of the product
};

struct SharedTile {
  enum class Use : uint8_t {
    Operand,   ///< loaded, and goes to products as it is
    Source,    ///< loaded, and an operand is computed from it, or it meets a product's result
    Vector,    ///< a vector loaded beside operands
    Computed,  ///< an operand that is computed
    Result,    ///< stored, and computed from a product's result
    Sum,       ///< the same, added to memory
    Exchange,  ///< goes from the threads that hold it to others
    Reduction, ///< rows of a product's result are, of which warps may hold parts
    Columns,   ///< what is left of columns that are reduced, of which warps may hold parts
    Shifted,   ///< goes between threads where some hold neighbours of shifted loads
    Turned,    ///< a vector that goes between threads, as tiles want it along several axes
    Words,     ///< what is left of warps' parts of a vector that is reduced, or scanned
    Atomic,    ///< what an atomic has found, which threads that did none of it have, too
    Scalar,    ///< a number that is loaded
    Slice,     ///< a tile from whose equal parts one is selected, which warps may hold
  };
  Use use;
  unsigned start = 0, end = 0; ///< operations of the kernel's body, in the order of the text
  unsigned firstUse = 0;       ///< the one that uses it first
  unsigned firstRead = 0;      ///< of Vector: the same
  unsigned joinedUse = 0;      ///< the same where products of one tile are joined, of so many rows
  int64_t joinedRows = 0;
  int loop = -1;            ///< the innermost around it, by its place in `SharedTiles`; -1: none
  int64_t bytes = 0;        ///< with extents that are powers of two
  int64_t fetchedBytes = 0; ///< of boxes of TMA
  bool canFetch = false;    ///< contracts allow TMA to move it
  bool canCopy = true;      ///< pieces of it lie together in memory, as cp.async wants them
  bool isSwizzled = true;   ///< its rows are, in shared memory: as long as the narrowest swizzle
  bool isGathered = false;
  bool isApart = false;          ///< of Exchange: by an operation of its own, one of several
  bool isInWarps = false;        ///< of Turned: each warp has all of it, if it is short; of
                                 ///< Exchange: a single warp has all of it, and needs no memory
  bool isCertain = false;        ///< of Turned: layouts that are not known yet cannot spare it
  bool makesOperand = false;     ///< of a vector: an operand is computed from it
  OperandPlace operand = {};     ///< of Computed
  int64_t inner = 1, extent = 1; ///< of Columns, Slice, Shifted and Turned: elements between
                                 ///< neighbours along the axis, and how many there are
  int64_t whole = 1;             ///< of Columns: elements of the tile as threads hold it
  int source = -1; ///< of Computed: equal where one tile serves several products; of Columns: the
                   ///< tile, by its place, whose reduction exchanges together with this one
};

struct SharedLoop {
  int parent = -1;
  unsigned start = 0, end = 0;
  bool isInnermost = true, isCounted = true; ///< no loop inside; by a counter, not a condition
  int64_t stages = 0;                        ///< that it asks for
  int64_t mostTrips = 0;                     ///< 0: not known
  int64_t productBits = 0; ///< multiplications of a trip's products, times bits of an operand
  bool isChained = false;  ///< it does nothing but add products to sums that only they touch
};

struct SharedTiles {
  std::vector<SharedTile> tiles;
  std::vector<SharedLoop> loops;
  unsigned operations = 0;    ///< of the kernel's body
  unsigned vector = 1;        ///< neighbours that a thread holds in blocked layouts
  bool reservesWords = false; ///< memory for words
  bool rowsInWarps = false;   ///< products' rows are reduced
  bool writesMaps = false;    ///< programs write maps of views of flat memory
  bool hasWgmma = false;      ///< some product runs on it where warps come in fours
};

/// `shape`: that of the kernel where warps come in fours.
SharedTiles collectSharedTiles(KernelOp kernel, const gpu::KernelShape &shape);

} // namespace tile::cost

#endif
