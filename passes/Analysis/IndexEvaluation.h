// Values of the integers that loops and positions hang on, for given extents and a given program.
#ifndef TILE_PASSES_ANALYSIS_INDEXEVALUATION_H
#define TILE_PASSES_ANALYSIS_INDEXEVALUATION_H

#include "dialect/Tile/TileDialect.h"

#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "llvm/ADT/DenseMap.h"
#include <map>
#include <string>

namespace tile::cost {

/// Extents by the name of the dimension.
using Extents = std::map<std::string, int64_t>;

/// Asks MLIR's range inference of each operation, with ranges of one number for dimensions and the
/// program's position.
class IndexEvaluation {
public:
  /// `program`: the position along each axis of the grid. With `partsAreAlike` numbers from memory
  /// that say where the parts of a packed tensor begin are those of parts of one length.
  IndexEvaluation(const Extents &extents, llvm::ArrayRef<int64_t> program,
                  bool partsAreAlike = false)
      : extents(extents), program(program), partsAreAlike(partsAreAlike) {}

  /// The value, or the middle of what it may be; none where nothing bounds it, as after a load.
  std::optional<double> get(mlir::Value value);
  /// Says between which values a loop's counter lies.
  void setRange(mlir::Value value, int64_t low, int64_t high);

private:
  std::optional<int64_t> getHint(mlir::Value value);
  std::optional<int64_t> getPartStart(mlir::Value value);
  const mlir::ConstantIntRanges *find(mlir::Value value);

  const Extents &extents;
  llvm::ArrayRef<int64_t> program;
  bool partsAreAlike;
  llvm::DenseMap<mlir::Value, mlir::ConstantIntRanges> known; // looked up only
};

} // namespace tile::cost

#endif
