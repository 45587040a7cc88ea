// Finds reductions and products whose result depends on what lanes hold that do not exist.
#ifndef TILE_PASSES_ANALYSIS_PADDINGLINT_H
#define TILE_PASSES_ANALYSIS_PADDINGLINT_H

#include "dialect/Tile/TileDialect.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <string>

namespace tile {

/// Padding that reaches a sum, maximum and so on.
struct PaddingFinding {
  mlir::Operation *reduction; // tile.reduce, arg_reduce, dot, scan, reduce_by, sort or histogram
  mlir::Operation *load;      // tile.load or gather whose lanes may not exist
  std::string what;           // "the sum", "the product"
  std::string found;          // "0", or "what was computed from padding" in place of a number
  std::string neutral;        // what would change nothing: "0", "-inf"
  bool direct;                // the load's padding itself is reduced, so that `pad:` settles it
  std::string advice;         // what to do where `neutral` is empty, with $ for `inside(...)`
  // Which `inside(...)` tells the lanes of the reduced tile that do not exist. A tile that a
  // product, a permutation or a broadcast has made has other dimensions than the load: the clipped
  // one alone is asked for then, and put into its place.
  bool inPlace;   // the load's whole tile says it
  int64_t dim;    // the clipped dimension of the load's tensor; -1: not known
  unsigned after; // dimensions of the reduced tile behind the padded one
};

/// Calls `report` for each finding, in program order. Which lanes may not exist is as the accesses'
/// `in_bounds` say.
///
/// For each dimension of a tile it follows what lanes hold that a load has clipped: nothing known,
/// or one constant. It errs on the side of silence: what a comparison or a `where` with a constant
/// branch decides counts as taken care of.
void findPaddingReductions(mlir::ModuleOp module,
                           llvm::function_ref<void(const PaddingFinding &)> report);

} // namespace tile

#endif
