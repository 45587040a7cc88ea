// The numbers that lanes hold where a load has clipped them, through single operations: what the
// padding lint computes with.
#ifndef TILE_PASSES_ANALYSIS_PADDINGVALUES_H
#define TILE_PASSES_ANALYSIS_PADDINGVALUES_H

#include "dialect/Tile/TileDialect.h"

#include <optional>

namespace tile {

/// The number that all elements of `value` are, if known.
std::optional<double> getUniform(mlir::Value value);

/// Moves or converts without changing a number that it can hold.
bool isConversion(mlir::Operation *op);

/// The operation on constants; none if unknown.
std::optional<double> fold(mlir::Operation *op, llvm::ArrayRef<double> x);

/// False if the function of a scan or reduction is sure to change numbers on the left by these on
/// the right, one for each tile; none stands for any number. True where that is not known.
bool leavesAlone(mlir::Block &combiner, llvm::ArrayRef<std::optional<double>> right);

} // namespace tile

#endif
